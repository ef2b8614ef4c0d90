"""`dpproxy policy init`: whose rows they are, what is said of columns, and that no row says any of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.catalog.catalog_model import TableName
from proxy.drafting.drafted_policy import NothingToDraft
from proxy.policy.policy_model import (
    IdentifierUnit,
    Policy,
    ProtectedTable,
    RowUnit,
    Unit,
    UnitPath,
)
from proxy.policy_file.policy_yaml import read_policy
from tests.databases.kinds_corpus import LEDGER, LOGINS, RIDES, SCHOOL
from tests.drafting.drafted_database import database, draft, run, severe, stranger, strangers_dsn
from tests.drafting.thirty_tables import PEOPLE_OF, SCRIPT
from tests.samples import DEMO_POLICIES

pytestmark = pytest.mark.postgres

_CLINIC = """\
CREATE SCHEMA c;
CREATE TYPE c.severity AS ENUM ('low', 'no', 'high, very');
CREATE DOMAIN c.score AS integer CHECK (VALUE BETWEEN 0 AND 10);
CREATE TABLE c.wards (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE c.patients (id int PRIMARY KEY, name text, ward int REFERENCES c.wards,
    born date CHECK (born >= '1900-01-01' AND born < '2030-01-01'), sex text NOT NULL CHECK (sex IN ('f', 'm')),
    height numeric(4, 1) CHECK (height > 0 AND height <= 250), "odd: col" int, photo bytea);
CREATE TABLE c.visits (id bigint PRIMARY KEY, patient_id int NOT NULL REFERENCES c.patients, doctor_id int,
    day date NOT NULL, severity c.severity, cost numeric(10, 2) CHECK (cost >= 0), pain c.score,
    UNIQUE (patient_id, day));
CREATE TABLE c.treatments (id bigint PRIMARY KEY, visit_id bigint NOT NULL REFERENCES c.visits,
    dose int CHECK (dose > 0 AND dose < 500), share real CHECK (share < 1e9 + 1));
CREATE TABLE c.doses (id bigint PRIMARY KEY, treatment_id bigint REFERENCES c.treatments);
CREATE TABLE c.details (patient_id int PRIMARY KEY REFERENCES c.patients,
    blood text CHECK (blood = 'A' OR blood = 'B'));
CREATE TABLE c."odd.table" (id int PRIMARY KEY, patient_id int REFERENCES c.patients);
CREATE VIEW c.adults AS SELECT * FROM c.patients WHERE born < '2008-01-01';
CREATE TABLE c.log (patient_id int, at timestamptz) PARTITION BY RANGE (at);
CREATE TABLE c.log_1 PARTITION OF c.log FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
"""
_ROWS = """\
INSERT INTO c.wards SELECT i, 'ward ' || i FROM generate_series(1, 50) i;
INSERT INTO c.patients SELECT i, 'name ' || i, 1 + i % 50, '1950-01-01', 'f', 170, i
    FROM generate_series(1, 2000) i;
INSERT INTO c.visits SELECT i, i, i, '2026-01-01', 'low', 100000 + i, 3 FROM generate_series(1, 2000) i;
ANALYZE;
"""


@pytest.fixture(scope="module")
def clinic() -> Iterator[str]:
    with database("drafted", _CLINIC):
        yield "drafted"


def _read(text: str) -> Policy:
    variable = re.search(r"\$\{(\w+)\}", text)
    assert variable is not None
    return read_policy(text, "draft.yaml", {variable[1]: "-"})


def _units(text: str) -> dict[str, Unit]:
    return {str(table.name): table.unit for table in _read(text).protected()}


def test_units_of_a_clinic(clinic: str) -> None:
    visits = UnitPath(TableName("c", "visits"), "patient_id")
    assert _units(draft(clinic).text) == {
        "c.details": IdentifierUnit("patient", "patient_id"),
        "c.log": IdentifierUnit("patient", "patient_id"),
        "c.patients": IdentifierUnit("patient", "id"),
        "c.treatments": IdentifierUnit("patient", "visit_id", visits),
        "c.visits": IdentifierUnit("patient", "patient_id"),
    }


def test_columns_of_a_clinic(clinic: str) -> None:
    text = draft(clinic).text
    lines = {line.strip().split("   #")[0] for line in text.splitlines()}
    for wanted in (
        "born:       {bounds: [1900-01-01, 2030-01-01]}",
        "sex:        {values: [f, m]}",
        "height:     {bounds: [0, 250]}",
        '"odd: col": {}',
        'severity: {values: [low, "no", "high, very", null]}',
        "pain:     {bounds: [0, 10]}",
        "dose:     {bounds: [1, 499]}",
        "blood: {values: [A, B, null]}",
    ):
        assert wanted in lines, wanted
    assert "CHECK: from 0" in text  # of cost, whose high bound is the owner's
    hidden = {line.split()[3] for line in text.splitlines() if "# not listed:" in line}
    assert hidden == {"name", "photo", "doctor_id", "id"}


def test_decisions_are_named_and_numbered(clinic: str) -> None:
    found = draft(clinic)
    marked = re.findall(r"# DECIDE (\d+): (.*)", found.text)
    assert [(str(n), what) for n, what in enumerate(found.decisions, start=1)] == marked
    for wanted in ("the unit of c.visits", "c.wards, which is left out: public", "the budgets"):
        assert any(one.startswith(wanted) for one in found.decisions), wanted
    assert "bounds of day, cost in c.visits" in found.decisions
    assert any(one.startswith("c.doses, which is left out") for one in found.decisions)
    assert any(one.startswith("c.odd.table, which is left out") for one in found.decisions)
    assert f"there are {len(found.decisions)} of them" in found.text


def test_nothing_can_be_asked_until_budgets_are_written(clinic: str) -> None:
    budgets = _read(draft(clinic).text).budgets
    assert budgets.total.limit.epsilon == 0 and budgets.default.limit.epsilon == 0


def test_no_table_is_public(clinic: str) -> None:
    assert all(isinstance(t, ProtectedTable) for t in _read(draft(clinic).text).tables.values())


def test_rows_and_rights_change_nothing() -> None:
    """Only the catalogue is read: other rows, the same file; and without a right to any table."""
    with database("drafted_rows", _CLINIC), stranger():
        empty = draft("drafted_rows").text
        run("drafted_rows", _ROWS)
        assert draft("drafted_rows").text == empty
        assert draft("drafted_rows", strangers_dsn("drafted_rows")).text == empty


def test_check_finds_nothing_severe(clinic: str) -> None:
    assert severe(clinic, draft(clinic).text) == []


def test_thirty_tables() -> None:
    with database("thirty", SCRIPT):
        found = draft("thirty")
        units = _units(found.text)
        described = {
            name: unit.identifier if isinstance(unit, IdentifierUnit) else "row"
            for name, unit in units.items()
        }
        assert described == PEOPLE_OF
        left = {
            line.split(": ")[1].split(",")[0]
            for line in found.text.splitlines()
            if "left out" in line and "DECIDE" in line
        }
        assert len(left) + len(units) == 30
        assert severe("thirty", found.text) == []


@pytest.mark.parametrize("name", ["census", "shop"])
def test_the_demos_databases(name: str) -> None:
    from tests.servers_fixture import servers

    text = draft(name, servers().source_dsns[name]).text
    units = _units(text)
    if name == "census":
        assert units == {"census.adult": RowUnit()} or set(units) == {"census.adult"}
    else:
        assert units == {
            "shop.customers": IdentifierUnit("customer", "id"),
            "shop.orders": IdentifierUnit("customer", "customer_id"),
        }
    policy = read_policy(text, "", {f"{name.upper()}_DSN": servers().source_dsns[name]})
    assert policy.database == name
    assert DEMO_POLICIES[name].exists()


def test_the_shared_databases() -> None:
    path = Path(__file__).parents[2] / ".." / "shared" / "data" / "load.sql"
    if not path.exists():
        pytest.skip("the shared data are not here")
    script = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("\\"))
    with database("shared_ones", script):
        text = draft("shared_ones").text
        units = _units(text)
        assert units["chinook.invoice_line"] == IdentifierUnit(
            "customer", "invoice_id", UnitPath(TableName("chinook", "invoice"), "customer_id")
        )
        assert units["shop.orders"] == IdentifierUnit("person", "user_id")
        assert units["census.pums"] == RowUnit()
        assert "shop.products" not in units and "chinook.track" not in units
        assert severe("shared_ones", text) == []


def test_no_table_at_all() -> None:
    with database("bare", "SELECT 1"), pytest.raises(NothingToDraft):
        draft("bare")


def test_where_no_people_are_found_rows_are_units() -> None:
    script = "CREATE TABLE measured (id int PRIMARY KEY, kind text, weight real)"
    with database("no_people", script):
        assert _units(draft("no_people").text) == {"public.measured": RowUnit()}


def test_rows_with_an_email_address_are_of_people() -> None:
    """A draft passes the check as it is, which takes rows with an address for rows of people."""
    script = """\
    CREATE TABLE opened (email text, at timestamptz);
    CREATE TABLE members (mail_address text NOT NULL UNIQUE, points int);
    CREATE TABLE emps (emp_id int PRIMARY KEY, nm text, dob date);
    CREATE TABLE worked (id int PRIMARY KEY, emp_id int, hours int)"""
    with database("addresses", script):
        text = draft("addresses").text
        assert severe("addresses", text) == []
        assert _units(text)["public.worked"] == IdentifierUnit("employee", "emp_id")
    with database("addresses", "CREATE TABLE opened (email text, at timestamptz)"):
        text = draft("addresses").text
        assert _units(text) == {"public.opened": IdentifierUnit("person", "email")}
        assert severe("addresses", text) == []


def test_names_that_are_yaml() -> None:
    script = """\
    CREATE SCHEMA "no"; CREATE TABLE "no"."null" (id int PRIMARY KEY, email text, phone text, "true" int,
        "a # b" text, "c'd""e" int CHECK ("c'd""e" BETWEEN -5 AND 5), "é" date, "- x" text, "{y}" int)"""
    with database("odd_names", script):
        text = draft("odd_names").text
        table = _read(text).tables[TableName("no", "null")]
        assert isinstance(table, ProtectedTable)
        assert set(table.columns) == {"true", "a # b", "c'd\"e", "é", "- x", "{y}"}
        assert severe("odd_names", text) == []


@pytest.mark.parametrize(
    ("script", "drafted", "asked"),
    [
        (SCHOOL, {"c.students": "student", "c.subjects": "subject", "c.exams": "student"}, {}),
        (
            LEDGER,
            {"c.accounts": "account", "c.employees": "employee", "c.profiles": "profile"},
            {
                "c.expenses": {"{employee: employee_id}", "{account: account_id}"},
                "c.shifts": {"{employee: employee_id}", "{profile: profile_id}"},
                "c.timesheets": {"{employee: employee_id}", "{customer: customer_id}"},
            },
        ),
        (
            RIDES,
            {"c.driver": "driver", "c.vehicle": "driver"},
            {"c.ride": {"{driver: plate -> c.vehicle.driver_id}", "{rider: rider_id}"}},
        ),
        (
            LOGINS,
            {"c.users": "user", "c.sessions": "user", "c.clients": "client"},
            {"c.gifts": {"{candidate: candidate_id}", "{fan: fan_id}"}},
        ),
    ],
    ids=["school", "ledger", "rides", "logins"],
)
def test_people_of_two_kinds_are_a_question(
    script: str, drafted: dict[str, str], asked: dict[str, set[str]]
) -> None:
    """Neither is protected in a draft until its owner has chosen; both units are there to be taken."""
    with database("kinds_of_people", script):
        text = draft("kinds_of_people").text
        units = _units(text)
        for name, word in drafted.items():
            unit = units[name]
            assert isinstance(unit, IdentifierUnit)
            assert unit.identifier == word
        for name, choices in asked.items():
            assert name not in units
            offered = re.findall(
                rf"^  # {name}: {{unit: ({{.*?}})}}   # protects each ", text, re.M
            )
            assert set(offered) == choices
        assert severe("kinds_of_people", text) == []
