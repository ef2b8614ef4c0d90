"""The hint of `series LEFT JOIN table` leads to a statement with the same groups."""

from __future__ import annotations

import re

import pytest

from proxy.base.errors import Refusal
from tests.pipeline_world import walk

_MONTHS = "generate_series(timestamp '2010-01-01', timestamp '2010-12-01', interval '1 month')"
_CTE = f"WITH months AS (SELECT {_MONTHS} AS m)"
_DAYS = "SELECT date '2010-01-01' UNION ALL SELECT d + 1 FROM m WHERE d < '2010-12-01'"


@pytest.mark.parametrize(
    "refused",
    [
        f"SELECT g.m, count(o.i4) FROM {_MONTHS} g(m) LEFT JOIN people o"
        " ON date_trunc('month', o.ts) = g.m GROUP BY 1 ORDER BY 1",
        f"{_CTE} SELECT months.m, count(o.i4) FROM months LEFT JOIN people o"
        " ON months.m = date_trunc('month', o.ts) GROUP BY 1",
        f"WITH RECURSIVE m(d) AS ({_DAYS})"
        " SELECT m.d, count(o.i4) FROM m LEFT JOIN people o ON o.ts::date = m.d GROUP BY 1",
        "SELECT count(*) FROM people, generate_series(1, i4)",
    ],
)
def test_the_hint_is_planned_and_has_the_groups(refused: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(refused)
    found = re.match(r"[^:]*: (SELECT .*?)\.(?: Or write .*)?$", caught.value.hint)
    assert found is not None, caught.value.hint
    pipeline = walk(found[1].replace("FROM table", "FROM people").replace("column", "tz"))
    assert pipeline is not None and len(pipeline.plan.blocks) == 1
    # PostgreSQL joins: each row of the series is kept.
    assert " LEFT JOIN " in pipeline.reading.text
