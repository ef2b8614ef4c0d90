"""What a compiled block says exactly of one state of the database, read by the real release code.

The noise is taken out where it comes in (seen_without_noise), so that everything around it (grouping, padding,
filling of empty partitions, merging of cells, selection of private keys) is the product's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import psycopg

from proxy.audit.movement import bounded_tables
from proxy.base.slots import Slots
from proxy.compiler import backend_query
from proxy.compiler.backend_query import BackendQuery
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.plan import BlockPlan, OrderStatistic, PrivatePlan, Release
from proxy.mechanisms import order_statistic
from proxy.protected.protected_database import ProtectedDatabase
from proxy.release.ordering import order_law, size_of
from tests import unchecked_blocks
from tests.audit.movement import all_moved, is_random
from tests.audit.reach import Promise, Reach, by_policy, is_crowded
from tests.audit.synthetic import Base
from tests.audit.without_noise import Exact, Numbers, watching
from tests.pipeline_world import SCHEMA, moved
from tests.seeded_bits import SeededBits
from tests.uncharged_statements import read, written

_SEED = 4_242_424_242_424_242
_ANSWER = "42"  # of an earlier block: whatever it is, what compares with it must hold


def compiled_on(block: BlockPlan, schema: str | Mapping[str, str]) -> Iterator[BackendQuery]:
    """Compile a block for the tables of a schema; or of one for each table."""
    here = replace(block, source=moved(block.source, schema))
    public = schema if isinstance(schema, str) else schema.get("places", SCHEMA)
    for query in unchecked_blocks.compiled(here):
        # What conditions look up is in no FROM clause.
        lists = tuple(
            replace(
                wanted,
                sql=wanted.sql.replace(f'"{SCHEMA}".', f'"{public}".'),
                made=backend_query._HERE,
            )
            for wanted in query.lists
        )
        yield replace(written(query), lists=lists)


class Auditor:
    """Runs compiled statements on the states of synthetic databases.

    reading: a connection string for the compiled statements, if they are to have another.
    moves: how many neighbours have had other exact results, so far. seed: of keyed hashes.
    """

    def __init__(self, dsn: str, bases: Sequence[Base], reading: str | None = None) -> None:
        self.bases = tuple(bases)
        self.moves = 0
        self.seed = _SEED
        self._loop = asyncio.new_event_loop()
        self._data = ProtectedDatabase(reading or dsn, sessions_max=1, timeout_ms=10_000)
        self._loop.run_until_complete(self._data.open())
        self.connection = psycopg.connect(dsn, autocommit=True)
        self.connection.execute("SET TimeZone = 'UTC'")

    def close(self) -> None:
        self.connection.close()
        self._loop.run_until_complete(self._data.close())
        self._loop.close()

    def tables(self, block: BlockPlan, schema: str | Mapping[str, str]) -> list[ExactTable]:
        """What the compiled statements return on the tables of a schema; or of one for each table."""
        tables = []
        for query in compiled_on(block, schema):
            values: dict[str, int | str | None] = {
                n: self.seed + i for i, n in enumerate(query.seeds)
            }
            values.update({name: _ANSWER for name, _ in query.scalars})
            tables.append(self._loop.run_until_complete(read(self._data, query, values)))
        return tables

    def exact(self, block: BlockPlan, schema: str | Mapping[str, str]) -> Exact:
        tables = list(bounded_tables(block, self.tables(block, schema)))
        with watching() as seen:
            noisy = unchecked_blocks.release_block(block, tables, SeededBits(1))
        return Exact.of(block, tables, [row.keys for row in noisy.rows], seen)

    def audit(
        self,
        plan: PrivatePlan,
        bases: Sequence[Base] | None = None,
        promise: Promise = by_policy,
    ) -> list[str]:
        """Everything in which neighbours differ by more than was planned."""
        wrong: list[str] = []
        for number, block in enumerate(plan.blocks):
            crowded = is_crowded(block.source)
            for base in self.bases if bases is None else bases:
                if base.crowded not in (crowded, None):
                    continue
                lines = self._audit_base(block, base, promise(block))
                wrong += [f"block {number + 1}, {line}" for line in lines]
        return wrong

    def _audit_base(self, block: BlockPlan, base: Base, reach: Reach) -> Iterator[str]:
        whole = replace(block, releases=tuple(map(unlimited, block.releases)))
        here = self.exact(whole, base.name)
        yield from _grouped(block, here, base)
        if whole != block:
            yield from _have_laws(block, here, self.exact(block, base.name))
        if not is_random(block) and self.exact(whole, base.reordered) != here:
            yield f"{base.name}: another order of rows gives another result"
        if reach.by_unit and self.exact(whole, base.background) != here:
            yield f"{base.name}: rows without a unit change the result"
        before: Exact | None = None
        for schema in _neighbours(reach, base):
            there = self.exact(whole, schema)
            self.moves += there != here
            for line in all_moved(whole, reach, here, there, 1):
                yield f"{schema}: {line}"
            if before is not None:  # bounded neighbours: one unit in the place of another
                for line in all_moved(whole, reach, before, there, 2):
                    yield f"{schema} and the one before it: {line}"
            before = there


def unlimited(release: Release) -> Release:
    """Order statistics with all their values, of which so many more are nobody's change."""
    return replace(release, needed=None) if isinstance(release, OrderStatistic) else release


_PLACES = Slots(extreme=0, count=1)


def _have_laws(block: BlockPlan, whole: Exact, cut: Exact) -> Iterator[str]:
    """What is fetched of an order statistic gives the law, and the size, of all its values."""
    for n, release in enumerate(block.releases):
        if not isinstance(release, OrderStatistic) or release.needed is None:
            continue
        for keys, values in whole.numbers[n].items():
            every, seen = _rows_of(values), _rows_of(cut.numbers[n].get(keys, ()))
            if order_statistic.apart(
                *(order_law(release, _PLACES, rows) for rows in (every, seen))
            ):
                yield f"release {n + 1} has another law than of all its values"
            is_sized = release.weights is None
            if is_sized and len({size_of(release, _PLACES, rows) for rows in (every, seen)}) > 1:
                yield f"release {n + 1} has another size than of all its values"


def _rows_of(numbers: Numbers) -> list[ExactRow]:
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return [ExactRow((), 0, pair) for pair in pairs]


def _grouped(block: BlockPlan, here: Exact, base: Base) -> Iterator[str]:
    if block.selection is not None:
        return
    # Those of the plan, which has not seen the data: combinations that rows can have, or all of them.
    expected = list(product(*(key.values or () for key in block.keys)))
    if block.combinations is not None:
        expected = list(block.combinations)
    if list(here.shown) != expected:
        yield f"{base.name}: {len(here.shown)} rows for {len(expected)} public groups"


def _neighbours(reach: Reach, base: Base) -> tuple[str, ...]:
    """By the policy, not by the plan: which states are one protected change away."""
    if reach.by_unit:
        return base.without_unit
    return base.without_three if reach.gone == 3 else base.without_row
