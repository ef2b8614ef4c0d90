"""Invented rows in tables of a policy's shape, and their neighbours: whole units taken out, put in, replaced.

The real data is never read: tables, types and keys come from the catalogue, everything else from the policy.
Some units have more rows than the policy lets count, at one end of the bounds, in one group or in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.audit.neighbour_audit import AuditedChange
from proxy.audit.synthetic_rows import NUMBER, Population, Row, populations
from proxy.audit.synthetic_values import Choices, sql_type
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.policy.policy_model import Policy

DATABASE = "audit"
_PAIRS = 4  # units that are replaced, one by one
_TRIES = 3  # random choices of several units, at each distance


class SyntheticDatabase:
    """The synthetic database.

    Given    server_dsn: a superuser's, of a server of our own; rows: of each table beside those of the
             large units; distance: so many units at most are taken out together
    """

    def __init__(
        self,
        server_dsn: str,
        policy: Policy,
        catalog: Catalog,
        *,
        rows: int = 40,
        seed: int = 1,
        distance: int = 1,
    ) -> None:
        self.dsn = make_conninfo(server_dsn, dbname=DATABASE)
        self._catalog = catalog
        self._choices = Choices(seed)
        self._distance = distance
        self._rows: list[tuple[list[Row], list[Row]]] = []  # of each change: out, in
        with psycopg.connect(server_dsn, autocommit=True) as connection:
            name = sql.Identifier(DATABASE)
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
            connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(name)
            )
        made = populations(policy, catalog, rows, distance, self._choices)
        self._populations = made.populations
        self._connection = psycopg.connect(self.dsn, autocommit=True)
        self._connection.execute("SET TimeZone = 'UTC'")
        for table in policy.tables:
            self._create(table)
        self._insert(made.background)
        for population in self._populations:
            for unit in population.units:
                self._insert(unit)

    def close(self) -> None:
        self._connection.close()

    def changes(self) -> Iterator[AuditedChange]:
        """Every way to a neighbour that is tried, and to databases at greater distances."""
        for population in self._populations:
            units, reserve = population.units, population.reserve
            for unit in units:
                yield self._change(population, [unit], [])
            for unit in reserve:
                yield self._change(population, [], [unit])
            for number, unit in enumerate(units[:_PAIRS]):
                yield self._change(population, [unit], [reserve[number % len(reserve)]])
            for distance in range(2, min(self._distance, len(units)) + 1):
                yield self._change(population, units[:distance], [])
                for _ in range(_TRIES):
                    left = list(units)
                    gone = [left.pop(self._choices.below(len(left))) for _ in range(distance)]
                    yield self._change(population, gone, [])

    @contextmanager
    def applied(self, change: AuditedChange) -> Iterator[None]:
        """The database with the change in it, and after that without it."""
        gone, come = self._rows[change.number]
        self._delete(gone)
        self._insert(come)
        try:
            yield
        finally:
            self._delete(come)
            self._insert(gone)

    def _change(
        self, population: Population, gone: Sequence[list[Row]], come: Sequence[list[Row]]
    ) -> AuditedChange:
        rows = ([row for unit in gone for row in unit], [row for unit in come for row in unit])
        self._rows.append(rows)
        return AuditedChange(len(self._rows) - 1, population.tables, len(gone), len(come))

    def _create(self, name: TableName) -> None:
        described = self._catalog.tables[name]
        columns = [
            sql.SQL("{} {}").format(sql.Identifier(c.name), sql.SQL(sql_type(c)))
            for c in described.columns
        ]
        columns.append(sql.SQL("{} bigint").format(sql.Identifier(NUMBER)))
        keys = [(described.primary_key, "PRIMARY KEY")] if described.primary_key else []
        keys += [(key, "UNIQUE") for key in described.unique]
        for key, word in keys:
            listed = sql.SQL(", ").join(map(sql.Identifier, key))
            columns.append(sql.SQL("{} ({})").format(sql.SQL(word), listed))
        self._connection.execute(
            sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(name.schema))
        )
        self._connection.execute(
            sql.SQL("CREATE UNLOGGED TABLE {} ({})").format(
                sql.Identifier(*name), sql.SQL(", ").join(columns)
            )
        )

    def _insert(self, rows: Sequence[Row]) -> None:
        for table in dict.fromkeys(row.table for row in rows):
            names = [c.name for c in self._catalog.tables[table].columns]
            copy = sql.SQL("COPY {} ({}) FROM STDIN").format(
                sql.Identifier(*table), sql.SQL(", ").join(map(sql.Identifier, [*names, NUMBER]))
            )
            with self._connection.cursor().copy(copy) as stream:
                for row in rows:
                    if row.table == table:
                        stream.write_row((*row.values, str(row.number)))

    def _delete(self, rows: Sequence[Row]) -> None:
        for table in dict.fromkeys(row.table for row in rows):
            numbers = [row.number for row in rows if row.table == table]
            self._connection.execute(
                sql.SQL("DELETE FROM {} WHERE {} = ANY(%s)").format(
                    sql.Identifier(*table), sql.Identifier(NUMBER)
                ),
                (numbers,),
            )
