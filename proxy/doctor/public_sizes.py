"""Public tables that are too large to copy, by the planner's estimate: known before a row of them is read."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
from psycopg import sql

from proxy.catalog.catalog_model import Catalog
from proxy.doctor.diagnosis_session import Connection
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.policy_model import Policy, PublicTable

_MOST_ROWS = 2_000_000
_MOST_BYTES = 1 << 30


def public_size_findings(
    connection: Connection, policy: Policy, catalog: Catalog
) -> Iterator[Finding]:
    """Of views, foreign tables and partitioned tables too, for which the catalogue has no size."""
    for table in policy.tables.values():
        there = catalog.tables.get(table.name)
        if not isinstance(table, PublicTable) or there is None:
            continue
        columns = [column.name for column in there.columns if table.has(column.name)]
        try:
            rows, width = _estimate(connection, (table.name.schema, table.name.name), columns)
        except psycopg.Error:
            continue  # it cannot be read, which `policy check` and `serve` say
        if rows > _MOST_ROWS or rows * width > _MOST_BYTES:
            yield Finding(
                name=FindingName.PUBLIC_IS_LARGE,
                where=str(table.name),
                what=f"{table.name} is public and has about {rows:,} rows in {rows * width >> 20:,} MiB, which "
                "are copied at each start and every hour",
                fix="give analysts a view of what they need of it, or accept this with the reason",
                path=("tables", str(table.name)),
            )


def _estimate(
    connection: Connection, table: tuple[str, str], columns: list[str]
) -> tuple[int, int]:
    """Rows, and bytes of each. Nothing is run."""
    statement = sql.SQL("EXPLAIN (FORMAT JSON) SELECT {} FROM {}").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(*table)
    )
    row = connection.execute(statement).fetchone()
    assert row is not None
    plan = row[0][0]["Plan"]
    return int(plan["Plan Rows"]), int(plan["Plan Width"])
