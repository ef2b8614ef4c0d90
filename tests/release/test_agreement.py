"""Answers of one group hold together, whatever is drawn, and their intervals cover what was drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest

from proxy.kernel.plan import BlockPlan
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release import agreement
from proxy.release.agreement import agreed, operand_answers
from proxy.release.drawn_values import Keys
from proxy.release.noisy_relation import NoisyValue, missing
from proxy.release.presenting import group_values, presented
from tests.release.released_world import block_of, drawn
from tests.seeded_bits import SeededBits

_COLUMNS = (
    "percentile_disc(0.9) WITHIN GROUP (ORDER BY i4)",
    "min(i4)",
    "avg(i4)",
    "percentile_cont(0.25) WITHIN GROUP (ORDER BY i4)",
    "max(i4)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY i4)",
)
_LIST = ", ".join(_COLUMNS)


def _number(value: NoisyValue) -> Fraction:
    return value.index * value.grid


def _contradictions(block: BlockPlan, values: Sequence[NoisyValue]) -> list[str]:
    by_kind: dict[AggregateKind, list[Fraction]] = {}
    ranked = []
    for answer, value in zip(block.answers, values, strict=True):
        if value.is_missing:
            continue
        by_kind.setdefault(answer.aggregate.kind, []).append(_number(value))
        if "percentile" in answer.aggregate.kind.value:
            ranked.append((answer.aggregate.rank, _number(value)))
    least, most = by_kind.get(AggregateKind.MIN, []), by_kind.get(AggregateKind.MAX, [])
    between = [*by_kind.get(AggregateKind.AVG, []), *(number for _, number in ranked)]
    found = []
    if least and most and least[0] > most[0]:
        found.append("min > max")
    found += ["min" for number in between if least and least[0] > number]
    found += ["max" for number in between if most and most[0] < number]
    numbers = [number for _, number in sorted(ranked)]
    return found + ["quantiles"] * (numbers != sorted(numbers))


def _values(block: BlockPlan, bits: SeededBits) -> list[NoisyValue]:
    """Made-up answers, some with an interval, some NULL."""
    found = []
    for number, answer in enumerate(block.answers):
        grid = Fraction(1, 100) if answer.aggregate.kind is AggregateKind.AVG else Fraction(1)
        index = bits.below(int(100 / grid))
        value = NoisyValue(index, grid, answer.aggregate.type, None)
        match (number + bits.below(2)) % 2:
            case 0:
                width = bits.below(9)
                value = replace(value, half_width=width, at=_constant(width))
            case _:
                pass
        is_missing = bits.below(10) == 0
        found.append(missing(grid, answer.aggregate.type) if is_missing else value)
    return found


def _constant(width: int) -> Callable[[Fraction], int]:
    return lambda level: width


def _ends(value: NoisyValue) -> tuple[int, int]:
    assert value.half_width is not None
    return value.index - value.half_width, value.index + value.half_width


def test_any_answers_agree_after_the_adjustment() -> None:
    block, bits, contradicted = block_of(f"SELECT {_LIST} FROM people"), SeededBits(1), 0
    groups = operand_answers(block.answers)
    for _ in range(2_000):
        before = _values(block, bits)
        after = agreed(groups, before)
        contradicted += bool(_contradictions(block, before))
        assert _contradictions(block, after) == []
        for was, now in zip(before, after, strict=True):
            assert now.is_adjusted == (was.index != now.index)
            assert now.is_missing == was.is_missing
            if was.half_width is None:
                assert now.half_width is None
                continue
            (low, high), (own_low, own_high) = _ends(was), _ends(now)
            assert own_low <= min(low, now.index) and own_high >= max(high, now.index)
            assert own_low <= was.index <= own_high
    assert contradicted > 1_500


def test_the_more_exact_answer_never_moves() -> None:
    """AVG stays as it is, and so does everything that agrees already."""
    block, bits = block_of(f"SELECT {_LIST} FROM people"), SeededBits(2)
    average = _COLUMNS.index("avg(i4)")
    for _ in range(500):
        before = _values(block, bits)
        after = agreed(operand_answers(block.answers), before)
        assert after[average] == before[average]
        assert agreed(operand_answers(block.answers), after) == after


def test_the_order_of_columns_does_not_matter() -> None:
    bits = SeededBits(3)
    block = block_of(f"SELECT {_LIST} FROM people")
    values = _values(block, bits)
    expected = agreed(operand_answers(block.answers), values)
    for order in permutations(range(len(values))):
        answers = [block.answers[n] for n in order]
        shown = agreed(operand_answers(answers), [values[n] for n in order])
        assert list(shown) == [expected[n] for n in order]


@pytest.mark.parametrize(
    "pair",
    [
        "min(i4), max(i2)",
        "min(i4), avg(i4) FILTER (WHERE b)",
        "min(i4), sum(i4)",
        "count(i4), max(i4)",
    ],
)
def test_other_operands_and_filters_are_left_alone(pair: str) -> None:
    assert operand_answers(block_of(f"SELECT {pair} FROM people").answers) == ()


def test_each_result_set_is_adjusted_and_the_draw_is_kept() -> None:
    """Two draws of one statement by group: nothing contradicts, and what is kept is what was drawn."""
    block = block_of("SELECT t, min(i4), max(i4), avg(i4) FROM people GROUP BY t", epsilon="0.05")
    groups: dict[Keys, list[int]] = {
        ("x",): [40, 50, 60] * 40,
        ("y",): [20] * 900,
        ("z",): [90],
        (None,): [],
    }
    raw = 0
    for seed in range(40):
        kept = drawn(block, groups, seed)
        shown = presented(block, kept)
        assert presented(block, kept) == shown
        for group, row in zip(kept.groups, shown.rows, strict=True):
            raw += bool(_contradictions(block, tuple(group_values(block, group))))
            assert _contradictions(block, row.values) == []
    assert raw > 30


def test_without_the_adjustment_the_test_above_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "_widen_ends", lambda group, values: None)
    with pytest.raises(AssertionError):
        test_any_answers_agree_after_the_adjustment()
