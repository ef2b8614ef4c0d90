"""A word for people has one verdict in singular and plural, as the name of a table and as an identifier."""

from __future__ import annotations

import re

import pytest

from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.person_words import listed_words, person_named, person_of_table
from tests.databases.clinic import Clinics, clinic_policy, verdict

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


@pytest.mark.every(2)
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
