"""The world of the pipeline (pipeline_world.py), its times with bounds that end with the present."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction

from proxy.catalog.catalog_model import TableName
from proxy.engine.present_slots import constants
from proxy.engine.settings import read_settings
from proxy.kernel.plan import BlockPlan
from proxy.planner.facts import PlanningContext
from proxy.planner.planning import plan
from proxy.policy.policy_model import (
    BoundsKind,
    ColumnPolicy,
    MovingBounds,
    Policy,
    ProtectedTable,
    PublicTable,
)
from proxy.query.ir.binding import bind
from proxy.query.ir.query import Query
from tests.pipeline_world import CATALOG, KNOWN_HELD, KNOWN_PUBLIC, POLICIES, read
from tests.postgres_labels import POSTGRES_LABELS

LOW = date(2018, 1, 1).toordinal() - date(1970, 1, 1).toordinal()
_SECONDS = 86_400


def day_number(day: str) -> int:
    return date.fromisoformat(day).toordinal() - date(1970, 1, 1).toordinal()


def moving_columns(grids: Mapping[str, Fraction] | None = None) -> dict[str, ColumnPolicy]:
    dates = MovingBounds(Fraction(LOW), BoundsKind.DATE)
    times = MovingBounds(Fraction(LOW * _SECONDS), BoundsKind.TIMESTAMP)
    each = {"d": dates, "ts": times, "tz": times}
    return {
        name: ColumnPolicy(name, bounds, grid=(grids or {}).get(name))
        for name, bounds in each.items()
    }


def moving_policy(base: str = "world", grids: Mapping[str, Fraction] | None = None) -> Policy:
    """All times of all protected tables begin with 2018 and end with the present."""
    policy = POLICIES[base]
    tables: dict[TableName, ProtectedTable | PublicTable] = {}
    for name, table in policy.tables.items():
        if isinstance(table, ProtectedTable):
            table = replace(table, columns={**table.columns, **moving_columns(grids)})
        tables[name] = table
    return replace(policy, tables=tables)


def planned_on(day: str | None, text: str, policy: Policy | None = None) -> BlockPlan:
    """The plan of the only block of a statement."""
    found = read(text)
    assert found is not None
    _, reading = found
    policy = policy or moving_policy()
    query = Query(tuple(bind(one, constants((), ())) for one in reading.query.blocks))
    known = PlanningContext(
        policy,
        CATALOG,
        KNOWN_PUBLIC,
        bounds=KNOWN_HELD,
        day=None if day is None else day_number(day),
        evaluating=POSTGRES_LABELS,
    )
    (block,) = plan(query, known, read_settings({}, policy.privacy).loss).blocks
    return block
