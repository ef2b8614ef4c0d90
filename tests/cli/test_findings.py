"""One list of findings, printed by `serve`, `policy check` and `doctor`; severe ones refuse."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from proxy.doctor.installed_postgres import LEAST_SAFE_MINOR
from proxy.doctor.role_diagnosis import OWN_ROLE
from proxy.postgres.postgres_binaries import find_binaries
from proxy.protected.reading_settings import SETTINGS
from tests.cli.commands import Done, dpproxy, serving
from tests.databases.clinic import HEAD, ROLE, Superuser, made_clinic, may_read, source
from tests.old_postgres import programs_of_version
from tests.servers_fixture import servers

_TABLES = """
CREATE SCHEMA c;
CREATE TABLE c.people (id integer PRIMARY KEY, age integer);
CREATE TABLE c.visits (id integer PRIMARY KEY, person integer NOT NULL REFERENCES c.people, note text);
"""
_POLICY = """\
tables:
  c.people: {unit: {person: id}, max_rows_per_unit: 1, columns: {age: {bounds: [0, 120]}}}
  c.visits: public
"""
_ACCEPT = 'accept: {PUBLIC_REFERS_TO_PEOPLE: {c.visits: {covers: [person], because: "visits are invented"}}}\n'
_ANY = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")


@pytest.fixture(scope="module")
def clinic() -> Iterator[Superuser]:
    with made_clinic(_TABLES) as connection:
        may_read(connection)
        yield connection


def _file(folder: Path, text: str) -> Path:
    path = folder / "clinic.yaml"
    path.write_text(HEAD + text)
    return path


def _run(*arguments: str | Path) -> Done:
    return dpproxy(*arguments, environment={"CLINIC_DSN": source()})


@pytest.mark.long
def test_serve_refuses_what_publishes_people(clinic: Superuser, tmp_path: Path) -> None:
    path = _file(tmp_path, _POLICY)
    done = _run("serve", "--policy", path, "--state", tmp_path / "s", *_ANY)
    assert done.code == 1
    assert done.out == ""
    assert f"{path}:9:3: PUBLIC_REFERS_TO_PEOPLE: c.visits is public, and its column" in done.err
    assert "    9 |   c.visits: public\n      |   ^\n" in done.err
    accept = (
        'accept: {PUBLIC_REFERS_TO_PEOPLE: {c.visits: {covers: [person], because: "the reason"}}}'
    )
    assert accept in done.err
    assert not (tmp_path / "s").exists()


@pytest.mark.long
def test_serve_prints_what_is_accepted_at_each_start(clinic: Superuser, tmp_path: Path) -> None:
    path = _file(
        tmp_path, _POLICY + _ACCEPT.replace("}}}", "}}, ROLE_OWNS: not, OLD_POSTGRESQL: next week}")
    )
    adopted = _run("ledger", "adopt", "--policy", path, "--state", tmp_path / "s", "--new")
    assert adopted.code == 0, adopted.err
    major = find_binaries().major
    old = programs_of_version(tmp_path, f"{major}.{LEAST_SAFE_MINOR[major] - 1}")
    arguments: list[str | Path] = ["serve", "--policy", path, "--state", tmp_path / "s"]
    arguments += ["--pg-bin", old]
    for start in ("first", "second"):
        folder = tmp_path / start
        folder.mkdir()
        with serving(folder, [*arguments, *_ANY], "/docs\n", {"CLINIC_DSN": source()}) as running:
            logged = [json.loads(line) for line in (folder / "err.txt").read_text().splitlines()]
            assert running.stop() == 0
        accepted, of_shadow = (line for line in logged if line["event"] == "finding_accepted")
        assert (of_shadow["name"], of_shadow["reason"]) == ("OLD_POSTGRESQL", "next week")
        assert (accepted["database"], accepted["reason"]) == ("clinic", "visits are invented")
        assert accepted["name"] == "PUBLIC_REFERS_TO_PEOPLE"
        warned = {line["name"] for line in logged if line["event"] == "finding"}
        assert warned == {"ACCEPTED_WITHOUT_EFFECT"}


@pytest.mark.long
def test_serve_refuses_a_role_without_a_limit_of_temporary_files(
    clinic: Superuser, tmp_path: Path
) -> None:
    path = _file(tmp_path, _POLICY + _ACCEPT)
    clinic.execute(f"ALTER ROLE {ROLE} RESET temp_file_limit".encode())
    try:
        done = _run("serve", "--policy", path, "--state", tmp_path / "s", *_ANY)
    finally:
        clinic.execute(f"ALTER ROLE {ROLE} SET temp_file_limit = '1GB'".encode())
    assert done.code == 1
    assert f"{path}:3:1: TEMP_FILES_UNLIMITED: temp_file_limit is -1" in done.err
    assert f"hint: ALTER ROLE \"{ROLE}\" SET temp_file_limit = '10GB';" in done.err


@pytest.mark.long
def test_policy_check_and_doctor_tell_the_same(clinic: Superuser, tmp_path: Path) -> None:
    path = _file(tmp_path, _POLICY)
    check, doctor = _run("policy", "check", path), _run("doctor", "--policy", path)
    assert (check.code, doctor.code) == (1, 1)
    assert "SEVERE   PUBLIC_REFERS_TO_PEOPLE: c.visits is public" in check.out
    assert check.out.endswith(f"\n\n{doctor.out}")
    assert doctor.out.splitlines()[-1] == (
        '    accept: {PUBLIC_REFERS_TO_PEOPLE: {c.visits: {covers: [person], because: "the reason"}}}'
    )
    told = json.loads(_run("policy", "check", path, "--json").out)
    assert told["findings"] == json.loads(_run("doctor", "--policy", path, "--json").out)
    assert [(f["name"], f["where"], f["accepted"]) for f in told["findings"]][:1] == [
        ("PUBLIC_REFERS_TO_PEOPLE", "c.visits", None)
    ]
    pasted = _run("policy", "check", _file(tmp_path, _POLICY + doctor.out.splitlines()[-1].strip()))
    assert pasted.code == 1 and "is not written yet: 'the reason'" in pasted.err
    accepting = _run("policy", "check", _file(tmp_path, _POLICY + _ACCEPT))
    assert accepting.code == 0, accepting.err
    assert "ACCEPTED PUBLIC_REFERS_TO_PEOPLE" in accepting.out
    assert accepting.out.splitlines()[-1].startswith("0 severe, ")


@pytest.mark.long
def test_doctor_finds_what_cannot_be_published(clinic: Superuser, tmp_path: Path) -> None:
    """As `policy check` and `serve` do."""
    statement = "SELECT count(*) AS n FROM c.people"
    publish = f'publish: [{{name: ages, sql: "{statement}", every: 24h, epsilon: 0.01}}]\n'
    path = _file(tmp_path, _POLICY + _ACCEPT + publish)
    assert _run("doctor", "--policy", path).code == 0
    path = _file(tmp_path, _POLICY + _ACCEPT + publish.replace("count(*)", "count(agez)"))
    check, doctor = _run("policy", "check", path), _run("doctor", "--policy", path)
    assert (check.code, doctor.code) == (1, 1)
    assert 'no column "agez"' in check.err
    assert "something that the policy publishes cannot be released" in doctor.out


def test_an_acceptance_without_effect_is_a_warning_at_its_place(
    clinic: Superuser, tmp_path: Path
) -> None:
    path = _file(tmp_path, _POLICY.replace("c.visits: public", "") + _ACCEPT)
    done = _run("policy", "check", path)
    assert done.code == 0
    assert (
        "WARNING  ACCEPTED_WITHOUT_EFFECT: the policy accepts PUBLIC_REFERS_TO_PEOPLE of c.visits"
        in done.out
    )


def test_at_most_fifty_tables_that_the_policy_does_not_name(
    clinic: Superuser, tmp_path: Path
) -> None:
    for number in range(60):
        clinic.execute(f"CREATE TABLE c.more{number} (id integer)".encode())
    may_read(clinic)
    try:
        out = _run("doctor", "--policy", _file(tmp_path, _POLICY)).out
    finally:
        for number in range(60):
            clinic.execute(f"DROP TABLE c.more{number}".encode())
    assert out.count("NOT_IN_THE_POLICY") == 51
    assert "NOT_IN_THE_POLICY: and 10 more tables" in out


def _make_role(role: str, schema: str, database: str, *more: str) -> str:
    """As the head of the script says; what psql prints."""
    program = find_binaries().folder / "psql"
    done = subprocess.run(
        [
            *(program, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-v", f"role={role}"),
            *("-v", f"schema={schema}", *more, servers().protected.dsn(database)),
        ],
        input=dpproxy("policy", "role").out,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _settings_of(clinic: Superuser, role: str) -> dict[str, str]:
    """What each session of a role starts with."""
    rows = clinic.execute(
        "SELECT unnest(setconfig) FROM pg_db_role_setting WHERE setrole = %s::regrole AND setdatabase = 0",
        (role,),
    )
    return dict(str(entry).split("=", 1) for (entry,) in rows)


def _set_in_sessions() -> dict[str, str]:
    """What the proxy sets in each session, as the server writes it."""
    return {name: value.strip("'") if value != "''" else '""' for name, value in SETTINGS.items()}


def test_the_role_that_the_script_makes_has_nothing_severe(
    clinic: Superuser, tmp_path: Path
) -> None:
    """On a database that logs everything."""
    role = "deployed_reader"
    clinic.execute("ALTER DATABASE clinic SET log_statement = 'all'")
    clinic.execute("ALTER DATABASE clinic SET log_parameter_max_length = -1")
    path = _file(tmp_path, _POLICY + _ACCEPT)
    try:
        assert "LOGS_PARAMETERS" in _run("doctor", "--policy", path).out
        assert _make_role(role, "c", "clinic", "-v", "password='p'") == ""
        assert _settings_of(clinic, role).items() >= _set_in_sessions().items()
        dsn = psycopg.conninfo.make_conninfo(source(), user=role, password="p")
        done = dpproxy("doctor", "--policy", path, environment={"CLINIC_DSN": dsn})
    finally:
        clinic.execute("ALTER DATABASE clinic RESET ALL")
        clinic.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(sql.Identifier(role)))
    assert done.code == 0, done.out
    assert "0 severe" in done.out


def test_the_script_of_the_role_serves_other_schemas_and_databases(clinic: Superuser) -> None:
    """A role that is there already is granted the tables, and otherwise left alone."""
    role = 'a "reader" of two'
    settings = "SELECT useconfig, passwd FROM pg_shadow WHERE usename = %s"
    name = sql.Identifier(role)
    clinic.execute("CREATE SCHEMA d; CREATE TABLE d.t (i integer)")
    clinic.execute("CREATE DATABASE clinic_two TEMPLATE template0 ENCODING 'UTF8'")
    try:
        with psycopg.connect(servers().protected.dsn("clinic_two"), autocommit=True) as second:
            second.execute("CREATE SCHEMA e; CREATE TABLE e.t (i integer)")
            assert _make_role(role, "c", "clinic", "-v", "password='p'") == ""
            clinic.execute(sql.SQL("ALTER ROLE {} SET work_mem = '5MB'").format(name))
            before = clinic.execute(settings, (role,)).fetchone()
            for schema, database in (("d", "clinic"), ("e", "clinic_two"), ("c", "clinic")):
                assert "is there already" in _make_role(role, schema, database)
            assert clinic.execute(settings, (role,)).fetchone() == before
            can = "SELECT has_schema_privilege(%s, %s, 'USAGE') AND has_table_privilege(%s, %s, 'SELECT')"
            for connection, schema, table in (
                *((clinic, "c", "c.people"), (clinic, "d", "d.t")),
                (second, "e", "e.t"),
            ):
                assert connection.execute(can, (role, schema, role, table)).fetchone() == (True,)
            second.execute(sql.SQL("DROP OWNED BY {}").format(name))
    finally:
        clinic.execute("DROP DATABASE clinic_two WITH (FORCE)")
        clinic.execute("DROP SCHEMA d CASCADE")
        clinic.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(name))


def test_severe_findings_that_one_change_fixes_are_entries_of_their_own(
    clinic: Superuser, tmp_path: Path
) -> None:
    """So that as many are printed as are counted."""
    clinic.execute(f"GRANT INSERT ON c.visits TO {ROLE}; ALTER ROLE {ROLE} CREATEROLE".encode())
    try:
        done = _run("doctor", "--policy", _file(tmp_path, _POLICY + _ACCEPT))
    finally:
        clinic.execute(
            f"REVOKE INSERT ON c.visits FROM {ROLE}; ALTER ROLE {ROLE} NOCREATEROLE".encode()
        )
    lines = done.out.splitlines()
    (counted,) = (line for line in lines if re.match(r"\d+ severe, ", line))
    counts = re.findall(r"(\d+) (\w+)", counted)
    assert counts[0] == ("2", "severe")
    for count, severity in counts:
        printed = [line for line in lines if line.startswith(f"{severity.upper():8} ")]
        assert len(printed) == int(count), severity
    assert sum(OWN_ROLE in line for line in lines) == 1


_LAZY = """
CREATE TABLE c.codes (code text PRIMARY KEY);
CREATE VIEW c.failing AS SELECT code, 1 / length(code) AS part FROM c.codes;
INSERT INTO c.codes VALUES ('');
CREATE VIEW c.endless AS SELECT g AS number FROM generate_series(1, 300000000) g;
CREATE TABLE c.kept (id integer PRIMARY KEY, person integer NOT NULL REFERENCES c.people, note text);
"""


@pytest.fixture
def lazy(clinic: Superuser) -> Iterator[Superuser]:
    clinic.execute(_LAZY.encode())
    may_read(clinic)
    try:
        yield clinic
    finally:
        clinic.execute("DROP VIEW c.failing, c.endless; DROP TABLE c.codes, c.kept")


def test_a_public_table_that_cannot_be_read_does_not_hide_what_is_found(
    lazy: Superuser, tmp_path: Path
) -> None:
    path = _file(tmp_path, _POLICY + "  c.failing: public\n  c.codes: public\n")
    done = _run("policy", "check", path)
    assert done.code == 1
    assert (
        f"{path}:10:3: public table 'c.failing' cannot be read (DivisionByZero: other)" in done.err
    )
    assert done.err.count("cannot be read") == 1
    assert "SEVERE   PUBLIC_REFERS_TO_PEOPLE: c.visits is public" in done.out
    told = json.loads(_run("policy", "check", path, "--json").out)
    assert [(one["line"], one["column"]) for one in told["problems"]] == [(10, 3)]
    assert told["findings"] and told["accuracy"]
    alone = _run("policy", "check", _file(tmp_path, _POLICY.replace("visits", "failing")))
    assert (alone.code, "0 severe" in alone.out) == (1, True)


def test_a_large_public_table_is_refused_before_it_is_read(lazy: Superuser, tmp_path: Path) -> None:
    """It would take minutes to read."""
    path = _file(tmp_path, _POLICY.replace("c.visits", "c.endless"))
    done = _run("policy", "check", path)
    assert done.code == 1
    assert (
        "SEVERE   PUBLIC_IS_LARGE: c.endless is public and has about 300,000,000 rows" in done.out
    )
    refused = _run("serve", "--policy", path, "--state", tmp_path / "s", *_ANY)
    assert refused.code == 1
    assert f"{path}:9:3: PUBLIC_IS_LARGE: " in refused.err


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("revoked", "tables", "told"),
    [
        (
            "REVOKE SELECT ON c.kept FROM patient",
            "  c.kept: {unit: {person: person}}\n",
            "the role of source may not read table 'c.kept'",
        ),
        (
            "REVOKE SELECT ON c.kept FROM patient; GRANT SELECT (id, person) ON c.kept TO patient",
            "  c.kept: {unit: {person: person}, columns: {note: {}}}\n",
            "the role of source may not read column 'note' of 'c.kept'",
        ),
        (
            "REVOKE SELECT ON c.kept FROM patient; GRANT SELECT (id, note) ON c.kept TO patient",
            "  c.kept: {unit: {person: person}, columns: {note: {}}}\n",
            "the role of source may not read column 'person' of 'c.kept'",
        ),
        (
            "REVOKE USAGE ON SCHEMA c FROM patient",
            "  c.kept: {unit: {person: person}, columns: {note: {}}}\n",
            "the role of source may not read table 'c.kept'",
        ),
    ],
)
def test_a_missing_grant_is_printed_as_sql_that_works(
    lazy: Superuser, tmp_path: Path, revoked: str, tables: str, told: str
) -> None:
    path = _file(tmp_path, "tables:\n" + tables)
    lazy.execute(revoked.encode())
    try:
        done = _run("policy", "check", path)
        assert done.code == 1
        assert told in done.err and "did you mean" not in done.err
        hints = re.findall(r"hint: (GRANT .*)", done.err)
        assert hints
        lazy.execute("; ".join(hints).encode())
        assert _run("policy", "check", path).code == 0
    finally:
        may_read(lazy)


def test_a_table_that_is_nowhere_is_not_granted(lazy: Superuser, tmp_path: Path) -> None:
    done = _run("policy", "check", _file(tmp_path, "tables:\n  c.keep: {unit: row}\n"))
    assert "table 'c.keep' is not in the database" in done.err
    assert "did you mean 'c.kept'?" in done.err


@pytest.mark.long
def test_serve_refuses_a_column_that_came_since_the_last_start(
    lazy: Superuser, tmp_path: Path
) -> None:
    path = _file(tmp_path, _POLICY.replace("c.visits", "c.codes"))
    state, environment = tmp_path / "s", {"CLINIC_DSN": source()}
    adopted = _run("ledger", "adopt", "--policy", path, "--state", state, "--new")
    assert adopted.code == 0, adopted.err
    arguments: list[str | Path] = ["serve", "--policy", path, "--state", state, *_ANY]
    with serving(tmp_path, arguments, "/docs\n", environment) as running:
        assert running.stop() == 0
    lazy.execute("ALTER TABLE c.codes ADD remark text")
    refused = _run(*arguments)
    assert refused.code == 1
    assert f"{path}:9:3: public table 'c.codes' has columns that it did not have" in refused.err
    listed = re.search(r"public, new ones only if they are, too: (.*)", refused.err)
    assert listed is not None
    assert listed[1] == "{unit: public, columns: {code: {}}}"
    path.write_text(path.read_text().replace("c.codes: public", f"c.codes: {listed[1]}"))
    with serving(tmp_path, arguments, "/docs\n", environment) as running:
        assert running.stop() == 0
