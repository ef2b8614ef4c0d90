"""Columns of a domain are those of the type beneath it: in the policy, in questions, in public tables."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.live_proxy import LiveProxy

_ROWS = 8_000  # tests/live/kinds.py: each has share 0.25 and letter 'a'
_REACH = 200  # a hundred scales of the noise of a count of two rows per owner at epsilon 1


def _asked(live: LiveProxy, analyst: str, text: str) -> list[tuple[object, ...]]:
    with live.connect("kinds", analyst=analyst) as connection:
        return connection.execute(text.encode()).fetchall()


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT count(*) FROM kinds.things WHERE share < 0.5 AND letter LIKE 'a%'", _ROWS),
        ("SELECT sum(share) FROM kinds.things", _ROWS / 4),
        ("SELECT count(*) FROM kinds.things WHERE letter IN (SELECT code FROM kinds.codes)", _ROWS),
        (
            "SELECT count(*) FILTER (WHERE c.weight = 0.75) FROM kinds.things t"
            " JOIN kinds.codes c ON t.letter = c.code",
            _ROWS,
        ),
        (
            "SELECT count(*) FROM kinds.things WHERE coalesce(nullif(letter, 'a'), 'zz') = 'zz'",
            _ROWS,
        ),
    ],
)
def test_questions(text: str, wanted: float, live: LiveProxy, analyst: str) -> None:
    ((found,),) = _asked(live, analyst, text)
    assert abs(float(str(found)) - wanted) < _REACH


def test_keys(live: LiveProxy, analyst: str) -> None:
    rows = _asked(live, analyst, "SELECT letter, count(*) FROM kinds.things GROUP BY letter")
    assert sorted(str(key) for key, _ in rows) == ["a", "b"]


def test_public_ones_are_numbers_too(live: LiveProxy, analyst: str) -> None:
    rows = _asked(live, analyst, "SELECT code, weight + 1 FROM kinds.codes WHERE weight > 0.5")
    assert rows == [("a", Decimal("1.75"))]
