"""A Parse leaves no transaction behind, also of a statement that dpproxy has analysed in between."""

from __future__ import annotations

import pytest

from proxy.pgwire.frames import SYNC, bind, execute, parse, query
from tests.live_proxy import LiveProxy
from tests.raw_client import Frame, RawClient

_COUNT = b"SELECT count(*) FROM shop.orders"


def _states(frames: list[Frame]) -> list[bytes]:
    """What each ReadyForQuery says, and the SQLSTATE of each error."""
    found = []
    for tag, payload in frames:
        if tag == b"Z":
            found.append(payload)
        elif tag == b"E":
            found += [field[1:] for field in payload.split(b"\0") if field[:1] == b"C"]
    return found


@pytest.mark.parametrize("text", [b"SELECT 1", _COUNT])
def test_a_query_that_follows_a_parse(live: LiveProxy, text: bytes) -> None:
    with RawClient(live.dsn()) as client:
        client.send(
            parse(b"a", text), query(b"SELECT 2"), query(b"BEGIN"), SYNC, query(b"ROLLBACK")
        )
        assert _states(client.until_ready(4)) == [b"I", b"T", b"T", b"I"]


@pytest.mark.parametrize("text", [b"SELECT 1", _COUNT])
def test_a_portal_outlives_a_parse(live: LiveProxy, text: bytes) -> None:
    """Of another statement in the same pipeline, which our own end of the analysis must not take along."""
    with RawClient(live.dsn()) as client:
        client.send(parse(b"one", b"SELECT 7"), bind(b"portal", b"one", ()))
        client.send(parse(b"a", text), execute(b"portal"), SYNC)
        frames = client.until_ready()
        assert _states(frames) == [b"I"]
        assert [payload[-1:] for tag, payload in frames if tag == b"D"] == [b"7"]


@pytest.mark.parametrize("text", [b"SELECT 1", _COUNT])
def test_a_block_outlives_a_parse(live: LiveProxy, text: bytes) -> None:
    with RawClient(live.dsn()) as client:
        client.send(query(b"BEGIN"), query(b"SET LOCAL dp.epsilon = 0.25"))
        client.send(parse(b"a", text), query(b"SHOW dp.epsilon"))
        frames = client.until_ready(3)
        assert _states(frames) == [b"T", b"T", b"T"]
        assert [payload[6:] for tag, payload in frames if tag == b"D"] == [b"0.25"]
