"""Made-up relations for rewritten statements: three groups, or one row, with a value of each column's type."""

from __future__ import annotations

import json
from collections.abc import Sequence

from proxy.base.result_columns import (
    IntervalColumn,
    IntervalEnd,
    aggregate_column,
    key_column,
    subquery_name,
)
from proxy.base.sql_types import SqlType
from proxy.query.ir.query import AggregateBlock

_GROUPS = 3
_NUMBERS = (IntervalEnd.ERROR, IntervalEnd.CLIPPED)


def made_relation(blocks: Sequence[AggregateBlock]) -> str:
    """JSON for the relation parameter."""
    return json.dumps(
        {subquery_name(number): _rows(block) for number, block in enumerate(blocks, start=1)}
    )


def _rows(block: AggregateBlock) -> list[dict[str, object]]:
    groups = _GROUPS if block.keys else 1
    return [_row(block, number) for number in range(groups)]


def _row(block: AggregateBlock, group: int) -> dict[str, object]:
    row: dict[str, object] = {
        key_column(number): _value(key.type, group)
        for number, key in enumerate(block.keys, start=1)
    }
    kinds = [*(one.type for one in block.aggregates), *(one.type for one in block.expressions)]
    for number, kind in enumerate(kinds, start=1):
        if number <= len(block.aggregates):
            row[aggregate_column(number)] = _value(kind, group + number)
        for end in IntervalEnd:
            column = IntervalColumn(end, number)
            if column in block.intervals:
                row[column.name] = _value(
                    SqlType.FLOAT8 if end in _NUMBERS else kind, group + number + 1
                )
    return row


def _value(kind: SqlType, number: int) -> object:
    if kind.is_integer:
        return 7 + 3 * number
    if kind.is_number:
        return 2.5 + number
    match kind:
        case SqlType.BOOL:
            return number % 2 == 0
        case SqlType.DATE:
            return f"2015-01-{1 + number:02}"
        case SqlType.TIMESTAMP | SqlType.TIMESTAMPTZ:
            return f"2015-01-{1 + number:02} 00:00:00+00"
        case SqlType.UUID:
            return f"00000000-0000-0000-0000-{number:012}"
        case _:
            return "xyz"[number % 3]
