"""Plans that the kernel refuses, as a row may raise, do so on hostile rows; what it lets pass does not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import psycopg
import pytest

from proxy.kernel.block_price import price_of_block
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate
from tests.kernel.raising_plans import KINDS, Stated, stated_blocks
from tests.kernel.test_golden_plans import golden_blocks
from tests.list_values import list_values
from tests.never_raise.hostile_rows import TABLES, make_hostile_tables
from tests.servers_fixture import servers
from tests.unchecked_blocks import compiled

# Of these some plan raises on the hostile rows. Of the others none is that large, or they cost space alone.
_RAISES = frozenset(
    [
        *("divisor_of_0", "divisor_cut_to_0", "stored_number_in_a_real_function"),
        *("logarithm_to_the_base_of_1", "root_of_less_than_0", "exponent_too_large"),
        *("power_too_large", "power_of_large_numbers", "negative_power_of_0"),
        *("broken_power_of_less_than_0", "stored_number_rounded", "stored_number_in_a_bucket"),
        *("text_cast_to_a_number", "text_computed_with", "text_clamped_as_a_number"),
        *("result_that_is_no_number", "stored_time_cut", "stored_time_moved"),
        *("stored_time_in_a_bin", "stored_time_on_another_clock"),
        *("time_moved_out_of_the_calendar", "time_cut_to_no_unit", "hour_of_a_date"),
        *("field_that_is_not_known", "text_cast_to_a_date", "date_clamped_as_a_timestamp"),
        *("pattern_that_ends_with_an_escape", "part_0", "jsonb_as_a_text", "key_of_jsonb"),
        *("look_at_a_time_of_day_as_an_interval", "index_that_no_float_holds"),
        *("text_that_is_measured", "listed_key_of_another_type", "sum_of_stored_numbers"),
    ]
)
_NOT_PARSED = "42"  # the statement is refused whatever rows there are


@pytest.fixture(scope="module")
def hostile() -> Iterator[psycopg.Connection]:
    server = servers().protected
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS hostile_plans")
        connection.execute("CREATE DATABASE hostile_plans TEMPLATE template0 ENCODING 'UTF8'")
    with psycopg.connect(server.dsn("hostile_plans"), autocommit=True) as connection:
        make_hostile_tables(connection)
        yield connection


@cache
def blocks_of_hostile_tables() -> tuple[Stated, ...]:
    there = {f"w.{name}" for name in TABLES}
    of_golden = (
        Stated(statement=statement, world=world, block=block)
        for statement, world, block in golden_blocks()
        if there.issuperset(block.tables())
    )
    return (*stated_blocks(), *of_golden)


def _state(connection: psycopg.Connection, block: BlockPlan) -> str | None:
    """The SQLSTATE with which the block ends; None: it does not, or no statement is printed of it."""
    try:
        queries = compiled(block)
    except Exception:
        return None
    for query in queries:
        values = {**query.parameters, **dict.fromkeys(query.seeds, 4_242_424_242)}
        try:
            values |= list_values(connection, query)
            connection.execute(query.sql.encode(), values)
        except psycopg.Error as error:
            return error.sqlstate
    return None


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_refused_raises_and_what_lives_does_not(
    kind: str, hostile: psycopg.Connection
) -> None:
    refused: set[str] = set()
    for one in blocks_of_hostile_tables():
        broken = KINDS[kind](one.block)
        if broken is None or broken == one.block:
            continue
        state = _state(hostile, broken)
        try:
            price_of_block(broken, one.world)
        except NotPrivate:
            refused.add(state or "")
            continue
        assert state is None, one.statement
    states = {state for state in refused if state and not state.startswith(_NOT_PARSED)}
    assert states or kind not in _RAISES
