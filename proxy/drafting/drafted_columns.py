"""What a draft says of each column of a table: its options from types, CHECK constraints and enumerations, or
why it is left out. Never from a row."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from proxy.base.limits import GROUPS_PER_STATEMENT
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, Table, TableName
from proxy.policy.person_words import (
    is_birth,
    is_identifying,
    is_number_of_something,
    person_of_column,
)
from proxy.policy.type_rules import bounds_kind
from proxy.policy_file.yaml_text import flow_text
from proxy.query.checked_columns import CheckedColumn

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?)(\+00)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftedColumn:
    """options: as YAML, in braces; note: said beside it; needs_bounds: no sum, avg, min or max without."""

    name: str
    options: str
    note: str
    needs_bounds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    name: str
    why: str


def drafted_column(
    column: Column,
    table: Table,
    catalog: Catalog,
    checked: Mapping[str, CheckedColumn],
    *,
    of_people: bool,
    holding: Mapping[str, TableName],
    referred: Collection[str],
    drafted: Collection[TableName],
) -> DraftedColumn | LeftOut:
    """
    Given    of_people: whether rows of the table are people; holding: columns that refer to people, with whom;
             referred: columns that other tables of the draft refer to; drafted: the tables of the draft
    """
    name = column.name
    refers = {key.columns[0]: key for key in table.foreign_keys if len(key.columns) == 1}
    if column.type is SqlType.OTHER:
        return LeftOut(name=name, why=f"of type {column.type_name}, which no query can read")
    if name in holding:
        return LeftOut(name=name, why=f"names people of {holding[name]}")
    if name not in referred and table.is_unique(name):
        return LeftOut(name=name, why="a key: it tells each row from all others")
    stated = checked.get(name, CheckedColumn())
    is_clamped = stated.low is not None and stated.high is not None
    is_age = column.type.is_time and is_birth(name) and is_clamped  # for averages
    if name not in refers and not is_age and is_identifying(name, of_people=of_people):
        return LeftOut(name=name, why="most likely names somebody")
    if name not in (*refers, *referred) and person_of_column(name) is not None:
        return LeftOut(name=name, why="most likely names somebody")
    values = _values(column, catalog, stated)
    if values is not None:
        listed, source = values
        return DraftedColumn(name=name, options=f"{{values: {listed}}}", note=source)
    if name in refers:
        key = refers[name]
        place = f"{key.target}.{key.target_columns[0]}"
        note = f"refers to {place}"
        if key.target not in drafted:
            note += f"; once that is public: {{references: {place}}}"
        return DraftedColumn(name=name, options="{}", note=note)
    if name in referred:
        return DraftedColumn(
            name=name, options="{}", note="a key, here because other tables refer to it"
        )
    return _bounded(column, stated)


def without_options(column: DraftedColumn) -> DraftedColumn:
    """Where the policy's own check refused what the constraint says."""
    return replace(column, options="{}", note="")


def _values(column: Column, catalog: Catalog, stated: CheckedColumn) -> tuple[str, str] | None:
    found, source = stated.values, "CHECK"
    if found is None and column.type is SqlType.ENUM:
        known = catalog.enumerations.get(column.type_name)
        found = None if known is None else known.labels
        source = f"labels of the type {column.type_name}"
    limit = GROUPS_PER_STATEMENT - 1
    if not found or len(found) > limit or column.type is SqlType.BOOL or not column.has_keys:
        return None
    keys = [flow_text(key) for key in found]
    if column.nullable:
        keys.append("null")
    return f"[{', '.join(keys)}]", source


def _bounded(column: Column, stated: CheckedColumn) -> DraftedColumn:
    name, kind = column.name, bounds_kind(column.type)
    if kind is None:
        return DraftedColumn(name=name, options="{}", note="")
    low, high = _bound(column, stated.low), _bound(column, stated.high)
    if low is None or high is None:
        known = f"; CHECK: from {low}" if low is not None else ""
        known = f"; CHECK: to {high}" if high is not None else known
        note = f"{column.type_name}, without bounds{known}"
        needs_bounds = not is_number_of_something(name)
        return DraftedColumn(
            name=name, options="{}", note=note if needs_bounds else "", needs_bounds=needs_bounds
        )
    if column.type.is_integer:  # what is left out at an end
        low = str(int(low) + 1) if stated.low_is_open else low
        high = str(int(high) - 1) if stated.high_is_open else high
    return DraftedColumn(name=name, options=f"{{bounds: [{low}, {high}]}}", note="CHECK")


def _bound(column: Column, written: str | None) -> str | None:
    """As a policy writes it; a bound that never occurs clamps no more than the one beside it."""
    if written is None:
        return None
    if column.type.is_number:
        fits = _NUMBER.fullmatch(written) is not None
        return written if fits and ("." not in written or not column.type.is_integer) else None
    if _DATE.fullmatch(written) is not None:
        return written
    found = None if column.type is SqlType.DATE else _TIME.fullmatch(written)
    # Without a zone it is of the database's own, which is UTC or is not: of a timestamptz only +00 is read.
    if found is None or (column.type is SqlType.TIMESTAMPTZ and found[3] is None):
        return None
    return found[1]
