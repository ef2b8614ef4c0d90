"""No callback of the event loop takes more than 50 ms of processor time, whatever is asked."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gc
import itertools
import json
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import psycopg
import pytest

from proxy.base.limits import STATEMENT_BYTES
from proxy.pgwire import frames
from tests.live_proxy import sample_databases, start_proxy
from tests.machine_speed import allowed_work
from tests.query.test_parser_limits import HOSTILE
from tests.raw_client import RawClient
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers.loop_watch import Watch, watched
from tests.servers_fixture import PASSWORD, servers

pytestmark = pytest.mark.timed

_LIMIT = allowed_work(0.05)


@pytest.fixture(scope="module")
def plain() -> Iterator[BothListeners]:
    """Both listeners on asyncio's own loop."""
    pair = servers()
    proxy = start_proxy(pair, sample_databases(pair), asyncio.new_event_loop())
    http = open_http(proxy)
    http.query("SELECT count(*) FROM shop.orders")
    gc.collect()
    gc.freeze()
    gc.disable()  # of the tests' own heap, as `Assembly.open` freezes the product's
    yield http
    gc.enable()
    gc.unfreeze()
    http.close()
    proxy.stop()


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch, plain: BothListeners) -> Iterator[Watch]:
    with watched(monkeypatch) as watching:
        yield watching


_COUNT = "SELECT count(*) FROM shop.orders"
_MANY = " + ".join(f"sum(quantity) FILTER (WHERE total > {n})" for n in range(60))
_LONG_IN = ", ".join(map(str, range(2_000)))
_NAMES = {"a": "id", "p": "true", "s": "status", "t": "created_at"}


def _named(text: str) -> str:
    return re.sub(r"\b[apst]\b(?!')", lambda found: _NAMES[found[0]], text)


QUERIES = {
    **{f"parser: {name}": f"{_COUNT} WHERE {_named(text)}" for name, text in HOSTILE.items()},
    "16 KiB of conditions": _COUNT
    + " WHERE "
    + " OR ".join(f"total > {n}" for n in range(1_000))[: STATEMENT_BYTES - 400].rpartition(" OR ")[
        0
    ],
    "a list": f"{_COUNT} WHERE quantity IN ({_LONG_IN})",
    "many aggregates": f"SELECT {_MANY} FROM shop.orders",
    "many groups": "SELECT floor(total), status, count(*) FROM shop.orders GROUP BY 1, 2",
    "dates": "SELECT date_trunc('day', birth_date), count(*) FROM shop.customers GROUP BY 1",
    "medians": "SELECT max(income), min(age), percentile_cont(0.5) WITHIN GROUP (ORDER BY income)"
    " FROM census.adult",
    "100,000 rows": "SELECT i, i::text, now(), i / 7.0 FROM generate_series(1, 100000) i",
    "100,000 rows too many": "SELECT i FROM generate_series(1, 200000) i",
    "wide rows": "SELECT "
    + ", ".join(f"i AS c{n}" for n in range(1_600))
    + " FROM generate_series(1, 2000) i",
    "a large value": "SELECT repeat('x', 30000000)",
    "many large values": "SELECT repeat('x', 1000000) FROM generate_series(1, 60)",
    "many columns of text": "SELECT repeat('\"', 10000) FROM generate_series(1, 3000)",
}


def _some(names: Iterable[str], first: int, of: int) -> list[Any]:
    """One in so many; the others run at night."""
    return [
        name if n % of == first else pytest.param(name, marks=pytest.mark.long)
        for n, name in enumerate(names)
    ]


# What the parser reads long is the same at both listeners: each has some of it in every run.
_PARSED = [name for name in QUERIES if name.startswith("parser: ")]
_OTHERS = [name for name in QUERIES if name not in _PARSED]


def _best_of_three(watch: Watch, act: Callable[[], None]) -> None:
    """Other tests beside add to what a callback takes, and never take away from it."""
    for _ in range(3):
        watch.reset()
        act()
        if watch.longest[0] < _LIMIT:
            return
    raise AssertionError(watch)


@pytest.mark.every(24)
@pytest.mark.parametrize("name", [*_some(_PARSED, 0, 12), *_OTHERS])
def test_http(name: str, plain: BothListeners, watch: Watch) -> None:
    database = "census" if "census." in QUERIES[name] else "shop"

    def act() -> None:
        for headers in ({}, {"Accept": "text/csv"}):
            plain.query(QUERIES[name], database=database, headers=headers)
        plain.query(QUERIES[name], database=database, path="/v1/explain")

    _best_of_three(watch, act)


@pytest.mark.every(24)
@pytest.mark.parametrize("name", [*_some(_PARSED, 6, 12), *_OTHERS])
def test_wire(name: str, plain: BothListeners, watch: Watch) -> None:
    database = "census" if "census." in QUERIES[name] else "shop"

    def act() -> None:
        for prepare in (False, True):
            with plain.proxy.connect(database) as connection, contextlib.suppress(psycopg.Error):
                connection.execute(f"{QUERIES[name]} -- {prepare}".encode(), (), prepare=prepare)

    _best_of_three(watch, act)


def _post(body: bytes, listeners: BothListeners, chunked: bool = False) -> bytes:
    token = base64.b64encode(f"{listeners.analyst}:{PASSWORD}".encode())
    head = b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += b"Connection: close\r\nAuthorization: Basic " + token + b"\r\n"
    if not chunked:
        return head + b"Content-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body
    pieces = b"".join(b"1\r\n" + body[at : at + 1] + b"\r\n" for at in range(len(body)))
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + pieces + b"0\r\n\r\n"


_BODIES: dict[str, Callable[[], bytes]] = {
    "unclosed string": lambda: b'"' + b'\\"' * 120_000,
    "numbers": lambda: json.dumps(
        {"database": "shop", "sql": "SELECT 1", "params": [1] * 80_000}
    ).encode(),
    "keys": lambda: json.dumps({str(n): 1 for n in range(20_000)}).encode(),
    "brackets": lambda: b"[" + b"[]," * 80_000 + b"1]",
    "1 MiB": lambda: b" " * 2**20,
    "parameters": lambda: json.dumps(
        {
            "database": "shop",
            "sql": "SELECT " + " + ".join(f"${n + 1}::int" for n in range(1_000)),
            "params": [1] * 1_000,
        }
    ).encode(),
}


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("name", "chunked"),
    [
        *((name, False) for name in _BODIES),
        *((name, True) for name in ("unclosed string", "1 MiB")),
        *(
            pytest.param(name, True, marks=pytest.mark.long)
            for name in _BODIES
            if name not in ("unclosed string", "1 MiB")
        ),
    ],
)
def test_bodies(name: str, chunked: bool, plain: BothListeners, watch: Watch) -> None:
    def act() -> None:
        with socket.create_connection(plain.server.address, 60) as client:
            with contextlib.suppress(OSError):  # it was told to stop, and goes on
                client.sendall(_post(_BODIES[name](), plain, chunked))
            with contextlib.suppress(ConnectionResetError):
                while client.recv(1 << 16):
                    pass

    _best_of_three(watch, act)


_BATCHES = {
    "relayed after a look": (400, "(orders,{}" + ",1" * 230),
    "long, relayed after a look": (60, "(orders,{}" + ",1" * 2_000),
    "an EXECUTE": (400, "EXECUTE q({}" + ",1" * 230 + ")"),
    "a long EXECUTE": (60, "EXECUTE q({}" + ",1" * 2_000 + ")"),
    "refused": (60, f"{_COUNT} WHERE quantity IN ({{}}{',1' * 5_000})"),
}


@pytest.mark.every(8)
@pytest.mark.parametrize(
    ("name", "as_parse"),
    [
        (name, as_parse)
        if (n % 2 == 0) is as_parse
        else pytest.param(name, as_parse, marks=pytest.mark.long)
        for n, name in enumerate(_BATCHES)
        for as_parse in (False, True)
    ],
)
def test_many_at_once(name: str, as_parse: bool, plain: BothListeners, watch: Watch) -> None:
    """Statements that come in one piece, all different."""
    count, text = _BATCHES[name]
    numbers = itertools.count()

    def act() -> None:
        sent = [text.format(next(numbers)).encode() for _ in range(count)]
        with RawClient(plain.proxy.dsn()) as client:
            if as_parse:
                client.send(b"".join(frames.parse(b"s", one) + frames.SYNC for one in sent))
            else:
                client.send(b"".join(map(frames.query, sent)))
            client.until_ready(len(sent))

    _best_of_three(watch, act)


def test_long_stored_statements(plain: BothListeners, watch: Watch) -> None:
    def act() -> None:
        with plain.proxy.connect() as connection:
            connection.execute(f"PREPARE q AS SELECT quantity IN ({_LONG_IN}) FROM shop.orders")
            with contextlib.suppress(psycopg.Error):
                connection.execute("EXECUTE q")

    _best_of_three(watch, act)


def test_large_statements(plain: BothListeners, watch: Watch) -> None:
    """Larger ones, up to the 64 MB that a message may have, are the relay's own business (pgwire)."""
    with plain.proxy.connect() as connection:
        for text in (f"{_COUNT} -- {'x' * 2**20}", f"SELECT '{'x' * 2**20}' FROM nothing"):
            with pytest.raises(psycopg.Error):
                connection.execute(text.encode())
    assert watch.longest[0] < _LIMIT, watch
