"""Statements that the two readers read differently, each with its reason (tests/canonical/both_readers.py)."""

from __future__ import annotations

from collections.abc import Mapping

_WIDENED = (
    "a cast to a wider number that is written is in the operator's type, as one that is implied"
)
_NAMES = "a column that nobody can name has another name"
_ANSWERS = "rows that meet answers are not read yet"

# Golden statements, by their names.
GOLDEN: Mapping[str, str] = {
    "arithmetic in a type that holds it": _WIDENED,
    "union with a constant float": _WIDENED,
    "columns of one name in a subquery that is cut": _NAMES,
    **dict.fromkeys(
        (
            "series limit",
            "others are added up",
            "a list of answers, of which the key is shown",
            "a list of answers, of which the key is not shown",
            "bins between noisy ends",
            "rolling sums",
            "USING",
            "a condition of rows in ON",
            "a period before",
            "names like those of a noisy relation's columns",
            "names like those that take their place",
            "subqueries about each row beside answers",
        ),
        _ANSWERS,
    ),
}
# Golden statements without canonical text, by their names.
NO_TEXT: Mapping[str, str] = {
    "truths of a unit": "PostgreSQL refuses it: some is a keyword",
    "rounding": "PostgreSQL refuses it: there is no trunc(real, integer)",
    "copy into": "its inner query has one",
    "copy": "its inner query has one",
    "declare": "its inner query has one",
    "create table as": "its inner query has one",
    "insert": "PostgreSQL refuses it there: the test database has no such table",
}
