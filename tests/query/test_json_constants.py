"""Constants of jsonb: read by us and written again, in one way; what PostgreSQL would refuse is refused."""

from __future__ import annotations

import pytest

from proxy.base import limits
from proxy.base.errors import Refusal
from proxy.query.ir.json_constants import json_constant, number_of_values


@pytest.mark.parametrize(
    ("written", "read", "values"),
    [
        ('{"a":1.50, "b": [true,null,"\\u00e9"]}', '{"a": 1.5, "b": [true, null, "\u00e9"]}', 6),
        ('{"a": 1, "a": 2}', '{"a": 2}', 2),
        (' "x" ', '"x"', 1),
        ("1e3", "1000", 1),
        ("-0", "0", 1),
        ('"\\ud83d\\ude00"', '"\U0001f600"', 1),
        ('{"": {}}', '{"": {}}', 2),
    ],
)
def test_is_written_in_one_way(written: str, read: str, values: int) -> None:
    constant = json_constant(written, None)
    assert constant.value == read
    assert number_of_values(constant) == values
    assert json_constant(read, None) == constant


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "{a: 1}", "{'a': 1}", "[1,]", "NaN", "-Infinity", "01", "1.", ".5", "[1] 2"),
        *('"\\u0000"', '"\\ud83d"', '"a\nb"', '{"\\u0000": 1}', "1e999999999", "true false"),
        "[" * (limits.NESTING_DEPTH + 1) + "]" * (limits.NESTING_DEPTH + 1),
        "[" * 4000 + "]" * 4000,
        f'"{"x" * limits.CONSTANT_BYTES}"',
    ],
)
def test_is_refused(text: str) -> None:
    with pytest.raises(Refusal):
        json_constant(text, None)
