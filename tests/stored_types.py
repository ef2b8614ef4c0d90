"""How columns of tests.pipeline_world are stored: one is of an enumeration, and in some tables every one is
of a domain,
which is read as the type beneath it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.catalog.catalog_model import Column, Table

# In an order that is not that of texts. One is in no policy, one ends in a blank, so that character(2) takes it
# for another, one is empty.
LABELS = ("low", "high", "x", "a", "a ", "unlisted", "", "S\u00fc_%")
MOOD = "public.mood"
IN_DOMAINS = ("orders", "notes", "trips")
# In a session that has this setting no domain takes a value: SQL that converts to one raises. As foreign tables
# do, whose rows come as text.
READING = "world.reading=on"
_BENEATH = (
    *("smallint", "integer", "bigint", "numeric(8,2)", "numeric", "real", "double precision"),
    *("text", "character(2)", "character varying(20)", "boolean", "date", MOOD),
    *("timestamp without time zone", "timestamp with time zone"),
    *("jsonb", "text[]", "integer[]", "interval", "time without time zone"),
)


def create_types(*more: str) -> str:
    """more: labels."""
    return ";\n".join(_types(more))


def _types(more: tuple[str, ...]) -> Iterator[str]:
    yield f"CREATE TYPE {MOOD} AS ENUM ({', '.join(map(repr, (*LABELS, *more)))})"
    for name in _BENEATH:
        check = "CHECK (pg_catalog.current_setting('world.reading', true) IS DISTINCT FROM 'on')"
        yield f"CREATE DOMAIN {_domain(name)} AS {name} {check}"


def _domain(type_name: str) -> str:
    words = re.findall(r"\w+", type_name.removeprefix("public.").replace("[]", "_array"))
    return f"public.own_{'_'.join(words)}"


def columns_sql(table: Table) -> str:
    """Its columns with their types, as they stand in CREATE TABLE."""
    return ", ".join(f"{column.name} {_stored(table, column)}" for column in table.columns)


def _stored(table: Table, column: Column) -> str:
    return _domain(column.type_name) if table.name.name in IN_DOMAINS else column.type_name
