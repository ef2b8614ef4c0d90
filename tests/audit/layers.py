"""Layers of verification that are tried on mutants: each says whether it complains of the code as it is.

neighbours and cost are those of test_golden_neighbours.py, on fewer questions; own answer that of
test_generated_questions.py; order that of tests/engine/test_order.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.errors import Fault
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Bounds, Policy, ProtectedTable
from tests.audit.cost import spent
from tests.audit.exact_results import Auditor
from tests.audit.expressions import Number
from tests.audit.generated_bounds import with_tables
from tests.audit.table_questions import Asked
from tests.audit.test_generated_questions import own_answer
from tests.engine import test_order
from tests.pipeline_world import POLICIES, Pipeline, walk

# Every mutant is tried on all of them; the real code must pass them all.
QUESTIONS = (
    "SELECT count(*), avg(i4) FROM people",
    "SELECT sum(i4) FROM people",
    "SELECT max(i2) FROM people GROUP BY t",
    "SELECT min(i4), max(i2) FROM people",
    "SELECT count(*), avg(n2) FROM trips",
    "SELECT count(*), sum(i4) FROM visits",
    "SELECT count(*), sum(n2) FROM visits GROUP BY t",
    "SELECT count(*), sum(i4), avg(i4) FROM orders GROUP BY t",
    "SELECT count(*), max(i4) FROM notes GROUP BY t",
    "SELECT count(*), min(i2) FROM members",
    "SELECT count(*), sum(o.i4) FROM members m JOIN orders o ON m.uid = o.uid",
    "SELECT count(*), avg(x) FROM (SELECT i4 AS x FROM calls) q",
    "SELECT sum(n) FROM (SELECT uid, count(*) AS n FROM orders GROUP BY uid) q",
    "SELECT count(*), max(n) FROM (SELECT uid, count(*) AS n FROM orders GROUP BY uid) q",
    "SELECT count(*), sum(i4) FROM lines",
    "SELECT sum(i4) FROM (SELECT i4 FROM orders UNION ALL SELECT i4 FROM calls) q",
    "SELECT count(DISTINCT i8 + i4 * 7 + n2) FROM visits",
    "SELECT variance(i4), stddev(i4 + i2) FROM people",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM visits",
    "SELECT dp.error(percentile_cont(0.9) WITHIN GROUP (ORDER BY i4)) FROM visits GROUP BY t",
    "SELECT s, count(*) FROM notes GROUP BY s",
    "SELECT s, count(*) FROM trips GROUP BY s",
    "SELECT count(*) FROM (SELECT i4 FROM people UNION ALL SELECT i4 FROM people) q",
    "SELECT sum(i4 + 50), sum(n) FROM people",
    "SELECT covar_pop(i4, i2), corr(i4, n2) FROM people",
    "SELECT t, regr_slope(i4, n2) FROM orders GROUP BY t",
    "SELECT t, count(*) FROM people GROUP BY ROLLUP (t)",
    "SELECT count(*), sum(c.i4) FROM calls c JOIN orders o ON c.i2 = o.id",
)
# Of other policies, at the same epsilon and delta.
OTHER_QUESTIONS = (
    ("best", "SELECT sum(i4), count(i4), avg(i4), variance(i4) FROM visits"),
    ("best", "SELECT dp.low(min(i4) - max(i2)) FROM visits"),
    ("best", "SELECT t, min(i4), max(i8) FROM visits GROUP BY t"),
    ("best", "SELECT max(i4) FROM orders"),
    ("best", "SELECT min(i4) FROM people"),
    ("ratio", "SELECT avg(n2) FROM trips"),
    ("clipped", "SELECT t, avg(f8), count(*) FROM orders GROUP BY t"),
)
# i8 has values of both signs, in several groups of a unit.
TOTALS_QUESTIONS = (
    "SELECT t, sum(i8) FROM orders GROUP BY t",
    "SELECT t, sum(i8), dp.clipped(sum(i8)) FROM orders GROUP BY t",
)
# A bound of a unit's rows that its groups together can exceed, beside one of each group.
ROWS_QUESTIONS = ("SELECT t, sum(i4), count(*) FROM orders GROUP BY t",)
WANTED = Loss(POLICIES["world"].privacy.epsilon, POLICIES["world"].privacy.delta)
Patch = Callable[[pytest.MonkeyPatch], None]
Layer = Callable[[Auditor], bool]


def _with_a_total(policy: Policy) -> Policy:
    """A total of 0 or more, given for a column that has values below 0."""

    def table(one: ProtectedTable) -> ProtectedTable:
        total = Bounds(Fraction(0), Fraction(300))
        return replace(
            one, columns={**one.columns, "i8": replace(one.columns["i8"], per_unit=total)}
        )

    return with_tables(policy, table)


def _of_few_rows(table: ProtectedTable) -> ProtectedTable:
    return replace(table, max_rows_per_unit=3) if table.name.name == "orders" else table


def _pipelines() -> Iterator[Pipeline]:
    asked = [*(("world", question) for question in QUESTIONS), *OTHER_QUESTIONS]
    totals = _with_a_total(POLICIES["best"])
    few = with_tables(POLICIES["best"], _of_few_rows)
    for policy, question in [
        *((few, question) for question in ROWS_QUESTIONS),
        *((totals, question) for question in TOTALS_QUESTIONS),
        *((POLICIES[name], question) for name, question in asked),
    ]:
        pipeline = walk(question, policy)
        assert pipeline is not None
        yield pipeline


def neighbours_complain(auditor: Auditor) -> bool:
    for pipeline in _pipelines():
        try:
            if auditor.audit(pipeline.plan, [base.small() for base in auditor.bases]):
                return True
        except Fault:  # the statement raised on some row
            return True
    return False


def cost_complains(auditor: Auditor) -> bool:
    try:
        for pipeline in _pipelines():
            cost = spent(pipeline.plan)
            if cost.epsilon > WANTED.epsilon or cost.delta > WANTED.delta:
                return True
    except Fault:  # the planner adds up for itself too
        return True
    return False


def own_answer_complains(auditor: Auditor) -> bool:
    for column in ("i2", "i4", "i8", "n2"):
        asked = Asked("people", "sum", Number(column, True, True), None, None, ())
        try:
            assert own_answer(asked, auditor)
        except AssertionError:
            return True
    return False


def order_complains(auditor: Auditor) -> bool:
    try:
        test_order.test_the_charge_comes_before_the_data_and_is_settled_after()
    except AssertionError:
        return True
    return False
