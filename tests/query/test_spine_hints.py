"""A hint leads in one step from `series LEFT JOIN table` to a statement with the same groups."""

from __future__ import annotations

import re

import pytest

from proxy.base.errors import Refusal
from tests.pipeline_world import walk

_MONTHS = "generate_series(timestamp '2010-01-01', timestamp '2010-12-01', interval '1 month')"
_CTE = f"WITH months AS (SELECT {_MONTHS} AS m)"
_DAYS = "SELECT date '2010-01-01' UNION ALL SELECT d + 1 FROM m WHERE d < '2010-12-01'"
_RECURSIVE = f"WITH RECURSIVE m(d) AS ({_DAYS})"


@pytest.mark.parametrize(
    ("refused", "key", "joined"),
    [
        (
            f"SELECT g.m, count(o.i4) FROM {_MONTHS} g(m) LEFT JOIN people o"
            " ON date_trunc('month', o.ts) = g.m GROUP BY 1 ORDER BY 1",
            "date_trunc('month', o.ts)",
            f"FROM {_MONTHS} g(m) LEFT JOIN",
        ),
        (
            f"SELECT g.m, sum(people.i4) FROM {_MONTHS} AS g(m) LEFT OUTER JOIN w.people"
            " ON people.ts >= g.m AND people.ts < g.m + interval '1 month' GROUP BY g.m",
            "date_trunc('month', people.ts)",
            f"FROM {_MONTHS} AS g(m) LEFT JOIN",
        ),
        (
            f"{_CTE} SELECT months.m, count(o.i4) FROM months LEFT JOIN people o"
            " ON months.m = date_trunc('month', o.ts) GROUP BY 1",
            "date_trunc('month', o.ts)",
            f"{_CTE} SELECT months.m, answered.n FROM months LEFT JOIN",
        ),
        (
            f"{_CTE} SELECT months.m, count(o.i4) FROM months LEFT JOIN people o"
            " ON months.m <= o.ts AND o.ts < months.m + interval '1 month' AND o.b GROUP BY 1",
            "",  # a condition that is none of these
            "",
        ),
        (
            f"{_RECURSIVE} SELECT m.d, count(o.i4) FROM m LEFT JOIN people o ON o.ts::date = m.d GROUP BY 1",
            "o.ts::date",
            f"{_RECURSIVE} SELECT m.d, answered.n FROM m LEFT JOIN",
        ),
        (
            f"SELECT g.m, s.t, count(o.i4) FROM {_MONTHS} g(m) CROSS JOIN (VALUES ('x'), ('y')) s(t)"
            " LEFT JOIN people o ON date_trunc('month', o.ts) = g.m AND o.t = s.t GROUP BY 1, 2",
            "date_trunc('month', o.ts) AS k1, o.t",
            "ON answered.k1 = g.m AND answered.k2 = s.t",
        ),
        (
            "SELECT g.n, count(o.i4) FROM generate_series(1, 12) g(n) LEFT JOIN people o"
            " ON extract(month FROM o.ts) = g.n GROUP BY 1",
            "extract(month FROM o.ts)",
            "answered ON answered.k1 = g.n",
        ),
        (
            f"SELECT g.m, count(o.i4) FROM {_MONTHS} g(m) -- twelve\n CROSS JOIN (VALUES ('a  b')) s(t)"
            " LEFT JOIN people o ON (date_trunc('month', o.ts) = g.m AND o.t = s.t) GROUP BY 1",
            "date_trunc('month', o.ts) AS k1, o.t",
            "g(m) CROSS JOIN (VALUES ('a  b')) s(t) LEFT JOIN",
        ),
        (
            f"SELECT g.m, count(o.i4) FROM {_MONTHS} g(m) LEFT JOIN people o"
            " ON date_trunc('month', o.ts) = g.m OR g.m IS NULL GROUP BY 1",
            "",
            "",
        ),
        ("SELECT count(*) FROM people, generate_series(1, i4)", "", ""),
    ],
)
def test_the_hint_is_planned_and_has_the_groups(refused: str, key: str, joined: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(refused)
    found = re.match(r"[^:]*: ((?:WITH|SELECT) .*?)\.(?: Or write .*)?$", caught.value.hint)
    assert found is not None, caught.value.hint
    statement = found[1]
    if not key:  # to be filled in
        statement = statement.replace("FROM table", "FROM people").replace("column", "tz")
        key, joined = "date_trunc('month', tz)", "q ON q.m = g.m"
    assert f"(SELECT {key}" in statement and joined in statement
    pipeline = walk(statement)
    assert pipeline is not None and len(pipeline.plan.blocks) == 1
    # PostgreSQL joins: each row of the series is kept.
    assert " LEFT JOIN " in pipeline.reading.text
