"""A plain SELECT around the one that aggregates has the errors that its expressions would have inside."""

from __future__ import annotations

import re

import pytest

from proxy.query.ir.noisy_expressions import NoisyExpression
from proxy.query.ir.query import COMPUTED_AROUND, OutputColumn
from tests.pipeline_world import read

_WHERE = "WHERE d BETWEEN '2015-01-01' AND '2015-01-24'"
_INNER = f"SELECT d AS day, count(*) AS n, sum(i4) AS total FROM people {_WHERE} GROUP BY d"


def _outer(text: str) -> tuple[OutputColumn, ...]:
    found = read(text)
    assert found is not None
    (block,) = found[1].query.blocks
    assert not block.outputs
    return block.outer_outputs


def _alone(*items: str) -> tuple[OutputColumn, ...]:
    """The same, computed where it is aggregated."""
    found = read(f"SELECT d AS day, {', '.join(items)} FROM people {_WHERE} GROUP BY d")
    assert found is not None
    return found[1].query.blocks[0].outputs[1:]


_FORMS = {
    "n": "count(*) AS n",
    "n AS of_day": "count(*) AS of_day",
    "n * 2 AS x": "count(*) * 2 AS x",
    "total / n AS x": "sum(i4) / count(*) AS x",
    "q.total::numeric / nullif(q.n, 0) AS x": "sum(i4)::numeric / nullif(count(*), 0) AS x",
    "avg(n) OVER (ORDER BY day ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS x": (
        "avg(count(*)) OVER (ORDER BY d ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS x"
    ),
    "sum(n) OVER (ORDER BY day ROWS BETWEEN 2 preceding AND 1 following) AS x": (
        "sum(count(*)) OVER (ORDER BY d ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS x"
    ),
    "round(100.0 * (n / lag(n) OVER (ORDER BY day) - 1), 1) AS x": (
        "round(100.0 * (count(*) / lag(count(*)) OVER (ORDER BY d) - 1), 1) AS x"
    ),
    "n * 100.0 / sum(n) OVER () AS x": "count(*) * 100.0 / sum(count(*)) OVER () AS x",
}


def _renumbered(expression: NoisyExpression | None) -> str:
    """Aggregates are numbered in their order in a list, which differs."""
    assert expression is not None
    numbers = dict.fromkeys(re.findall(r"number=\d+", repr(expression)))
    text = repr(expression)
    for place, number in enumerate(numbers):
        text = text.replace(f"{number},", f"number=a{place},")
    return text


_AROUND = (
    f"SELECT day, {{}} FROM ({_INNER}) q",
    f"SELECT day, {{}} FROM ({_INNER}) AS q ORDER BY day LIMIT 5",
    f"WITH q AS ({_INNER}) SELECT day, {{}} FROM q",
    f"WITH m AS ({_INNER}) SELECT day, {{}} FROM m AS q",
)


@pytest.mark.parametrize("around", _AROUND)
@pytest.mark.parametrize("form", _FORMS)
def test_the_error_is_that_of_the_expression_inside(form: str, around: str) -> None:
    day, column = _outer(around.format(form))
    assert day == OutputColumn("day", None)
    (expected,) = _alone(_FORMS[form])
    assert expected.expression is not None
    assert column.name == expected.name and column.reason == ""
    assert _renumbered(column.expression) == _renumbered(expected.expression)


def test_a_star_is_all_columns() -> None:
    assert [one.name for one in _outer(f"SELECT * FROM ({_INNER}) q")] == ["day", "n", "total"]
    assert [one.name for one in _outer(f"SELECT q.*, n + 1 AS m FROM ({_INNER}) q")][3:] == ["m"]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT sum(n) FROM ({_INNER}) q",
        f"SELECT n || ' rows' FROM ({_INNER}) q",
        f"SELECT n + (SELECT 1) FROM ({_INNER}) q",
        f"SELECT avg(n) OVER () FROM ({_INNER}) q WHERE n > 3",
        f"SELECT avg(n) OVER () FROM ({_INNER} HAVING count(*) > 3) q",
        f"SELECT avg(n) OVER () FROM ({_INNER} ORDER BY n LIMIT 3) q",
        f"SELECT max(n) OVER () FROM ({_INNER}) q",
    ],
)
def test_of_other_expressions_it_is_not_known(text: str) -> None:
    (column,) = _outer(text)
    assert column == OutputColumn(column.name, None, COMPUTED_AROUND)


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT day, sum(n) FROM ({_INNER}) q GROUP BY day",
        f"SELECT DISTINCT n FROM ({_INNER}) q",
        f"SELECT n FROM ({_INNER}) q, regions",
        f"SELECT n FROM ({_INNER}) q (a, b, c), generate_series(1, 2)",
        f"WITH m AS ({_INNER}) SELECT n FROM m JOIN m k USING (day)",
        f"WITH m (a, n, c) AS ({_INNER}) SELECT n FROM m",
        f"SELECT n FROM (SELECT n FROM ({_INNER}) q) r",
        f"SELECT n FROM ({_INNER}) q UNION ALL SELECT 1",
    ],
)
def test_other_rows_have_no_columns_here(text: str) -> None:
    assert _outer(text) == ()
