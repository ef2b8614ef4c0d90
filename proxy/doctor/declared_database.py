"""All that is declared in a database, whoever may read it: tables, keys, constraints, what stands for what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import psycopg

from proxy.catalog.catalog_model import Catalog, TableName
from proxy.doctor.diagnosis_session import connect
from proxy.doctor.links_diagnosis import Relations, read_relations
from proxy.protected.catalog_reader import Unreachable, reachable_catalog

_DOMAINS = """
SELECT n.nspname, c.relname, a.attname, pg_catalog.pg_get_expr(k.conbin, 0)
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_attribute a ON a.atttypid = k.contypid AND NOT a.attisdropped
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype = 'c' AND k.convalidated
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
ORDER BY n.nspname, c.relname, a.attnum, k.conname
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredDatabase:
    """of_domains: what the CHECKs of their domains say of columns, which are called VALUE there."""

    name: str
    catalog: Catalog
    relations: Relations
    of_domains: Mapping[tuple[TableName, str], tuple[str, ...]]


def declared_database(dsn: str) -> DeclaredDatabase:
    """
    Given    a libpq connection string, of a role that may connect; it needs no right on any table
    Refuses  Unreachable
    """
    catalog = reachable_catalog(dsn, declared=True)
    try:
        with connect(dsn) as connection:
            row = connection.execute("SELECT pg_catalog.current_database()").fetchone()
            assert row is not None
            domains: dict[tuple[TableName, str], list[str]] = defaultdict(list)
            for schema, table, column, condition in connection.execute(_DOMAINS).fetchall():
                domains[TableName(schema, table), column].append(condition)
            return DeclaredDatabase(
                name=row[0],
                catalog=catalog,
                relations=read_relations(connection),
                of_domains={place: tuple(stated) for place, stated in domains.items()},
            )
    except psycopg.OperationalError as error:
        raise Unreachable(str(error).strip()) from None
