"""Plans of which some row makes the SQL raise: each kind takes one guard out of a plan, or puts in what raises.

A kind changes the first expression of a block to which it applies. Beside golden plans there are statements
with all nodes (`STATEMENTS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.base.zones import Zone
from proxy.kernel.plan import BlockPlan, DistinctCount, NoisyStatistic, Release
from proxy.kernel.statistics import Counted, Measured
from proxy.kernel.world import World
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choice,
    Choose,
    Clamped,
    ColumnRef,
    Comparator,
    Comparison,
    Concat,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    Inside,
    InsideLook,
    Like,
    NullIf,
    NumericCall,
    NumericFunction,
    Parameter,
    Quotient,
    RealCall,
    RealFunction,
    Shift,
    TextCall,
    TextFunction,
    TimeBin,
)
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.ir.rebuilding import rebuild, rewrite
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery
from proxy.query.syntax.placeholders import ScalarAnswer
from tests.pipeline_world import CATALOG, POLICIES, walk

_COUNTS = {AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT}
Change = Callable[[Expression], Expression | None]
Raising = Callable[[BlockPlan], BlockPlan | None]
KINDS: dict[str, Raising] = {}

STATEMENTS = (
    "SELECT sum(n * n2 + i4), avg(n / 2.5) FROM people",
    "SELECT sum(i4 / nullif(i2, 0)), sum(n / (n2 + 1)), sum(i4 % nullif(i2, 0)) FROM people",
    "SELECT sum(ln(n2 + 1)), sum(sqrt(n2)), sum(exp(f4)), sum(power(n2, 2)) FROM people",
    "SELECT sum(power(n2 + 1, -2)), sum(power(n2, 0.5)), sum(power(2, i2)), sum(log(2, n2 + 1)) FROM people",
    "SELECT count(*) FROM people WHERE round(n, 2) > 1 AND ceil(n) < 3 AND width_bucket(n, 0, 5, 10) = 3",
    "SELECT count(*) FROM people WHERE date_trunc('month', ts) > '2010-01-01' AND to_char(ts, 'YYYY') = '2010'",
    "SELECT count(*) FROM people WHERE ts + interval '3 days' > '2010-01-01' AND d::timestamp > '2010-01-01'",
    "SELECT count(*) FROM people WHERE date_bin(interval '1 hour', ts, timestamp '2010-01-01') > '2010-01-01'",
    "SELECT count(*) FROM people WHERE (tz AT TIME ZONE 'Europe/Berlin')::date > '2010-01-01'",
    "SELECT count(*) FROM people WHERE extract(year FROM d) = 2010 AND extract(hour FROM ts) = 3",
    "SELECT count(*) FROM people WHERE t LIKE 'a%b_' AND t ~ 'a|b' AND lower(t) = 'x' AND length(t) > 5",
    "SELECT count(*) FROM people WHERE left(t, 3) = 'abc' AND substr(t, 2, 3) = 'x' AND btrim(t, 'xy') = 'a'",
    "SELECT count(*) FROM people WHERE split_part(t, ',', 1) = 'a' AND replace(t, 'a', 'b') = 'x'",
    "SELECT count(*) FROM people WHERE lpad(s, 10, 'x') = 'a' AND strpos(t, 'a') = 1 AND t || s = 'ab'",
    "SELECT count(*) FROM people WHERE j ->> 'a' = 'x' AND j -> 'b' -> 3 ->> 'c' = 'y' AND j ? 'k'",
    "SELECT count(*) FROM people WHERE j @> '{\"a\": 1}' AND 'x' = ANY(ta) AND cardinality(ia) > 2",
    "SELECT count(*) FROM people WHERE abs(extract(epoch FROM iv)) > 5 AND i4::text = '5' AND ia[1] = 3",
    "SELECT count(DISTINCT t), count(DISTINCT s), sum(b::integer) FROM people",
    "SELECT t, count(*) FROM visits GROUP BY t",
    "SELECT s, n, count(*) FROM people GROUP BY s, n",
    "SELECT sum(x), max(m) FROM (SELECT uid, sum(n * 2) AS x, max(n2) AS m FROM orders GROUP BY uid) q",
    "SELECT sum(x) FROM (SELECT uid, sum(n * 2) OVER (PARTITION BY uid ORDER BY i4) AS x FROM orders) q",
    "SELECT sum(x) FROM (SELECT n * 2 AS x FROM people UNION ALL SELECT n2 FROM people) q",
    "SELECT sum(CASE WHEN i4 > 5 THEN n * 2 ELSE coalesce(n2, 0) END) FROM people",
    "SELECT max(n2), sum(n2), variance(n2), max(d), min(ts) FROM people",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n2), avg(n) FROM orders",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A block of a statement, which the kernel lets through."""

    statement: str
    world: World
    block: BlockPlan


def stated_blocks() -> Iterator[Stated]:
    for policy in ("world", "best"):
        for statement in STATEMENTS:
            found = walk(statement, POLICIES[policy])
            assert found is not None, statement
            for block in found.plan.blocks:
                world = World(POLICIES[policy], CATALOG)
                yield Stated(statement=statement, world=world, block=block)


class _Once:
    """Changes the first expression to which a change applies."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self.is_done = False

    def node(self, node: Expression) -> Expression:
        found = None if self.is_done else self._change(node)
        if found is None or found == node:
            return node
        self.is_done = True
        return found

    def all(self, expression: Expression) -> Expression:
        """A whole expression, as it stands in the block."""
        return rebuild(expression, self.node)

    def maybe(self, expression: Expression | None) -> Expression | None:
        return None if expression is None else self.all(expression)


class _Place(_Once):
    """Changes a whole expression: that in the place of this number."""

    def __init__(self, change: Change, place: int) -> None:
        super().__init__(change)
        self._left = place

    def all(self, expression: Expression) -> Expression:
        self._left -= 1
        return self.node(expression) if self._left == -1 else expression


def changed(block: BlockPlan, change: Change) -> BlockPlan | None:
    """The block with one expression changed, the inner ones first; None: there is none such."""
    return _changed(block, _Once(change))


def raising_in_each_place(block: BlockPlan) -> Iterator[BlockPlan]:
    """The block with a division by 0 in each place that has an expression."""
    place = 0
    while (found := _changed(block, _Place(_raising, place))) is not None:
        yield found
        place += 1


def _raising(expression: Expression) -> Expression:
    by_0 = Quotient(_number(1), _number(0), False, SqlType.NUMERIC)
    test = Comparison(Comparator.GT, by_0, _number(0))
    return Case(((test, expression),), expression, expression.type or SqlType.TEXT)


def _changed(block: BlockPlan, once: _Once) -> BlockPlan | None:
    found = replace(
        block,
        source=rewrite(block.source, once.all),
        where=once.maybe(block.where),
        keys=tuple(replace(key, expression=once.all(key.expression)) for key in block.keys),
        releases=tuple(_release(one, once) for one in block.releases),
        value_choices=tuple(
            replace(one, measured=_measured(one.measured, once)) for one in block.value_choices
        ),
        compared=frozenset({1}),
    )
    return found if once.is_done else None


def _release(release: Release, once: _Once) -> Release:
    match release:
        case NoisyStatistic(of=Counted() as counted):
            of = replace(
                counted,
                operand=once.maybe(counted.operand),
                condition=once.maybe(counted.condition),
            )
            return replace(release, of=of)
        case NoisyStatistic():
            measured = cast(tuple[Measured, ...], release.of)
            return replace(release, of=tuple(_measured(one, once) for one in measured))
        case DistinctCount():
            return replace(
                release, operand=once.all(release.operand), condition=once.maybe(release.condition)
            )
        case _:
            return replace(release, measured=_measured(release.measured, once))


def _measured(measured: Measured, once: _Once) -> Measured:
    """Another operand has other factors (PROOFS.md 36)."""
    operand = once.all(measured.operand)
    return replace(
        measured,
        operand=operand,
        factors=measured.factors if operand == measured.operand else (),
        condition=once.maybe(measured.condition),
    )


def first_measured(
    block: BlockPlan, change: Callable[[Measured], Measured | None]
) -> BlockPlan | None:
    """The block with the first operand changed of which something is measured."""
    for number, release in enumerate(block.releases):
        if isinstance(release, DistinctCount) or (
            isinstance(release, NoisyStatistic) and isinstance(release.of, Counted)
        ):
            continue
        if isinstance(release, NoisyStatistic):
            measured = cast(tuple[Measured, ...], release.of)
            found = change(measured[0])
            new: Release = replace(release, of=(found or measured[0], *measured[1:]))
        else:
            found = change(release.measured)
            new = replace(release, measured=found or release.measured)
        if found is not None:
            releases = (*block.releases[:number], new, *block.releases[number + 1 :])
            return replace(block, releases=releases)
    return None


def kind(change: Change) -> Change:
    KINDS[change.__name__] = lambda block: changed(block, change)
    return change


def of_block(raising: Raising) -> Raising:
    KINDS[raising.__name__] = raising
    return raising


def _stored(part: Expression) -> Expression | None:
    """What is clamped, where that has no ends by itself."""
    if not isinstance(part, Clamped):
        return None
    is_stored = isinstance(part.operand, ColumnRef | Extract | Inside)
    return part.operand if is_stored else None


def _uncut(node: Quotient | DateTrunc | Shift | TimeBin | Cast) -> Expression | None:
    stored = _stored(node.operand)
    return None if stored is None else replace(node, operand=stored)


def _number(value: float | Fraction) -> Constant:
    return Constant(Fraction(value), SqlType.NUMERIC)


# Numbers.


@kind
def stored_number_added(node: Expression) -> Expression | None:
    if not isinstance(node, Arithmetic):
        return None
    left, right = _stored(node.left), _stored(node.right)
    if left is not None:
        return replace(node, left=left)
    return None if right is None else replace(node, right=right)


@kind
def stored_number_divided(node: Expression) -> Expression | None:
    return _uncut(node) if isinstance(node, Quotient) else None


@kind
def stored_number_as_divisor(node: Expression) -> Expression | None:
    if not isinstance(node, Quotient):
        return None
    divisor = node.divisor
    if isinstance(divisor, NullIf):
        inner = _stored(divisor.operand)
        return None if inner is None else replace(node, divisor=replace(divisor, operand=inner))
    stored = _stored(divisor)
    return None if stored is None else replace(node, divisor=stored)


@kind
def divisor_that_reaches_0(node: Expression) -> Expression | None:
    if not isinstance(node, Quotient) or not isinstance(node.divisor, Clamped):
        return None
    return replace(node, divisor=replace(node.divisor, low=Fraction(-1), high=Fraction(1)))


@kind
def divisor_of_0(node: Expression) -> Expression | None:
    return (
        replace(node, divisor=_number(0))
        if isinstance(node, Quotient) and isinstance(node.divisor, Constant)
        else None
    )


@kind
def divisor_without_nullif(node: Expression) -> Expression | None:
    if not isinstance(node, Quotient) or not isinstance(node.divisor, NullIf):
        return None
    return replace(node, divisor=node.divisor.operand)


@kind
def divisor_that_is_another_nullif(node: Expression) -> Expression | None:
    if not isinstance(node, Quotient) or not isinstance(node.divisor, NullIf):
        return None
    return replace(node, divisor=replace(node.divisor, other=_number(1)))


@kind
def divisor_cut_to_0(node: Expression) -> Expression | None:
    """nullif(x, 0) is not 0, and a clamp that ends with 0 makes it so."""
    if not isinstance(node, Quotient) or not isinstance(node.divisor, NullIf):
        return None
    cut = Clamped(node.divisor, Fraction(0), Fraction(10), SqlType.NUMERIC)
    return replace(node, divisor=cut)


def _real(node: Expression, *functions: RealFunction) -> RealCall | None:
    return node if isinstance(node, RealCall) and node.function in functions else None


@kind
def stored_number_in_a_real_function(node: Expression) -> Expression | None:
    """The clamp around it, and the ones below that."""
    if not isinstance(node, RealCall):
        return None
    column = next(_columns(node.operand), None)
    return None if column is None else replace(node, operand=column)


def _columns(part: Expression) -> Iterator[ColumnRef]:
    if isinstance(part, ColumnRef):
        yield part
    elif isinstance(part, Clamped | NumericCall | Cast):
        yield from _columns(part.operand)
    elif isinstance(part, Arithmetic):
        yield from _columns(part.left)


@kind
def logarithm_of_0(node: Expression) -> Expression | None:
    call = _real(node, RealFunction.LN, RealFunction.LOG)
    if call is None or not isinstance(call.operand, Clamped):
        return None
    return replace(call, operand=replace(call.operand, low=Fraction(0)))


@kind
def logarithm_to_the_base_of_1(node: Expression) -> Expression | None:
    call = _real(node, RealFunction.LOG)
    return None if call is None else replace(call, constant=Fraction(1))


@kind
def root_of_less_than_0(node: Expression) -> Expression | None:
    call = _real(node, RealFunction.SQRT)
    if call is None or not isinstance(call.operand, Clamped):
        return None
    return replace(call, operand=replace(call.operand, low=Fraction(-1)))


@kind
def exponent_too_large(node: Expression) -> Expression | None:
    call = _real(node, RealFunction.EXP, RealFunction.RAISED)
    if call is None or not isinstance(call.operand, Clamped):
        return None
    return replace(call, operand=replace(call.operand, high=Fraction(10**6)))


@kind
def power_of_a_base_below_0(node: Expression) -> Expression | None:
    call = _real(node, RealFunction.RAISED)
    return None if call is None else replace(call, constant=Fraction(-2))


@kind
def power_too_large(node: Expression) -> Expression | None:
    call = _real(node, RealFunction.POWER)
    return None if call is None else replace(call, constant=Fraction(10**6))


@kind
def power_of_large_numbers(node: Expression) -> Expression | None:
    call = _real(node, RealFunction.POWER)
    if call is None or not isinstance(call.operand, Clamped):
        return None
    large = replace(call.operand, high=Fraction(10**300))
    return replace(call, operand=large, constant=Fraction(1_000))


@kind
def negative_power_of_0(node: Expression) -> Expression | None:
    call = _real(node, RealFunction.POWER)
    if call is None or not isinstance(call.operand, Clamped):
        return None
    return replace(call, operand=replace(call.operand, low=Fraction(0)), constant=Fraction(-1))


@kind
def broken_power_of_less_than_0(node: Expression) -> Expression | None:
    call = _real(node, RealFunction.POWER)
    if call is None or not isinstance(call.operand, Clamped):
        return None
    half, below = Fraction(1, 2), replace(call.operand, low=Fraction(-1))
    return replace(call, operand=below, constant=half)


@kind
def stored_number_rounded(node: Expression) -> Expression | None:
    """Of 131,072 nines it carries into a digit that there is none."""
    if not isinstance(node, NumericCall):
        return None
    column = next(_columns(node.operand), None)
    if column is None or column.type is not SqlType.NUMERIC:
        return None
    return replace(node, function=NumericFunction.ROUND, operand=column)


@kind
def stored_number_in_a_bucket(node: Expression) -> Expression | None:
    if not isinstance(node, Bucket):
        return None
    column = next(_columns(node.operand), None)
    return None if column is None else replace(node, operand=column)


@kind
def sign_in_a_bucket(node: Expression) -> Expression | None:
    """The sign of NaN is NaN."""
    if not isinstance(node, Bucket):
        return None
    column = next(_columns(node.operand), None)
    if column is None:
        return None
    return replace(node, operand=NumericCall(NumericFunction.SIGN, column, 0, SqlType.NUMERIC))


@kind
def buckets_that_are_none(node: Expression) -> Expression | None:
    return replace(node, count=0) if isinstance(node, Bucket) else None


@kind
def buckets_of_one_bound(node: Expression) -> Expression | None:
    return replace(node, high=node.low) if isinstance(node, Bucket) else None


@kind
def text_cast_to_a_number(node: Expression) -> Expression | None:
    if not isinstance(node, Comparison) or not _is_text(node.left):
        return None
    return Comparison(Comparator.GT, Cast(node.left, SqlType.INT4), _number(5))


def _is_text(part: Expression) -> bool:
    return isinstance(part, ColumnRef) and part.type is SqlType.TEXT


@kind
def text_computed_with(node: Expression) -> Expression | None:
    if not isinstance(node, Comparison) or not _is_text(node.left):
        return None
    absolute = NumericCall(NumericFunction.ABS, node.left, 0, SqlType.NUMERIC)
    return Comparison(Comparator.GT, absolute, _number(5))


@kind
def text_clamped_as_a_number(node: Expression) -> Expression | None:
    if not isinstance(node, Comparison) or not _is_text(node.left):
        return None
    clamped = Clamped(node.left, Fraction(0), Fraction(1, 2), SqlType.INT4)
    return Comparison(Comparator.GT, clamped, _number(5))


@kind
def function_of_texts_as_a_number(node: Expression) -> Expression | None:
    if not isinstance(node, TextCall) or node.function is not TextFunction.LOWER:
        return None
    return replace(node, type=SqlType.INT4)


@kind
def result_that_is_no_number(node: Expression) -> Expression | None:
    if not isinstance(node, NullIf) or not node.type.is_number:
        return None
    return replace(node, operand=ColumnRef("t", SqlType.TEXT, None, "r1"))


@kind
def number_clamped_as_a_float(node: Expression) -> Expression | None:
    """It is cast to a float before, which holds no 1e131071."""
    if not isinstance(node, Clamped) or node.type is not SqlType.NUMERIC:
        return None
    is_stored = isinstance(node.operand, ColumnRef) and node.operand.column == "n"
    return replace(node, type=SqlType.FLOAT8) if is_stored else None


@kind
def clamp_inside_out(node: Expression) -> Expression | None:
    """A time counts elsewhere."""
    if not isinstance(node, Clamped) or node.low == node.high:
        return None
    return replace(node, low=node.high, high=node.low)


@kind
def stored_number_as_one_of_several(node: Expression) -> Expression | None:
    """Of CASE and COALESCE, which are computed with."""
    if not isinstance(node, Arithmetic):
        return None
    column = next(_columns(node.left), None)
    if column is None:
        return None
    several = Choose(Choice.COALESCE, (node.left, column), SqlType.NUMERIC)
    return replace(node, left=several)


# Times.


@kind
def time_clamp_inside_out(node: Expression) -> Expression | None:
    is_time = isinstance(node, Clamped) and node.type.is_time
    return clamp_inside_out(node) if is_time else None


@kind
def stored_time_cut(node: Expression) -> Expression | None:
    return _uncut(node) if isinstance(node, DateTrunc) else None


@kind
def stored_time_moved(node: Expression) -> Expression | None:
    return _uncut(node) if isinstance(node, Shift) else None


@kind
def stored_time_in_a_bin(node: Expression) -> Expression | None:
    return _uncut(node) if isinstance(node, TimeBin) else None


@kind
def stored_time_on_another_clock(node: Expression) -> Expression | None:
    return _uncut(node) if isinstance(node, Cast) and node.type.is_time else None


@kind
def clock_of_no_zone(node: Expression) -> Expression | None:
    nowhere = Zone(name="Mars/Olympus")
    if isinstance(node, DateTrunc):
        return replace(node, zone=nowhere)
    return replace(node, zone=nowhere) if isinstance(node, Cast) and node.zone is not None else None


@kind
def time_moved_out_of_the_calendar(node: Expression) -> Expression | None:
    return replace(node, months=12 * 300_000) if isinstance(node, Shift) else None


@kind
def time_cut_to_no_unit(node: Expression) -> Expression | None:
    return replace(node, unit="fortnight") if isinstance(node, DateTrunc) else None


@kind
def bins_of_no_width(node: Expression) -> Expression | None:
    return replace(node, width=0) if isinstance(node, TimeBin) else None


@kind
def bins_of_a_millennium(node: Expression) -> Expression | None:
    return replace(node, width=366_000 * 86_400 * 10**6) if isinstance(node, TimeBin) else None


@kind
def template_that_is_not_known(node: Expression) -> Expression | None:
    return replace(node, template="TZH") if isinstance(node, FormattedTime) else None


@kind
def hour_of_a_date(node: Expression) -> Expression | None:
    return (
        replace(node, field="hour")
        if isinstance(node, Extract) and node.operand.type is SqlType.DATE
        else None
    )


@kind
def field_that_is_not_known(node: Expression) -> Expression | None:
    return replace(node, field="fortnight") if isinstance(node, Extract) else None


@kind
def text_cast_to_a_date(node: Expression) -> Expression | None:
    if not isinstance(node, Comparison) or not _is_text(node.left):
        return None
    return Comparison(
        Comparator.GT, Cast(node.left, SqlType.DATE), Constant("2010-01-01", SqlType.DATE)
    )


@kind
def text_cast_to_a_name(node: Expression) -> Expression | None:
    if not isinstance(node, Comparison) or not _is_text(node.left):
        return None
    uuid = Constant("00000000-0000-0000-0000-000000000000", SqlType.UUID)
    return Comparison(Comparator.EQ, Cast(node.left, SqlType.UUID), uuid)


@kind
def date_clamped_as_a_timestamp(node: Expression) -> Expression | None:
    if not isinstance(node, Clamped) or node.type is not SqlType.DATE:
        return None
    return replace(node, type=SqlType.TIMESTAMP)


# Texts.


def _pattern(node: Expression, text: str) -> Expression | None:
    return replace(node, pattern=Constant(text, SqlType.TEXT)) if isinstance(node, Like) else None


@kind
def pattern_that_ends_with_an_escape(node: Expression) -> Expression | None:
    return _pattern(node, "a\\")


@kind
def pattern_of_many_wildcards(node: Expression) -> Expression | None:
    return _pattern(node, "%a" * (limits.PATTERN_WILDCARDS + 1))


@kind
def pattern_that_is_long(node: Expression) -> Expression | None:
    return _pattern(node, "a" * (limits.SEARCHED_BYTES + 1))


@kind
def pattern_of_an_answer(node: Expression) -> Expression | None:
    if not isinstance(node, Like):
        return None
    return replace(node, pattern=Parameter(ScalarAnswer(0), SqlType.NUMERIC))


def _called(
    node: Expression, place: int, value: Fraction | str, *functions: TextFunction
) -> Expression | None:
    if not isinstance(node, TextCall) or node.function not in functions:
        return None
    if place >= len(node.arguments):
        return None
    given = Constant(value, SqlType.TEXT if isinstance(value, str) else SqlType.INT4)
    arguments = (*node.arguments[:place], given, *node.arguments[place + 1 :])
    return replace(node, arguments=arguments)


@kind
def length_below_0(node: Expression) -> Expression | None:
    return _called(node, 1, Fraction(-1), TextFunction.SUBSTR)


@kind
def part_0(node: Expression) -> Expression | None:
    return _called(node, 1, Fraction(0), TextFunction.SPLIT_PART)


@kind
def length_beyond_an_integer(node: Expression) -> Expression | None:
    return _called(node, 0, Fraction(2**31), TextFunction.LEFT)


@kind
def trim_of_many_characters(node: Expression) -> Expression | None:
    return _called(node, 0, "x" * (limits.TRIM_CHARACTERS + 1), TextFunction.BTRIM)


@kind
def search_for_a_long_text(node: Expression) -> Expression | None:
    return _called(node, 0, "x" * (limits.SEARCHED_BYTES + 1), TextFunction.STRPOS)


@kind
def replacement_that_is_long(node: Expression) -> Expression | None:
    return _called(node, 1, "x" * (limits.REPLACEMENT_BYTES + 1), TextFunction.REPLACE)


@kind
def text_padded_to_a_long_one(node: Expression) -> Expression | None:
    return _called(node, 0, Fraction(limits.PADDED_CHARACTERS + 1), TextFunction.LPAD)


@kind
def argument_that_is_an_answer(node: Expression) -> Expression | None:
    if not isinstance(node, TextCall) or not node.arguments:
        return None
    return replace(node, arguments=(Parameter(ScalarAnswer(0), SqlType.INT4), *node.arguments[1:]))


@kind
def constant_that_is_long(node: Expression) -> Expression | None:
    return (
        replace(node, value="x" * (limits.CONSTANT_BYTES + 1))
        if isinstance(node, Constant) and node.type is SqlType.TEXT and node.value is not None
        else None
    )


# Jsonb and arrays.


@kind
def place_beyond_an_integer(node: Expression) -> Expression | None:
    if not isinstance(node, Inside) or not node.path:
        return None
    return replace(node, path=(Constant(Fraction(2**31), SqlType.INT4), *node.path[1:]))


@kind
def look_as_a_number(node: Expression) -> Expression | None:
    return (
        replace(node, type=SqlType.INT4)
        if isinstance(node, Inside) and node.look is InsideLook.TEXT
        else None
    )


@kind
def member_deeper_than_the_stack(node: Expression) -> Expression | None:
    if not isinstance(node, Inside) or node.look is not InsideLook.HOLDS:
        return None
    deep = "[" * (limits.NESTING_DEPTH + 1) + "]" * (limits.NESTING_DEPTH + 1)
    return replace(node, arguments=(Constant(deep, SqlType.JSONB),))


@kind
def look_into_what_is_no_jsonb(node: Expression) -> Expression | None:
    column = ColumnRef("ta", SqlType.TEXT_ARRAY, None, "r1")
    return (
        replace(node, operand=column)
        if isinstance(node, Inside) and node.look is InsideLook.TEXT
        else None
    )


@kind
def jsonb_as_a_text(node: Expression) -> Expression | None:
    """Of numbers such as 1e131071 a short one has a text of gigabytes."""
    if not isinstance(node, Inside) or node.operand.type is not SqlType.JSONB:
        return None
    return Cast(node.operand, SqlType.TEXT) if node.type is SqlType.TEXT else None


@kind
def function_of_jsonb(node: Expression) -> Expression | None:
    if not isinstance(node, TextCall) or not isinstance(node.operand, ColumnRef):
        return None
    return replace(node, operand=ColumnRef("j", SqlType.JSONB, None, "r1"))


@kind
def pattern_on_jsonb(node: Expression) -> Expression | None:
    if not isinstance(node, Like):
        return None
    return replace(node, operand=ColumnRef("j", SqlType.JSONB, None, "r1"))


@kind
def jsonb_put_to_a_text(node: Expression) -> Expression | None:
    if not isinstance(node, Concat):
        return None
    return replace(node, operands=(*node.operands, ColumnRef("j", SqlType.JSONB, None, "r1")))


@kind
def function_of_texts_printed(node: Expression) -> Expression | None:
    """What is computed is printed as a number."""
    is_lower = isinstance(node, TextCall) and node.function is TextFunction.LOWER
    return Cast(node, SqlType.TEXT) if is_lower else None


@kind
def look_at_a_time_of_day_as_an_interval(node: Expression) -> Expression | None:
    """It has no years, by which intervals are compared."""
    if not isinstance(node, Inside) or node.look is not InsideLook.EPOCH:
        return None
    time = ColumnRef("tod", SqlType.TIME_OF_DAY, None, "r1")
    return replace(node, look=InsideLook.COMPARED, operand=time)


@kind
def look_into_what_is_no_column(node: Expression) -> Expression | None:
    if not isinstance(node, Inside) or node.look is not InsideLook.TEXT:
        return None
    member = Inside(InsideLook.MEMBER, node.operand, node.path, (), SqlType.JSONB)
    return replace(node, operand=member)


# What is measured, counted and grouped by.


@of_block
def least_that_the_type_does_not_have(block: BlockPlan) -> BlockPlan | None:
    return first_measured(block, lambda one: replace(one, least=one.clamp.low))


@of_block
def column_called_on_the_grid(block: BlockPlan) -> BlockPlan | None:
    return first_measured(block, lambda one: None if one.on_grid else replace(one, on_grid=True))


@of_block
def index_that_no_float_holds(block: BlockPlan) -> BlockPlan | None:
    def finer(one: Measured) -> Measured | None:
        if one.clamp.low == one.clamp.high:
            return None
        return replace(one, grid=one.grid / 10**20, on_grid=False)

    return first_measured(block, finer)


@of_block
def grid_of_too_many_digits(block: BlockPlan) -> BlockPlan | None:
    def of_zero(one: Measured) -> Measured | None:
        zero = replace(one.clamp, low=Fraction(0), high=Fraction(0))
        return replace(one, clamp=zero, grid=Fraction(1, 10**5_000), on_grid=False)

    return first_measured(block, of_zero)


@of_block
def text_that_is_measured(block: BlockPlan) -> BlockPlan | None:
    text = ColumnRef("t", SqlType.TEXT, None, "r1")
    return first_measured(block, lambda one: replace(one, operand=text, on_grid=False, least=None))


@of_block
def computed_time_that_is_measured(block: BlockPlan) -> BlockPlan | None:
    def moved(one: Measured) -> Measured | None:
        operand = one.operand
        if not isinstance(operand, Clamped) or not operand.type.is_time:
            return None
        inner = Shift(operand, 0, 1, 0, operand.type)
        return replace(one, operand=replace(operand, operand=inner), on_grid=False)

    return first_measured(block, moved)


@of_block
def key_called_short(block: BlockPlan) -> BlockPlan | None:
    for number, key in enumerate(block.keys):
        if key.is_long:
            short = replace(key, is_long=False)
            return replace(block, keys=(*block.keys[:number], short, *block.keys[number + 1 :]))
    return None


@of_block
def key_of_jsonb(block: BlockPlan) -> BlockPlan | None:
    for number, key in enumerate(block.keys):
        column = next(_columns(key.expression), None)
        if column is not None and key.values is None:
            jsonb = replace(column, column="j", type=SqlType.JSONB)
            new = replace(key, expression=jsonb)
            return replace(block, keys=(*block.keys[:number], new, *block.keys[number + 1 :]))
    return None


def _distinct(block: BlockPlan, is_long: bool) -> BlockPlan | None:
    for number, release in enumerate(block.releases):
        if isinstance(release, DistinctCount) and release.is_long == is_long:
            jsonb = ColumnRef("j", SqlType.JSONB, None, "r1")
            new = replace(release, operand=jsonb, of_unit=False)
            return replace(
                block, releases=(*block.releases[:number], new, *block.releases[number + 1 :])
            )
    return None


@of_block
def distinct_jsonb(block: BlockPlan) -> BlockPlan | None:
    return _distinct(block, is_long=False)


@of_block
def distinct_numbers_called_long(block: BlockPlan) -> BlockPlan | None:
    for number, release in enumerate(block.releases):
        if isinstance(release, DistinctCount) and not release.is_long:
            column = ColumnRef("n", SqlType.NUMERIC, None, "r1")
            new = replace(release, is_long=True, operand=column)
            return replace(
                block, releases=(*block.releases[:number], new, *block.releases[number + 1 :])
            )
    return None


def _below(block: BlockPlan, change: Callable[[Relation], Relation | None]) -> BlockPlan | None:
    def down(relation: Relation) -> Relation | None:
        found = change(relation)
        if found is None and isinstance(relation, GroupByUnit | Subquery):
            source = down(relation.source)
            return None if source is None else replace(relation, source=source)
        return found

    source = down(block.source)
    return None if source is None else replace(block, source=source)


@of_block
def group_of_a_unit_by_an_array(block: BlockPlan) -> BlockPlan | None:
    def change(relation: Relation) -> Relation | None:
        if not isinstance(relation, GroupByUnit) or not isinstance(relation.source, Scan):
            return None
        array = ColumnRef("ta", SqlType.TEXT_ARRAY, None, relation.source.alias)
        return replace(relation, keys=(*relation.keys, array))

    return _below(block, change)


@of_block
def join_by_jsonb(block: BlockPlan) -> BlockPlan | None:
    def change(relation: Relation) -> Relation | None:
        if not isinstance(relation, Join) or not relation.equal:
            return None
        pair = (replace(one, column="j", type=SqlType.JSONB) for one in relation.equal[0])
        left, right = pair
        return replace(relation, equal=(*relation.equal, (left, right)))

    return _below(block, change)


@of_block
def listed_key_of_another_type(block: BlockPlan) -> BlockPlan | None:
    for number, key in enumerate(block.keys):
        kind = key.expression.type
        is_column = isinstance(key.expression, ColumnRef) and kind is not None and not kind.is_text
        if is_column and key.values is not None:
            more = replace(key, values=(*key.values, "2023-02-29"))
            return replace(block, keys=(*block.keys[:number], more, *block.keys[number + 1 :]))
    return None


@of_block
def distinct_texts_called_short(block: BlockPlan) -> BlockPlan | None:
    for number, release in enumerate(block.releases):
        if isinstance(release, DistinctCount) and release.is_long:
            short = replace(release, is_long=False)
            releases = (*block.releases[:number], short, *block.releases[number + 1 :])
            return replace(block, releases=releases)
    return None


@of_block
def sum_of_stored_numbers(block: BlockPlan) -> BlockPlan | None:
    """In a group, or a window, of the rows of a unit."""

    def change(relation: Relation) -> Relation | None:
        if isinstance(relation, GroupByUnit):
            for number, one in enumerate(relation.aggregates):
                column = None if one.operand is None else next(_columns(one.operand), None)
                if one.kind is AggregateKind.SUM and column is not None:
                    new = replace(one, operand=column)
                    aggregates = (
                        *relation.aggregates[:number],
                        new,
                        *relation.aggregates[number + 1 :],
                    )
                    return replace(relation, aggregates=aggregates)
        if isinstance(relation, GroupByUnit | Subquery):
            source = change(relation.source)
            return None if source is None else replace(relation, source=source)
        return None

    source = change(block.source)
    return None if source is None else replace(block, source=source)


@of_block
def count_cut_below_zero(block: BlockPlan) -> BlockPlan | None:
    """Then a square root of it raises, once there is a row."""

    def counts(relation: Relation) -> Relation | None:
        if isinstance(relation, GroupByUnit):
            kinds = {one.kind for one in relation.aggregates}
            return replace(relation, rows=-5) if kinds & _COUNTS else None
        if isinstance(relation, Subquery):
            windows = tuple(
                replace(one, rows=-5) if one.aggregate and one.aggregate.kind in _COUNTS else one
                for one in relation.windows
            )
            return replace(relation, windows=windows) if windows != relation.windows else None
        return None

    return _below(block, counts)
