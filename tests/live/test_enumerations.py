"""Columns of an enumeration whose labels the policy lists: keys and conditions by label, in its order."""

from __future__ import annotations

import psycopg
import pytest

from tests.live_proxy import LiveProxy

_ROWS = 8_000  # tests/live/kinds.py: half of them 'low', half 'high', two per owner at most
_REACH = 200  # a hundred scales of the noise of a count of two rows per owner at epsilon 1


def _asked(live: LiveProxy, analyst: str, text: str) -> list[tuple[object, ...]]:
    with live.connect("kinds", analyst=analyst) as connection:
        return connection.execute(text.encode()).fetchall()


@pytest.mark.every(3)
@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT count(*) FROM kinds.things WHERE mood = 'low'", _ROWS / 2),
        ("SELECT count(*) FROM kinds.things WHERE mood IN ('low', 'high')", _ROWS),
        ("SELECT count(*) FROM kinds.things WHERE mood::text <> 'neither'", _ROWS),
        ("SELECT count(*) FROM kinds.things WHERE mood < 'high'", _ROWS / 2),
        ("SELECT count(mood) FROM kinds.things WHERE mood::text LIKE 'h%'", _ROWS / 2),
        ("SELECT sum(CASE mood WHEN 'low' THEN 1 ELSE 0 END) FROM kinds.things", _ROWS / 2),
    ],
)
def test_conditions(text: str, wanted: float, live: LiveProxy, analyst: str) -> None:
    ((found,),) = _asked(live, analyst, text)
    assert abs(int(str(found)) - wanted) < _REACH


def test_keys(live: LiveProxy, analyst: str) -> None:
    rows = _asked(
        live, analyst, "SELECT mood, count(*) FROM kinds.things GROUP BY mood ORDER BY mood"
    )
    assert [key for key, _ in rows] == ["low", "high"]
    assert all(abs(int(str(count)) - _ROWS / 2) < _REACH for _, count in rows)


def test_there_is_no_average_of_labels(live: LiveProxy, analyst: str) -> None:
    with pytest.raises(psycopg.Error, match="avg"):
        _asked(live, analyst, "SELECT avg(mood) FROM kinds.things")
