"""Tables and columns as the console shows them: texts made of the document of /v1/schema. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_LISTED = 12  # values of a column that are shown
# Texts for the editor, which nobody runs but the analyst.
_COUNT = "SELECT {column}, count(*) FROM {table}\nGROUP BY {column}\nORDER BY 2 DESC"
_MONTHS = (
    "SELECT date_trunc('month', {column}) AS month, count(*) FROM {table}\nGROUP BY 1\nORDER BY 1"
)
_MEAN = "SELECT avg({column}), count(*) FROM {table}"
_NUMBERS = ("integer", "bigint", "smallint", "numeric", "real", "double precision")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownColumn:
    """short: what counts, in a word; counts: in a sentence; use: what it may be used for."""

    name: str
    type: str
    short: str
    counts: str
    use: str
    is_listed: bool
    is_bounded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTable:
    name: str
    columns: Sequence[ShownColumn]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    title: str
    sql: str


def shown_tables(document: Sequence[Mapping[str, Any]], wanted: str = "") -> list[ShownTable]:
    """The tables, those with a word in their name or in that of a column alone.

    Args:
        document: `tables` of /v1/schema.
        wanted: The word; "" of all.
    """
    word = wanted.strip().lower()
    found = []
    for table in document:
        columns = [
            _column(one)
            for one in table["columns"]
            if word in table["name"].lower() or word in one["name"].lower()
        ]
        if columns:
            found.append(ShownTable(name=table["name"], columns=columns))
    return found


def _column(one: Mapping[str, Any]) -> ShownColumn:
    low, high, values = one["low"], one["high"], one["values"]
    short = counts = ""
    if values is not None:
        known = [value for value in values if value is not None]
        short = f"{len(known)} values"
        rest = f", and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
        counts = f"{', '.join(known[:_LISTED])}{rest}"
    if low is not None or high is not None:
        short = f"{_year(low)} .. {_year(high)}"
        counts = f"{low or 'any'} to {high or 'any'}; values beyond count as the nearest"
    return ShownColumn(
        name=one["name"],
        type=one["type"],
        short=short or one["type"],
        counts=counts or "as it is",
        use=one["usable_for"],
        is_listed=values is not None,
        is_bounded=low is not None and one["type"].startswith(_NUMBERS),
    )


def _year(text: str | None) -> str:
    """A bound in few letters: of a time its day."""
    return "" if text is None else text.partition(" ")[0]


# Which columns each example is of, by a word of their use and one of their description.
_EXAMPLES = (
    ("GROUP BY", "is_listed", "How many rows of {table} are there by {column}?", _COUNT),
    ("its month", "", "How many rows of {table} are there by month of {column}?", _MONTHS),
    ("AVG", "is_bounded", "What is {column} of {table} on average?", _MEAN),
)


def examples(tables: Sequence[ShownTable]) -> list[Example]:
    """Statements that run on these tables, each of the last column that is fit for it."""
    found = []
    for use, member, title, sql in _EXAMPLES:
        fit = [
            {"table": table.name, "column": one.name}
            for table in tables
            for one in table.columns
            if use in one.use and (not member or getattr(one, member))
        ]
        if fit:
            found.append(Example(title=title.format(**fit[-1]), sql=sql.format(**fit[-1])))
    return found


def known_words(tables: Sequence[ShownTable]) -> Mapping[str, Any]:
    """What the editor completes."""
    return {
        "tables": [
            {
                "name": table.name,
                "about": "",
                "columns": [{"name": one.name, "short": one.short} for one in table.columns],
            }
            for table in tables
        ]
    }
