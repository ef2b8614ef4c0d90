"""Whatever a statement holds within the limits, to read and to plan it is a bounded number of steps.

A statement that takes minutes would freeze the listener for everybody. Steps are counted (calls of Python), not
timed: two or three million of them are a second.
"""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.planner.label_evaluation import NO_STATEMENT, WORK, WORK_TOGETHER, LabelWork
from proxy.query.ir.expressions import ColumnRef, TextCall, TextFunction
from tests.pipeline_world import walk

_MOST_CALLS = 4_000_000


class _TooManyCalls(BaseException):
    """Not an Exception: what is tried must not catch it."""


def _calls(text: str) -> tuple[int, Code | None]:
    count = 0

    def called(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"
        if count > _MOST_CALLS:
            raise _TooManyCalls

    sys.setprofile(called)
    try:
        walk(text, types=(SqlType.INT4,), arguments=("1",))
    except Refusal as refusal:
        return count, refusal.code
    finally:
        sys.setprofile(None)
    return count, None


def _ctes(first: str, step: str, number: int) -> str:
    """Each CTE names the one before it."""
    steps = (f"c{n} AS ({step.replace('#', f'c{n - 1}')})" for n in range(1, number))
    return f"WITH {', '.join((f'c0 AS ({first})', *steps))} "


def _columns(number: int) -> str:
    listed = ", ".join(f"i4 AS c{n}" for n in range(number))
    anywhere = " OR ".join(f"c{n} > 0" for n in range(number))
    return f"SELECT count(*) FROM (SELECT {listed} FROM people) q WHERE {anywhere}"


_DOUBLED = "SELECT a.uid, a.i4 FROM # a JOIN # b ON a.uid = b.uid"
_TWICE = "SELECT * FROM # UNION ALL SELECT * FROM #"
_LEVELS = " AND ".join(f"(t = 'x' OR i2 < {n} OR i4 > {n})" for n in range(50))
_STATEMENTS = {
    "CTEs that join the one before with itself": _ctes("SELECT uid, i4 FROM visits", _DOUBLED, 30)
    + "SELECT sum(i4) FROM c29",
    "CTEs that append the one before twice": _ctes("SELECT uid, i4 FROM visits", _TWICE, 30)
    + "SELECT sum(i4) FROM c29",
    "public CTEs that append the one before twice": _ctes("SELECT code FROM places", _TWICE, 30)
    + "SELECT count(*) FROM people p JOIN c29 q ON p.t = q.code",
    "CTEs in a row": _ctes("SELECT 1 AS x", "SELECT*FROM #", 400)
    + "SELECT count(*) FROM people CROSS JOIN c399",
    "unused CTEs": _ctes("SELECT 1", "SELECT 1", 550) + "SELECT count(*) FROM people",
    "a condition on each of 400 columns": _columns(400),
    "subqueries that ask the same": "SELECT " + ", ".join(["(SELECT count(*) FROM people)"] * 400),
    "400 conditions on a column": "SELECT count(*) FROM people WHERE "
    + " AND ".join(f"(i4 = {n}) IS NOT TRUE" for n in range(400)),
}
_SLOWER = {
    "conditions on several keys": "SELECT t, c, e, b, i2, count(*) FROM people WHERE "
    + " AND ".join(f"(t = 'x' OR c = 'a' OR b OR i2 = {n} OR e = 'low')" for n in range(150))
    + " GROUP BY 1, 2, 3, 4, 5",
    "conditions on a key of thousands of values": "SELECT date_trunc('day', d), count(*) FROM people WHERE "
    + " AND ".join(f"date_trunc('day', d) <> '2001-02-{1 + n % 28:02d}'" for n in range(250))
    + " GROUP BY 1",
    "keys of many queries": " UNION ALL ".join(
        f"SELECT to_char(ts, 'YYYY-MM-DD'), count(*) + {n} FROM people GROUP BY 1"
        for n in range(40)
    ),
    "conditions in one CTE of many queries": f"WITH a AS (SELECT * FROM people WHERE {_LEVELS}) "
    + " UNION ALL ".join(f"SELECT t, count(*) + {n} FROM a GROUP BY 1" for n in range(40)),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", _STATEMENTS)
def test_steps_are_bounded(name: str) -> None:
    calls, refused = _calls(_STATEMENTS[name])
    assert calls > 1_000
    assert refused in (None, Code.TOO_COMPLEX)


@pytest.mark.long
@pytest.mark.parametrize("name", _SLOWER)
def test_steps_of_keys_are_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.query.test_bounded_work._MOST_CALLS", 12_000_000)
    calls, refused = _calls(_SLOWER[name])
    assert calls > 1_000
    assert refused in (None, Code.TOO_COMPLEX)


def test_the_work_of_a_statement_is_shared_by_its_queries() -> None:
    work = LabelWork.of_statement(None)
    for _ in range(4):
        assert work.allowed(WORK_TOGETHER // 4)
    assert not work.allowed(1)
    assert LabelWork.of_statement(None).allowed(WORK)
    work.end()
    for one in (work, NO_STATEMENT):
        for _ in range(5):
            assert one.allowed(WORK)
        assert not one.allowed(WORK + 1)


def test_texts_are_made_once_for_a_statement_and_dropped_at_its_end() -> None:
    work, made = LabelWork.of_statement(lambda asked: asked.rows), []

    def make() -> tuple[str, ...]:
        made.append("text")
        return ("text",)

    assert work.made_once("key", make) == work.made_once("key", make) == ("text",)
    assert len(made) == 1
    part = ColumnRef("a", SqlType.TEXT, None, "t")
    key = TextCall(TextFunction.LOWER, part, (), SqlType.TEXT)
    assert work.evaluated([key], [part], [("x",)]) == [("x",)]
    work.end()
    assert work.evaluated([key], [part], [("x",)]) is None
    assert not work.made
    for _ in range(2):
        work.made_once("key", make)
        NO_STATEMENT.made_once("key", make)
    assert len(made) == 5
    assert not NO_STATEMENT.made
