"""Byte for byte: what is not about protected data is answered as PostgreSQL answers it directly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proxy.pgwire import frames
from tests.raw_client import Frame, RawClient
from tests.servers.wire.conftest import Running

_CLIENTS = Path(__file__).parents[4] / "shared" / "clients"
# What differs between two direct connections, too, or changes what the other connection sees.
_MOVING = re.compile(
    r"pg_backend_pid|pg_stat_|random\(|now\(|clock_timestamp|current_timestamp|pg_sleep|pg_cancel"
    r"|pg_terminate|txid|pg_current|age\(|nextval|COPY|LISTEN|DISCARD|pg_postmaster|localtimestamp"
    r"|pg_temp|pg_my_temp|timeofday|inet_client|pg_locks|EXPLAIN|pg_prepared_statements",
    re.IGNORECASE,
)


def statements(name: str) -> list[str]:
    pieces = [piece.strip() for piece in (_CLIENTS / name).read_text().split("-- ;;\n")]
    return [
        piece
        for piece in pieces
        if piece and not (_MOVING.search(piece) or re.search(r"\borders\b", piece))
    ]


def simple(client: RawClient, text: str) -> list[Frame]:
    client.send(frames.query(text.encode()))
    return client.until_ready()


def extended(client: RawClient, text: str) -> list[Frame]:
    client.send(
        frames.parse(b"", text.encode()),
        frames.describe_statement(b""),
        frames.bind(b"", b"", result_formats=[1]),
        frames.execute(b""),
        frames.SYNC,
    )
    return client.until_ready()


_OWN = [
    "SELECT 1",
    "SELECT 1; SELECT 'two'; SELECT nosuch; SELECT 4",
    "",
    ";",
    "-- only a comment",
    "SELECT 'open",
    "SELECT \xe9",
    "VALUES (1, 'a', NULL, 1.5, true, '2020-01-01'::date, ARRAY[1,2], '{\"a\":1}'::jsonb)",
    "SET datestyle = 'German'; SELECT '2020-01-01'::date; RESET datestyle",
    "BEGIN; SELECT 1/0; SELECT 2",
    "SELECT 'still failed'",
    "ROLLBACK",
    "SELECT shop.chatty()",
    "SELECT pg_catalog.repeat('long', 200000)",
    "SELECT * FROM generate_series(1, 3000)",
    "CREATE TEMP TABLE a (b int); INSERT INTO a VALUES (1), (2); DROP TABLE a",
    "DECLARE c CURSOR FOR SELECT 1; FETCH c",
    "CREATE DATABASE nope",
    "VACUUM shop.colours",
    "SHOW ALL",
    "PREPARE x AS SELECT $1::int; EXECUTE x(3); DEALLOCATE x",
    "SELECT $1::int",
]


def test_own_statements(relay: Running) -> None:
    with RawClient(relay.shadow.conninfo()) as direct, RawClient(relay.conninfo()) as relayed:
        for text in _OWN:
            assert simple(relayed, text) == simple(direct, text), text
            assert extended(relayed, text) == extended(direct, text), text
    assert relay.engine.asked == []


@pytest.mark.skipif(not _CLIENTS.is_dir(), reason="the corpus ../shared/clients is not here")
def test_corpus_of_what_clients_send(relay: Running) -> None:
    files = sorted(path.name for path in _CLIENTS.glob("*.sql"))
    compared = 0
    for name in files:
        with RawClient(relay.shadow.conninfo()) as direct, RawClient(relay.conninfo()) as relayed:
            for text in statements(name):
                assert simple(relayed, text) == simple(direct, text), f"{name}: {text}"
                assert extended(relayed, text) == extended(direct, text), f"{name}: {text}"
                compared += 2
                for client in (direct, relayed):
                    simple(client, "ROLLBACK")
    assert compared > 300
