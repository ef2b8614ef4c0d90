"""The longest values that PostgreSQL stores, in rows of one person: statements take little of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.kernel import checked_plan, work
from tests.audit.two_states import TwoStates, two_states
from tests.kernel.backend_seconds import backend_seconds
from tests.kernel.long_values import (
    ANSWERED,
    GONE,
    LISTED_OF_FEW,
    OF_PAIRS,
    OF_SINGLE,
    POLICY,
    SCRIPT,
)
from tests.machine_speed import allowed_work
from tests.servers_fixture import servers

pytestmark = pytest.mark.timed
_LIMIT = limits.UNIT_NANOSECONDS / 1e9


@pytest.fixture(scope="module")
def states() -> Iterator[TwoStates]:
    yield two_states(servers().protected, "work_of_long_values", SCRIPT, POLICY, GONE)


def _hold(states: TwoStates, statement: str) -> None:
    here, there = (backend_seconds(states, statement, dsn) for dsn in (states.here, states.there))
    assert here - there <= allowed_work(_LIMIT)


@pytest.mark.long
@pytest.mark.every(24)
@pytest.mark.parametrize("name", OF_PAIRS)
def test_values_that_a_join_repeats(states: TwoStates, name: str) -> None:
    try:
        states.plan(OF_PAIRS[name])
    except Refusal as refusal:
        assert refusal.code is Code.TOO_COMPLEX
        assert name not in ANSWERED
        return
    _hold(states, OF_PAIRS[name])


@pytest.mark.every(18)
@pytest.mark.parametrize("name", OF_SINGLE)
def test_a_single_very_long_text(states: TwoStates, name: str) -> None:
    assert states.plan(OF_SINGLE[name])
    _hold(states, OF_SINGLE[name])


@pytest.mark.long
@pytest.mark.every(2)
@pytest.mark.parametrize(
    "statement", [LISTED_OF_FEW, OF_PAIRS["sum of numbers"], OF_SINGLE["length"]]
)
def test_whole_values_take_longer(
    states: TwoStates, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    """Without the kernel's prices nothing is cut and nothing is refused, on a quick machine either."""
    monkeypatch.setattr(checked_plan, "check_work", lambda *_: work.UnitWork())
    here, there = (backend_seconds(states, statement, dsn) for dsn in (states.here, states.there))
    assert here > 50 * there
