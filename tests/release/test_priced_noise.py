"""What is drawn has the noise that is priced: a plan that states more noise than its loss buys gets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.slots import Slots
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.checked_plan import CheckedBlock
from proxy.kernel.plan import BlockPlan
from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.private_bound import UnitTotals
from proxy.release.adding_noise import drawn_block
from proxy.release.choosing_bounds import Totals, choose_bounds
from tests.kernel.examples import (
    WORLD,
    block_of,
    checked_block,
    counted,
    quantile,
    scan,
    value_choice,
    weight_choice,
)
from tests.seeded_bits import SeededBits

_MORE = 1000  # times the noise that the loss buys
_COUNT = block_of(scan("r1", "visits"), counted(noise=Fraction(_MORE)))


def _count(block: CheckedBlock, bits: RandomBits) -> None:
    drawn_block(
        block, [ExactTable((ExactRow((), 0, (7,)),), (Slots(total=0),), releases=(0,))], bits
    )


def _choices(block: CheckedBlock, bits: RandomBits) -> None:
    nobody = UnitTotals(units={}, sums={})
    choose_bounds(block, Totals(choices=dict.fromkeys(block.block.choices, nobody), means={}), bits)


def _with_report() -> BlockPlan:
    chosen = value_choice(Fraction(1))
    choice = replace(chosen.choice, report_scale=chosen.choice.report_scale * _MORE)
    return replace(_COUNT, value_choices=(replace(chosen, choice=choice),))


def _with_weights() -> BlockPlan:
    median = replace(quantile(rows=2, weights=True), loss=_COUNT.releases[0].loss)
    chosen = weight_choice(scale=Fraction(10 * _MORE))
    return replace(_COUNT, releases=(median,), weight_choice=chosen)


@pytest.mark.parametrize(
    ("block", "draw"),
    [(_COUNT, _count), (_with_report(), _choices), (_with_weights(), _choices)],
    ids=["count", "report of a bound", "histogram of weights"],
)
def test_it_is_drawn(
    block: BlockPlan,
    draw: Callable[[CheckedBlock, RandomBits], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A price in rho is of the scale that a plan states; with less noise the charge would be too small."""
    checked, drawn, sample = checked_block(block, WORLD), list[Fraction](), discrete_laplace.sample

    def recorded(bits: RandomBits, scale: Fraction) -> int:
        drawn.append(scale)
        return sample(bits, scale)

    monkeypatch.setattr(discrete_laplace, "sample", recorded)
    draw(checked, SeededBits(1))
    found = {Fraction(str(one["scale"])) for one in checked.price.events if "scale" in one}
    priced = {one for one in found if one >= _MORE}
    assert priced and priced <= set(drawn)
