"""Totals of a unit that a subquery computes: their range is chosen privately, or is the policy's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.engine.answer_notices import cut_questions
from proxy.engine.policy_limits import limits_text, policy_limits
from proxy.kernel.checked_plan import check_plan
from proxy.kernel.plan import BlockPlan, NoisyStatistic, OrderStatistic, RecentredMean, UnitExtreme
from proxy.kernel.statistics import Counted, Statistic
from proxy.kernel.world import World
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.facts import ColumnFacts, Facts
from proxy.planner.measuring import MeasureContext
from proxy.planner.open_operands import with_open_values
from proxy.planner.planning import ChosenBounds
from proxy.policy.policy_model import Bounds, Policy, ProtectedTable
from proxy.query.ir.expressions import ColumnRef
from proxy.reuse.block_question import question_of
from tests.audit.test_private_bounds import chosen_by_choice
from tests.kernel.examples import row_shape
from tests.pipeline_world import CATALOG, POLICIES, Pipeline, walk

_POLICY = chosen_by_choice(POLICIES["best"])
_TOTALS = "(SELECT uid, sum(i4) AS t, count(*) AS n, sum(n2) AS m FROM orders GROUP BY uid) q"


def _walked(
    select: str, policy: Policy = _POLICY, bounds: dict[int | None, int] | None = None
) -> Pipeline:
    chosen: ChosenBounds | None = None if bounds is None else {0: bounds}
    found = walk(f"SELECT {select}", policy, chosen=None if chosen is None else lambda _: chosen)
    assert found is not None
    return found


def _block(
    select: str, policy: Policy = _POLICY, bounds: dict[int | None, int] | None = None
) -> BlockPlan:
    (block,) = _walked(select, policy, bounds).plan.blocks
    return block


def _with_total(column: str, low: int, high: int) -> Policy:
    total = Bounds(Fraction(low), Fraction(high))

    def table(one: object) -> object:
        if not isinstance(one, ProtectedTable):
            return one
        columns = {**one.columns, column: replace(one.columns[column], per_unit=total)}
        return replace(one, columns=columns)

    return replace(_POLICY, tables={name: table(one) for name, one in _POLICY.tables.items()})  # type: ignore[misc]


@pytest.mark.parametrize(
    "select",
    [
        "avg(t)",
        "sum(t)",
        "stddev(t)",
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY t)",
        "avg(n)",
        "avg(t / 12)",
        "sum(t) FILTER (WHERE t > 100)",
        "avg(CASE WHEN n > 3 THEN t END)",
    ],
)
def test_a_bound_is_chosen_and_paid(select: str) -> None:
    found = _walked(f"{select} FROM {_TOTALS}")
    (block,) = found.plan.blocks
    (chosen,) = block.value_choices
    assert block.choices == {chosen.number: chosen.choice}
    assert chosen.choice.walk.epsilon > 0 and chosen.bound is None
    paid = sum((release.loss for release in block.releases), NOTHING) + chosen.choice.loss
    assert paid.epsilon == _POLICY.privacy.epsilon == found.plan.loss.epsilon
    check_plan(found.plan.blocks, found.plan.loss, World(_POLICY, CATALOG))


@pytest.mark.parametrize(
    "select",
    [
        "count(*) FILTER (WHERE t > 100)",
        "count(t)",
        "min(t), max(t)",
        "avg(least(t, 1000)), sum(least(n, 10))",
        "avg(CASE WHEN t > 100 THEN 1 ELSE 0 END)",
        "avg(width_bucket(t, 0, 1000, 10))",
    ],
)
def test_none_is_chosen_where_no_answer_needs_it(select: str) -> None:
    assert _block(f"{select} FROM {_TOTALS}").choices == {}


@pytest.mark.parametrize("condition", ["t < 500", "t BETWEEN 10 AND 500"])
def test_conditions_of_the_analyst_are_a_bound(condition: str) -> None:
    assert _block(f"avg(t) FROM {_TOTALS} WHERE {condition}").choices == {}
    assert _block(f"avg(t) FROM {_TOTALS} WHERE t > 10").choices != {}


def test_aggregates_of_one_total_share_a_choice() -> None:
    select = (
        "avg(t), stddev(t), sum(t) FILTER (WHERE t > 10), count(*),"
        " percentile_cont(0.9) WITHIN GROUP (ORDER BY t), max(t)"
    )
    block = _block(f"{select} FROM {_TOTALS}")
    (chosen,) = block.value_choices
    bounded = {n: block.releases[n] for n in chosen.releases}
    assert {type(one) for one in bounded.values()} == {
        RecentredMean,
        NoisyStatistic,
        OrderStatistic,
    }
    counted = [
        number
        for number, one in enumerate(block.releases)
        if isinstance(one, NoisyStatistic) and one.statistic is Statistic.ROWS
    ]
    assert counted and chosen.releases.isdisjoint(counted)


def test_a_sum_within_the_analysts_own_bound_keeps_it() -> None:
    """It is not among the releases that a choice withholds, so no chosen bound may cut it."""
    select = f"avg(t), sum(t) FILTER (WHERE t < 500) FROM {_TOTALS}"
    (chosen,) = _block(select).value_choices
    bounded = _block(select, bounds={chosen.number: chosen.choice.bounds[0]})
    (own,) = [one for n, one in enumerate(bounded.releases) if n not in chosen.releases]
    assert isinstance(own, NoisyStatistic) and not isinstance(own.of, Counted)
    assert own.of[0].clamp.high == 500


def test_each_total_has_a_choice_of_its_own() -> None:
    block = _block(f"corr(t, n), avg(t), avg(n) FROM {_TOTALS}")
    one, other = block.value_choices
    assert one.number != other.number
    assert one.number not in other.releases and other.number not in one.releases
    assert one.releases & other.releases, "sums of products"


def test_the_bound_is_the_clamp() -> None:
    block = _block(f"avg(t), percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM {_TOTALS}")
    (chosen,) = block.value_choices
    bound = chosen.choice.bounds[5]
    bounded = _block(
        f"avg(t), percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM {_TOTALS}",
        bounds={chosen.number: bound},
    )
    most = bound * chosen.measured.grid
    for release in bounded.releases:
        assert isinstance(release, RecentredMean | OrderStatistic)
        clamp = release.measured.clamp
        assert max(-clamp.low, clamp.high) <= most
    assert bounded.value_choices == (replace(chosen, bound=bound),)
    assert (bounded.source, bounded.where) == (block.source, block.where)


def test_a_total_by_further_keys_is_counted_once_a_unit() -> None:
    block = _block("avg(t) FROM (SELECT uid, t AS k, sum(i4) AS t FROM orders GROUP BY uid, t) q")
    (chosen,) = block.value_choices
    assert chosen.releases == {0}


def test_windows_over_a_unit_are_totals() -> None:
    median = "percentile_cont(0.5) WITHIN GROUP (ORDER BY t)"
    block = _block(f"{median} FROM (SELECT sum(i4) OVER (PARTITION BY uid) AS t FROM orders) q")
    assert len(block.value_choices) == 1 and None in block.choices


def test_the_policys_bound_on_a_total_is_kept_in_answers_alone() -> None:
    policy = _with_total("i4", 0, 300)
    block = _block(f"avg(t), avg(t / 3) FROM {_TOTALS} WHERE t > 200 AND t / 2 < 5000", policy)
    assert block.choices == {}
    first, second = block.releases
    assert isinstance(first, RecentredMean) and isinstance(second, RecentredMean)
    assert first.measured.clamp.high == 300 and second.measured.clamp.high == 100
    assert "300" not in repr(block.where)
    assert list(limits_text(tuple(policy_limits(block)))) == [
        "The error does not cover these limits of the policy: at most 300 of a person in avg(t), so the true"
        " number can only be larger; at most 100 of a person in avg."
    ]
    block = _block(f"max(t), min(t) FROM {_TOTALS}", policy)
    largest = block.releases[0]
    assert isinstance(largest, UnitExtreme) and largest.measured.clamp.high == 300
    assert [limit.of for limit in policy_limits(block)] == ["max(t)"]


def test_how_many_units_the_policys_bound_on_a_total_cuts_can_be_asked() -> None:
    block = _block("sum(i4) FROM orders", _with_total("i4", 0, 300))
    _, question = cut_questions(block, block.answers[0].aggregate)
    select, _, count = question.partition(" ")
    assert count == (
        "count(*) FROM (SELECT uid, sum(i4) AS t FROM w.orders GROUP BY uid) q WHERE t > 300"
    )
    assert select == "SELECT" and _block(count, _with_total("i4", 0, 300)).releases
    assert len(list(_questions_of_some("sum(i4) FROM orders WHERE i2 > 1"))) == 1


def _questions_of_some(asked: str) -> Iterator[str]:
    block = _block(asked, _with_total("i4", 0, 300))
    return cut_questions(block, block.answers[0].aggregate)


def test_equal_questions_are_equal_in_another_order() -> None:
    median = "percentile_cont(0.5) WITHIN GROUP (ORDER BY t)"
    one, other = (
        question_of(_block(f"{select} FROM {_TOTALS}"))
        for select in (f"avg(t), {median}", f"{median}, avg(t)")
    )
    assert one is not None and other is not None
    assert (one.question, one.terms) == (other.question, other.terms)


def test_declared_rows_choose_nothing() -> None:
    block = _block(f"avg(t) FROM {_TOTALS}", POLICIES["best"])
    assert block.choices == {}


_BY_KEY = "(SELECT uid, t AS k, sum(i4) AS t, count(*) AS n FROM orders GROUP BY uid, t) q"


@pytest.mark.parametrize("kind", ["avg", "max", "sum"])
def test_what_is_made_of_totals_is_one(kind: str) -> None:
    inner = f"(SELECT uid, {kind}(t) AS a FROM {_BY_KEY} GROUP BY uid) p"
    assert len(_block(f"avg(a) FROM {inner}").value_choices) == 1
    assert _block(f"avg(least(a, 100)) FROM {inner}").choices == {}


def test_a_sum_of_totals_by_keys_chooses_what_a_unit_adds() -> None:
    block = _block(f"sum(t), sum(n) FROM {_BY_KEY}")
    assert block.value_choices == () and set(block.choices) == {0, 1}
    policy = _with_total("i4", 0, 300)
    (sums, counts) = _block(f"sum(t), sum(n) FROM {_BY_KEY}", policy).releases
    assert isinstance(sums, NoisyStatistic) and isinstance(counts, NoisyStatistic)
    assert sums.total is not None and sums.total.choice is None and sums.total.most == 300
    assert counts.choice is not None


def test_rows_that_change_together_have_no_bound_to_choose() -> None:
    """No statement asks for it by now: the refusal says what helps."""
    (aggregate,) = (answer.aggregate for answer in _block(f"avg(t) FROM {_TOTALS}").answers)
    bounds = Bounds(Fraction(0), Fraction(50))
    facts = Facts({("r3", "t"): ColumnFacts(SqlType.NUMERIC, bounds, open_rows=5)})
    operand = ColumnRef("t", SqlType.NUMERIC, None, "r3")
    context = MeasureContext(
        facts=facts,
        shape=row_shape(changed=2),
        privacy=_POLICY.privacy,
        wanted=Loss(Fraction(1), Fraction(0)),
    )
    with pytest.raises(Refusal, match="needs a bound on it") as refused:
        with_open_values([replace(aggregate, operand=operand)], context)
    assert "least(sum(x), 1000)" in refused.value.hint
    assert (
        _block(
            "avg(b) FROM (SELECT uid, least(sum(i4), 1000) AS b FROM orders GROUP BY uid) q"
        ).choices
        == {}
    )


_CHOSEN_ROWS = POLICIES["chosen"]  # which bounds no rows
_MANY = "(SELECT uid, sum(i4) AS t, count(*) AS n, sum(n2) AS m FROM orders GROUP BY uid) q"


@pytest.mark.parametrize(
    ("aggregate", "where", "is_open"),
    [
        ("max(t)", "", True),
        ("max(n)", "", True),
        ("max(t + n)", "WHERE n > 0", True),
        ("min(t)", "", False),  # no number is below 0
        ("min(n)", "", False),
        ("min(-t)", "", True),
        ("max(-t)", "", False),
        ("max(least(t, 1000))", "", False),
        ("max(t)", "WHERE t < 3000", False),
        ("max(t)", "WHERE t > 3000", True),
        ("max(CASE WHEN t > 5 THEN 1 ELSE 0 END)", "", False),
    ],
)
def test_an_interval_does_not_end_with_a_million_rows(
    aggregate: str, where: str, is_open: bool
) -> None:
    """A bound on the rows of a unit that is chosen is no bound on what it adds up to."""
    block = _block(f"{aggregate}, dp.error({aggregate}) FROM {_MANY} {where}", _CHOSEN_ROWS)
    found = block.releases[0]
    assert isinstance(found, UnitExtreme)
    assert found.is_open is is_open
    if not is_open:
        assert max(abs(found.measured.clamp.low), abs(found.measured.clamp.high)) <= 10**6
