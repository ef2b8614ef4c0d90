"""Published statements on a shadow: read, described, and run on what was drawn.

As for an analyst, PostgreSQL evaluates constants and runs what stands around the noisy relation, with the
rights of analysts, read-only and in UTC; whose session that is, is handed in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import psycopg
from psycopg.pq import ConnStatus, ExecStatus

from proxy.base.errors import Code, Refusal
from proxy.base.limits import COLUMNS_PER_RESULT
from proxy.catalog.catalog_model import Catalog
from proxy.engine.policy_statements import PolicyStatements, ProtectedQuery, numbered, resolved
from proxy.engine.published_ports import NoTable, PublishedTable
from proxy.pgwire.calls import NO_RELATION
from proxy.policy.policy_model import Policy
from proxy.policy.publication import Publication
from proxy.query.syntax.statements import StatementKind
from proxy.shadow.constant_evaluation import Evaluating, read_with_constants
from proxy.shadow.shadow_tables import ShadowBusy

ERROR = "_error"  # after the name of the column whose error it is
_ROWS, _BYTES = 100_000, 16 * 1024 * 1024
_PRESENTING = "BEGIN READ ONLY; SET LOCAL statement_timeout = '60s'; SET LOCAL TimeZone = 'UTC'"
_TYPES = """\
SELECT t.typtype, pg_catalog.format_type(t.oid, NULLIF(%s, -1)) FROM pg_catalog.pg_type t WHERE t.oid =
%s::oid"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    name: str
    type_name: str


class PublishedStatements:
    """Those of one policy. evaluating: opens a session on the shadow; show: where tables are placed."""

    def __init__(
        self,
        policy: Policy,
        catalog: Catalog,
        evaluating: Evaluating,
        show: Callable[[Sequence[PublishedTable]], None],
    ) -> None:
        self._numbered = numbered(policy)
        self._statements = PolicyStatements(policy, catalog, self._numbered)
        self._evaluating: Callable[[], AbstractContextManager[psycopg.Connection]] = evaluating
        self._show = show

    def show(self, tables: Sequence[PublishedTable]) -> None:
        self._show(tables)

    def read(self, publication: Publication) -> tuple[ProtectedQuery, tuple[str | None, ...]]:
        """
        Gives    the statement, and its constants as PostgreSQL evaluates them now
        Refuses  what no analyst could ask, and what is no query of protected tables; nothing is described
        """
        text = publication.sql.strip().rstrip(";").rstrip()
        if len(self._statements.split(text)) > 1:
            raise _cannot("is more than one statement", "Publish them one by one.")
        question, constants = read_with_constants(
            self._statements,
            text,
            lambda found: resolved(found, self._numbered),
            self._evaluating,
            with_errors=True,
        )
        if question is None or (question.reads_nothing and not question.reading.accounts):
            raise _cannot(
                "asks nothing of a protected table",
                "Only what is drawn from protected data has to be released; public tables stand by themselves.",
            )
        if question.reading.accounts:
            raise _cannot(
                "is about an analyst's own account",
                "Leave dp.budget, dp.history and dp.status out.",
            )
        if question.statement.kind is not StatementKind.QUERY:
            raise _cannot("is no plain query", "Publish the SELECT itself.")
        return question, constants

    def columns(self, question: ProtectedQuery) -> tuple[TableColumn, ...]:
        """What its table has: described, nothing is run.

        Refuses  SYNTAX: in PostgreSQL's words; columns that a table cannot have
        """
        text = question.reading.inlined(NO_RELATION)
        with self._evaluating() as connection:
            pgconn = connection.pgconn
            prepared = pgconn.prepare(b"", text.encode())
            if prepared.status != ExecStatus.COMMAND_OK:
                message, hint = _message(prepared)
                raise Refusal(Code.SYNTAX, message, hint or "Write it in another way.")
            described = pgconn.describe_prepared(b"")
            return _columns(connection, described, question.reading.error_columns)

    def presented(self, question: ProtectedQuery, relation: str) -> str:
        """
        Refuses  NoTable; ShadowBusy, psycopg.Error: the session has ended
        """
        text = question.reading.inlined(relation)
        with self._evaluating() as connection:
            connection.execute(_PRESENTING.encode())
            result = connection.pgconn.exec_(text.encode())
            if connection.pgconn.status != ConnStatus.OK:
                raise ShadowBusy("the session of a published statement was ended")
            if result.status != ExecStatus.TUPLES_OK:
                raise NoTable(_message(result)[0])
            if result.ntuples > _ROWS:
                raise NoTable(f"it has more than {_ROWS} rows")
            fields = range(result.nfields)
            rows = [
                [_text(result.get_value(row, field)) for field in fields]
                for row in range(result.ntuples)
            ]
            connection.execute("ROLLBACK")
            try:
                columns = _columns(connection, result, question.reading.error_columns)
            except Refusal as refusal:
                raise NoTable(refusal.message) from None
        text = json.dumps(
            {"v": 1, "columns": [[one.name, one.type_name] for one in columns], "rows": rows},
            separators=(",", ":"),
        )
        if len(text) > _BYTES:
            raise NoTable(f"it has more than {_BYTES // 1024**2} MiB")
        return text


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def _message(result: psycopg.pq.abc.PGresult) -> tuple[str, str]:
    message = result.error_field(psycopg.pq.DiagnosticField.MESSAGE_PRIMARY) or b"it failed"
    hint = result.error_field(psycopg.pq.DiagnosticField.MESSAGE_HINT) or b""
    return message.decode(errors="replace"), hint.decode(errors="replace")


def _columns(
    connection: psycopg.Connection,
    described: psycopg.pq.abc.PGresult,
    errors: Sequence[int],
) -> tuple[TableColumn, ...]:
    """errors: places of those whose error is a column behind the statement's own."""
    own = described.nfields - len(errors)
    names = [(described.fname(place) or b"").decode() for place in range(own)]
    names += [f"{names[place - 1]}{ERROR}" for place in errors]
    if not own:
        raise _cannot("has no columns", "Name what it is to give.")
    if len(names) > COLUMNS_PER_RESULT:
        raise _cannot(f"has more than {COLUMNS_PER_RESULT} columns", "Publish less at once.")
    for place, name in enumerate(names):
        if name in names[:place]:
            raise _cannot(
                f'would be a table with two columns "{name}"',
                "Name each with AS; errors are NAME_error.",
            )
        if name == "?column?" or len(name.encode()) > 63:
            raise _cannot(f'has a column "{name}"', "Name it with AS, in at most 57 bytes.")
    found = []
    for place, name in enumerate(names):
        oid, modifier = described.ftype(place), described.fmod(place)
        kind, type_name = connection.execute(_TYPES, (modifier, oid)).fetchone() or ("p", "?")
        if kind not in ("b", "e"):
            raise _cannot(f'has a column "{name}" of type {type_name}', "Cast it to a plain type.")
        found.append(TableColumn(name=name, type_name=type_name))
    return tuple(found)


def _cannot(why: str, hint: str) -> Refusal:
    return Refusal(Code.UNSUPPORTED, f"a published statement that {why} cannot be a table", hint)
