"""EXPLAIN is equal, byte by byte, on neighbouring databases and on an empty one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.cli.demo.demo_databases import READER
from proxy.cli.explain_command import explanation
from proxy.cli.loading import CheckedPolicy, contents_of, load_policy
from proxy.cli.running import run
from proxy.cli.sample_policies import sample_policy
from tests.servers_fixture import servers

pytestmark = pytest.mark.postgres

_CUSTOMERS = {
    "explain_all": "id <= 40",
    "explain_less": "id <= 40 AND id <> 7",
    "explain_none": "false",
}
_FORMS = ("", "(VERBOSE) ", "(FORMAT JSON) ")
_STATEMENTS = (
    "SELECT count(*), sum(total), avg(total), min(total), max(total) FROM shop.orders",
    "SELECT status, count(*), stddev(total) FROM shop.orders GROUP BY status",
    "SELECT birth_date, count(*) FROM shop.customers GROUP BY 1",
    "SELECT p.category, avg(o.total) FROM shop.orders o JOIN shop.products p ON p.id = o.product_id GROUP BY 1",
    "SELECT date_trunc('month', created_at), percentile_cont(0.5) WITHIN GROUP (ORDER BY total)"
    " FROM shop.orders WHERE created_at >= '2026-01-01' GROUP BY 1",
    "SELECT avg(n) FROM (SELECT customer_id, least(count(*), 50) AS n FROM shop.orders GROUP BY 1) q",
)


def _copied(name: str, customers: str) -> None:
    """The shop with these customers and their orders, and statistics of them."""
    sample, protected = sample_policy("shop"), servers().protected
    with psycopg.connect(protected.dsn(), autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    kept = {
        "customers": f"SELECT * FROM shop.customers WHERE {customers}",
        "products": "SELECT * FROM shop.products",
        "orders": "SELECT * FROM shop.orders WHERE customer_id IN"
        f" (SELECT id FROM shop.customers WHERE {customers})",
    }
    with (
        psycopg.connect(protected.dsn("shop")) as source,
        psycopg.connect(protected.dsn(name), autocommit=True) as target,
    ):
        target.execute(sample.schema.encode())
        for table, rows in kept.items():
            with (
                source.cursor().copy(f"COPY ({rows}) TO STDOUT".encode()) as out,
                target.cursor().copy(f"COPY shop.{table} FROM STDIN".encode()) as into,
            ):
                for piece in out:
                    into.write(piece)
        target.execute("VACUUM (ANALYZE)")
        reader = sql.Identifier(READER)
        target.execute(sql.SQL("REVOKE ALL ON SCHEMA public FROM PUBLIC"))
        target.execute(sql.SQL("GRANT USAGE ON SCHEMA shop TO {}").format(reader))
        target.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA shop TO {}").format(reader))


@pytest.fixture(scope="module")
def neighbours() -> Iterator[list[CheckedPolicy]]:
    for name, customers in _CUSTOMERS.items():
        _copied(name, customers)
    given = servers().source_dsns["shop"]
    file = sample_policy("shop").policy_file
    yield [
        load_policy(file, {"SHOP_DSN": make_conninfo(given, dbname=name)}) for name in _CUSTOMERS
    ]
    with psycopg.connect(servers().protected.dsn(), autocommit=True) as server:
        for name in _CUSTOMERS:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


async def _explained(checked: CheckedPolicy) -> list[str]:
    public = contents_of(checked)
    return [
        await explanation(checked, public, f"EXPLAIN {form}{statement}", as_json=False)
        for form, statement in itertools.product(_FORMS, _STATEMENTS)
    ]


def test_it_is_equal(neighbours: list[CheckedPolicy]) -> None:
    whole, less, none = (run(_explained(checked)) for checked in neighbours)
    assert len(whole) == len(set(whole)) == len(_FORMS) * len(_STATEMENTS)
    assert whole == less == none
