"""No slip of an owner passes silently; `accept` with a reason lets a severe one pass; what is right does."""

from __future__ import annotations

import json

import pytest

from proxy.doctor.all_findings import concerned_tables
from proxy.policy.check import check, fitted
from proxy.policy.finding_names import FindingName, Severity
from proxy.policy.findings import Finding, Verdict
from proxy.policy_file.policy_yaml import read_policy
from proxy.protected.catalog_reader import read_catalog
from tests.databases.clinic import Clinics, source, verdict
from tests.databases.slip_corpus import BARE, CARDS, DOCTORS, KEYED, SLIPS, TRIPS, VIEWS, Slip
from tests.samples import ALL_SAMPLES, checked_sample

pytestmark = pytest.mark.postgres

F = FindingName
_OF_THE_SERVER = (
    "ROLE",
    "NOT_IN",
    "NO_INDEX",
    "NOT_VAC",
    "VIEW_MAY",
    "UNIT_MAY_BE",
    "UNIT_IS",
    "UNIT_THR",
    "INDEX",
    "TOTAL_COULD",
    "TOTAL_RENEWS",
)
_NOT_NOTES = [name for name in FindingName if name.severity is not Severity.NOTE]
_HEAD = "dpproxy: 1\ndatabase: clinic\nsource: ${CLINIC_DSN}\nreuse: none\n"


def _text(slip: Slip, accept: str = "{}") -> str:
    listed = "".join(f"  {table}\n" for table in slip.tables)
    return (
        f"{_HEAD}privacy: {slip.privacy}\nbudgets: {slip.budgets}\n"
        f"tables:\n{listed}accept: {accept}\n{slip.rest}"
    )


def _verdict(text: str) -> Verdict:
    policy = read_policy(text, "clinic.yaml", {"CLINIC_DSN": source()})
    catalog = read_catalog(source())
    assert check(policy, catalog) == []
    return verdict(fitted(policy, catalog))


def _about_policy(found: Verdict) -> list[Finding]:
    return [one for one in found.open if not one.name.name.startswith(_OF_THE_SERVER)]


_BY_SCRIPT = sorted(SLIPS, key=lambda slip: slip.script)


@pytest.mark.every(96)
@pytest.mark.parametrize("slip", _BY_SCRIPT, ids=lambda slip: slip.called.replace(" ", "_"))
def test_a_slip_is_found_and_can_be_accepted(slip: Slip, clinics: Clinics) -> None:
    clinics.make(slip.script)
    found = _verdict(_text(slip))
    named = [
        one
        for one in _about_policy(found)
        if one.where == slip.where and one.name in (slip.name, *_NOT_NOTES)
    ]
    assert [one.name for one in named] == [slip.name], found.open
    assert found.refuses == (slip.name.severity is Severity.SEVERE)
    (finding,) = named
    if finding.where.startswith("c."):
        policy = read_policy(_text(slip), "clinic.yaml", {"CLINIC_DSN": source()})
        assert [str(name) for name in concerned_tables(finding, policy)] == [slip.where]
    accepted = _verdict(_text(slip, _accepting(finding, finding.subjects)))
    assert [one.finding.where for one in accepted.accepted] == [slip.where]
    assert not accepted.refuses
    if finding.subjects and slip.name.severity is Severity.SEVERE:
        for subjects in ((), (*finding.subjects[1:], "another")):
            found = _verdict(_text(slip, _accepting(finding, subjects)))
            assert found.refuses, "what is not named stays open"
            assert "accept does not cover " in found.of(Severity.SEVERE)[0].what


def _accepting(finding: Finding, subjects: tuple[str, ...]) -> str:
    reason = '"it is right"'
    if subjects:
        reason = f"{{covers: {json.dumps(subjects)}, because: {reason}}}"
    return f'{{{finding.name.name}: {{"{finding.where}": {reason}}}}}'


def test_the_corpus_has_each_kind() -> None:
    names = {slip.name for slip in SLIPS}
    assert len(SLIPS) >= 15
    assert names >= {
        *(F.PUBLIC_LOOKS_LIKE_PEOPLE, F.PUBLIC_MAY_LIST_PEOPLE, F.PUBLIC_MAY_NAME_PEOPLE),
        *(F.UNIT_LEADS_ELSEWHERE, F.ROW_UNIT_REFERS_TO_PEOPLE, F.ROW_UNIT_NAMES_PEOPLE),
        *(F.VALUES_NAME_PEOPLE, F.VALUES_LEAVE_OUT_LABELS, F.IDENTIFYING_COLUMN),
        *(F.BUDGET_ABOVE_TOTAL, F.STATEMENT_EPSILON_LARGE, F.STATEMENT_DELTA_LARGE),
        *(F.STATEMENT_DELTA_PUBLISHES, F.TOTAL_DELTA_LARGE),
    }


def test_what_is_accepted_wherever_it_is_found_is_named(clinics: Clinics) -> None:
    script = KEYED + "CREATE TABLE c.nurses (id integer PRIMARY KEY, hired date);"
    tables = ("c.staff: public", "c.nurses: public", "c.feedback: {unit: row}")
    slip = Slip(called="", script=script, tables=tables, name=F.PUBLIC_LOOKS_LIKE_PEOPLE, where="")
    clinics.make(script)
    found = _verdict(_text(slip, '{PUBLIC_LOOKS_LIKE_PEOPLE: "ok"}'))
    (named,) = [one for one in found.open if one.name is F.ACCEPTED_WHEREVER]
    assert "c.nurses, c.staff" in named.what or "c.staff, c.nurses" in named.what
    by_place = '{PUBLIC_LOOKS_LIKE_PEOPLE: {c.staff: "ok", c.nurses: "ok"}}'
    found = _verdict(_text(slip, by_place))
    assert [one for one in found.open if one.name is F.ACCEPTED_WHEREVER] == []


_BORN = "bounds: [1900-01-01, 2030-01-01]"
_PATIENTS = f"c.patients: {{unit: {{patient: id}}, columns: {{born: {{{_BORN}}}}}}}"
_RIGHT = {
    "with keys": (
        KEYED,
        (
            "c.patients: {unit: {patient: id}, columns: {sex: {values: [f, m, x, null]},"
            f" born: {{{_BORN}}}}}}}",
            "c.visits: {unit: {patient: patient_id}, max_rows_per_unit: 9, columns: {id: {}, cost: {},"
            " stars: {bounds: [1, 5]}, state: {values: [booked, attended, missed]},"
            " site: {references: c.sites.code}}}",
            "c.results: {unit: {patient: visit_id -> c.visits.patient_id}, max_rows_per_unit: 9}",
            "c.feedback: {unit: {patient: visit_id -> c.visits.patient_id}, max_rows_per_unit: 9}",
            "c.claims: {unit: {patient: patient_id}, max_rows_per_unit: 9}",
            "c.staff: {unit: row}",
            "c.sites: public",
        ),
    ),
    "without keys": (
        BARE,
        (
            "c.people: {unit: {user: id}}",
            "c.orders: {unit: {user: user_id}, max_rows_per_unit: 9, columns: {id: {}}}",
            "c.lines: {unit: {user: order_id -> c.orders.user_id}, max_rows_per_unit: 9}",
            f"c.kunden: {{unit: {{customer: kundennr}}, columns: {{geburtsdatum: {{{_BORN}}}}}}}",
        ),
    ),
    "values of no people": (
        KEYED + "ALTER TABLE c.visits ADD kind text NOT NULL, ADD day date NOT NULL;",
        (
            "c.visits: {unit: {patient: patient_id}, max_rows_per_unit: 9, columns: {day: {values:"
            ' [2024-01-01, 2024-02-01]}, kind: {values: ["2023-2024", "1961-03-04", "10.1.2.3", "10000-20000",'
            ' "08.00-12.00", "01.2024 - 03.2024", "1000 - 2000", "12345678", "100.000-200.000", "1.0.0.2024",'
            ' "01/2024-03/2024", "0800-1200", "M-AB", "n/a", "Main St. 5",'
            ' "Full time", "New York", "Berlin", "A10.0"]}}}',
        ),
    ),
    "lists of kinds and places": (
        KEYED
        + "ALTER TABLE c.visits ADD city text, ADD plan text, ADD weekday text, ADD color text, ADD shift text,"
        " ADD outcome text, ADD lang text, ADD asked text, ADD size text;",
        (
            "c.visits: {unit: {patient: patient_id}, max_rows_per_unit: 9, columns: {"
            "city: {values: [Berlin, Hamburg, Turku, null]}, plan: {values: [Ace, Base, null]},"
            " weekday: {values: [Mon, Tue, null]}, color: {values: [Teal, Mauve, null]},"
            " shift: {values: [Early, Late, null]}, outcome: {values: [Healed, Moved, null]},"
            " lang: {values: [de, en, null]}, asked: {values: ['Yes', 'No', null]},"
            " size: {values: [S, M, XL, null]}}}",
        ),
    ),
    "patients with doctors": (
        KEYED + DOCTORS,
        (
            _PATIENTS,
            "c.visits: {unit: {patient: patient_id}, max_rows_per_unit: 9}",
            "c.staff: {unit: {staff: id}}",
        ),
    ),
    "households": (
        KEYED + "CREATE TABLE c.households (id integer PRIMARY KEY, rooms integer);"
        "ALTER TABLE c.patients ADD household_id integer NOT NULL REFERENCES c.households;"
        "ALTER TABLE c.visits ADD household_id integer NOT NULL REFERENCES c.households;",
        (
            "c.households: {unit: {household: id}}",
            "c.patients: {unit: {household: household_id}, max_rows_per_unit: 9}",
            "c.visits: {unit: {household: household_id}, max_rows_per_unit: 9}",
        ),
    ),
    "numbers of customers and words for things": (
        BARE
        + "CREATE TABLE c.calls (id integer PRIMARY KEY, kd_nr integer NOT NULL, household integer,"
        " account text, device_id text NOT NULL);"
        "CREATE TABLE c.beeps (id integer PRIMARY KEY, account text, device_id text NOT NULL);",
        (
            "c.calls: {unit: {customer: kd_nr}, max_rows_per_unit: 9}",
            "c.beeps: {unit: {device: device_id}, max_rows_per_unit: 9}",
        ),
    ),
    "a card and who drives": (
        BARE + CARDS + "CREATE TABLE c.drivers (id integer PRIMARY KEY, since date);"
        "ALTER TABLE c.trips ADD FOREIGN KEY (card) REFERENCES c.cards,"
        " ADD driver_id integer REFERENCES c.drivers;",
        (TRIPS, "c.cards: {unit: {card: id}}"),
    ),
    "an heir that is called child": (
        KEYED + "CREATE TABLE c.child () INHERITS (c.sites);",
        (
            _PATIENTS,
            "c.visits: {unit: {patient: patient_id}, max_rows_per_unit: 9}",
            "c.sites: public",
        ),
    ),
    "one row of each person": (
        KEYED
        + "CREATE TABLE c.blood (patient_id integer PRIMARY KEY REFERENCES c.patients, kind text);"
        "CREATE TABLE c.kinds (patient_id integer PRIMARY KEY REFERENCES c.blood, kind text);",
        ("c.patients: {unit: row}", "c.blood: {unit: row}", "c.kinds: {unit: row}"),
    ),
    "views": (
        KEYED + VIEWS,
        (
            _PATIENTS,
            "c.visits: {unit: {patient: patient_id}, max_rows_per_unit: 9}",
            "c.shown: {unit: {patient: p}, max_rows_per_unit: 9}",
            "c.outer: {unit: {patient: q}, max_rows_per_unit: 9}",
        ),
    ),
    "lookups": (
        KEYED + "CREATE TABLE c.birth_rates (year integer PRIMARY KEY, births integer);"
        "CREATE TABLE c.site_sizes (site text PRIMARY KEY, patients integer);",
        (_PATIENTS, "c.birth_rates: public", "c.site_sizes: public"),
    ),
    "people who are nowhere": (BARE, ("c.orders: {unit: {user: user_id}, max_rows_per_unit: 9}",)),
}


def _right(clinics: Clinics, called: str) -> Slip:
    script, tables = _RIGHT[called]
    clinics.make(script)
    return Slip(called="", script=script, tables=tables, name=F.UNREADABLE, where="")


@pytest.mark.every(7)
@pytest.mark.parametrize("called", _RIGHT)
def test_what_is_right_is_left_in_peace(called: str, clinics: Clinics) -> None:
    assert _about_policy(_verdict(_text(_right(clinics, called)))) == []


@pytest.mark.every(6)
@pytest.mark.parametrize("name", [sample.name for sample in ALL_SAMPLES])
def test_samples_are_left_in_peace(name: str) -> None:
    from proxy.cli.loading import verdict_of

    found = verdict_of(checked_sample(name))
    assert len(found.of(Severity.SEVERE)) <= 1
    assert found.of(Severity.SEVERE) == ()
    of_people = [one for one in _about_policy(found) if one.severity is Severity.WARNING]
    assert [one.name for one in of_people if one.name is not F.PUBLIC_MAY_NAME_PEOPLE] == []
