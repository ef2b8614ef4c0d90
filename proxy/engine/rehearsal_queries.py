"""What PostgreSQL can say of a rewritten statement before its query is charged.

Nothing of the statement is executed here, so nothing that it does can happen twice. It is planned (EXPLAIN,
which checks rights on tables and functions). Its LIMIT and OFFSET, frames, and arguments of window functions
are evaluated where they are made of constants and parameters alone. What it would make (a table, a cursor, a
COPY) is made of NULLs, and undone. A statement that computes with its answers has a trial run after that
(proxy.engine.trial_statement).
"""

from __future__ import annotations

from collections.abc import Sequence

from proxy.pgwire.calls import NO_RELATION, DescribedColumn, MadeOfNulls, Rehearsal
from proxy.query.statement_reading import Reading
from proxy.query.syntax.computed_results import computes
from proxy.query.syntax.constant_parts import evaluated_parts
from proxy.query.syntax.made_by_statement import (
    copy_around,
    copy_encoding,
    divides_by_zero,
    inner_query,
    is_copy_to_client,
    limits,
    made,
)
from proxy.query.syntax.statements import Statement, StatementKind

_PARTS = 100  # of a statement; what further ones raise comes after the charge
_A_CURSOR = ('DECLARE "_dpproxy cursor" CURSOR FOR SELECT', 'CLOSE "_dpproxy cursor"')


def rehearsal(
    statement: Statement, reading: Reading, columns: Sequence[DescribedColumn]
) -> Rehearsal | None:
    """
    Given    columns: of the analysed query
    Gives    None for an EXPLAIN, which runs nothing and costs nothing, and for a preview, which costs nothing
             and whose notice comes when it is run
    """
    if statement.kind is StatementKind.EXPLAIN or reading.preview is not None:
        return None
    is_insert = statement.lexed.lexemes[0].word == "insert"
    whole = statement.kind is StatementKind.QUERY or is_insert
    query = reading.text if whole else inner_query(statement, reading.text)
    clauses = tuple(limits(statement))
    what = made(statement)
    return Rehearsal(
        plan=f"EXPLAIN (COSTS OFF) {query}",
        limits=_evaluated(
            [text for text, _ in clauses],
            tuple(evaluated_parts(statement)),
            divides_by_zero(statement),
        ),
        lets_nothing_through=tuple(number for number, (_, ends) in enumerate(clauses) if ends),
        made=None
        if what is None
        else MadeOfNulls(
            what.head,
            tuple(columns),
            "" if what.head.lower().startswith("declare") else " WHERE false",
            what.if_not_exists,
            what.tag,
        ),
        same_kind=_same_kind(statement, columns),
        result_oids=tuple(column.type_oid for column in columns) if whole else (),
        is_computed=computes(
            statement, ((edit.start, edit.end) for edit in reading.rewritten.edits)
        ),
        encoding=copy_encoding(statement),
        without_rows=reading.inlined(NO_RELATION) if statement.kind is StatementKind.COPY else None,
    )


def goes_to_the_server(statement: Statement) -> bool:
    """COPY TO a file or a program: PostgreSQL refuses it to every analyst, before it runs anything."""
    return statement.kind is StatementKind.COPY and not is_copy_to_client(statement)


def _evaluated(clauses: Sequence[str], parts: Sequence[str], divides: bool) -> str | None:
    """How many of one row each clause lets through; then what else can be evaluated, and a division by zero."""
    values = [
        f"(SELECT pg_catalog.count(*) FROM (SELECT {clause}) AS one)"  # noqa: S608
        for clause in clauses
    ]
    values += parts[:_PARTS]
    if divides:
        values.append("1 OPERATOR(pg_catalog./) 0")
    return "SELECT " + ", ".join(values) if values else None


def _same_kind(statement: Statement, columns: Sequence[DescribedColumn]) -> tuple[str, ...]:
    if statement.kind is StatementKind.COPY:
        return (_copy(statement, columns),)
    # Before PostgreSQL 18 the first statement of a string that the relay runs one by one is in no block.
    return _A_CURSOR if statement.needs_transaction else ()


def _copy(statement: Statement, columns: Sequence[DescribedColumn]) -> str:
    """Its options may name columns."""
    items = ", ".join(f"NULL::pg_catalog.text AS {_quoted(column.name)}" for column in columns)
    return copy_around(statement, f"SELECT {items} WHERE false")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
