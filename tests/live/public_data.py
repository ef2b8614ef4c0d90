"""The public data sets of ../shared/data as one database, with a policy made of their published facts."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from proxy.databases.embedded import EmbeddedPostgres

FOLDER = Path(__file__).parents[3] / "shared" / "data"
PRESENT = (FOLDER / "load.sql").is_file()
REASON = "the data sets ../shared/data are not here"
_COPY = re.compile(r"^\\copy (\S+) FROM PROGRAM 'gzip -dc (\S+)' CSV HEADER$", re.MULTILINE)


def script() -> str:
    """What makes the tables."""
    return _COPY.sub("", (FOLDER / "load.sql").read_text(encoding="utf-8"))


def load(protected: EmbeddedPostgres, database: str, only: str = "") -> None:
    """Fills the tables, or only one of them."""
    text = (FOLDER / "load.sql").read_text(encoding="utf-8")
    with psycopg.connect(make_conninfo(protected.dsn(), dbname=database)) as connection:
        for table, file in _COPY.findall(text):
            if only not in ("", table):
                continue
            with (
                gzip.open(FOLDER / file) as rows,
                connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv, HEADER)") as copy,
            ):
                while piece := rows.read(1 << 20):
                    copy.write(piece)
    with psycopg.connect(make_conninfo(protected.dsn(), dbname=database), autocommit=True) as c:
        c.execute("VACUUM ANALYZE")


def policy_tables() -> str:
    """The `tables` of a policy, in YAML (which JSON is)."""
    facts = json.loads((FOLDER / "datasets.json").read_text(encoding="utf-8"))["tables"]
    tables = {name: _table(name, fact) for name, fact in facts.items()}
    return "tables: " + json.dumps({name: table for name, table in tables.items() if table})


def _table(name: str, fact: dict[str, Any]) -> object:
    if fact["role"] == "public":
        return "public"
    unit = fact["privacy_unit"]
    if "->" in unit:
        return None  # identifiers in other tables: a later version
    columns = {
        column: _column(about)
        for column, about in fact["columns"].items()
        if not about.get("direct_identifier") and not about.get("privacy_unit") and column != unit
    }
    if unit == "row":
        return {"unit": "row", "columns": columns}
    most = max(
        1, int(fact.get("max_rows_per_unit") or fact.get("rows_per_unit", {}).get("max", 50))
    )
    return {"unit": {f"owner by {unit}": unit}, "max_rows_per_unit": most, "columns": columns}


def _column(about: dict[str, Any]) -> dict[str, object]:
    made: dict[str, object] = {}
    if bounds := about.get("natural_bounds"):
        made["bounds"] = bounds
        if "double" in about["type"] or about["type"] == "numeric":
            made["grid"] = 0.01
    if domain := about.get("domain"):
        made["values"] = domain
    return made
