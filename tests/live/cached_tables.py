"""Tables of a database whose answers are cached, with units of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tests.live_proxy import LiveProxy

SCRIPT = """\
CREATE SCHEMA k;
CREATE TABLE k.orders (id int PRIMARY KEY, customer int NOT NULL, day date NOT NULL, region text NOT NULL,
    city text, amount numeric(8,2) NOT NULL);
INSERT INTO k.orders
SELECT n, n % 900, date '2024-01-01' + n % 300, (ARRAY['north', 'south', 'east'])[1 + n % 3],
       'city ' || n % 5, (n % 100) + 0.5
FROM generate_series(1, 2500) n;
CREATE TABLE k.people (id int PRIMARY KEY, age int, sex text);
INSERT INTO k.people SELECT n, 18 + n % 60, (ARRAY['f', 'm'])[1 + n % 2] FROM generate_series(1, 3000) n;
"""
TABLES = """\
reuse: 24h
tables:
  k.orders:
    unit: {customer: customer}
    max_rows_per_unit: auto
    rows_at_most: 1000
    max_groups_per_unit: 3
    columns:
      day: {bounds: [2024-01-01, 2024-12-31]}
      region: {values: [north, south, east]}
      city: {}
      amount: {bounds: [0, 100]}
  k.people:
    unit: row
    columns:
      age: {bounds: [0, 120]}
      sex: {values: [f, m]}
"""


@contextmanager
def without_people(proxy: LiveProxy, database: str) -> Iterator[None]:
    """Whoever reads k.people meanwhile has an error."""
    with psycopg.connect(proxy.servers.protected.dsn(database), autocommit=True) as owner:
        owner.execute("ALTER TABLE k.people RENAME TO gone")
        try:
            yield
        finally:
            owner.execute("ALTER TABLE k.gone RENAME TO people")
