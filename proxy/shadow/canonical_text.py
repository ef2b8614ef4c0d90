"""Ask the shadow for the canonical text of one statement: names qualified, casts and types of literals written.

The statement becomes the body of a temporary function, which is made and rolled back in one round trip, in the
analyst's own session on the shadow, which has no rows of protected tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from psycopg.postgres import types as built_in_types
from psycopg.pq import DiagnosticField, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from proxy.base.errors import Code, Fault, Refusal
from proxy.engine.sessions import PostgresError
from proxy.pgwire.calls import DescribedColumn
from proxy.query.syntax.copied_operands import check_copies
from proxy.query.syntax.tokens import lex, too_complex

_NAME = "_dpproxy_canonical"  # of the function, and of the savepoint
_FIRST_OWN_OID = 16384  # FirstNormalObjectId
_BODY = f"SELECT dp.canonical('pg_temp.{_NAME}'::pg_catalog.regproc)".encode()
_SAVEPOINT = (
    f"SAVEPOINT {_NAME}".encode(),
    (f"ROLLBACK TO SAVEPOINT {_NAME}".encode(), f"RELEASE SAVEPOINT {_NAME}".encode()),
)
_TRANSACTION = (b"BEGIN READ WRITE", (b"ROLLBACK",))


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalStatement:
    """text: As PostgreSQL writes it. columns: Of the result, as the client's own text names them."""

    text: str
    columns: tuple[DescribedColumn, ...]


def canonical_statement(
    connection: psycopg.Connection, text: str, parameter_types: Sequence[int] = ()
) -> CanonicalStatement:
    """Get the canonical text of one statement, and describe its result.

    The text is parsed by itself first, in a Parse message. So PostgreSQL refuses a text of several statements,
    and no text can end the function and begin another command.

    Args:
        connection: In the session of the client, whose settings and temporary relations count. The state of its
            transaction does not change.
        parameter_types: OIDs of $1, $2, ..., all of them known.

    Raises:
        Refusal: TOO_COMPLEX: longer, deeper or of more words than `base.limits` allows, with operands that
            PostgreSQL copies too often, or with a canonical text above 1 MiB; SYNTAX: no tokens.
        PostgresError: PostgreSQL's own, with the position in the client's text. 25006: the transaction is READ
            ONLY; 25P02: it has failed.
    """
    statement = _checked(text)
    named = ", ".join(_type_name(connection, oid) for oid in parameter_types)
    head = f"CREATE FUNCTION pg_temp.{_NAME}({named}) RETURNS void BEGIN ATOMIC "
    is_inside = connection.pgconn.transaction_status != TransactionStatus.IDLE
    begin, undo = _SAVEPOINT if is_inside else _TRANSACTION
    sent = _Trip(connection.pgconn)
    try:
        sent.query(begin)
        sent.describe(statement.encode(), parameter_types)
        sent.query(f"{head}{statement}\n; END".encode(), shift=len(head))
        sent.query(_BODY)
        for command in undo:
            sent.query(command)
        described, body = sent.results()
    except PostgresError:
        _undo(connection, begin, undo)
        raise
    if body is None:
        raise too_complex("of more than 1 MiB when PostgreSQL has written it out")
    return CanonicalStatement(text=_without_frame(body), columns=described)


def _checked(text: str) -> str:
    """The statement without semicolons at its end.

    Raises:
        Refusal: as of `canonical_statement`.
    """
    check_copies(text)
    lexed = lex(text)
    if lexed is None:
        raise Refusal(Code.SYNTAX, "the statement has no tokens that can be read", "Write SELECT.")
    lexemes = list(lexed.lexemes)
    while lexemes and text[lexemes[-1].start : lexemes[-1].end] == ";":
        lexemes.pop()
    if not lexemes:
        raise Refusal(Code.SYNTAX, "the statement is empty", "Write one statement.")
    return text[: lexemes[-1].end]


def _type_name(connection: psycopg.Connection, oid: int) -> str:
    """The qualified name, which means the type whatever temporary type has its name."""
    info = built_in_types.get(oid)
    if oid < _FIRST_OWN_OID and info is not None and info.name.isidentifier():
        return f'pg_catalog."{info.name if info.oid == oid else f"_{info.name}"}"'
    row = connection.execute(
        "SELECT pg_catalog.format('%%I.%%I', n.nspname, t.typname) FROM pg_catalog.pg_type t"
        " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace"
        " WHERE t.oid OPERATOR(pg_catalog.=) %s::pg_catalog.oid",
        (oid,),
    ).fetchone()
    if row is None:
        raise Refusal(
            Code.UNSUPPORTED, "a parameter has no known type", "Name its type with a cast."
        )
    return str(row[0])


def _without_frame(body: str) -> str:
    """
    >>> _without_frame("BEGIN ATOMIC\\n SELECT 1 AS one;\\nEND")
    'SELECT 1 AS one'
    """
    inner = body.strip()
    if not inner.startswith("BEGIN ATOMIC") or not inner.endswith("END"):
        raise Fault("PostgreSQL writes bodies of functions in an unknown form")
    return inner.removeprefix("BEGIN ATOMIC").removesuffix("END").strip().removesuffix(";")


def _undo(connection: psycopg.Connection, begin: bytes, undo: tuple[bytes, ...]) -> None:
    """After an error the commands that undo were skipped, and there may be nothing to undo."""
    if (
        begin is _TRANSACTION[0]
        or connection.pgconn.transaction_status == TransactionStatus.INERROR
    ):
        for command in undo:
            connection.pgconn.exec_(command)


class _Trip:
    """Commands that go in one round trip, in pipeline mode."""

    def __init__(self, connection: PGconn) -> None:
        self._connection = connection
        self._shifts: list[int] = []
        connection.enter_pipeline_mode()

    def query(self, command: bytes, *, shift: int = 0) -> None:
        """
        Args:
            shift: Characters before the client's text.
        """
        self._connection.send_query_params(command, None)
        self._shifts.append(shift)

    def describe(self, statement: bytes, types: Sequence[int]) -> None:
        self._connection.send_prepare(b"", statement, types)
        self._connection.send_describe_prepared(b"")
        self._shifts += [0, 0]

    def results(self) -> tuple[tuple[DescribedColumn, ...], str | None]:
        """The columns of what was described, and the one value of the only query that returns rows.

        Raises:
            PostgresError: The first of them, after all replies are read.
        """
        connection = self._connection
        connection.pipeline_sync()
        connection.flush()
        columns: tuple[DescribedColumn, ...] = ()
        value: bytes | None = None
        error: PostgresError | None = None
        replies = 0
        while True:
            result = connection.get_result()
            if result is None:
                replies += 1
                continue
            if result.status == ExecStatus.PIPELINE_SYNC:
                break
            if result.status == ExecStatus.FATAL_ERROR:
                error = error or _error(result, self._shifts[replies])
            elif result.status == ExecStatus.TUPLES_OK:
                value = result.get_value(0, 0)
            elif result.nfields:
                columns = _columns(result)
        connection.exit_pipeline_mode()
        if error is not None:
            raise error
        return columns, None if value is None else value.decode()


def _columns(result: PGresult) -> tuple[DescribedColumn, ...]:
    return tuple(
        DescribedColumn((result.fname(i) or b"").decode(), result.ftype(i), result.fmod(i))
        for i in range(result.nfields)
    )


def _error(result: PGresult, shift: int) -> PostgresError:
    def field(of: DiagnosticField) -> str | None:
        value = result.error_field(of)
        return None if value is None else value.decode()

    position = field(DiagnosticField.STATEMENT_POSITION)
    return PostgresError(
        field(DiagnosticField.SQLSTATE) or "XX000",
        field(DiagnosticField.MESSAGE_PRIMARY) or "",
        field(DiagnosticField.MESSAGE_DETAIL),
        field(DiagnosticField.MESSAGE_HINT),
        int(position) - shift if position else None,
    )
