"""Keys of public tables are printed as the sessions that answer print them, whatever the settings are."""

from __future__ import annotations

from proxy.catalog.catalog_model import TableName
from proxy.protected.public_values import read_public_rows, read_public_values
from tests.live.served_database import served_database
from tests.servers_fixture import servers


def test_dates_are_iso() -> None:
    pair = servers()
    database = served_database(
        pair,
        "public_values",
        "CREATE TABLE public.days (day date PRIMARY KEY); INSERT INTO public.days VALUES ('2026-01-31');"
        "CREATE TABLE public.t (id int PRIMARY KEY);"
        "ALTER DATABASE public_values SET DateStyle = 'German'",
        "tables: {public.days: public, public.t: {unit: row, columns: {id: {}}}}\n",
    )
    found = read_public_values(database.policy, database.catalog)
    days = TableName("public", "days")
    assert found[days, "day"] == ("2026-01-31",)
    assert read_public_rows(database.policy, database.catalog) == {
        days: (("day",), (("2026-01-31",),))
    }
