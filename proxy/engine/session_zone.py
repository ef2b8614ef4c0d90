"""The time zone of a session: what a question means in it, and whether the server has the same rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.instants import seconds_of
from proxy.base.session_settings import how_to_set
from proxy.base.zones import FIRST, LAST, UTC, Zone, zone_named
from proxy.drawing.protected_reads import ProtectedSession
from proxy.planner.calendar_clamps import shifted_by
from proxy.policy.moving_bounds import bounds_on
from proxy.policy.policy_model import BoundsKind, Policy, ProtectedTable
from proxy.query.bind.time_zones import in_zone, zones_of
from proxy.query.ir.expressions import Constant, Expression, Shift
from proxy.query.ir.query import AggregateBlock, changed
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import scans

_UTC_HINT = f"{how_to_set('TimeZone', repr('UTC'))}, or write times with their zone."


def in_session_zone(block: AggregateBlock, settings: Mapping[str, str]) -> AggregateBlock:
    """
    Refuses  UNSUPPORTED: what depends on a zone that is not known here, and as bind.time_zones.in_zone
    """
    name = settings.get("TimeZone", UTC.name)
    zone = zone_named(name)
    if zone is not None:
        return block if zone.is_utc else in_zone(block, zone)
    if in_zone(block, UTC) != block:  # whichever zone it would be
        raise Refusal(
            Code.UNSUPPORTED,
            "this depends on the session's time zone, which is none of the IANA time zone database",
            how_to_set("TimeZone", "'Europe/Berlin'") + ", for example, or 'UTC'.",
        )
    return block


_GRID = 10 * 86_400  # no clock is put forward and back again within so few seconds
_BESIDE = 15 * 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class ZonesUsed:
    """period: between which times lie the constants and the public keys that they count for; None: no such, or
    no zone but UTC, which has no rules."""

    zones: frozenset[Zone]
    period: tuple[Fraction, Fraction] | None

    @property
    def have_rules(self) -> bool:
        return not all(zone.is_utc for zone in self.zones)


class ZoneRules:
    """In which times the protected server is known to have other rules of a zone than dpproxy."""

    def __init__(self) -> None:
        self._differ: dict[str, tuple[int, ...]] = {}

    async def check(self, session: ProtectedSession, used: ZonesUsed) -> None:
        """Reads nothing of anybody; asked once for a zone.

        Refuses  UNSUPPORTED: the server does not know a zone, or has other rules then; UNAVAILABLE
        """
        for zone in sorted(used.zones, key=lambda zone: zone.name):
            if zone.is_utc:
                continue
            if zone.name not in self._differ:
                self._differ[zone.name] = await _differing(session, zone)
            if used.period is None:
                continue
            low, high = used.period[0] - _BESIDE, used.period[1] + _BESIDE
            if any(low <= at <= high for at in self._differ[zone.name]):
                raise _disagree(zone)


async def _differing(session: ProtectedSession, zone: Zone) -> tuple[int, ...]:
    near = (at + beside for at, _ in zone.changes[1:] for beside in (-1, 0))
    instants = sorted({*near, *range(FIRST, LAST, _GRID)})
    offsets = await session.zone_offsets(zone.name, instants)
    if offsets is None:
        raise _disagree(zone)
    pairs = zip(instants, offsets, strict=True)
    return tuple(at for at, offset in pairs if offset != zone.offset(at))


def _disagree(zone: Zone) -> Refusal:
    return Refusal(
        Code.UNSUPPORTED,
        f"the database has other clocks for the time zone {zone.name} than the proxy",
        f"{_UTC_HINT} The operator can bring the time zone data of both up to date.",
    )


def zones_used(
    blocks: Sequence[AggregateBlock], policy: Policy, day: int | None = None
) -> ZonesUsed:
    """The zones that blocks are read by, and where their constant times and the bounds of their columns lie.

    Given    day: as of PlanningContext
    """
    zones = frozenset[Zone]().union(*map(zones_of, blocks))
    if all(zone.is_utc for zone in zones):
        return ZonesUsed(zones=zones, period=None)
    found: list[Fraction] = []
    beyond = 0

    def visit(part: Expression) -> Expression:
        nonlocal beyond
        if isinstance(part, Shift):
            beyond = max(beyond, shifted_by(part) * 86_400)
        is_time = isinstance(part, Constant) and part.type is not None and part.type.is_time
        if is_time and isinstance(part, Constant) and isinstance(part.value, str):
            at = seconds_of(part.value)
            found.extend([] if at is None else [at])
        return part

    for block in blocks:
        changed(block, lambda part: rebuild(part, visit))
        tables = [policy.tables[scan.table] for scan in scans(block.source)]
        for table in (table for table in tables if isinstance(table, ProtectedTable)):
            for column in table.columns.values():
                bounds = bounds_on(column, day)
                if bounds is not None and bounds.kind is not BoundsKind.NUMBER:
                    scale = 86_400 if bounds.kind is BoundsKind.DATE else 1
                    found += [bounds.low * scale, bounds.high * scale]
    return ZonesUsed(
        zones=zones, period=(min(found) - beyond, max(found) + beyond) if found else None
    )
