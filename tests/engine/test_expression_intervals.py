"""Intervals of arithmetic over noisy answers: whatever the exact answers are in their intervals, the expression
of them is in its own."""

from __future__ import annotations

import random  # noqa: TID251  a test must fail the same way twice
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.limits import NOISY_PARTS_PER_BLOCK
from proxy.base.result_columns import IntervalEnd
from proxy.base.sql_types import SqlType
from proxy.kernel.plan import BlockPlan
from proxy.query.ir.noisy_expressions import AnswerOf, NoisyArithmetic, NoisyExpression, parts_of
from proxy.release.expression_intervals import interval_of
from proxy.release.noisy_relation import NoInterval, NoisyInterval, NoisyValue
from tests.engine.test_every_error import released
from tests.pipeline_world import POLICIES, walk
from tests.unchecked_blocks import unchecked_plan

_EXPRESSIONS = (
    *("A + B", "A - B", "A * B", "A - A", "-A", "A + 3", "3 - A * 2", "2.5 * A", "A / 4", "A / -3"),
    *("A / B", "A / (B + 1000)", "(A - B) / (A + B)", "C / A", "C / B * 100", "A::float8 / B"),
    *(
        "round(C / A, 2)",
        "round(C)",
        "floor(C / 7)",
        "ceil(C / 7)",
        "trunc(C / 7, 1)",
        "abs(A - B)",
    ),
    *("coalesce(A / nullif(B, 0), 0)", "greatest(A, 0)", "least(A, B, 50)", "C::integer"),
    *("(A / 3.0)::bigint", "C::numeric(10,1)", "(A::float8 / 7)::integer", "round(A::float8 / 7)"),
    *("abs(-A * B) - B * (A - 2)", "A * A * A - 1.5 * (B - A)"),
)
# Of the columns of three answers.
_NAMES = {"A": "count(*)", "B": "sum(i4)", "C": "sum(n2)"}
_RUNS = 60


def _block(expression: str) -> BlockPlan:
    for name, aggregate in _NAMES.items():
        expression = expression.replace(name, aggregate)
    every = ", ".join(_NAMES.values())
    pipeline = walk(f"SELECT {every}, dp.error({expression}) FROM people", POLICIES["best"])
    assert pipeline is not None
    return pipeline.plan.blocks[0]


def _of(expression: str) -> NoisyExpression:
    (found,) = _block(expression).expressions
    return found


def _noisy(index: int, half_width: int | None, kind: SqlType, grid: Fraction) -> NoisyValue:
    return NoisyValue(index, grid, kind, half_width, lambda _: 2 * (half_width or 0))


def _values(indices: list[int], half_widths: list[int]) -> list[NoisyValue]:
    kinds = (SqlType.INT8, SqlType.INT8, SqlType.NUMERIC)
    grids = (Fraction(1), Fraction(1), Fraction(1, 100))
    return [_noisy(*of) for of in zip(indices, half_widths, kinds, grids, strict=True)]


@pytest.mark.every(2)
@pytest.mark.parametrize("expression", _EXPRESSIONS)
def test_of_least_numbers_an_end_is_stated_only_if_it_holds(expression: str) -> None:
    """A and C may be anything above their intervals. Whatever they are, the end that is stated holds."""
    generator, of = random.Random(expression), _of(expression)
    for _ in range(_RUNS):
        size = generator.choice((50, 10**4))
        indices = [generator.randint(-size // 4, size) for _ in range(3)]
        widths = [generator.randint(0, size // generator.choice((2, 10))) for _ in range(3)]
        a, b, c = _values(indices, widths)
        whole = interval_of(of, [replace(a, is_least=True), b, replace(c, is_least=True)])
        if isinstance(whole, NoInterval):
            continue
        for beyond in (0, 1, size, 100 * size):
            exact = [
                index + generator.randint(-2 * width, 2 * width)
                for index, width in zip(indices, widths, strict=True)
            ]
            exact[0], exact[2] = (
                indices[n] + 2 * widths[n] + generator.randint(0, beyond) for n in (0, 2)
            )
            point = interval_of(of, _values(exact, [0, 0, 0]))
            if isinstance(point, NoInterval):
                continue
            assert whole.is_most or point.value >= whole.low
            assert whole.is_least or point.value <= whole.high


@pytest.mark.parametrize(
    ("expression", "side"),
    [
        *(("A + 3", "least"), ("A * 2 + B", "least"), ("3 - A", "most"), ("-A", "most")),
        *(
            ("1.0 * B / A", "most"),
            ("1.0 * A / B", "least"),
            ("round(100 * A / nullif(B, 0), 1)", "least"),
        ),
        *(
            ("B - 7", ""),
            ("A - C", "either"),
            ("A / C", "either"),
            ("100.0 * (A - C) / B", "either"),
        ),
    ],
)
def test_to_which_side_a_least_number_leaves_an_expression_open(expression: str, side: str) -> None:
    a, b, c = _values([1000, 500, 80_000], [10, 10, 10])
    found = interval_of(_of(expression), [replace(a, is_least=True), b, replace(c, is_least=True)])
    assert isinstance(found, NoisyInterval)
    ends = [found.json(end) for end in (IntervalEnd.LOW, IntervalEnd.HIGH, IntervalEnd.ERROR)]
    missing = {"least": (1,), "most": (0,), "": (), "either": (0, 1, 2)}[side]
    assert tuple(n for n, end in enumerate(ends) if end == "null") == missing
    assert found.half_width > 0, "the size of the noise is known all the same"


@pytest.mark.every(4)
@pytest.mark.parametrize("expression", _EXPRESSIONS)
def test_every_point_of_the_box_is_within(expression: str) -> None:
    generator, of = random.Random(expression), _of(expression)
    found = 0
    for _ in range(_RUNS):
        size = generator.choice((3, 50, 10**4, 10**9))
        indices = [generator.randint(-size, size) for _ in range(3)]
        widths = [generator.randint(0, max(1, size // generator.choice((1, 10)))) for _ in range(3)]
        whole = interval_of(of, _values(indices, widths))
        if isinstance(whole, NoInterval):
            continue
        found += 1
        assert whole.low <= whole.value <= whole.high
        assert whole.half_width >= 0
        for _ in range(20):
            at = [generator.randint(i - w, i + w) for i, w in zip(indices, widths, strict=True)]
            point = interval_of(of, _values(at, [0, 0, 0]))
            assert isinstance(point, NoisyInterval)
            assert whole.low <= point.value <= whole.high, (indices, widths, at)
    assert found > _RUNS // 20


def test_by_hand() -> None:
    values = _values(
        [100, 50, 4000], [10, 5, 100]
    )  # 100 +- 20, 50 +- 10 where there are two; 40 +- 1

    def ends(expression: str) -> list[str]:
        found = interval_of(_of(expression), values)
        assert isinstance(found, NoisyInterval)
        return [found.json(end) for end in (IntervalEnd.LOW, IntervalEnd.HIGH, IntervalEnd.ERROR)]

    assert ends("A + 1") == ["91", "111", "10"]  # one answer: its own interval
    assert ends("A - A") == ["-20", "20", "20"]
    assert ends("A + B") == ["120", "180", "30"]
    assert ends("A / B") == ["1", "3", "1"]  # cut off: of 80/60 .. 120/40, 2
    assert ends("A * 1.0 / B") == ["1.33333333333333333333", "3", "1"]
    assert ends("C / A") == ["0.316666666666666666666", "0.525", "0.125"]
    assert ends("round(C / A, 1)") == ["0.3", "0.5", "0.1"]
    assert ends("A / nullif(C, 0)")[2] == "0.657894736842105263158"


def test_what_may_be_divided_by_0_has_none() -> None:
    def reason(expression: str, *half_widths: int) -> object:
        return interval_of(_of(expression), _values([100, 5, 4000], list(half_widths)))

    assert reason("A / B", 1, 3, 1) is NoInterval.MAY_BE_DIVIDED_BY_0  # 5 +- 6
    assert isinstance(reason("A / B", 1, 2, 1), NoisyInterval)
    assert reason("A / nullif(B, 7)", 1, 2, 1) is NoInterval.MAY_BE_NULL
    assert reason("coalesce(A / nullif(B, 0), 0)", 1, 3, 1) is NoInterval.MAY_BE_NULL
    none = [*_values([1, 2, 3], [1, 1, 1])[:2], _noisy(3, None, SqlType.NUMERIC, Fraction(1))]
    assert interval_of(_of("A + C"), none) is NoInterval.OF_AN_ANSWER


def test_numbers_of_any_size_are_printed() -> None:
    values = _values([10**9, 7, 4000], [1, 1, 1])
    large = interval_of(_of("A" + " * 1e60" * 6), values)
    assert isinstance(large, NoisyInterval)
    assert {len(large.json(end)) for end in (IntervalEnd.LOW, IntervalEnd.HIGH)} <= {369, 370}
    assert len(large.json(IntervalEnd.ERROR)) == 309  # the largest double
    assert interval_of(_of("A" + " * 1e300" * 20), values) is NoInterval.TOO_LARGE
    small = interval_of(_of("B" + " / 1e300" * 20), values)
    assert isinstance(small, NoisyInterval)
    texts = [small.json(end) for end in (IntervalEnd.LOW, IntervalEnd.HIGH, IntervalEnd.ERROR)]
    assert Fraction(texts[0]) <= small.low and Fraction(texts[1]) >= small.high
    assert texts[2] == "0" and max(map(len, texts)) < 450


def test_each_of_k_answers_is_taken_at_its_share_of_what_may_be_missed() -> None:
    asked: list[Fraction] = []

    def at(level: Fraction) -> int:
        asked.append(level)
        return 1

    values = [NoisyValue(5, Fraction(1), SqlType.INT8, 1, at) for _ in range(3)]
    for expression in ("A + 1", "A - B", "A * A - B", "A + B * C"):
        interval_of(_of(expression), values)
    two, three = Fraction(39, 40), 1 - Fraction(1, 60)
    assert asked == [two] * 5 + [three] * 3


@pytest.mark.parametrize("policy", ["best", "world", "gaussian", "ratio", "clipped"])
def test_by_all_mechanisms(policy: str) -> None:
    """Every kind of answer has an interval at another level, which is no narrower."""
    several = ("count(*)", "sum(n2)", "avg(i4)", "avg(n2)", "stddev(i4)", "corr(i4, i2)")
    asked = ", ".join(f"dp.error({one} - max(i2)), dp.error({one} - count(i8))" for one in several)
    pipeline = walk(f"SELECT {asked} FROM people", POLICIES[policy])
    assert pipeline is not None
    (row,), (block,) = released(pipeline).rows, pipeline.plan.blocks
    for expression, found in zip(block.expressions, row.intervals, strict=True):
        assert isinstance(expression, NoisyArithmetic)
        assert isinstance(expression.left, AnswerOf) and isinstance(expression.right, AnswerOf)
        one, other = (row.values[part.number - 1] for part in (expression.left, expression.right))
        if one.half_width is None or other.half_width is None:
            assert found is NoInterval.OF_AN_ANSWER
            continue
        assert isinstance(found, NoisyInterval)
        assert one.at is not None
        assert one.at(Fraction(19, 20)) == one.half_width <= one.at(Fraction(39, 40))
    # A maximum has none.
    assert {isinstance(found, NoisyInterval) for found in row.intervals} == {True, False}


def test_intervals_without_end_are_not_computed() -> None:
    """1,400 columns of 10,000 groups would take minutes of the process that serves everybody."""
    pipeline = walk("SELECT t, dp.error(count(*) * 2) FROM people GROUP BY t", POLICIES["best"])
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    (expression,) = block.expressions
    few = released(pipeline)
    assert all(isinstance(row.intervals[0], NoisyInterval) for row in few.rows)
    most = NOISY_PARTS_PER_BLOCK // (len(few.rows) * len(list(parts_of(expression))))
    many = replace(block, expressions=(expression,) * (most + 1))
    none = released(replace(pipeline, checked=unchecked_plan([many])))
    assert {found for row in none.rows for found in row.intervals} == {NoInterval.TOO_MANY}
