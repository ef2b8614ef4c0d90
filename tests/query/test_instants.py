"""Digits and white space of constants are those of ASCII, as PostgreSQL's are."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.base.written_times import is_instant, names_its_zone
from proxy.query.ir.typing_rules import constant, literal_type

_ARABIC = "".join(chr(0x660 + n) for n in range(10))


@pytest.mark.parametrize(
    "text",
    [
        f"2024-01-01 {_ARABIC[1]}2:00:00",
        f"2024-01-01 12:0{_ARABIC[0]}",
        f"2024-01-01 12:00:00.{_ARABIC[5]}",
        f"2024-01-01 12:00+0{_ARABIC[1]}",
        f"{_ARABIC[2]}024-01-01",
        "2024-01-01 12:00:00\n",
    ],
)
def test_other_digits_are_no_instant(text: str) -> None:
    assert not is_instant(text)


@pytest.mark.parametrize("kind", [SqlType.DATE, SqlType.TIMESTAMPTZ, SqlType.INT4, SqlType.BOOL])
def test_other_white_space_is_no_part_of_a_constant(kind: SqlType) -> None:
    text = {SqlType.INT4: "7", SqlType.BOOL: "true"}.get(kind, "2024-01-01")
    assert constant(f" {text}\n", kind, None).value is not None
    with pytest.raises(Refusal):
        constant(f"\u00a0{text}", kind, None)


def test_other_digits_are_no_number() -> None:
    assert literal_type(_ARABIC[1]) is SqlType.NUMERIC
    with pytest.raises(Refusal):
        constant(_ARABIC[1:3], SqlType.INT4, None)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("2024-01-01", False),
        ("2024-01-01 12:00", False),
        ("2024-01-01T12:00:00.5", False),
        ("2024-01-01 12:00Z", True),
        ("2024-01-01 12:00:00.5+00", True),
        ("2024-01-01 12:00:00-05:30", True),
    ],
)
def test_a_zone_is_named_or_not(text: str, named: bool) -> None:
    assert is_instant(text) and names_its_zone(text) is named
