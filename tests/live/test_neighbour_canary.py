"""Statements of the hostile and of the public corpora, and variants of them with constants at the limits, tell
data with one person from data without by nothing but noise: not by shape, type or SQLSTATE, through any
interface, and not by the time that they take."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

import pytest

from proxy.base.errors import Refusal
from proxy.query.syntax.statements import Statement
from tests.live import attacks
from tests.live.neighbour_data import (
    LAB,
    PUBLIC,
    SIDES,
    WITH,
    WITHOUT,
    Neighbours,
    neighbours,
    synthetic,
)
from tests.live.neighbour_runs import Client, Interface, Seen, fits
from tests.live.neighbour_statements import Asked, is_question, originals, variants
from tests.live.neighbour_times import LEVEL, Times, distinguishable, report
from tests.live.served_database import planned as plan_of

pytestmark = pytest.mark.skipif(not attacks.PRESENT, reason=attacks.REASON)

_ACCEPTED = 400
_FEW = 20
# For a try by hand: so many statements, evenly taken from all, are timed.
_TIMED = int(os.environ.get("DPPROXY_CANARY_TIMED", _ACCEPTED))
_SLOW = "pg_sleep(0.1)::text <> ''"  # longer than most stalls of a busy machine
_RAISING = "1 / (user_id - 4242) = 1"


Clients = Mapping[str, Mapping[str, Client]]  # by data and side


@contextmanager
def _clients(of: Neighbours) -> Iterator[Clients]:
    with ExitStack() as stack:
        yield {
            data: {
                side: stack.enter_context(closing(Client(of, of.name(data, side))))
                for side in SIDES
            }
            for data in of.data
        }


@pytest.fixture(scope="module")
def lab() -> Iterator[Neighbours]:
    with neighbours("few", (LAB,)) as made:
        yield made


@pytest.fixture(scope="module")
def both() -> Iterator[Neighbours]:
    with neighbours("all", (LAB, PUBLIC)) as made:
        yield made


def _plan_of(of: Neighbours, asked: Asked) -> tuple[bool, bool]:
    """Whether it asks a protected table and can be planned, and whether its groups are private."""
    database = of.listeners.proxy.assembly.databases[of.name(asked.data, WITH)]
    if asked.values:
        return True, False
    if not is_question(asked.sql):
        return False, False
    try:
        text = database.engine.statements.split(asked.sql)[0][1]
        if not isinstance(database.engine.statements.look(text), Statement):
            return False, False
        plan = plan_of(database, text)
    except (Refusal, AssertionError):
        return False, False
    return True, any(block.selection for block in plan.blocks)


def _seen(clients: Mapping[str, Client], asked: Asked, side: str) -> dict[Interface, Seen]:
    """Through every interface that takes it."""
    found = {}
    for interface in Interface:
        if interface is not Interface.SIMPLE or asked.is_own or fits(asked):
            seen = clients[side].ask(asked, interface)
            found[interface] = replace(seen, rows=0) if asked.shaped_by_noise else seen
    return found


def _accepted(
    of: Neighbours, statements: Iterable[Asked], most: int
) -> tuple[list[Asked], list[str]]:
    """The first so many that are answered; and what differs, of them and of all that stand before."""
    found: list[Asked] = []
    different: list[str] = []
    with _clients(of) as clients:
        for asked in statements:
            if len(found) == most:
                break
            is_planned, is_private = _plan_of(of, asked) if asked.is_own else (True, False)
            asked = replace(asked, shaped_by_noise=asked.shaped_by_noise or is_private)
            here, there = (_seen(clients[asked.data], asked, side) for side in (WITH, WITHOUT))
            # What is not about a protected table may be no statement to prepare, or none for HTTP.
            is_one = not is_planned or asked.many_statements or len(set(here.values())) == 1
            if here != there or not is_one:
                different.append(f"{asked.name}: {asked.sql[:200]}\n  {here}\n  {there}")
            elif here[Interface.EXTENDED if asked.values else Interface.SIMPLE].sqlstate == "":
                found.append(asked)
            if not is_planned:  # it may have changed a session, or a role
                for client in clients[asked.data].values():
                    client.again()
    return found, different


def _distinguishable(of: Neighbours, statements: Iterable[Asked]) -> list[Times]:
    with _clients(of) as clients:
        measured, failed = [], []
        for data in of.data:
            asked = [one for one in statements if one.data == data]
            more, told = distinguishable(clients[data], asked)
            measured += more
            failed += told
    print(report(measured, failed))
    return failed


def _some_of_the_lab() -> list[Asked]:
    own = [asked for asked in originals() if asked.data == LAB]
    bases = [asked for asked in own if asked.name in ("CTL-001", "CTL-007", "CMP-025", "CMP-001")]
    return bases + list(variants(bases))[: _FEW * 2]


@pytest.mark.long
@pytest.mark.parametrize("count", [4, pytest.param(_FEW, marks=pytest.mark.long)])
def test_some_look_alike(count: int, lab: Neighbours) -> None:
    found, different = _accepted(lab, _some_of_the_lab(), count)
    assert different == []
    assert len(found) == count


def test_an_error_on_her_row_is_seen(lab: Neighbours) -> None:
    with synthetic(lab, _RAISING):
        found, (different,) = _accepted(lab, originals()[:1], 1)
    assert found == [] and different.startswith("CTL-001")


@pytest.mark.long
def test_time_on_her_row_is_seen(lab: Neighbours) -> None:
    (count,) = (asked for asked in originals() if asked.name == "CTL-001")
    with synthetic(lab, _SLOW):
        (found,) = _distinguishable(lab, [count])
    assert found.p <= LEVEL


@pytest.mark.long
def test_time_of_the_same_data_is_not(lab: Neighbours) -> None:
    (count,) = (asked for asked in originals() if asked.name == "CTL-001")
    assert _distinguishable(lab, [count]) == []


@pytest.mark.long
def test_four_hundred_look_alike_and_take_alike(both: Neighbours) -> None:
    own, different = _accepted(both, originals(), _ACCEPTED)
    more, also_different = _accepted(both, variants(own), _ACCEPTED - len(own))
    found = own + more
    print(f"{len(own)} originals are accepted, and {len(more)} variants")
    print(*different, *also_different, sep="\n")
    step = max(1, len(found) // _TIMED)
    told = _distinguishable(both, found[::step])
    assert different == also_different == []
    assert len(found) >= _ACCEPTED
    assert told == []
