"""Rows that are named by all of their columns, of which together there is more than a row of PostgreSQL has."""

from __future__ import annotations

import re

import psycopg
import pytest

from proxy.base.errors import Refusal
from tests.never_raise.test_matrix import hostile
from tests.pipeline_world import POLICIES, walk

__all__ = ["hostile"]

_COLUMNS, _CHARACTERS = 1_000, 1_200_000


def _named(columns: str) -> str:
    """Rows of a unit that are truncated in the order of a hash of all these columns."""
    return (
        f"SELECT count(*) FROM (SELECT uid, {columns} FROM orders) a"
        " JOIN (SELECT uid, i4 FROM orders) b ON a.uid = b.uid"
    )


@pytest.mark.long
def test_a_row_of_more_than_a_gigabyte_has_a_hash(hostile: psycopg.Connection) -> None:
    pipeline = walk(_named(", ".join(f"t c{n}" for n in range(_COLUMNS))), POLICIES["joins best"])
    assert pipeline is not None
    query = pipeline.queries[0][0]
    with hostile.transaction(force_rollback=True):
        hostile.execute("SET LOCAL world.reading = 'off'")
        changed = hostile.execute(
            "UPDATE w.orders SET t = repeat('e', %s) WHERE id = (SELECT min(id) FROM w.orders WHERE uid = 1)",
            [_CHARACTERS],
        )
        assert changed.rowcount == 1
        hostile.execute("SET LOCAL world.reading = 'on'")
        values = {**query.parameters, **dict.fromkeys(query.seeds, 4_242_424_242)}
        hostile.execute(query.sql.encode(), values)


@pytest.mark.parametrize("column", ["t", "c", "s", "ta", "ia"])
def test_nothing_long_stands_in_a_row_that_is_hashed(column: str) -> None:
    pipeline = walk(_named(f"{column} AS x"), POLICIES["joins best"])
    assert pipeline is not None
    found = re.search(r'ROW\(r2."uid", (.*?), r2."dp_unit"', pipeline.queries[0][0].sql)
    assert found is not None and re.match(r"pg_catalog\.\w*hash\w+\(", found[1])


@pytest.mark.parametrize("column", ["j", "ta", "ia"])
def test_a_whole_value_is_ordered_as_far_as_it_is_looked_into(column: str) -> None:
    windows = (
        f"SELECT count(*) FROM (SELECT i4, {column} AS x, row_number() OVER (PARTITION BY uid ORDER BY i4)"
        " AS n FROM orders) q WHERE n = 1"
    )
    # A jsonb puts no rows without a key in order (tests/audit/test_equal_forms.py).
    for question in (*([] if column == "j" else [_named(f"{column} AS x")]), windows):
        pipeline = walk(question, POLICIES["joins best"])
        assert pipeline is not None
        for order in re.findall(r"ORDER BY (.*?)\) AS ", pipeline.queries[0][0].sql):
            bare = re.sub(r"\(CASE WHEN pg_catalog.pg_column_size.*? END\)", "", order)
            bare = re.sub(r"\(CASE WHEN pg_catalog.cardinality.*? END\)", "", bare)
            bare = re.sub(r'\(r\d+\."\w+"\) IS NULL', "", bare)  # which looks at no value
            assert f'."{column}"' not in bare and '."x"' not in bare, order


def test_what_a_subquery_finds_in_a_jsonb_is_carried_if_it_is_short() -> None:
    question = (
        "SELECT count(*) FROM (SELECT uid, j -> 'a' AS x FROM orders) a WHERE x ->> 'b' = 'c'"
    )
    pipeline = walk(question, POLICIES["best"])
    assert pipeline is not None
    carried = re.search(r"SELECT ([^()]*\(CASE .*?) AS \"x\"", pipeline.queries[0][0].sql)
    assert carried is not None
    assert carried[1].count("pg_column_size") == 3


@pytest.mark.parametrize("column", ["j", "j -> 'a'"])
def test_a_jsonb_puts_no_rows_without_a_key_in_order(column: str) -> None:
    with pytest.raises(Refusal, match="cannot be put in order by x, of type jsonb"):
        walk(_named(f"{column} AS x"), POLICIES["joins best"])


@pytest.mark.parametrize(
    "condition", ["'x' = ANY(ta)", "ta && '{x,y}'", "ta[1] = 'x'", "cardinality(ia) > 1"]
)
def test_an_array_of_millions_of_nulls_is_not_gone_through(
    hostile: psycopg.Connection, condition: str
) -> None:
    pipeline = walk(
        f"SELECT count(*) FROM people WHERE NOT coalesce({condition}, false)",
        POLICIES["joins best"],
    )
    assert pipeline is not None
    query = pipeline.queries[0][0]
    assert re.search(r"pg_catalog\.cardinality\([^<]*<= 16384 [^<]*<= 65536", query.sql)
    hostile.execute(query.sql.encode(), {**query.parameters, **dict.fromkeys(query.seeds, 42)})
