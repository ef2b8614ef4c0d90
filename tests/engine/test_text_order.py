"""Where texts are compared by bytes, a reader is told, who may expect the order of a language."""

from __future__ import annotations

import pytest

from proxy.engine.text_order import text_order_lines
from tests.pipeline_world import read


@pytest.mark.parametrize(
    ("condition", "columns"),
    [
        ("t < 'm'", ["t"]),
        ("'b' <= t", ["t"]),
        ("lower(t) BETWEEN 'a' AND 'm'", ["t"]),
        ("i4 > 3 AND NOT (s >= 'M' OR t > 'x')", ["s", "t"]),
        ("t = 'm' AND t <> 'x' AND t IN ('a', 'b') AND t LIKE 'a%'", []),
        ("to_char(ts, 'YYYY-MM') >= '2024-05'", []),  # digits have one order
        ("t IS DISTINCT FROM 'm' OR s IS NOT DISTINCT FROM 'x'", []),
        ("t > '5'", []),
        ("d >= '2024-05-01'", []),
        ("i4 > 5", []),
    ],
)
def test_columns_that_are_told(condition: str, columns: list[str]) -> None:
    for text in (
        f"SELECT count(*) FROM people WHERE {condition}",
        f"SELECT count(*) FILTER (WHERE {condition}) FROM people",
        f"SELECT sum(x) FROM (SELECT CASE WHEN {condition} THEN 1 ELSE 0 END AS x FROM people) q",
    ):
        found = read(text)
        assert found is not None
        lines = [f"{one} is compared by bytes: 'Z' comes before 'a'" for one in columns]
        assert sorted(text_order_lines(found[1].query)) == lines, text
