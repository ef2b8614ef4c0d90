"""Accuracy on the real Adult table, each aggregate asked alone at epsilon 1 and delta 1e-6: the median
absolute error is what the closed forms and test_simulation.py say."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator
from statistics import median_grouped

import psycopg
import pytest

from proxy.catalog.catalog_model import TableName
from proxy.cli.assembly import Database, assemble
from proxy.query.syntax.statements import Statement
from tests.asked_by import run_by
from tests.ledger_key import LEDGER_CIPHER
from tests.live import public_data
from tests.live.served_database import served_database
from tests.seeded_bits import SeededBits
from tests.servers_fixture import servers

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not public_data.PRESENT, reason=public_data.REASON),
]

ADULT = TableName("census", "adult")
_TABLES = """\
tables:
  census.adult:
    unit: row
    columns:
      age: {bounds: [0, 125]}
"""
RUNS = 200
_SEED = 20261121


@pytest.fixture(scope="module")
def adult() -> Iterator[Database]:
    pair = servers()
    database = served_database(
        pair,
        "adult",
        public_data.script(),
        _TABLES,
    )
    public_data.load(pair.protected, "adult", only=str(ADULT))
    yield database


async def answers(served: Database, aggregate: str, runs: int) -> list[float]:
    # Of its own: a closed lease cannot be opened again, and each aggregate has its own repeatable bits.
    bits = SeededBits(_SEED)
    database = assemble(
        served.policy,
        served.catalog,
        served.shadow,
        servers().lease(served.policy),
        LEDGER_CIPHER,
        bits,
    )
    engine = database.engine
    statement = engine.statements.look(f"SELECT {aggregate} FROM {ADULT}")
    assert isinstance(statement, Statement)
    asked = engine.statements.read(statement, (database.shadow.relation_oids()[ADULT],), ())
    assert asked is not None
    found = []
    await database.open()
    try:
        for _ in range(runs):
            answer = await run_by(engine, asked, (), {}, "accuracy")
            assert answer.loss.epsilon == 1
            (row,) = json.loads(answer.relation)["b1"]
            found.append(float(row["a1"]))
    finally:
        await database.close()
    return found


def exact(aggregate: str) -> float:
    with psycopg.connect(servers().protected.dsn("adult")) as connection:
        row = connection.execute(f"SELECT ({aggregate})::float8 FROM {ADULT}".encode()).fetchone()
    assert row is not None
    return float(row[0])


def laplace_median(scale: float) -> float:
    """Of |X|, X discrete Laplace, with integers spread over their unit interval as in `median_grouped`:
    P(|X| <= k) = 1 - 2 q^(k+1) / (1 + q)."""
    q = math.exp(-1 / scale)
    below, k = 0.0, 0
    while (upto := 1 - 2 * q ** (k + 1) / (1 + q)) < 0.5:
        below, k = upto, k + 1
    return k - 0.5 + (0.5 - below) / (upto - below)


@pytest.mark.parametrize(
    ("aggregate", "wanted", "step"),
    [
        ("count(*)", laplace_median(1), 1.0),
        pytest.param("sum(age)", laplace_median(125), 1.0, marks=pytest.mark.long),
        ("avg(age)", 0.162, 0.001),
        pytest.param("min(age)", 1.4, 1.0, marks=pytest.mark.long),
        pytest.param("max(age)", 13.3, 1.0, marks=pytest.mark.long),
    ],
)
def test_median_absolute_error(aggregate: str, wanted: float, step: float, adult: Database) -> None:
    truth = exact(aggregate)
    errors = [abs(one - truth) for one in asyncio.run(answers(adult, aggregate, RUNS))]
    assert len(set(errors)) > 3
    median = median_grouped(errors, interval=step)
    print(f"{aggregate}: median absolute error {median:.4g}, expected {wanted:.4g}")
    assert abs(median / wanted - 1) <= 0.2
