"""`dpproxy serve` ends as balancers and clients expect: told first, closed then, with time for what runs."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.cli.commands import Serving, dpproxy, serving
from tests.cli.recovery import sleeping
from tests.machine_speed import allowed_wait
from tests.samples import SHOP_POLICY
from tests.servers_fixture import servers
from tests.waiting import until

pytestmark = pytest.mark.timed
_PASSWORD = "pass word"
_LOGIN = ("erin", _PASSWORD)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("draining")
    of = ("--state", folder / "state")
    adopted = dpproxy(
        "ledger", "adopt", "--new", "--policy", SHOP_POLICY, *of, environment=_sources()
    )
    assert adopted.code == 0, adopted.err
    assert dpproxy("user", "add", "erin", "--password-stdin", *of, typed=_PASSWORD).code == 0
    return folder


def _sources() -> dict[str, str]:
    return {"SHOP_DSN": servers().source_dsns["shop"]}


@dataclass(slots=True)
class Served:
    running: Serving
    wire: str
    http: str
    state: Path

    def ready(self) -> tuple[int, str]:
        answer = httpx.get(f"{self.http}/readyz", timeout=60)
        return answer.status_code, answer.json()["status"]

    def under_way(self) -> int:
        """Statements that sleep, or wait for a lock of the protected server."""
        return sleeping(self.state) + _waiting()


def _waiting() -> int:
    with psycopg.connect(servers().protected.dsn(), autocommit=True) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        ).fetchone()
    assert row is not None
    return int(row[0])


@contextmanager
def _served(state: Path, *options: str) -> Iterator[Served]:
    arguments: list[str | Path] = [
        "serve",
        "--policy",
        SHOP_POLICY,
        "--state",
        state / "state",
        *options,
    ]
    free = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    with serving(state, [*arguments, *free], "/docs\n", _sources()) as running:
        wire = re.search(r"PostgreSQL clients: (\S+):(\d+)", running.printed)
        web = re.search(r"(http://\S+)/docs", running.printed)
        assert wire is not None and web is not None
        dsn = make_conninfo(
            host=wire[1], port=wire[2], user="erin", password=_PASSWORD, dbname="shop"
        )
        yield Served(running, dsn, web[1], state / "state")


@dataclass(slots=True)
class Sleeper:
    """A client whose statement runs while the process is told to end."""

    served: Served
    seconds: float
    over_http: bool
    statement: str = "SELECT pg_sleep({})::text AS slept"
    told: list[str] = field(default_factory=list)
    thread: threading.Thread | None = None

    def start(self) -> Sleeper:
        self.thread = threading.Thread(
            target=self._over_http if self.over_http else self._over_wire
        )
        before = self.served.under_way()
        self.thread.start()
        until(lambda: self.served.under_way() > before)
        return self

    def _over_wire(self) -> None:
        try:
            with psycopg.connect(self.served.wire, autocommit=True) as connection:
                connection.execute(self.statement.format(self.seconds).encode())
                self.told.append("answered")
        except psycopg.Error as error:
            self.told.append(f"{error.sqlstate}")

    def _over_http(self) -> None:
        body = {"database": "shop", "sql": self.statement.format(self.seconds)}
        answer = httpx.post(f"{self.served.http}/v1/query", json=body, auth=_LOGIN, timeout=60)
        told = answer.json()
        self.told.append("answered" if answer.status_code == 200 else told["sqlstate"])

    def ended(self) -> list[str]:
        assert self.thread is not None
        self.thread.join(60)
        assert not self.thread.is_alive()
        return self.told


def _end(served: Served) -> None:
    served.running.process.send_signal(signal.SIGTERM)


def test_statements_end_well_and_nobody_new_is_turned_away_within_the_delay(state: Path) -> None:
    with _served(state, "--drain-delay", "5", "--grace", "60") as served:
        assert served.ready() == (200, "ready")
        sleepers = [Sleeper(served, 7, over_http).start() for over_http in (False, True)]
        idle = psycopg.connect(served.wire, autocommit=True)
        told_at = time.monotonic()
        _end(served)
        statuses, answered = set(), 0
        while (503, "draining") not in statuses or time.monotonic() < told_at + 1.5:
            statuses.add(served.ready())
            with psycopg.connect(served.wire, autocommit=True) as connection:
                answered += connection.execute("SELECT 1").fetchone() == (1,)
            closing = httpx.get(f"{served.http}/healthz", timeout=60)
            assert closing.status_code == 200
            assert closing.headers["connection"] == "close"
        assert answered > 0 and statuses <= {(200, "ready"), (503, "draining")}
        draining = "SELECT is_draining FROM dp.status"
        assert idle.execute(draining).fetchone() == (True,), "until the listeners close"
        of = ("--state", state / "state")
        told = dpproxy("status", *of)
        assert told.code == 4 and "draining" in told.out.splitlines()[0]
        assert dpproxy("status", "--wait", "drained", *of).code == 0
        assert dpproxy("status", *of).code == 1, "the process has ended"
        assert served.running.process.wait(60) == 0
        assert [one.ended() for one in sleepers] == [["answered"], ["answered"]]
        assert time.monotonic() - told_at < allowed_wait(15, below=55), (
            "it does not wait for a grace that nobody needs"
        )
        with pytest.raises(psycopg.Error):
            idle.execute("SELECT 3")


@pytest.mark.long
def test_a_second_signal_ends_the_waiting(state: Path) -> None:
    with _served(state, "--drain-delay", "30", "--grace", "60") as served:
        sleepers = [Sleeper(served, 40, over_http).start() for over_http in (False, True)]
        told_at = time.monotonic()
        _end(served)
        while served.ready() != (503, "draining"):
            assert time.monotonic() < told_at + 25
        _end(served)
        assert served.running.process.wait(60) == 0
        assert [one.ended() for one in sleepers] == [["57P01"], ["57P01"]]
        assert time.monotonic() - told_at < allowed_wait(10, below=28)


def test_a_transaction_may_end_and_its_session_closes_then(state: Path) -> None:
    with _served(state, "--drain-delay", "0", "--grace", "60") as served:
        connection = psycopg.connect(served.wire)
        connection.execute("SELECT 1")  # begins one
        _end(served)
        time.sleep(1)
        assert connection.execute("SELECT 2").fetchone() == (2,)
        connection.commit()
        assert served.running.process.wait(50) == 0
        connection.close()


def test_after_the_grace_what_runs_is_ended_and_what_was_charged_stays_charged(state: Path) -> None:
    """The statement that is charged waits for a lock when the grace is over."""
    with (
        _served(state, "--drain-delay", "0", "--grace", "1") as served,
        psycopg.connect(servers().protected.dsn(), dbname="shop") as owner,
    ):
        owner.execute("LOCK TABLE shop.orders IN ACCESS EXCLUSIVE MODE")
        asking = Sleeper(served, 0, over_http=False, statement="SELECT count(*) FROM shop.orders")
        sleepers = [
            one.start() for one in (asking, *(Sleeper(served, 40, way) for way in (False, True)))
        ]
        told_at = time.monotonic()
        _end(served)
        assert served.running.process.wait(60) == 0
        assert [one.ended() for one in sleepers] == [["57P01"]] * 3
        assert 1 < time.monotonic() - told_at < allowed_wait(10, below=35)
    with _served(state) as served, psycopg.connect(served.wire) as connection:
        last = "SELECT outcome, epsilon > 0 FROM dp.history ORDER BY receipt DESC LIMIT 1"
        assert connection.execute(last).fetchone() == ("failed", True)
