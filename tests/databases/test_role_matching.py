"""The shadow's roles follow the ledger without a new connection each second."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from proxy.cli.proxy_servers import ProxyServers
from proxy.cli.watching import match_roles
from proxy.ledger.ledger_mark import MarkFile
from proxy.ledger.users import add_analyst, remove_analyst, set_password
from proxy.shadow.shadow_roles import RoleMatcher
from tests.servers_fixture import Servers
from tests.waiting import until

_WATCHING = "watching"
# Without those that looked before, which take a moment to end.
_SESSIONS = (
    "SELECT pid, datname FROM pg_stat_activity"
    f" WHERE backend_type = 'client backend' AND application_name <> '{_WATCHING}'"
)
_NAMES = itertools.count(1)


@dataclass(slots=True)
class Watched:
    """Sessions of the servers that are not of the tests."""

    pair: Servers
    before: frozenset[tuple[int, str]]

    def new(self) -> frozenset[tuple[int, str]]:
        return _sessions(self.pair) - self.before


def _sessions(pair: Servers) -> frozenset[tuple[int, str]]:
    found: set[tuple[int, str]] = set()
    for dsn in (pair.shadow_server.dsn(), pair.ledger_dsn):
        with psycopg.connect(dsn, application_name=_WATCHING) as connection:
            found |= {(pid, name) for pid, name in connection.execute(_SESSIONS).fetchall()}
    return frozenset(found)


@pytest.fixture
def watched(pair: Servers) -> Iterator[Watched]:
    yield Watched(pair, _sessions(pair))


def _matcher(pair: Servers) -> RoleMatcher:
    return RoleMatcher(pair.ledger_dsn, pair.shadow_server.dsn(), tuple(pair.policies))


def test_the_same_two_sessions_serve_every_match(watched: Watched) -> None:
    with closing(_matcher(watched.pair)) as matcher:
        matcher.match()
        first = watched.new()
        assert len(first) == 2
        for _ in range(3):
            assert matcher.match() == ()
        assert watched.new() == first
    until(lambda: not watched.new())


def test_changes_are_seen_on_a_kept_connection(pair: Servers) -> None:
    """Neither is one transaction, with one snapshot for ever."""
    name = f"kept_{next(_NAMES)}"
    with closing(_matcher(pair)) as matcher:
        matcher.match()
        add_analyst(pair.ledger_dsn, name, "x")
        assert matcher.match() == (name,)
        remove_analyst(pair.ledger_dsn, name)
        assert matcher.match() == (name,)
        assert matcher.match() == ()


def test_a_role_that_its_analyst_altered_ends_no_session(pair: Servers) -> None:
    """Whoever alters it, by words put together in a body, would end the analyst's other programs."""
    name = pair.new_analyst()
    dsn = pair.analyst_dsn("shop", name)
    with (
        closing(_matcher(pair)) as matcher,
        psycopg.connect(dsn, autocommit=True) as altering,
        psycopg.connect(dsn, autocommit=True) as other,
    ):
        matcher.match()
        for _ in range(2):
            altering.execute("ALTER ROLE CURRENT_USER PASSWORD 'mine alone'")
            with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
                psycopg.connect(dsn)
            assert matcher.match() == (name,)
            assert other.execute("SELECT 1").fetchone() == (1,)
            psycopg.connect(dsn).close()
        set_password(pair.ledger_dsn, name, "another")
        assert matcher.match() == (name,)
        for session in (altering, other):
            with pytest.raises(psycopg.OperationalError):
                session.execute("SELECT 1")


@pytest.mark.parametrize("which", ["shadow", "ledger"])
def test_a_lost_connection_is_opened_again(pair: Servers, which: str) -> None:
    server = pair.shadow_server.dsn() if which == "shadow" else pair.ledger_dsn
    watched = Watched(pair, _sessions(pair))
    with closing(_matcher(pair)) as matcher:
        matcher.match()
        kept = watched.new()
        with psycopg.connect(server, autocommit=True) as superuser:
            rows = superuser.execute(_SESSIONS).fetchall()
            (ours,) = {pid for pid, name in rows if (pid, name) in kept}
            superuser.execute("SELECT pg_terminate_backend(%s, 5000)", (ours,))
        with pytest.raises(psycopg.OperationalError):
            matcher.match()
        assert matcher.match() == ()
        assert len(watched.new()) == 2


def test_closed_while_a_match_waits(watched: Watched) -> None:
    """It ends as it would, and leaves nothing open."""
    pair = watched.pair
    matcher = _matcher(pair)
    with psycopg.connect(pair.ledger_dsn) as holder:
        holder.execute("LOCK TABLE ledger.analyst IN ACCESS EXCLUSIVE MODE")
        matching = threading.Thread(target=matcher.match)
        matching.start()
        until(lambda: _waits(pair))
        matcher.close()
        assert matching.is_alive()
    matching.join(60)
    assert not matching.is_alive()
    until(lambda: not watched.new())
    assert matcher.match() == ()  # nothing is opened any more
    assert not watched.new()


def _waits(pair: Servers) -> bool:
    with psycopg.connect(pair.ledger_dsn) as connection:
        row = connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
    return row is not None and row[0] > 0


def test_nobody_gets_a_role_while_a_shadow_is_built(watched: Watched, tmp_path: Path) -> None:
    pair = watched.pair
    servers = ProxyServers(
        ledger_dsn=pair.ledger_dsn, shadow=pair.shadow_server, embedded=(), mark=MarkFile(tmp_path)
    )

    async def serve() -> None:
        roles = asyncio.Lock()
        async with roles:
            keeping = asyncio.create_task(
                match_roles(servers, (), every_seconds=0.02, matching=roles)
            )
            await asyncio.sleep(0.5)
            assert not await asyncio.to_thread(watched.new)
        await asyncio.to_thread(until, lambda: len(watched.new()) == 2)
        keeping.cancel()
        await asyncio.wait({keeping})

    asyncio.run(serve())
    until(lambda: not watched.new())


def test_serving_keeps_two_sessions_and_closes_them(watched: Watched, tmp_path: Path) -> None:
    pair = watched.pair
    shadow = pair.shadow_server
    servers = ProxyServers(
        ledger_dsn=pair.ledger_dsn, shadow=shadow, embedded=(), mark=MarkFile(tmp_path)
    )
    seen: list[frozenset[tuple[int, str]]] = []

    async def serve() -> None:
        keeping = asyncio.create_task(match_roles(servers, (), every_seconds=0.02))
        await asyncio.to_thread(until, lambda: len(watched.new()) == 2)
        for _ in range(5):
            await asyncio.sleep(0.1)
            seen.append(await asyncio.to_thread(watched.new))
        keeping.cancel()
        await asyncio.wait({keeping})

    asyncio.run(serve())
    assert len(seen[0]) == 2
    assert seen == [seen[0]] * 5
    until(lambda: not watched.new())
