"""What the kernel lets pass raises on no row, whatever made it: plans altered at random, on hostile rows.

A statement that raises on tables without rows as well raises whatever they hold, which is no matter here.
"""

from __future__ import annotations

import random  # noqa: TID251  the same plans in every run
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.compiler.backend_query import BackendQuery
from proxy.kernel.block_price import price_of_block
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.work import check_work
from proxy.kernel.world import World
from tests.list_values import list_values
from tests.never_raise.altered_plans import Alterer
from tests.never_raise.hostile_rows import TABLES, make_hostile_tables
from tests.never_raise.test_broken_plans import blocks_of_hostile_tables
from tests.servers_fixture import servers
from tests.unchecked_blocks import compiled

_SEED = 20261127
_ACCEPTED = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Databases:
    hostile: psycopg.Connection
    empty: psycopg.Connection


def _made(name: str) -> psycopg.Connection:
    server = servers().protected
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name}".encode())
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'".encode())
    found = psycopg.connect(server.dsn(name), autocommit=True)
    make_hostile_tables(found)
    return found


@pytest.fixture(scope="module")
def databases() -> Iterator[_Databases]:
    with _made("hostile_altered") as hostile, _made("hostile_empty") as empty:
        for name in TABLES:
            empty.execute(f"TRUNCATE w.{name}".encode())
        yield _Databases(hostile=hostile, empty=empty)


def _error(connection: psycopg.Connection, query: BackendQuery) -> str | None:
    values = {**query.parameters, **dict.fromkeys(query.seeds, 4_242_424_242)}
    try:
        values |= list_values(connection, query)
        connection.execute(query.sql.encode(), values)
    except psycopg.Error as error:
        return f"{error.sqlstate} {str(error)[:80]}"
    return None


def _printed(block: BlockPlan, world: World) -> tuple[BackendQuery, ...] | None:
    """What is sent for a block that is let through; None: it is not, or there is no SQL of it.

    Plans that no types hold together end before anything is sent, with whatever Python says of them.
    """
    try:
        price_of_block(block, world)
        check_work([block], world)
        return compiled(block)
    except (NotPrivate, Refusal):
        return None
    except (AssertionError, ArithmeticError, LookupError, ValueError):
        return None


@pytest.mark.long
def test_what_is_let_pass_raises_on_no_row(databases: _Databases) -> None:
    draw = random.Random(_SEED)
    alterer, blocks = Alterer(draw), blocks_of_hostile_tables()
    accepted, ran = 0, 0
    while accepted < _ACCEPTED:
        one = draw.choice(blocks)
        altered = alterer.altered(one.block)
        queries = None if altered is None else _printed(altered, one.world)
        if queries is None:
            continue
        accepted += 1
        for query in queries:
            error = _error(databases.hostile, query)
            ran += error is None
            assert error is None or _error(databases.empty, query) is not None, (error, query.sql)
    assert ran > accepted / 2
