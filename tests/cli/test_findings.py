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

from proxy.doctor.own_role import OWN_ROLE
from proxy.postgres.least_safe_minor import LEAST_SAFE_MINOR
from proxy.postgres.postgres_binaries import find_binaries
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
_ACCEPT = 'accept: {PUBLIC_REFERS_TO_PEOPLE: {c.visits: "visits are invented"}}\n'
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


def test_serve_refuses_what_publishes_people(clinic: Superuser, tmp_path: Path) -> None:
    path = _file(tmp_path, _POLICY)
    done = _run("serve", "--policy", path, "--state", tmp_path / "s", *_ANY)
    assert done.code == 1
    assert done.out == ""
    assert f"{path}:9:3: PUBLIC_REFERS_TO_PEOPLE: c.visits is public, and its column" in done.err
    assert "    9 |   c.visits: public\n      |   ^\n" in done.err
    assert 'accept: {PUBLIC_REFERS_TO_PEOPLE: {c.visits: "the reason"}}' in done.err
    assert not (tmp_path / "s").exists()


def test_serve_prints_what_is_accepted_at_each_start(clinic: Superuser, tmp_path: Path) -> None:
    path = _file(tmp_path, _POLICY + _ACCEPT.replace("}}", "}, ROLE_OWNS: not}"))
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
        (accepted,) = (line for line in logged if line["event"] == "finding_accepted")
        assert (accepted["database"], accepted["reason"]) == ("clinic", "visits are invented")
        assert accepted["name"] == "PUBLIC_REFERS_TO_PEOPLE"
        warned = {line["name"] for line in logged if line["event"] == "finding"}
        assert warned == {"ACCEPTED_WITHOUT_EFFECT", "OLD_POSTGRESQL"}


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


def test_policy_check_and_doctor_tell_the_same(clinic: Superuser, tmp_path: Path) -> None:
    path = _file(tmp_path, _POLICY)
    check, doctor = _run("policy", "check", path), _run("doctor", "--policy", path)
    assert (check.code, doctor.code) == (1, 1)
    assert "SEVERE   PUBLIC_REFERS_TO_PEOPLE: c.visits is public" in check.out
    assert check.out.endswith(f"\n\n{doctor.out}")
    told = json.loads(_run("policy", "check", path, "--json").out)
    assert told["findings"] == json.loads(_run("doctor", "--policy", path, "--json").out)
    assert [(f["name"], f["where"], f["accepted"]) for f in told["findings"]][:1] == [
        ("PUBLIC_REFERS_TO_PEOPLE", "c.visits", None)
    ]
    accepting = _run("policy", "check", _file(tmp_path, _POLICY + _ACCEPT))
    assert accepting.code == 0, accepting.err
    assert "ACCEPTED PUBLIC_REFERS_TO_PEOPLE" in accepting.out
    assert accepting.out.splitlines()[-1].startswith("0 severe, ")


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
    counts = re.findall(r"(\d+) (\w+)", lines[-1])
    assert counts[0] == ("2", "severe")
    for count, severity in counts:
        printed = [line for line in lines if line.startswith(f"{severity.upper():8} ")]
        assert len(printed) == int(count), severity
    assert sum(OWN_ROLE in line for line in lines) == 1
