"""Rows that meet answers (ADR 0049): as they are where a group meets one answer at most, added up elsewhere.

A group that was taken for one answer's and met two would be answered twice, or with a mean of the wrong rows.
"""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from proxy.kernel.plan import BlockPlan, PrivatePlan
from proxy.query.ir.query import AggregateBlock
from proxy.query.statement_reading import Reading
from tests.pipeline_world import read, walk

_GROUPS = "SELECT t AS g, count(*) AS n FROM people GROUP BY t"
_Q = f"({_GROUPS}) q"


def _reading(sql: str) -> Reading:
    found = read(sql)
    assert found is not None
    return found[1]


def _plan(sql: str) -> PrivatePlan:
    found = walk(sql)
    assert found is not None
    return found.plan


def _rows(sql: str) -> AggregateBlock:
    """The block of the SELECT that begins a statement, or follows its WITH."""
    blocks = _reading(sql).query.blocks
    return blocks[-1] if sql.startswith("WITH") else blocks[0]


ONE = (
    f"{_Q} ON t = g",
    f"{_Q} ON g = people.t",
    f"{_Q} ON (t IS NOT DISTINCT FROM q.g)",
    f"{_Q} ON b AND ((t = g) AND true)",
    "(SELECT t, count(*) AS n FROM people GROUP BY 1 ORDER BY 2 LIMIT 3) q USING (t)",
    f"(SELECT g AS h FROM ({_GROUPS}) x WHERE n > 3) q ON t = q.h",
    f"(SELECT * FROM ({_GROUPS}) x) q ON t = q.g",
    f"(SELECT DISTINCT g FROM ({_GROUPS}) x) q ON t = g",
    "(SELECT avg(i4) AS mean FROM people) q ON q.mean > 3",
    f"(SELECT g FROM ({_GROUPS}) x LIMIT 1) q ON true",
    f"(SELECT g FROM ({_GROUPS}) x FETCH FIRST ROW ONLY) q ON true",
    f"(SELECT max(n) AS most, min(g) AS least FROM ({_GROUPS}) x) q ON true",
    f"(SELECT g, rank() OVER (ORDER BY n) AS place FROM ({_GROUPS}) x) q ON t = g",
)
SEVERAL = (
    f"{_Q} ON t <> g",
    f"{_Q} ON t = g OR b",
    f"{_Q} ON NOT t = g",
    f"{_Q} ON t = q.n::text",
    f"{_Q} ON true",
    "(SELECT t AS g, b AS h, count(*) FROM people GROUP BY t, b) q ON t = g",
    # the name of an output that is not the key
    f"(SELECT lower(g) AS g, count(*) AS n FROM ({_GROUPS}) x GROUP BY g) q ON t = q.g",
    f"(SELECT 'g' AS h FROM ({_GROUPS}) x) q ON t = q.h",
    f"(SELECT g || 'x' AS h FROM ({_GROUPS}) x) q ON t = q.h",
    f"({_GROUPS} UNION ALL {_GROUPS}) q ON t = g",
    f"(SELECT g, generate_series(1, 2) FROM ({_GROUPS}) x) q ON t = g",
    f"(SELECT g, count(*) OVER () AS n FROM ({_GROUPS}) x CROSS JOIN (VALUES (1), (2)) v) q ON t = g",
    f"(SELECT count(*) OVER () AS n FROM ({_GROUPS}) x) q ON true",
    f"(SELECT g FROM ({_GROUPS}) x LIMIT 2) q ON true",
    f"(SELECT g FROM ({_GROUPS}) x ORDER BY n FETCH FIRST 1 ROW WITH TIES) q ON true",
    f"(SELECT DISTINCT ON (n) g, n FROM ({_GROUPS}) x) q ON t = g",
    "(SELECT t AS g, count(*) FROM people GROUP BY t, t || 'x') q (g, n) ON t = q.g",
    "(VALUES ('x'), ('x')) q (g) ON t = q.g",
)


@pytest.mark.parametrize("joined", ONE)
def test_a_group_meets_one_answer(joined: str) -> None:
    sql = f"SELECT t, avg(i4) FROM people JOIN {joined} GROUP BY t"
    assert not _rows(sql).is_summed
    if "ON b" not in joined:  # which an outer join does not settle
        assert not _rows(sql.replace(" JOIN ", " LEFT JOIN ", 1)).is_summed


@pytest.mark.parametrize("joined", SEVERAL)
def test_a_group_may_meet_several(joined: str) -> None:
    with pytest.raises(Refusal):
        _reading(f"SELECT t, avg(i4) FROM people JOIN {joined} GROUP BY t")


def test_a_group_of_the_statement_is_one_of_the_rows() -> None:
    """By t, of which the result says nothing: its means are not those of b's groups."""
    for sql in (
        f"SELECT b, {{}} FROM people JOIN {_Q} ON t = g GROUP BY b",
        f"SELECT {{}} FROM people JOIN {_Q} ON t = g",
        f"SELECT CASE WHEN n > 3 THEN t END, {{}} FROM (SELECT t, i4 FROM people) p JOIN {_Q} ON t = g"
        " GROUP BY 1",
    ):
        assert _rows(sql.format("count(*)")).is_summed
        with pytest.raises(Refusal, match="added up"):
            _reading(sql.format("avg(i4)"))


def test_counts_are_added_up_where_a_group_may_meet_several() -> None:
    for joined in (SEVERAL[0], SEVERAL[4], SEVERAL[13]):
        block = _rows(f"SELECT t, count(*) FROM people JOIN {joined} GROUP BY t")
        assert block.is_summed
        assert len(block.keys) == 1


def test_an_equality_of_where_is_none_of_an_outer_join() -> None:
    sql = f"SELECT t, count(*) FROM people {{}} JOIN {_Q} ON true WHERE t = g GROUP BY t"
    assert not _rows(sql.format("")).is_summed
    assert _rows(sql.format("LEFT")).is_summed


def test_conditions_of_rows_are_settled_and_no_others() -> None:
    reading = _reading(
        f"SELECT t, count(*) FROM people JOIN {_Q} ON t = g AND i2 > 1 WHERE i4 > 3 AND q.n > 5 GROUP BY t"
    )
    assert "t" not in reading.text.partition(" WHERE ")[2].split()
    assert reading.text.endswith("ON dp_b1.k1 = g AND true WHERE true AND q.n > 5 ")
    assert "i4" in str(reading.query.blocks[0].where)
    assert "i2" in str(reading.query.blocks[0].where)
    outer = _reading(
        f"SELECT count(*) FROM people LEFT JOIN {_Q} ON t = g AND b"  # which drops no row
    )
    assert outer.query.blocks[0].where is None
    assert len(outer.query.blocks[0].keys) == 2


def test_a_name_that_is_no_column_of_the_policy_is_left_to_postgresql() -> None:
    """Whether it is one of the answers, or one that is not displayed, by which rows would be grouped."""
    text = _reading(f"SELECT t, avg(i4) FROM people JOIN {_Q} ON t = g GROUP BY t, ctid, q.n").text
    assert text.endswith(
        "ON dp_b1.k1 = g WHERE (true OR (ctid) IS NULL) AND (true OR (q.n) IS NULL)"
    )
    with pytest.raises(Refusal, match="people"):
        _reading(f"SELECT t, avg(i4) FROM people JOIN {_Q} ON t = g GROUP BY t, people")


def test_both_are_charged() -> None:
    blocks = _plan(f"SELECT t, count(*) FROM people JOIN {_Q} ON t = g GROUP BY t").blocks
    assert [block.releases[0].loss.epsilon for block in blocks] == [4, 4]


def test_groups_that_are_added_up_are_public() -> None:
    """i4 has bounds, so its whole numbers are known; s has nothing."""

    def planned(key: str) -> BlockPlan:
        answers = f"(SELECT max({key}) AS most, count(*) AS n FROM people) q"
        return _plan(f"SELECT count(*) FROM people JOIN {answers} ON {key} < q.most").blocks[0]

    assert planned("i4").keys[0].values == tuple(map(str, range(101)))
    with pytest.raises(Refusal, match="no public values"):
        planned("n2")


def test_a_text_is_no_column_of_that_name() -> None:
    """SELECT lower('t') is 't' whatever the groups are."""
    text = _reading("SELECT lower('t'), lower(t), count(*) FROM people GROUP BY lower(t)").text
    assert text.startswith("SELECT lower('t'), dp_b1.k1")
