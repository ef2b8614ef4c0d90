"""date_trunc() and casts among dates and timestamps, by the clock of a zone.

The statement runs in a session whose TimeZone is UTC: another zone is named where it counts.
"""

from __future__ import annotations

from proxy.base.sql_types import SqlType
from proxy.base.zones import Zone
from proxy.compiler.binds import Binds
from proxy.query.ir.expressions import Cast, DateTrunc


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


def _zone_sql(zone: Zone | None, binds: Binds) -> str | None:
    """None: UTC."""
    return None if zone is None or zone.is_utc else binds.add(zone.name, "text")
