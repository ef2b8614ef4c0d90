"""What the policy's own numbers leave out of an answer, as rules, and how many units a private key needs to
appear. How much is left out is not looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from typing_extensions import assert_never

from proxy.base.decimals import decimal_text
from proxy.base.instants import iso_text
from proxy.base.sql_types import SqlType
from proxy.engine.advice import OF_KEYS
from proxy.engine.answer_conditions import joint_rules, left_out_rows, stored_rows_matter
from proxy.engine.clipped_units import are_cut_below, is_cut_below, only_grow
from proxy.engine.unit_words import (
    aggregate_word,
    answer_name,
    counted,
    named_column,
    one_unit,
    units_word,
)
from proxy.kernel.key_plans import Selection
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    DistinctCount,
    KeptUnits,
    NoisyStatistic,
    PrivatePlan,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.mechanisms import partition_selection
from proxy.policy.policy_model import Bounds, BoundsKind
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.relations import Join, Relation, Scan, Subquery, Truncate, scans
from proxy.release.noisy_relation import NoisyTable


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRules:
    """Sentences that are told with the answers of a plan. groups: what does not fit into the groups; limits:
    what the policy's own numbers leave out. One sentence of each, if there is any."""

    groups: tuple[str, ...]
    limits: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyLimit:
    """What one limit of the policy leaves in: "at most 3 rows of a buyer".

    of: What it is for, if it is for some answers only: "in sum(total)".
    is_lower: What is cut would only make the answers larger.
    """

    text: str
    of: str = ""
    is_lower: bool


def policy_rules(plan: PrivatePlan) -> PolicyRules:
    """Say the rules by which a plan leaves rows out, each once."""
    groups = joint_rules(rule for block in plan.blocks for rule in left_out_rows(block))
    limits = dict.fromkeys(limit for block in plan.blocks for limit in policy_limits(block))
    together = "; ".join(groups)
    return PolicyRules(
        groups=(f"{together[0].upper()}{together[1:]}.",) if groups else (),
        limits=tuple(limits_text(tuple(limits))),
    )


def limits_text(limits: Sequence[PolicyLimit]) -> Iterator[str]:
    """Say all limits in one sentence."""
    lower = _together([one for one in limits if one.is_lower])
    others = _together([one for one in limits if not one.is_lower])
    if not lower and not others:
        return
    larger = ", so the true number can only be larger"
    if not others:
        yield f"{_STEM}: {lower}{larger}."
    elif not lower:
        yield f"{_STEM}: {others}."
    else:
        yield f"{_STEM}: {lower}{larger}; {others}."


def _together(limits: Sequence[PolicyLimit]) -> str:
    """Each limit once, with all that it is for."""
    found: dict[str, list[str]] = {}
    for one in limits:
        found.setdefault(one.text, []).append(one.of)
    return ", ".join(_with_names(text, list(filter(None, of))) for text, of in found.items())


def _with_names(text: str, of: Sequence[str]) -> str:
    return f"{text} in {' and '.join(dict.fromkeys(of))}" if of else text


def policy_limits(block: BlockPlan) -> Iterator[PolicyLimit]:
    """Give each limit of the policy that can leave rows out of an answer."""
    unit = one_unit(block)
    yield from _limits_on_rows(block, unit)
    for number, release in enumerate(block.releases):
        if isinstance(release, NoisyStatistic) and release.total and not release.total.choice:
            most = _number(release.total.most * release.grid)
            of = _names(block, frozenset({number}), release.aggregate)
            text, is_lower = f"at most {most} of {unit}", not release.is_signed
            yield PolicyLimit(text=text, of=of, is_lower=is_lower)
    for aggregate, kept in block.kept_totals:
        most = _number(max(abs(kept.low), abs(kept.high)))
        of = _name_of(block, aggregate)
        is_lower = is_cut_below(aggregate, kept)
        yield PolicyLimit(text=f"at most {most} of {unit}", of=of, is_lower=is_lower)
    is_lower = bool(block.clamped) and are_cut_below(block)
    for column, bounds in block.clamped:
        yield PolicyLimit(text=f"{column} {_counts_within(bounds)}", is_lower=is_lower)
    told = block.neighbours.column.column if isinstance(block.neighbours, UnitNeighbours) else ""
    for text in dict.fromkeys(_limits_on_joins(block, block.source, told)):
        yield PolicyLimit(text=text, is_lower=False)


_STEM = "The error does not cover these limits of the policy"


def _names(block: BlockPlan, releases: frozenset[int], aggregate: Aggregate) -> str:
    """The answers that are made of a release. Two sums of expressions have no other name than their columns."""
    if _has_name(aggregate):
        return aggregate_word(aggregate)
    numbers = [n for n, one in enumerate(block.answers, start=1) if releases & {*one.releases}]
    return " and ".join(dict.fromkeys(answer_name(block, number) for number in numbers))


def _name_of(block: BlockPlan, aggregate: Aggregate) -> str:
    numbers = [n for n, one in enumerate(block.answers, start=1) if one.aggregate == aggregate]
    if _has_name(aggregate) or not numbers:
        return aggregate_word(aggregate)
    return answer_name(block, numbers[0])


def _has_name(aggregate: Aggregate) -> bool:
    """Whether it is called by its column, or needs none."""
    return aggregate.operand is None or named_column(aggregate) is not None


def _counts_within(bounds: Bounds) -> str:
    """What values beyond bounds count as."""
    smaller, larger = "earlier", "later"
    if bounds.kind is BoundsKind.NUMBER:
        smaller, larger = "less", "more"
    low, high = (limit_text(end, bounds.kind) for end in (bounds.low, bounds.high))
    return f"{smaller} than {low} counts as {low}, {larger} than {high} as {high}"


def _number(number: Fraction) -> str:
    """
    >>> _number(Fraction(5000)), _number(Fraction(5, 2))
    ('5,000', '2.5')
    """
    return f"{number.numerator:,}" if number.denominator == 1 else decimal_text(number)


def limit_text(number: Fraction, kind: BoundsKind) -> str:
    """A bound as sentences write it."""
    return _number(number) if kind is BoundsKind.NUMBER else bound_text(number, kind)


def bound_text(number: Fraction, kind: BoundsKind) -> str:
    """A bound as the policy writes it.

    >>> bound_text(Fraction(19_000), BoundsKind.DATE), bound_text(Fraction(5, 2), BoundsKind.NUMBER)
    ('2022-01-08', '2.5')
    """
    match kind:
        case BoundsKind.NUMBER:
            return decimal_text(number)
        case BoundsKind.DATE:
            return iso_text(number, SqlType.DATE)
        case BoundsKind.TIMESTAMP:
            return (
                iso_text(number, SqlType.TIMESTAMP)
                .removesuffix(".000000")
                .removesuffix(" 00:00:00")
            )
        case _:
            assert_never(kind)


def _limits_on_rows(block: BlockPlan, unit: str) -> Iterator[PolicyLimit]:
    neighbours = block.neighbours
    if not isinstance(neighbours, UnitNeighbours) or neighbours.is_unbounded:
        return
    is_of_all_groups = all(isinstance(one, DeviationMean) for one in block.releases)
    if neighbours.groups is not None and not is_of_all_groups:
        is_lower = only_grow(block, range(len(block.releases)))
        yield PolicyLimit(
            text=f"at most {counted(neighbours.groups, 'group')} of {unit}", is_lower=is_lower
        )
    bounded = [n for n, release in enumerate(block.releases) if _is_bounded(block, n, release)]
    if not bounded:
        return
    is_lower = only_grow(block, bounded)
    if neighbours.rows_per_group is not None and not neighbours.is_summed:
        text = f"at most {counted(neighbours.rows_per_group, 'row')} of {unit} in each group"
        yield PolicyLimit(text=text, is_lower=is_lower)
    elif neighbours.is_summed and not block.chooses_rows:
        yield PolicyLimit(
            text=f"at most {counted(neighbours.rows, 'row')} of {unit}", is_lower=is_lower
        )


def _is_bounded(block: BlockPlan, number: int, release: Release) -> bool:
    """Whether an answer takes the rows that the limit leaves."""
    is_of_all_rows = isinstance(release, UnitExtreme | KeptUnits | DeviationMean | SampleAggregate)
    if is_of_all_rows or number in block.choices or number in block.weighted:
        return False
    if isinstance(release, NoisyStatistic) and release.total is not None:
        return False
    return not (isinstance(release, DistinctCount) and release.of_unit)


def _limits_on_joins(block: BlockPlan, relation: Relation, told: str) -> Iterator[str]:
    """told: the column of the unit, if its limit is told already."""
    match relation:
        case Truncate():
            column, most = "" if relation.by is None else relation.by.column, relation.most
            is_policys = most is not None and not relation.below_join
            if most == block.most_stored and not stored_rows_matter(block):
                is_policys = False
            if column not in ("", told) and is_policys:
                table = next(scans(relation)).table.name
                yield f"at most {counted(most or 0, 'row')} of each {column} in {table} joined"
            yield from _limits_on_joins(block, relation.source, told)
        case Join():
            yield from _limits_on_joins(block, relation.left, told)
            yield from _limits_on_joins(block, relation.right, told)
        case Subquery():
            yield from _limits_on_joins(block, relation.source, told)
        case Scan() | _:
            return


# How many units a private key needs to appear, and what is reported where none has: public numbers only.

_CACHED = 64
_HALF, _MOST = Fraction(1, 2), Fraction(19, 20)


def units_needed(selection: Selection) -> dict[str, int]:
    """With so many units a group appears half of the time, and in 95 of 100 answers."""
    return {"half": _needed(selection, _HALF), "most": _needed(selection, _MOST)}


def threshold_text(selection: Selection) -> str:
    half, most = _needed(selection, _HALF), _needed(selection, _MOST)
    return f"half of those with {half}, 95 % of those with {most}"


def small_groups(block: BlockPlan, noisy: NoisyTable) -> str | None:
    """Say which groups of private keys are missing; None if keys are public, or if no group is there."""
    if block.selection is None or not noisy.rows:
        return None
    units = units_word(block)
    half, most = _needed(block.selection, _HALF), _needed(block.selection, _MOST)
    return (
        f"Small groups are missing: of those with {half:,} {units} half are there, of those with {most:,} 95 of"
        " 100."
    )


def no_group(block: BlockPlan, noisy: NoisyTable) -> str | None:
    """What is reported of an answer of private keys without any group; None where there are some. From what is
    released alone: whether the data has no rows or none with enough units is not known here."""
    if block.selection is None or noisy.rows:
        return None
    neighbours = block.neighbours
    is_row = isinstance(neighbours, RowNeighbours) and neighbours.not_null is None
    of = "rows" if is_row else "units"
    half, most = _needed(block.selection, _HALF), _needed(block.selection, _MOST)
    return (
        f"GROUP BY gives no group: its keys are private, and a key needs {half} {of} to appear half of the "
        f"time, {most} to appear in 95 of 100 answers. {OF_KEYS} or ask the"
        f" data owner for `values` of the key, which are all answered."
    )


@lru_cache(maxsize=_CACHED)
def _needed(selection: Selection, chance: Fraction) -> int:
    return partition_selection.units_for(
        chance, selection.each.epsilon, selection.each.delta, selection.fewest
    )
