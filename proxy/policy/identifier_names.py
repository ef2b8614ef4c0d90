"""Columns that are called as an identifier is, where no foreign key says what they hold. A rule of thumb:

a name is compared without case and underscores, and the type's family with it. Names that any table may have
(id, code, name) say nothing, so they are left out; `id` of unit `customer` stands for customer_id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from proxy.catalog.catalog_model import Catalog, Column, ForeignKey, TableName
from proxy.policy.column_shapes import family
from proxy.policy.policy_model import IdentifierUnit, Policy

_ANYBODY_S = {
    *("id", "oid", "uid", "uuid", "guid", "key", "pk", "code", "number", "num", "nr", "no", "name"),
    *("ref", "hash", "title", "label", "value", "type", "kind", "status", "date", "rowid"),
}


class IdentifierNames:
    """Of the units of one policy."""

    def __init__(self, policy: Policy, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known: dict[tuple[str, str], str] = {}
        for table in policy.protected():
            if not isinstance(table.unit, IdentifierUnit) or table.unit.path is not None:
                continue
            there = catalog.tables.get(table.name)
            column = None if there is None else there.column(table.unit.column)
            kind = None if column is None else family(column)
            if kind is None:
                continue
            what = f"{table.name}.{table.unit.column}, which names the {table.unit.identifier}"
            own = _plain(table.unit.column)
            stems = (
                _plain(table.unit.identifier),
                _plain(table.name.name),
                _singular(table.name.name),
            )
            # customer integer; customers integer is how many
            plain = () if kind == "text" else (stems[0], stems[2])
            for word in (own, *(f"{stem}id" for stem in stems), *plain):
                if word not in _ANYBODY_S:
                    self._known.setdefault((word, kind), what)

    def named_like(
        self,
        name: TableName,
        foreign_keys: Iterable[ForeignKey],
        about: Collection[TableName],
    ) -> Iterator[tuple[str, str]]:
        """The columns of a table with the name of an identifier, and which that is. Not where a foreign key
        says that the column refers to something that is not about people."""
        table = self._catalog.tables.get(name)
        elsewhere = {
            column for key in foreign_keys if key.target not in about for column in key.columns
        }
        for column in () if table is None else table.columns:
            unit = self._unit(column)
            if unit is not None and column.name not in elsewhere:
                yield column.name, unit

    def _unit(self, column: Column) -> str | None:
        kind = family(column)
        return None if kind is None else self._known.get((_plain(column.name), kind))


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def _singular(name: str) -> str:
    """
    >>> _singular("customers"), _singular("people")
    ('customer', 'people')
    """
    return _plain(name).removesuffix("s")
