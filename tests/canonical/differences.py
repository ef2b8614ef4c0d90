"""Statements that the two readers read differently, each with its reason (tests/canonical/both_readers.py)."""

from __future__ import annotations

from collections.abc import Mapping

_WIDENED = (
    "a cast to a wider number that is written is in the operator's type, as one that is implied"
)
_SCALAR = "PostgreSQL calls the column of a scalar subquery as the subquery does"
_NAMES = "a column that nobody can name has another name"

# Golden statements, by their names.
GOLDEN: Mapping[str, str] = {
    "arithmetic in a type that holds it": _WIDENED,
    "union with a constant float": _WIDENED,
    "columns of one name in a subquery that is cut": _NAMES,
    "between scalar answers": _SCALAR,
    "scalar subqueries": _SCALAR,
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

_ARRAYS = "PostgreSQL moves the cast of an array into its elements when it reads it again"
# Golden statements that PostgreSQL writes in another form once they are printed, by their names.
PRINTED: Mapping[str, str] = {
    "number conditions": "an AND within an AND is one when it is read again",
    "percentiles by an array": _ARRAYS,
    "an array of percentiles as a constant": _ARRAYS,
    "percentiles by an array of arrays": _ARRAYS,
    "percentiles by an array with null": _ARRAYS,
    "percentiles by an array of rounded numbers": _ARRAYS,
    "an array of percentiles per unit": _ARRAYS,
}

# Golden statements that ask the protected server otherwise, by their names.
BACKEND: Mapping[str, str] = {
    "not in binds tighter": "PostgreSQL writes IN with one element as a comparison",
    "a pair of one and the same": "a count of what a filter asks to be there has no filter",
    "a pair of one and the same alone": "a count of what a filter asks to be there has no filter",
    "columns of one name in a subquery that is cut": _NAMES,
    "union with a constant float": _WIDENED,
    "NaN and infinity compared with columns": "a negated literal is one number",
}

# Statements that today's reader refuses and the reader of canonical text does not, by their names.
ACCEPTED: Mapping[str, str] = {
    "unicode name": "PostgreSQL has resolved the name",
    "bytes in an E string": "PostgreSQL has read the literal",
    "a string that goes on after an E string": "PostgreSQL has read the literal",
    "not in under a comparison": "each operator is in brackets",
    "a huge whole number": "PostgreSQL has decided its type",
    "an aggregate with a schema": "it is the same aggregate",
    "doubling": "limits of a plan hold it (kernel, planner), and COPIED_WORDS",
    "a name of the noisy relation": "a matter of the rewritten statement",
}

_FETCH = "FETCH NEXT n ROWS is LIMIT n, so it is known how many rows are shown"
_QUALIFIED = "ORDER BY of a column with the name of its relation names the same column"
# Statements of clients, by their identifiers.
TOOLS: Mapping[str, str] = {
    "looker-05": _FETCH,
    "looker-11": _FETCH,
    "looker-12": _FETCH,
    "ibis-topk": _QUALIFIED,
}
