"""The public data on a real server, and engines that plan statements on it, by what the policy says of units.

They have no shadow and no ledger: what they plan, compile and release is the product's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from psycopg.conninfo import make_conninfo

from proxy.cli.explain_command import NoData, NoLedger, resolved
from proxy.compiler.backend_query import BackendQuery
from proxy.drawing.drawer import Drawer, list_key
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.public_lists import read_lists
from proxy.engine.query_pipeline import Engine
from proxy.exact.table import ExactTable
from proxy.policy.check import check, fitted
from proxy.policy_file.policy_yaml import locate, read_policy
from proxy.protected.catalog_reader import read_catalog
from proxy.protected.protected_database import ProtectedDatabase
from proxy.protected.public_values import read_public_contents
from proxy.query.syntax.placeholders import ScalarAnswer
from proxy.query.syntax.statements import Statement
from proxy.turns.threads import Turn
from tests.live import public_data
from tests.live.public_data import RowBounds
from tests.live.served_database import made_database, policy_head
from tests.seeded_bits import SeededBits
from tests.servers_fixture import servers
from tests.uncharged_statements import unpaid

_SEED_BITS = 63


AS_IT_IS, WITHIN_BOUNDS = "public_as_it_is", "public_within_bounds"
SHOP_ALONE, WITHOUT_KEY = "public_shop", "public_without_key"
_NO_KEY = ("ALTER TABLE census.adult DROP CONSTRAINT adult_pkey",)


class NotProtected(Exception):
    """A statement that reads nothing protected."""


@cache
def _source(name: str) -> str:
    """A reader's DSN. WITHIN_BOUNDS: the one value beyond its bounds is within them, and rows of nobody are not
    there, so that PostgreSQL's own answers are those of all that a policy lets count. SHOP_ALONE: so too, and
    the other tables are empty. WITHOUT_KEY: as WITHIN_BOUNDS, and nothing says that a person of the Adult table
    is one row."""
    pair = servers()
    then = () if name == AS_IT_IS else public_data.clamped()
    source = made_database(pair.protected, name, public_data.script())
    public_data.load(
        pair.protected,
        name,
        only="shop." if name == SHOP_ALONE else "",
        then=(*then, *(_NO_KEY if name == WITHOUT_KEY else ())),
    )
    return source


@dataclass(frozen=True)
class PublicEngine:
    """engine: plans; superuser_dsn: for PostgreSQL's own answers; _reader: reads with one session."""

    engine: Engine
    superuser_dsn: str
    _reader: ProtectedDatabase
    _loop: asyncio.AbstractEventLoop
    _bits: SeededBits = field(default_factory=lambda: SeededBits(1))

    def read(self, sql: str) -> ProtectedQuery:
        """Refuses  as the engine does; NotProtected"""
        oids = dict(enumerate(sorted(self.engine.policy.tables), start=1))
        statement = self.engine.statements.look(sql)
        if not isinstance(statement, Statement):
            raise NotProtected
        found = self.engine.statements.read(statement, resolved(statement, oids), ())
        if found is None:
            raise NotProtected
        return found

    def tables(
        self, queries: Sequence[BackendQuery], answers: Mapping[ScalarAnswer, str | None]
    ) -> list[ExactTable]:
        """answers: noisy ones of earlier blocks, with which rows are compared."""

        async def run() -> list[ExactTable]:
            async with self._reader.session(Turn("")) as session:
                lists = await read_lists(session, queries)
                found = []
                for query in queries:
                    values: dict[str, int | str | None] = {
                        name: self._bits.below(2**_SEED_BITS) for name in query.seeds
                    }
                    values.update({name: answers[answer] for name, answer in query.scalars})
                    found_lists = {one.name: lists[list_key(one)] for one in query.lists}
                    found.append(await session.run(unpaid(query), {**values, **found_lists}))
                return found

        return self._loop.run_until_complete(run())

    def close(self) -> None:
        self._loop.run_until_complete(self._reader.close())
        self._loop.close()


def public_engine(bounds: RowBounds, name: str = WITHIN_BOUNDS) -> PublicEngine:
    source = _source(name)
    text = policy_head(name, "auto") + public_data.policy_tables(bounds)
    policy = read_policy(text, f"{name}.yaml", {"DSN": source})
    catalog = read_catalog(source)
    problems = str(locate(check(policy, catalog), text, f"{name}.yaml"))
    assert problems == "", problems
    policy = fitted(policy, catalog)
    oids = dict(enumerate(sorted(policy.tables), start=1))
    public = read_public_contents(policy, catalog)
    engine = Engine(Drawer(policy, catalog, NoData(), SeededBits(1)), oids, NoLedger(), public)
    reader, loop = ProtectedDatabase(source, sessions_max=1), asyncio.new_event_loop()
    loop.run_until_complete(reader.open())
    superuser = make_conninfo(servers().protected.dsn(), dbname=name)
    return PublicEngine(engine, superuser, reader, loop)
