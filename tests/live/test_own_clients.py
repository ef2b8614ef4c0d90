"""Statements in the forms that tools generate (tests/golden/clients_own.jsonl), over tables of our own: each
through the served proxy at a large epsilon, beside PostgreSQL's own answer on the same tables.

Written after what Metabase, Tableau, Looker, Cube, dbplyr, Grafana, Malloy, groupdate, Evidence and Redash make
of a question. `labels`: places of columns of numbers that are keys; other numbers are noisy.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.live.served_alone import served_alone
from tests.live_proxy import LiveProxy

pytestmark = pytest.mark.long
ANSWERED = 147  # all of them
_FILE = Path(__file__).parents[1] / "golden" / "clients_own.jsonl"
_NUMBERS = frozenset({20, 21, 23, 700, 701, 1700})
_SCRIPT = """\
CREATE SCHEMA store;
CREATE TABLE store.products (id int PRIMARY KEY, title text NOT NULL, category text NOT NULL, price int);
INSERT INTO store.products
SELECT n, 'product ' || n, (ARRAY['books','books','books','games','games','music'])[1 + n % 6], n
FROM generate_series(1, 48) n;
CREATE TABLE store.people (id int PRIMARY KEY, state text NOT NULL, plan text NOT NULL, born date NOT NULL);
INSERT INTO store.people
SELECT n, (ARRAY['CA','CA','NY','TX'])[1 + n % 4],
       (ARRAY['free','free','free','basic','basic','pro'])[1 + n % 6],
       date '1955-01-15' + 5 * n
FROM generate_series(1, 3200) n;
CREATE TABLE store.sales (
    id int PRIMARY KEY, person_id int NOT NULL REFERENCES store.people, product_id int NOT NULL
    REFERENCES store.products, amount numeric(8,2) NOT NULL, quantity int NOT NULL, status text NOT NULL,
    at timestamptz NOT NULL, placed timestamp NOT NULL, day date NOT NULL, rating int, note text);
INSERT INTO store.sales
SELECT n, 1 + n % 3000, 1 + n % 48, least(n::bigint * 7919 % 21000 / 100.0, 200),
       (ARRAY[1,1,1,1,2,2,2,3,3,5])[1 + n % 10],
       (ARRAY['paid','paid','paid','paid','sent','sent','refunded'])[1 + n % 7], t, t AT TIME ZONE 'UTC',
       (t AT TIME ZONE 'UTC')::date,
       CASE WHEN n % 4 < 3 THEN 1 + n % 3 END, 'note ' || n
FROM generate_series(0, 59999) n, LATERAL (
    SELECT timestamptz '2024-01-01 00:00:30+00'
           + n * (greatest(now(), '2026-07-01') - '2024-01-01') / 60000) g(t);
"""
_TABLES = """\
tables:
  store.people:
    unit: {person: id}
    max_rows_per_unit: 1
    columns:
      state: {values: [CA, NY, TX]}
      plan: {values: [free, basic, pro]}
      born: {bounds: [1950-01-01, 2005-12-31]}
  store.sales:
    unit: {person: person_id}
    max_rows_per_unit: 20
    columns:
      id: {}
      product_id: {references: store.products.id}
      amount: {bounds: [0, 200]}
      quantity: {bounds: [1, 5], values: [1, 2, 3, 5]}
      status: {values: [paid, sent, refunded]}
      at: {bounds: ["2024-01-01 00:00:00", "2040-01-01 00:00:00"]}
      placed: {bounds: ["2024-01-01 00:00:00", "2040-01-01 00:00:00"]}
      day: {bounds: [2024-01-01, 2040-01-01]}
      rating: {bounds: [1, 3], values: [1, 2, 3, null]}
  store.products: public
"""


def statements() -> list[dict[str, Any]]:
    return [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]


store = served_alone("store", _SCRIPT, _TABLES, "best")


def test_the_corpus_is_whole() -> None:
    found = statements()
    assert len({one["id"] for one in found}) == len(found) >= 140
    assert len({one["tool"] for one in found}) == 10
    assert {one["expect"] for one in found} == {"answer", "reject"}


def test_as_postgresql_answers(store: LiveProxy) -> None:
    refused: list[tuple[str, str]] = []
    wrong: list[tuple[str, str]] = []
    answered = Counter[str]()
    with psycopg.connect(store.servers.protected.dsn("store"), autocommit=True) as direct:
        for one in statements():
            outcome = _outcome(store, direct, one)
            if outcome is None:
                answered[one["tool"]] += one["expect"] == "answer"
            elif outcome.startswith("refused: "):
                refused.append((one["id"], f"{one['kind']}: {outcome}"))
            else:
                wrong.append((one["id"], outcome))
    print(f"answered {answered.total()} of {sum(o['expect'] == 'answer' for o in statements())}")
    for name, text in (*refused, *wrong):
        print(f"{name} {text}")
    assert wrong == []
    assert answered.total() >= ANSWERED


def _outcome(store: LiveProxy, direct: psycopg.Connection[Any], one: dict[str, Any]) -> str | None:
    """None: as expected."""
    direct.execute("SET TimeZone = 'UTC'")
    exact = direct.execute(one["sql"].encode())
    with store.connect("store", analyst=store.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 100")
        connection.execute("SET TimeZone = 'UTC'")
        try:
            noisy = connection.execute(one["sql"].encode())
        except psycopg.Error as error:
            if one["expect"] == "reject":
                return None
            return f"refused: {error.diag.message_primary} / {error.diag.message_hint}"
        if one["expect"] == "reject":
            return "answered, though it asks for rows"
        shapes = [
            [(c.name, c.type_code) for c in cursor.description or ()] for cursor in (noisy, exact)
        ]
        if shapes[0] != shapes[1]:
            return f"columns {shapes[0]}, of PostgreSQL {shapes[1]}"
        labels = one.get("labels", ())
        keys = [i for i, (_, kind) in enumerate(shapes[1]) if kind not in _NUMBERS or i in labels]
        return _compared(noisy.fetchall(), exact.fetchall(), keys)


def _compared(noisy: Sequence[Any], exact: Sequence[Any], keys: Sequence[int]) -> str | None:
    ours, theirs = ({tuple(row[i] for i in keys): row for row in rows} for rows in (noisy, exact))
    if len(ours) != len(noisy):
        return "groups that are alike"
    if fewer := theirs.keys() - ours.keys():
        return f"groups: {sorted(map(str, fewer))[:4]} missing"
    for key in ours.keys() - theirs.keys():  # a public key without rows is answered, too
        numbers = [v for i, v in enumerate(ours[key]) if i not in keys and v is not None]
        if any(abs(one) > _slack(0) for one in numbers):
            return f"{key}: {numbers}, of PostgreSQL no such group"
    for key, row in theirs.items():
        for place, (found, wanted) in enumerate(zip(ours[key], row, strict=True)):
            if place in keys:
                continue
            if (found is None) != (wanted is None):
                return f"{key}: {found} in column {place}, of PostgreSQL {wanted}"
            if wanted is not None and abs(found - wanted) > _slack(wanted):
                return f"{key}: {found} in column {place}, of PostgreSQL {wanted}"
    return None


def _slack(exact: Any) -> float:
    """More than the noise: of a sum it is hundreds, and nothing is known of what an empty group adds up."""
    return (300 if exact == 0 or abs(exact) > 250 else 6) + float(abs(exact)) / 20
