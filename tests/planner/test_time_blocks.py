"""Which blocks of time a statement is charged for, and what is refused of tables that have such budgets."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from proxy.kernel.plan import DistinctCount
from tests.pipeline_world import IN_BLOCKS, walk

_JOINED, _UNITED = "cannot be joined with other rows of people", "different privacy units"
_JANUARY = "ts >= '2019-01-01' AND ts < '2019-02-01'"


def _charged(sql: str) -> list[str]:
    """Of what budgets, but for the tables'."""
    pipeline = walk(sql, IN_BLOCKS)
    assert pipeline is not None
    return [name for name in pipeline.checked.tables if "." not in name]


@pytest.mark.parametrize(
    ("condition", "first", "last", "count"),
    [
        ("ts >= '2019-01-01' AND ts < '2019-02-01'", "2019-01", "2019-01", 1),
        ("ts >= '2019-01-31 23:59:59' AND ts <= '2019-02-01'", "2019-01", "2019-02", 2),
        ("ts BETWEEN '2018-11-03' AND '2019-01-10' AND i4 > 3", "2018-11", "2019-01", 3),
        ("date_trunc('month', ts) = '2019-04-01'", "2019-04", "2019-04", 1),
        ("date_trunc('quarter', ts) = '2019-04-01'", "2019-04", "2019-06", 3),
        ("extract(year FROM ts) = 2018", "2018-01", "2018-12", 12),
        ("ts < '2000-03-01' OR ts >= '2000-05-01' AND ts < '2000-06-01'", "2000-01", "2000-05", 5),
        ("ts >= '2019-12-01'", "2019-12", "2020-01", 2),
        ("i4 > 3", "2000-01", "2020-01", 241),
        ("ts < '2000-02-01' OR i4 > 3", "2000-01", "2020-01", 241),
    ],
)
def test_each_block_that_conditions_leave_is_charged(
    condition: str, first: str, last: str, count: int
) -> None:
    found = _charged(f"SELECT count(*) FROM visits WHERE {condition}")
    assert (found[0], found[-1], len(found)) == (f"person {first}", f"person {last}", count)


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT count(*) FROM calls WHERE d = '2019-05-06'", ["person 2019-05"]),
        ("SELECT sum(i4) FROM orders WHERE tz < '2000-04-01'", ["person 2000-Q1"]),
        (f"SELECT count(*) FROM (SELECT * FROM visits WHERE {_JANUARY}) q", ["person 2019-01"]),
        (f"SELECT count(*) FROM (SELECT ts, i4 FROM visits) q WHERE {_JANUARY}", ["person 2019-01"]),
        (f"SELECT count(*) FROM (SELECT ts AS t0 FROM visits WHERE {_JANUARY}) q WHERE t0 > '2019-01-09'",
         ["person 2019-01"]),
        (f"SELECT count(*) FROM (SELECT i4 FROM visits WHERE {_JANUARY} UNION ALL SELECT i4 FROM calls"
         " WHERE d = '2019-03-01') q", ["person 2019-01", "person 2019-03"]),
        (f"SELECT (SELECT count(*) FROM visits WHERE {_JANUARY}),"
         " (SELECT count(*) FROM calls WHERE d = '2019-01-04')", ["person 2019-01"]),
        (f"SELECT zone, count(*) FROM visits JOIN places ON t = code WHERE {_JANUARY} GROUP BY zone",
         ["person 2019-01"]),
        (f"SELECT count(*) FROM visits LEFT JOIN places ON visits.t = places.code WHERE {_JANUARY}",
         ["person 2019-01"]),
    ],
)  # fmt: skip
def test_blocks_are_named_by_their_lines(sql: str, names: list[str]) -> None:
    assert _charged(sql) == names


def test_a_budget_of_a_block_pays_for_each_part() -> None:
    """Two SELECTs of one month: twice."""
    one = walk(f"SELECT count(*) FROM visits WHERE {_JANUARY}", IN_BLOCKS)
    two = walk(
        f"SELECT (SELECT count(*) FROM visits WHERE {_JANUARY}), (SELECT sum(i4) FROM visits WHERE {_JANUARY})",
        IN_BLOCKS,
    )
    assert one is not None and two is not None
    assert len(two.plan.blocks) == 2 and two.checked.tables["person 2019-01"] == two.plan.loss


def test_people_of_a_block_are_its_units() -> None:
    sql = "SELECT date_trunc('{}', ts), count(DISTINCT uid) FROM visits WHERE ts >= '2019-01-01' GROUP BY 1"
    for unit in ("month", "day"):
        pipeline = walk(sql.format(unit), IN_BLOCKS)
        assert pipeline is not None
        (release,) = pipeline.plan.blocks[0].releases
        assert isinstance(release, DistinctCount) and release.of_unit
    with pytest.raises(Refusal, match="people are counted within one month"):
        walk(sql.format("year"), IN_BLOCKS)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT count(DISTINCT uid) FROM visits", "people are counted within one month"),
        ("SELECT count(DISTINCT uid) FROM visits WHERE ts >= '2019-12-30'", "within one month"),
        (f"SELECT count(*) FROM visits WHERE {_JANUARY} AND uid = 3", "is for COUNT"),
        (f"SELECT uid, count(*) FROM visits WHERE {_JANUARY} GROUP BY uid", "is for COUNT"),
        (f"SELECT uid % 2, count(*) FROM visits WHERE {_JANUARY} GROUP BY 1", "is for COUNT"),
        (f"SELECT sum(uid) FROM visits WHERE {_JANUARY}", "is for COUNT"),
        (f"SELECT count(DISTINCT uid + 1) FROM visits WHERE {_JANUARY}", "is for COUNT"),
        (f"SELECT count(*) FROM (SELECT * FROM visits WHERE {_JANUARY}) q WHERE uid = 3", "is for COUNT"),
        (f"SELECT count(*) FROM (SELECT uid + 1 AS u FROM visits WHERE {_JANUARY}) q WHERE u = 3",
         "is for COUNT"),
        (f"SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM visits WHERE {_JANUARY} GROUP BY uid) q",
         "is for COUNT"),
        (f"SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY uid ORDER BY ts) AS n FROM visits"
         f" WHERE {_JANUARY}) q WHERE n = 1", "a window is over"),
        ("SELECT count(*) FROM visits v JOIN members m ON m.uid = v.uid", _JOINED),
        ("SELECT count(*) FROM visits v JOIN calls c ON c.uid = v.uid", _JOINED),
        ("SELECT count(*) FROM members m WHERE EXISTS (SELECT FROM visits v WHERE v.uid = m.uid)",
         _JOINED),
        ("SELECT count(*) FROM (SELECT i4 FROM visits UNION ALL SELECT i4 FROM members) q", _UNITED),
        ("SELECT count(*) FROM (SELECT i4 FROM visits UNION ALL SELECT i4 FROM orders) q", _UNITED),
        ("SELECT (SELECT count(*) FROM visits), (SELECT count(*) FROM members)", "blocks of time and others"),
        ("SELECT count(*) FROM visits WHERE ts >= '2021-01-01'", "leave no month of ts"),
        ("SELECT count(*) FROM visits WHERE ts < '1999-12-01'", "leave no month of ts"),
    ],
)  # fmt: skip
def test_what_knows_a_person_beyond_a_block_is_refused(sql: str, message: str) -> None:
    with pytest.raises(Refusal, match=message) as refused:
        walk(sql, IN_BLOCKS)
    assert refused.value.hint
