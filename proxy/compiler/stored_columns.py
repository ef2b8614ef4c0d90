"""In which column of a table the values of a column of a relation are stored."""

from __future__ import annotations

from proxy.base.result_columns import UNIT_COLUMN
from proxy.compiler.backend_query import StoredColumn
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate


def stored_column(relation: Relation, column: ColumnRef) -> StoredColumn | None:
    """Find where the values of a column are stored, behind references as well; None: in no column."""
    match relation:
        case Scan() if relation.alias == column.relation:
            table = relation.table if relation.copy is None else relation.copy.table
            return StoredColumn(schema=table.schema, table=table.name, column=column.column)
        case Join():
            return stored_column(relation.left, column) or stored_column(relation.right, column)
        case Truncate() if relation.alias == column.relation:
            return stored_column(relation.source, column)
        case GroupByUnit() if relation.alias == column.relation and column.column == UNIT_COLUMN:
            return stored_column(relation.source, relation.unit)
        case Subquery() if relation.alias == column.relation:
            shown = dict(relation.outputs).get(column.column)
            return stored_column(relation.source, shown) if isinstance(shown, ColumnRef) else None
        case _:
            return None
