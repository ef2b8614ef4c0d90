"""The `prepared` of a protected table in a policy file: its prepared copy, and how old that may be."""

from __future__ import annotations

from typing_extensions import assert_never

from proxy.catalog.catalog_model import TableName
from proxy.policy.policy_model import IdentifierUnit, PreparedCopy, RowUnit, TimeBlocks, Unit
from proxy.policy_file.policy_answers import LENGTH, seconds_of_length
from proxy.policy_file.policy_errors import ProblemList, quoted_text
from proxy.policy_file.policy_nodes import fields, is_identifier, text
from proxy.policy_file.policy_shapes import TEXT, Keyed, Plain
from proxy.policy_file.yaml_positions import Entry

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
    seconds = seconds_of_length(word)
    if seconds < 60:
        what = "max_age must be 1min or more, such as 24h"
        problems.add(age.value.at, what, "write max_age: 24h, 30min or 7d")
        return None
    return PreparedCopy(table=TableName(schema, name), max_age=seconds)


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
