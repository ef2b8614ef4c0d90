"""What is shown is, of each release and group, what was shown and what was bought, weighed by their noise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import cast

import pytest

from proxy.drawing.answer_slots import ShownAnswer, ToppedUp, shown_answer
from proxy.drawing.kept_answers import combined
from proxy.kernel.block_price import price_of_block
from proxy.kernel.plan import BlockPlan
from proxy.mechanisms import discrete_gaussian
from proxy.planner.facts import Values
from proxy.release.cached_block import VERSION
from proxy.release.drawn_values import NOTHING, DrawnBlock, DrawnGroup, DrawnNumber
from proxy.reuse.derivation import NOTHING_MORE
from proxy.reuse.missing_precision import missing_precision
from tests.gaussian_blocks import groups, planned_block, question, sigma2, source
from tests.kernel.examples import WORLD
from tests.seeded_bits import SeededBits
from tests.unchecked_blocks import unchecked


def _top_up(
    wanted: BlockPlan, given: BlockPlan, numbers: Mapping[Values, tuple[int, ...]]
) -> ToppedUp:
    """numbers: of the given block, whose releases are in the order of its question."""
    asked = question(given)
    fresh = unchecked(wanted, price_of_block(wanted, WORLD))
    missing = missing_precision(
        fresh, question(wanted), NOTHING_MORE, source(given), tuple(numbers), WORLD
    )
    assert missing is not None
    places = {keys: tuple(values[n] for n in asked.releases) for keys, values in numbers.items()}
    return ToppedUp(source=_answer(places), missing=missing)


def _answer(numbers: Mapping[Values, tuple[int, ...]]) -> ShownAnswer:
    groups = [[keys, values] for keys, values in numbers.items()]
    text = json.dumps({"v": VERSION, "chosen": [], "groups": groups})
    return shown_answer("alice", 1, text)


def test_each_number_with_its_own() -> None:
    """Groups that are added up, aggregates in another order, one that is new, one that is exact enough."""
    given = planned_block("SELECT b, count(*), sum(i4) FROM people GROUP BY b", "4")
    wanted = planned_block("SELECT sum(i4), sum(i8), count(*) FROM people", "5")
    shares = (1_000, 70_000)
    numbers = dict.fromkeys(groups(given), shares)
    found = _top_up(wanted, given, numbers)
    drawn = DrawnBlock((DrawnGroup((), tuple(DrawnNumber(n) for n in (9_000, 8, 7_000))),))
    ((group),) = combined(found, drawn, SeededBits(1)).groups
    for place, given_place in ((0, 1), (2, 0)):
        s = len(numbers) * sigma2(given, given_place)
        t = sigma2(found.missing.drawn.block, place)
        shown = len(numbers) * shares[given_place]
        bought = cast(DrawnNumber, drawn.groups[0].values[place]).index
        mean = (shown / s + bought / t) / (1 / s + 1 / t)
        assert abs(cast(DrawnNumber, group.values[place]).index - mean) <= Fraction(1, 2)
    assert group.values[1] == DrawnNumber(8)


def test_what_is_exact_enough_is_as_it_was() -> None:
    given = planned_block("SELECT count(*) FROM visits", "8")
    wanted = planned_block("SELECT sum(i4), count(*) FROM visits", "8")
    found = _top_up(wanted, given, {(): (41,)})
    drawn = DrawnBlock((DrawnGroup((), (DrawnNumber(5), NOTHING)),))
    ((group),) = combined(found, drawn, SeededBits(1)).groups
    assert group.values == (DrawnNumber(5), DrawnNumber(41))


@pytest.mark.parametrize(
    ("times", "holds"), [(1, True), (Fraction(7, 10), False), (Fraction(13, 10), False)]
)
def test_the_noise_is_what_was_wanted(times: Fraction, holds: bool) -> None:
    """Of 2,000 draws, within 13 %, four standard errors; also where noise of 30 % more or less were bought."""
    text = "SELECT sum(i4) FROM people"
    given, wanted = planned_block(text, "0.2"), planned_block(text, "1")
    found = _top_up(wanted, given, {(): (0,)})
    bits, total, draws = SeededBits(3), 0, 2_000
    bought = times * sigma2(found.missing.drawn.block, 0)
    for _ in range(draws):
        shown = discrete_gaussian.sample(bits, sigma2(given, 0))
        one = replace(found, source=_answer({(): (shown,)}))
        noise = DrawnNumber(discrete_gaussian.sample(bits, bought))
        ((group),) = combined(one, DrawnBlock((DrawnGroup((), (noise,)),)), bits).groups
        total += cast(DrawnNumber, group.values[0]).index ** 2
    ratio = float(total / draws / sigma2(wanted, 0))
    assert (ratio == pytest.approx(1, rel=0.13)) == holds
