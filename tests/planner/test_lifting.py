"""Which slices are groups of a larger question, and which rows a group at the end of moving bounds has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.engine.present_slots import constants
from proxy.engine.settings import read_settings
from proxy.kernel.plan import BlockPlan
from proxy.planner.facts import PlanningContext
from proxy.planner.lifting import Lift, lifted
from proxy.planner.planning import planned
from proxy.policy.policy_model import Policy, Reuse
from proxy.query.ir.binding import bind
from proxy.query.ir.expressions import ColumnRef, Expression, TextCall
from proxy.query.ir.query import Query
from tests.moving_world import day_number, moving_policy
from tests.pipeline_world import CATALOG, KNOWN_HELD, KNOWN_PUBLIC, POLICIES, read
from tests.postgres_labels import POSTGRES_LABELS

_TODAY = "2026-11-26"
_DAY = 86_400
_JOINED = "visits v JOIN members m ON v.uid = m.uid"
_MAY = "v.tz >= '2010-05-01' AND v.tz < '2010-06-01'"


def _lift(text: str, policy: Policy = POLICIES["world"]) -> Lift | None:
    found = read(text)
    assert found is not None
    _, reading = found
    query = Query(tuple(bind(one, constants((), ())) for one in reading.query.blocks))
    policy = replace(policy, reuse=Reuse(_DAY))
    known = PlanningContext(
        policy,
        CATALOG,
        KNOWN_PUBLIC,
        bounds=KNOWN_HELD,
        day=day_number(_TODAY),
        evaluating=POSTGRES_LABELS,
    )
    loss = read_settings({}, policy.privacy).loss
    (lift,) = lifted(query, planned(query, known, loss), loss)
    return lift


def _keys(block: BlockPlan) -> list[Expression]:
    return [key.expression for key in block.keys]


def test_a_slice_of_three_keys_of_two_tables() -> None:
    """Their texts are long by the catalogue, and a join repeats those of one side: these are cut, no others."""
    measured = "count(*), sum(v.i4), sum(v.n2)"
    lift = _lift(f"SELECT v.t, {measured} FROM {_JOINED} WHERE m.t = 'x' AND {_MAY} GROUP BY 1")
    assert lift is not None and lift.block.most_stored is None
    of_visits, of_members, _ = _keys(lift.block)
    assert isinstance(of_visits, ColumnRef) and isinstance(of_members, TextCall)
    assert lift.group_of(("y",)) == ("y", "x", "2010-05-01 00:00:00+00")


def _of_month(low: str, high: str | None) -> Lift | None:
    until = "" if high is None else f" AND tz < '{high}'"
    text = f"SELECT count(*) FROM people WHERE tz >= '{low}'{until}"
    return _lift(text, moving_policy())


def test_a_range_that_ended_before_the_present_is_a_group() -> None:
    lift = _of_month("2026-10-01", "2026-11-01")
    assert lift is not None
    assert lift.group_of(()) == ("2026-10-01 00:00:00+00",)


@pytest.mark.parametrize("high", [None, "2026-12-01", "2026-11-27", "2026-11-25"])
def test_a_range_with_rows_later_than_the_present_is_no_group(high: str | None) -> None:
    """They are in the range, and in no group."""
    assert _of_month("2026-11-01", high) is None
