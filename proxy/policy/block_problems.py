"""A unit in blocks of time against the catalogue: each block has a budget, so blocks are known beforehand."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Table
from proxy.policy.blocks_of_time import (
    FIRST_YEAR,
    LAST_YEAR,
    MOST_BLOCKS,
    blocks_are_named,
    blocks_within,
)
from proxy.policy.policy_model import (
    Bounds,
    IdentifierUnit,
    ProtectedTable,
    PublicTable,
    TimeBlocks,
)
from proxy.policy.problem import Problem


def block_problems(table: ProtectedTable | PublicTable, there: Table) -> Iterator[Problem]:
    """
    Given    a table whose unit column the catalogue has
    """
    if not isinstance(table, ProtectedTable) or not isinstance(table.unit, IdentifierUnit):
        return
    unit, blocks = table.unit, table.unit.blocks
    if blocks is None:
        return
    path = ("tables", str(table.name))
    person = there.column(unit.column)
    if person is not None and not (person.type.is_integer or person.type is SqlType.UUID):
        yield Problem(
            (*path, "unit"),
            f"a person in blocks of time is a whole number or a uuid, not {person.type_name}",
            "name such a column, or leave per and of out",
        )
    message, hint = _of_time(blocks, table, there)
    if message:
        yield Problem((*path, "unit", "of"), message, hint)
    if table.join_keys:
        yield Problem(
            (*path, "join_keys"),
            "a table whose unit is in blocks of time has no join keys",
            "leave join_keys out: it is joined with public tables on their keys",
            at_key=True,
        )


def _of_time(blocks: TimeBlocks, table: ProtectedTable, there: Table) -> tuple[str, str]:
    """What is wrong with the column of the time, if anything is, and what to do."""
    name, per = blocks.time, blocks.per
    time, known = there.column(name), table.columns.get(name)
    if time is None:
        return f"'{table.name}' has no column '{name}'", "name the column with the time of a row"
    if not time.type.is_time:
        return f"'{name}' is {time.type_name}, and no time", "name a date or a timestamp"
    if known is None or not isinstance(known.bounds, Bounds):
        return (
            f"'{name}' needs bounds of two constants: each {per.value} within them has a budget",
            f"list it under columns, such as {name}: {{bounds: [2024-01-01, 2030-12-31]}}",
        )
    if not blocks_are_named(known.bounds):
        return (
            f"the bounds of '{name}' are beyond the years {FIRST_YEAR} to {LAST_YEAR}",
            "write those between which there are rows",
        )
    if len(blocks_within(known.bounds, per)) > MOST_BLOCKS:
        return (
            f"there are more than {MOST_BLOCKS} {per.value}s within the bounds of '{name}'",
            "write tighter bounds, or longer blocks",
        )
    return "", ""
