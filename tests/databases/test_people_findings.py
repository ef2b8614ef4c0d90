"""Policies that publish people, each against a database of its own: what is found, and what is not."""

from __future__ import annotations

import pytest

from proxy.policy.finding_names import FindingName, Severity
from tests.databases.people_clinic import COUNTRIES, LINES, PEOPLE, ROOMS, VISITS, found, told

F = FindingName


def test_protected_tables_with_public_dimensions_are_left_in_peace() -> None:
    assert found("", PEOPLE, VISITS, LINES, COUNTRIES, ROOMS) == []


def test_a_protected_view_that_reads_a_public_table_is_left_in_peace() -> None:
    """Both tables beneath it have a column of that name; the public one is no list of people for that."""
    view = (
        "CREATE VIEW c.seen AS SELECT p.id, r.name FROM c.people p JOIN c.rooms r ON r.id = p.age"
    )
    assert found(view, "c.seen: {unit: {person: id}, max_rows_per_unit: 5}", ROOMS) == []


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("script", "tables", "what"),
    [
        ("", [VISITS, "c.people: public"], "c.visits.person refers to its column 'id'"),
        # The public table is found through one that the policy does not name.
        (
            "CREATE TABLE c.register (number integer PRIMARY KEY);"
            " ALTER TABLE c.people ADD FOREIGN KEY (id) REFERENCES c.register",
            [VISITS, "c.register: public"],
            "c.people.id refers to its column 'number'",
        ),
        # The reference that leads to the unit.
        (
            "CREATE TABLE c.heads (visit integer PRIMARY KEY);"
            " ALTER TABLE c.lines ADD FOREIGN KEY (visit) REFERENCES c.heads",
            [VISITS, LINES, "c.heads: public"],
            "c.lines.visit refers to its column 'visit'",
        ),
        # Each row is a person, who is listed elsewhere.
        (
            "ALTER TABLE c.people ADD FOREIGN KEY (id) REFERENCES c.rooms",
            ["c.people: {unit: row}", ROOMS],
            "c.people.id refers to its column 'id'",
        ),
        # What the policy says is as good as a foreign key.
        (
            "",
            [
                VISITS,
                "c.lines: {unit: {person: visit -> c.visits.person}, max_rows_per_unit: 50,"
                " columns: {visit: {references: c.rooms.id}}}",
                ROOMS,
            ],
            "c.lines.visit refers to its column 'id'",
        ),
        # Of two columns, the second is the person.
        (
            "CREATE TABLE c.members (clinic integer, number integer, PRIMARY KEY (clinic, number));"
            " ALTER TABLE c.visits ADD clinic integer, ADD FOREIGN KEY (clinic, person) REFERENCES c.members",
            [VISITS, "c.members: public"],
            "c.visits.person refers to its column 'number'",
        ),
        # A protected view: its column is most likely that of the table beneath it.
        (
            "CREATE VIEW c.seen AS SELECT v.person, v.cost FROM c.visits v",
            ["c.seen: {unit: {person: person}, max_rows_per_unit: 5}", "c.people: public"],
            "c.visits.person refers to its column 'id'",
        ),
        # A key that nobody has checked says what it is about all the same.
        (
            "CREATE TABLE c.cards (person integer PRIMARY KEY);"
            " ALTER TABLE c.visits ADD FOREIGN KEY (person) REFERENCES c.cards NOT VALID",
            [VISITS, "c.cards: public"],
            "c.visits.person refers to its column 'person'",
        ),
        # An heir, which has no foreign key of its own
        (
            "CREATE TABLE c.calls (person integer REFERENCES c.rooms);"
            " CREATE TABLE c.calls1 () INHERITS (c.calls)",
            ["c.calls1: {unit: {caller: person}, max_rows_per_unit: 5}", ROOMS],
            "c.calls.person refers to its column 'id'",
        ),
        # Partitions
        (
            "CREATE TABLE c.calls (person integer REFERENCES c.rooms) PARTITION BY LIST (person);"
            " CREATE TABLE c.calls1 PARTITION OF c.calls DEFAULT",
            ["c.calls1: {unit: {caller: person}, max_rows_per_unit: 5}", ROOMS],
            "refers to its column 'id'",
        ),
    ],
    ids=[
        "unit",
        "chain",
        "path",
        "row",
        "policy",
        "composite",
        "view",
        "not valid",
        "heir",
        "partition",
    ],
)
def test_a_public_table_that_lists_people(script: str, tables: list[str], what: str) -> None:
    findings = found(script, *tables)
    assert [f.name for f in findings] == [F.PUBLIC_LISTS_PEOPLE], findings
    assert what in findings[0].what
    assert findings[0].severity is Severity.SEVERE
    assert findings[0].path == ("tables", findings[0].where)


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("script", "tables", "what"),
    [
        ("", [PEOPLE, "c.visits: public"], "its column 'person' refers to c.people.id"),
        ("", [VISITS, "c.lines: public"], "its column 'visit' refers to c.visits.id"),
        # Through tables that the policy does not name: visits and people, then a common list of people.
        ("", [PEOPLE, "c.lines: public"], "its foreign key (visit) refers to c.visits"),
        (
            "CREATE TABLE c.reviews (person integer REFERENCES c.people, stars integer)",
            [VISITS, "c.reviews: public"],
            "its column 'person' refers to c.people.id",
        ),
        # The column that refers is not listed: each row is somebody's all the same.
        (
            "",
            [PEOPLE, "c.visits: {unit: public, columns: {cost: {}}}"],
            "its column 'person' refers to c.people.id",
        ),
        # A key of two columns, of which neither is the person's
        (
            "ALTER TABLE c.visits ADD UNIQUE (id, cost); CREATE TABLE c.notes (id integer, cost integer,"
            " FOREIGN KEY (id, cost) REFERENCES c.visits (id, cost))",
            ["c.visits: {unit: {person: person}, max_rows_per_unit: 5}", "c.notes: public"],
            "refers to c.visits",
        ),
        # A table of which only a child refers to people
        (
            "CREATE TABLE c.calls (id integer PRIMARY KEY); CREATE TABLE c.calls1"
            " (person integer REFERENCES c.people) INHERITS (c.calls);"
            " CREATE TABLE c.tapes (call integer REFERENCES c.calls)",
            [PEOPLE, "c.tapes: public"],
            "its foreign key (call) refers to c.calls",
        ),
        # A partition of a table that refers to people
        (
            "CREATE TABLE c.calls (id integer, person integer REFERENCES c.people) PARTITION BY LIST (id);"
            " CREATE TABLE c.calls1 PARTITION OF c.calls DEFAULT",
            [PEOPLE, "c.calls1: public"],
            "its column 'person' refers to",
        ),
    ],
    ids=["unit", "key", "chain", "sister", "hidden column", "composite", "child", "partition"],
)
def test_a_public_table_that_refers_to_people(script: str, tables: list[str], what: str) -> None:
    findings = found(script, *tables)
    assert [f.name for f in findings] == [F.PUBLIC_REFERS_TO_PEOPLE], findings
    assert what in findings[0].what


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ("person_id integer PRIMARY KEY", F.PUBLIC_HOLDS_IDENTIFIER),
        ('stars integer, "PersonID" bigint', F.PUBLIC_HOLDS_IDENTIFIER),
        ("people_id integer", F.PUBLIC_HOLDS_IDENTIFIER),
        ('"person-id" smallint', F.PUBLIC_HOLDS_IDENTIFIER),
        ("person integer", F.PUBLIC_HOLDS_IDENTIFIER),
        # Another type: no identifier of the policy, and most likely one of people all the same.
        ("person_id text", F.PUBLIC_LOOKS_LIKE_PEOPLE),
        ("person_name integer", F.PUBLIC_LOOKS_LIKE_PEOPLE),
        ("id integer PRIMARY KEY", None),  # any table may have one
        (
            "person_id integer REFERENCES c.rooms",
            None,
        ),  # a foreign key says that it is something else
    ],
)
def test_a_public_column_with_the_name_of_an_identifier(
    columns: str, name: FindingName | None
) -> None:
    findings = found(f"CREATE TABLE c.cards ({columns})", PEOPLE, ROOMS, "c.cards: public")
    assert told(findings) == ([] if name is None else [(name, "c.cards")])


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("script", "tables", "what"),
    [
        (
            "CREATE VIEW c.shown AS SELECT avg(age) FROM c.people",
            [PEOPLE, "c.shown: public"],
            "c.people, which is protected",
        ),
        (
            "CREATE MATERIALIZED VIEW c.shown AS SELECT name FROM c.rooms WHERE EXISTS (SELECT FROM c.people)",
            [PEOPLE, "c.shown: public"],
            "c.people, which is protected",
        ),
        (
            "CREATE VIEW c.one AS TABLE c.visits; CREATE MATERIALIZED VIEW c.two AS TABLE c.one;"
            " CREATE VIEW c.shown AS SELECT cost FROM c.two",
            [VISITS, "c.shown: public"],
            "c.visits, which is protected",
        ),
        # Of a table that the policy does not name, about its people.
        (
            "CREATE VIEW c.shown AS SELECT price FROM c.lines",
            [PEOPLE, "c.shown: public"],
            "c.lines, which is about people",
        ),
        (
            "CREATE VIEW c.shown AS SELECT age FROM c.people",
            [VISITS, "c.shown: public"],
            "c.people, which is about people",
        ),
        (
            "CREATE FUNCTION c.ages() RETURNS SETOF integer BEGIN ATOMIC SELECT age FROM c.people; END;"
            " CREATE VIEW c.shown AS SELECT * FROM c.ages() AS a (age)",
            [PEOPLE, "c.shown: public"],
            "c.people, which is protected",
        ),
        (
            "CREATE TABLE c.shown (cost integer); CREATE TABLE c.some () INHERITS (c.shown);"
            " ALTER TABLE c.some ADD person integer REFERENCES c.people",
            [PEOPLE, "c.shown: public"],
            "c.some, which is about people",
        ),
        (
            "CREATE FOREIGN DATA WRAPPER far; CREATE SERVER far FOREIGN DATA WRAPPER far;"
            " CREATE FOREIGN TABLE c.shown (cost integer) SERVER far OPTIONS (table_name 'people')",
            [PEOPLE, "c.shown: public"],
            "called c.people",
        ),
    ],
    ids=["view", "condition", "views", "unnamed", "list", "function", "parent", "foreign"],
)
def test_a_public_relation_that_shows_people(script: str, tables: list[str], what: str) -> None:
    findings = found(script, *tables)
    assert [f.name for f in findings] == [F.PUBLIC_SHOWS_PEOPLE], findings
    assert what in findings[0].what


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "functions",
    [
        "CREATE FUNCTION c.ages() RETURNS bigint LANGUAGE sql AS 'SELECT sum(age) FROM c.people'",
        "CREATE FUNCTION c.ages() RETURNS bigint LANGUAGE plpgsql AS"
        " 'BEGIN RETURN (SELECT sum(age) FROM C.People); END'",
        "CREATE FUNCTION c.inner_ages() RETURNS bigint LANGUAGE sql AS 'SELECT sum(age) FROM c.people';"
        " CREATE FUNCTION c.ages() RETURNS bigint LANGUAGE sql AS 'SELECT c.inner_ages()'",
        "CREATE FUNCTION c.one(c.people) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';"
        " CREATE FUNCTION c.ages() RETURNS bigint LANGUAGE sql AS 'SELECT c.one(NULL)'",
    ],
    ids=["sql", "plpgsql", "called", "argument"],
)
def test_a_public_view_over_a_function_whose_text_names_people(functions: str) -> None:
    findings = found(
        f"{functions}; CREATE VIEW c.shown AS SELECT c.ages()", PEOPLE, "c.shown: public"
    )
    severe = [one for one in findings if one.severity is Severity.SEVERE]
    assert [(one.name, one.where) for one in severe] == [(F.PUBLIC_SHOWS_PEOPLE, "c.shown")]
    assert "c.people, which is protected" in severe[0].what


def test_a_public_view_over_a_function_whose_text_names_a_table_outside_the_policy() -> None:
    findings = found(
        "CREATE TABLE c.clients (id integer PRIMARY KEY, email text);"
        " CREATE FUNCTION c.mails() RETURNS SETOF text LANGUAGE sql AS 'SELECT email FROM c.clients';"
        " CREATE VIEW c.shown AS SELECT c.mails() AS label",
        *(PEOPLE, "c.shown: public"),
    )
    assert F.PUBLIC_LOOKS_LIKE_PEOPLE in [one.name for one in findings], findings


def test_what_cannot_be_looked_into_is_a_warning() -> None:
    findings = found(
        "CREATE FUNCTION c.ages() RETURNS bigint LANGUAGE plpgsql AS"
        " 'BEGIN EXECUTE ''SELECT sum(age) FROM c.peo'' || ''ple''; RETURN 1; END';"
        " CREATE VIEW c.shown AS SELECT c.ages();"
        " CREATE FOREIGN DATA WRAPPER far; CREATE SERVER far FOREIGN DATA WRAPPER far;"
        " CREATE FOREIGN TABLE c.afar (cost integer) SERVER far OPTIONS (table_name 'rooms')",
        *(PEOPLE, "c.shown: public", "c.afar: public"),
    )
    assert told(findings) == [(F.PUBLIC_CALLS_FUNCTION, "c.shown"), (F.PUBLIC_IS_FOREIGN, "c.afar")]
