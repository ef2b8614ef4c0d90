"""Generated questions: what was promised of their plans holds on hostile rows, and on tame rows the exact
result is PostgreSQL's own."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings

from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds
from proxy.compiler.expression_sql import numeric_sql
from proxy.kernel.plan import BlockPlan, NoisyStatistic, SampleAggregate
from proxy.kernel.statistics import Counted
from proxy.planner import grids
from proxy.planner.bounds import bounded
from proxy.planner.facts import PlanningContext
from proxy.planner.tracking import track
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.expressions import Expression, Quotient
from proxy.query.ir.relations import scans
from tests.audit.exact_results import Auditor
from tests.audit.selected_groups import among_shown, shown
from tests.audit.table_questions import Asked, table_questions
from tests.pipeline_world import CATALOG, POLICIES, SCHEMA, Pipeline, walk

# A generated expression may be too large or have too fine a grid; nothing else may be refused.
_ALLOWED = {Code.UNSUPPORTED, Code.INFEASIBLE}
# numeric division keeps at least 16 significant digits (PostgreSQL 17 documentation, section 9.3): a quotient
# may be off by the last.
_ON_THEIR_GRID = {"i2", "i4", "n2", "b", "t", "s", "free", "d", "ts"}
_LAST_DIGIT = Fraction(1, 10**10)


def _ask(asked: Asked) -> Pipeline | None:
    try:
        return walk(asked.sql)
    except Refusal as refusal:
        assert refusal.code in _ALLOWED, f"{refusal.message}: {asked.sql}"
        return None


def _check(asked: Asked, auditor: Auditor) -> str:
    """Gives what could be checked of it."""
    pipeline = _ask(asked)
    if pipeline is None:
        return "refused"
    assert auditor.audit(pipeline.plan, [base.small() for base in auditor.bases[:2]]) == [], (
        asked.sql
    )
    release = pipeline.plan.blocks[0].releases[0]
    if release.aggregate.operand is not None and not _is_count(release):
        _stays_in_its_interval(asked, pipeline.plan.blocks[0], release.aggregate.operand, auditor)
    _has_postgresqls_type(asked, release.aggregate.type, auditor)
    if asked.table in ("people", "trips") and not asked.keys:
        return own_answer(asked, auditor)
    return "audited"


def _stays_in_its_interval(
    asked: Asked, block: BlockPlan, operand: Expression, auditor: Auditor
) -> None:
    tracked = track(block.source, PlanningContext(POLICIES["world"], CATALOG, {}))
    facts = tracked.facts
    found = bounded(operand, facts)
    if found.interval is None or operand.type is None or operand.type.is_time:
        return
    grid = grids.of_expression(found.expression, found.interval, facts)
    binds = Binds()
    value = numeric_sql(found.expression, binds).replace(f'"{SCHEMA}".', "hostile.")
    slack = _LAST_DIGIT if _divides(found.expression) else Fraction(0)
    low, high = binds.number(found.interval.low - slack), binds.number(found.interval.high + slack)
    alias = next(scans(tracked.relation)).alias
    outside = f"count(*) FILTER (WHERE v < {low} OR v > {high} OR v = 'NaN')"
    off = f"count(*) FILTER (WHERE v / {binds.number(grid)} <> round(v / {binds.number(grid)}))"
    sql = f"SELECT {outside}, {off} FROM (SELECT {value} AS v FROM hostile.people AS {alias}) q"
    row = auditor.connection.execute(sql.encode(), binds.values).fetchone()
    assert row is not None and row[0] == 0, f"leaves {found.interval}: {asked.sql}"
    if asked.operand is not None and asked.operand.exact and asked.operand.smooth:
        exact = grids._exact(found.expression, facts)
        # Values of the other columns are not on their grid by themselves; they are rounded in the end.
        if exact == grid and {column for _, column in columns(operand)} <= _ON_THEIR_GRID:
            assert row[1] == 0, f"off its grid {decimal_text(grid)}: {asked.sql}"


def _has_postgresqls_type(asked: Asked, kind: SqlType, auditor: Auditor) -> None:
    sql = f"SELECT pg_typeof({asked.call})::text FROM {shown('tame')}.people WHERE false"
    with among_shown(auditor.connection, "tame"):
        row = auditor.connection.execute(sql.encode()).fetchone()
    assert row == (kind.sql,), f"{row}, not {kind.sql}: {asked.call}"


def _divides(expression: Expression) -> bool:
    if isinstance(expression, Quotient) and not expression.type.is_integer:
        return True
    return any(map(_divides, children(expression)))


def _is_count(release: object) -> bool:
    return isinstance(release, NoisyStatistic) and isinstance(release.of, Counted)


def own_answer(asked: Asked, auditor: Auditor) -> str:
    """On rows within their bounds, without NaN, the original aggregate gives the same (on the grid)."""
    pipeline = walk(asked.sql)
    assert pipeline is not None
    release, connection = pipeline.plan.blocks[0].releases[0], auditor.connection
    exact = asked.operand is None or asked.operand.exact
    if asked.operand is not None and not (exact or asked.operand.smooth):
        return "audited"  # a float's last digit may be pushed over a step
    here = auditor.exact(pipeline.plan.blocks[0], "tame")
    only = f" FILTER (WHERE {asked.filter})" if asked.filter else ""
    source = f"FROM {shown('tame')}.{asked.table}{asked.condition}"
    match release:
        case NoisyStatistic(of=Counted()):
            sql, mine = f"SELECT {asked.call} {source}", here.numbers[0][()][0]
        case NoisyStatistic() | SampleAggregate():
            assert asked.operand is not None
            is_sum = isinstance(release, NoisyStatistic)
            grid = decimal_text(
                release.grid if isinstance(release, NoisyStatistic) else release.measured.grid
            )
            word = "sum" if is_sum else asked.aggregate
            index = f"round(({asked.operand.text})::numeric / {grid})"
            sql = f"SELECT {word}({index}){only}, count({asked.operand.text}){only} {source}"
            if isinstance(release, NoisyStatistic):
                mine = here.numbers[0][()][0]
            elif asked.aggregate == "avg" or release.low >= release.high:
                return "audited"
            else:
                outputs = here.numbers[0][()]
                mine = min(outputs) if asked.aggregate == "min" else max(outputs)
    try:
        with among_shown(connection, "tame"):
            row = connection.execute(sql.encode()).fetchone()
    except psycopg.errors.DataError:
        return "audited"  # smallint out of range and the like: PostgreSQL has no answer of its own
    assert row is not None
    if row[0] is None and isinstance(release, SampleAggregate):
        return "audited"
    theirs = int(str(row[0] or 0))
    rows = int(str(row[1])) if len(row) > 1 else 0
    # Division and floats may differ in the last digit, so each row by one step.
    slack = 0 if exact and (asked.operand is None or asked.operand.smooth) else max(rows, 1)
    if isinstance(release, SampleAggregate):
        theirs = min(max(theirs, release.low), release.high)
        slack = min(slack, 1)
    assert abs(mine - theirs) <= slack, f"{mine}, PostgreSQL says {theirs}: {asked.sql}"
    return "compared"


SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]


def _run(examples: int, auditor: Auditor) -> Counter[str]:
    seen: Counter[str] = Counter()

    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=SLOW,
        derandomize=True,
        database=None,
    )
    @given(table_questions())
    def check(asked: Asked) -> None:
        seen[_check(asked, auditor)] += 1

    check()
    return seen


@pytest.mark.long
def test_some_generated_questions(auditor: Auditor) -> None:
    seen = _run(50, auditor)
    assert seen["audited"] + seen["compared"] > 33, seen
    assert seen["compared"] > 3, seen


@pytest.mark.long
def test_generated_questions(auditor: Auditor) -> None:
    seen = _run(150, auditor)
    assert seen["audited"] + seen["compared"] > 100, seen
    assert seen["compared"] > 10, seen


@pytest.mark.long
def test_many_generated_questions(auditor: Auditor) -> None:
    _run(3000, auditor)
