"""Each function of the allow-list at the largest arguments that the interfaces accept, on hostile rows."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

from proxy.base import limits
from proxy.base.errors import Refusal
from tests.never_raise.matrix import ARGUMENTS, TYPES
from tests.pipeline_world import POLICIES, walk

_SHORT_TEXTS = ("s", "c", "e")
_LONG_TEXTS = (
    "CASE WHEN b THEN s ELSE $5 END",
    "t",
    "upper(t)",
    "left(t, 2147483647)",
    "CASE WHEN b THEN t ELSE $5 END",
)
_CONDITIONS = (
    *("{t} LIKE $6", "{t} ILIKE $6", "{t} NOT LIKE $5", "{t} ILIKE $5"),
    *("CASE WHEN b THEN $5 ELSE '' END LIKE $6", "CASE WHEN b THEN $5 ELSE {t} END ILIKE $6"),
    *("btrim({t}, $7) = $5", "ltrim({t}, $7) = 'x'", "rtrim({t}, $7) = 'x'", "btrim($5, $7) = {t}"),
    *("strpos({t}, $5) = 1", "starts_with({t}, $5)", "length({t}) > $8", "{t} IN ($5, $6, $7)"),
    *("upper(lower({t})) = $5", "{t} > $5", "coalesce({t}, $5) = $6", "nullif({t}, $5) = $6"),
    *(
        "{t} || $6 = $5",
        "concat({t}, $6, {t}) = $5",
        "concat_ws($6, {t}, {t}) > $5",
        "{t} || {t} || {t} = $6",
    ),
    *("split_part({t}, $6, 2147483647) = $5", "replace({t}, '', '0123456789abcdef') = $5"),
    *(
        "replace({t}, 'e', '0123456789abcdef') = $5",
        "replace(replace({t}, 'e', '😀😀😀😀'), '😀', 'eeee') > $6",
    ),
    *(
        "lpad({t}, 1024, $7) = $5",
        "rpad({t}, -2147483647) = ''",
        "reverse({t}) = $5",
        "initcap({t}) = $5",
    ),
    *(
        "length({t} || {t}) > $9",
        "split_part({t}, '', -1) = $5",
        "split_part(reverse({t}), $6, -7) = 'x'",
    ),
    *("greatest({t}, $5) = $6", "substr({t}, 1, 2147483647) = $5", "right({t}, -2147483647) = $5"),
)
_NUMBERS = (
    *("i2", "i4", "i8", "n2", "n", "f4", "f8", "extract(epoch FROM ts)", "length(t)"),
    *("abs(n2)", "floor(f8)"),
)
_NUMBER_CONDITIONS = (
    *("{n} = $8", "{n} < -$8", "{n} > $9", "{n} IN ($8, $9, 1)", "{n} BETWEEN $9 AND $8"),
    *("coalesce({n}, $8) = $9", "nullif({n}, $8) = $9", "least({n}, $8) > $9", "{n} / $8 > $9"),
    *("round({n} / $9, 20) > 1", "CASE WHEN b THEN $8 ELSE {n} END > $9", "{n} <> $9 * 2"),
)


def statements(long_texts: bool) -> Iterator[str]:
    """long_texts: also where 8 KiB of a pattern meet 200,000 characters, which takes minutes in all."""
    for text in (*_SHORT_TEXTS, *(_LONG_TEXTS if long_texts else ())):
        for condition in _CONDITIONS:
            yield f"SELECT count(*) FROM people WHERE {condition.format(t=text)}"
    for of in _NUMBERS:
        for condition in _NUMBER_CONDITIONS:
            yield f"SELECT count(*) FILTER (WHERE {condition.format(n=of)}) FROM orders"
    listed = ", ".join(map(str, range(limits.LIST_ELEMENTS)))
    for column in ("i4", "f8", "n", "i4 + 1"):
        yield f"SELECT count(*) FROM people WHERE {column} IN ({listed})"
    quoted = ", ".join(f"'{n}'" for n in range(1_600))  # more do not fit a statement
    yield f"SELECT count(*) FROM people WHERE t IN ({quoted})"
    for start, end in (("btrim(", ", $7)"), ("upper(lower(", "))")):
        deep = start * 14 + "t" + end * 14
        yield f"SELECT count(*) FROM people WHERE {deep} ILIKE '%a'"


def errors(connection: psycopg.Connection, *, long_texts: bool) -> tuple[int, list[str]]:
    """How many were run, and what was raised."""
    ran, found = 0, []
    for text in statements(long_texts):
        try:
            pipeline = walk(text, POLICIES["joins best"], TYPES, ARGUMENTS)
        except Refusal:  # e.g. of arithmetic that could pass the bounds of its type
            continue
        assert pipeline is not None
        for query in (query for several in pipeline.queries for query in several):
            values = {**query.parameters, **dict.fromkeys(query.seeds, 4_242_424_242)}
            ran += 1
            try:
                connection.execute(query.sql.encode(), values)
            except psycopg.Error as error:
                found.append(f"{error.sqlstate} {str(error)[:80]}: {text[:100]}")
    return ran, found
