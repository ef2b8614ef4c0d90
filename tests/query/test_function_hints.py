"""The functions and aggregates that a hint lists are those that are read: no more, no fewer."""

from __future__ import annotations

import re

import pytest
from sqlglot import exp

from proxy.base.errors import Refusal
from proxy.query.bind.expression_reading import READERS
from proxy.query.bind.scope import FUNCTIONS
from proxy.query.syntax.selects import AGGREGATES, AVAILABLE, OTHER_AGGREGATES
from tests.pipeline_world import read

_NO_FUNCTIONS = {exp.And, exp.Or, exp.Case, exp.Cast}  # which the parser counts among functions
_CALLS = {
    "round": "round(i4) > 1",
    "mod": "mod(i4, 3) = 1",
    "width_bucket": "width_bucket(i4, 0, 10, 5) = 1",
    "nullif": "nullif(i4, 3) = 1",
    "greatest": "greatest(i4, 3) = 3",
    "least": "least(i4, 3) = 3",
    "coalesce": "coalesce(i4, 3) = 3",
    "extract": "extract(year FROM d) = 2020",
    "date_trunc": "date_trunc('month', ts) = '2020-01-01'",
    "length": "length(t) = 2",
    "left": "left(t, 1) = 'a'",
    "right": "right(t, 1) = 'a'",
    "substr": "substr(t, 1, 2) = 'a'",
    "strpos": "strpos(t, 'a') = 1",
    "starts_with": "starts_with(t, 'a')",
    **{name: f"{name}(i4) = 1" for name in ("abs", "floor", "ceil", "trunc", "sign")},
    **{name: f"{name}(t) = 'a'" for name in ("lower", "upper", "btrim")},
}
_OF_TWO = re.compile("corr|covar_|regr_|jsonb?_object_agg")


def _hint_of(statement: str) -> str:
    with pytest.raises(Refusal) as caught:
        read(statement)
    assert caught.value.hint is not None
    return caught.value.hint


def test_every_function_that_is_read_is_listed() -> None:
    read_types = {kind for kind in READERS if issubclass(kind, exp.Func)} - _NO_FUNCTIONS
    assert read_types <= FUNCTIONS.keys()
    assert FUNCTIONS.keys() <= READERS.keys()


@pytest.mark.parametrize("name", FUNCTIONS.values())
def test_every_function_that_is_listed_is_read(name: str) -> None:
    hint = _hint_of("SELECT count(*) FROM people WHERE random() < 1")
    assert re.search(rf"\b{name}\b", hint)
    assert read(f"SELECT count(*) FROM people WHERE {_CALLS[name]}") is not None


def test_aggregates_that_are_listed_are_read() -> None:
    names = re.findall(r"[a-z_0-9]+", AVAILABLE.removeprefix("Available are").replace(" and ", " "))
    assert set(names) <= AGGREGATES
    assert not AGGREGATES & OTHER_AGGREGATES
    for name in AGGREGATES:
        call = f"{name}(i4)"
        if name.startswith("percentile"):
            call = f"{name}(0.5) WITHIN GROUP (ORDER BY i4)"
        elif _OF_TWO.match(name):
            call = f"{name}(i4, i2)"
        assert read(f"SELECT {call} FROM people") is not None, name
    for name in OTHER_AGGREGATES - {"grouping"}:
        arguments = "i4, i2" if _OF_TWO.match(name) else "i4"
        assert _hint_of(f"SELECT {name}({arguments}) FROM people") == AVAILABLE, name
