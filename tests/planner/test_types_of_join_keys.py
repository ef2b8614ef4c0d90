"""Which pairs of types a join can be cut by: values that are equal are one value on either side."""

from __future__ import annotations

import itertools

import pytest

from proxy.base.sql_types import SqlType
from proxy.planner.truncation import can_be_truncated_by
from proxy.query.ir.expressions import ColumnRef

_EXACT = {SqlType.INT2, SqlType.INT4, SqlType.INT8, SqlType.NUMERIC}
_TEXTS = {SqlType.TEXT, SqlType.VARCHAR, SqlType.BPCHAR, SqlType.ENUM, SqlType.COLLATED}
# Compared with character(n) without trailing blanks, which they keep; text is not.
_PADDED = {SqlType.VARCHAR, SqlType.COLLATED}
_WHOLES = {kind for kind in SqlType if kind.is_compound}
_NEVER = {SqlType.FLOAT4, SqlType.FLOAT8, SqlType.OTHER, *_WHOLES}


def _expected(x: SqlType, y: SqlType) -> bool:
    if {x, y} & _NEVER:
        return False
    return x is y or {x, y} <= _EXACT or ({x, y} <= _TEXTS and not _is_padded({x, y}))


def _is_padded(pair: set[SqlType]) -> bool:
    return SqlType.BPCHAR in pair and bool(pair & _PADDED)


@pytest.mark.parametrize("x", SqlType, ids=str)
def test_types(x: SqlType) -> None:
    for y in SqlType:
        a, b = (ColumnRef("c", kind, None, "t") for kind in (x, y))
        assert can_be_truncated_by(a, b) is _expected(x, y), (x, y)


def test_it_does_not_matter_which_side_is_which() -> None:
    for x, y in itertools.combinations(SqlType, 2):
        assert _expected(x, y) is _expected(y, x)
