"""A session on the protected database takes four kinds of requests, and looks at each before it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from proxy.base.errors import Fault
from proxy.compiler.backend_query import BackendQuery
from proxy.exact.table import ExactTable
from proxy.protected.protected_connection import ProtectedConnection
from proxy.protected.protected_database import DatabaseSession, ProtectedDatabase
from tests.servers_fixture import Servers
from tests.uncharged_statements import compiled_anyhow, unpaid

T = TypeVar("T")
_SECRET = BackendQuery(
    sql="SELECT count(*) FROM shop.orders",
    parameters={},
    seeds=(),
    keys=0,
    has_sub_partition=False,
    slots=(),
    releases=(),
    scalars=(),
    units=None,
)
# As the real ones look.
_LIKE_PAID = SimpleNamespace(query=_SECRET)
_LIKE_COMPILED = compiled_anyhow(_SECRET)
_LIKE_LIST = SimpleNamespace(
    sql="SELECT 1::int8, 1::int8, max(id)::text FROM shop.orders", parameters=()
)


async def _nothing(_: ExactTable) -> str:
    return ""


def _in_session(pair: Servers, ask: Callable[[DatabaseSession], Awaitable[T]]) -> T:
    async def run() -> T:
        data = ProtectedDatabase(pair.protected.dsn("shop"), sessions_max=1)
        await data.open()
        try:
            async with data.session("") as session:
                found = await ask(session)
                await asyncio.wait({session.end()})
                return found
        finally:
            await data.close()

    return asyncio.run(run())


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is sent in the session."""
    found: list[str] = []
    send, cursor = ProtectedConnection.send, ProtectedConnection.cursor

    def noted(self: ProtectedConnection, text: bytes, values: Any) -> None:
        found.append(text.decode())
        send(self, text, values)

    def opened(self: ProtectedConnection, *given: Any, **named: Any) -> Any:
        found.append("a cursor")
        return cursor(self, *given, **named)

    monkeypatch.setattr(ProtectedConnection, "send", noted)
    monkeypatch.setattr(ProtectedConnection, "cursor", opened)
    return found


@pytest.mark.parametrize("asked", [_LIKE_PAID, _SECRET, _LIKE_COMPILED, _SECRET.sql])
def test_what_is_not_charged_is_not_run(pair: Servers, sent: list[str], asked: Any) -> None:
    async def run(session: DatabaseSession) -> None:
        before = len(sent)
        with pytest.raises(Fault, match="not charged"):
            await session.run(asked, {})
        with pytest.raises(Fault, match="not charged"):
            await session.run_in_two_parts(asked, {}, _nothing)
        assert len(sent) == before

    _in_session(pair, run)


@pytest.mark.parametrize("asked", [_LIKE_LIST, _SECRET, _SECRET.sql])
def test_what_is_no_list_of_a_public_table_is_not_read(
    pair: Servers, sent: list[str], asked: Any
) -> None:
    async def run(session: DatabaseSession) -> None:
        before = len(sent)
        with pytest.raises(Fault, match="not compiled"):
            await session.public_list(asked)
        assert len(sent) == before

    _in_session(pair, run)


@pytest.mark.parametrize("asked", [_SECRET, _LIKE_PAID, _SECRET.sql])
def test_what_was_not_compiled_is_not_analysed(pair: Servers, sent: list[str], asked: Any) -> None:
    async def run(session: DatabaseSession) -> None:
        before = len(sent)
        with pytest.raises(Fault, match="not compiled"):
            await session.understand([asked])
        assert len(sent) == before

    _in_session(pair, run)


def test_what_is_charged_is_run(pair: Servers, sent: list[str]) -> None:
    """So the others would be, if nobody looked."""

    async def run(session: DatabaseSession) -> ExactTable:
        await session.understand([compiled_anyhow(_SECRET)])
        return await session.run(unpaid(_SECRET), {})

    (row,) = _in_session(pair, run).rows
    assert row.values[0] and sent[-1] == _SECRET.sql
