"""Statements of commands that have no session: what only PostgreSQL can evaluate in them, it evaluates here.

As for an analyst it is the shadow that does it (ADR 0048), but one of the command's own, which is started where
a statement needs it and is gone after: an empty copy of the tables, in a temporary folder, without a port.
"""

from __future__ import annotations

import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import psycopg

from proxy.base.errors import Code, Refusal
from proxy.catalog.catalog_model import Catalog
from proxy.compiler.label_sql import label_sql
from proxy.engine.policy_statements import PolicyStatements, ProtectedQuery
from proxy.pgwire.argument_exchanges import describing
from proxy.pgwire.shadow_exchanges import fits, measured_sql
from proxy.planner.label_evaluation import LabelQuestion, Texts
from proxy.policy.policy_model import Policy
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.query.syntax.statements import Statement
from proxy.shadow.shadow_database import Shadow, as_analysts

Evaluating = Callable[[], AbstractContextManager[psycopg.Connection]]


@contextmanager
def own_shadow(policy: Policy, catalog: Catalog) -> Iterator[psycopg.Connection]:
    """
    Gives    a connection with the rights of analysts
    Refuses  ShadowError: it cannot be made
    """
    with tempfile.TemporaryDirectory(prefix="dpproxy-constants-") as folder:
        server = EmbeddedPostgres(Path(folder), "constants", tcp=False, durable=False)
        server.start()
        try:
            shadow = Shadow(server.dsn(), policy.database, server.address)
            shadow.build(policy, catalog, None, is_last=True, withholds=False)
            with as_analysts(shadow) as connection:
                yield connection
        finally:
            server.stop()


def beside(connection: psycopg.Connection) -> psycopg.Connection:
    """Another on the same database, for who has settings of its own."""
    info = connection.info
    return psycopg.connect(info.dsn, password=info.password, autocommit=True)


def synthetic_database(dsn: str) -> psycopg.Connection:
    """The audit's, which is its own shadow: nothing in it is of a person."""
    return psycopg.connect(dsn, autocommit=True)


def read_with_constants(
    statements: PolicyStatements,
    text: str,
    resolve: Callable[[Statement], tuple[int | None, ...]],
    evaluating: Evaluating,
    *,
    with_errors: bool = False,
) -> tuple[ProtectedQuery | None, tuple[str | None, ...]]:
    """
    Given    resolve: OIDs of the relations that a statement names; evaluating: opens a connection on which
             constants are evaluated, where there are any; its session is in UTC from then on; with_errors:
             as of PolicyStatements.read
    Gives    the statement, read, and its constants as a run wants them; None where it asks of nothing protected
    Refuses  as PolicyStatements.look and read; SYNTAX: a constant that PostgreSQL refuses, with its words
    """
    found = statements.look(text)
    if not isinstance(found, Statement):
        return None, ()
    relations = resolve(found)
    needed = statements.constants_needed(found, relations, (), {}, with_errors)
    if not needed:
        return statements.read(found, relations, (), with_errors=with_errors), ()
    with evaluating() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        try:
            types = _types(connection, needed)
            question = statements.read(
                found, relations, (), with_errors=with_errors, constant_oids=types
            )
            wanted = () if question is None else tuple(one.sql for one in question.constants)
            return question, _values(connection, wanted)
        except psycopg.Error as error:
            message = error.diag.message_primary or "a constant cannot be evaluated"
            raise Refusal(
                Code.SYNTAX, message, error.diag.message_hint or "Write it in another way."
            ) from None


def _types(connection: psycopg.Connection, expressions: Sequence[str]) -> tuple[int, ...]:
    """Nothing is evaluated where there is no row, but for what PostgreSQL evaluates while it plans."""
    found: list[int] = []
    for query in describing(expressions):
        described = connection.execute(f"{query} WHERE false".encode()).description or ()
        found += [column.type_code for column in described]
    return tuple(found)


def _values(connection: psycopg.Connection, expressions: Sequence[str]) -> tuple[str | None, ...]:
    if not expressions:
        return ()
    rows = connection.execute(measured_sql(expressions).encode()).fetchall()
    if not fits(rows, len(expressions)):
        raise Refusal(Code.TOO_COMPLEX, "constants of the statement are too long", "Shorten them.")
    return tuple(value for _, value, _ in rows)


# Asks a PostgreSQL without rows what keys are for listed values (planner/label_evaluation.py).
#
# One connection, so that all planning together takes one place of the shadow's; it only reads. Its settings are
# fixed, and a zone stands in the expression: an answer is a function of the question, the key of the cache.
# The statement reads no table, only parameters; its time and its rows are bounded.

_SETTINGS = (
    "SET default_transaction_read_only = on; SET search_path = pg_catalog; SET statement_timeout = '1s';"
    " SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; SET jit = off;"
    " SET extra_float_digits = 1; SET lc_time = 'C'"
)
_QUESTIONS = 256  # whose answers are kept
_CHARACTERS = 4_000_000  # of all rows and texts that are kept

Connecting = Callable[[], AbstractContextManager[psycopg.Connection]]


class ShadowLabels:
    """`planner.label_evaluation.EvaluatingKeys`. connecting: opens a session on an empty database, when
    something is asked for the first time, and again when it has ended."""

    def __init__(self, connecting: Connecting) -> None:
        self._connecting = connecting
        self._lock = threading.Lock()
        self._opened = ExitStack()
        self._connection: psycopg.Connection | None = None
        self._kept: OrderedDict[Hashable, dict[Texts, Texts]] = OrderedDict()
        self._characters: dict[Hashable, int] = {}
        self._knows_letters = True

    def close(self) -> None:
        """End the session, if there is one."""
        with self._lock:
            self._end()

    def __call__(self, question: LabelQuestion) -> tuple[Texts, ...] | None:
        """
        Refuses  TOO_COMPLEX: it takes too long; UNAVAILABLE: there is no session to be had
        """
        with self._lock:
            key = question.expressions, question.kinds
            kept = self._kept.setdefault(key, {})
            self._kept.move_to_end(key)
            new = [row for row in dict.fromkeys(question.rows) if row not in kept]
            if new:
                found = self._asked(question, new)
                if found is None:
                    return None
                kept.update(zip(new, found, strict=True))
                texts = (text for several in (*new, *found) for text in several if text)
                self._characters[key] = self._characters.get(key, 0) + sum(map(len, texts))
            answer = tuple(kept[row] for row in question.rows)
            self._forget()
            return answer

    def _forget(self) -> None:
        """What was asked for longest ago, until little enough is kept."""
        left = sum(self._characters.values())
        while len(self._kept) > _QUESTIONS or left > _CHARACTERS:
            key, _ = self._kept.popitem(last=False)
            left -= self._characters.pop(key, 0)

    def _asked(self, question: LabelQuestion, rows: list[Texts]) -> list[Texts] | None:
        sql, given = label_sql(question, rows)
        try:
            try:
                return self._run(sql, given)
            except psycopg.OperationalError as error:
                if isinstance(error, psycopg.errors.QueryCanceled):
                    raise
                self._end()  # the server was started again
                return self._run(sql, given)
        except psycopg.errors.QueryCanceled:
            raise Refusal(
                Code.TOO_COMPLEX,
                "which groups there are takes too long to compute",
                "Compute less in the keys, or take fewer of them.",
            ) from None
        except psycopg.DataError:
            return None
        except psycopg.OperationalError:
            raise Refusal(
                Code.UNAVAILABLE, "the shadow cannot say which groups there are", "Try again."
            ) from None

    def _run(self, sql: str, given: Mapping[str, object]) -> list[Texts] | None:
        session = self._session()
        if not self._knows_letters and _is_of_letters(sql, given):
            return None
        return session.execute(sql.encode(), given).fetchall()

    def _session(self) -> psycopg.Connection:
        if self._connection is None:
            session = self._opened.enter_context(self._connecting())
            session.execute(_SETTINGS)
            found = session.execute("SELECT lower(U&'\\00C9') = U&'\\00E9'").fetchone()
            self._knows_letters = found == (True,)
            self._connection = session
        return self._connection

    def _end(self) -> None:
        self._connection = None
        self._opened.close()


_BY_LETTERS = ("lower(", "upper(", "initcap(", " ILIKE ")


def _is_of_letters(sql: str, given: Mapping[str, object]) -> bool:
    """Whether it matters which letters beside ASCII's there are: to a server before 17 there are none."""
    return any(word in sql for word in _BY_LETTERS) and not str(given).isascii()
