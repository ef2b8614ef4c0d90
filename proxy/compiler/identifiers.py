"""Names of schemas, tables and columns, quoted."""

from __future__ import annotations

from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import ColumnRef


def identifier(name: str) -> str:
    """A quoted identifier; per cent signs doubled, as psycopg wants them."""
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'


def column_sql(column: ColumnRef) -> str:
    """A column of a relation under the alias that the reader gave it; of an inner SELECT by its name."""
    if not column.relation:
        return column.column
    displayed = f"{column.relation}.{identifier(column.column)}"
    if column.type is SqlType.COLLATED:
        return f'({displayed}::text COLLATE pg_catalog."default")'
    return f"{displayed}::text" if column.type is SqlType.ENUM else displayed
