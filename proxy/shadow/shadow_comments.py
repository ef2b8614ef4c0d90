"""Comments of a shadow: on protected tables and their columns how these are protected, from the policy alone;
on public ones what the database says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psycopg import sql
from typing_extensions import assert_never

from proxy.base.decimals import decimal_text
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.policy.policy_model import (
    IdentifierUnit,
    Policy,
    ProtectedTable,
    PublicTable,
    RowUnit,
    Unit,
)
from proxy.shadow.shadow_columns import ExposedColumn
from proxy.shadow.shadow_tables import ShadowTable

_COLUMN_CHARACTERS = 1_000  # of a list of values


def comments(
    policy: Policy,
    catalog: Catalog,
    tables: Iterable[ShadowTable],
    columns: Iterable[ExposedColumn],
) -> Iterator[sql.Composed]:
    """Given  columns: of all tables, as dp.columns has them."""
    by_table: dict[str, list[ExposedColumn]] = {}
    for column in columns:
        by_table.setdefault(column.table, []).append(column)
    for table in tables:
        exposed = policy.tables[table.name]
        match exposed:
            case ProtectedTable():
                yield _on_table(table, f"{protection(exposed.unit)} {_price(policy)}")
                for column in by_table.get(str(table.name), []):
                    yield _on_column(table.name, column.column, _about(column))
            case PublicTable():
                known = catalog.tables[table.name]
                if known.comment is not None:
                    yield _on_table(table, known.comment)
                for one in table.columns:
                    found = known.column(one.name)
                    if found is not None and found.comment is not None:
                        yield _on_column(table.name, one.name, found.comment)
            case _:
                assert_never(exposed)


def protection(unit: Unit) -> str:
    """
    >>> protection(RowUnit())
    'Protected: aggregates are answered with noise that hides any one row. SELECT * FROM dp.columns.'
    """
    match unit:
        case RowUnit(rows=1):
            hidden = "any one row"
        case RowUnit(rows=rows):
            hidden = f"any {rows} rows"
        case IdentifierUnit():
            hidden = f"all rows of any one {unit.identifier} (by {unit.column})"
            if unit.blocks is not None:
                block = f"one {unit.blocks.per.value} (by {unit.blocks.time})"
                hidden = f"the rows of any one {unit.identifier} (by {unit.column}) in {block}"
        case _:
            assert_never(unit)
    return (
        f"Protected: aggregates are answered with noise that hides {hidden}."  # noqa: S608
        " SELECT * FROM dp.columns."
    )


def _price(policy: Policy) -> str:
    return (
        f"A statement costs epsilon {decimal_text(policy.privacy.epsilon)} at most, unless dp.epsilon is set;"
        " EXPLAIN shows its price and its error for nothing."
    )


def _about(column: ExposedColumn) -> str:
    parts = [f"For {column.usable_for}."]
    if column.low is not None and column.high is not None:
        parts.append(f"Values count as {column.low} to {column.high}.")
    if column.values is not None:
        listed = ", ".join("NULL" if value is None else value for value in column.values)
        parts.append(f"Groups: {listed}"[:_COLUMN_CHARACTERS] + ".")
    return " ".join(parts)


def _on_table(table: ShadowTable, text: str) -> sql.Composed:
    kind = sql.SQL("VIEW" if table.is_view else "TABLE")
    return sql.SQL("COMMENT ON {} {} IS {}").format(
        kind, sql.Identifier(*table.name), sql.Literal(text)
    )


def _on_column(table: TableName, column: str, text: str) -> sql.Composed:
    return sql.SQL("COMMENT ON COLUMN {} IS {}").format(
        sql.Identifier(table.schema, table.name, column), sql.Literal(text)
    )
