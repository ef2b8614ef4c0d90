"""What the kernel claims of a relation, compared with its rows on a tiny database and on all its neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from proxy.kernel.fixed_columns import fixed_columns
from proxy.kernel.owners import ColumnName, ColumnNames, Known, OfUnit, Public, Rows
from proxy.query.ir.relations import Relation
from tests.kernel.made_relations import DELETIONS, Deletion
from tests.kernel.tiny_database import FoundRow, TinyDatabase

_UNIT_OF = dict.fromkeys(("visits", "orders", "members", "calls", "notes"), "uid")


class Claims:
    """The claims of `Known` about one relation, and the rows that it has here."""

    def __init__(self, database: TinyDatabase, relation: Relation, known: Known) -> None:
        self._database, self._relation, self._known = database, relation, known
        self._shown = [column for column in known.types if column[1] != "ctid"]
        self._place = {column: number for number, column in enumerate(self._shown)}
        self._here = database.rows(relation, self._shown)
        owner = known.owner
        self._rows = owner.rows if isinstance(owner, OfUnit) else None
        if isinstance(owner, Rows):
            self._rows = owner

    def broken(self) -> list[str]:
        """The claims that do not hold; nothing where all do."""
        found = [*self._keys(), *self._bounds(), *self._filled(), *self._of_units()]
        for deletion in DELETIONS:
            with self._database.without(deletion.sql):
                there = self._database.rows(self._relation, self._shown)
            found += self._changes(deletion, there)
        return found

    def _values(self, columns: ColumnNames, rows: list[FoundRow]) -> list[FoundRow]:
        places = [self._place[column] for column in sorted(columns)]
        return [tuple(row[place] for place in places) for row in rows]

    def _are_shown(self, columns: ColumnNames) -> bool:
        return all(column in self._place for column in columns)

    def _keys(self) -> Iterator[str]:
        for key in filter(self._are_shown, self._known.keys):
            found = self._values(key, self._here)
            if len(set(found)) < len(found):
                yield f"the key {sorted(key)} names several rows"
        for key in filter(self._are_shown, self._known.nullable_keys):
            found = [values for values in self._values(key, self._here) if None not in values]
            if len(set(found)) < len(found):
                yield f"the nullable key {sorted(key)} names several rows"

    def _most_alike(self, column: ColumnName) -> int:
        found = Counter(self._values(frozenset({column}), self._here))
        return max((n for (value,), n in found.items() if value is not None), default=0)

    def _bounds(self) -> Iterator[str]:
        owner = self._known.owner
        bounds = owner.most if isinstance(owner, Public) else ()
        if self._rows is not None:
            bounds = self._rows.most
        for column, most in bounds:
            if column in self._place and self._most_alike(column) > most:
                yield f"more than {most} rows with one value of {column}"

    def _filled(self) -> Iterator[str]:
        filled = () if self._rows is None else self._rows.filled
        for column in filled:
            if column in self._place and (None,) in self._values(frozenset({column}), self._here):
                yield f"{column} is NULL"

    def _of_units(self) -> Iterator[str]:
        owner = self._known.owner
        if not isinstance(owner, OfUnit):
            return
        if any(len(set(values)) > 1 for values in self._values(owner.columns, self._here)):
            yield "columns that hold the unit hold different ones"
        for column in owner.or_null & self._place.keys():
            for row in self._here:
                value, units = row[self._place[column]], self._values(owner.columns, [row])
                if value is not None and any(value not in unit for unit in units if unit):
                    yield f"{column} holds neither the unit nor NULL"
                    break
        for column in owner.columns:
            if owner.alone and self._most_alike(column) > 1:
                yield "a unit has several rows"
            for number in owner.numbered:
                found = self._values(frozenset({column, number}), self._here)
                found = [values for values in found if None not in values]
                if len(set(found)) < len(found):
                    yield f"{number} does not number the rows of a unit"
            yield from self._named(owner, column)
        yield from self._fixed(owner)

    def _fixed(self, owner: OfUnit) -> Iterator[str]:
        """Values are compared as they print: 1 and 1.00 are two."""
        for column in fixed_columns(self._known) & self._place.keys():
            values: dict[object, set[str]] = {}
            for row in self._here:
                for unit in owner.columns:
                    found = values.setdefault(row[self._place[unit]], set())
                    found.add(repr(row[self._place[column]]))
            if any(len(found) > 1 for unit, found in values.items() if unit is not None):
                yield f"{column} has several values in the rows of a unit"

    def _named(self, owner: OfUnit, column: ColumnName) -> Iterator[str]:
        for name, table in owner.named:
            holder = _UNIT_OF.get(table.name)
            sql = f"SELECT id, {holder} FROM {table}"
            if holder is None:
                sql = f"SELECT l.id, o.uid FROM {table} l LEFT JOIN w.orders o ON o.id = l.order_id"
            units: dict[object, object] = dict(self._database.asked(sql))
            for row in self._here:
                named, unit = row[self._place[name]], row[self._place[column]]
                if named is not None and unit is not None and units.get(named) != unit:
                    yield f"{name} names a row of another unit"
                    break

    def _changes(self, deletion: Deletion, there: list[FoundRow]) -> Iterator[str]:
        here_count, there_count = Counter(self._here), Counter(there)
        changed = (here_count - there_count) + (there_count - here_count)
        owner = self._known.owner
        if isinstance(owner, Public) and changed:
            yield "public rows change"
        if self._rows is not None:
            yield from self._changed_rows(self._rows, deletion, changed)
        if isinstance(owner, OfUnit):
            for column in owner.columns:
                place = self._place[column]
                whose = (owner.identifier, deletion.who)
                others = [
                    row
                    for row in changed
                    if row[place] is not None and (deletion.kind, row[place]) != whose
                ]
                if others:
                    yield f"rows of another unit change with {deletion.kind} {deletion.who}"

    def _changed_rows(
        self, rows: Rows, deletion: Deletion, changed: Counter[FoundRow]
    ) -> Iterator[str]:
        count = sum(changed.values())
        if count > rows.changed:
            yield f"{count} rows change, not {rows.changed}, with {deletion.kind} {deletion.who}"
        for columns, most in rows.touched:
            if self._are_shown(columns):
                values = set(self._values(columns, list(changed)))
                if len(values) > most:
                    yield f"{len(values)} values of {sorted(columns)} are touched, not {most}"
