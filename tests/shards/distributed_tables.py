"""The tables of the golden statements and of the demo, in one piece and distributed by the privacy unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Protocol

import psycopg

from proxy.cli.demo.demo_databases import DEMO_SAMPLES
from proxy.cli.sample_policies import sample_policy
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan, SampleAggregate
from proxy.policy.policy_model import IdentifierUnit
from tests.audit import synthetic
from tests.audit.reach import is_crowded
from tests.audit.without_noise import Exact
from tests.fifty_queries.queries import cases, database_of, planned
from tests.pipeline_world import CATALOG, POLICIES, PUBLIC
from tests.planner.test_golden_pipeline import golden_pipeline, planned_cases
from tests.stored_types import create_types

CASES = planned_cases()
FIFTY = [case for case in cases() if "columns" in case.headers]
_BASES = ("hostile", "crowd")
_DEMO: dict[str, dict[str, str | None]] = {
    "census": {"adult": "id"},
    "shop": {"customers": "id", "orders": "customer_id", "products": None},
}


class Distributing(Protocol):
    @property
    def dsn(self) -> str: ...

    def make_types(self, statement: str) -> None: ...

    def distribute(self, plain: str, sharded: str, units: Mapping[str, str | None]) -> None: ...


def sharded(base: str) -> str:
    return f"{base}_sharded"


def units() -> dict[str, str | None]:
    """By what each table of tests.pipeline_world is distributed: the column of its unit, or that which leads
    to it."""
    found: dict[str, str | None] = {name.name: None for name in PUBLIC}
    for table in POLICIES["world"].protected():
        described = CATALOG.tables[table.name]
        if isinstance(table.unit, IdentifierUnit):
            found[table.name.name] = table.unit.column
        else:
            found[table.name.name] = described.columns[0].name
    return found


def plant(cluster: Distributing) -> None:
    """Make the tables of the golden statements and of the demo, and distribute them."""
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        cluster.make_types(create_types())
        for base, _, rows, _ in synthetic._bases():
            if base in _BASES:
                synthetic.plant_rows(connection, base, rows)
        for name in DEMO_SAMPLES:
            sample = sample_policy(name)
            with connection.transaction():
                connection.execute((sample.schema + sample.rows).encode())
            connection.execute("DISCARD TEMP")
    for base in _BASES:
        cluster.distribute(base, sharded(base), units())
    for database, by in _DEMO.items():
        cluster.distribute(database, sharded(database), by)


def golden_blocks(number: int) -> Iterator[tuple[BlockPlan, str]]:
    """Each block of a golden statement, and the schema that it is asked on."""
    for block in golden_pipeline(CASES[number]).plan.blocks:
        yield block, "crowd" if is_crowded(block.source) else "hostile"


def blocks_of_fifty(number: int) -> Iterator[tuple[BlockPlan, str]]:
    """Each block of one of the fifty queries, and the schema that it is asked on."""
    for block in planned(FIFTY[number]).plan.blocks:
        yield block, database_of(FIFTY[number])


def comparable(block: BlockPlan, exact: Exact) -> Exact:
    """Without medians whose partitions are drawn per row, which no two runs have in common."""
    unit = block.neighbours
    if not block.sub_partitions or not isinstance(unit, RowNeighbours) or not unit.is_random:
        return exact
    kept = tuple(
        {} if isinstance(release, SampleAggregate) else numbers
        for release, numbers in zip(block.releases, exact.numbers, strict=True)
    )
    return replace(exact, numbers=kept)
