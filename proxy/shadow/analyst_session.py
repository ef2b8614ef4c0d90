"""One analyst's connection to the shadow, statement by statement (`AnalystSession` of the engine).

Below psycopg's cursors, on libpq: they would rewrite placeholders, and send a statement without
parameters as a simple Query, which may hold several.
"""

from __future__ import annotations

import asyncio
import fcntl
import termios
from array import array
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import psycopg
import structlog
from psycopg import generators
from psycopg.abc import PQGen
from psycopg.pq import DiagnosticField, ExecStatus, version
from psycopg.pq.abc import PGconn, PGresult
from psycopg.waiting import Wait

from proxy.base.errors import Code, Fault, Refusal
from proxy.base.session_settings import SESSION_SETTINGS
from proxy.engine.sessions import (
    Analysed,
    PostgresError,
    Resolved,
    ResultColumn,
    ResultRows,
    Values,
)
from proxy.pgwire.answers import REPORT_BYTES
from proxy.pgwire.argument_exchanges import (
    MAKE,
    MAKE_OIDS,
    describing,
    make_values,
    needs_relation,
    trial_oids,
    trial_sql,
    trial_values,
)
from proxy.pgwire.calls import NO_RELATION, DescribedColumn, Rehearsal, Trial
from proxy.pgwire.held_timeouts import hold_sql
from proxy.pgwire.shadow_exchanges import (
    ARGUMENTS_TOO_LONG,
    JSONB_OID,
    TEXT_OID,
    fits,
    measured_sql,
)
from proxy.pgwire.wording import POSTGRES_HINTS

_LOG = structlog.get_logger("dpproxy.http")
_HAS_CHUNKS = version() >= 170000  # PQsetChunkedRowsMode
_FIRST_OWN_OID = 16384  # FirstNormalObjectId: below, an OID means the same on every server
_CACHED_TYPES = 1_000

_SETTINGS = ", ".join(f"pg_catalog.current_setting('{name}', true)" for name in SESSION_SETTINGS)
_HOLD = hold_sql(within_request=True)
_SCHEMA = """\
SELECT coalesce(json_agg(t ORDER BY t.name), '[]')::text FROM (
    SELECT table_name AS name, json_agg(json_build_object(
        'name', column_name, 'type', data_type, 'low', low, 'high', high, 'values', "values",
        'usable_for', usable_for) ORDER BY number) AS columns
    FROM (SELECT *, row_number() OVER () AS number FROM dp.columns) c GROUP BY table_name) t"""


class ConnectedSession:
    """
    Given    a connection in autocommit; `begin` before use, `reset` before the next use
    Refuses  Fault where the connection breaks; it is not to be used again then (`is_broken`)
    """

    def __init__(self, connection: psycopg.AsyncConnection[Any], analyst: str) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._analyst = analyst
        self._type_names: dict[tuple[int, int], str] = {}
        self._is_busy = False
        self.process = self._pgconn.backend_pid

    @property
    def is_closed(self) -> bool:
        return self._connection.closed

    @property
    def analyst(self) -> str:
        return self._analyst

    @property
    def is_broken(self) -> bool:
        """Also where a statement was left in the middle: its rows would be the next one's."""
        return self._is_busy or self._connection.closed

    def close(self) -> None:
        self._pgconn.finish()

    async def begin(self, settings: Mapping[str, str]) -> None:
        await self._query("BEGIN")
        for name, value in settings.items():
            await self._query("SELECT pg_catalog.set_config($1, $2, true)", (name, value))

    async def reset(self) -> None:
        """Nothing of a request outlives it: neither tables, settings, locks nor plans."""
        await self._query("ROLLBACK")
        await self._query("DISCARD ALL")

    async def analyse(self, text: str, *, names_hint: bool) -> Analysed:
        try:
            await self._prepared(text, ())
            self._pgconn.send_describe_prepared(b"")
            described = await self._finished()
        except PostgresError as error:
            if names_hint and error.hint is None:
                error.hint = POSTGRES_HINTS.get(error.sqlstate)
            raise
        columns = tuple(
            DescribedColumn(_text(described.fname(i)) or "", described.ftype(i), described.fmod(i))
            for i in range(described.nfields)
        )
        oids = tuple(described.param_type(index) for index in range(described.nparams))
        return Analysed(oids, columns)

    async def resolve(self, relations: Sequence[str]) -> Resolved:
        found = [
            f"pg_catalog.to_regclass(${n})::pg_catalog.oid" for n in range(1, len(relations) + 1)
        ]
        row = await self._row(
            "SELECT " + ", ".join([*found, _SETTINGS]), relations, [TEXT_OID] * len(relations)
        )
        oids, settings = row[: len(relations)], row[len(relations) :]
        return Resolved(
            tuple(None if oid is None else int(oid) for oid in oids),
            {name: value for name, value in zip(SESSION_SETTINGS, settings, strict=True) if value},
        )

    async def arguments(self, values: Values, oids: Sequence[int]) -> tuple[str | None, ...]:
        if not oids:
            return ()
        read = [f"pg_catalog.to_jsonb(${n})::pg_catalog.text" for n in range(1, len(oids) + 1)]
        return await self.constants(read, values, oids)

    async def types_of(self, expressions: Sequence[str], oids: Sequence[int]) -> tuple[int, ...]:
        found: list[int] = []
        for text in describing(expressions):
            await self.prepare(text, oids)
            self._pgconn.send_describe_prepared(b"")
            described = await self._finished()
            found += [described.ftype(index) for index in range(described.nfields)]
        return tuple(found)

    async def constants(
        self, expressions: Sequence[str], values: Values, oids: Sequence[int]
    ) -> tuple[str | None, ...]:
        try:
            result = await self._query(measured_sql(expressions), values, oids)
        except PostgresError as error:
            error.position = None
            raise
        rows = [[result.get_value(n, column) for column in range(3)] for n in range(result.ntuples)]
        if not fits(rows, len(expressions)):
            raise Refusal(
                Code.TOO_COMPLEX, ARGUMENTS_TOO_LONG.message, ARGUMENTS_TOO_LONG.hint, None
            )
        return tuple(_text(value) for _, value, _ in rows)

    async def rehearse(self, rehearsal: Rehearsal, values: Values, oids: Sequence[int]) -> bool:
        given, types = (*values, NO_RELATION), (*oids, JSONB_OID)
        let_through = is_made = None
        try:
            plan = await self._query(rehearsal.plan, given, types)
            if rehearsal.limits is not None:
                counted = await self._query(rehearsal.limits, given, types)
                let_through = tuple(counted.get_value(0, i) for i in range(counted.nfields))
            if rehearsal.made is not None:
                made = await self._query(MAKE, make_values(rehearsal.made), MAKE_OIDS)
                is_made = made.get_value(0, 0)
        except PostgresError as error:
            error.position = None
            raise
        lines = [plan.get_value(number, 0) for number in range(plan.ntuples)]
        return needs_relation(rehearsal, lines, let_through, is_made)

    async def run_trial(self, trial: Trial, values: Values, oids: Sequence[int]) -> bool:
        given = (*values, *trial_values(trial, oids, ends_transaction=False))
        try:
            tried = await self._query(trial_sql(len(oids)), given, trial_oids(oids))
        except PostgresError as error:
            error.position = None
            raise
        return tried.get_value(0, 0) == b"t"

    async def hold(self) -> bool:
        row = (await self._query(_HOLD)).get_value(0, 0)
        return row == b"t"

    async def prepare(self, text: str, oids: Sequence[int]) -> None:
        try:
            await self._prepared(text, oids)
        except PostgresError as error:
            error.position = None
            raise

    async def run_prepared(self, values: Values) -> ResultRows:
        self._pgconn.send_query_prepared(b"", _encoded(values))
        return await self._rows()

    async def run(self, text: str, values: Values) -> ResultRows:
        self._pgconn.send_query_params(text.encode(), _encoded(values))
        return await self._rows()

    async def schema(self) -> str:
        return await self._document(_SCHEMA)

    async def _document(self, text: str) -> str:
        (document,) = await self._row(text)
        return document or "null"

    async def _row(
        self, text: str, values: Values = (), oids: Sequence[int] = ()
    ) -> tuple[str | None, ...]:
        result = await self._query(text, values, oids)
        return tuple(_text(result.get_value(0, index)) for index in range(result.nfields))

    async def _query(self, text: str, values: Values = (), oids: Sequence[int] = ()) -> PGresult:
        self._pgconn.send_query_params(text.encode(), _encoded(values), param_types=oids or None)
        return await self._finished()

    async def _prepared(self, text: str, oids: Sequence[int]) -> None:
        self._pgconn.send_prepare(b"", text.encode(), param_types=oids or None)
        await self._finished()

    async def _finished(self) -> PGresult:
        """The one result of a statement of ours."""
        results: list[PGresult] = []

        async def append(result: PGresult) -> None:
            results.append(result)

        await self._drain(append)
        return results[-1]

    async def _rows(self) -> ResultRows:
        if _HAS_CHUNKS:
            self._pgconn.set_chunked_rows_mode(CHUNK_ROWS)
        else:
            self._pgconn.set_single_row_mode()
        gathered = GatheredRows()
        await self._drain(gathered.take)
        types = [(oid, modifier) for _, oid, modifier in gathered.shape]
        return ResultRows(
            tuple(
                ResultColumn(name, oid, type_name)
                for (name, oid, _), type_name in zip(
                    gathered.shape, await self._named(types), strict=True
                )
            ),
            gathered.values,
        )

    async def _drain(self, take: Callable[[PGresult], Awaitable[None]]) -> None:
        """All results of what was just sent. If `take` wants no more, the connection is broken: rows are
        left on it, and the server stops when nobody is there to read them."""
        self._is_busy = True
        problem: Exception | None = None
        try:
            await self._connection.wait(generators.send(self._pgconn))
            while (result := await self._connection.wait(fetched(self._pgconn))) is not None:
                match result.status:
                    case ExecStatus.FATAL_ERROR:
                        problem = _error(result)
                    case ExecStatus.EMPTY_QUERY:
                        problem = Refusal(
                            Code.SYNTAX, "the statement is empty", "Write one statement."
                        )
                    case ExecStatus.COPY_OUT | ExecStatus.COPY_IN | ExecStatus.COPY_BOTH:
                        raise _no_copy()
                    case _:
                        await take(result)
        except psycopg.Error:
            self.close()
            if problem is None:
                raise Fault("the connection to the server was lost") from None
            # PostgreSQL's last words, as over the wire: an analyst may end their own session.
            _LOG.info("session_ended_by_server", analyst=self._analyst)
            raise problem from None
        self._is_busy = False
        if problem is not None:
            raise problem

    async def _named(self, types: Sequence[tuple[int, int]]) -> list[str]:
        """format_type of each, asked once for the types of the system."""
        unknown = [kind for kind in dict.fromkeys(types) if kind not in self._type_names]
        if unknown:
            calls = ", ".join(
                f"pg_catalog.format_type({oid}, {modifier})" for oid, modifier in unknown
            )
            # The transaction may be over: COMMIT is a statement like any other.
            row = await self._row(f"SELECT {calls}")
            names = dict(zip(unknown, (name or "???" for name in row), strict=True))
            if len(self._type_names) > _CACHED_TYPES:
                self._type_names.clear()
            built_in = {kind: name for kind, name in names.items() if kind[0] < _FIRST_OWN_OID}
            self._type_names.update(built_in)
            return [names.get(kind) or self._type_names[kind] for kind in types]
        return [self._type_names[kind] for kind in types]


def _no_copy() -> Refusal:
    return Refusal(
        Code.UNSUPPORTED,
        "COPY is not available over HTTP",
        "Send the SELECT itself, with the header Accept: text/csv.",
    )


def _encoded(values: Values) -> list[bytes | None]:
    return [None if value is None else value.encode() for value in values]


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def _truncated_text(value: bytes | None) -> str | None:
    """As much of an analyst's RAISE as over the wire."""
    return None if value is None else value[:REPORT_BYTES].decode(errors="ignore")


def _error(result: PGresult) -> PostgresError:
    fields = {
        field: _truncated_text(result.error_field(field))
        for field in (
            DiagnosticField.SQLSTATE,
            DiagnosticField.MESSAGE_PRIMARY,
            DiagnosticField.MESSAGE_DETAIL,
            DiagnosticField.MESSAGE_HINT,
            DiagnosticField.STATEMENT_POSITION,
        )
    }
    position = fields[DiagnosticField.STATEMENT_POSITION]
    sqlstate = fields[DiagnosticField.SQLSTATE] or "XX000"
    message = fields[DiagnosticField.MESSAGE_PRIMARY] or ""
    return PostgresError(
        sqlstate,
        message,
        fields[DiagnosticField.MESSAGE_DETAIL],
        fields[DiagnosticField.MESSAGE_HINT],
        int(position) if position else None,
    )


# The rows of one statement, taken from libpq as they come in: no more than a response may hold.


RESULT_ROWS = 100_000
RESULT_BYTES = 64 * 1024 * 1024  # in memory
CHUNK_ROWS = 20  # that libpq holds before it hands one out; before version 17 a single one
_CHUNK_BYTES = 16 * 1024 * 1024
_CELL_BYTES = 64  # that a value takes in memory beside its own bytes
_BYTES_AT_ONCE = 512 * 1024  # that are taken over before others have their turn


def fetched(pgconn: PGconn) -> PQGen[PGresult | None]:
    """psycopg's generators.fetch, and an end to what the server sends for one result. Exact behind a
    PacedSocket: nothing comes between the count and the reading."""
    received = 0
    while pgconn.is_busy():
        while not (yield Wait.R):
            continue
        received += _unread_bytes(pgconn.socket)
        if received > _CHUNK_BYTES:
            raise _too_large(
                f"{CHUNK_ROWS} rows of the result, one after another, have more than {_CHUNK_BYTES} bytes"
            )
        pgconn.consume_input()
    return pgconn.get_result()


def _unread_bytes(descriptor: int) -> int:
    unread = array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, unread)
    return unread[0]


def _too_large(message: str) -> Refusal:
    return Refusal(Code.TOO_COMPLEX, message, "Use LIMIT, or connect with a PostgreSQL client.")


class GatheredRows:
    """The rows of one statement, as they come in; not more than a response may hold."""

    def __init__(self) -> None:
        self.shape: tuple[tuple[str, int, int], ...] = ()
        self.values: list[tuple[bytes | None, ...]] = []
        self._bytes = 0

    async def take(self, result: PGresult) -> None:
        fields = range(result.nfields)
        self.shape = tuple(
            ((result.fname(index) or b"").decode(), result.ftype(index), result.fmod(index))
            for index in fields
        )
        taken = 0
        for row in range(result.ntuples):
            values = tuple(result.get_value(row, index) for index in fields)
            self.values.append(values)
            taken += sum(len(value or b"") + _CELL_BYTES for value in values)
            if taken > _BYTES_AT_ONCE:
                self._count(taken)
                taken = 0
                await asyncio.sleep(0)
        self._count(taken)

    def _count(self, taken: int) -> None:
        """Refuses  TOO_COMPLEX"""
        self._bytes += taken
        if len(self.values) > RESULT_ROWS:
            raise _too_large(f"the result has more than {RESULT_ROWS} rows")
        if self._bytes > RESULT_BYTES:
            raise _too_large(
                f"the result takes more than {RESULT_BYTES} bytes, each value {_CELL_BYTES} beside its own"
            )
