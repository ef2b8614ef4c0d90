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
    script = copy_script(table, read_catalog(policy.source).tables[_VISITS], 5, ROLE)
    assert script is not None
    clinic.execute(script.partition("VACUUM")[0].encode())


def test_a_copy_is_told_until_it_is_as_it_has_to_be(clinic: Superuser) -> None:
    assert "not there" in _found()[FindingName.COPY_IS_NOT_USED]
    _fill(clinic)
    assert _found() == {}


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


def test_a_large_table_without_a_copy_is_told(
    clinic: Superuser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _found("") == {}
    monkeypatch.setattr(copies_diagnosis, "_LARGE_BYTES", 8192)
    assert list(_found("")) == [FindingName.COPY_WOULD_PAY]
