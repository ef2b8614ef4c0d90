"""The public data sets of ../shared/data as one database, with a policy made of their published facts."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from proxy.postgres.embedded import EmbeddedPostgres

FOLDER = Path(__file__).parents[3] / "shared" / "data"
PRESENT = (FOLDER / "load.sql").is_file()
REASON = "the data sets ../shared/data are not here"
_COPY = re.compile(r"^\\copy (\S+) FROM PROGRAM 'gzip -dc (\S+)' CSV HEADER$", re.MULTILINE)


def script() -> str:
    """What makes the tables."""
    return _COPY.sub("", (FOLDER / "load.sql").read_text(encoding="utf-8"))


def load(
    protected: EmbeddedPostgres, database: str, only: str = "", then: Sequence[str] = ()
) -> None:
    """Fills the tables, or only those that begin so; then: statements on them."""
    text = (FOLDER / "load.sql").read_text(encoding="utf-8")
    with psycopg.connect(make_conninfo(protected.dsn(), dbname=database)) as connection:
        for table, file in _COPY.findall(text):
            if not table.startswith(only):
                continue
            with (
                gzip.open(FOLDER / file) as rows,
                connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv, HEADER)") as copy,
            ):
                while piece := rows.read(1 << 20):
                    copy.write(piece)
        for statement in then:
            connection.execute(statement.encode())
    with psycopg.connect(make_conninfo(protected.dsn(), dbname=database), autocommit=True) as c:
        c.execute("VACUUM ANALYZE")


# Whose rows a table holds: tables of one schema that share people share the identifier.
_IDENTIFIERS = {
    "census.adult": "adult",
    "census.pums_pid": "pums_pid",
    "census.pums_dup": "pums_dup",
    "census.pums_null": "pums_null",
    "shop.people": "person",
    "shop.orders": "person",
    "shop.reviews": "reviewer",
    "chinook.customer": "customer",
    "chinook.invoice": "customer",
    "chinook.invoice_line": "customer",
}
# What the published facts do not say: years of business, and keys of public tables.
_TIMES = {
    "shop.people.created_at": ["2016-01-01", "2020-12-31"],
    "shop.orders.created_at": ["2016-01-01", "2020-12-31"],
    "chinook.invoice.invoice_date": ["2021-01-01", "2025-12-31"],
}
_REFERENCES = {
    "shop.orders.product_id": "shop.products.id",
    "chinook.customer.support_rep_id": "chinook.employee.employee_id",
    "chinook.invoice_line.track_id": "chinook.track.track_id",
}


class RowBounds(Enum):
    """What the policy says of how much a unit adds. LARGEST: as many rows as the largest unit has; AUTO:
    nothing, as policies do by default; TOTALS: as LARGEST, and the totals of a unit are bounded by choice."""

    LARGEST = "largest"
    AUTO = "auto"
    TOTALS = "totals"


def policy_tables(bounds: RowBounds = RowBounds.LARGEST) -> str:
    """The `tables` of a policy, in YAML (which JSON is)."""
    tables = {name: _table(name, fact, bounds) for name, fact in _facts().items()}
    return "tables: " + json.dumps(tables)


def clamped() -> list[str]:
    """Statements that make the tables what the policy lets count: values clamped to their bounds, and no rows
    without an owner."""
    made = []
    for name, fact in _facts().items():
        if fact["role"] == "public":
            continue
        for column, about in fact["columns"].items():
            if bounds := about.get("natural_bounds"):
                low, high = bounds
                cut = f"least(greatest({column}, {low}), {high})"
                made.append(
                    f"UPDATE {name} SET {column} = {cut} WHERE {column} NOT BETWEEN {low} AND {high}"
                )
            if about.get("privacy_unit") and about.get("nullable"):
                made.append(f"DELETE FROM {name} WHERE {column} IS NULL")
    return made


def _facts() -> dict[str, dict[str, Any]]:
    text = (FOLDER / "datasets.json").read_text(encoding="utf-8")
    facts: dict[str, dict[str, Any]] = json.loads(text)["tables"]
    return facts


def _table(name: str, fact: dict[str, Any], bounds: RowBounds) -> object:
    if fact["role"] == "public":
        return "public"
    unit = fact["privacy_unit"].replace("->invoice.", " -> chinook.invoice.")
    held = unit.partition(" ")[0]
    columns = {
        column: _column(f"{name}.{column}", about)
        for column, about in fact["columns"].items()
        if not about.get("direct_identifier") and column != held
    }
    if unit == "row":
        return {"unit": "row", "columns": columns}
    if bounds is RowBounds.AUTO:
        return {"unit": {_IDENTIFIERS[name]: unit}, "columns": columns}
    for column, made in columns.items():
        if bounds is RowBounds.TOTALS and fact["columns"][column].get("natural_bounds"):
            made["per_unit"] = "auto"
    most = fact.get("max_rows_per_unit") or fact.get("rows_per_unit", {}).get("max", 1)
    return {"unit": {_IDENTIFIERS[name]: unit}, "max_rows_per_unit": most, "columns": columns}


def _column(name: str, about: dict[str, Any]) -> dict[str, object]:
    made: dict[str, object] = {}
    if bounds := about.get("natural_bounds") or _TIMES.get(name):
        made["bounds"] = bounds
        if "double" in about["type"] or about["type"] == "numeric":
            made["grid"] = 0.01
    if domain := about.get("domain"):
        made["values"] = [*domain, None] if about.get("nullable") else domain
    elif target := _REFERENCES.get(name):
        made["references"] = target
    return made
