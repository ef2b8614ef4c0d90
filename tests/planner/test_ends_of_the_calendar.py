"""Times at the ends of the calendar, on clocks that pass it, are planned or refused, never a fault."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.errors import Code, Refusal
from proxy.engine.session_zone import in_session_zone
from proxy.engine.settings import read_settings
from proxy.kernel.plan import PrivatePlan
from proxy.planner.facts import PlanningContext
from proxy.planner.planning import plan
from proxy.policy.policy_model import Bounds, BoundsKind, Policy, ProtectedTable
from proxy.query.ir.binding import bind
from proxy.query.ir.query import Query
from tests.pipeline_world import CATALOG, KNOWN_PUBLIC, POLICIES, read
from tests.postgres_labels import POSTGRES_LABELS

_FIRST, _LAST = -719_162, 2_932_896  # 0001-01-01, 9999-12-31
_ALLOWED = (Code.UNSUPPORTED, Code.NO_VALUES, Code.TOO_COMPLEX, Code.NO_BOUNDS)
_ZONES = ("UTC", "<+14>-14", "<-12>+12")


def _with_bounds(low: int, high: int) -> Policy:
    policy = POLICIES["best"]

    def table(one: ProtectedTable) -> ProtectedTable:
        days = Bounds(Fraction(low), Fraction(high), BoundsKind.DATE)
        times = Bounds(days.low * 86_400, days.high * 86_400, BoundsKind.TIMESTAMP)
        own = {"d": days, "ts": times, "tz": times}
        found = {name: replace(one.columns[name], bounds=bounds) for name, bounds in own.items()}
        return replace(one, columns={**one.columns, **found})

    tables = {
        name: table(one) if isinstance(one, ProtectedTable) else one
        for name, one in policy.tables.items()
    }
    return replace(policy, tables=tables)


def _planned(sql: str, policy: Policy, zone: str) -> PrivatePlan:
    found = read(sql)
    assert found is not None
    query = found[1].query
    blocks = (in_session_zone(bind(block, {}), {"TimeZone": zone}) for block in query.blocks)
    known = PlanningContext(policy, CATALOG, KNOWN_PUBLIC, evaluating=POSTGRES_LABELS)
    wanted = read_settings({}, policy.privacy).loss
    return plan(Query(tuple(blocks), query.scalars), known, wanted)


@pytest.mark.every(3)
@pytest.mark.parametrize("key", [
    "date_trunc('year', tz)", "date_trunc('week', d)", "date_trunc('hour', tz)", "to_char(tz, 'YYYY')",
    "extract(year FROM tz)", "extract(month FROM tz)", "tz::date", "date_trunc('year', ts::timestamptz)",
    "to_char(ts::timestamptz AT TIME ZONE 'Pacific/Kiritimati', 'IYYY-IW')",
])  # fmt: skip
@pytest.mark.parametrize("where", [
    "", "WHERE tz >= '0001-01-01' AND ts < '9999-12-31'", "WHERE tz < '9999-12-31 23:00:00-12'",
    "WHERE tz > '0001-01-01 00:00:00+12' AND tz < '0001-03-01'",
])  # fmt: skip
def test_no_fault(key: str, where: str) -> None:
    sql = f"SELECT {key}, count(*) FROM people {where} GROUP BY 1"
    for days in ((10_957, 11_300), (_FIRST, _FIRST + 40), (_LAST - 40, _LAST)):
        for zone in _ZONES:
            try:
                _planned(sql, _with_bounds(*days), zone)
            except Refusal as refused:
                assert refused.code in _ALLOWED
