"""Each aggregate over people's rows that a tool was recorded to send (../shared/clients), over tables as the
recordings had them: answered in either protocol, and with PostgreSQL's own names, types and groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from tests.live.conversing import Outcome, extended, simple
from tests.live.served_alone import served_alone
from tests.live_proxy import LiveProxy
from tests.raw_client import RawClient
from tests.servers_fixture import servers

_CLIENTS = Path(__file__).parents[3] / "shared" / "clients"
_FILES = sorted(_CLIENTS.glob("*.sql"))
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not _FILES, reason="the corpus ../shared/clients is not here"),
]
NAME = "recorded"
_TABLE = re.compile(
    r"\b(from|join)\s+(\"?shop\"?\.)?(\"?public\"?\.)?\"?(orders|customers)\b", re.I
)
_AGGREGATE = re.compile(r"\b(count|sum|avg|min|max)\s*\(|\bgroup\s+by\b", re.I)
_ONLY_EXPLAINED = re.compile(r"\s*explain\b", re.I)
SCRIPT = """\
CREATE TABLE public.customers (id int PRIMARY KEY, email text, created date);
INSERT INTO public.customers SELECT n, 'c' || n, date '2024-01-01' + n % 90 FROM generate_series(1, 3000) n;
CREATE TABLE public.orders (
    id int PRIMARY KEY, customer_id int NOT NULL REFERENCES public.customers, amount numeric(8,2) NOT NULL,
    status text NOT NULL, at timestamptz NOT NULL);
INSERT INTO public.orders
SELECT n, 1 + n % 3000, n % 10000 / 100.0, (ARRAY['paid','paid','new','sent'])[1 + n / 3000 % 4],
       timestamptz '2024-01-01 00:00:30+00' + n * (greatest(now(), '2026-07-01') - '2024-01-01') / 30000
FROM generate_series(0, 29999) n;
"""
TABLES = """\
tables:
  public.customers:
    unit: {customer: id}
    max_rows_per_unit: 1
    columns: {created: {bounds: [2024-01-01, 2024-04-01]}}
  public.orders:
    unit: {customer: customer_id}
    max_rows_per_unit: 20
    columns:
      id: {}
      amount: {bounds: [0, 100]}
      status: {values: [paid, new, sent]}
      at: {bounds: ["2024-01-01 00:00:00", "2040-01-01 00:00:00"]}
"""
_KEYS = frozenset({25, 1082, 1184})
# What is not answered, by a part of it, with the reason; and of whose groups each is one row.
REFUSED = {
    'create table "recorded"."public"."m1__dbt_tmp"': "permission denied for schema public",
    "SUM(DISTINCT (CAST(FLOOR(COALESCE(orders.amount,0)": "this form of sum is not available",
}
_OF_ROWS = re.compile(r"GROUP BY\s+id\b")


def recorded() -> Iterator[tuple[str, str]]:
    for file in _FILES:
        for piece in file.read_text(encoding="utf-8").split("-- ;;\n"):
            text = piece.strip().replace('"shop".', f'"{NAME}".')
            if _TABLE.search(text) and _AGGREGATE.search(text) and not _ONLY_EXPLAINED.match(text):
                yield file.name, text


proxy = served_alone(NAME, SCRIPT, TABLES, "best")


@pytest.fixture(scope="module")
def direct() -> Iterator[str]:
    yield make_conninfo(servers().protected.dsn(), dbname=NAME)


def test_each_is_answered(proxy: LiveProxy, direct: str) -> None:
    """But for what REFUSED names."""
    refused = set()
    asked_for = 0
    for name, text in recorded():
        for ask in (simple, extended):
            with RawClient(proxy.dsn(NAME)) as asked, RawClient(direct) as exact:
                simple(asked, "SET dp.epsilon = 50")
                got, wanted = ask(asked, text), ask(exact, text)
                simple(exact, "DROP TABLE IF EXISTS m1__dbt_tmp")
            asked_for += 1
            where = f"{name}, {ask.__name__}: {text}\n{got}\n{wanted}"
            known = [part for part in REFUSED if part in text]
            if known and got.error is not None:
                assert REFUSED[known[0]].encode() in got.error[1], where
                refused.add(known[0])
                continue
            assert got.error == wanted.error, where
            assert got.columns == wanted.columns, where
            # Public keys without rows are answered, too; of a group of one row nothing is.
            assert _OF_ROWS.search(text) or labels(got) >= labels(wanted), where
    assert refused == REFUSED.keys()
    assert asked_for >= 46


def labels(outcome: Outcome) -> set[tuple[bytes | None, ...]]:
    """Of the groups: texts, days and times."""
    of_keys = [n for n, (_, kind, _) in enumerate(outcome.columns or ()) if kind in _KEYS]
    return {tuple(row[n] for n in of_keys) for row in outcome.rows}
