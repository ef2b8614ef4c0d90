"""What is bought of a block beside what was shown: never more than afresh, of each release what is missing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.kernel.block_price import price_of_block
from proxy.kernel.plan import BlockPlan
from proxy.policy.policy_model import Noise
from proxy.reuse.derivation import NOTHING_MORE
from proxy.reuse.missing_precision import MissingPrecision, missing_precision
from tests.gaussian_blocks import groups, planned_block, question, sigma2, source
from tests.kernel.examples import WORLD
from tests.unchecked_blocks import unchecked


def _missing(wanted: BlockPlan, shown: BlockPlan) -> MissingPrecision | None:
    fresh = unchecked(wanted, price_of_block(wanted, WORLD))
    return missing_precision(
        fresh, question(wanted), NOTHING_MORE, source(shown), groups(shown), WORLD
    )


_TEXTS = (
    "SELECT count(*) FROM people",
    "SELECT sum(i4), count(*) FROM visits",
    "SELECT b, count(*) FILTER (WHERE i4 > 2), sum(i4) FROM people GROUP BY b",
    "SELECT count(DISTINCT i4) FROM visits",
)


@pytest.mark.parametrize("text", _TEXTS)
def test_it_costs_less_in_all_that_is_charged(text: str) -> None:
    for first, later in (("0.5", "1"), ("1", "1.1"), ("1", "3")):
        shown, wanted = planned_block(text, first), planned_block(text, later)
        found = _missing(wanted, shown)
        assert found is not None
        fresh, price = price_of_block(wanted, WORLD), found.drawn.price
        assert price.epsilon < fresh.epsilon and price.loss.delta <= fresh.loss.delta
        both = price.rho + price_of_block(shown, WORLD).rho
        assert price.rho < fresh.rho <= both
        assert both < fresh.rho * Fraction(115, 100)
        # What is charged is what is drawn.
        assert price == price_of_block(found.drawn.block, WORLD)
        assert len(price.events) == len(wanted.releases)
        assert [one.bought is not None for one in found.given.values()] == [True] * len(
            wanted.releases
        )


def test_what_is_not_there_is_bought_whole() -> None:
    shown = planned_block("SELECT count(*) FROM visits", "1")
    wanted = planned_block("SELECT sum(i4), count(*) FROM visits", "4")
    found = _missing(wanted, shown)
    assert found is not None
    (topped_up,) = found.given
    assert found.drawn.block.releases[1 - topped_up] == wanted.releases[1 - topped_up]
    assert sigma2(found.drawn.block, topped_up) > sigma2(wanted, topped_up)


def test_what_is_exact_enough_is_not_drawn() -> None:
    shown = planned_block("SELECT count(*) FROM visits", "4")
    wanted = planned_block("SELECT sum(i4), count(*) FROM visits", "4")
    found = _missing(wanted, shown)
    assert found is not None
    ((ready, one),) = found.given.items()
    assert one.bought is None and found.drawn.block.withheld == {ready}
    assert found.drawn.loss == wanted.releases[1 - ready].loss
    assert len(found.drawn.price.events) == 1


def test_of_a_sum_of_groups() -> None:
    shown = planned_block("SELECT b, count(*) FROM people GROUP BY b", "2")
    wanted = planned_block("SELECT count(*) FROM people", "2")
    found = _missing(wanted, shown)
    assert found is not None
    (one,) = found.given.values()
    assert one.sigma2 == len(groups(shown)) * sigma2(shown, 0)
    assert [len(sources) for sources in found.sources.values()] == [len(groups(shown))]


_WHOLE = (
    # As exact already; other rows; other noise; nothing in common; what is no sum.
    ("SELECT count(*) FROM people", "2", "SELECT count(*) FROM people", "1"),
    ("SELECT count(*) FROM people", "1", "SELECT sum(i4) FROM people", "2"),
    (
        "SELECT b, count(*) FROM people GROUP BY b",
        "1",
        "SELECT i4, count(*) FROM people GROUP BY i4",
        "2",
    ),
)


@pytest.mark.parametrize(("first", "less", "later", "more"), _WHOLE)
def test_what_is_no_help(first: str, less: str, later: str, more: str) -> None:
    assert _missing(planned_block(later, more), planned_block(first, less)) is None


def test_other_noise_is_no_help() -> None:
    text = "SELECT count(*) FROM people"
    gaussian, laplace = planned_block(text, "1"), planned_block(text, "2", Noise.LAPLACE)
    assert _missing(laplace, gaussian) is None
    assert _missing(laplace, planned_block(text, "1", Noise.LAPLACE)) is None
    assert _missing(planned_block(text, "2"), planned_block(text, "1", Noise.LAPLACE)) is None


def test_hardly_anything_is_there() -> None:
    """What rounding takes is more than what is saved."""
    text = "SELECT count(*) FROM people"
    assert _missing(planned_block(text, "4"), planned_block(text, "0.01")) is None
