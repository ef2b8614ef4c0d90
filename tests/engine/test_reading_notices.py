"""What a NOTICE says so that nobody reads more out of an answer than is in it."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

import proxy
from proxy.base.sql_types import SqlType
from proxy.engine.advice import MORE, Advice
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.answer_conditions import conditions, stored_rows_matter
from proxy.engine.answer_notices import answer_notices, cut_questions
from proxy.engine.clipped_units import ClippedUnits, clipped_lines, is_cut_below, with_places
from proxy.engine.column_errors import ColumnError, column_errors, large_errors, reported
from proxy.engine.policy_limits import PolicyLimit, limits_text, policy_limits
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, OrderStatistic, UnitExtreme
from proxy.policy.policy_model import Bounds
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber, DrawnQuantile
from proxy.release.null_answers import rows_needed, rows_to_the_end
from proxy.release.presenting import presented
from tests.pipeline_world import POLICIES, read, walk
from tests.release.released_world import block_of

_INT8 = 20


def _errors(sql: str, counts: list[int], *result: tuple[str, int]) -> tuple[ColumnError, ...]:
    """Of a statement whose groups have these noisy counts."""
    found, pipeline = read(sql), walk(sql, POLICIES["pure"])
    assert found is not None and pipeline is not None
    blocks = []
    for block, plan in zip(found[1].query.blocks, pipeline.plan.blocks, strict=True):
        plan = replace(plan, outputs=reported(block).outputs)
        names = ("x", "y", "z", None)
        groups = (
            DrawnGroup((name,) if plan.keys else (), (DrawnNumber(count),) * len(plan.releases))
            for name, count in zip(names, counts, strict=False)
        )
        blocks.append((block, plan, presented(plan, DrawnBlock(tuple(groups)))))
    return column_errors(blocks, partial(accuracies, pipeline.plan), result)


_BY_T = "SELECT t, count(*) AS n FROM events GROUP BY t"


def test_errors_above_most_numbers_have_one_line() -> None:
    (column,) = _errors(_BY_T.replace("count(*)", "sum(i4)"), [0, 0, 0, 90_000])
    assert (column.groups, column.larger) == (4, 3)
    (text,) = large_errors([column])
    assert text.startswith("The error is larger than the number itself: n in 3 of 4 groups. ")
    (counted,) = _errors(_BY_T, [0, 0, 0, 90_000])
    assert counted.larger == 3
    assert list(large_errors([counted])) == [], "groups that may be empty have a line of their own"


def test_of_one_number_too() -> None:
    single = "SELECT count(*) AS n, sum(i4) AS s FROM events"
    (text,) = large_errors(_errors(single, [0]))
    assert text.startswith("The error is larger than the number itself: n, s. ")
    assert "groups" not in text


def test_few_small_numbers_are_not_worth_a_line() -> None:
    column = ColumnError(place=1, name="n", groups=100, without=0, larger=24)
    assert list(large_errors([column])) == []
    assert len(list(large_errors([replace(column, larger=25)]))) == 1


def test_errors_of_times_have_a_unit() -> None:
    column = ColumnError(
        place=1, name="last", groups=2, without=0, least=Fraction(90), most=Fraction(259_200)
    )
    assert (
        replace(column, type=SqlType.TIMESTAMP).text() == "last: +-90 seconds to +-3 days, by group"
    )
    days = replace(column, least=Fraction(3), most=Fraction(3), type=SqlType.DATE)
    assert days.text() == "last: +-3 days"
    assert days.as_json()["unit"] == "days" and column.as_json()["unit"] is None


def test_parts_of_a_union_have_the_names_of_their_tables() -> None:
    union = "SELECT count(*) AS n FROM people UNION ALL SELECT count(*) FROM events"
    found = _errors(union, [5_000], ("n", _INT8))
    assert [one.name for one in found] == ["n of w.people", "n of w.events"]
    same = "SELECT count(*) AS n FROM people WHERE b UNION ALL SELECT count(*) FROM people"
    assert [one.name for one in _errors(same, [5_000])] == ["n of query 1", "n of query 2"]


def test_columns_that_another_query_computes_are_named() -> None:
    joined = (
        "SELECT a.n + b.n AS both FROM (SELECT count(*) AS n FROM people) a,"
        " (SELECT count(*) AS n FROM events) b"
    )
    names = [one.name for one in _errors(joined, [5_000], ("both", _INT8))]
    assert names == ["n of w.people", "n of w.events", "both"]
    scalar = "SELECT (SELECT count(*) FROM people) AS a, 1 + (SELECT count(*) FROM events) AS b"
    names = [one.name for one in _errors(scalar, [5_000], ("a", _INT8), ("b", _INT8))]
    assert names == ["a", "count", "b"], (
        "what is shown as it is has the name under which it is shown"
    )
    around = "SELECT max(n) FROM (SELECT t, count(*) AS n FROM people GROUP BY t) q"
    largest, inner = _errors(around, [5_000], ("max", _INT8))
    assert largest.place == 1 and largest.least is None and "a query around" in largest.reason
    assert inner.place is None and inner.name == "n" and inner.least is not None


def test_an_array_has_a_reason() -> None:
    text = "SELECT percentile_cont(ARRAY[0.1, 0.5]) WITHIN GROUP (ORDER BY i4) AS p FROM people"
    pipeline = walk(text)
    assert pipeline is not None
    found = read(text)
    assert found is not None
    (column,) = found[1].query.blocks[0].outputs
    assert column.expression is None and "in sorted rows" in column.reason
    with_errors = text.replace("percentile", "dp.error(percentile", 1).replace(" AS p", ") AS p")
    found = read(with_errors)
    assert found is not None
    (column,) = found[1].query.blocks[0].outputs
    assert column.reason == ""


def _notices(block: BlockPlan, *groups: tuple[str | None, ...]) -> list[str]:
    drawn = (DrawnGroup(keys, tuple(DrawnNumber(9_000) for _ in block.releases)) for keys in groups)
    return list(answer_notices(block, presented(block, DrawnBlock(tuple(drawn)))))


def test_private_keys_say_how_small_groups_are_missing() -> None:
    block = block_of("SELECT s, count(*) FROM people GROUP BY s")
    assert block.selection is not None
    (text,) = _notices(block, ("a",), ("b",))
    assert text.startswith("Small groups are missing: ") and "rows" in text
    (none,) = _notices(block)
    assert none.startswith("GROUP BY gives no group")
    assert _notices(block_of("SELECT t, count(*) FROM people GROUP BY t"), ("x",)) == []


def test_dp_clipped_that_is_not_counted_says_so() -> None:
    block = block_of("SELECT count(*), dp.clipped(count(*)) AS c FROM people")
    assert "dp.clipped(count(*)) is NULL: how much is cut of count(*) is not counted." in _notices(
        block, ()
    )


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT avg(i4) FROM people", "i4 less than 0 counts as 0, more than 100 as 100"),
        (
            "SELECT sum(i4 + i2) FROM people WHERE i2 > 0",
            "i2 less than 1 counts as 1, more than 10 as 10, i4 less than 0 counts as 0, more than 100 as 100",
        ),
        ("SELECT avg(i4) FROM people WHERE i4 BETWEEN 5 AND 10", None),  # none is beyond
        ("SELECT avg(i4) FILTER (WHERE i4 BETWEEN 5 AND 10) FROM people", None),
        ("SELECT count(i4), count(DISTINCT i4) FROM people", None),
        ("SELECT sum(CASE WHEN i4 > 5 THEN 1 ELSE 0 END) FROM people", None),
        ("SELECT avg((i4 > 5)::int) FROM people", None),
        (
            "SELECT max(d) FROM people",
            "d earlier than 2000-01-01 counts as 2000-01-01, later than 2020-01-01 as 2020-01-01",
        ),
        (
            "SELECT max(ts) FROM people",
            "ts earlier than 2000-01-01 counts as 2000-01-01, later than 2020-01-01 as 2020-01-01",
        ),
    ],
)
def test_values_beyond_the_bounds_are_told(sql: str, told: str | None) -> None:
    found = [one.text for one in policy_limits(block_of(sql)) if " counts as " in one.text]
    assert ", ".join(found) == (told or "")


@pytest.mark.parametrize(
    ("asked", "of_rows", "of_values"),
    [
        ("count(*)", True, None),
        ("count(DISTINCT t)", True, None),
        ("sum(i4)", True, False),
        ("sum(i8)", False, False),  # also below 0
        ("sum(i4 - i2)", False, False),
        ("avg(i4)", None, False),
        ("stddev(i4)", None, True),
        ("avg(i4), stddev(i4)", None, False),
        ("max(i4)", None, False),
        ("corr(i4, i2)", False, False),
    ],
)
def test_each_limit_tells_to_which_side_it_cuts(
    asked: str, of_rows: bool | None, of_values: bool | None
) -> None:
    told = list(policy_limits(block_of(f"SELECT {asked} FROM orders")))
    values = [one for one in told if " counts as " in one.text]
    rows = [one for one in told if one not in values]
    for limits, is_lower in ((rows, of_rows), (values, of_values)):
        assert {one.is_lower for one in limits} == ({is_lower} - {None})
    (line,) = limits_text(told)
    assert line.startswith("The error does not cover these limits") and line.count(".") <= 9
    assert ("can only be larger" in line) == (True in (of_rows, of_values))


def test_all_limits_are_one_line_with_each_once() -> None:
    told = [
        PolicyLimit(text="at most 9 of a buyer", of="sum(a)", is_lower=True),
        PolicyLimit(text="at most 9 of a buyer", of="sum(b)", is_lower=True),
        PolicyLimit(text="at most 3 rows of a buyer", is_lower=True),
    ]
    assert list(limits_text(told)) == [
        "The error does not cover these limits of the policy: at most 9 of a buyer in sum(a) and sum(b), at"
        " most 3 rows of a buyer, so the true number can only be larger."
    ]
    mixed = [*told[2:], PolicyLimit(text="a beyond 0 .. 9", is_lower=False)]
    assert list(limits_text(mixed)) == [
        "The error does not cover these limits of the policy: at most 3 rows of a buyer, so the true number can"
        " only be larger; a beyond 0 .. 9."
    ]
    assert list(limits_text([])) == []


@pytest.mark.parametrize(
    ("aggregate", "low", "told"),
    [
        ("avg(t)", 0, True),
        ("sum(t)", 0, True),
        ("stddev(t)", 0, True),
        ("max(t)", 0, True),
        ("avg(t)", -5, False),
        ("var_pop(t)", -5, True),  # what is cut is nearer to all else
        ("avg(5 - t)", 0, False),
        ("corr(t, 2 * t)", 0, False),
    ],
)
def test_a_bound_on_totals_tells_to_which_side_it_cuts(
    aggregate: str, low: int, told: bool
) -> None:
    block = block_of(
        f"SELECT {aggregate} FROM (SELECT uid, sum(i4) AS t FROM orders GROUP BY uid) q"
    )
    bounds = Bounds(Fraction(low), Fraction(9))
    assert is_cut_below(block.answers[0].aggregate, bounds) == told


def test_what_is_asked_instead_of_dp_clipped_is_answered() -> None:
    block = block_of("SELECT sum(i4), dp.clipped(sum(i4)) FROM orders")
    (values,) = cut_questions(block, block.answers[0].aggregate)
    counted, _, where = values.partition(" with ")
    assert (counted, where) == ("count(DISTINCT uid)", "WHERE i4 < 0 OR i4 > 100")
    assert block_of(f"SELECT {counted} FROM orders {where}").releases


def _clipped(block: int, *aggregates: str) -> ClippedUnits:
    return ClippedUnits(
        block=block,
        unit="a customer",
        units_word="customers",
        aggregates=aggregates,
        of_rows=True,
        most=Fraction(5),
        units=100,
        above=3,
        half_width=2,
        needed=1,
        enough=1,
        is_poor=False,
        is_given=False,
    )


def test_numbers_of_people_are_not_below_0() -> None:
    few = replace(_clipped(1, "sum"), above=-64, units=-3)
    assert (few.as_json()["clipped"], few.as_json()["units"]) == (0, 0)
    assert "about 0 +-2 of 0 +-2 customers have more" in few.text()


def test_beyond_the_policys_own_bound_lies_nothing() -> None:
    """A maximum that is the last day of the policy."""
    block = block_of("SELECT t, max(d) AS last FROM people GROUP BY t")
    (release,) = block.releases
    assert isinstance(release, UnitExtreme | OrderStatistic)
    high, at = release.measured.high, "this is at the policy's limit"
    for places, told in (
        ((high,) * 4, f"no interval: {at} of 2020-01-01: the real largest value is not known"),
        ((high, high - 9, high, high - 9), f"in 2 of 4 groups {at} of 2020-01-01"),
        ((high - 9,) * 4, "last: at least this number; about 4 +-4 rows lie beyond it"),
    ):
        found = _of_places("SELECT t, max(d) AS last FROM people GROUP BY t", places)
        assert told in found.text(), found.text()
        assert ("lie beyond" in found.text()) == (places != (high,) * 4)


def _of_places(sql: str, places: tuple[int, ...]) -> ColumnError:
    """Of a statement whose groups have these grid indices."""
    found, pipeline = read(sql), walk(sql, POLICIES["best"])
    assert found is not None and pipeline is not None
    block, plan = found[1].query.blocks[0], pipeline.plan.blocks[0]
    drawn = (
        DrawnGroup((name,), (DrawnQuantile(place),))
        for name, place in zip(("x", "y", "z", None), places, strict=True)
    )
    noisy = presented(plan, DrawnBlock(tuple(drawn)))
    (column,) = column_errors([(block, plan, noisy)], partial(accuracies, pipeline.plan), ())
    return column


def test_bounds_of_several_queries_are_told_apart() -> None:
    rollup = walk("SELECT t, b, count(*) FROM people GROUP BY ROLLUP (t, b)")
    union = walk("SELECT count(*) FROM people UNION ALL SELECT count(*) FROM events")
    assert rollup is not None and union is not None
    each = [_clipped(n, "count(*)") for n in (1, 2, 3)]
    places = [one.place for one in with_places(each, rollup.plan.blocks)]
    assert places == [" by t, b", " by t", " in total"]
    places = [one.place for one in with_places(each[:2], union.plan.blocks)]
    assert places == [" of w.people", " of w.events"]
    computed = walk(
        "SELECT upper(t), date_trunc('year', ts), count(*) FROM people GROUP BY ROLLUP (upper(t), 2)"
    )
    assert computed is not None
    places = [one.place for one in with_places(each, computed.plan.blocks)]
    assert places == [" by t, ts", " by t", " in total"]
    alone = [_clipped(1, "count(*)"), _clipped(1, "sum")]
    assert [one.place for one in with_places(alone, rollup.plan.blocks)] == ["", ""]


@pytest.mark.parametrize("is_largest", [False, True])
def test_to_which_side_a_bound_cuts_is_said_once(is_largest: bool) -> None:
    cut = replace(
        _clipped(1, "count(*) FILTER"),
        is_largest=is_largest,
        is_lower=True,
        columns=("recent",),
        plain=((1, "recent"),),
    )
    (line,) = clipped_lines([cut])
    assert line.column == "recent" and line.text.startswith("at most 5 rows of a customer count")
    assert ("can only be larger" in line.text) == is_largest


@pytest.mark.parametrize("is_largest", [False, True])
def test_of_a_quotient_no_side_is_told_where_its_parts_are_cut(is_largest: bool) -> None:
    """What is cut of the part makes it smaller, what is cut of the whole makes it larger."""
    parts = [
        replace(
            _clipped(1, name), is_largest=is_largest, is_lower=True, columns=("share",), plain=()
        )
        for name in ("count(*) FILTER", "count(*)")
    ]
    lines = [line.text for line in clipped_lines(parts)]
    cut = "at most 5 rows of a customer count, about 3 +-2 of 100 +-2 customers have more"
    assert lines == [f"count(*) FILTER: {cut}", f"count(*): {cut}"]
    (line,) = clipped_lines(parts[:1])
    assert line.text == cut


def test_bounds_have_the_names_of_the_columns_that_they_cut() -> None:
    """Two of one kind are told apart, and levels with one bound are one line."""
    named = [replace(_clipped(1, "sum"), columns=(name,)) for name in ("pieces", "value")]
    assert [one.named for one in clipped_lines(named)] == ["pieces", "value"]
    unnamed = replace(_clipped(1, "sum(total)"), columns=("sum",))
    assert [one.named for one in clipped_lines([unnamed])] == ["sum(total)"]
    levels = [
        replace(_clipped(n, "count(*)"), columns=("n",), place=place)
        for n, place in ((1, " by a"), (2, " in total"))
    ]
    (line,) = clipped_lines(levels)
    assert line.text == (
        "at most 5 rows of a customer count, more have about 3 +-2 of 100 +-2 customers by a,"
        " 3 +-2 of 100 +-2 customers in total"
    )


def test_the_same_advice_is_given_once() -> None:
    lines = [f"a is NULL. {MORE}", "b", f"c is NULL. {MORE}", "b"]
    found = list(Advice(has_several=True).fitted(lines))
    assert found == ["a is NULL.", "b", f"c is NULL. {MORE}"]


def test_a_number_before_a_noun_is_counted() -> None:
    """One group is no groups: counted() writes both."""
    written = re.compile(r"\{[^{}]*(?::,|\bgroups|\brows)\} (?:groups|rows|units|columns)\b")
    left = {
        (file.name, found)
        for file in (Path(proxy.__file__).parent / "engine").rglob("*.py")
        for found in written.findall(file.read_text(encoding="utf-8"))
    }
    assert left == {
        # Of more than one:
        ("explain_text.py", "{block.neighbours.rows} rows"),
        ("explain_text.py", "{neighbours.rows} rows"),
        ("column_errors.py", "{one.groups:,} groups"),
        ("expected_errors.py", "{groups:,} groups"),
        ("policy_report.py", "{policy.units_about:,} units"),
    }


@pytest.mark.parametrize(("most", "told"), [(5_388, False), (1_000, False), (999, True), (3, True)])
def test_rows_that_are_read_are_told_if_they_may_be_seen(most: int, told: bool) -> None:
    """Of a unit without a bound in the policy; EXPLAIN says it always."""
    block = replace(block_of("SELECT avg(i4) FROM orders"), most_stored=most)
    assert isinstance(block.neighbours, UnitNeighbours)
    free = replace(block, neighbours=replace(block.neighbours, rows=1_000_000))
    assert any("are read" in one for one in conditions(free))
    assert any("are read" in one for one in conditions(free, are_all=False)) == told
    bounded = replace(block, neighbours=replace(block.neighbours, rows=6, is_unbounded=False))
    assert stored_rows_matter(bounded) == (most < 6)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ("min(d)::timestamp", {"min(d)"}),
        ("extract(year FROM max(d)), min(d)::timestamp", {"max(d)", "min(d)"}),
        ("min(d), max(d)::timestamp", {"max(d)"}),
        ("min(d), max(d)", set()),
        ("count(*) ^ 2", set()),  # a count has an interval
    ],
)
def test_what_is_known_of_an_answer_is_told_of_a_form_whose_error_is_not(
    columns: str, told: set[str]
) -> None:
    sql = f"SELECT {columns} FROM people"
    found, pipeline = read(sql), walk(sql, POLICIES["best"])
    assert found is not None and pipeline is not None
    (block,), (plan,) = found[1].query.blocks, pipeline.plan.blocks
    plan = replace(plan, outputs=reported(block).outputs)
    drawn = tuple(
        DrawnQuantile(9_000) if isinstance(one, OrderStatistic) else DrawnNumber(100)
        for one in plan.releases
    )
    noisy = presented(plan, DrawnBlock((DrawnGroup((), drawn),)))
    told_of = column_errors([(block, plan, noisy)], partial(accuracies, pipeline.plan), ())
    inner = [one for one in told_of if one.place is None]
    assert {one.name for one in inner} == told
    assert all("lie beyond it" in one.text() for one in inner)


@pytest.mark.parametrize(
    ("rank", "rows", "told"),
    [("0.9", None, "large"), ("0.1", None, "small"), ("0.9", 10**6, ""), ("0.5", 10**6, "")],
)
def test_a_rank_whose_error_reaches_the_last_rows_is_told(
    rank: str, rows: int | None, told: str
) -> None:
    """A median that is not NULL has rows on both sides; of a 90th percentile there are few above it."""
    sql = f"SELECT percentile_cont({rank}) WITHIN GROUP (ORDER BY i4) AS p FROM people"
    found, pipeline = read(sql), walk(sql, POLICIES["best"])
    assert found is not None and pipeline is not None
    plan = replace(pipeline.plan.blocks[0], outputs=reported(found[1].query.blocks[0]).outputs)
    (release,) = plan.releases
    assert isinstance(release, OrderStatistic)
    most = rows_to_the_end(release)
    assert (rows_needed(release) < most) == (rank != "0.5")
    size = rows or (rows_needed(release) + most) // 2
    each = Fraction(1, release.parts)
    each *= 1 if release.weights is None else release.weights.rows_of_unit
    drawn = DrawnQuantile(100, size=math.ceil(size / each))
    noisy = presented(plan, DrawnBlock((DrawnGroup((), (drawn,)),)))
    lines = [line for line in answer_notices(plan, noisy) if "reaches the last" in line]
    assert len(lines) == bool(told)
    assert all(line.startswith("p: the error of its rank") for line in lines)
    assert all(f"it may be far too {told} there" in line for line in lines)


@pytest.mark.parametrize(
    ("ranks", "told"),
    [
        (
            ("0.1", "0.5", "0.9"),
            ("p4 and p16", ": between 10 and 90, by the others", "p84 and p96"),
        ),
        (("0.47", "0.5", "0.53"), ("between about p", "between about p", "between about p")),
    ],
)
def test_percentiles_beside_each_other_bound_each_other(
    ranks: tuple[str, ...], told: tuple[str, ...]
) -> None:
    """In the column's unit where the errors of their ranks allow it; else between two percentiles."""
    names, rows = dict(zip("abc", ranks, strict=True)), 100
    asked = ", ".join(
        f"percentile_cont({rank}) WITHIN GROUP (ORDER BY i4) AS {name}"
        for name, rank in names.items()
    )
    found, pipeline = (
        read(f"SELECT {asked} FROM people"),
        walk(f"SELECT {asked} FROM people", POLICIES["best"]),
    )
    assert found is not None and pipeline is not None
    plan = replace(pipeline.plan.blocks[0], outputs=reported(found[1].query.blocks[0]).outputs)
    drawn = []
    for release, value in zip(plan.releases, (10, 50, 90), strict=True):
        assert isinstance(release, OrderStatistic) and release.weights is None
        index = int(value / release.measured.grid)
        drawn.append(DrawnQuantile(index, size=rows * release.parts))
    noisy = presented(plan, DrawnBlock((DrawnGroup((), tuple(drawn)),)))
    columns = column_errors(
        [(found[1].query.blocks[0], plan, noisy)], partial(accuracies, pipeline.plan), ()
    )
    assert [one.name for one in columns] == list(names)
    for column, part in zip(columns, told, strict=True):
        assert part in column.text()
        assert ("by the others" in column.text()) == (column.name == "b" and ranks[0] == "0.1")
