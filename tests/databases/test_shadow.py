"""Building the shadow: from the policy and the catalogue, again and again, never losing the ledger."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.base.errors import Fault
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.policy.policy_model import (
    ColumnPolicy,
    IdentifierUnit,
    Policy,
    ProtectedTable,
    PublicTable,
    RowUnit,
)
from proxy.protected.catalog_reader import read_catalog
from proxy.protected.judged_rows import JudgedRows, OpenFinding
from proxy.shadow.shadow_database import Shadow
from proxy.shadow.shadow_making import drop_schemas
from proxy.shadow.shadow_tables import ShadowError
from tests.live.served_database import served_database
from tests.servers_fixture import PRIVACY, Servers, budgets
from tests.unjudged_rows import unjudged

SOURCE = """
CREATE SCHEMA clinic;
CREATE TYPE clinic.ward AS ENUM ('north', 'south');
CREATE TABLE clinic.colours (name text PRIMARY KEY, ward clinic.ward NOT NULL, tags text[] NOT NULL,
                             size numeric(5,2), note text);
INSERT INTO clinic.colours VALUES
    ('red', 'north', '{a,"b c"}', 1.50, E'tab\\there'), ('blue', 'south', '{}', NULL, NULL);
CREATE TABLE clinic.patient (
    id uuid PRIMARY KEY, ward clinic.ward NOT NULL, born date NOT NULL, seen timestamp NOT NULL,
    colour text NOT NULL REFERENCES clinic.colours, doctor varchar(10) NOT NULL DEFAULT 'SECRET-1',
    flag boolean NOT NULL, code character(3) NOT NULL, extra jsonb NOT NULL, codes integer[] NOT NULL,
    place point NOT NULL, nurse uuid REFERENCES clinic.patient, hidden text NOT NULL,
    weight numeric(5,1) NOT NULL CHECK (weight > 4242), UNIQUE (code, colour), UNIQUE (hidden));
COMMENT ON TABLE clinic.patient IS 'SECRET-2';
COMMENT ON COLUMN clinic.patient.colour IS 'SECRET-5';
COMMENT ON COLUMN clinic.patient.hidden IS 'SECRET-6';
CREATE INDEX ON clinic.patient (born);
COMMENT ON TABLE clinic.colours IS 'of the wards';
COMMENT ON COLUMN clinic.colours.note IS 'it''s by hand';
CREATE INDEX ON clinic.colours (ward, name);
CREATE INDEX ON clinic.colours (lower(note));
CREATE INDEX ON clinic.colours (note) WHERE size IS NULL;
CREATE INDEX ON clinic.colours USING hash (note);
CREATE TABLE clinic.visit (id bigint PRIMARY KEY, patient uuid NOT NULL REFERENCES clinic.patient,
    cost real NOT NULL, minutes interval NOT NULL);
GRANT USAGE ON SCHEMA clinic TO dp_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA clinic TO dp_reader;
"""


def clinic(name: str) -> TableName:
    return TableName("clinic", name)


@pytest.fixture(scope="module")
def source(pair: Servers) -> Iterator[str]:
    with psycopg.connect(pair.protected.dsn(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE clinic")
        with psycopg.connect(pair.protected.dsn("clinic")) as clinic_connection:
            clinic_connection.execute(SOURCE.encode())
        yield make_conninfo(pair.source_dsns["shop"], dbname="clinic")
        connection.execute("DROP DATABASE clinic")


@pytest.fixture(scope="module")
def catalog(source: str) -> Catalog:
    return read_catalog(source)


@pytest.fixture(scope="module")
def policy(source: str) -> Policy:
    patient_columns = (
        *("ward", "born", "seen", "colour", "doctor", "flag", "code", "extra", "codes", "place"),
        *("nurse", "weight"),
    )
    return Policy(
        "clinic",
        source,
        PRIVACY,
        {
            clinic("patient"): ProtectedTable(
                clinic("patient"),
                IdentifierUnit("person", "id"),
                {name: ColumnPolicy(name) for name in patient_columns},
                1,
            ),
            clinic("visit"): ProtectedTable(
                clinic("visit"),
                IdentifierUnit("person", "patient"),
                {name: ColumnPolicy(name) for name in ("id", "cost", "minutes")},
                10,
            ),
            clinic("colours"): PublicTable(clinic("colours")),
        },
        budgets(),
        "clinic 1",
    )


@pytest.fixture(scope="module")
def built(pair: Servers) -> Iterator[Shadow]:
    yield Shadow(pair.shadow_server.dsn(), "clinic", pair.shadow_server.address)
    with psycopg.connect(pair.shadow_server.dsn(), autocommit=True) as connection:
        connection.execute("DROP DATABASE clinic WITH (FORCE)")


@pytest.fixture
def shadow(built: Shadow, policy: Policy, catalog: Catalog) -> Shadow:
    """Built anew where a test before has made another of it."""
    built.build(policy, catalog, unjudged(policy))
    return built


def ask(dsn: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(statement.encode()).fetchall()


def _exposed(shadow: Shadow) -> set[TableName]:
    return {name for name in shadow.relation_oids() if name.schema != "dp"}


def test_tables_columns_types_and_keys(shadow: Shadow, catalog: Catalog) -> None:
    built = read_catalog(shadow.superuser_dsn)
    original, patient = catalog.tables[clinic("patient")], built.tables[clinic("patient")]
    for column in patient.columns:
        wanted = original.column(column.name)
        assert wanted is not None
        if column.name == "ward":
            assert column.type_name == "text", "enum labels are not taken over"
        else:
            assert column == wanted
    assert patient.column("hidden") is None
    assert patient.primary_key == ("id",)
    assert patient.unique == (("code", "colour"),)
    assert set(patient.foreign_keys) == set(original.foreign_keys)
    assert (
        built.tables[clinic("visit")].foreign_keys == catalog.tables[clinic("visit")].foreign_keys
    )
    assert _exposed(shadow) == {clinic(n) for n in ("patient", "visit", "colours")}


def test_nothing_that_may_quote_data_comes_along(shadow: Shadow) -> None:
    with psycopg.connect(shadow.superuser_dsn) as connection:
        for query in (
            "SELECT count(*) FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid"
            " WHERE c.relnamespace = 'clinic'::regnamespace",
            "SELECT count(*) FROM pg_description WHERE description ~ 'SECRET'",
            "SELECT count(*) FROM pg_index WHERE indrelid = 'clinic.patient'::regclass"
            " AND NOT indisunique",
            "SELECT count(*) FROM pg_constraint WHERE contype = 'c'"
            " AND connamespace = 'clinic'::regnamespace",
            "SELECT count(*) FROM pg_enum",
        ):
            assert connection.execute(query.encode()).fetchone() == (0,)


def test_comments_say_how_a_table_is_protected(shadow: Shadow) -> None:
    rows = ask(
        shadow.superuser_dsn,
        "SELECT format('%s.%s', c.relname, a.attname), d.description FROM pg_description d"
        " JOIN pg_class c ON c.oid = d.objoid AND c.relnamespace = 'clinic'::regnamespace"
        " LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.objsubid AND a.attnum > 0",
    )
    described = {str(name): str(text) for name, text in rows}
    assert described["patient."] == (
        "Protected: aggregates are answered with noise that hides all rows of any one person (by id)."
        " SELECT * FROM dp.columns. A statement costs epsilon 1 at most, unless dp.epsilon is set; EXPLAIN"
        " shows its price and its error for nothing."
    )
    assert described["patient.flag"].startswith("For WHERE, GROUP BY, COUNT")
    assert described["colours."] == "of the wards"
    assert described["colours.note"] == "it's by hand"
    assert "patient.hidden" not in described


def test_public_tables_keep_their_plain_indexes(shadow: Shadow) -> None:
    """Of the others an expression or condition would run, on a server of ours, what the source has written."""
    found = ask(
        shadow.superuser_dsn,
        "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'clinic.colours'::regclass"
        " AND NOT indisprimary",
    )
    assert [str(row[0]).partition(" USING ")[2] for row in found] == ["btree (ward, name)"]


def test_public_rows_are_copied_protected_ones_never(shadow: Shadow, source: str) -> None:
    colours = "SELECT name, ward::text, tags, size, note FROM clinic.colours ORDER BY 1"
    assert ask(shadow.superuser_dsn, colours) == ask(source, colours)
    for table in ("patient", "visit"):
        assert ask(shadow.superuser_dsn, f"SELECT count(*) FROM clinic.{table}") == [(0,)]


def test_public_rows_are_refreshed(
    shadow: Shadow, pair: Servers, policy: Policy, catalog: Catalog
) -> None:
    def count() -> list[tuple[object, ...]]:
        return ask(shadow.superuser_dsn, "SELECT count(*) FROM clinic.colours")

    with psycopg.connect(pair.protected.dsn("clinic")) as connection:
        connection.execute("INSERT INTO clinic.colours VALUES ('green', 'north', '{}')")
    assert count() == [(2,)]
    shadow.refresh_public_tables(policy, catalog, unjudged(policy))
    assert count() == [(3,)]
    with psycopg.connect(pair.protected.dsn("clinic")) as connection:
        connection.execute("DELETE FROM clinic.colours WHERE name = 'green'")
    shadow.refresh_public_tables(policy, catalog, unjudged(policy))
    assert count() == [(2,)]


def test_another_policy_or_catalogue_is_built_anew(
    shadow: Shadow, policy: Policy, catalog: Catalog
) -> None:
    smaller = replace(
        policy,
        tables={clinic("visit"): policy.tables[clinic("visit")]},
        budgets=budgets(total=5),
        digest="clinic 2",
    )
    shadow.build(smaller, catalog, unjudged(smaller))
    assert _exposed(shadow) == {clinic("visit")}
    visit = catalog.tables[clinic("visit")]
    changed = Catalog({**catalog.tables, visit.name: replace(visit, primary_key=())})
    shadow.build(smaller, changed, unjudged(smaller))
    assert read_catalog(shadow.superuser_dsn).tables[clinic("visit")].primary_key == ()


def test_a_failed_build_changes_nothing(shadow: Shadow, policy: Policy, catalog: Catalog) -> None:
    before = shadow.relation_oids()
    missing = TableName("clinic", "missing")
    wrong_table = {**policy.tables, missing: PublicTable(missing)}
    with pytest.raises(ShadowError, match=r"clinic\.missing is not in the database"):
        shadow.build(replace(policy, tables=wrong_table, digest="x"), catalog, unjudged(policy))
    column = {"absent": ColumnPolicy("absent")}
    wrong_column = {clinic("visit"): ProtectedTable(clinic("visit"), RowUnit(), column)}
    with pytest.raises(ShadowError, match="column absent"):
        shadow.build(replace(policy, tables=wrong_column, digest="x"), catalog, unjudged(policy))
    reserved = {TableName("dp", "receipt"): PublicTable(TableName("dp", "receipt"))}
    with pytest.raises(ShadowError, match="dpproxy's own"):
        shadow.build(replace(policy, tables=reserved, digest="x"), catalog, unjudged(policy))
    with pytest.raises(ShadowError, match="cannot be copied") as caught:
        away = JudgedRows(policy=replace(policy, source="host=127.0.0.1 port=1"), state="")
        shadow.build(replace(policy, digest="x"), catalog, away)
    assert "127.0.0.1" not in str(caught.value)
    assert shadow.relation_oids() == before


def test_an_open_transaction_keeps_the_old_shadow(
    shadow: Shadow,
    pair: Servers,
    policy: Policy,
    catalog: Catalog,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = shadow.relation_oids()
    with (
        monkeypatch.context() as soon,
        psycopg.connect(pair.analyst_dsn("clinic", "alice")) as alice,
    ):
        soon.setattr("proxy.shadow.shadow_database._LOCK_TIMEOUT", "100ms")
        alice.execute("PREPARE q AS SELECT * FROM clinic.visit")
        with pytest.raises(ShadowError, match="it stays as it was"):
            shadow.build(replace(policy, digest="x"), catalog, unjudged(policy))
        assert shadow.relation_oids() == before
    shadow.build(replace(policy, digest="x"), catalog, unjudged(policy))
    assert shadow.relation_oids() != before


@pytest.mark.long
@pytest.mark.timed
def test_all_locks_together_take_the_time_of_one(pair: Servers, shadow: Shadow) -> None:
    """Statements of others stand behind the first of them meanwhile."""
    held = "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'clinic'::regnamespace"
    dsn = shadow.superuser_dsn
    with ExitStack() as closing, psycopg.connect(dsn) as own:
        rows = own.execute(f"{held} AND c.relkind = 'r' ORDER BY c.oid".encode()).fetchall()
        assert len(rows) >= 3
        for number, (name,) in enumerate(rows[:3], 1):
            other = closing.enter_context(psycopg.connect(dsn))
            other.execute(f"LOCK TABLE clinic.{name} IN ACCESS SHARE MODE".encode())
            ending = threading.Timer(1.5 * number, other.rollback)
            closing.callback(ending.join)
            ending.start()
        own.execute("SET lock_timeout = '2500ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            drop_schemas(own)
        own.rollback()


def test_a_table_without_columns_is_guarded_too(pair: Servers) -> None:
    database = served_database(
        pair,
        "no_columns",
        "CREATE TABLE public.t (id integer PRIMARY KEY)",
        "tables: {public.t: {unit: row}}\n",
    )
    database.lease.close()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ask(pair.analyst_dsn("no_columns", "alice"), "SELECT count(*) FROM public.t")


def test_tables_without_rows_have_no_toast_table(shadow: Shadow) -> None:
    with psycopg.connect(shadow.superuser_dsn) as connection:
        if connection.info.server_version < 160_000:
            pytest.skip("CREATE TABLE says how a column is stored from 16 on")
    found = "SELECT relname FROM pg_class WHERE relname ~ 'patient$' AND relkind = 'r' AND reltoastrelid = 0"
    assert sorted(ask(shadow.superuser_dsn, found)) == [("clinic.patient",), ("patient",)]


def test_no_password_in_a_repr(shadow: Shadow) -> None:
    assert repr(shadow) == "Shadow('clinic')"


def test_rows_are_copied_that_the_policy_publishes_and_no_others(policy: Policy) -> None:
    """By the right itself, whatever a shadow asks for."""
    colours, patient = clinic("colours"), clinic("patient")
    whole = unjudged(policy)
    with whole.copied(colours, ["name"]) as blocks:
        assert b"".join(blocks).split() == [b"red", b"blue"]
    narrow = replace(
        policy, tables={**policy.tables, colours: PublicTable(colours, columns=("name",))}
    )
    closing = OpenFinding(where="clinic.colours", name="x", closes=frozenset({colours}))
    refused = [
        (whole, patient, ["colour"]),
        (whole, clinic("nowhere"), ["name"]),
        (unjudged(narrow), colours, ["name", "note"]),
        (JudgedRows.of_some(policy, "", [closing]), colours, ["name"]),
    ]
    for rows, table, columns in refused:
        with pytest.raises(Fault), rows.copied(table, columns):
            pass
