"""Keys of public tables are printed as the sessions that answer print them, whatever the settings are."""

from __future__ import annotations

from fractions import Fraction

from proxy.catalog.catalog_model import TableName
from proxy.policy.policy_model import Bounds, BoundsKind
from proxy.protected.public_values import read_public_bounds, read_public_rows, read_public_values
from tests.live.served_database import served_database
from tests.servers_fixture import servers


def test_dates_are_iso() -> None:
    pair = servers()
    database = served_database(
        pair,
        "public_values",
        "CREATE TABLE public.days (day date PRIMARY KEY); INSERT INTO public.days VALUES ('2026-01-31');"
        "CREATE TABLE public.t (id int PRIMARY KEY);"
        "CREATE TABLE public.sizes (a int, b real, c numeric, d numeric(5,2), e timestamptz, f float8,"
        " g numeric, h int, i text, j bigint, k timestamp, hidden int);"
        "INSERT INTO public.sizes VALUES (-3, 0.1, 'NaN', -1.25, '2024-01-31 12:00:00.5+02', '-Infinity',"
        " 1e300, NULL, 'x', -9223372036854775808, 'infinity', 1), (9, 2.7, 1.005, 7, 'infinity', 'NaN',"
        " 1e-300, NULL, 'y', 1, NULL, 2);"
        "ALTER DATABASE public_values SET DateStyle = 'German'",
        "tables: {public.days: public, public.t: {unit: row, columns: {id: {}}}, public.sizes: {unit: public,"
        " columns: {a: {}, b: {}, c: {}, d: {}, e: {}, f: {}, g: {}, h: {}, i: {}, j: {}, k: {}}}}\n",
    )
    found = read_public_values(database.policy, database.catalog)
    days = TableName("public", "days")
    assert found[days, "day"] == ("2026-01-31",)
    assert read_public_rows(database.policy, database.catalog)[days] == (
        ("day",),
        (("2026-01-31",),),
    )
    held = read_public_bounds(database.policy, database.catalog)
    assert held.pop((days, "day")) == Bounds(Fraction(20484), Fraction(20484), BoundsKind.DATE)
    sizes = TableName("public", "sizes")
    assert {column for table, column in held if table == sizes} == set("abcde")
    assert held[sizes, "a"] == Bounds(Fraction(-3), Fraction(9))
    assert held[sizes, "b"] == Bounds(Fraction("0.1"), Fraction("2.7"))
    assert held[sizes, "c"] == Bounds(Fraction("1.005"), Fraction("1.005"))
    assert held[sizes, "d"] == Bounds(Fraction("-1.25"), Fraction(7))
    at = 1706695200
    assert held[sizes, "e"] == Bounds(Fraction(at), Fraction(at + 1), BoundsKind.TIMESTAMP)
