"""date_trunc() and casts among dates and timestamps, by the clock of a zone.

The statement runs in a session whose TimeZone is UTC: another zone is named where it counts.
"""

from __future__ import annotations

from fractions import Fraction

from proxy.base.instants import iso_text
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import MOST_DAYS
from proxy.base.zones import Zone
from proxy.compiler.binds import Binds
from proxy.query.ir.expressions import Cast, Constant, DateTrunc, Shift, TimeBin

_SECOND = 10**6
_DAY = 86_400 * _SECOND
_FIRST = -719_162 * _DAY  # 0001-01-01, in microseconds since 1970-01-01
_EARLIEST = _FIRST - MOST_DAYS * _DAY


def date_trunc_sql(date_trunc: DateTrunc, operand: str, binds: Binds) -> str:
    zone = _zone_sql(date_trunc.zone, binds)
    if date_trunc.operand.type is SqlType.DATE:
        operand = f"({operand})::timestamp AT TIME ZONE " + (zone or "'UTC'")
    by_zone = "" if zone is None or date_trunc.type is SqlType.TIMESTAMP else f", {zone}"
    return f"pg_catalog.date_trunc('{date_trunc.unit}', {operand}{by_zone})"


def cast_time_sql(cast: Cast, operand: str, binds: Binds) -> str:
    source, zone = cast.operand.type, _zone_sql(cast.zone, binds)
    if zone is None or SqlType.TIMESTAMPTZ not in (cast.type, source) or cast.type is source:
        return f"({operand})::{cast.type.sql}"
    if source is SqlType.DATE:
        operand = f"({operand})::timestamp"
    return f"(({operand}) AT TIME ZONE {zone})"


def shift_sql(shift: Shift, operand: str, binds: Binds) -> str:
    """Months, then days, then seconds, each with a sign of its own: what an interval of several parts means can
    depend on IntervalStyle. A date becomes a timestamp by the first of them."""
    if shift.type is SqlType.DATE:
        return f"({operand} + {binds.number(shift.days, 'integer')})"
    parts = [f"{shift.months} mons"] if shift.months else []
    parts += [f"{shift.days} days"] if shift.days else []
    if shift.microseconds or not parts:
        sign = "-" if shift.microseconds < 0 else ""
        whole, rest = divmod(abs(shift.microseconds), _SECOND)
        hours, seconds = divmod(whole, 3600)
        parts += [f"{sign}{hours} hours"] if hours else []
        parts += [f"{sign}{seconds}.{rest:06} seconds"] if seconds or rest or not parts else []
    for part in parts:
        operand = f"({operand} + {binds.add(part, 'interval')})"
    return operand


def time_bin_sql(time_bin: TimeBin, operand: str, binds: Binds) -> str:
    """By date_bin() from an origin before every time that is clamped and moved: of times before it the versions
    of PostgreSQL put those on an edge into different bins (timestamp.c, timestamp_bin; until 16.2)."""
    width = binds.add(f"{time_bin.width} microseconds", "interval")
    if time_bin.width % _SECOND == 0:
        width = binds.add(f"{time_bin.width // _SECOND} seconds", "interval")
    days, rest = divmod((_EARLIEST - time_bin.origin) % time_bin.width, _DAY)
    kind = time_bin.type.sql
    first = binds.add(iso_text(Fraction(_FIRST, _SECOND), time_bin.type), kind)
    before = Shift(Constant(None, time_bin.type), 0, -MOST_DAYS - days, -rest, time_bin.type)
    return f"pg_catalog.date_bin({width}, {operand}, {shift_sql(before, first, binds)})"


def _zone_sql(zone: Zone | None, binds: Binds) -> str | None:
    """None: UTC."""
    return None if zone is None or zone.is_utc else binds.add(zone.name, "text")
