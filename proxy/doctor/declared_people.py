"""What `policy init` would say of the tables of a database: whose rows they are, by keys and by names.

The policy is held against it: what looks like people is people, until its owner says otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Table, TableName
from proxy.doctor.links_diagnosis import Relations
from proxy.policy.guessed_units import CalledAs, Guess, How, NotGuessed, guessed_units
from proxy.policy.person_words import (
    are_people,
    is_contact,
    is_perhaps_of_things,
    names_a_person,
    person_named,
    person_of_table,
    personal_traits,
    singular,
    words_of,
)
from proxy.policy.policy_model import IdentifierUnit

# Customers and clients that are companies, by the columns of their table.

_COMPANIES = {
    *(
        "company",
        "companies",
        "firm",
        "firma",
        "vat",
        "vatno",
        "vatid",
        "duns",
        "legalform",
        "legalname",
    ),
    *(
        "industry",
        "branche",
        "employees",
        "headcount",
        "ustid",
        "siret",
        "siren",
        "gmbh",
        "turnover",
    ),
    *(
        "registration",
        "handelsregister",
        "incorporated",
        "organisation",
        "organization",
        "entreprise",
    ),
    *("empresa", "azienda", "bedrijf", "kvk", "mitarbeiterzahl", "appname", "app"),
}


def are_companies(table: str, columns: Collection[str]) -> bool:
    """Whether the customers or clients of a table are companies: a column says so, and none is of a person.

    >>> are_companies("customers", ("id", "company", "phone")), are_companies("customers", ("id", "phone"))
    (True, False)
    >>> are_companies("customers", ("company", "last_name")), are_companies("patients", ("id", "company"))
    (False, False)
    """
    word = person_of_table(table)
    if word is None or not is_perhaps_of_things(word):
        return False
    is_told = any(
        set(words_of(column)) & _COMPANIES or "".join(words_of(column)) in _COMPANIES
        for column in columns
    )
    naming = [one for one in columns if names_a_person(one) and not is_contact(one)]
    traits = personal_traits(tuple(one for one in columns if not is_contact(one)))
    return is_told and not naming and not traits


_OWN_ROWS = ("r", "p")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredPeople:
    """tables: by name, whoever may read them; guesses: of those with rows of their own."""

    tables: Mapping[TableName, Table]
    relations: Relations
    guesses: Mapping[TableName, Guess | NotGuessed]
    called: CalledAs

    def are_people(self, name: TableName) -> str | None:
        """Why the rows of a relation are most likely people, one each. None: nothing says so."""
        word = person_of_table(name.name)
        links = self.relations.links
        is_heir = word == "child" and any(name in below for below in links.children.values())
        if word is not None and not is_heir:
            return f"its name says that its rows are people ({word})"
        there = self.tables.get(name)
        flags = () if there is None else (c.name for c in there.columns if c.type is SqlType.BOOL)
        columns = tuple(sorted(self.relations.links.columns.get(name, frozenset()) - {*flags}))
        if are_people(columns, name.name):
            return "its columns are those of people"
        return None

    def are_companies(self, name: TableName) -> bool:
        """Whether customers or clients are companies, by the columns of their table."""
        return are_companies(name.name, self.relations.links.columns.get(name, frozenset()))

    def person(self, name: TableName) -> str | None:
        """The word for the people whom a table lists by its key. None: it lists none."""
        guess = self.guesses.get(name)
        if isinstance(guess, Guess) and guess.how is How.ITSELF:
            return guess.unit.identifier if isinstance(guess.unit, IdentifierUnit) else "person"
        return person_of_table(name.name)

    def referring(self, name: TableName) -> Guess | None:
        """How the rows of a table belong to people whom another table, or none here, lists."""
        guess = self.guesses.get(name)
        if not isinstance(guess, Guess) or not isinstance(guess.unit, IdentifierUnit):
            return None
        return None if guess.how is How.ITSELF else guess

    def is_called(self, name: TableName, word: str) -> bool:
        """Whether a table is called as what a word names: customer_cards for card."""
        words = words_of(name.name)
        if not words:
            return False
        stem = (*words[:-1], singular(words[-1]))
        is_so = plain_name(word) in ("".join(stem), "".join(words), stem[-1])
        return is_so or person_named(word) == person_named(words[-1])


def declared_people(declared: Catalog, relations: Relations) -> DeclaredPeople:
    """declared: of all tables, also of those that the role may not read."""
    own = {
        name: table
        for name, table in sorted(declared.tables.items())
        if name in relations.known and relations.known[name].kind in _OWN_ROWS
    }
    return DeclaredPeople(
        tables=declared.tables,
        relations=relations,
        guesses=guessed_units(own) if own else {},
        called=CalledAs(own),
    )


def plain_name(name: str) -> str:
    """
    >>> plain_name("Patient_ID")
    'patientid'
    """
    return "".join(words_of(name))
