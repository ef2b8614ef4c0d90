"""The rights that the role of `source` lacks to read what a policy names."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.base.written_names import quoted
from proxy.catalog.catalog_model import Catalog, TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingGrants:
    """declared: all tables and columns of the database, whoever may read them; role: that of `source`. For
    what the role cannot read. `of_table` and `of_column` give the SQL that lets it read, or None if nothing of
    that name is declared."""

    declared: Catalog
    role: str

    def of_table(self, name: TableName) -> str | None:
        if name not in self.declared.tables:
            return None
        schema, role = quoted(name.schema), quoted(self.role)
        table = f"{schema}.{quoted(name.name)}"
        return f"GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON {table} TO {role};"

    def of_column(self, name: TableName, column: str) -> str | None:
        table = self.declared.tables.get(name)
        if table is None or table.column(column) is None:
            return None
        place = f"{quoted(name.schema)}.{quoted(name.name)}"
        return f"GRANT SELECT ({quoted(column)}) ON {place} TO {quoted(self.role)};"
