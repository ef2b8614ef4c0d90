"""Random and mutated bytes and messages to a real served proxy: each session ends or answers."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from random import Random  # noqa: TID251  # seeded, and the seed is printed

import psycopg
import pytest

from proxy.pgwire.frames import (
    FLUSH,
    SYNC,
    TERMINATE,
    U32,
    bind,
    close_portal,
    close_statement,
    describe_portal,
    describe_statement,
    execute,
    frame,
    parse,
    query,
)
from tests.raw_client import RawClient
from tests.servers.served_process import ServedProcess, check_after
from tests.servers.wire.bare_connection import GSSENC_REQUEST, SSL_REQUEST, startup

SECONDS = float(os.environ.get("DPPROXY_FUZZ_SECONDS", "1200"))
_ANSWER_SECONDS = 25.0
_STARTS = 0.25  # of the sessions: bytes before the login

_TEXTS = (
    b"select count(*) from shop.orders",
    b"select count(*) from shop.orders where quantity > $1",
    b"select 1",
    b"select $1::int",
    b"selekt",
    b"begin",
    b"commit",
    b"rollback",
    b"select 1/0",
    b"select * from shop.orders",
    b"prepare z(int) as select count(*) from shop.orders where quantity > $1",
    b"execute z(3)",
    b"execute z(1/0)",
    b"execute z((array[1, 2])[generate_series(1, 2)])",
    b"deallocate all",
    b"discard all",
    b"copy (select count(*) from shop.orders) to stdout",
    b"create temp table if not exists tt(a bigint)",
    b"copy tt from stdin",
    b"insert into tt select count(*) from shop.orders",
    b"declare c cursor for select status, count(*) from shop.orders group by 1",
    b"fetch 1 c",
    b"set dp.notice = on",
    b"set dp.epsilon = 'x'",
    b"set client_encoding = 'LATIN1'",
    b"set client_encoding = 'SJIS'",
    b"select '\xc3\xa9', count(*) from shop.orders",
    b"select '\xff', count(*) from shop.orders",
    b"explain select count(*) from shop.orders",
    b"savepoint s",
    b"",
    b";",
    b"select count(*) from shop.orders; select 2; select count(*) from shop.customers",
    b"select count(*) from (select count(*) from shop.orders limit 0) x",
    b"select pg_terminate_backend(pg_backend_pid())",
    b"select dp.refuse('42501', E'x\\x1f7', null)",
    b"do $$ begin raise exception 'x' using errcode = '57P01'; end $$",
    b"select generate_series(1, 5000)",
)
_NAMES = (b"", b"a", b"b", b"_dpproxy", b"z", b"c")
_END = b"THE-END"


class _Messages:
    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def one(self) -> bytes:
        dice = self._dice
        name, text = dice.choice(_NAMES), dice.choice(_TEXTS)
        values = [dice.choice((b"1", None, b"x", b"\0\0\0\1")) for _ in range(dice.randrange(3))]
        formats = [dice.choice((0, 1)) for _ in range(dice.randrange(2))]
        oids = [dice.choice((0, 23, 25, 3802)) for _ in range(dice.randrange(3))]
        about = dice.choice((describe_statement, describe_portal, close_statement, close_portal))
        make: Callable[[], bytes] = dice.choice(
            (
                lambda: query(text),
                lambda: query(text),
                lambda: parse(name, text, oids),
                lambda: parse(name, text, oids),
                lambda: bind(dice.choice(_NAMES), name, values, formats, formats),
                lambda: bind(dice.choice(_NAMES), name, values, formats, formats),
                lambda: execute(name, dice.randrange(3)),
                lambda: about(name),
                lambda: SYNC,
                lambda: SYNC,
                lambda: FLUSH,
                lambda: frame(
                    dice.choice((b"d", b"c", b"f", b"F")), dice.randbytes(dice.randrange(8))
                ),
                lambda: _mutated(dice, parse(name, text, oids)),
                lambda: _mutated(dice, bind(b"", name, values)),
            )
        )
        return make()

    def start(self) -> bytes:
        dice = self._dice
        packet = dice.choice(
            (
                startup(user="analyst", database="shop"),
                startup(user="postgres", database="shop"),
                startup(user="analyst", database="nothing", options="-c jit=off --x -d"),
                startup(user="analyst", replication="database"),
                SSL_REQUEST,
                GSSENC_REQUEST,
                U32.pack(16) + U32.pack(80877102) + dice.randbytes(8),
                SSL_REQUEST + startup(user="analyst"),
                b"\x16\x03\x01" + dice.randbytes(40),
                dice.randbytes(dice.randrange(200)),
            )
        )
        if dice.random() < 0.5:
            packet = packet[:4] + _mutated(dice, packet[4:] or b"x", first=0)
        return packet + b"".join(self.one() for _ in range(dice.randrange(3)))


def _mutated(dice: Random, message: bytes, first: int = 5) -> bytes:
    changed = bytearray(message)
    for _ in range(dice.randrange(1, 4)):
        if len(changed) > first:
            changed[dice.randrange(first, len(changed))] = dice.randrange(256)
    return bytes(changed)


@pytest.mark.long
def test_random_sessions(tmp_path: Path) -> None:
    seed = int(os.environ.get("DPPROXY_FUZZ_SEED", time.time_ns() % 10**9))
    print(f"seed {seed}")
    dice = Random(seed)
    served = ServedProcess(tmp_path)
    messages = _Messages(dice)
    conninfo = psycopg.conninfo.make_conninfo(
        host="127.0.0.1",
        port=served.wire,
        user=served.analyst,
        password=served.password,
        dbname="shop",
        connect_timeout=round(_ANSWER_SECONDS),
    )
    ends = time.monotonic() + SECONDS
    sessions = sent = 0
    while time.monotonic() < ends:
        sessions += 1
        if dice.random() < _STARTS:
            _start(served, messages.start(), dice, f"seed {seed}, session {sessions}")
            continue
        batch = [messages.one() for _ in range(dice.randrange(3, 25))]
        sent += len(batch)
        _converse(conninfo, batch, dice, f"seed {seed}, session {sessions}")
    print(f"{sessions} sessions, {sent} messages, peak {served.peak_mebibytes():.0f} MiB")
    with psycopg.connect(conninfo) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    check_after(served)


def _start(served: ServedProcess, packet: bytes, dice: Random, which: str) -> None:
    with socket.create_connection(("127.0.0.1", served.wire), 60) as client:
        client.settimeout(_ANSWER_SECONDS)
        try:
            client.sendall(packet)
            if dice.random() < 0.8:
                client.shutdown(socket.SHUT_WR)
                while client.recv(1 << 16):
                    pass
        except TimeoutError:
            raise AssertionError(f"{which}: a hang before the login: {packet!r}") from None
        except OSError:
            pass


def _converse(conninfo: str, batch: list[bytes], dice: Random, which: str) -> None:
    with RawClient(conninfo) as client:
        client.socket.settimeout(_ANSWER_SECONDS)
        try:
            client.send(query(b"set dp.epsilon = 0.000001"))
            client.until_ready()
            if dice.random() < 0.5:
                client.send(*batch)
            else:
                for message in batch:
                    client.send(message)
            if dice.random() < 0.1:
                return  # and leaves
            end = query(b"select '" + _END + b"'")
            client.send(frame(b"c"), SYNC, SYNC, query(b"rollback"), SYNC, end, TERMINATE)
            while client.receive() is not None:
                pass
        except TimeoutError:
            raise AssertionError(f"{which}: a hang: {batch!r}") from None
        except OSError:
            pass
