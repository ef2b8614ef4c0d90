"""The catalogue as dpproxy reads it, from a database with every odd thing in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, ForeignKey, TableName
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.catalog_reader import read_catalog
from tests.postgres_majors import other_binaries
from tests.servers_fixture import Servers

ODD_THINGS = """
CREATE SCHEMA odd;
CREATE TYPE odd.mood AS ENUM ('secret-1', 'secret-2');
CREATE DOMAIN odd.share AS numeric(3,2) CHECK (VALUE <= 1);
CREATE DOMAIN odd.small_share AS odd.share NOT NULL CHECK (VALUE < 0.5);
CREATE DOMAIN odd.feeling AS odd.mood;
CREATE DOMAIN odd.several AS integer[];
CREATE TABLE odd.parent (
    a integer, b text NOT NULL, n numeric(8,2), coarse numeric(5,-2), free numeric,
    v varchar(20), t timestamp(3) with time zone, m odd.mood, s odd.share, list integer[],
    small odd.small_share, feeling odd.feeling, several odd.several,
    dropped integer, "Odd ""name" uuid NOT NULL,
    PRIMARY KEY (a, b));
ALTER TABLE odd.parent DROP COLUMN dropped;
CREATE UNIQUE INDEX whole ON odd.parent ("Odd ""name") INCLUDE (n);
CREATE UNIQUE INDEX partial ON odd.parent (b) WHERE a > 4242;
CREATE UNIQUE INDEX expression ON odd.parent (lower(b));
CREATE UNIQUE INDEX may_be_null ON odd.parent (n);
CREATE UNIQUE INDEX other_operators ON odd.parent (b text_pattern_ops);
CREATE TABLE odd.child (id integer PRIMARY KEY, pa integer, pb text,
    FOREIGN KEY (pa, pb) REFERENCES odd.parent);
CREATE TABLE odd.unchecked (id integer REFERENCES odd.child);
ALTER TABLE odd.unchecked DROP CONSTRAINT unchecked_id_fkey,
    ADD FOREIGN KEY (id) REFERENCES odd.child NOT VALID;
CREATE TABLE odd.old_parent (id integer PRIMARY KEY);
CREATE TABLE odd.old_child () INHERITS (odd.old_parent);
CREATE TABLE odd.parts (id integer PRIMARY KEY, child integer REFERENCES odd.child)
    PARTITION BY HASH (id);
CREATE TABLE odd.parts_0 PARTITION OF odd.parts FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE VIEW odd.seen AS SELECT a, b FROM odd.parent;
CREATE MATERIALIZED VIEW odd.stored AS SELECT a, b FROM odd.parent;
CREATE TABLE odd.hidden (id integer);
CREATE TABLE odd.half (shown integer PRIMARY KEY, hidden integer NOT NULL UNIQUE);
CREATE SEQUENCE odd.counter;
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE odd.far (id integer NOT NULL, part odd.share) SERVER nowhere;
CREATE TABLE odd.near (id integer NOT NULL);
CREATE FOREIGN TABLE odd.far_child () INHERITS (odd.near) SERVER nowhere;
CREATE VIEW odd.far_seen AS SELECT * FROM (SELECT f.part FROM odd.far f) q;
CREATE TABLE odd.far_parts (id integer NOT NULL, n numeric(8,2)) PARTITION BY HASH (id);
CREATE FOREIGN TABLE odd.far_part PARTITION OF odd.far_parts
    FOR VALUES WITH (MODULUS 1, REMAINDER 0) SERVER nowhere;
CREATE COLLATION odd.loose (provider = libc, locale = 'C');
CREATE TABLE odd.spelled (code text COLLATE odd.loose PRIMARY KEY, strict text COLLATE "C", v varchar(9));
CREATE TABLE odd.misspelled (code text COLLATE odd.loose NOT NULL, strict text COLLATE "C" NOT NULL);
CREATE UNIQUE INDEX another_collation ON odd.misspelled (code COLLATE "C");
CREATE UNIQUE INDEX one_collation ON odd.misspelled (strict);
UPDATE pg_collation SET collisdeterministic = false WHERE collname = 'loose';
GRANT USAGE ON SCHEMA odd TO dp_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA odd TO dp_reader;
REVOKE ALL ON odd.hidden, odd.half FROM dp_reader;
GRANT SELECT (shown) ON odd.half TO dp_reader;
"""


@pytest.fixture(scope="module")
def catalog(pair: Servers) -> Iterator[Catalog]:
    with psycopg.connect(pair.protected.dsn(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE odd")
        with psycopg.connect(pair.protected.dsn("odd")) as odd:
            odd.execute(ODD_THINGS.encode())
        yield read_catalog(make_conninfo(pair.source_dsns["shop"], dbname="odd"))
        connection.execute("DROP DATABASE odd")


def table(name: str) -> TableName:
    return TableName("odd", name)


def test_relations_that_hold_readable_rows(catalog: Catalog) -> None:
    names = {name.name for name in catalog.tables}
    assert names == {
        *(
            "parent",
            "child",
            "unchecked",
            "old_parent",
            "old_child",
            "parts",
            "parts_0",
            "seen",
            "misspelled",
        ),
        *("half", "far", "near", "far_child", "spelled", "stored"),
        *("far_seen", "far_parts", "far_part"),
    }
    assert catalog.encoding == "UTF8"


def test_types_as_format_type_prints_them(catalog: Catalog) -> None:
    assert catalog.tables[table("parent")].columns == (
        Column("a", SqlType.INT4, "integer", False),
        Column("b", SqlType.TEXT, "text", False),
        Column("n", SqlType.NUMERIC, "numeric(8,2)", True, 8, 2),
        Column("coarse", SqlType.NUMERIC, "numeric(5,-2)", True, 5, -2),
        Column("free", SqlType.NUMERIC, "numeric", True),
        Column("v", SqlType.VARCHAR, "character varying(20)", True),
        Column("t", SqlType.TIMESTAMPTZ, "timestamp(3) with time zone", True),
        Column("m", SqlType.ENUM, "odd.mood", True),
        Column("s", SqlType.NUMERIC, "numeric(3,2)", True, 3, 2),
        Column("list", SqlType.INT4_ARRAY, "integer[]", True),
        Column("small", SqlType.NUMERIC, "numeric(3,2)", True, 3, 2),
        Column("feeling", SqlType.ENUM, "odd.mood", True),
        Column("several", SqlType.INT4_ARRAY, "integer[]", True),
        Column('Odd "name', SqlType.UUID, "uuid", False),
    )


def test_keys_are_only_those_that_identify_a_row(catalog: Catalog) -> None:
    parent = catalog.tables[table("parent")]
    assert parent.primary_key == ("a", "b")
    assert parent.unique == (('Odd "name',),)
    assert catalog.tables[table("parts")].primary_key == ("id",)
    assert catalog.tables[table("seen")].primary_key == ()
    old = catalog.tables[table("old_parent")]
    assert not old.is_unique("id"), "rows of inheritance children are not covered by the key"
    half = catalog.tables[table("half")]
    assert ([column.name for column in half.columns], half.unique) == (["shown"], ())


def test_what_the_check_of_a_domain_raises_on_rows_of_a_foreign_table_is_not_read(
    catalog: Catalog,
) -> None:
    assert catalog.tables[table("far")].column("part") == (
        Column("part", SqlType.OTHER, "odd.share", True, is_enforced=False)
    )


def test_not_null_of_a_foreign_table_is_not_enforced(catalog: Catalog) -> None:
    for name in ("far", "far_child", "near", "far_parts", "far_part"):
        assert all(column.nullable for column in catalog.tables[table(name)].columns), name


def test_declarations_are_believed_of_rows_that_are_stored_here(catalog: Catalog) -> None:
    believed = {
        name.name: {column.is_enforced for column in found.columns}
        for name, found in catalog.tables.items()
    }
    trusted = {name for name, enforced in believed.items() if enforced == {True}}
    assert trusted == {
        *(
            "parent",
            "child",
            "unchecked",
            "old_child",
            "parts",
            "parts_0",
            "half",
            "spelled",
            "misspelled",
        )
    }
    assert all(len(enforced) == 1 for enforced in believed.values())
    old = catalog.tables[table("old_parent")].columns
    assert [column.nullable for column in old] == [True], "a child may have NULL"


def test_a_view_of_a_foreign_table_is_read_as_it_is(catalog: Catalog) -> None:
    assert catalog.tables[table("far_seen")].columns[0].type is SqlType.OTHER


def test_not_null_that_children_need_not_obey(pair: Servers, catalog: Catalog) -> None:
    with psycopg.connect(pair.protected.dsn("odd")) as odd:
        if odd.info.server_version < 180_000:
            pytest.skip("NO INHERIT comes with PostgreSQL 18")
        odd.execute("CREATE TABLE odd.own (id integer CONSTRAINT c NOT NULL NO INHERIT UNIQUE)")
    own = read_catalog(pair.protected.dsn("odd")).tables[table("own")]
    with psycopg.connect(pair.protected.dsn("odd")) as odd:
        odd.execute("DROP TABLE odd.own")
    assert own.columns[0].nullable and own.unique == ()


def test_not_null_that_is_not_valid(pair: Servers, catalog: Catalog) -> None:
    with psycopg.connect(pair.protected.dsn("odd")) as odd:
        if odd.info.server_version < 180_000:
            pytest.skip("NOT NULL is always valid before PostgreSQL 18")
        odd.execute("CREATE TABLE odd.late (id integer UNIQUE, valid integer NOT NULL UNIQUE)")
        odd.execute("INSERT INTO odd.late VALUES (NULL, 1), (NULL, 2)")
        odd.execute("ALTER TABLE odd.late ADD CONSTRAINT later NOT NULL id NOT VALID")
    late = read_catalog(pair.protected.dsn("odd")).tables[table("late")]
    with psycopg.connect(pair.protected.dsn("odd")) as odd:
        odd.execute("DROP TABLE odd.late")
    assert [(column.name, column.nullable) for column in late.columns] == [
        *(("id", True), ("valid", False))
    ]
    assert late.unique == (("valid",),)


def test_texts_of_a_nondeterministic_collation_are_not_read(catalog: Catalog) -> None:
    """A group's text would be that of any one of its rows. The wheel has no ICU, so a deterministic collation
    is given the flag that only ICU's can have."""
    loose, *others = catalog.tables[table("spelled")].columns
    assert loose.type is SqlType.OTHER
    assert loose.type_name == "text, in a nondeterministic collation"
    assert [column.type for column in others] == [SqlType.TEXT, SqlType.VARCHAR]


_SHOWN = "CREATE FUNCTION shown({0}) RETURNS text LANGUAGE sql AS $$ SELECT 'a'::text $$;"
_EQUAL = "CREATE FUNCTION alike(varchar, varchar) RETURNS bool LANGUAGE sql AS 'SELECT true';"
_ALL = ("id", "m", "d", "v")


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("script", "replaced"),
    [
        ("CREATE CAST (mood AS text) WITH INOUT AS IMPLICIT", ()),
        (
            _SHOWN.format("mood") + "CREATE CAST (mood AS text) WITH FUNCTION shown(mood)",
            ("m", "d"),
        ),
        (_SHOWN.format("other") + "CREATE CAST (other AS text) WITH FUNCTION shown(other)", ()),
        ("CREATE CAST (text AS mood) WITH INOUT", ()),
        ("CREATE CAST (int AS text) WITH INOUT AS IMPLICIT", ()),
        (_SHOWN.format("int") + "CREATE CAST (int AS text) WITH FUNCTION shown(int)", _ALL),
        ("CREATE FUNCTION pg_catalog.shown(varchar) RETURNS text LANGUAGE sql AS 'SELECT $1'", ()),
        (
            "CREATE FUNCTION pg_catalog.lower(varchar) RETURNS text LANGUAGE sql AS 'SELECT $1'",
            _ALL,
        ),
        (
            f"{_EQUAL} CREATE OPERATOR = (FUNCTION = alike, LEFTARG = varchar, RIGHTARG = varchar)",
            (),
        ),
        (
            f"{_EQUAL} CREATE OPERATOR pg_catalog.="
            " (FUNCTION = alike, LEFTARG = varchar, RIGHTARG = varchar)",
            _ALL,
        ),
    ],
)
def test_what_an_owner_computes_values_by_is_not_read(
    pair: Servers, script: str, replaced: tuple[str, ...]
) -> None:
    """A label's text, by a function of the owner's, may be that of other rows, or an error."""
    with psycopg.connect(pair.protected.dsn(), autocommit=True) as admin:
        admin.execute("DROP DATABASE IF EXISTS replaced WITH (FORCE)")
        admin.execute("CREATE DATABASE replaced TEMPLATE template0")
    with psycopg.connect(pair.protected.dsn("replaced"), autocommit=True) as connection:
        connection.execute(
            "CREATE TYPE mood AS ENUM ('a'); CREATE TYPE other AS ENUM ('a'); CREATE DOMAIN dm AS mood;"
            "CREATE TABLE t (id int, m mood, d dm, v varchar)"
        )
        connection.execute(script.encode())
    found = read_catalog(pair.protected.dsn("replaced")).tables[TableName("public", "t")]
    not_read = [c for c in found.columns if c.type is SqlType.OTHER]
    assert tuple(c.name for c in not_read) == replaced
    assert all(c.type_name.endswith(" is not PostgreSQL's own)") for c in not_read), "says which"
    assert all(re.search(r"\((cast from|function|operator) .+ is", c.type_name) for c in not_read)


def test_what_is_generated_at_each_reading_is_not_read(pair: Servers) -> None:
    """Its division by zero would be an error that depends on rows."""
    with psycopg.connect(pair.protected.dsn()) as connection:
        if connection.info.server_version < 180_000:
            pytest.skip("virtual generated columns came with PostgreSQL 18")
        connection.execute("CREATE SCHEMA generated")
        connection.execute(
            "CREATE TABLE generated.t (a integer, s integer GENERATED ALWAYS AS (a + 1) STORED,"
            " v numeric(8,2) GENERATED ALWAYS AS (1 / a) VIRTUAL)"
        )
        connection.commit()
        try:
            found = read_catalog(pair.protected.dsn()).tables[TableName("generated", "t")]
        finally:
            connection.execute("DROP SCHEMA generated CASCADE")
    assert [column.type for column in found.columns] == [
        *(SqlType.INT4, SqlType.INT4, SqlType.OTHER)
    ]


@pytest.mark.long
def test_of_another_major(tmp_path: Path) -> None:
    binaries = other_binaries()
    if binaries is None:
        pytest.skip("there is no PostgreSQL of another major on this machine")
    server = EmbeddedPostgres(tmp_path, "other", pg_bin=binaries.folder, tcp=False, durable=False)
    server.start()
    try:
        with psycopg.connect(server.dsn()) as connection:
            connection.execute("CREATE SCHEMA odd")
            try:
                with connection.transaction():
                    connection.execute(
                        "CREATE COLLATION odd.any_case (provider = icu, locale = 'und-u-ks-level2', "
                        "deterministic = false)"
                    )
            except psycopg.errors.FeatureNotSupported:
                pytest.skip("PostgreSQL of another major has no ICU")
            connection.execute(
                "CREATE TABLE odd.spelled "
                "(id integer PRIMARY KEY, code text COLLATE odd.any_case, strict text, free integer)"
            )
        found = read_catalog(server.dsn()).tables[table("spelled")]
    finally:
        server.stop()
    assert [(column.type, column.nullable) for column in found.columns] == [
        *((SqlType.INT4, False), (SqlType.OTHER, True), (SqlType.TEXT, True), (SqlType.INT4, True))
    ]
    assert found.primary_key == ("id",)


def test_a_key_in_another_collation_tells_equal_texts_apart(catalog: Catalog) -> None:
    assert catalog.tables[table("misspelled")].unique == (("strict",),)


def test_foreign_keys_hold_for_every_row(catalog: Catalog) -> None:
    assert catalog.tables[table("child")].foreign_keys == (
        ForeignKey(("pa", "pb"), table("parent"), ("a", "b")),
    )
    assert catalog.tables[table("unchecked")].foreign_keys == ()
    for name in ("parts", "parts_0"):
        assert catalog.tables[table(name)].foreign_keys == (
            ForeignKey(("child",), table("child"), ("id",)),
        )


def test_options_of_the_source_hold(pair: Servers, catalog: Catalog) -> None:
    """A role set by the connection string is what decides which columns are seen."""
    source = make_conninfo(pair.protected.dsn("odd"), options="-c role=dp_reader")
    assert read_catalog(source) == catalog


def test_places_of_rows(catalog: Catalog) -> None:
    """Not: views, foreign tables, what has partitions or children, and what cannot be read as a whole."""
    placed = {name.name for name, found in catalog.tables.items() if found.has_ctid}
    assert placed == {
        *(
            "parent",
            "child",
            "unchecked",
            "old_child",
            "parts_0",
            "spelled",
            "misspelled",
            "stored",
        ),
    }
