"""PostgreSQL's own answers to a shape, matched with the numbers of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import psycopg

from proxy.kernel.plan import BlockPlan
from proxy.query.ir.noisy_expressions import answers_in
from proxy.query.ir.query_aggregates import AggregateKind
from tests.stated_errors.redrawn import Keys, Number

_TOTALS = (
    *(AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT),
    AggregateKind.SUM,
)


@dataclass(frozen=True)
class OwnAnswers:
    """Of one block. rows: by the group's keys in any order, the values of all columns, None for NULL;
    are_totals: of columns that are counts and sums, which no rows make 0."""

    rows: Mapping[Keys, tuple[str | None, ...]]
    are_totals: tuple[bool, ...]

    def of(self, number: Number) -> Fraction | None:
        """Of a column; None where PostgreSQL says NULL, or has no such group but no total."""
        assert number.is_column
        row = self.rows.get(_sorted(number.keys))
        text = None if row is None else row[number.place - 1]
        if text is not None:
            return Fraction(text)
        return Fraction(0) if self.are_totals[number.place - 1] else None


def own_answers(connection: psycopg.Connection, sql: str, block: BlockPlan) -> OwnAnswers:
    connection.execute("SET TimeZone = 'UTC'")
    result = connection.pgconn.exec_(sql.encode())
    assert not result.error_message, (sql, result.error_message)
    outputs = block.outputs
    keys = [
        place
        for place in range(result.nfields)
        if place >= len(outputs)
        or (outputs[place].expression is None and not outputs[place].reason)
    ]
    rows = {}
    for row in range(result.ntuples):
        values = [result.get_value(row, place) for place in range(result.nfields)]
        texts = tuple(None if value is None else value.decode() for value in values)
        rows[_sorted([texts[place] for place in keys])] = texts
    totals = []
    for output in outputs:
        found = output.expression
        kinds = {block.answers[n - 1].aggregate.kind for n in answers_in(found)} if found else ()
        totals.append(all(kind in _TOTALS for kind in kinds))
    return OwnAnswers(rows, tuple(totals))


def _sorted(keys: Sequence[str | None]) -> Keys:
    return tuple(sorted((key for key in keys), key=lambda key: (key is None, key or "")))
