"""Tables that list kinds of things, by what is declared of them: labels, places, short codes, rates by year.

What is none of them may list people of any kind, whatever it is called.
"""

from __future__ import annotations

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column, Table
from proxy.policy.person_words import is_of_an_organisation, words_of

_SHORT_CODE = 3
_LABELS = {
    *("name", "title", "label", "description", "desc", "caption", "kind", "type", "category"),
    *("bezeichnung", "beschreibung", "titel", "nom", "libelle", "titre", "nombre", "titulo"),
    *("nome", "titolo", "naam", "omschrijving", "nazwa", "namn", "navn", "art", "sparte", "genre"),
    *("lat", "latitude", "lon", "lng", "longitude", "geom", "geometry", "breite", "laenge"),
    *("brand", "model", "manufacturer", "currency", "country", "url"),
}
_DOCUMENTS = ("json", "jsonb", "xml", "hstore")
_STEPS = {
    *("year", "month", "week", "day", "hour", "quarter", "decade", "age", "jahr", "monat", "woche"),
    *("tag", "stunde", "alter", "annee", "mois", "ano", "mes", "anno", "mese", "jaar", "maand"),
    *(
        "sex",
        "gender",
        "geschlecht",
        "level",
        "grade",
        "stufe",
        "size",
        "lo",
        "low",
        "from",
        "step",
    ),
}


def may_list_people(table: Table) -> bool:
    """Whether nothing says that a table lists things: no label, place or short code, no rates by year."""
    if is_of_an_organisation(table.name.name) or is_rates(table):
        return False
    if any(set(words_of(column.name)) & _LABELS for column in table.columns):
        return False
    keys = [table.column(name) for name in table.primary_key]
    return not (len(keys) == 1 and keys[0] is not None and _is_code(keys[0]))


def is_document(column: Column) -> bool:
    """Whether a column holds documents, whose keys no catalogue has."""
    return column.type is SqlType.JSONB or column.type_name.rpartition(".")[2] in _DOCUMENTS


def is_rates(table: Table) -> bool:
    """Whether a table has numbers beside a key of dates, years, ages or short codes."""
    for key in (table.primary_key, *table.unique):
        columns = [table.column(name) for name in key]
        others = [column for column in table.columns if column.name not in key]
        is_step = bool(key) and all(one is not None and _is_step(one) for one in columns)
        if is_step and all(column.type.is_number for column in others):
            return True
    return False


def _is_step(column: Column) -> bool:
    if _is_code(column) or column.type is SqlType.DATE or column.type is SqlType.BOOL:
        return True
    words = words_of(column.name)
    return not column.type.is_text and bool(words) and words[-1] in _STEPS


def _is_code(column: Column) -> bool:
    """An enumeration, or a text of at most three letters."""
    if column.type is SqlType.ENUM:
        return True
    length = column.type_name.rpartition("(")[2].removesuffix(")")
    return column.type.is_text and length.isdigit() and int(length) <= _SHORT_CODE
