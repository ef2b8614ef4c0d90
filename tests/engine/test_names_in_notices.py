"""What a NOTICE says of answers has the names of the statement's columns: no words twice, none that nobody
wrote."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from proxy.engine.column_errors import reported
from proxy.engine.noisy_answers import block_notices
from proxy.engine.unit_words import aggregate_word, answer_name
from proxy.exact.table import ExactRow, ExactTable
from proxy.release.drawn_values import ordered_groups
from tests.engine.test_every_error import AGGREGATES, _places
from tests.pipeline_world import POLICIES, read, walk
from tests.seeded_bits import SeededBits
from tests.unchecked_blocks import release_block


def _told(sql: str, policy: str, rows: int) -> list[str]:
    """Of groups of so many rows."""
    found, pipeline = read(sql), walk(sql, POLICIES[policy], settings={"dp.epsilon": "0.2"})
    assert found is not None and pipeline is not None
    lines: list[str] = []
    blocks = tuple(zip(pipeline.plan.blocks, pipeline.queries, found[1].query.blocks, strict=True))
    for block, queries, asked in blocks:
        tables = []
        for query in queries:
            width = 1 + max((n for slots in query.slots for n in _places(slots)), default=0)
            groups = ordered_groups(block, ())
            read_rows = tuple(ExactRow(keys, 0, (rows,) * width, rows) for keys in groups)
            tables.append(ExactTable(read_rows, query.slots, query.releases))
        noisy = release_block(block, tables, SeededBits(1))
        block = replace(block, outputs=reported(asked).outputs)
        lines.extend(block_notices(block, noisy, len(blocks) > 1))
    return lines


def test_a_level_of_grouping_sets_is_named_by_its_keys() -> None:
    heard = _told("SELECT t, b, avg(i4) AS mean FROM people GROUP BY CUBE (t, b)", "best", 0)
    levels = [line.split(": ")[0] for line in heard if line.startswith("mean is NULL in ")]
    for keys in ("t and b", "t", "b"):
        assert any(one.endswith(f" groups by {keys}") for one in levels), heard
    plain = _told("SELECT t, b, avg(i4) AS mean FROM people GROUP BY t, b", "best", 0)
    assert any(re.match(r"mean is NULL in \d+ of \d+ groups: ", line) for line in plain), plain


@pytest.mark.every(4)
@pytest.mark.parametrize("policy", ["best", "world"])
@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_answers_have_the_names_of_their_columns(aggregate: str, policy: str) -> None:
    sql = f"SELECT t, {aggregate} AS one, count(*) AS other FROM people GROUP BY t"
    for rows in (0, 300):
        for line in _told(sql, policy, rows):
            assert re.match(
                r"(one|other|the interval of one)\b|\d+ of \d+ groups|Noise alone", line
            ), line


def test_several_percentiles() -> None:
    within = "WITHIN GROUP (ORDER BY i4)"
    columns = ", ".join(
        f"percentile_cont({at}) {within} AS p{at[2:]}" for at in ("0.25", "0.5", "0.9")
    )
    lines = _told(f"SELECT t, {columns} FROM people GROUP BY t", "best", 0)
    assert any(line.startswith("p25, p5, p9 are NULL in ") for line in lines)
    unnamed = f"SELECT t, percentile_cont(0.1) {within}, percentile_cont(0.9) {within} FROM people GROUP BY t"
    assert any(
        line.startswith("percentile_cont(0.1) of i4, percentile_cont(0.9) of i4 are NULL in ")
        for line in _told(unnamed, "best", 0)
    )


def test_a_column_that_an_answer_is_computed_into() -> None:
    sql = "SELECT t, round(avg(i4), 1) AS mean FROM people GROUP BY t"
    assert any(line.startswith("mean is NULL in ") for line in _told(sql, "best", 0))


def test_totals_that_nobody_has_named() -> None:
    total = "(SELECT sum(o.n2) FROM orders o WHERE o.uid = c.uid)"
    sql = f"SELECT b, avg({total}) AS spent FROM members c GROUP BY b"
    found, pipeline = read(sql), walk(sql, POLICIES["best"])
    assert found is not None and pipeline is not None
    block = replace(pipeline.plan.blocks[0], outputs=reported(found[1].query.blocks[0]).outputs)
    assert aggregate_word(block.answers[0].aggregate) == "avg", (
        "its column has no name of the statement"
    )
    assert answer_name(block, 1) == "spent"


@pytest.mark.parametrize(
    ("column", "is_told"),
    [
        ("count(*) - count(i4)", True),
        ("count(*) - count(DISTINCT i4)", False),
        ("count(*) - count(i4 + 1)", False),
        ("count(*) - count(*) FILTER (WHERE b)", False),
        ("count(i4) - count(i2)", False),
    ],
)
def test_counted_nulls_have_a_count_of_their_own(column: str, is_told: bool) -> None:
    line = "missing: count(*) FILTER (WHERE i4 IS NULL) has less noise."
    told = _told(f"SELECT t, {column} AS missing FROM people GROUP BY t", "best", 10_000)
    assert (line in told) is is_told
    assert walk("SELECT t, count(*) FILTER (WHERE i4 IS NULL) FROM people GROUP BY t") is not None
