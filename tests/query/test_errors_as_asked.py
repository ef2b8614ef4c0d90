"""Whatever dp.error() gives of an expression, the notice of its column has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxy.base.errors import Refusal
from proxy.base.result_columns import IntervalColumn, IntervalEnd
from proxy.base.sql_types import SqlType
from proxy.query.bind.output_columns import result_select
from proxy.query.ir.noisy_expressions import AnswerOf, NoisyExpression
from proxy.query.ir.query import AggregateBlock
from proxy.query.syntax.selects import Span, selects
from proxy.query.syntax.slices import parse_item
from proxy.query.syntax.statements import split_commas
from tests.pipeline_world import read
from tests.planner.test_golden_pipeline import arguments_of, planned_cases

_PARTS = 4
_OF_ORDERS = "(SELECT 1 FROM orders o WHERE o.uid = m.uid)"
_FORMS = (
    f"SELECT t, count(*) FILTER (WHERE EXISTS {_OF_ORDERS}) FROM members m GROUP BY t",
    f"SELECT t, 2 * count(*) FILTER (WHERE NOT EXISTS {_OF_ORDERS}) FROM members m GROUP BY t",
    f"SELECT sum(CASE WHEN EXISTS {_OF_ORDERS} THEN i4 END) / count(*) FROM members m",
    "SELECT count(*) FILTER (WHERE i4 > (SELECT avg(i4) FROM people)) FROM people",
    "SELECT count(*) FILTER (WHERE t IN (SELECT code FROM places)) FROM people",
    "SELECT avg(i4) FILTER (WHERE i4 IN (SELECT k FROM rates)) + 1 FROM people",
    "SELECT count(*) - (SELECT count(*) FROM people) FROM people",
    "SELECT " + " + ".join(["count(*)"] * 60) + " FROM people",
)


def _items(sql: str, types: tuple[SqlType, ...]) -> Iterator[Span]:
    """Where the expressions of the result's columns stand in the text, by characters."""
    found = read(sql, types)
    assert found is not None
    statement, reading = found
    if not reading.query.blocks or len({*map(_outputs, reading.query.blocks)}) != 1:
        return
    result = result_select(statement, selects(statement))
    if result is None or not reading.query.blocks[0].outputs:
        return
    lexed = statement.lexed
    for span in split_commas(lexed, *result.items):
        first, last = parse_item(lexed, span, {})[2]
        yield lexed.lexemes[first].start, lexed.lexemes[last - 1].end


def _outputs(block: AggregateBlock) -> int:
    return len(block.outputs)


def _asked(sql: str, types: tuple[SqlType, ...], place: int, span: Span) -> NoisyExpression | None:
    """What dp.error() of an item is of, None where it is refused."""
    text = f"{sql[: span[0]]}dp.error({sql[span[0] : span[1]]}){sql[span[1] :]}"
    try:
        found = read(text, types)
    except Refusal:
        return None
    assert found is not None
    block = next(one for one in found[1].query.blocks if one.outputs)
    numbers = [one.number for one in block.intervals if one.end is IntervalEnd.ERROR]
    assert block.outputs[place].reason == ""
    if len(numbers) != 1:
        return None  # which of several is not seen here
    return _numbered(block, IntervalColumn(IntervalEnd.ERROR, numbers[0]))


def _numbered(block: AggregateBlock, column: IntervalColumn) -> NoisyExpression:
    if column.number > len(block.aggregates):
        return block.expressions[column.number - len(block.aggregates) - 1]
    return AnswerOf(column.number, block.aggregates[column.number - 1].type)


@pytest.mark.parametrize("sql", _FORMS)
def test_forms_with_subqueries(sql: str) -> None:
    _check(sql)


@pytest.mark.every(2)
@pytest.mark.parametrize("part", range(_PARTS))
def test_golden_statements(part: int) -> None:
    for case in planned_cases()[part::_PARTS]:
        _check(case.statement, arguments_of(case)[0])


def _check(sql: str, types: tuple[SqlType, ...] = ()) -> None:
    found = read(sql, types)
    assert found is not None
    blocks = [one for one in found[1].query.blocks if one.outputs]
    for place, span in enumerate(_items(sql, types)):
        asked = _asked(sql, types, place, span)
        if asked is not None:
            column = blocks[0].outputs[place]
            is_told = column.expression == asked or "dp.error()" in column.reason
            assert is_told, (column, sql)
