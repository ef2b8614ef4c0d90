"""Messages that are not of their shape: the server's own answer, and the session goes on (PostgreSQL 17
documentation, section 55.2.3).

The server skips to the next Sync after an error in an extended message, of which a Flush is one.
"""

from __future__ import annotations

import pytest

from proxy.pgwire import frames
from tests.live_proxy import LiveProxy
from tests.raw_client import RawClient

_COUNT = b"SELECT count(*) FROM shop.customers"
_ASKED = (frames.parse(b"", _COUNT), frames.bind(b"", b""), frames.execute(b""))
_MALFORMED = {
    "flush": frames.frame(b"H", b"x"),
    "flush of zeros": frames.frame(b"H", bytes(4)),
    "sync": frames.frame(b"S", b"x"),
    "describe of nothing": frames.frame(b"D", b"Xname\0"),
    "describe without its end": frames.frame(b"D", b"Sname"),
    "describe with more": frames.frame(b"D", b"S\0more"),
    "close of nothing": frames.frame(b"C", b"Xname\0"),
    "close with more": frames.frame(b"C", b"S\0more"),
    "execute without its limit": frames.frame(b"E", b"\0"),
    "execute with more": frames.frame(b"E", b"\0" + bytes(8)),
    "parse without its types": frames.frame(b"P", b"\0SELECT 1\0"),
    "parse with more": frames.frame(b"P", b"\0SELECT 1\0" + bytes(6)),
    "bind without its values": frames.frame(b"B", b"\0\0"),
    "bind with more": frames.frame(b"B", b"\0\0" + bytes(12)),
    "bind without names": frames.frame(b"B", b"x"),
    "copy data": frames.frame(b"d", b"x"),
    "copy done": frames.frame(b"c", b"x"),
    "copy fail": frames.frame(b"f", b"x"),
    "query without its end": frames.frame(b"Q", b"SELECT 1"),
    "query with more": frames.frame(b"Q", b"SELECT 1\0more\0"),
}
_IGNORED = ("copy data", "copy done", "copy fail")
_ENDS = ("sync", "query without its end", "query with more")  # each with a ReadyForQuery of its own


@pytest.mark.every(11)
@pytest.mark.parametrize("name", _MALFORMED)
@pytest.mark.parametrize(
    "then", ["question", "question later", "sync", "question in the same breath"]
)
@pytest.mark.parametrize("before", ["nothing", "statement"])
def test_a_malformed_message(
    name: str, then: str, before: str, live: LiveProxy, analyst: str
) -> None:
    heard = []
    for dsn in (live.dsn(analyst=analyst), live.direct_dsn()):
        through = dsn == live.dsn(analyst=analyst)
        asked = _ASKED if through else (frames.parse(b"", b"SELECT 1"), *_ASKED[1:])
        first = b"" if before == "nothing" else b"".join([*asked, frames.SYNC])
        with RawClient(dsn) as client:
            if first:
                client.send(first)
                client.until_ready()
            sent, ends = _MALFORMED[name], name in _ENDS
            answers = []
            match then:
                case "question later":  # when the error has been seen
                    client.send(sent)
                    if name not in _IGNORED:
                        answers = client.until(b"E")
                    client.send(*asked, frames.SYNC)
                case "question":
                    client.send(sent)
                    client.send(*asked, frames.SYNC)
                case "sync":
                    client.send(sent, frames.SYNC)
                case _:
                    client.send(*asked, sent, *asked, frames.SYNC)
            answers += client.until_ready(1 + ends)
            client.send(*asked, frames.SYNC)  # the session goes on
            answers += client.until_ready()
            heard.append([_shown(tag, payload) for tag, payload in answers if tag != b"S"])
    assert heard[0] == heard[1]


def _shown(tag: bytes, payload: bytes) -> bytes:
    if tag == b"E":
        return dict(frames.decode_report(payload))[b"C"]
    return tag


_FAILS = (
    b"ROLLBACK TO s",
    b"SELECT 1 / 0",
    b"SELECT '#', count(*) / 0 FROM shop.customers, shop.orders",
)
_PARSED = frames.parse(
    b"held", b"SELECT count(*) FROM shop.orders WHERE total > $1 AND status = 'x'"
)


@pytest.mark.parametrize("fails", _FAILS)
@pytest.mark.parametrize("at_once", [False, True])
def test_the_portal_of_a_query_that_failed_is_gone(
    fails: bytes, at_once: bool, live: LiveProxy, analyst: str
) -> None:
    """PostgreSQL has it in memory that is free: its Execute would end all sessions of the server."""
    steps = [
        [frames.query(b"BEGIN")],
        [frames.query(fails)],
        [_PARSED, frames.SYNC],
        [frames.execute(b""), frames.SYNC],
        [frames.query(b"ROLLBACK")],
        [frames.bind(b"", b"held"), frames.execute(b""), frames.SYNC],
    ]
    with live.direct() as other, RawClient(live.dsn(analyst=analyst)) as client:
        if at_once:
            client.send(*(frame for step in steps for frame in step))
        heard = []
        for step in steps:
            if not at_once:
                client.send(*step)
            heard += client.until_ready()
        errors = [dict(frames.decode_report(payload)) for tag, payload in heard if tag == b"E"]
        assert [error[b"C"] for error in errors][-3:] == [b"25P02", b"34000", b"26000"]
        assert [payload for tag, payload in heard if tag == b"Z"][3:] == [b"E", b"I", b"I"]
        assert other.execute("SELECT 1").fetchone() == (1,)
