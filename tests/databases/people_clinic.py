"""People, their visits and public tables, and what is found of a policy for them."""

from __future__ import annotations

from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from tests.databases.clinic import Superuser, clinic_policy, made_clinic, may_read, verdict

TABLES = """
CREATE SCHEMA c;
CREATE TABLE c.countries (id integer PRIMARY KEY, name text);
CREATE TABLE c.people (id integer PRIMARY KEY, country integer REFERENCES c.countries, age integer);
CREATE TABLE c.visits (id integer PRIMARY KEY, person integer NOT NULL REFERENCES c.people, cost integer);
CREATE TABLE c.lines (id integer PRIMARY KEY, visit integer NOT NULL REFERENCES c.visits, price integer);
CREATE TABLE c.rooms (id integer PRIMARY KEY, name text);
"""
PEOPLE = "c.people: {unit: {person: id}, max_rows_per_unit: 1}"
VISITS = "c.visits: {unit: {person: person}, max_rows_per_unit: 5}"
LINES = "c.lines: {unit: {person: visit -> c.visits.person}, max_rows_per_unit: 50}"
COUNTRIES, ROOMS = "c.countries: public", "c.rooms: public"


def found(script: str, *tables: str, accept: str = "{}") -> list[Finding]:
    """What is severe or a warning about people, in a database with these tables and this script."""
    with made_clinic(TABLES + script) as connection:
        return found_in(connection, *tables, accept=accept)


def found_in(connection: Superuser, *tables: str, accept: str = "{}") -> list[Finding]:
    may_read(connection)
    listed = "".join(f"  {table}\n" for table in tables)
    policy = clinic_policy(f"tables:\n{listed}accept: {accept}\n")
    about_people = {
        name for name in FindingName if name.name.startswith(("PUBLIC", "PROTECTED", "ROW", "SAME"))
    } - {FindingName.PUBLIC_IS_NOT_NEEDED}  # of which slip_corpus.py has its own
    return [
        f
        for f in verdict(policy).open
        if f.name in about_people or f.name is FindingName.ACCEPTED_WITHOUT_EFFECT
    ]


def told(findings: list[Finding]) -> list[tuple[FindingName, str]]:
    return [(finding.name, finding.where) for finding in findings]
