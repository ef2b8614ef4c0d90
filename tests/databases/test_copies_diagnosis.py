"""What `doctor` says of prepared copies: why one is not read, and where one would pay."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxy.catalog.catalog_model import TableName
from proxy.compiler.copy_view import copy_script
from proxy.doctor import copies_diagnosis
from proxy.policy.finding_names import FindingName
from proxy.policy.policy_model import ProtectedTable
from proxy.protected.catalog_reader import read_catalog
from tests.databases.clinic import ROLE, Superuser, clinic_policy, made_clinic, verdict

_SETUP = """
CREATE SCHEMA c;
CREATE TABLE c.visits (id integer PRIMARY KEY, person integer NOT NULL, cost integer, note text);
INSERT INTO c.visits SELECT i, i % 500, i FROM generate_series(1, 3000) i;
CREATE TABLE c.orders (id integer PRIMARY KEY, person text);
CREATE TABLE c.lines (id integer PRIMARY KEY, order_id integer, cost integer);
INSERT INTO c.orders SELECT i, i % 500 FROM generate_series(1, 1000) i;
INSERT INTO c.lines SELECT i, i % 1100, i FROM generate_series(1, 3000) i;
"""
_POLICY = """
tables:
  c.visits:
    unit: {person: person}
    max_rows_per_unit: 5
    columns: {cost: {bounds: [0, 100]}, note: {}}
    %s
"""
_VISITS = TableName("c", "visits")
_COPIES = {one for one in FindingName if one.name.startswith("COPY_")}


@pytest.fixture
def clinic() -> Iterator[Superuser]:
    with made_clinic(_SETUP) as connection:
        yield connection


def _found(prepared: str = "prepared: {table: dp.visits, max_age: 1h}") -> dict[FindingName, str]:
    found = verdict(clinic_policy(_POLICY % prepared)).open
    return {one.name: one.what for one in found if one.name in _COPIES}


def _fill(clinic: Superuser) -> None:
    policy = clinic_policy(_POLICY % "prepared: {table: dp.visits, max_age: 1h}")
    table = policy.tables[_VISITS]
    assert isinstance(table, ProtectedTable)
    script = copy_script(table, read_catalog(policy.source), 5, ROLE)
    assert script is not None
    clinic.execute(script.partition("VACUUM")[0].encode())


def test_a_copy_is_told_until_it_is_as_it_has_to_be(clinic: Superuser) -> None:
    assert "not there" in _found()[FindingName.COPY_IS_NOT_USED]
    _fill(clinic)
    assert _found() == {}


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("change", "name", "what"),
    [
        ("ALTER TABLE dp.visits DROP CONSTRAINT slot_is_bounded", "COPY_IS_NOT_USED", "CHECK"),
        (f"GRANT UPDATE (cost) ON dp.visits TO {ROLE}", "COPY_IS_NOT_USED", "may not write"),
        ("ALTER TABLE dp.visits DROP COLUMN cost", "COPY_IS_NOT_USED", "no column cost"),
        ("UPDATE dp.prepared SET as_of = '2020-01-01'", "COPY_IS_NOT_USED", "older"),
        (
            'ALTER TABLE dp.visits ALTER COLUMN note TYPE text COLLATE "C"',
            "COPY_IS_NOT_USED",
            "column note has another type or collation",
        ),
        ("TRUNCATE dp.prepared", "COPY_IS_NOT_USED", "as of when"),
        (
            "CREATE OR REPLACE VIEW dp.visits_source AS SELECT person, 1 AS slot, cost, note FROM c.visits",
            "COPY_IS_NOT_AS_PRINTED",
            "kept apart",
        ),
    ],
)
def test_what_is_wrong_with_a_copy_is_told(
    clinic: Superuser, change: str, name: str, what: str
) -> None:
    _fill(clinic)
    clinic.execute(change.encode())
    ((found, text),) = _found().items()
    assert found.name == name and what in text


_REFERRING = """
tables:
  c.orders: {unit: {person: person}, max_rows_per_unit: 5, columns: {}}
  c.lines:
    unit: {person: order_id -> c.orders.person}
    max_rows_per_unit: 5
    columns: {cost: {bounds: [0, 100]}}
    %s
"""
_OF_LINES = "prepared: {table: dp.lines, max_age: 1h}"
_LINES = TableName("c", "lines")


def _found_of_lines(prepared: str = _OF_LINES) -> dict[FindingName, str]:
    found = verdict(clinic_policy(_REFERRING % prepared)).open
    return {one.name: one.what for one in found if one.name in _COPIES}


def _fill_lines(clinic: Superuser) -> None:
    policy = clinic_policy(_REFERRING % _OF_LINES)
    table = policy.tables[_LINES]
    assert isinstance(table, ProtectedTable)
    script = copy_script(table, read_catalog(policy.source), 5, ROLE)
    assert script is not None
    clinic.execute(script.partition("VACUUM")[0].encode())


def test_a_copy_through_a_reference_is_told_until_it_is_as_it_has_to_be(clinic: Superuser) -> None:
    assert "not there" in _found_of_lines()[FindingName.COPY_IS_NOT_USED]
    _fill_lines(clinic)
    assert _found_of_lines() == {}


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("change", "name", "what"),
    [
        (
            "ALTER TABLE dp.lines DROP CONSTRAINT slot_is_bounded",
            "COPY_IS_NOT_USED",
            "PRIMARY KEY (dp_unit, slot)",
        ),
        (
            "ALTER TABLE dp.lines ALTER dp_unit TYPE varchar(9)",
            "COPY_IS_NOT_USED",
            "its column dp_unit has another type than person in c.orders",
        ),
        (  # equal there is more than in the copy
            'ALTER TABLE dp.lines ALTER COLUMN dp_unit TYPE text COLLATE "C"',
            "COPY_IS_NOT_USED",
            "column dp_unit has another type or collation",
        ),
        (
            "ALTER TABLE dp.lines DROP COLUMN order_id",
            "COPY_IS_NOT_USED",
            "no column order_id",
        ),
        ("ALTER TABLE c.lines ADD dp_unit integer", "COPY_IS_NOT_USED", "dp_unit"),
        (
            "CREATE OR REPLACE VIEW dp.lines_source AS SELECT 1 AS slot, t.order_id, t.cost,"
            " u.person AS dp_unit FROM c.lines t JOIN c.orders u ON u.id = t.order_id",
            "COPY_IS_NOT_AS_PRINTED",
            "kept apart",
        ),
    ],
)
def test_what_is_wrong_with_a_copy_through_a_reference_is_told(
    clinic: Superuser, change: str, name: str, what: str
) -> None:
    _fill_lines(clinic)
    clinic.execute(change.encode())
    ((found, text),) = _found_of_lines().items()
    assert found.name == name and what in text, text


def test_a_copy_of_a_partitioned_table_is_read(clinic: Superuser) -> None:
    clinic.execute(
        b"ALTER TABLE c.visits RENAME TO part; ALTER TABLE c.part DROP CONSTRAINT visits_pkey;"
        b"CREATE TABLE c.visits (LIKE c.part, PRIMARY KEY (id)) PARTITION BY RANGE (id);"
        b"ALTER TABLE c.visits ATTACH PARTITION c.part FOR VALUES FROM (0) TO (10000);"
        + f"GRANT SELECT ON c.visits TO {ROLE}".encode()
    )
    _fill(clinic)
    assert _found() == {}


def test_a_large_table_behind_a_reference_without_a_copy_is_told(
    clinic: Superuser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies_diagnosis, "_LARGE_BYTES", 8192)
    assert list(_found_of_lines("")) == [FindingName.COPY_WOULD_PAY]


def test_a_copy_that_nothing_would_read_is_told(
    clinic: Superuser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A smallest group counts people; nor is a copy of such a table proposed."""
    smallest = "min_units_per_group: 5"
    _fill(clinic)
    copy = "prepared: {table: dp.visits, max_age: 1h}"
    found = _found(f"{copy}\n    {smallest}")
    assert "smallest group" in found[FindingName.COPY_IS_NOT_USED]
    monkeypatch.setattr(copies_diagnosis, "_LARGE_BYTES", 8192)
    assert _found(smallest) == {}


@pytest.mark.usefixtures("clinic")
def test_what_is_to_be_printed_has_a_bound() -> None:
    """Of a table whose bound is chosen a number of rows has to be said."""
    for bound in ("5", "auto"):
        text = _POLICY.replace("max_rows_per_unit: 5", f"max_rows_per_unit: {bound}")
        policy = clinic_policy(text % "prepared: {table: dp.visits, max_age: 1h}")
        (fix,) = (
            one.fix for one in verdict(policy).open if one.name is FindingName.COPY_IS_NOT_USED
        )
        assert fix.endswith("--table c.visits" + (" --rows K" if bound == "auto" else ""))


def test_a_large_table_without_a_copy_is_told(
    clinic: Superuser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _found("") == {}
    monkeypatch.setattr(copies_diagnosis, "_LARGE_BYTES", 8192)
    assert list(_found("")) == [FindingName.COPY_WOULD_PAY]
