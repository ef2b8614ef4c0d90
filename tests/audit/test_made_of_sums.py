"""Answers made of shared sums, without noise, are PostgreSQL's own: on rows within their bounds, with NULLs.

Privacy is the neighbour audit's business; here it is that COUNT, SUM, AVG and variances share what is equal,
and nothing else.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.kernel.plan import BlockPlan, NoisyStatistic
from proxy.kernel.statistics import Statistic
from proxy.mechanisms import discrete_laplace
from proxy.planner import budget_allocation, measuring
from proxy.query.ir.query_aggregates import Aggregate
from proxy.release import null_answers
from tests import unchecked_blocks
from tests.audit.exact_results import Auditor
from tests.pipeline_world import POLICIES, walk
from tests.seeded_bits import SeededBits

# policy, question, and the same of PostgreSQL: rows without a unit do not count.
QUESTIONS: tuple[tuple[str, str, str | None], ...] = (
    ("best", "SELECT sum(i4), count(i4), avg(i4), var_pop(i4), stddev(i4) FROM people", None),
    (
        "best",
        "SELECT count(i4) FILTER (WHERE b), avg(i4) FILTER (WHERE b), avg(i4) FROM people",
        None,
    ),
    ("best", "SELECT sum(i4 + i2), avg(i4 + i2), count(*) FROM people", None),
    ("world", "SELECT variance(n2), var_pop(n2), stddev(n2), count(n2), sum(n2) FROM people", None),
    ("ratio", "SELECT sum(n2), count(n2), avg(n2) FROM people", None),
    ("ratio", "SELECT avg(i4), variance(i4) FROM people", None),
    (
        "world",
        "SELECT covar_pop(i4, i2), covar_samp(i4, i2), corr(i4, i2), regr_slope(i4, i2), "
        "regr_intercept(i4, i2), regr_r2(i4, i2), regr_slope(i2, i4), corr(i2, i4) FROM people",
        None,
    ),
    (
        "best",
        "SELECT corr(n2, i4 + i2) FILTER (WHERE b), covar_pop(n2, i4 + i2) FILTER (WHERE b), "
        "regr_intercept(i2, n2), regr_r2(i2, n2), corr(f8, i4), covar_samp(f8, i4) FROM people",
        None,
    ),
    (
        "best",
        "SELECT count(*), covar_pop(id, id), count(id) FROM orders",
        "SELECT count(*), covar_pop(id, id), count(id) FROM orders WHERE uid IS NOT NULL",
    ),
    (
        "best",
        "SELECT count(*), covar_pop(o.id, o.id), count(o.id) "
        "FROM members m LEFT JOIN orders o ON m.uid = o.uid",
        "SELECT count(*), covar_pop(o.id, o.id), count(o.id) "
        "FROM members m LEFT JOIN orders o ON m.uid = o.uid WHERE m.uid IS NOT NULL",
    ),
)


def _block(policy: str, question: str) -> BlockPlan:
    pipeline = walk(question, POLICIES[policy])
    assert pipeline is not None
    return pipeline.plan.blocks[0]


def _differs(policy: str, question: str, own: str | None, auditor: Auditor) -> str:
    block = _block(policy, question)
    tables = auditor.tables(block, "tame")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discrete_laplace, "sample", lambda bits, scale: 0)
        patch.setattr(null_answers, "says_nothing", lambda *given: False)
        (row,) = unchecked_blocks.release_block(block, tables, SeededBits(1)).rows
    auditor.connection.execute("SET search_path = tame")
    theirs = auditor.connection.execute((own or question).encode()).fetchone()
    assert theirs is not None
    for number, (value, expected) in enumerate(zip(row.values, theirs, strict=True)):
        step = value.grid * Fraction(51, 100)
        if abs(value.index * value.grid - Fraction(str(expected))) > step:
            return f"{question}: {number + 1} is {float(value.index * value.grid)}, not {expected}"
    return ""


@pytest.mark.every(2)
@pytest.mark.parametrize(("policy", "question", "own"), QUESTIONS)
def test_what_is_made_of_sums_is_postgresqls(
    policy: str, question: str, own: str | None, auditor: Auditor
) -> None:
    used = [number for answer in _block(policy, question).answers for number in answer.releases]
    assert len(used) > len(set(used)), "nothing is shared"
    assert _differs(policy, question, own, auditor) == ""


def nulls_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(budget_allocation, "never_null", lambda operand, context: True)


def filters_ignored(patch: pytest.MonkeyPatch) -> None:
    real = budget_allocation._counted

    def unfiltered(
        aggregate: Aggregate, context: measuring.MeasureContext
    ) -> budget_allocation.CountedRows:
        return real(aggregate, context)[0], None

    patch.setattr(budget_allocation, "_counted", unfiltered)


def partner_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    """Rows count in which one of a pair is NULL."""
    patch.setattr(measuring, "_is_not_null", lambda operand, context: None)


def centre_not_added(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "proxy.estimates.shared_moments.total_of", lambda total, count, low, high: total // 2
    )


@pytest.mark.parametrize(
    "mutant", [nulls_counted, filters_ignored, centre_not_added, partner_not_looked_at]
)
def test_what_is_not_equal_is_not_shared(
    mutant: object, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(mutant)
    mutant(monkeypatch)
    assert any(_differs(*question, auditor) for question in QUESTIONS)


def test_a_unit_of_too_many_rows_adds_its_mean_so_many_times(auditor: Auditor) -> None:
    """Of 1,000 rows five count: five times their mean, not a sum that is cut to five rows of a bound."""
    block = _block("best", "SELECT count(i4), covar_pop(i4, i4) FROM visits")
    (number,) = (
        n
        for n, one in enumerate(block.releases)
        if isinstance(one, NoisyStatistic) and one.statistic is Statistic.CENTRED
    )
    found = auditor.exact(block, "hostile").numbers[number][()][0]
    row = auditor.connection.execute(
        b"SELECT sum(CASE WHEN n <= 5 THEN t ELSE round(t::numeric * 5 / n) END), max(n) FROM "
        b"(SELECT sum(2 * least(greatest(i4::bigint, 0), 100) - 100) AS t, count(i4) AS n "
        b"FROM hostile.visits WHERE uid IS NOT NULL AND i4 IS NOT NULL GROUP BY uid) u"
    ).fetchone()
    assert row is not None
    assert row[1] > 5
    assert found == row[0]
