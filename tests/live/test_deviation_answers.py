"""AVG of the demo's orders, by the whole path: centres are released, the second scan is compiled about them,
and the answers are near the means of all rows, which their intervals hold."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import psycopg
import pytest

from proxy.base.errors import Fault
from proxy.compiler.binds import Binds
from proxy.compiler.deviation_scan import deviation_scan
from proxy.engine.policy_statements import PolicyStatements
from proxy.kernel.checked_plan import check_centred
from proxy.kernel.plan import BlockPlan
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext
from proxy.planner.planning import plan
from proxy.policy.policy_model import Bounds, BoundsKind, ProtectedTable, PublicTable
from proxy.protected.protected_database import ProtectedDatabase
from proxy.query.syntax.statements import Statement
from proxy.release.noisy_relation import NoisyTable
from tests.centre_scans import centre_scan
from tests.fifty_queries.demo_tables import PUBLIC
from tests.mechanisms.mean_accuracy import accuracy, before
from tests.mechanisms.mean_sets import SHAPES, MeanSet
from tests.mechanisms.variance_accuracy import before as spread_before
from tests.postgres_labels import POSTGRES_LABELS
from tests.seeded_bits import SeededBits
from tests.servers_fixture import servers
from tests.uncharged_statements import read
from tests.unchecked_blocks import drawn_centres, release_block, unchecked

_WIDTH = 500


def _block(question: str, epsilon: str) -> BlockPlan:
    """As of the delivered policy, whose bounds on rows are chosen."""
    policy, catalog = servers().policies["shop"], servers().catalogs["shop"]
    policy = replace(policy, tables={name: _open(one) for name, one in policy.tables.items()})
    oids = {str(name): number for number, name in enumerate(policy.tables, start=1)}
    statements = PolicyStatements(policy, catalog, dict(enumerate(policy.tables, start=1)))
    statement = statements.look(question)
    assert isinstance(statement, Statement)
    read = statements.read(statement, tuple(map(oids.get, statement.relations)), ())
    assert read is not None
    known = PlanningContext(policy, catalog, PUBLIC["shop"], evaluating=POSTGRES_LABELS)
    loss = Loss(Fraction(epsilon), Fraction(0))
    (block,) = plan(read.reading.query, known, loss).blocks
    return block


def _open(table: ProtectedTable | PublicTable) -> ProtectedTable | PublicTable:
    if not isinstance(table, ProtectedTable) or "total" not in table.columns:
        return table
    bounds = Bounds(Fraction(0), Fraction(_WIDTH), BoundsKind.NUMBER)
    total = replace(table.columns["total"], bounds=bounds)
    columns = {**table.columns, "total": total}
    return replace(
        table,
        columns=columns,
        chooses_rows=True,
        max_rows_per_unit=1_000_000,
        max_groups_per_unit=None,
    )


async def _answers(block: BlockPlan, draws: int) -> list[NoisyTable]:
    protected, bits = (
        ProtectedDatabase(servers().source_dsns["shop"], sessions_max=1),
        SeededBits(4),
    )
    await protected.open()
    found = []
    try:
        first = await read(protected, centre_scan(block), {})
        for _ in range(draws):
            centred = check_centred(drawn_centres(block, first, bits), unchecked(block)).block
            second = await read(protected, deviation_scan(centred, Binds()), {})
            found.append(release_block(centred, [second], bits))
    finally:
        await protected.close()
    return found


def _truth(question: str) -> dict[tuple[str | None, ...], float]:
    with psycopg.connect(servers().protected.dsn("shop")) as connection:
        rows = connection.execute(question.encode()).fetchall()
    return {tuple(row[:-1]): float(row[-1]) for row in rows}


_BY_STATUS = "SELECT status, avg(total) FROM shop.orders GROUP BY status"
_CLAMPED = _BY_STATUS.replace("total", "least(greatest(total, 0), 500)")


_PER_UNIT = """\
SELECT dense_rank() OVER (ORDER BY customer_id), dense_rank() OVER (ORDER BY status), count(*),
    sum(200 * least(greatest(total, 0), 500) - 50000), sum((200 * least(greatest(total, 0), 500) - 50000) ^ 2)
    FROM shop.orders GROUP BY customer_id, status
"""


def _rows() -> MeanSet:
    """All orders, by customer and status."""
    with psycopg.connect(servers().protected.dsn("shop")) as connection:
        found = connection.execute(_PER_UNIT.encode()).fetchall()
    units, groups = max(row[0] for row in found), max(row[1] for row in found)
    shape = replace(SHAPES[0], name="demo", units=units, groups=groups)
    counts, sums, squares = (np.zeros((units, groups)) for _ in range(3))
    for unit, group, *numbers in found:
        at = unit - 1, group - 1
        counts[at], sums[at], squares[at] = map(float, numbers)
    width = 100 * _WIDTH
    return MeanSet(shape=shape, counts=counts, sums=sums, squares=squares, width=width)


def _before(epsilon: str, draws: int) -> float:
    """RMSE in per cent of the range, as AVG was drawn before."""
    rows, bits = _rows(), SeededBits(8)
    drawn = [before(rows, Fraction(epsilon), bits) for _ in range(draws)]
    return accuracy(rows, drawn).rmse


def _spread_before(epsilon: str, draws: int) -> float:
    """The same of STDDEV."""
    rows, bits = _rows(), SeededBits(8)
    drawn = [spread_before(rows, Fraction(epsilon), bits) for _ in range(draws)]
    return accuracy(rows, drawn, rows.deviations).rmse


_SPREAD = "SELECT status, stddev(total) FROM shop.orders GROUP BY status"


@pytest.mark.long
@pytest.mark.parametrize(("epsilon", "most"), [("1", 1.9), ("0.25", 2.5)])
def test_deviations_by_status(epsilon: str, most: float) -> None:
    """RMSE in per cent of the range, at least five times better than before. Groups of few orders are NULL at
    epsilon 0.25."""
    truth = _truth(_SPREAD.replace("total", "least(greatest(total, 0), 500)"))
    errors, held, halves = [], [], []
    for table in asyncio.run(_answers(_block(_SPREAD, epsilon), 20)):
        for row in table.rows:
            (value,) = row.values
            if value.is_missing:
                continue
            assert value.half_width is not None, "a deviation without an error is NULL"
            errors.append(float(value.index * value.grid) - truth[row.keys])
            halves.append(float(value.half_width * value.grid))
            assert value.is_least, "of many orders a bound may cut the squares"
            held.append(errors[-1] <= halves[-1])
    rmse = 100 * math.sqrt(sum(error**2 for error in errors) / len(errors)) / _WIDTH
    old = _spread_before(epsilon, 60)
    print(f"epsilon {epsilon}: RMSE {rmse:.2f} % of the range, before {old:.2f} %, exact {truth}")
    print(f"{len(errors)} of 80 answers, held {sum(held)}, half width {np.median(halves):.1f}")
    assert rmse < most and 5 * rmse < old
    assert len(errors) > 40 and sum(held) >= 0.94 * len(held)


def test_a_mean_and_its_variances_are_of_one_draw() -> None:
    """STDDEV is the root of VARIANCE, and no part is paid twice."""
    question = (
        "SELECT status, avg(total), variance(total), stddev(total), var_pop(total) FROM shop.orders"
    )
    block = _block(f"{question} GROUP BY status", "1")
    (release,) = block.releases
    assert release.loss.epsilon == 1
    for table in asyncio.run(_answers(block, 2)):
        shown = [row for row in table.rows if not row.values[2].is_missing]
        assert len(shown) >= 3
        for row in shown:
            mean, of_sample, root, of_all = (float(one.index * one.grid) for one in row.values)
            assert 0 < mean < _WIDTH
            assert math.isclose(root**2, of_sample, rel_tol=1e-6)
            assert of_all < of_sample < 1.01 * of_all


def test_a_deviation_without_its_centres_is_a_fault() -> None:
    """Nothing is drawn about the middle of the range in their place."""
    block = _block(_SPREAD, "1")

    async def drawn() -> None:
        protected = ProtectedDatabase(servers().source_dsns["shop"], sessions_max=1)
        await protected.open()
        try:
            table = await read(protected, deviation_scan(block, Binds()), {})
        finally:
            await protected.close()
        with pytest.raises(Fault):
            release_block(block, [table], SeededBits(1))

    asyncio.run(drawn())


class NotEightTimesBetter(Exception):
    """The means are better than before, but less than eight times."""


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("epsilon", "most"),
    [
        ("1", 0.65),
        pytest.param(
            *("0.25", 1.8),
            marks=pytest.mark.xfail(
                raises=NotEightTimesBetter,
                strict=True,
                reason="7 times on the demo's rows of today",
            ),
        ),
    ],
)
def test_means_by_status(epsilon: str, most: float) -> None:
    """RMSE in per cent of the range, at least eight times better than before."""
    truth = _truth(_CLAMPED)
    tables = asyncio.run(_answers(_block(_BY_STATUS, epsilon), 15))
    errors, held = [], []
    for table in tables:
        assert [row.keys for row in table.rows] == sorted(
            truth, key=[row.keys for row in table.rows].index
        )
        for row in table.rows:
            (value,) = row.values
            if value.is_missing:
                continue
            number = float(value.index * value.grid)
            errors.append(number - truth[row.keys])
            if value.half_width is not None:
                held.append(abs(errors[-1]) <= float(value.half_width * value.grid))
    rmse = 100 * math.sqrt(sum(error**2 for error in errors) / len(errors)) / _WIDTH
    print(
        f"epsilon {epsilon}: RMSE {rmse:.2f} % of the range, {len(errors)} answers, held {sum(held)}"
    )
    old = _before(epsilon, 60)
    print(f"before: {old:.2f} %")
    assert rmse < most
    assert len(errors) > 25 and sum(held) >= 0.94 * len(held)
    if 8 * rmse >= old:
        raise NotEightTimesBetter(f"{old / rmse:.1f} times")
