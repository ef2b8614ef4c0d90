"""What noise makes impossible is said: a part above its whole, a total that falls, groups that may be empty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import thread_time

import pytest

from proxy.engine.column_errors import reported
from proxy.engine.impossible_answers import empty_groups, impossible_answers
from proxy.kernel.plan import BlockPlan
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.release.noisy_relation import NoisyTable
from proxy.release.presenting import presented
from tests.pipeline_world import POLICIES, read, walk

_B = "count(*) FILTER (WHERE b)"
_LEFT = " leaves out all but about 1 in 40 of the empty ones, and small groups with them."
_KEYS = ("x", "y", "z", None)


def _released(sql: str, *counts: Sequence[int]) -> tuple[BlockPlan, NoisyTable]:
    """A statement whose answers have these numbers, a list for each answer in the order of the statement."""
    found, pipeline = read(sql), walk(sql, POLICIES["best"], settings={"dp.epsilon": "0.1"})
    assert found is not None and pipeline is not None
    block = pipeline.plan.blocks[0]
    order = [answer.releases[0] for answer in block.answers]
    groups = []
    for place in range(len(counts[0])):
        values = [DrawnNumber(0)] * len(block.releases)
        for number, of_answer in zip(order, counts, strict=True):
            values[number] = DrawnNumber(of_answer[place])
        groups.append(DrawnGroup((_KEYS[place],) if block.keys else (), tuple(values)))
    return block, presented(block, DrawnBlock(tuple(groups)))


@pytest.mark.parametrize(
    ("columns", "counts", "told"),
    [
        (f"count(*) AS n, {_B} AS m", ([900] * 4, [901, 899, 902, 900]), "puts m above n in 2 of 4 groups"),
        (f"{_B} AS m, count(*) AS n", ([901, 899, 902, 900], [900] * 4), "puts m above n in 2 of 4 groups"),
        ("count(*) AS n, count(i4) AS m", ([900] * 4, [901] * 4), "puts m above n in 4 of 4 groups"),
        (
            f"count(*) FILTER (WHERE b AND i4 > 5) AS part, {_B} AS wide",
            ([901, 1, 1, 1], [900] * 4),
            "puts part above wide in 1 of 4 groups",
        ),
        (
            f"{_B} * 1.0 / count(*) AS share",
            ([90_100, 90_000, 1, 1], [90_000] * 4),
            "puts share above 1 in 1 of 4 groups",
        ),
        (
            f"round(100.0 * {_B} / count(*), 1) AS share",
            ([90_100, 90_010, 1, 1], [90_000] * 4),
            "puts share above 100 in 1 of 4 groups",
        ),
        (
            "count(*) - count(i4) AS missing",
            ([900] * 4, [901, 899, 899, 899]),
            "puts missing below 0 in 1 of 4 groups",
        ),
        (
            "1 - count(i4)::numeric / count(*) AS missing",
            ([90_010, 1, 1, 1], [90_000] * 4),
            "puts missing below 0 in 1 of 4 groups",
        ),
        (f"{_B} * 1.0 / count(*) AS s", ([-3, 5, -1, 1], [90_000] * 4), "puts s below 0 in 2 of 4 groups"),
        (
            f"100 * {_B}::float8 / count(*) AS share",
            ([-3, 90_100, 1, 1], [90_000] * 4),
            "puts share above 100 in 1 of 4 groups and share below 0 in 1 of 4 groups",
        ),
        (
            f"round(100.0 * {_B} / count(*), 1) AS p",
            ([-3_000, 1, 1, 1], [90_000] * 4),
            "puts p below 0 in 1 of 4 groups",
        ),
        (
            f"{_B} AS m, {_B} * 1.0 / count(*) AS share",
            ([-3, 5, 5, 1], [90_000] * 4),
            "puts m below 0 in 1 of 4 groups",
        ),
        (
            f"1 - {_B} * 1.0 / count(*) AS rest",
            ([-3, 5, 5, 1], [90_000] * 4),
            "puts rest above 1 in 1 of 4 groups",
        ),
        (  # two columns of one name
            f"count(*), {_B}",
            ([900] * 4, [950, -950, 899, 1]),
            "puts count (column 3) above count (column 2) in 1 of 4 groups and count (column 3) below 0 in 1 of"
            " 4 groups",
        ),
        (f"count(*) AS n, {_B} AS m", ([900] * 4, [900, 899, 1, 2]), None),
        (f"{_B} AS m, count(*) FILTER (WHERE NOT b) AS n", ([900] * 4, [1] * 4), None),
        ("count(*) AS n, sum(i4) AS s", ([1] * 4, [900] * 4), None),
        ("count(*) AS n", ([-9, 5, 5, -1],), "puts n below 0 in 2 of 4 groups"),
        ("sum(i4) AS s", ([5, 5, 5, -1],), "puts s below 0 in 1 of 4 groups"),
        ("sum(i8) AS s", ([5, 5, 5, -1],), None),  # which can be
        ("avg(i4) AS s", ([5, 5, 5, -1],), None),
    ],
)  # fmt: skip
def test_parts_above_their_wholes(
    columns: str, counts: tuple[list[int], ...], told: str | None
) -> None:
    found = list(
        impossible_answers(*_released(f"SELECT t, {columns} FROM people GROUP BY t", *counts))
    )
    assert found == ([] if told is None else [f"Noise alone {told}."])


def test_one_line_names_few_columns() -> None:
    parts = ", ".join(f"count(*) FILTER (WHERE i4 > {n}) AS c{n}" for n in range(9))
    sql = f"SELECT count(*) AS n, {parts} FROM people"
    (line,) = impossible_answers(*_released(sql, [900], *([950 + n] for n in range(9))))
    assert line == "Noise alone puts c0 above n, c1 above n, c2 above n and 6 more columns."


@pytest.mark.every(2)
@pytest.mark.parametrize("groups", [0, 1])
def test_columns_that_repeat_an_answer_take_no_time(groups: int) -> None:
    """Hundreds of columns of two answers are two answers: pairs of columns took a second of the event loop."""
    columns = ", ".join(["count(*)"] * 400 + ["count(i4)"] * 400)
    block, noisy = _released(f"SELECT {columns} FROM people", [900], [901])
    noisy = replace(noisy, rows=noisy.rows[:groups])
    begun = thread_time()
    found = list(impossible_answers(block, noisy))
    assert thread_time() - begun < 0.2
    assert [line[-17:] for line in found] == ["397 more columns."] * groups


def test_running_totals_may_fall() -> None:
    sql = (
        "SELECT i2, count(*) AS n, sum(count(*)) OVER (ORDER BY i2) AS running FROM people"
        " WHERE i2 IN (1, 2) GROUP BY i2"
    )
    block, noisy = _released(sql, [900, -3])
    assert list(impossible_answers(block, noisy)) == [
        "Noise alone puts n below 0 in 1 of 2 groups, and lets running fall in 1 of 2 groups."
    ]
    block, noisy = _released(sql, [900, 3])
    assert list(impossible_answers(block, noisy)) == []
    block, noisy = _released(
        sql.replace("ORDER BY i2", "ORDER BY i2 ROWS 1 PRECEDING", 1), [900, -3]
    )
    assert list(impossible_answers(block, noisy)) == [
        "Noise alone puts n below 0 in 1 of 2 groups."
    ]


@pytest.mark.parametrize(
    ("columns", "counts", "told"),
    [
        (
            "count(*) AS n",
            ([0, 900, 900, 900],),
            "1 of 4 groups may be empty, as public keys have all groups: n is below its error. HAVING"
            " dp.low(count(*)) > 0 leaves out all but about 1 in 40 of the empty ones,"
            " and small groups with them.",
        ),
        ("count(*) AS n", ([900] * 4,), None),
        # A count that is surely above 0 says that the group is not empty.
        ("count(*) AS n, count(i4) AS m", ([900, 1, 1, 900], [1, 900, 1, 900]), "1 of 4 groups may be empty"),
        # Without a count of all rows, what is counted may be missing in a group that has others.
        (
            f"{_B} AS m",
            ([0, 900, 900, 900],),
            "1 of 4 groups may have no rows that m counts, as public keys have all groups.",
        ),
        (
            f"{_B} AS m, count(*) FILTER (WHERE NOT b) AS o",
            ([0, 0, 900, 0], [0, 900, 0, 0]),
            "2 of 4 groups may have no rows that m and o count, as public keys have all groups.",
        ),
        (
            f"{_B}, count(*) FILTER (WHERE NOT b)",
            ([0, 0, 900, 0], [0, 900, 0, 0]),
            "2 of 4 groups may have no rows that count (column 2) and count (column 3) count, as public keys",
        ),
        (f"{_B} AS m, count(*) AS n", ([0] * 4, [900] * 4), None),
        ("sum(i4) AS s", ([0] * 4,), None),
    ],
)  # fmt: skip
def test_public_groups_may_be_empty(
    columns: str, counts: tuple[list[int], ...], told: str | None
) -> None:
    found = list(empty_groups(*_released(f"SELECT t, {columns} FROM people GROUP BY t", *counts)))
    assert len(found) == (told is not None)
    assert told is None or found[0].startswith(told)


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (
            "count(DISTINCT o.uid)",
            " HAVING dp.low(count(DISTINCT o.uid)) > 0 leaves out all but about 1 in 40 of the empty ones,"
            " and small groups with them.",
        ),
        (
            "COUNT(DISTINCT k.uid)",
            " HAVING dp.low(COUNT(DISTINCT k.uid)) > 0 leaves out all but about 1 in 40 of the empty ones,"
            " and small groups with them.",
        ),
        (
            "1 + count(DISTINCT k.uid)",
            f" A condition on the low end of that count{_LEFT}",
        ),
    ],
)
def test_the_condition_has_the_words_of_the_statement(count: str, told: str) -> None:
    sql = f"SELECT o.t, {count} AS n FROM orders o JOIN calls k USING (uid) GROUP BY o.t"
    block, noisy = _released(sql, [1, 900, 900, 900])
    (line,) = empty_groups(block, noisy)
    assert line.endswith(told)


def test_the_condition_leaves_out_groups_that_may_be_empty() -> None:
    """As the line says, whatever the number is: the low end is 0 or less in just these groups."""
    sql = "SELECT t, count(*) AS n, dp.low(count(*)) AS low FROM people GROUP BY t"
    for count in range(-40, 41):
        block, noisy = _released(sql, [count, 900])
        (column,) = block.intervals
        low = noisy.rows[0].values[0].interval(column.end, noisy.ranges[0])
        assert (int(low) <= 0) == bool(list(empty_groups(block, noisy)))


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ([[0], []], "2 of 4 groups may be empty"),  # a group is told by its other count
        ([[0, 1], [0, 1]], None),
        ([[0, 1], []], "2 of 4 groups may be empty"),
        ([[0, 1, 2, 3], [0, 1, 2, 3]], None),
        ([[2, 3], [2, 3]], "2 of 4 groups may be empty"),
        ([[0, 2], [0, 2]], "1 of 4 groups may be empty"),
    ],
)
def test_a_group_whose_counts_are_null_is_not_below_its_error(
    missing: list[list[int]], told: str | None
) -> None:
    """Another line says why it is NULL, and what helps: groups 0 and 1 have small counts."""
    sql = "SELECT t, count(*) AS n, count(i4) AS m FROM people GROUP BY t"
    block, noisy = _released(sql, [1, 1, 900, 900], [1, 1, 900, 900])
    rows = [
        replace(
            row,
            values=tuple(
                replace(value, is_missing=place in missing[number])
                for number, value in enumerate(row.values)
            ),
        )
        for place, row in enumerate(noisy.rows)
    ]
    found = [
        line.partition(",")[0] for line in empty_groups(block, replace(noisy, rows=tuple(rows)))
    ]
    assert found == ([] if told is None else [told])


def test_a_condition_of_the_statement_says_what_is_left_out() -> None:
    sql = "SELECT t, count(*) AS n FROM people GROUP BY t HAVING dp.low(count(*)) > 0"
    block, noisy = _released(sql, [1, 900, 900, 900])
    assert list(empty_groups(block, noisy)) == []


def test_groups_that_the_data_choose_are_not_empty() -> None:
    block, noisy = _released("SELECT s, count(*) AS n FROM people GROUP BY s", [1, 900])
    assert block.selection is not None and list(empty_groups(block, noisy)) == []


def test_an_answer_alone() -> None:
    found = read("SELECT count(*) AS n FROM people")
    assert found is not None and reported(found[1].query.blocks[0]).outputs
    block, noisy = _released("SELECT count(*) AS n FROM people", [-5])
    assert list(impossible_answers(block, noisy)) == ["Noise alone puts n below 0."]
    assert list(empty_groups(block, noisy)) == []
