"""Whether what a plan was made for still holds of a table."""

from __future__ import annotations

from dataclasses import replace

from proxy.catalog.catalog_model import Column, Table


def still_holds(was: Table, now: Table | None) -> bool:
    """
    Given    a table as it was when policy and shadow were made from it, and as it is; None: it is gone
    Gives    whether all that can be relied on is there: columns, NOT NULL, keys, references and places of
             rows may have been added, nothing may be another or gone. A view shows what it showed
    """
    if now is None:
        return False
    columns = {column.name: column for column in now.columns}
    return (
        all(_is_as_good(column, columns.get(column.name)) for column in was.columns)
        and _keys(was) <= _keys(now)
        and set(was.foreign_keys) <= set(now.foreign_keys)
        and (now.has_ctid or not was.has_ctid)
        and now.shows == was.shows
    )


def _is_as_good(was: Column, now: Column | None) -> bool:
    if now is None:
        return False
    believed = replace(
        now,
        nullable=was.nullable or now.nullable,
        is_enforced=was.is_enforced and now.is_enforced,
    )
    return believed == was


def _keys(table: Table) -> set[tuple[str, ...]]:
    return {key for key in (table.primary_key, *table.unique) if key}
