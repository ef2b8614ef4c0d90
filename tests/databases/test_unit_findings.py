"""Policies whose units are not what they protect, each against a database of its own; what is accepted."""

from __future__ import annotations

import re

import pytest

from proxy.policy.finding_names import FindingName, Severity
from proxy.policy.findings import Finding
from proxy.policy.person_words import listed_words, person_named, person_of_table
from tests.databases.clinic import Clinics, clinic_policy, made_clinic, may_read, verdict
from tests.databases.people_clinic import COUNTRIES, PEOPLE, ROOMS, TABLES, VISITS, found, told

F = FindingName


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("script", "tables", "what"),
    [
        (
            "CREATE TABLE c.old () INHERITS (c.rooms)",
            ["c.rooms: {unit: row}", "c.old: public"],
            (F.PROTECTED_ROWS_ARE_PUBLIC, "c.old"),
        ),
        (
            "CREATE TABLE c.calls (id integer, cost integer) PARTITION BY LIST (id);"
            " CREATE TABLE c.calls1 PARTITION OF c.calls DEFAULT PARTITION BY LIST (cost);"
            " CREATE TABLE c.calls2 PARTITION OF c.calls1 DEFAULT",
            ["c.calls: {unit: row}", "c.calls2: public"],
            (F.PROTECTED_ROWS_ARE_PUBLIC, "c.calls2"),
        ),
        (
            "CREATE VIEW c.ages AS SELECT age FROM c.people",
            [PEOPLE, "c.ages: {unit: row}"],
            (F.PROTECTED_IN_TWO_WAYS, "c.ages"),
        ),
        (
            "CREATE TABLE c.old () INHERITS (c.rooms)",
            ["c.rooms: {unit: row}", "c.old: {unit: {rows: 3}}"],
            (F.PROTECTED_IN_TWO_WAYS, "c.rooms"),
        ),
    ],
    ids=["child", "partition", "view", "child with another unit"],
)
def test_rows_that_stand_in_two_tables(
    script: str, tables: list[str], what: tuple[FindingName, str]
) -> None:
    assert told(found(script, *tables)) == [what]


def test_a_view_on_public_rows_is_safe() -> None:
    assert (
        found("CREATE VIEW c.names AS SELECT name FROM c.rooms", "c.names: {unit: row}", ROOMS)
        == []
    )


@pytest.mark.every(7)
@pytest.mark.parametrize(
    ("script", "tables", "name"),
    [
        ("", [PEOPLE, "c.visits: {unit: row}"], F.ROW_UNIT_REFERS_TO_PEOPLE),
        ("", [PEOPLE, "c.visits: {unit: {rows: 9}}"], F.ROW_UNIT_REFERS_TO_PEOPLE),
        ("", ["c.people: {unit: row}", "c.visits: {unit: row}"], F.ROW_UNIT_REFERS_TO_PEOPLE),
        ("", [VISITS, "c.lines: {unit: row}"], F.ROW_UNIT_REFERS_TO_PEOPLE),
        ("", [PEOPLE, "c.lines: {unit: row}"], F.ROW_UNIT_REFERS_TO_PEOPLE),  # through visits
        (
            "CREATE TABLE c.calls (person integer REFERENCES c.people)",
            [VISITS, "c.calls: {unit: row}"],  # people are not in the policy
            F.ROW_UNIT_REFERS_TO_PEOPLE,
        ),
        (
            "CREATE VIEW c.costs AS SELECT cost FROM c.visits",
            [PEOPLE, "c.costs: {unit: row}"],
            F.ROW_UNIT_REFERS_TO_PEOPLE,
        ),
        (
            "CREATE TABLE c.calls (person_id integer)",
            [PEOPLE, "c.calls: {unit: row}"],
            F.ROW_UNIT_NAMES_PEOPLE,
        ),
    ],
    ids=["row", "rows", "rows of rows", "path", "chain", "sister", "view", "name"],
)
def test_a_unit_that_is_less_than_a_person(
    script: str, tables: list[str], name: FindingName
) -> None:
    findings = found(script, *tables)
    assert [f.name for f in findings] == [name], findings
    assert findings[0].path[-1] == "unit"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("script", "tables"),
    [
        ("", ["c.people: {unit: row}", COUNTRIES]),
        ("ALTER TABLE c.people ADD boss integer REFERENCES c.people", ["c.people: {unit: row}"]),
        (  # one row each
            "CREATE TABLE c.details (person integer PRIMARY KEY REFERENCES c.people)",
            [PEOPLE, "c.details: {unit: row}"],
        ),
    ],
    ids=["dimension", "itself", "one each"],
)
def test_a_row_unit_that_is_a_person(script: str, tables: list[str]) -> None:
    assert found(script, *tables) == []


def test_two_names_of_the_same_people() -> None:
    assert told(found("", PEOPLE, VISITS.replace("{person:", "{patient:"))) == [
        (F.SAME_PEOPLE_TWO_NAMES, "c.visits")
    ]


def test_labels_and_checks() -> None:
    with made_clinic(
        TABLES
        + "CREATE TYPE c.mood AS ENUM ('sad', 'ok'); CREATE DOMAIN c.few AS integer CHECK (VALUE < 10);"
        ' CREATE TABLE c.days (id integer PRIMARY KEY, mood c.mood, "Time % of day" text'
        """ CHECK ("Time % of day" IN ('am', 'pm')), number c.few,"""
        " size integer CHECK (size > 0 AND size <> 7), other integer CHECK (other > size))"
    ) as connection:
        may_read(connection)
        policy = clinic_policy(
            "tables:\n  c.days:\n    unit: row\n    columns:\n"
            "      mood: {values: [sad, glad, null]}\n"
            "      Time % of day: {values: [am, noon, night, null]}\n"
            "      number: {values: [9, 10]}\n"
            "      size: {values: [1, 2, 7]}\n"
            "      other: {values: [0]}\n"
        )
        findings = verdict(policy).of(Severity.SEVERE)
    assert [(f.name, f.path[-3:], f.what) for f in findings] == [
        (
            F.VALUES_NOT_IN_ENUMERATION,
            ("mood", "values", 1),
            "c.days: column 'mood' has the keys 'glad': the enumeration has no such label",
        ),
        (
            F.VALUES_AGAINST_CHECK,
            ("Time % of day", "values", 1),
            "c.days: column 'Time % of day' has the keys 'noon', 'night': the constraint "
            "days_Time % of day_check forbids that",
        ),
        (
            F.VALUES_AGAINST_CHECK,
            ("number", "values", 1),
            "c.days: column 'number' has the keys '10': the constraint few_check forbids that",
        ),
        (
            F.VALUES_AGAINST_CHECK,
            ("size", "values", 2),
            "c.days: column 'size' has the keys '7': the constraint days_size_check forbids that",
        ),
    ]


def test_what_is_accepted() -> None:
    with made_clinic(TABLES) as connection:
        may_read(connection)
        tables = f"tables:\n  {VISITS}\n  c.people: public\n  c.lines: public\n"
        by_place = (
            'accept: {PUBLIC_LISTS_PEOPLE: {c.people: {covers: [id], because: "invented"}},'
            ' ROLE_OWNS: {c.line: "it reads"}}'
        )
        found = verdict(clinic_policy(tables + by_place))
        assert [(f.name, f.where) for f in found.of(Severity.SEVERE)] == [
            (F.PUBLIC_REFERS_TO_PEOPLE, "c.lines")
        ]
        assert [(a.finding.where, a.reason) for a in found.accepted] == [("c.people", "invented")]
        without = [f for f in found.open if f.name is F.ACCEPTED_WITHOUT_EFFECT]
        assert [f.path for f in without] == [("accept", "ROLE_OWNS", "c.line")]
        everywhere = (
            'accept: {PUBLIC_LISTS_PEOPLE: "invented", PUBLIC_REFERS_TO_PEOPLE: "invented",'
            ' ROLE_OWNS: "ours"}'
        )
        found = verdict(clinic_policy(tables + everywhere))
        assert [f.what.rpartition("; ")[2] for f in found.of(Severity.SEVERE)] == [
            "accept does not cover id",
            "accept does not cover visit",
        ]
        assert [f.what for f in found.of(Severity.WARNING)][-1:] == [
            "the policy accepts ROLE_OWNS, which was not found"
        ]


pytestmark = pytest.mark.postgres

_IRREGULAR = {"child": "children", "midwife": "midwives", "person": "people"}
_IRREGULAR |= {"salesperson": "salespeople", "staff": "staff", "insured": "insured"}
_IRREGULAR |= {"accused": "accused", "pers": "pers"}
_WORDS = [word for word in listed_words() if len(word) > 2]  # kd is short for both


def _plural(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


@pytest.mark.parametrize("word", _WORDS)
def test_a_plural_is_its_singular(word: str) -> None:
    assert person_named(_plural(word)) == person_named(word) == person_of_table(word)
    assert person_of_table(_plural(word)) == person_of_table(word)


def _found(clinics: Clinics, forms: dict[str, tuple[str, str]], column: str) -> list[Finding]:
    made = "".join(
        f'CREATE TABLE c."{table}" (id integer PRIMARY KEY, grade integer);'
        for table, _ in forms.values()
    )
    clinics.make(f"CREATE SCHEMA c;{made}")
    listed = "".join(
        f"  c.{table}: {{unit: {{{identifier}: {column}}}}}\n"
        for table, identifier in forms.values()
    )
    found = verdict(clinic_policy(f"tables:\n{listed}")).open
    return [one for one in found if one.name is FindingName.UNIT_LEADS_ELSEWHERE]


@pytest.mark.every(4)
@pytest.mark.parametrize("is_plural_identifier", [False, True])
@pytest.mark.parametrize("is_plural_table", [False, True])
def test_people_by_another_column_than_their_key(
    clinics: Clinics, *, is_plural_table: bool, is_plural_identifier: bool
) -> None:
    forms = {
        word: (
            _plural(word) if is_plural_table else word,
            _plural(word) if is_plural_identifier else word,
        )
        for word in _WORDS
    }
    assert _found(clinics, forms, "id") == []
    wrong = {one.where for one in _found(clinics, forms, "grade")}
    assert {word for word in _WORDS if f"c.{forms[word][0]}" not in wrong} == set()


_KIDS = """
CREATE SCHEMA c;
CREATE TABLE c.kids (id integer PRIMARY KEY, grade integer);
CREATE TABLE c.absences (kid_id integer NOT NULL REFERENCES c.kids, day date, reason text);
CREATE VIEW c.seen AS SELECT kid_id AS kid, day FROM c.absences;
CREATE VIEW c.counted AS SELECT kid_id AS x, count(*) AS n FROM c.absences GROUP BY 1;
"""


@pytest.mark.every(5)
@pytest.mark.parametrize("identifier", ["kid", "child", "kids", "ward"])
@pytest.mark.parametrize("view", ["c.seen: {unit: {%s: kid}}", "c.counted: {unit: {%s: x}}"])
def test_a_view_by_the_right_column_is_left_in_peace(
    clinics: Clinics, view: str, identifier: str
) -> None:
    clinics.make(_KIDS)
    listed = f"  c.kids: {{unit: {{{identifier}: id}}}}\n  {view % identifier}\n"
    found = verdict(clinic_policy(f"tables:\n{listed}")).open
    assert [one for one in found if one.name is FindingName.UNIT_LEADS_ELSEWHERE] == []


def test_no_message_sends_a_column_from_a_table_to_itself(clinics: Clinics) -> None:
    """A table of the same people, whose unit is another column than the one that is referred to."""
    clinics.make(
        "CREATE SCHEMA c; CREATE TABLE c.pupils (id integer PRIMARY KEY, seat integer UNIQUE);"
        "CREATE TABLE c.marks (who integer REFERENCES c.pupils, points integer);"
    )
    tables = "  c.pupils: {unit: {ward: seat}}\n  c.marks: {unit: {ward: who}}\n"
    found = verdict(clinic_policy(f"tables:\n{tables}")).open
    (told,) = [one for one in found if one.where == "c.marks" and "foreign key" in one.what]
    assert "leads to another column of c.pupils than its unit" in told.what
    assert re.search(r"(c\.\w+), not to \1\b", told.what) is None
