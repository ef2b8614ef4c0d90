"""Rows whose unit is NULL are nobody's: no statement of any plan reads them."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from tests.pipeline_world import POLICIES, walk
from tests.unchecked_blocks import compile_block, compile_centres, compile_choices

_ASKED = (
    "count(*)",
    "sum(i4), avg(n2)",
    "avg(i4), stddev(i4)",
    "min(i4), max(d)",
    "count(DISTINCT i4), count(DISTINCT uid)",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY i4)",
    "percentile_cont(0.2) WITHIN GROUP (ORDER BY n2), min(n2)",
    "variance(i4), count(*) FILTER (WHERE b)",
)


@pytest.mark.every(3)
@pytest.mark.parametrize("policy", ["best", "world", "chosen"])
@pytest.mark.parametrize("table", ["members", "visits", "orders", "calls", "lines"])
def test_no_statement_reads_them(policy: str, table: str) -> None:
    """Of units of one row, of several, and of those that stand in another table."""
    seen = 0
    for asked in _ASKED:
        if table == "lines":
            asked = asked.replace(", count(DISTINCT uid)", "")
        for key in ("", "c"):
            by = f" GROUP BY {key}" if key else ""
            shown = f"{key}, {asked}" if key else asked
            try:
                pipeline = walk(f"SELECT {shown} FROM {table}{by}", POLICIES[policy])
            except Refusal:
                continue
            assert pipeline is not None
            for block in pipeline.plan.blocks:
                centres, choices = compile_centres(block), compile_choices(block)
                queries = [*compile_block(block)]
                queries += [] if choices is None else [choices]
                queries += [] if centres is None else [centres.query]
                for query in queries:
                    assert '"uid" IS NOT NULL' in query.sql, (asked, query.sql)
                    seen += 1
    assert seen > 9
