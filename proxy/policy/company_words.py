"""Customers and clients that are companies, by the columns of their table."""

from __future__ import annotations

from collections.abc import Collection

from proxy.policy.person_words import (
    is_contact,
    is_perhaps_of_things,
    names_a_person,
    person_of_table,
    personal_traits,
    words_of,
)

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
