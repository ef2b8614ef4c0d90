"""Statements of commands that have no session: what only PostgreSQL can evaluate in them, it evaluates here.

As for an analyst it is the shadow that does it (ADR 0048), but one of the command's own, which is started where
a statement needs it and is gone after: an empty copy of the tables, in a temporary folder, without a port.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg

from proxy.base.errors import Code, Refusal
from proxy.catalog.catalog_model import Catalog
from proxy.engine.policy_statements import PolicyStatements, ProtectedQuery
from proxy.pgwire.argument_exchanges import describing
from proxy.pgwire.shadow_exchanges import fits, measured_sql
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
