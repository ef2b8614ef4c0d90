"""A public table that lists its columns: the others are not there, neither in the shadow nor for the reader."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import TableName
from proxy.cli.assembly import Database
from proxy.protected.public_values import read_public_values
from tests.live.served_database import planned, served_database
from tests.servers_fixture import servers

_SCRIPT = """
CREATE TABLE public.shops (id int PRIMARY KEY, town text NOT NULL, keeper text NOT NULL);
INSERT INTO public.shops VALUES (1, 'Ulm', 'Eve'), (2, 'Bonn', 'Mallory');
CREATE TABLE public.sales (id int PRIMARY KEY, shop int NOT NULL, cents int NOT NULL);
"""
_TABLES = """
tables:
  public.shops: {unit: public, columns: {id: {}, town: {}}}
  public.sales: {unit: row, columns: {shop: {references: public.shops.id}, cents: {bounds: [0, 9]}}}
"""


@pytest.fixture(scope="module")
def shops() -> Iterator[Database]:
    database = served_database(servers(), "shops", _SCRIPT, _TABLES)
    yield database
    database.lease.close()


def test_only_listed_columns_are_copied(shops: Database) -> None:
    with psycopg.connect(shops.shadow.superuser_dsn) as connection:
        found = connection.execute("SELECT * FROM public.shops ORDER BY id")
        assert [column.name for column in found.description or ()] == ["id", "town"]
        assert found.fetchall() == [(1, "Ulm"), (2, "Bonn")]
        listed = connection.execute(
            "SELECT column_name FROM dp.exposed_column WHERE table_name = 'public.shops'"
        )
        assert [row[0] for row in listed.fetchall()] == ["id", "town"]


def test_only_listed_columns_have_public_keys(shops: Database) -> None:
    found = read_public_values(shops.policy, shops.catalog)
    assert set(found) == {(TableName("public", "shops"), column) for column in ("id", "town")}


def test_only_listed_columns_can_be_run_about(shops: Database) -> None:
    question = "SELECT {0}, count(*) FROM sales JOIN shops ON shop = shops.id GROUP BY {0}"
    assert planned(shops, question.format("town")).blocks
    for hidden in (
        question.format("keeper"),
        "SELECT count(*) FROM sales JOIN shops ON shop = shops.id WHERE keeper = 'Eve'",
        "SELECT count(*) FROM sales WHERE shop IN (SELECT id FROM shops WHERE keeper = 'Eve')",
    ):
        with pytest.raises(Refusal, match="keeper"):
            planned(shops, hidden)
