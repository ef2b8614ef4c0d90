"""A database that publishes: what its charts ask, and one statement of each kind; and its releases."""

from __future__ import annotations

from tests.live.cached_tables import SCRIPT
from tests.live_proxy import LiveProxy

__all__ = ["SCRIPT", "TABLES", "release_and_show"]

PUBLISH = """\
publish:
  - name: by_region
    sql: SELECT region, count(*) AS orders, sum(amount) AS turnover FROM k.orders GROUP BY region
    every: 24h
    epsilon: 2
  - name: ages
    sql: |
      SELECT sex, count(*) AS people, avg(age) AS age, max(age) AS oldest FROM k.people
      GROUP BY sex ORDER BY sex
    every: 1h
    epsilon: 3
  - name: of_year
    sql: >-
      SELECT count(*) AS n, 'since ' || date '2024-01-01' AS what
      FROM k.orders WHERE day >= make_date(2024, 1, 1)
    every: 24h
    epsilon: 1
tables:
  k.orders:
    unit: {customer: customer}
    max_rows_per_unit: 5
    max_groups_per_unit: 3
    columns:
      day: {bounds: [2024-01-01, 2024-12-31]}
      region: {values: [north, south, east]}
      amount: {bounds: [0, 100]}
  k.people:
    unit: row
    columns:
      age: {bounds: [0, 120]}
      sex: {values: [f, m]}
"""
TABLES = PUBLISH
ONE = """\
publish:
  - name: one
    sql: SELECT region, count(*) AS n FROM k.orders GROUP BY region
    every: 24h
    epsilon: 1
tables:
  k.orders:
    unit: {customer: customer}
    max_rows_per_unit: 5
    max_groups_per_unit: 3
    columns:
      region: {values: [north, south, east]}
"""
DAYS = """\
publish:
  - name: one
    sql: SELECT day AS region, count(*) AS n FROM k.orders GROUP BY day
    every: 24h
    epsilon: 1
    ranges: day
    max_days_per_unit: 3
tables:
  k.orders:
    unit: {customer: customer}
    max_rows_per_unit: 5
    columns:
      day: {bounds: [2024-01-01, 2024-12-31]}
"""


def release_and_show(proxy: LiveProxy, database: str) -> None:
    """All that is due."""
    publishing = proxy.assembly.databases[database].publishing
    assert publishing is not None
    proxy.do(publishing.release_due())
    proxy.do(publishing.show())
