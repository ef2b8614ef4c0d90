"""How far the results of a plan move if a unit is taken away, on tiny databases with rows at random."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from random import Random  # noqa: TID251  the same rows for the same seed

import psycopg

from proxy.audit.movement import Movement, movements
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column, Table
from proxy.exact.table import ExactTable
from proxy.kernel.plan import BlockPlan
from proxy.kernel.world import World
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable, RowUnit
from tests.kernel.raising_plans import stated_blocks
from tests.kernel.test_golden_plans import golden_blocks
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG
from tests.seeded_bits import SeededBits
from tests.unchecked_blocks import drawn_block

_ROWS = 14
_UNITS = ("NULL", "'1'", "'2'", "'2'", "'3'", "'3'")
_VALUES = {
    SqlType.BOOL: "NULL true false",
    SqlType.DATE: "NULL '2001-01-01' '2010-06-01' '2010-06-02' '1900-01-01'",
    SqlType.TIMESTAMP: "NULL '2001-01-01T10:00' '2010-06-01T00:30' '2010-06-02T12:00'",
    SqlType.TIMESTAMPTZ: "NULL '2001-01-01T10:00' '2010-06-01T00:30' '2010-06-02T12:00'",
    SqlType.JSONB: """NULL '{"a":"x","b":[1,2,3,{"c":"y"}]}' '{}'""",
}
_NUMBERS = "NULL 0 1 1 2 5 100 -7 1000"
_FRACTIONS = "NULL 0 1.0 1.00 2.5 99.5 -3 1000"
_TEXTS = "NULL 'a' 'b' 'x' 'y' 'z' chr(97)||chr(32)"


@cache
def stated_plans() -> tuple[tuple[World, BlockPlan], ...]:
    """Golden plans, and those of statements that could raise."""
    stated = [(one.world, one.block) for one in stated_blocks()]
    found = [*((world, block) for _, world, block in golden_blocks()), *stated]
    return tuple((world, block) for world, block in found if not block.uses_answers)


def _value(random: Random, column: Column) -> str:
    kind = column.type
    if column.name == "uid" or column.name.endswith("_id"):
        return random.choice(_UNITS)
    written = _VALUES.get(kind, _NUMBERS if kind.is_integer else "NULL")
    if kind.is_number and not kind.is_integer:
        written = _FRACTIONS
    elif kind.is_text and kind is not SqlType.ENUM:
        written = _TEXTS if kind is not SqlType.BPCHAR else "NULL 'a' 'b'"
    return random.choice(written.split())


def _rows(random: Random, table: Table) -> Iterator[str]:
    """Rows with keys 1, 2, ... or a, b, ..., of few units, with few values."""
    seen: set[tuple[str, ...]] = set()
    for number in range(random.randint(4, _ROWS)):
        row = []
        for column in table.columns:
            made = f"'{number + 1}'" if column.type.is_number else f"'{'xyzabwuvstqrpo'[number]}'"
            while column.name not in table.primary_key:
                made = _value(random, column)
                if made != "NULL" or column.nullable:
                    break
            row.append(made)
        of_row = dict(zip((column.name for column in table.columns), row, strict=True))
        keys = [tuple(of_row[name] for name in unique) for unique in table.unique]
        if not seen.isdisjoint(key for key in keys if "NULL" not in key):
            continue
        seen.update(keys)
        yield f"({', '.join(row)})"


def random_rows(random: Random) -> str:
    """SQL that fills every table."""
    return "; ".join(
        f"INSERT INTO {name} ({', '.join(c.name for c in table.columns)}) VALUES {', '.join(rows)}"
        for name, table in CATALOG.tables.items()
        if name.name != "moods" and (rows := list(_rows(random, table)))
    )


def _deletions(world: World) -> Iterator[str]:
    """Take each a unit of the policy away."""
    of_units: dict[str, list[str]] = defaultdict(list)
    for name, table in world.policy.tables.items():
        match table:
            case ProtectedTable(unit=RowUnit(rows=rows)):
                taken = f"SELECT ctid FROM {name} ORDER BY ctid OFFSET 1 LIMIT {rows}"
                yield f"DELETE FROM {name} WHERE ctid IN ({taken})"
            case ProtectedTable(unit=IdentifierUnit() as unit) if unit.path is None:
                of_units[unit.identifier].append(f"DELETE FROM {name} WHERE {unit.column}::text")
            case ProtectedTable(unit=IdentifierUnit(path=path) as unit) if path is not None:
                (key,) = CATALOG.tables[path.table].primary_key
                referred = f"SELECT {key} FROM {path.table} WHERE {path.column}::text"
                of_units[unit.identifier].insert(
                    0, f"DELETE FROM {name} WHERE {unit.column} IN ({referred}"
                )
    for statements in of_units.values():
        for who in ("'2'", "'3'"):
            ends = [f"{one} = {who}{')' * (one.count('(') > one.count(')'))}" for one in statements]
            yield "; ".join(ends)


def _of_listed_groups(block: BlockPlan, tables: Sequence[ExactTable]) -> Sequence[ExactTable]:
    """Groups that are not answered are drawn of nothing."""
    if block.combinations is None:
        return tables
    listed = set(block.combinations)
    return [
        replace(one, rows=tuple(row for row in one.rows if row.keys in listed))
        if one.releases
        else one
        for one in tables
    ]


def results_moved(block: BlockPlan, world: World) -> Iterator[Movement]:
    """Nothing of a plan whose SQL is none: it ends in an error, whatever rows there are."""
    database = tiny_database()
    try:
        here = database.tables(block)
    except (psycopg.Error, AssertionError, ArithmeticError, LookupError, ValueError, TypeError):
        return
    for deletion in _deletions(world):
        with database.without(deletion):
            there = database.tables(block)  # an error would tell the unit
        assert _draws(block, here) == _draws(block, there), block
        sides = (_of_listed_groups(block, tables) for tables in (here, there))
        try:
            yield from movements(block, *sides)
        except LookupError:  # a number of a release that there is not
            return


def _draws(block: BlockPlan, tables: Sequence[ExactTable]) -> bool:
    """Whether it can be drawn. An error of some rows alone would tell of them."""
    if block.choices or block.deviation_means:
        return True
    try:
        drawn_block(block, tables, SeededBits(5))
    except (LookupError, ArithmeticError, ValueError):
        return False
    return True
