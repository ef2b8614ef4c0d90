"""Accuracy on the real Adult table at a total epsilon of 1, beside the best that six other libraries reached
(smartnoise, Qrlew, OpenDP, Tumult, PipelineDP, diffprivlib; medians of 100 runs, bounds 0..100 and 0..100000).

The plan, its compiled SQL and the release are the product's; the SQL runs once, the release many times. A
median of 100 runs is off by 10 % (one deviation). The peers' figures for SUM are, to their two digits, the
median of the very Laplace noise that SUM has here, so that runs would compare with a coin: there the law's own
median is taken, of the planned scale, and 20,000 runs show that it is what is released.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from statistics import median

import psycopg
import pytest

from proxy.catalog.catalog_model import TableName
from proxy.cli.assembly import Database, assemble
from proxy.exact.table import ExactTable, added_up
from proxy.kernel.plan import BlockPlan, LaplaceNoise, NoisyStatistic
from proxy.mechanisms import discrete_laplace
from proxy.protected.protected_database import ProtectedDatabase
from proxy.query.syntax.statements import Statement
from tests.asked_by import run_by
from tests.ledger_key import LEDGER_CIPHER
from tests.live import public_data
from tests.live.served_database import planned, served_database
from tests.seeded_bits import SeededBits
from tests.servers_fixture import servers
from tests.uncharged_statements import read
from tests.unchecked_blocks import compile_block, release_block

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not public_data.PRESENT, reason=public_data.REASON),
]

ADULT = TableName("census", "adult")
EDUCATION = [
    *("10th", "11th", "12th", "1st-4th", "5th-6th", "7th-8th"),
    *("9th", "Assoc-acdm", "Assoc-voc", "Bachelors", "Doctorate", "HS-grad"),
    *("Masters", "Preschool", "Prof-school", "Some-college"),
]
_TABLES = f"""\
tables:
  census.adult:
    unit: row
    columns:
      age: {{bounds: [0, 100]}}
      capital_gain: {{bounds: [0, 100000]}}
      education: {{values: {EDUCATION}}}
      native_country: {{}}
"""
_SEED = 20261122
_NAME = "adult_peers"

Groups = Mapping[tuple[str | None, ...], float]


@dataclass(frozen=True)
class Adult:
    database: Database
    source: str

    def exact(self, question: str) -> Groups:
        """Per group its true value."""
        with psycopg.connect(self.source) as connection:
            rows = connection.execute(question.encode()).fetchall()
        return {tuple(row[:-1]): float(row[-1]) for row in rows}

    def plan(self, question: str) -> BlockPlan:
        private = planned(self.database, question)
        assert private.loss.epsilon == 1, "all of the statement at epsilon 1"
        (block,) = private.blocks
        return block

    def errors(self, question: str, runs: int) -> Iterator[float]:
        """Relative errors of each run and true group; 1 where a group is not shown."""
        truth = self.exact(question)
        block, bits = self.plan(question), SeededBits(_SEED)
        tables = asyncio.run(_tables(block, self.source))
        for _ in range(runs):
            released = release_block(block, tables, bits)
            shown = {row.keys: float(row.values[0].text() or "nan") for row in released.rows}
            assert set(shown) <= set(truth), "a group that is not there"
            for keys, value in truth.items():
                yield abs(shown[keys] - value) / value if keys in shown else 1.0


async def _tables(block: BlockPlan, source: str) -> list[ExactTable]:
    protected, bits = ProtectedDatabase(source), SeededBits(_SEED)
    await protected.open()
    try:
        return [
            await read(protected, query, {name: bits.below(2**63) for name in query.seeds})
            for query in compile_block(block)
        ]
    finally:
        await protected.close()


@pytest.fixture(scope="module")
def adult() -> Adult:
    pair = servers()
    database = served_database(pair, _NAME, public_data.script(), _TABLES, "best")
    public_data.load(pair.protected, _NAME, only=str(ADULT))
    return Adult(database, pair.protected.dsn(_NAME))


@pytest.mark.parametrize(
    ("selected", "group", "peer"),
    [
        ("count(*)", "", 3.1e-5),
        ("avg(age)", "", 5e-5),
        ("min(age)", "", 1e-4),
        ("max(age)", "", 5e-2),
        ("max(capital_gain)", "", 5e-2),
        ("percentile_cont(0.5) WITHIN GROUP (ORDER BY age)", "", 0),
        ("variance(age)", "", 1.8e-3),
        ("stddev(age)", "", 9e-4),
        ("count(*)", "education", 2.0e-3),
        ("count(*)", "native_country", 1.3e-1),
    ],
)
def test_median_relative_error_is_no_peers_best(
    selected: str, group: str, peer: float, adult: Adult
) -> None:
    question = f"SELECT {selected} FROM {ADULT}"
    if group:
        question = f"SELECT {group}, {selected} FROM {ADULT} GROUP BY {group}"
    found = median(adult.errors(question, 100))
    print(f"{selected} {group}: {found:.3g}, best peer {peer:.3g}")
    assert found <= peer


@pytest.mark.parametrize(("column", "peer"), [("age", 5.5e-5), ("capital_gain", 2.0e-3)])
def test_median_of_sums_noise_is_the_best_peers(column: str, peer: float, adult: Adult) -> None:
    question = f"SELECT sum({column}) FROM {ADULT}"
    (release,) = adult.plan(question).releases
    assert isinstance(release, NoisyStatistic) and isinstance(release.noise, LaplaceNoise)
    assert release.grid == 1
    (truth,) = adult.exact(question).values()
    found = discrete_laplace.half_width(release.noise.scale, Fraction(1, 2)) / truth
    print(f"sum({column}): {found:.4g}, best peer {peer:.4g}")
    assert found <= peer


@pytest.mark.parametrize(
    ("selected", "absolute"),
    [
        ("count(*)", 1.0),  # of discrete Laplace at scale 1, over whole numbers
        ("sum(age)", 69.0),  # P(|K| <= 68) < 1/2 <= P(|K| <= 69) at scale 100
        pytest.param("sum(capital_gain)", 69_314.0, marks=pytest.mark.long),
        # Of two halves: Lap(100) - 11.4 Lap(2), over the rows.
        pytest.param("avg(age)", 75.5 / 32_561, marks=pytest.mark.long),
    ],
)
def test_error_is_at_most_a_twentieth_above_the_closed_form(
    selected: str, absolute: float, adult: Adult
) -> None:
    question = f"SELECT {selected} FROM {ADULT}"
    (truth,) = adult.exact(question).values()
    found = median(adult.errors(question, 20_000)) * truth
    print(f"{selected}: median absolute error {found:.5g}, closed form {absolute:.5g}")
    assert found <= 1.05 * absolute


def test_selected_keys_follow_the_optimal_curve(adult: Adult) -> None:
    """pi_n by the recursion in floats, of its own; each key of the real table within 4.9 deviations, which
    happens to one of 42 once in 20,000 runs of this test."""
    question = f"SELECT native_country, count(*) FROM {ADULT} GROUP BY native_country"
    block, bits, runs = adult.plan(question), SeededBits(_SEED + 1), 2000
    tables = asyncio.run(_tables(block, adult.source))
    assert block.selection is not None
    each = block.selection.each
    assert each.epsilon == Fraction(1, 2) and each.delta == Fraction(1, 2 * 10**6)
    shown = dict.fromkeys(adult.exact(question), 0)
    for _ in range(runs):
        for row in release_block(block, tables, bits).rows:
            shown[row.keys] += 1
    between = 0
    for keys, units in adult.exact(question).items():
        pi = optimal(int(units), float(each.epsilon), float(each.delta))
        between += 0.01 < pi < 0.99
        deviation = (pi * (1 - pi) / runs) ** 0.5
        assert abs(shown[keys] / runs - pi) <= 4.9 * deviation + 4 / runs, (keys, units, pi)
    assert between >= 5  # else the curve would not be seen


def test_rows_of_groups_that_are_not_kept_are_dropped_as_they_come(adult: Adult) -> None:
    question = f"SELECT native_country, count(*) FROM {ADULT} GROUP BY native_country"
    (query,) = compile_block(adult.plan(question))
    asked: list[int] = []

    def is_selected(units: int) -> bool:
        asked.append(units)
        return units >= 100

    async def run() -> ExactTable:
        protected = ProtectedDatabase(adult.source)
        await protected.open()
        try:
            return await read(protected, query, dict.fromkeys(query.seeds, 1), is_selected)
        finally:
            await protected.close()

    table = asyncio.run(run())
    truth = adult.exact(question)
    assert table.selected
    assert sorted(asked) == sorted(truth.values())
    (slots,) = table.slots
    found = {row.keys: added_up([row], slots.total) for row in table.rows}
    assert found == {keys: units for keys, units in truth.items() if units >= 100}


def test_an_answer_shows_selected_keys_only(adult: Adult) -> None:
    """The whole pipeline, where keys are selected while rows come: by 100 answers, each group never, always or
    sometimes, as its chance is."""
    question = f"SELECT native_country, count(*) FROM {ADULT} GROUP BY native_country"
    shown = dict.fromkeys(adult.exact(question), 0)
    for keys in asyncio.run(_answered(adult.database, question, 100)):
        shown[keys] += 1
    for keys, units in adult.exact(question).items():
        pi = optimal(int(units), 0.5, 0.5e-6)
        assert abs(shown[keys] - 100 * pi) <= 4.9 * (100 * pi * (1 - pi)) ** 0.5 + 2, (keys, units)
    assert sum(0 < count < 100 for count in shown.values()) >= 3


async def _answered(database: Database, question: str, runs: int) -> list[tuple[str | None, ...]]:
    bits = SeededBits(_SEED + 2)
    served = assemble(
        database.policy, database.catalog, database.shadow, database.lease, LEDGER_CIPHER, bits
    )
    statement = served.engine.statements.look(question)
    assert isinstance(statement, Statement)
    asked = served.engine.statements.read(statement, (served.shadow.relation_oids()[ADULT],), ())
    assert asked is not None
    found: list[tuple[str | None, ...]] = []
    await served.open()
    try:
        for _ in range(runs):
            answer = await run_by(served.engine, asked, (), {}, "accuracy")
            found += [(row["k1"],) for row in json.loads(answer.relation)["b1"]]
    finally:
        await served.close()
    return found


def optimal(units: int, epsilon: float, delta: float) -> float:
    """Desfontaines, Voss, Gipson, Mandayam 2022, theorem 1."""
    pi = 0.0
    for _ in range(units):
        pi = min(exp(epsilon) * pi + delta, 1 - exp(-epsilon) * (1 - pi - delta), 1.0)
    return pi
