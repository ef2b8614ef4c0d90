"""EXPLAIN calls each answer by the name of its output column, in all of its forms."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.engine.explain_text import explain_json, summary_lines, verbose_lines
from tests.engine.test_explaining import explained
from tests.pipeline_world import read, walk

_NAMED: dict[str, list[tuple[str, list[str], str]]] = {
    "SELECT sum(i4) AS revenue, count(*) FROM people": [
        ("revenue", ["revenue"], "revenue = sum(i4)"),
        ("count", ["count"], "count(*)"),
    ],
    'SELECT count(*) "Number of people" FROM people': [
        ("Number of people", ["Number of people"], "Number of people = count(*)")
    ],
    "SELECT sum(i4), sum(n2) FROM people": [
        ("sum(i4)", ["sum"], "sum(i4)"),
        ("sum(n2)", ["sum"], "sum(n2)"),
    ],
    "SELECT count(*) AS a, count(*) AS b FROM people": [("a, b", ["a", "b"], "a, b = count(*)")],
    "SELECT sum(i4) / nullif(count(*), 0) AS ratio, count(*) AS n FROM people": [
        ("sum(i4) in ratio", ["ratio"], "sum(i4) in ratio"),
        ("n", ["ratio", "n"], "n = count(*)"),
    ],
    "SELECT count(*)::integer FROM people": [("count(*)", ["count"], "count(*)")],
    "SELECT t, stddev(i4) FROM people GROUP BY ROLLUP (t)": [
        ("stddev", ["stddev"], "stddev = stddev_samp(i4)"),
        ("stddev", ["stddev"], "stddev = stddev_samp(i4)"),
    ],
    # The rows of the query inside are those of the result.
    "SELECT q.n AS people FROM (SELECT t, count(*) AS n FROM people GROUP BY t) q": [
        ("people", ["people"], "people = count(*)")
    ],
    "SELECT max(q.n) AS most FROM (SELECT t, count(*) AS n FROM people GROUP BY t) q": [
        ("count(*) in most", ["most"], "count(*) in most")
    ],
    "SELECT (SELECT count(*) FROM people) AS one, (SELECT sum(i4) FROM people) AS two": [
        ("one", [], "one = count(*)"),
        ("two", [], "two = sum(i4)"),
    ],
}


@pytest.mark.parametrize("sql", _NAMED)
def test_answers_are_called_as_their_columns(sql: str) -> None:
    found, pipeline = read(sql), walk(sql)
    assert found is not None and pipeline is not None
    told_of = explained(pipeline.plan, asked=found[1].query.blocks)
    document: Any = explain_json(told_of)
    told: list[dict[str, Any]] = document["aggregates"]
    assert [(one["name"], one["columns"]) for one in told] == [one[:2] for one in _NAMED[sql]]
    assert all(one["mechanism"] and one["epsilon"] and one["expected"] for one in told)
    summary = "\n".join(summary_lines(told_of))
    verbose = "\n".join(verbose_lines(told_of))
    for _, _, text in _NAMED[sql]:
        assert f"\n    {text}: " in summary
        assert verbose.count(f"\n    {text}: ") >= 2
