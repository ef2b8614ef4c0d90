"""What is wrong with a Bind costs nothing: PostgreSQL says so before the charge, in its own words."""

from __future__ import annotations

import struct

import pytest

from proxy.pgwire import frames
from tests.live_proxy import LiveProxy
from tests.raw_client import RawClient

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
