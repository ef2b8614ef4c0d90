"""What plain PostgreSQL answers, as texts."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import psycopg

from tests.cases import Case
from tests.fifty_queries.queries import arguments_as_text, arguments_of

Row = tuple[str | None, ...]


def rows_of(connection: psycopg.Connection, text: str, *values: str | None) -> list[Row]:
    given = [None if value is None else value.encode() for value in values]
    result = connection.pgconn.exec_params(text.encode(), given)
    assert not result.error_message, f"{result.error_message.decode()}: {text}"
    cells = [
        [result.get_value(row, column) for column in range(result.nfields)]
        for row in range(result.ntuples)
    ]
    return [tuple(None if cell is None else cell.decode() for cell in row) for row in cells]


@dataclass(frozen=True)
class Exact:
    """of the database with the data"""

    connection: psycopg.Connection

    def rows(self, case: Case) -> list[Row]:
        return rows_of(self.connection, case.statement, *arguments_as_text(case))

    def between(self, case: Case, operand: str, one: str, other: str, step: Decimal | None) -> int:
        """How many rows of an ungrouped question have values strictly between two, a step of the answer's
        grid aside."""
        assert not arguments_of(case)[0], case.place
        if step is None:
            inside = f"{operand} > least(a, b) AND {operand} < greatest(a, b)"
            kind = "date"
        else:
            inside = f"{operand} - {step} > least(a, b) AND {operand} + {step} < greatest(a, b)"
            kind = "numeric"
        source = case.statement.partition("\nFROM ")[2]
        text = (
            f"SELECT count(*) FILTER (WHERE {inside}) FROM (SELECT {one!r}::{kind} AS a,"
            f" {other!r}::{kind} AS b) ends, {source}"
        )
        ((count,),) = rows_of(self.connection, text)
        return int(str(count))
