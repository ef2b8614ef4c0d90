"""A Parse leaves no transaction behind, also of a statement that dpproxy has analysed in between; formats of
Bind."""

from __future__ import annotations

import struct

import pytest

from proxy.pgwire import frames
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


_GROUPED = "SELECT status, count(*) FROM shop.orders GROUP BY status"
_PREPARED = f"PREPARE q AS {_GROUPED}"
FORMATS = {
    (0, 0, 0): "08P01",
    (1, 0, 1): "08P01",
    (7,): "22023",
    (0, 9): "22023",
    (-1,): "22023",
    (): None,
    (1,): None,
    (0, 1): None,
}


def _bound(
    dsn: str, text: str, formats: tuple[int, ...] = (), values: tuple[bytes, ...] = ()
) -> list[tuple[bytes, bytes]]:
    with RawClient(dsn) as client:
        client.send(frames.query(b"CREATE TEMP TABLE mine (id int, status text)"))
        client.until_ready()
        client.send(frames.query(_PREPARED.encode()))
        client.until_ready()
        client.send(
            frames.parse(b"s", text.encode()),
            frames.bind(b"", b"s", values, result_formats=formats),
            frames.execute(b""),
            frames.SYNC,
        )
        return client.until_ready()


def _errors(found: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    reports = [dict(frames.decode_report(payload)) for tag, payload in found if tag == b"E"]
    return [(report[b"C"], report[b"M"]) for report in reports]


@pytest.mark.every(5)
@pytest.mark.parametrize("text", [_GROUPED, "EXECUTE q"])
@pytest.mark.parametrize(("formats", "sqlstate"), FORMATS.items(), ids=str)
def test_formats_of_the_result(
    live: LiveProxy, analyst: str, text: str, formats: tuple[int, ...], sqlstate: str | None
) -> None:
    found = _bound(live.dsn(analyst=analyst), text, formats)
    assert found[-1] == (b"Z", b"I")
    of_own_table = "SELECT status, 1 FROM mine UNION ALL SELECT 'paid', 1"
    wanted = _errors(_bound(live.direct_dsn(analyst=analyst), of_own_table, formats))
    assert _errors(found) == wanted
    assert [state.decode() for state, _ in wanted] == ([sqlstate] if sqlstate else [])
    assert live.when_settled(analyst)[0] == (0 if sqlstate else 1)


def test_a_type_without_a_binary_form(live: LiveProxy, analyst: str) -> None:
    text = "SELECT NULL::aclitem, {} FROM shop.orders"
    found = _bound(live.dsn(analyst=analyst), text.format("count(*)"), (1,))
    assert _errors(found) == [(b"42883", b"no binary output function available for type aclitem")]
    assert live.spent(analyst)[0] == 0
    found = _bound(live.dsn(analyst=analyst), text.format("count(*)"), (0, 1))
    assert _errors(found) == []
    (row,) = [payload for tag, payload in found if tag == b"D"]
    assert struct.unpack("!q", row[-8:])[0] > 50_000


@pytest.mark.parametrize("made", ["COPY ({}) TO STDOUT", "CREATE TEMP TABLE made AS {}"])
def test_formats_mean_nothing_without_rows(live: LiveProxy, analyst: str, made: str) -> None:
    """As PostgreSQL has it."""
    for number, formats in enumerate(((7,), (0, 0, 0)), start=1):
        assert _errors(_bound(live.dsn(analyst=analyst), made.format(_GROUPED), formats)) == []
        assert live.when_settled(analyst)[0] == number
        own = made.format("SELECT 'paid' AS a, 1 AS b")
        assert _errors(_bound(live.direct_dsn(analyst=analyst), own, formats)) == []


@pytest.mark.parametrize("text", [f"COPY ({_GROUPED}) TO STDOUT", "EXECUTE q", _GROUPED])
def test_values_that_nothing_takes(live: LiveProxy, analyst: str, text: str) -> None:
    wanted = 'bind message supplies 1 parameters, but prepared statement "s" requires 0'
    found = _bound(live.dsn(analyst=analyst), text, values=(b"1",))
    assert _errors(found) == [(b"08P01", wanted.encode())]
    assert live.spent(analyst)[0] == 0
