"""Hints for errors that PostgreSQL raises without one, by SQLSTATE (PostgreSQL 17 documentation, appendix A).

Each is one text for all statements, so none can show data.
"""

from __future__ import annotations

LOOK_UP = "SELECT * FROM dp.columns lists what can be queried."
_TYPE_OF_PARAMETER = "Write the type of each parameter into the statement: CAST($1 AS integer)."
_TYPE_OF_COLUMN = "SELECT * FROM dp.columns has the type of each column: write the constant in it."

POSTGRES_HINTS = {
    "42601": "The statement cannot be read from this position on: look there, and at the word before.",
    "42703": LOOK_UP,
    "42704": LOOK_UP,  # a type that is not there, and SHOW TABLES over HTTP
    "42P01": LOOK_UP,
    "42702": "Write the table's name or alias before the column: o.status.",
    "42712": "Give each table in FROM a name of its own: orders a JOIN orders b.",
    "42803": "Put the column into GROUP BY, or into an aggregate: max(status).",
    "42804": "Bring both sides to one type: CAST(total AS integer).",
    "42P02": "Send a value for each parameter with the statement, or write the constant in its place.",
    "42P08": _TYPE_OF_PARAMETER,
    "42P18": _TYPE_OF_PARAMETER,
    "22P02": _TYPE_OF_COLUMN,
    "22003": _TYPE_OF_COLUMN,
    "22007": "Write a date as '2026-11-27', a time as '2026-11-27 18:00'.",
}
