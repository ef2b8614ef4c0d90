"""What protects one kind of people and leaves out another is found, also where no word says who they are."""

from __future__ import annotations

import re

import pytest

from proxy.policy.finding_names import Severity
from proxy.policy.findings import Finding
from proxy.policy_file.policy_schema import MANUAL
from tests.databases.clinic import Clinics, clinic_policy, verdict
from tests.databases.kinds_corpus import HONEST, QUIET, SEVERE, WARNED, Case

pytestmark = pytest.mark.postgres

_OF_THE_SERVER = ("ROLE", "NOT_", "NO_INDEX", "VIEW_MAY", "SLOW", "TOTAL_", "STATEMENT_", "BUDGET_")


def _found(case: Case, clinics: Clinics, severity: Severity) -> list[Finding]:
    clinics.make(case.script)
    listed = "".join(f"  {table}\n" for table in case.tables)
    found = verdict(clinic_policy(f"tables:\n{listed}")).of(severity)
    return [one for one in found if not one.name.name.startswith(_OF_THE_SERVER)]


def _by_script(cases: tuple[Case, ...]) -> list[Case]:
    return sorted(cases, key=lambda case: case.script)


@pytest.mark.every(10)
@pytest.mark.parametrize("case", _by_script(SEVERE), ids=lambda case: case.called.replace(" ", "_"))
def test_a_severe_slip(case: Case, clinics: Clinics) -> None:
    found = _found(case, clinics, Severity.SEVERE)
    assert [one.where for one in found] == [f"c.{case.where}"], found


@pytest.mark.every(32)
@pytest.mark.parametrize("case", _by_script(WARNED), ids=lambda case: case.called.replace(" ", "_"))
def test_a_slip_with_a_warning(case: Case, clinics: Clinics) -> None:
    found = [*_found(case, clinics, Severity.SEVERE), *_found(case, clinics, Severity.WARNING)]
    assert f"c.{case.where}" in [one.where for one in found], found


@pytest.mark.every(10)
@pytest.mark.parametrize("case", _by_script(HONEST), ids=lambda case: case.called.replace(" ", "_"))
def test_an_honest_policy_is_left_in_peace(case: Case, clinics: Clinics) -> None:
    found = [*_found(case, clinics, Severity.SEVERE), *_found(case, clinics, Severity.WARNING)]
    assert found == []


@pytest.mark.every(8)
@pytest.mark.parametrize("case", _by_script(QUIET), ids=lambda case: case.called.replace(" ", "_"))
def test_an_honest_policy_costs_at_most_a_warning(case: Case, clinics: Clinics) -> None:
    assert _found(case, clinics, Severity.SEVERE) == []


_STORES = """
CREATE SCHEMA shop;
CREATE TABLE shop.stores (id integer PRIMARY KEY, name text, manager_email text);
CREATE TABLE shop.holidays (id integer PRIMARY KEY, day date, label text);
CREATE TABLE shop.customers (id integer PRIMARY KEY, joined date);
CREATE SCHEMA c;
GRANT USAGE ON SCHEMA shop TO patient;
GRANT SELECT ON ALL TABLES IN SCHEMA shop TO patient;
"""


def test_the_examples_of_the_manual_have_an_effect(clinics: Clinics) -> None:
    (line,) = (
        one for one in MANUAL.read_text("utf-8").splitlines() if one.startswith("| `accept` ")
    )
    examples = list(re.findall(r"`({[A-Z_]+: {.*?})`", line))
    assert len(examples) == 2
    clinics.make(_STORES)
    listed = (
        "  shop.customers: {unit: {customer: id}}\n  shop.stores: public\n  shop.holidays: public\n"
    )
    before = verdict(clinic_policy(f"tables:\n{listed}"))
    for example in examples:
        found = verdict(clinic_policy(f"tables:\n{listed}accept: {example}\n"))
        assert len(found.accepted) == 1, example
        assert len(found.open) == len(before.open) - 1
