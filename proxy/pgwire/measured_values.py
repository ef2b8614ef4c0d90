"""Values of an analyst's, measured on the shadow before any of them is fetched.

What an expression evaluates to, or a few bytes of a binary numeric stand for, can be a gigabyte of text. So
the shadow adds up the lengths and gives no value that passes the limit: memory here cannot grow.
"""

from __future__ import annotations

from collections.abc import Sequence

from proxy.base.limits import ARGUMENTS_JSON_BYTES

Row = Sequence[bytes | str | None]


def measured_sql(texts: Sequence[str]) -> str:
    """
    Given    texts: SQL expressions of type text, one or more
    Gives    a query of one row for each (VALUES, so that they need not fit a row and none can give several):
             its number, its value or NULL, and the bytes of all up to it
    """
    if len(texts) == 1:
        # Nothing to add up: half of the work for the server.
        only = f"(SELECT o.v FROM (VALUES ({texts[0]})) AS o(v) OFFSET 0)"  # noqa: S608
        size = "pg_catalog.octet_length(m.v)"
        bounded = f"CASE WHEN {size} OPERATOR(pg_catalog.<=) {ARGUMENTS_JSON_BYTES} THEN m.v END"
        return f"SELECT 0, {bounded}, {size} FROM {only} AS m"  # noqa: S608
    listed = ", ".join(f"({number}, {text})" for number, text in enumerate(texts))
    bounded = f"CASE WHEN m.bytes OPERATOR(pg_catalog.<=) {ARGUMENTS_JSON_BYTES} THEN m.v END"
    added = "pg_catalog.sum(pg_catalog.octet_length(a.v)) OVER (ROWS UNBOUNDED PRECEDING)"
    # A VALUES of one row would be put in where it is used, and so evaluated twice (prepjointree.c).
    once = f"(SELECT o.n, o.v FROM (VALUES {listed}) AS o(n, v) OFFSET 0)"  # noqa: S608
    added_up = f"(SELECT a.n, a.v, {added} AS bytes FROM {once} AS a)"  # noqa: S608
    return f"SELECT m.n, {bounded}, m.bytes FROM {added_up} AS m"  # noqa: S608


def fits(rows: Sequence[Row], count: int) -> bool:
    """Whether the rows of `measured_sql` are all the values."""
    return len(rows) == count and all(
        row[2] is None or int(row[2]) <= ARGUMENTS_JSON_BYTES for row in rows
    )
