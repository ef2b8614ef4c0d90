"""What PostgreSQL takes as a value of two columns, whatever their types, ends in no fault of ours."""

from __future__ import annotations

import itertools

import pytest

from proxy.base.errors import Refusal
from tests.pipeline_world import walk

_COLUMNS = ("i4", "i8", "n2", "f4", "f8", "d", "ts", "tz", "t", "v", "bp", "b")
_FORMS = (
    "nullif({a}, {b})",
    "coalesce({a}, {b})",
    "greatest({a}, {b})",
    "CASE WHEN i4 > 0 THEN {a} ELSE {b} END",
    "coalesce(nullif({a}, {b}), {a})",
)


def _is_planned(sql: str) -> bool:
    """A NotPrivate, which is a Fault, would be raised."""
    try:
        return walk(sql) is not None
    except Refusal:
        return False


@pytest.mark.parametrize("form", _FORMS)
def test_it_is_planned_or_refused(form: str) -> None:
    pairs = [*itertools.product(_COLUMNS, repeat=2)]
    values = [form.format(a=a, b=b) for a, b in pairs]
    planned = [
        pair
        for pair, value in zip(pairs, values, strict=True)
        if _is_planned(f"SELECT count(*) FROM people WHERE {value} IS NULL")
    ]
    assert set(itertools.product(("d", "ts", "tz"), repeat=2)) <= {*planned}
