"""A float at its bound is no grid step beyond it, however many digits the bound has: a row would move a sum by
more than the plan says, and a mean about its middle by a multiple of it."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.kernel.plan import NoisyStatistic, RecentredMean
from proxy.kernel.statistics import Measured
from tests.live.served_database import planned, served_database
from tests.servers_fixture import servers
from tests.unchecked_blocks import compile_block

_NAME = "bounds_of_floats"
_BOUNDS = {
    "a": ("[0, 1234567890123456]", "4"),
    "b": ("[1234567890123444, 1234567890123456]", "2"),
    "c": ("[-1234567890123456, -1234567890123444]", "2"),
    "d": ("[0.2500000000000001, 0.2500000000000013]", "0.0000000000000001"),
    "e": ("[0.2500000000000017, 0.2500000000000031]", "0.0000000000000001"),
    "f": ("[0, 100]", "0.01"),
    "g": ("[0, 36028797018963967]", "8"),
}
_SCRIPT = f"""\
CREATE TABLE public.t (id int PRIMARY KEY, {", ".join(f"{name} float8" for name in _BOUNDS)});
INSERT INTO public.t VALUES (1{", 1e300" * len(_BOUNDS)}), (2{", -1e300" * len(_BOUNDS)})
"""
_COLUMNS = ", ".join(
    f"{name}: {{bounds: {bounds}, grid: {grid}}}" for name, (bounds, grid) in _BOUNDS.items()
)
_TABLES = f"tables: {{public.t: {{unit: row, columns: {{{_COLUMNS}}}}}}}\n"


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Database, psycopg.Connection]]:
    pair = servers()
    database = served_database(pair, _NAME, _SCRIPT, _TABLES, "best")
    with psycopg.connect(pair.protected.dsn(_NAME), autocommit=True) as connection:
        yield database, connection


def _found(served: tuple[Database, psycopg.Connection], question: str) -> tuple[Measured, int]:
    """The one release of a question, and the sum that the database computes for it."""
    database, connection = served
    (block,) = planned(database, question).blocks
    (release,) = block.releases
    if isinstance(release, NoisyStatistic):
        assert isinstance(release.of, tuple)
        (measured,) = release.of
    else:
        assert isinstance(release, RecentredMean)
        measured = release.measured
    (query,) = compile_block(block)
    (slots,) = query.slots
    row = connection.execute(query.sql.encode(), query.parameters).fetchone()
    assert row is not None and slots.total is not None
    return measured, int(row[slots.total])


@pytest.mark.parametrize("name", _BOUNDS)
@pytest.mark.parametrize("is_above", [True, False])
def test_the_index_of_a_bound_is_that_of_the_plan(
    served: tuple[Database, psycopg.Connection], name: str, is_above: bool
) -> None:
    row = f"FROM t WHERE {name} {'>' if is_above else '<'} 0"
    measured, index = _found(served, f"SELECT sum({name}) {row}")
    low, high = measured.low, measured.high
    assert index == (high if is_above else low)
    _, centred = _found(served, f"SELECT avg({name}) {row}")
    assert centred == (high - low if is_above else low - high)
