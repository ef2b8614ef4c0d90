"""What a query means in a session's time zone, said so that it means the same in UTC.

The protected database computes in UTC. In another zone PostgreSQL reads times without a zone, takes timestamps
apart, truncates and compares them otherwise (PostgreSQL 17 documentation, sections 8.5.3 and 9.9): each place
where it does gets the zone that it does it by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from proxy.base.errors import Code, Refusal
from proxy.base.instants import is_in_calendar, iso_text, seconds_of
from proxy.base.sql_types import SqlType
from proxy.base.written_times import names_its_zone
from proxy.base.zones import Zone
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import position_in
from proxy.query.ir.query import AggregateBlock, changed
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Subquery, Truncate, UnionAll
from proxy.query.ir.typing_rules import ENDLESS

_LOCAL = (SqlType.DATE, SqlType.TIMESTAMP)
_HINT = "Join columns of one type, or SET TimeZone = 'UTC'."


def in_zone(block: AggregateBlock, zone: Zone) -> AggregateBlock:
    """
    Given    a block whose parameters are bound, of a session in this zone
    Refuses  UNSUPPORTED: a join or a list of a public table in which an instant meets a local time; a time
             beyond the years in which it is known how the zone's clock goes
    """

    def change(part: ir.Expression) -> ir.Expression:
        return _by_clock(part, zone)

    def again(part: ir.Expression) -> ir.Expression:
        return rebuild(part, change)

    _check_joins(block.source)
    return changed(block, again)


def zones_of(block: AggregateBlock) -> frozenset[Zone]:
    """Those that any part of it is read by."""
    found: set[Zone] = set()

    def visit(part: ir.Expression) -> ir.Expression:
        if isinstance(part, ir.Cast | ir.DateTrunc) and part.zone is not None:
            found.add(part.zone)
        if isinstance(part, ir.InPublic) and part.condition is not None:
            rebuild(part.condition, visit)
        return part

    changed(block, lambda part: rebuild(part, visit))
    return frozenset(found)


def _by_clock(part: ir.Expression, zone: Zone) -> ir.Expression:
    """One node, its operands done."""
    match part:
        case ir.Constant(value=str() as text, type=SqlType.TIMESTAMPTZ):
            is_told = (
                names_its_zone(text) or seconds_of(text) is None
            )  # beyond the years, with its zone
            return part if is_told else _instant(part, zone)
        case ir.Extract(operand=operand) if operand.type is SqlType.TIMESTAMPTZ:
            return part if part.field == "epoch" else replace(part, operand=_local(operand, zone))
        case ir.DateTrunc(zone=None):
            # date_trunc of a date is that of its midnight in the session's zone (section 9.9.2).
            return part if part.operand.type is SqlType.TIMESTAMP else replace(part, zone=zone)
        case ir.Cast(operand=operand, zone=None) if part.type.is_time:
            if operand.type is SqlType.TIMESTAMPTZ and part.type is SqlType.DATE:
                return replace(part, operand=_local(operand, zone))
            kinds = {operand.type, part.type}
            crosses = SqlType.TIMESTAMPTZ in kinds and len(kinds) > 1
            return replace(part, zone=zone) if crosses else part
        case ir.Shift() if part.type is SqlType.TIMESTAMPTZ:
            return _shifted(part, zone)
        case ir.Comparison():
            left, right = _meeting((part.left, part.right), zone)
            return replace(part, left=left, right=right)
        case ir.In():
            operand, *items = _meeting((part.operand, *part.items), zone)
            found = tuple(item for item in items if isinstance(item, ir.Constant | ir.Parameter))
            return replace(part, operand=operand, items=found)
        case ir.InPublic():
            _check_meeting(part.operand, part.output)
            inner = part.condition
            if inner is not None:
                inner = rebuild(inner, lambda one: _by_clock(one, zone))
            return replace(part, condition=inner)
        case ir.Choose():
            return replace(part, operands=_meeting(part.operands, zone))
        case ir.NullIf():
            operand, other = _meeting((part.operand, part.other), zone)
            return replace(part, operand=operand, other=other)
        case ir.Case():
            *results, otherwise = _meeting(
                (*(each for _, each in part.whens), part.otherwise), zone
            )
            whens = tuple((test, each) for (test, _), each in zip(part.whens, results, strict=True))
            return replace(part, whens=whens, otherwise=otherwise)
        case _:
            return part


def _shifted(shift: ir.Shift, zone: Zone) -> ir.Expression:
    """Months, then days, by the clock, with an instant after each (timestamp.c, timestamptz_pl_interval); what
    is less than a day by the instant."""
    found = shift.operand
    for months, days in ((shift.months, 0), (0, shift.days)):
        if months or days:
            by_clock = ir.Shift(_local(found, zone), months, days, 0, SqlType.TIMESTAMP)
            found = ir.Cast(by_clock, SqlType.TIMESTAMPTZ, zone)
    if not shift.microseconds:
        return found
    return ir.Shift(found, 0, 0, shift.microseconds, SqlType.TIMESTAMPTZ)


def _local(operand: ir.Expression, zone: Zone) -> ir.Cast:
    return ir.Cast(operand, SqlType.TIMESTAMP, zone)


def _meeting(parts: tuple[ir.Expression, ...], zone: Zone) -> tuple[ir.Expression, ...]:
    """Local times beside an instant are the instants at which the zone's clock shows them."""
    if SqlType.TIMESTAMPTZ not in {part.type for part in parts}:
        return parts
    return tuple(_instant(part, zone) if part.type in _LOCAL else part for part in parts)


def _instant(part: ir.Expression, zone: Zone) -> ir.Expression:
    if not isinstance(part, ir.Constant):
        return ir.Cast(part, SqlType.TIMESTAMPTZ, zone)
    if not isinstance(part.value, str) or part.value in ENDLESS:
        return replace(part, type=SqlType.TIMESTAMPTZ)
    local = seconds_of(part.value, is_local=True)
    at = None if local is None else zone.instant(local)
    if at is None or not zone.covers(at, at) or not is_in_calendar(at):
        raise Refusal(
            Code.UNSUPPORTED,
            f"a time before 1970 or after 2099 is not read by the clock of {zone.name}",
            "Write the time with its zone: '2026-01-31 12:00:00+00'.",
            part.position,
        )
    return replace(part, value=iso_text(at, SqlType.TIMESTAMPTZ), type=SqlType.TIMESTAMPTZ)


def _check_meeting(left: ir.Expression, right: ir.Expression) -> None:
    kinds = {left.type, right.type}
    if SqlType.TIMESTAMPTZ in kinds and kinds & set(_LOCAL):
        raise Refusal(
            Code.UNSUPPORTED,
            "a join or list of a timestamp with time zone and a date or a timestamp without one is read in UTC"
            " only",
            _HINT,
            position_in(left),
        )


def _check_joins(relation: Relation) -> None:
    for join in _joins(relation):
        for left, right in join.equal:
            _check_meeting(left, right)


def _joins(relation: Relation) -> Iterator[Join]:
    match relation:
        case Join():
            yield relation
            yield from _joins(relation.left)
            yield from _joins(relation.right)
        case Subquery() | GroupByUnit() | Truncate():
            yield from _joins(relation.source)
        case UnionAll():
            for part in relation.parts:
                yield from _joins(part)
        case _:
            return
