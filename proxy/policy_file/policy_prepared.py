"""The `prepared` of a protected table in a policy file: its prepared copy, and how old that may be."""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import assert_never

from proxy.catalog.catalog_model import TableName
from proxy.policy.policy_model import (
    SEEDS_OF_COPIES,
    TIMES_OF_COPIES,
    IdentifierUnit,
    PreparedCopy,
    ProtectedTable,
    PublicTable,
    RowUnit,
    TimeBlocks,
    Unit,
)
from proxy.policy_file.policy_answers import LENGTH, seconds_of_length
from proxy.policy_file.policy_errors import ProblemList, quoted_text
from proxy.policy_file.policy_nodes import fields, is_identifier, text
from proxy.policy_file.policy_shapes import TEXT, Keyed, Plain
from proxy.policy_file.yaml_positions import Entry, Position

_LONGEST_NAME = 63 - len("_source")  # PostgreSQL cuts longer names, so that two would be one
PREPARED = Keyed(
    {"table": TEXT, "max_age": Plain(LENGTH.pattern)},
    required=("table", "max_age"),
    about="tables.T.prepared",
)


def read_prepared(
    entry: Entry | None, unit: Unit | None, problems: ProblemList
) -> PreparedCopy | None:
    """`{table: dp.events, max_age: 24h}`. None: there is none, or a problem is reported."""
    if entry is None:
        return None
    if unit is not None and (hint := _no_copies(unit)) is not None:
        what = "prepared is for a unit with an identifier, without per"
        problems.add(entry.key_at, what, hint)
    found = fields(entry.value, "prepared", entry.key_at, PREPARED, problems)
    if found is None or len(found) < len(PREPARED.keys):
        return None
    table, age = found["table"], found["max_age"]
    written, word = text(table.value, "table", problems), text(age.value, "max_age", problems)
    if written is None or word is None:
        return None
    schema, dot, name = written.partition(".")
    if not dot or "." in name:
        what = f"{quoted_text(written)} is not a table name"
        problems.add(table.value.at, what, "write schema.table, such as dp.events")
        return None
    if not is_identifier(schema, "a schema", table.value.at, problems):
        return None
    if not is_identifier(name, "a table", table.value.at, problems):
        return None
    if schema == "information_schema" or schema.startswith("pg_"):
        hint = "write another schema, such as dp.events"
        problems.add(table.value.at, f"the schema {quoted_text(schema)} is PostgreSQL's own", hint)
        return None
    if len(name.encode()) > _LONGEST_NAME:
        what = f"the name of a copy has more than {_LONGEST_NAME} bytes"
        problems.add(table.value.at, what, "write a shorter one, such as dp.events")
        return None
    seconds = seconds_of_length(word)
    if seconds < 60:
        what = "max_age must be 1min or more, such as 24h"
        problems.add(age.value.at, what, "write max_age: 24h, 30min or 7d")
        return None
    return PreparedCopy(table=TableName(schema, name), max_age=seconds)


def check_copies(
    tables: Mapping[TableName, ProtectedTable | PublicTable],
    places: Mapping[TableName, Position],
    problems: ProblemList,
) -> None:
    """Refuse a copy that would take the place of something else: a refresh drops what has its name.

    Args:
        tables: All of a policy.
        places: Where each stands in the file.
        problems: Takes what is found.
    """
    taken = dict.fromkeys(tables, "a table of this policy")
    for name, table in tables.items():
        copy = table.prepared if isinstance(table, ProtectedTable) else None
        if copy is None:
            continue
        schema = copy.table.schema
        beside = [TableName(schema, each) for each in (TIMES_OF_COPIES, SEEDS_OF_COPIES)]
        used = {**taken, **dict.fromkeys(beside, "where dpproxy prepare keeps times and seeds")}
        for made in (copy.table, copy.view, copy.refreshed):
            if made in used:
                problems.add(
                    places[name],
                    f"the copy {copy.table} of {name} needs the name {made}, which is {used[made]}",
                    f"name it as nothing else is, such as prepared: {{table: dp.{name.name}, max_age: 24h}}",
                )
                break
            taken[made] = f"needed by the copy of {name}"


def _no_copies(unit: Unit) -> str | None:
    """What to do about `prepared` where units of this kind have no copies. None: they have."""
    match unit:
        case RowUnit():
            return "leave it out: rows that are units need no copy"
        case IdentifierUnit(blocks=TimeBlocks()):
            return "leave it out: a copy knows no blocks of time"
        case IdentifierUnit():
            return None
        case _:
            assert_never(unit)
