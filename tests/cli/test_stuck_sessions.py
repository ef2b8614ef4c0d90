"""A session of the shadow that was told to end and does not: reported, and ended where it harms others."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.cli.operator_at_work import Listening, Operator, query_over_the_wire
from tests.cli.recovery import postmaster, readiness
from tests.cli.stuck_sessions import (
    READ,
    WEDGE,
    change_policy,
    coming_back,
    events,
    hang_up,
    is_alive,
    reading,
    stopped,
    wedge,
    with_public_table,
)
from tests.machine_speed import allowed_wait
from tests.waiting import until

_TAKEN = allowed_wait(25)  # about 10
_CERTAIN = allowed_wait(30)  # about 5, or 10 where one is killed
_OTHERS = allowed_wait(2)  # about 0.5, the time that a change waits for a lock
_STOP = allowed_wait(15)  # 5 for the client that is there, and what the servers take


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Operator, Listening]]:
    operator = with_public_table(tmp_path)
    operator.adopt("mallory", "bob")
    with operator.serving() as listening:
        yield operator, listening


@pytest.mark.long
@pytest.mark.timed
def test_a_change_of_the_policy_is_taken(served: tuple[Operator, Listening]) -> None:
    operator, listening = served
    before = postmaster(operator, "shadow")
    session, process = wedge(listening, "mallory", READ)
    session.close()  # the client is gone, too
    with reading(listening, "bob") as reader:
        begun = time.monotonic()
        change_policy(operator)
        hang_up(listening)
        until(lambda: bool(events(operator, "policy_taken")), _TAKEN.now())
        print(f"taken after {time.monotonic() - begun:.1f} s")
    print(f"others: {max(reader.seconds):.2f} s at most; lost {reader.lost}")
    assert max(reader.seconds) < _OTHERS, "nobody stands behind the change for seconds"
    assert not is_alive(process)
    assert postmaster(operator, "shadow") == before, "the server started itself again"
    (stuck,) = events(operator, "session_does_not_end")
    assert (stuck["analyst"], stuck["process"]) == ("mallory", process)
    assert stuck["seconds"] >= 5
    assert len(events(operator, "shadow_restarts_without_session")) == 1
    with listening.connect("bob") as bob:
        assert bob.execute(READ.encode()).fetchone() is not None, "public rows outlive it"
        rows = bob.execute("SELECT receipt FROM dp.history").fetchall()
    assert reader.receipts
    assert set(reader.receipts) <= {int(number) for (number,) in rows}, (
        "each answer has its receipt"
    )
    told = (operator.folder / "err.txt").read_text()
    log = (operator.state / "shadow" / "server.log").read_text()
    assert "/*" not in told + log and "EXECUTE" not in told + log
    until(lambda: readiness(listening)[1]["stuck_sessions"] == 0)


@pytest.mark.long
@pytest.mark.every(2)
@pytest.mark.timed
@pytest.mark.parametrize(
    "statements",
    [
        ("BEGIN", READ, "SELECT pg_sleep(1.4)", "COMMIT"),
        # In a deadlock the change would be the one that fails.
        ("BEGIN", "SELECT * FROM dp.columns", "SELECT pg_sleep(0.3)", READ, "COMMIT"),
    ],
)
def test_short_transactions_in_turn_do_not_stop_a_change(
    served: tuple[Operator, Listening], statements: tuple[str, ...]
) -> None:
    """None of them is met by two attempts, and there is always one."""
    operator, listening = served
    before = postmaster(operator, "shadow")
    with coming_back(listening, "mallory", statements, sessions=3, apart=0.47):
        time.sleep(2)
        begun = time.monotonic()
        change_policy(operator)
        hang_up(listening)
        until(lambda: bool(events(operator, "policy_taken")), _CERTAIN.now())
        print(f"taken after {time.monotonic() - begun:.1f} s")
        with listening.connect("bob") as bob:
            assert bob.execute(READ.encode()).fetchone() is not None
    assert postmaster(operator, "shadow") == before
    assert not events(operator, "shadow_restarts_without_session"), "nobody is killed who listens"
    assert {one["analyst"] for one in events(operator, "session_ended_by_share")} <= {"mallory"}


@pytest.mark.long
@pytest.mark.timed
def test_a_stuck_session_that_comes_back_is_killed_once(
    served: tuple[Operator, Listening],
) -> None:
    operator, listening = served
    statements = ("SET client_connection_check_interval = 0", "BEGIN", READ, WEDGE)
    with coming_back(listening, "mallory", statements, sessions=2):
        time.sleep(2)
        begun = time.monotonic()
        change_policy(operator)
        hang_up(listening)
        until(lambda: bool(events(operator, "policy_taken")), _CERTAIN.now())
        print(f"taken after {time.monotonic() - begun:.1f} s")
        (killed,) = events(operator, "shadow_restarts_without_session")
        assert killed["analyst"] == "mallory"
        with listening.connect("bob") as bob:
            assert bob.execute(READ.encode()).fetchone() is not None
    assert len(events(operator, "logins_wait_for_policy")) == 1
    assert len(events(operator, "policy_taken")) == 1


@pytest.mark.long
def test_who_is_removed_is_ended(served: tuple[Operator, Listening]) -> None:
    operator, listening = served
    session, process = stopped(listening, "mallory")
    with contextlib.closing(session), reading(listening, "bob") as reader:
        begun = time.monotonic()
        operator.run("user", "remove", "mallory")
        until(lambda: not is_alive(process))
        print(f"ended after {time.monotonic() - begun:.1f} s")
        answers = len(reader.seconds)
        until(lambda: len(reader.seconds) > answers + 3)
        print(f"{max(reader.seconds):.2f} s; lost {reader.lost}")
        session.close()
    (stuck,) = events(operator, "session_does_not_end")
    assert (stuck["analyst"], stuck["process"]) == ("mallory", process)
    until(lambda: any("mallory" in one["names"] for one in events(operator, "analysts_changed")))
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        listening.connect("mallory")


@pytest.mark.long
@pytest.mark.timed
def test_a_proxy_stops_soon(served: tuple[Operator, Listening]) -> None:
    operator, listening = served
    with listening.connect("bob") as bob:
        query_over_the_wire(bob)
    before = postmaster(operator, "shadow")
    left, alone = stopped(listening, "mallory")
    with contextlib.closing(left):
        # The monitor looks each second. A client that it never saw counts as a login, which may take 15 s.
        time.sleep(1.5)
    session, waited_for = stopped(listening, "mallory")
    with contextlib.closing(session):
        until(lambda: readiness(listening)[1]["stuck_sessions"] == 1)
        assert readiness(listening)[0] == 200
        (stuck,) = events(operator, "session_does_not_end")
        assert (stuck["analyst"], stuck["process"]) == ("mallory", alone)
        assert is_alive(alone), "it harms nobody: sessions of others go on"
        begun = time.monotonic()
        assert listening.running.stop() == 0
        took = time.monotonic() - begun
    print(f"stopped after {took:.1f} s")
    assert took < _STOP
    for process in (before, alone, waited_for):
        assert not is_alive(process)
    assert operator.run("user", "list").out.split() == ["bob", "mallory"], "the ledger is whole"


@pytest.mark.long
def test_a_killed_proxy_leaves_no_session_behind(served: tuple[Operator, Listening]) -> None:
    operator, listening = served
    shadow = postmaster(operator, "shadow")
    session, process = stopped(listening, "mallory")
    with contextlib.closing(session):
        listening.running.process.send_signal(signal.SIGKILL)
        until(lambda: not (is_alive(process) or is_alive(shadow)))
