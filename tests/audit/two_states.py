"""A database of a test's own and a copy of it that a change has made a neighbour, on any PostgreSQL.

The compiled statements of a question run on both with equal seeds; what is planned and what is observed is the
product's own audit.movement.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.audit.movement import Movement, movements
from proxy.base.errors import Fault
from proxy.cli.explain_command import NoData, NoLedger, resolved
from proxy.compiler.backend_query import BackendQuery
from proxy.drawing.drawer import Drawer
from proxy.engine.query_pipeline import Engine
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.plan import PrivatePlan
from proxy.policy.check import check, fitted
from proxy.policy_file.policy_yaml import locate, read_policy
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.catalog_reader import read_catalog
from proxy.protected.protected_database import ProtectedDatabase
from proxy.protected.public_values import read_public_contents
from proxy.query.syntax.statements import Statement
from tests.postgres_majors import other_binaries
from tests.seeded_bits import SeededBits
from tests.servers_fixture import servers
from tests.uncharged_statements import read
from tests.unchecked_blocks import compile_block, compile_choices

_SEED = 4_242_424_242_424_242
_HEAD = """\
dpproxy: 1
database: {name}
source: ${{DSN}}
privacy: {{epsilon: 1, delta: 1e-6, max_epsilon: 4, mechanism: {mechanism}}}
reuse: none
budgets: {{total: {{epsilon: 1000, delta: 0.1}}, default: {{epsilon: 1000, delta: 0.1}}}}
tables:
"""


@dataclass(frozen=True)
class TwoStates:
    """here, there: connection strings of the database and of its neighbour."""

    engine: Engine
    relations: Mapping[int, object]
    here: str
    there: str

    def plan(self, question: str) -> PrivatePlan:
        statement = self.engine.statements.look(question)
        assert isinstance(statement, Statement)
        oids = self.relations
        read = self.engine.statements.read(statement, resolved(statement, oids), ())  # type: ignore[arg-type]
        assert read is not None
        return self.engine.planned(read, {})

    def queries(self, question: str) -> tuple[BackendQuery, ...]:
        (block,) = self.plan(question).blocks
        return compile_block(block)

    def exact(self, queries: tuple[BackendQuery, ...], seed: int) -> list[ExactTable]:
        """What compiled statements return here, with these seeds."""
        return self._exact(queries, self.here, seed)

    def movements(self, question: str) -> list[Movement]:
        """Of the one block of a question; Fault where it raises on one of the two."""
        (block,) = self.plan(question).blocks
        queries = compile_block(block)
        return list(movements(block, *(self._exact(queries, dsn) for dsn in self._both())))

    def raises(self, question: str) -> tuple[bool, bool]:
        """Whether a statement of the question raises, here and there."""

        def on(dsn: str) -> bool:
            try:
                self._exact(self.queries(question), dsn)
            except Fault:
                return True
            return False

        here, there = map(on, self._both())
        return here, there

    def too_far(self, question: str) -> list[tuple[str, Fraction, Fraction]]:
        """What moves further than planned: measure, planned, observed."""
        return [
            (movement.measure.name, movement.planned, movement.observed)
            for movement in self.movements(question)
            if movement.observed > movement.planned
        ]

    def differs(self, question: str) -> bool:
        """Whether any exact result of the one block of a question is another one there.

        Where bounds are chosen, what they are chosen by is compared too.
        """
        (block,) = self.plan(question).blocks
        choices = compile_choices(block)
        queries = (*compile_block(block), *(() if choices is None else (choices,)))
        here, there = (
            [Counter(map(_parts, table.rows)) for table in self._exact(queries, dsn)]
            for dsn in self._both()
        )
        return here != there

    def _both(self) -> tuple[str, str]:
        return self.here, self.there

    def _exact(
        self, queries: tuple[BackendQuery, ...], dsn: str, seed: int = _SEED
    ) -> list[ExactTable]:
        async def run() -> list[ExactTable]:
            data = ProtectedDatabase(dsn, sessions_max=1, timeout_ms=30_000)
            await data.open()
            try:
                return [
                    await read(data, query, {n: seed + i for i, n in enumerate(query.seeds)})
                    for query in queries
                ]
            finally:
                await data.close()

        return asyncio.run(run())


def _parts(row: ExactRow) -> tuple[object, ...]:
    return row.keys, row.cell, row.values, row.units


def two_states(
    server: EmbeddedPostgres,
    name: str,
    script: str,
    tables: str,
    change: str,
    mechanism: str = "best",
) -> TwoStates:
    """
    Given    script: SQL that makes the database; change: SQL that makes its copy a neighbour; tables: the
             policy's tables in YAML
    """
    dsns = []
    with psycopg.connect(server.dsn(), autocommit=True) as admin:
        for database, template, text in (
            (name, "template0", script),
            (f"{name}_other", name, change),
        ):
            create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            admin.execute(create.format(sql.Identifier(database), sql.Identifier(template)))
            dsns.append(make_conninfo(server.dsn(), dbname=database))
            with psycopg.connect(dsns[-1], autocommit=True) as connection:
                connection.execute(text.encode())
    for dsn in dsns:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
    text = _HEAD.format(name=name, mechanism=mechanism) + tables
    policy = read_policy(text, f"{name}.yaml", {"DSN": dsns[0]})
    catalog = read_catalog(dsns[0])
    problems = str(locate(check(policy, catalog), text, f"{name}.yaml"))
    assert problems == "", problems
    policy = fitted(policy, catalog)
    oids = dict(enumerate(sorted(policy.tables), start=1))
    public = read_public_contents(policy, catalog)
    engine = Engine(Drawer(policy, catalog, NoData(), SeededBits(7)), oids, NoLedger(), public)
    return TwoStates(engine, oids, *dsns)


MAJORS = ("embedded", "other")


@contextmanager
def server_of(major: str, home: Path) -> Iterator[EmbeddedPostgres]:
    """The embedded server of the tests, or one of another major, which is skipped where there is none."""
    if major == "embedded":
        yield servers().protected
        return
    binaries = other_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL of another major on this machine")
    server = EmbeddedPostgres(home, "other", durable=False, pg_bin=binaries.folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
