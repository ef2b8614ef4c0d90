"""Numbers that a statement has not as its plan has: rounded to forty places, or to a moment of the calendar."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.instants import DAY_SECONDS
from proxy.base.sql_types import SqlType
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan, NoisyStatistic
from proxy.kernel.refusals import Rule
from proxy.kernel.statistics import Measured, Statistic, row_sensitivity
from proxy.policy.policy_model import Bounds, BoundsKind
from proxy.query.ir.expressions import (
    Bucket,
    Clamped,
    Comparator,
    Comparison,
    Constant,
    Expression,
    Quotient,
    RealCall,
    RealFunction,
)
from tests.kernel.examples import column, numbered_visits, of_table
from tests.kernel.holes import Shown, block_of, hole, noise_for, with_first

_ROWS = (
    "INSERT INTO people(id, i4, n, n2, d, ts) VALUES"
    " (1, 0, 1, -5, '1970-01-01', '9999-12-31'), (2, 1, 2, 5, '2001-01-01', '2001-01-01')"
)
_VISITS = "INSERT INTO visits(id, uid, i4) SELECT g, 1 + g % 2, 1 FROM generate_series(1, 8) g"
_ONE = "DELETE FROM people WHERE id = 1"
_PLACE = Fraction(1, 10**40)
_TINY = _PLACE / 30_000  # printed as 0
_ZERO = Constant(Fraction(0), SqlType.INT4)


def _summed(
    name: str, statistic: Statistic, clamp: Bounds, grid: Fraction, on_grid: bool = False
) -> BlockPlan:
    """A sum over people, with noise for what its clamp says."""
    column = of_table("r1", "people", name)
    one = Measured(
        operand=Clamped(column, clamp.low, clamp.high, column.type),
        condition=None,
        clamp=clamp,
        grid=grid,
        rows=1,
        on_grid=on_grid,
    )
    block = block_of("SELECT sum(i4) FROM people")
    release = block.releases[0]
    assert isinstance(release, NoisyStatistic)
    block = with_first(block, replace(release, statistic=statistic, of=(one,)))
    return noise_for(block, row_sensitivity(statistic, (one,)))


@hole(Rule.TOTALITY, _ROWS, _ONE)
def clamp_that_is_printed_wider() -> BlockPlan:
    """0 .. 20 thirds of a tenth of the last place: printed as a whole one, which are 30 of them."""
    grid = _PLACE / 30
    return _summed("n", Statistic.STEPS, Bounds(Fraction(0), 20 * grid), grid)


@hole(Rule.TOTALITY, _ROWS, _ONE)
def clamp_below_a_step_that_is_cut_off() -> BlockPlan:
    """-2/3 is printed a little lower, and a sum of values on the grid is cut to a step below."""
    clamp = Bounds(Fraction(-2, 3), Fraction(0))
    return _summed("n2", Statistic.STEPS, clamp, Fraction(1, 300), on_grid=True)


@hole(Rule.TOTALITY, _ROWS, _ONE)
def clamp_between_days() -> BlockPlan:
    """Half a day .. a day, in half days: printed as 0 .. a day."""
    clamp = Bounds(Fraction(1, 2), Fraction(1), BoundsKind.DATE)
    return _summed("d", Statistic.CENTRED, clamp, Fraction(1, 2))


@hole(Rule.TOTALITY, _ROWS, _ONE)
def clamp_beyond_the_calendar() -> BlockPlan:
    """Ten days in the year 10000: printed as the last moment of 9999, which is 100 days before them."""
    day = Fraction(DAY_SECONDS)
    first = 2_932_897 * day + 100 * day
    clamp = Bounds(first, first + 10 * day, BoundsKind.TIMESTAMP)
    return _summed("ts", Statistic.CENTRED, clamp, day)


@hole(Rule.TOTALITY, _VISITS, "DELETE FROM visits WHERE uid = 1")
def number_of_rows_that_is_printed_higher() -> BlockPlan:
    """The rows of a unit with a number below 2: printed as 2 itself."""
    numbered = numbered_visits("uid")
    number, unit = column("q", "rn", SqlType.INT8), column("q", "uid", SqlType.INT8)
    first = Comparison(Comparator.LE, number, Constant(2 - _TINY, SqlType.NUMERIC))
    one_row = RowNeighbours(rows=1, hashed_by=(unit,), not_null=unit)
    block = block_of("SELECT count(*) FROM visits")
    return noise_for(replace(block, source=numbered, where=first, neighbours=one_row), 1)


def _raising(name: str, value: Expression) -> None:
    def make() -> BlockPlan:
        asked = Comparison(Comparator.GT, value, _ZERO)
        return replace(block_of("SELECT count(*) FROM people"), where=asked)

    make.__name__ = name
    hole(Rule.TOTALITY, _ROWS, "DELETE FROM people", shown=Shown.ERROR)(make)


_I4 = of_table("r1", "people", "i4")
_CUT = Clamped(_I4, _TINY, Fraction(1), SqlType.NUMERIC)
_ABOVE = Clamped(_I4, Fraction(1), Fraction(2), SqlType.NUMERIC)
_raising("divisor_that_is_printed_as_0", Quotient(_ABOVE, _CUT, False, SqlType.NUMERIC))
_raising(
    "constant_that_is_printed_as_0",
    Quotient(_ABOVE, Constant(_TINY, SqlType.NUMERIC), False, SqlType.NUMERIC),
)
_raising(
    "logarithm_of_what_is_printed_as_0", RealCall(RealFunction.LN, _CUT, None, SqlType.NUMERIC)
)
_raising(
    "base_that_is_printed_as_1", RealCall(RealFunction.LOG, _ABOVE, 1 + _TINY, SqlType.NUMERIC)
)
_raising("buckets_that_are_printed_as_none", Bucket(_ABOVE, Fraction(0), _TINY, 5))
