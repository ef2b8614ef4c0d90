"""Each synthetic problem of the server, the role or a table is found; and the demo has nothing severe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from proxy.cli.findings_report import findings_lines, refusal_text
from proxy.doctor.all_findings import diagnose
from proxy.doctor.role_diagnosis import OWN_ROLE
from proxy.policy.finding_names import FindingName, Severity
from proxy.policy.findings import Finding
from proxy.protected.catalog_reader import read_catalog
from tests.databases.clinic import (
    DATABASE,
    HEAD,
    ROLE,
    Superuser,
    clinic_policy,
    made_clinic,
    verdict,
)
from tests.servers_fixture import servers
from tests.waiting import until

F = FindingName

_SETUP = """
CREATE SCHEMA c;
CREATE TABLE c.people (id integer PRIMARY KEY, name text, age integer);
CREATE TABLE c.visits (id integer PRIMARY KEY, person integer, kind text, cost integer);
CREATE TABLE c.rooms (id integer PRIMARY KEY);
CREATE TABLE c.measures (id integer PRIMARY KEY, age integer);
INSERT INTO c.visits SELECT i, i % 500, 'x', i FROM generate_series(1, 3000) i;
CREATE INDEX ON c.visits (person, kind) INCLUDE (cost);
"""
_POLICY = """
tables:
  c.people: {unit: {person: id}, max_rows_per_unit: 1, columns: {age: {bounds: [0, 100]}}}
  c.visits: {unit: {person: person}, max_rows_per_unit: 5, columns: {kind: {}, cost: {bounds: [0, 100]}}}
  c.rooms: public
  c.measures: {unit: row, columns: {age: {bounds: [0, 100]}}}
"""


@pytest.fixture
def clinic() -> Iterator[Superuser]:
    with made_clinic(_SETUP) as connection:
        connection.execute("VACUUM (ANALYZE) c.visits")
        yield connection


def _found() -> tuple[Finding, ...]:
    return verdict(clinic_policy(_POLICY)).open


def test_the_healthy_are_left_alone(clinic: Superuser) -> None:
    found = _found()
    assert [(f.name, f.where) for f in found] == [
        (F.PUBLIC_IS_NOT_NEEDED, "c.rooms"),
        (F.UNIT_IS_ONE_ROW, "c.people"),
        (F.UNIT_MAY_BE_NULL, "c.visits"),
        (F.NOT_IN_THE_POLICY, "c.measures"),
        (F.NOT_IN_THE_POLICY, "c.people"),
        (F.NOT_IN_THE_POLICY, "c.visits"),
    ]
    assert found[4].what == "c.people: not in the policy: name"


SET = f"ALTER ROLE {ROLE} SET"
LOGGING = f"{SET} log_parameter_max_length = -1; {SET}"


@pytest.mark.every(12)
@pytest.mark.parametrize(
    ("synthetic", "name", "what"),
    [
        (f"{LOGGING} log_statement = 'all'", F.LOGS_PARAMETERS, "log_statement = all"),
        (f"{LOGGING} log_statement = 'ddl'", F.LOGS_PARAMETERS, "log_statement = ddl"),
        (
            f"{SET} log_min_duration_statement = 0; {SET} log_parameter_max_length = 100",
            F.LOGS_PARAMETERS,
            "log_min_duration_statement",
        ),
        (f"{LOGGING} log_min_duration_sample = 9", F.LOGS_PARAMETERS, "log_min_duration_sample"),
        (
            f"{LOGGING} log_transaction_sample_rate = 0.1",
            F.LOGS_PARAMETERS,
            "log_transaction_sample_rate",
        ),
        (f"{SET} log_parameter_max_length_on_error = 10", F.LOGS_PARAMETERS, "that fail"),
        (
            f"{SET} pgaudit.log = 'read'; {SET} pgaudit.log_parameter = 'on'",
            F.LOGS_PARAMETERS,
            "pgaudit.log_parameter",
        ),
        (f"{SET} debug_print_plan = on", F.LOGS_PLANS, "debug_print_plan"),
        (f"{SET} auto_explain.log_min_duration = '1s'", F.LOGS_PLANS, "auto_explain"),
        (f"{SET} pg_stat_statements.track = 'top'", F.KEEPS_STATISTICS, "pg_stat_statements"),
        (f"{SET} temp_file_limit = -1", F.TEMP_FILES_UNLIMITED, "temp_file_limit is -1"),
        (f"{SET} temp_file_limit = 0", F.TEMP_FILES_TOO_SMALL, "temp_file_limit is 0 kB"),
        (f"{SET} temp_file_limit = 65535", F.TEMP_FILES_TOO_SMALL, "than the 65536 kB"),
        (f"{SET} transform_null_equals = on", F.SETTING_CHANGES_MEANING, "transform_null_equals"),
        (
            f"ALTER DATABASE {DATABASE} SET array_nulls = off",
            F.SETTING_CHANGES_MEANING,
            "array_nulls",
        ),
        (f"ALTER ROLE {ROLE} SUPERUSER", F.ROLE_ATTRIBUTE, "(SUPERUSER)"),
        (f"ALTER ROLE {ROLE} BYPASSRLS", F.ROLE_ATTRIBUTE, "(BYPASSRLS)"),
        (f"ALTER ROLE {ROLE} CREATEROLE", F.ROLE_ATTRIBUTE, "(CREATEROLE)"),
        (f"ALTER ROLE {ROLE} CREATEDB", F.ROLE_ATTRIBUTE, "(CREATEDB)"),
        (f"ALTER ROLE {ROLE} REPLICATION", F.ROLE_ATTRIBUTE, "(REPLICATION)"),
        (f"GRANT pg_read_server_files TO {ROLE}", F.ROLE_MEMBERSHIP, "pg_read_server_files"),
        (f"GRANT pg_write_all_data TO {ROLE}", F.ROLE_MEMBERSHIP, "pg_write_all_data"),
        (f"GRANT postgres TO {ROLE}", F.ROLE_MEMBERSHIP, "member of postgres"),
        (f"GRANT pg_monitor TO {ROLE}", F.ROLE_IS_A_MEMBER, "member of pg_monitor"),
        (f"GRANT UPDATE (cost) ON c.visits TO {ROLE}", F.ROLE_MAY_WRITE, 'to "c"."visits"'),
        (
            f"CREATE SEQUENCE c.numbers; GRANT USAGE ON SEQUENCE c.numbers TO {ROLE}",
            F.ROLE_MAY_WRITE,
            'to "c"."numbers"',
        ),
        (f"ALTER TABLE c.rooms OWNER TO {ROLE}", F.ROLE_OWNS, 'owns "c"."rooms"'),
        (
            f"ALTER TABLE c.rooms OWNER TO pg_monitor; GRANT pg_monitor TO {ROLE}",
            F.ROLE_OWNS,
            'owns "c"."rooms"',
        ),
        (f"GRANT CREATE ON SCHEMA c TO {ROLE}", F.ROLE_MAY_CREATE, 'objects in schema "c"'),
        (
            f"GRANT CREATE ON DATABASE {DATABASE} TO {ROLE}",
            F.ROLE_MAY_CREATE,
            'schemas in database "clinic"',
        ),
        (
            f"ALTER ROLE {ROLE} IN DATABASE {DATABASE} SET role = 'none'",
            F.ROLE_LOADS_CODE,
            "setting role",
        ),
        (f"{SET} vacuum_cost_delay = 1", F.ROLE_SETTING, "vacuum_cost_delay"),
        (
            "DROP INDEX c.visits_person_kind_cost_idx",
            F.NO_INDEX_ON_UNIT,
            "no index that begins",
        ),
        (
            "DROP INDEX c.visits_person_kind_cost_idx; CREATE INDEX ON c.visits (person, cost)",
            F.INDEX_DOES_NOT_COVER,
            'queries of "kind"',
        ),
        ("UPDATE c.visits SET cost = cost + 1", F.NOT_VACUUMED, "reads the table itself"),
        (
            "ALTER TABLE c.measures DROP CONSTRAINT measures_pkey; CREATE TABLE c.m () INHERITS (c.measures)",
            F.SLOW_PARTITIONS,
            "no primary key",
        ),
        (
            "DELETE FROM c.visits; CREATE UNIQUE INDEX ON c.visits (person)",
            F.UNIQUE_UNIT_MAY_BE_NULL,
            "only NOT NULL proves",
        ),
        (
            "ALTER TABLE c.measures RENAME TO m; CREATE VIEW c.measures AS SELECT id, 1 / age AS age FROM c.m;"
            f" GRANT SELECT ON c.measures TO {ROLE}",
            F.VIEW_MAY_RAISE,
            "is a view",
        ),
        (f"REVOKE SELECT ON c.measures FROM {ROLE}", F.UNREADABLE, 'cannot read "c"."measures"'),
        (f"REVOKE USAGE ON SCHEMA c FROM {ROLE}", F.UNREADABLE, "no USAGE on schema"),
        (
            "ALTER TABLE c.visits ENABLE ROW LEVEL SECURITY",
            F.ROW_SECURITY_HIDES,
            "row security hides",
        ),
        ("DROP TABLE c.measures", F.POLICY_DOES_NOT_FIT, "is not in the database"),
        (
            "INSERT INTO c.rooms VALUES (1);"
            " UPDATE pg_class SET reltuples = 1e9, relpages = 1 WHERE relname = 'rooms'",
            F.PUBLIC_IS_LARGE,
            "rows",
        ),
        (
            f"CREATE TABLE c.more (id int); GRANT SELECT ON c.more TO {ROLE}",
            F.NOT_IN_THE_POLICY,
            "c.more is not in the policy",
        ),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else None,
)
def test_a_synthetic_problem_is_found(
    clinic: Superuser, synthetic: str, name: FindingName, what: str
) -> None:
    clinic.execute(synthetic.encode())
    matching = [f for f in _found() if what in f.what]
    assert [f.name for f in matching][:1] == [name], _found()


@pytest.mark.every(6)
@pytest.mark.parametrize(
    "synthetic",
    [
        f"ALTER ROLE {ROLE} SET log_parameter_max_length_on_error = 10",
        f"{SET} temp_file_limit = -1",
        f"{LOGGING} log_statement = 'all'",
        f"GRANT CREATE ON DATABASE {DATABASE} TO {ROLE}",
        f"GRANT INSERT ON c.visits TO {ROLE}",
        f"GRANT CREATE ON SCHEMA c TO {ROLE}",
        f"ALTER ROLE {ROLE} IN DATABASE {DATABASE} SET role = 'none'",
        "DROP INDEX c.visits_person_kind_cost_idx",
        "UPDATE c.visits SET cost = cost + 1",
        f"REVOKE ALL ON SCHEMA c FROM {ROLE}; REVOKE SELECT ON c.rooms FROM {ROLE}",
    ],
    ids=lambda value: value[:50],
)
def test_the_sql_of_a_finding_fixes_it(clinic: Superuser, synthetic: str) -> None:
    healthy = _found()
    clinic.execute(synthetic.encode())
    sick = [f for f in _found() if f not in healthy]
    assert sick
    for finding in sick:
        for statement in finding.fix.split(";"):
            if statement.strip():  # one by one: VACUUM and CONCURRENTLY run alone
                clinic.execute(statement.encode())
        assert all(line.endswith(";") or "; -- " in line for line in finding.fix.splitlines())
        assert all(line.count(";") == 1 for line in finding.fix.splitlines()), (
            "psql -c takes a line"
        )

    def is_mended() -> bool:
        if set(_found()) <= set(healthy):
            return True
        for finding in sick:  # a snapshot of another session keeps VACUUM from its end
            if finding.name is FindingName.NOT_VACUUMED:
                clinic.execute(finding.fix.encode())
        return False

    until(is_mended)


@pytest.mark.every(8)
@pytest.mark.parametrize(
    "synthetic",
    [
        f"ALTER ROLE {ROLE} SUPERUSER",
        f"ALTER ROLE {ROLE} CREATEROLE",
        f"ALTER ROLE {ROLE} BYPASSRLS",
        f"GRANT postgres TO {ROLE}",
        f"GRANT pg_read_server_files TO {ROLE}",
        f"ALTER TABLE c.rooms OWNER TO {ROLE}",
        f"ALTER DATABASE {DATABASE} OWNER TO {ROLE}",
        f"ALTER TABLE c.rooms OWNER TO pg_monitor; GRANT pg_monitor TO {ROLE}",
    ],
)
def test_a_role_that_others_need_is_left_as_it_is(clinic: Superuser, synthetic: str) -> None:
    """Pasted, NOSUPERUSER on the only superuser leaves a server without one."""
    clinic.execute(synthetic.encode())
    worse = (
        f"{SET} temp_file_limit = -1; {LOGGING} log_statement = 'all'; {SET} debug_print_plan = on;"
    )
    clinic.execute(
        f"{worse} {SET} vacuum_cost_delay = 1; GRANT INSERT ON c.visits TO {ROLE}".encode()
    )
    found = _found()
    assert not [f.fix for f in found if ROLE in f.fix]
    told = [line for line in findings_lines(verdict(clinic_policy(_POLICY))) if OWN_ROLE in line]
    assert len(told) == 1, "once for the whole role"
    assert "dpproxy policy role | psql " in told[0]
    assert told[0].endswith(" -v schema=c clinic")
    assert not [line for line in told if "ALTER ROLE" in line]
    file = "clinic.yaml"
    refusal = refusal_text(verdict(clinic_policy(_POLICY)), HEAD + _POLICY, file)
    assert refusal.count("hint: ") == refusal.count(OWN_ROLE) == 1
    accept = next(line for line in refusal.splitlines() if line.startswith("    accept: "))
    written = accept.strip().replace("the reason", "a role of a test") + "\n"
    accepting = verdict(clinic_policy(_POLICY + written))
    assert not accepting.refuses, "the line that is printed accepts all that is severe"


def test_the_bootstrap_superuser_is_left_as_it_is(clinic: Superuser) -> None:
    policy = replace(clinic_policy(_POLICY), source=servers().protected.dsn(DATABASE))
    lines = list(findings_lines(diagnose(policy, read_catalog(policy.source))))
    assert [line for line in lines if OWN_ROLE in line]
    assert not [line for line in lines if "ALTER ROLE" in line]


def test_a_collation_that_joins_texts_is_unsafe_on_the_unit(
    clinic: Superuser,
) -> None:
    # The wheel has no ICU, so a deterministic collation is given the flag that only ICU's can have.
    clinic.execute("CREATE COLLATION c.loose (provider = libc, locale = 'C')")
    clinic.execute("ALTER TABLE c.visits ALTER COLUMN person TYPE text COLLATE c.loose")
    clinic.execute("UPDATE pg_collation SET collisdeterministic = false WHERE collname = 'loose'")
    found = [f for f in _found() if "nondeterministic" in f.what]
    assert [f.name for f in found] == [F.UNIT_COLLATION]


_CITUS = f"""
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition
    (logicalrelid regclass, partmethod "char", partkey text, colocationid integer);
CREATE FUNCTION pg_catalog.column_to_column_name(regclass, text) RETURNS text LANGUAGE sql AS 'SELECT $2';
GRANT SELECT ON pg_catalog.pg_dist_partition TO {ROLE};
"""


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("('c.people', 'h', 'id', 1), ('c.visits', 'h', 'kind', 1)", ["by kind, not by the"]),
        ("('c.people', 'h', 'id', 1)", ["is not distributed"]),
        (
            "('c.people', 'h', 'id', 1), ('c.visits', 'h', 'person', 2)",
            ['"c"."people" and "c"."visits" are not colocated'],
        ),
        ("('c.people', 'h', 'id', 1), ('c.visits', 'h', 'person', 1)", []),
    ],
)
def test_citus_must_distribute_by_the_unit(clinic: Superuser, rows: str, what: list[str]) -> None:
    """Against a stand-in for Citus' catalogue, made by hand: tests/citus has the real one."""
    clinic.execute(_CITUS.encode())
    clinic.execute(
        f"INSERT INTO pg_catalog.pg_dist_partition VALUES ('c.rooms', 'n', NULL, 9), {rows}".encode()
    )
    found = [f.what for f in _found() if f.name is F.DISTRIBUTION and f.where != ROLE]
    assert len(found) == len(what)
    assert all(part in text for part, text in zip(what, found, strict=True)), found


def test_another_encoding_is_unsafe() -> None:
    server = servers().protected
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(
            "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc"
        )
        try:
            source = server.dsn("latin")
            policy = replace(clinic_policy(_POLICY), tables={}, source=source)
            found = diagnose(policy, read_catalog(source)).open
            assert [f.what[:35] for f in found if f.name is F.ENCODING_NOT_UTF8] == [
                "the database's encoding is LATIN1, "
            ]
        finally:
            connection.execute("DROP DATABASE latin WITH (FORCE)")


@pytest.mark.parametrize("database", ["census", "shop"])
def test_the_demo_is_safe(database: str) -> None:
    policy, catalog = servers().policies[database], servers().catalogs[database]
    found = diagnose(policy, catalog)
    severe = {finding.name for finding in found.of(Severity.SEVERE)}
    assert severe <= {F.TOTAL_IS_LARGE}, "budgets of tests are large"
    # VACUUM may come too early for the visibility map; budgets of tests are large. Nothing else is wrong.
    assert {f.name for f in found.of(Severity.WARNING)} <= {
        F.NOT_VACUUMED,
        F.TOTAL_DELTA_LARGE,
        F.TOTAL_EPSILON_LARGE,
    }
