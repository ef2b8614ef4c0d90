"""The doctor finds each planted problem, and finds nothing unsafe in the demo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.catalog.model import TableName
from proxy.databases.catalog_reader import read_catalog
from proxy.databases.diagnosing import diagnose
from proxy.databases.diagnosis import Finding, Severity
from proxy.policy.model import (
    Bounds,
    ColumnPolicy,
    IdentifierUnit,
    Policy,
    ProtectedTable,
    PublicTable,
    RowUnit,
)
from tests.servers_fixture import PRIVACY, budgets, servers

ROLE, PASSWORD, DATABASE = "patient", "patient's password", "clinic"
_NAMES = {name: TableName("c", name) for name in ("people", "visits", "rooms", "measures")}

_SETUP = """
CREATE SCHEMA c;
CREATE TABLE c.people (id integer PRIMARY KEY, name text, age integer);
CREATE TABLE c.visits (id integer PRIMARY KEY, person integer, kind text, cost integer);
CREATE TABLE c.rooms (id integer PRIMARY KEY);
CREATE TABLE c.measures (id integer PRIMARY KEY, age integer);
INSERT INTO c.visits SELECT i, i % 500, 'x', i FROM generate_series(1, 3000) i;
CREATE INDEX ON c.visits (person, kind) INCLUDE (cost);
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA c TO patient;
GRANT SELECT ON ALL TABLES IN SCHEMA c TO patient;
"""


def _policy(source: str) -> Policy:
    age = ColumnPolicy("age", Bounds(Fraction(0), Fraction(100)))
    cost = ColumnPolicy("cost", Bounds(Fraction(0), Fraction(100)))
    tables: dict[TableName, ProtectedTable | PublicTable] = {
        _NAMES["people"]: ProtectedTable(
            _NAMES["people"], IdentifierUnit("person", "id"), {"age": age}, 1
        ),
        _NAMES["visits"]: ProtectedTable(
            _NAMES["visits"],
            IdentifierUnit("person", "person"),
            {"kind": ColumnPolicy("kind"), "cost": cost},
            5,
        ),
        _NAMES["rooms"]: PublicTable(_NAMES["rooms"]),
        _NAMES["measures"]: ProtectedTable(_NAMES["measures"], RowUnit(), {"age": age}),
    }
    return Policy(DATABASE, source, PRIVACY, tables, budgets(), "clinic 1")


@pytest.fixture
def clinic() -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """The superuser's connection to a healthy database; whatever is done to it is gone after the test."""
    server = servers().protected
    with psycopg.connect(server.dsn(), autocommit=True) as outer:
        outer.execute(
            f"CREATE ROLE {ROLE} LOGIN NOINHERIT PASSWORD '{PASSWORD.replace(chr(39), chr(39) * 2)}'"
        )
        outer.execute(f"CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING 'UTF8'")
        try:
            with psycopg.connect(server.dsn(DATABASE), autocommit=True) as connection:
                connection.execute(
                    "SET synchronous_commit = on"
                )  # or VACUUM sees no page visible yet
                connection.execute(_SETUP.encode())
                connection.execute("VACUUM (ANALYZE) c.visits")
                yield connection
        finally:
            outer.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
            outer.execute(f"DROP ROLE {ROLE}")


def _found(policy: Policy | None = None) -> tuple[Finding, ...]:
    source = make_conninfo(
        servers().protected.dsn(DATABASE),
        user=ROLE,
        password=PASSWORD,
        host="127.0.0.1",
        port=servers().protected.address[1],
    )
    return diagnose(policy or _policy(source), read_catalog(source))


def test_the_healthy_are_left_alone(clinic: psycopg.Connection[tuple[object, ...]]) -> None:
    found = _found()
    assert [f for f in found if f.severity is not Severity.NOTE] == []
    assert [f.what for f in found if "unique" in f.what] == [
        '"c"."people": "id" is unique: a unit is one row, nothing has to be bounded'
    ]


@pytest.mark.parametrize(
    ("planted", "severity", "what"),
    [
        (
            f"ALTER ROLE {ROLE} SET log_statement = 'all'; ALTER ROLE {ROLE} SET log_parameter_max_length = -1",
            Severity.UNSAFE,
            "log_statement = all",
        ),
        (
            f"ALTER ROLE {ROLE} SET log_min_duration_statement = 0;"
            f" ALTER ROLE {ROLE} SET log_parameter_max_length = 100",
            Severity.UNSAFE,
            "log_min_duration_statement",
        ),
        (
            f"ALTER ROLE {ROLE} SET log_parameter_max_length_on_error = 10",
            Severity.UNSAFE,
            "that fail",
        ),
        (f"ALTER ROLE {ROLE} SET debug_print_plan = on", Severity.UNSAFE, "debug_print_plan"),
        (
            f"ALTER ROLE {ROLE} SET transform_null_equals = on",
            Severity.UNSAFE,
            "transform_null_equals",
        ),
        (f"ALTER DATABASE {DATABASE} SET array_nulls = off", Severity.UNSAFE, "array_nulls"),
        (f"ALTER ROLE {ROLE} SUPERUSER", Severity.UNSAFE, "(SUPERUSER)"),
        (f"ALTER ROLE {ROLE} BYPASSRLS", Severity.UNSAFE, "(BYPASSRLS)"),
        (f"ALTER ROLE {ROLE} REPLICATION", Severity.UNSAFE, "(REPLICATION)"),
        (f"GRANT pg_read_server_files TO {ROLE}", Severity.UNSAFE, "pg_read_server_files"),
        (f"GRANT pg_monitor TO {ROLE}", Severity.NOTE, "member of pg_monitor"),
        (
            f"GRANT UPDATE (cost) ON c.visits TO {ROLE}",
            Severity.UNSAFE,
            'can write to "c"."visits"',
        ),
        (f"ALTER TABLE c.rooms OWNER TO {ROLE}", Severity.UNSAFE, 'owns "c"."rooms"'),
        (f"GRANT CREATE ON SCHEMA c TO {ROLE}", Severity.UNSAFE, 'objects in schema "c"'),
        (
            f"ALTER ROLE {ROLE} IN DATABASE {DATABASE} SET role = 'none'",
            Severity.UNSAFE,
            "setting role",
        ),
        (f"ALTER ROLE {ROLE} SET extra_float_digits = 0", Severity.NOTE, "extra_float_digits"),
        ("DROP INDEX c.visits_person_kind_cost_idx", Severity.SLOW, "no index that begins"),
        (
            "DROP INDEX c.visits_person_kind_cost_idx; CREATE INDEX ON c.visits (person, cost)",
            Severity.NOTE,
            'questions about "kind"',
        ),
        ("UPDATE c.visits SET cost = cost + 1", Severity.SLOW, "visibility map"),
        (
            "ALTER TABLE c.measures DROP CONSTRAINT measures_pkey; CREATE TABLE c.m () INHERITS (c.measures)",
            Severity.SLOW,
            "no primary key",
        ),
        (
            "DELETE FROM c.visits; CREATE UNIQUE INDEX ON c.visits (person)",
            Severity.SLOW,
            "only NOT NULL proves",
        ),
        (
            "ALTER TABLE c.measures RENAME TO m; CREATE VIEW c.measures AS SELECT id, 1 / age AS age FROM c.m;"
            f" GRANT SELECT ON c.measures TO {ROLE}",
            Severity.NOTE,
            "is a view",
        ),
        (f"REVOKE SELECT ON c.measures FROM {ROLE}", Severity.NOTE, 'cannot read "c"."measures"'),
        (f"REVOKE USAGE ON SCHEMA c FROM {ROLE}", Severity.NOTE, "no USAGE on schema"),
        ("ALTER TABLE c.visits ENABLE ROW LEVEL SECURITY", Severity.NOTE, "row security hides"),
        ("DROP TABLE c.measures", Severity.NOTE, "is not in the database"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else None,
)
def test_a_planted_problem_is_found(
    clinic: psycopg.Connection[tuple[object, ...]], planted: str, severity: Severity, what: str
) -> None:
    clinic.execute(planted.encode())
    matching = [f for f in _found() if what in f.what]
    assert [f.severity for f in matching][:1] == [severity], _found()


@pytest.mark.parametrize(
    "planted",
    [
        f"ALTER ROLE {ROLE} SET log_parameter_max_length_on_error = 10",
        f"ALTER ROLE {ROLE} SUPERUSER",
        f"GRANT pg_read_server_files TO {ROLE}",
        f"GRANT INSERT ON c.visits TO {ROLE}",
        f"ALTER TABLE c.rooms OWNER TO {ROLE}",
        f"GRANT CREATE ON SCHEMA c TO {ROLE}",
        f"ALTER ROLE {ROLE} IN DATABASE {DATABASE} SET role = 'none'",
        "DROP INDEX c.visits_person_kind_cost_idx",
        "UPDATE c.visits SET cost = cost + 1",
        f"REVOKE ALL ON SCHEMA c FROM {ROLE}; REVOKE SELECT ON c.rooms FROM {ROLE}",
    ],
    ids=lambda value: value[:50],
)
def test_the_sql_of_a_finding_mends_it(
    clinic: psycopg.Connection[tuple[object, ...]], planted: str
) -> None:
    healthy = _found()
    clinic.execute(planted.encode())
    sick = [f for f in _found() if f not in healthy]
    assert sick
    for finding in sick:
        for statement in finding.fix.split(";"):
            if statement.strip():  # one by one: VACUUM and CONCURRENTLY run alone
                clinic.execute(statement.encode())
    assert set(_found()) <= set(healthy)


def test_a_collation_that_joins_texts_is_unsafe_on_the_unit(
    clinic: psycopg.Connection[tuple[object, ...]],
) -> None:
    # The wheel has no ICU, so a deterministic collation is given the flag that only ICU's can have.
    clinic.execute("CREATE COLLATION c.loose (provider = libc, locale = 'C')")
    clinic.execute("ALTER TABLE c.visits ALTER COLUMN person TYPE text COLLATE c.loose")
    clinic.execute("UPDATE pg_collation SET collisdeterministic = false WHERE collname = 'loose'")
    found = [f for f in _found() if "nondeterministic" in f.what]
    assert [f.severity for f in found] == [Severity.UNSAFE]


@pytest.mark.parametrize(
    ("planted", "what"),
    [
        (
            "DROP TABLE c.rooms; CREATE VIEW c.rooms AS SELECT id FROM c.visits",
            '"c"."rooms" is public and shows rows of "c"."visits", which is protected',
        ),
        (
            "DROP TABLE c.rooms; CREATE VIEW c.between AS SELECT v.id FROM c.visits v;"
            " CREATE MATERIALIZED VIEW c.rooms AS SELECT id FROM c.between",
            '"c"."rooms" is public and shows rows of "c"."visits", which is protected',
        ),
        (
            "DROP TABLE c.rooms; CREATE TABLE c.rooms (CHECK (id > 0)) INHERITS (c.measures)",
            '"c"."measures" is protected and its rows in "c"."rooms" are public',
        ),
        (
            "DROP TABLE c.measures; CREATE VIEW c.measures AS SELECT id, age FROM c.people",
            '"c"."measures" protects each row and shows rows of "c"."people", where it is each person: '
            "those rows are protected as the weaker of both says",
        ),
    ],
    ids=["view", "view of a view", "child", "unit"],
)
def test_rows_that_another_table_shows(
    clinic: psycopg.Connection[tuple[object, ...]], planted: str, what: str
) -> None:
    clinic.execute(planted.encode())
    clinic.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA c TO {ROLE}".encode())
    found = [f.what for f in _found() if f.severity is Severity.UNSAFE]
    assert found == [what]


def test_a_view_on_public_rows_is_safe(clinic: psycopg.Connection[tuple[object, ...]]) -> None:
    clinic.execute(
        "DROP TABLE c.measures; CREATE VIEW c.measures AS SELECT id, id AS age FROM c.rooms"
    )
    clinic.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA c TO {ROLE}".encode())
    assert [f.what for f in _found() if f.severity is Severity.UNSAFE] == []


def test_citus_must_distribute_by_the_unit(clinic: psycopg.Connection[tuple[object, ...]]) -> None:
    """Against a stand-in for Citus' catalogue, made by hand: there is no Citus here."""
    clinic.execute("SET allow_system_table_mods = on")
    clinic.execute(
        "CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod char, partkey text);"
        " CREATE FUNCTION pg_catalog.column_to_column_name(regclass, text) RETURNS text"
        " LANGUAGE sql AS 'SELECT $2';"
        f" GRANT SELECT ON pg_catalog.pg_dist_partition TO {ROLE};"
        " INSERT INTO pg_catalog.pg_dist_partition VALUES"
        " ('c.people', 'h', 'id'), ('c.visits', 'h', 'kind'), ('c.rooms', 'n', NULL)"
    )
    found = [f.what for f in _found() if "distributed" in f.what or "reference table" in f.what]
    assert len(found) == 1 and found[0].startswith('"c"."visits" is distributed by kind')


def test_another_encoding_is_unsafe() -> None:
    server = servers().protected
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(
            "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc"
        )
        try:
            source = server.dsn("latin")
            policy = replace(_policy(source), tables={})
            found = diagnose(policy, read_catalog(source))
            assert any("LATIN1" in f.what and f.severity is Severity.UNSAFE for f in found)
        finally:
            connection.execute("DROP DATABASE latin WITH (FORCE)")


@pytest.mark.parametrize("database", ["census", "shop"])
def test_the_demo_is_safe(database: str) -> None:
    policy, catalog = servers().policies[database], servers().catalogs[database]
    found = diagnose(policy, catalog)
    assert [f for f in found if f.severity is Severity.UNSAFE] == []
    # VACUUM may come too early for the visibility map; nothing else is slow.
    assert all("vacuumed" in f.what for f in found if f.severity is Severity.SLOW)
