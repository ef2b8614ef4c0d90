"""What each mechanism draws, and the law that its draws have to follow.

One table. The harness (`fits`, and `test_samplers.py`) accepts each sampler by a chi-square test, and refuses
its draws against the law of noise that is 30 % wider or narrower. Mutants of samplers are killed by `fits`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from proxy.estimates import sum_over_count
from proxy.mechanisms import (
    clipped_mean,
    discrete_gaussian,
    discrete_laplace,
    exact_choice,
    order_statistic,
    polyplace,
)
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.exact_choice import Weight
from proxy.mechanisms.growing_places import Places
from tests.mechanisms.finite_law import Law, fit_of, normalised
from tests.mechanisms.gaussian_layers import gaussian_law
from tests.mechanisms.growing_places_layers import counted
from tests.mechanisms.laplace_law import LaplaceLaw
from tests.mechanisms.order_statistic_layers import (
    Table,
    law_of,
    law_of_minimum,
    law_of_quantile,
)
from tests.mechanisms.polyplace_layers import output_law
from tests.seeded_bits import SeededBits

FALSE_ALARM = 1e-6
DRAWS, FEW_DRAWS, MANY_DRAWS = 6_000, 2_000, 40_000  # many: to see noise that is 5 % off
OFF = Fraction(13, 10)
_PARTS = 50  # of a scale that is too large to count each integer


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler:
    """One mechanism at one scale.

    Attributes:
        draw: One draw.
        law: What it has to follow, for noise that is so many times as wide: the first outcome, and the
            probabilities of this one and those after it.
        width: So many integers are one outcome.
        draws: In each run of the tests.
    """

    draw: Callable[[RandomBits], int]
    law: Callable[[Fraction], tuple[int, Law]]
    width: int = 1
    draws: int = DRAWS

    def drawn(self, draws: int | None = None, seed: int = 1) -> Counter[int]:
        """Count the outcomes of so many draws; None: as many as in each run."""
        bits = SeededBits(seed)
        number = self.draws if draws is None else draws
        return Counter(self.draw(bits) // self.width for _ in range(number))

    def fit(self, drawn: Counter[int], off: Fraction = Fraction(1)) -> float:
        """The probability of a fit at least as bad, if the noise is `off` times as wide as it is."""
        first, law = self.law(off)
        return fit_of(drawn, law, first)


def _laplace(
    draw: Callable[[RandomBits], int], scale: Fraction, draws: int = DRAWS, reach: int | None = None
) -> Sampler:
    width = 1 if scale < _PARTS else math.floor(scale) // _PARTS

    def law(off: Fraction) -> tuple[int, Law]:
        whole = LaplaceLaw(0, float(scale * off))
        ends = reach or math.ceil(whole.scale * 45 / width) + 1
        masses = [whole.mass(k * width, (k + 1) * width - 1) for k in range(ends)]
        below = [whole.mass(-k * width, -(k - 1) * width - 1) for k in range(ends, 0, -1)]
        return -ends, np.array([*below, *masses])

    return Sampler(draw=draw, law=law, width=width, draws=draws)


def _laplaces() -> dict[str, Sampler]:
    def of(scale: Fraction) -> Sampler:
        return _laplace(lambda bits: discrete_laplace.sample(bits, scale), scale)

    return {
        f"discrete Laplace, scale {text}": of(Fraction(text))
        for text in ("1/3", "1", "20/3", "1000000000000")
    }


def _gaussians() -> dict[str, Sampler]:
    def of(sigma2: Fraction) -> Sampler:
        width = 1 if sigma2 <= 10_000 else math.isqrt(math.floor(sigma2)) // _PARTS

        def law(off: Fraction) -> tuple[int, Law]:
            variance = float(sigma2 * off**2)
            if width == 1:
                exact = gaussian_law(variance)
                return -(len(exact) // 2), exact
            # The normal law is exact to e^(-2 pi^2 sigma2) by Poisson's formula.
            deviation = math.sqrt(2 * variance)
            at = [math.erf((width * k - 0.5) / deviation) for k in range(-600, 602)]
            return -600, np.diff(np.array(at)) / 2

        return Sampler(
            draw=lambda bits: discrete_gaussian.sample(bits, sigma2), law=law, width=width
        )

    return {
        f"discrete Gaussian, variance {text}": of(Fraction(text))
        for text in ("1/5", "1", "1000/7", "1000000000000")
    }


def _polyplaces() -> dict[str, Sampler]:
    def of(scale: Fraction, shape: int) -> Sampler:
        low, centre, high = -200, 30, 400
        return Sampler(
            draw=lambda bits: polyplace.sample(bits, centre, scale, low, high, shape),
            law=lambda off: (low, output_law(centre, float(scale * off), low, high, shape)),
        )

    return {
        f"PolyPlace, scale {text}, shape {shape}": of(Fraction(text), shape)
        for text, shape in (("2", 2), ("131/3", 2), ("30", 4), ("25", 8))
    }


def _means() -> dict[str, Sampler]:
    """Of one partition or row, whose noise hardly ever reaches a bound."""
    epsilon = Fraction(20)
    return {
        "clipped mean": _laplace(
            lambda bits: clipped_mean.release([0], -50, 50, epsilon, bits), Fraction(5), reach=51
        ),
        # At this epsilon the count is hardly ever anything but 1.
        "sum over count": _laplace(
            lambda bits: round(sum_over_count.release(0, 1, -50, 50, epsilon, bits)),
            Fraction(5),
            reach=51,
        ),
    }


def _choices() -> dict[str, Sampler]:
    """Minimum, maximum and quantile, and weights far apart. Noise that is wider is a rate that is smaller."""
    table = Table.dense((0, 2, 0, 5, 1, 0, 0, 3, 9, 0))
    reflected = Table.dense(table.counts[::-1])
    values, quarter = table.runs, Fraction(1, 4)
    weights, rate = [Weight(5, 7), Weight(1, 3), Weight(10**4, 30)], Fraction(1, 3)
    one = Fraction(1)

    def of_weights(off: Fraction) -> tuple[int, Law]:
        each = [w.size * math.exp(-w.distance * float(rate / off)) for w in weights]
        return 0, normalised(each)

    return {
        "minimum": Sampler(
            draw=lambda bits: order_statistic.minimum(values, 0, 9, one, bits),
            law=lambda off: (0, law_of_minimum(table, one / off, 1)),
            draws=FEW_DRAWS,
        ),
        "maximum": Sampler(
            draw=lambda bits: order_statistic.maximum(values, 0, 9, one, bits),
            law=lambda off: (0, law_of_minimum(reflected, one / off, 1)[::-1]),
            draws=FEW_DRAWS,
        ),
        "quantile": Sampler(
            draw=lambda bits: order_statistic.quantile(values, quarter, 0, 9, one, bits),
            law=lambda off: (0, law_of_quantile(quarter)(table, one / off, 1)),
            draws=FEW_DRAWS,
        ),
        "weights far apart": Sampler(
            draw=lambda bits: exact_choice.choose(bits, weights, rate),
            law=of_weights,
            draws=FEW_DRAWS,
        ),
    }


def _places() -> dict[str, Sampler]:
    def of(is_least: bool) -> Sampler:
        places = Places(0, 300, is_least)
        values = counted(places, [*range(40, 90, 2), *range(200, 260, 3)])

        def law(off: Fraction) -> tuple[int, Law]:
            found = law_of(places.law(values, 1 / off))
            return 0, found if is_least else found[::-1]

        return Sampler(
            draw=lambda bits: places.indices.index(places.drawn(values, Fraction(1), bits)),
            law=law,
            draws=FEW_DRAWS // 2,
        )

    return {"least of growing places": of(True), "most of growing places": of(False)}


SAMPLERS = {
    **_laplaces(),
    **_gaussians(),
    **_polyplaces(),
    **_means(),
    **_choices(),
    **_places(),
}


def fits(name: str, draws: int | None = None) -> Callable[[], None]:
    """A layer of verification: samplers of that name, by a chi-square test. One false alarm in a million."""

    def layer() -> None:
        for number, (full, sampler) in enumerate(SAMPLERS.items()):
            if full.startswith(name):
                fit = sampler.fit(sampler.drawn(draws, number))
                assert fit > FALSE_ALARM, f"{full}: p = {fit}"

    layer.__name__ = f"{name} fits"
    return layer
