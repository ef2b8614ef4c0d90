"""What the rows of one person cost PostgreSQL: statements are refused, or within the limits.

Two neighbouring databases, with person 7 and without; processor time of the backend, so that other load on
the machine is not in it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import psycopg
import pytest

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.kernel import checked_plan, work
from tests.audit.two_states import TwoStates, two_states
from tests.kernel.backend_seconds import backend_seconds, run_all
from tests.kernel.costly_statements import (
    ATTACKS,
    FAMILIES,
    GONE,
    LONG_TEXTS,
    POLICY,
    SCRIPT,
    Family,
    sorted_keys,
)
from tests.machine_speed import allowed_work
from tests.servers_fixture import servers

_MOST_PARTS = 2_000
_LIMIT = limits.UNIT_NANOSECONDS / 1e9


@pytest.fixture(scope="module")
def states() -> Iterator[TwoStates]:
    yield two_states(servers().protected, "work_of_one_person", SCRIPT, POLICY, GONE)


@pytest.mark.every(5)
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_statement_that_takes_too_long_is_refused(states: TwoStates, attack: str) -> None:
    with pytest.raises(Refusal) as caught:
        states.plan(ATTACKS[attack])
    assert caught.value.code is Code.TOO_COMPLEX
    assert caught.value.hint


def test_without_the_check_it_would_berun_all(
    states: TwoStates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked_plan, "check_work", lambda *_: work.UnitWork())
    assert states.plan(ATTACKS["50 powers of a pair"])


def test_one_level_of_products_is_harmless(states: TwoStates) -> None:
    """Of 800 digits: fewer rows are read than are stored, but all that count."""
    statement = "SELECT count(*) FROM h.stores WHERE power(x + 0.5, 2.5) + power(x + 1.5, 2.5) > 9"
    (block,) = states.plan(statement).blocks
    assert block.most_stored is not None and block.most_stored >= 1000
    assert states.too_far(statement) == []


@pytest.mark.every(2)
@pytest.mark.timed
@pytest.mark.parametrize("family", [*list(FAMILIES)[:3], "products of each row"])
def test_the_dearest_that_is_accepted(states: TwoStates, family: str) -> None:
    _check_dearest(states, FAMILIES[family])


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.parametrize("family", FAMILIES)
def test_the_dearest_of_each_family(states: TwoStates, family: str) -> None:
    _check_dearest(states, FAMILIES[family])


def _check_dearest(states: TwoStates, family: Family) -> None:
    statement = _dearest(states, family)
    here, there = (backend_seconds(states, statement, dsn) for dsn in (states.here, states.there))
    assert here - there <= allowed_work(_LIMIT)


@pytest.mark.long
@pytest.mark.timed
def test_long_texts_of_the_person(states: TwoStates, monkeypatch: pytest.MonkeyPatch) -> None:
    """A join repeats them: their beginnings are looked at."""
    (block,) = states.plan(LONG_TEXTS).blocks
    assert block.text_characters is not None
    assert states.too_far(LONG_TEXTS) == []
    here, there = (backend_seconds(states, LONG_TEXTS, dsn) for dsn in (states.here, states.there))
    assert here - there <= allowed_work(_LIMIT)
    monkeypatch.setattr(checked_plan, "check_work", lambda *_: work.UnitWork())
    assert backend_seconds(states, LONG_TEXTS, states.here) > _LIMIT


def test_files_are_within_the_limit(states: TwoStates) -> None:
    """Keys of 3,200 digits, as many as are accepted, with so little memory that all of them are written."""
    statement = _dearest(states, lambda n: sorted_keys(1, n))
    written = _temporary_bytes(states, statement)
    assert 0 < written <= limits.UNIT_CARRIED_BYTES


def _dearest(states: TwoStates, family: Family) -> str:
    """The largest statement of a family that is accepted, to a twentieth."""
    found, size = None, 1
    while size < _MOST_PARTS:
        try:
            states.plan(family(size))
        except Refusal as refusal:
            assert refusal.code is Code.TOO_COMPLEX, refusal.message
            break
        found, size = size, size + max(1, size // 20)
    assert found is not None
    return family(found)


def _temporary_bytes(states: TwoStates, statement: str) -> int:
    with psycopg.connect(states.here, autocommit=True) as connection:
        connection.execute("SET work_mem = '64kB'; SET max_parallel_workers_per_gather = 0")
        connection.execute("SELECT pg_stat_force_next_flush()")
        before = _temp_bytes(connection)
        run_all(states, statement, connection)
        connection.execute("SELECT pg_stat_force_next_flush()")
        return _temp_bytes(connection) - before


def _temp_bytes(connection: psycopg.Connection) -> int:
    connection.execute("SELECT pg_stat_clear_snapshot()")
    found = connection.execute(
        "SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()"
    ).fetchone()
    assert found is not None
    return int(found[0])


@pytest.mark.timed
def test_planning_is_linear(states: TwoStates) -> None:
    """Subqueries that mention a column twice each double what PostgreSQL plans: it is added up, not walked."""
    source = "SELECT pid, x + 0.5 AS y FROM h.few"
    for level in range(20):
        source = f"SELECT pid, CASE WHEN y > 1 THEN y ELSE 2 END AS y FROM ({source}) q{level}"
    began = time.process_time()
    with pytest.raises(Refusal, match="too large together"):
        states.plan(f"SELECT count(*) FROM ({source}) q WHERE y > 7")
    assert time.process_time() - began < allowed_work(2)
