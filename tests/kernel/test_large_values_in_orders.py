"""Rows of a unit are tied in an order only where no question tells them apart, however large their values are.

What is too large to be looked into counts as NULL in an order (compiler/inside_sql.py). A question can ask
whether it is NULL.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.kernel.block_price import price_of_block
from proxy.kernel.plan import BlockPlan
from proxy.kernel.world import World
from proxy.query.ir.relations import Truncate
from tests.kernel.examples import of_table, scan
from tests.kernel.holes import block_of, noise_for, rows_that_change
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG, POLICIES

_SEED = 4_242_424_242_424_242
_LARGE = {
    "ta": "(SELECT array_agg(md5(q::text)) FROM generate_series(1, 9000) q)",
    "ia": "(SELECT array_agg(q * 7919 % 1000003) FROM generate_series(1, 90000) q)",
}
# Two rows of each person; then one person is gone, and of each other one the later row is stored first.
_ROWS = (
    "INSERT INTO {table}(id, {by}, i4, {array}) SELECT g * 2 + k, g, 1, a FROM generate_series(1, 40) g,"
    " (VALUES (0, NULL), (1, ({large}))) f (k, a) ORDER BY 1"
)
_ANEW = (
    "WITH gone AS (DELETE FROM {table} RETURNING *)"
    " INSERT INTO {table} SELECT * FROM gone WHERE {by} < 40 ORDER BY {by}, id DESC"
)


def _moves_too_far(block: BlockPlan, array: str, table: str, by: str) -> bool:
    price_of_block(block, World(POLICIES["best"], CATALOG))
    named = {"table": table, "by": by, "array": array, "large": _LARGE[array]}
    tiny_database().fill(_ROWS.format(**named))
    found = tiny_database().moved(block, _ANEW.format(**named), _SEED)
    assert found
    return any(one.observed > one.planned for one in found)


@pytest.mark.every(2)
@pytest.mark.parametrize("array", _LARGE)
@pytest.mark.parametrize("wanted", ["IS NULL", "IS NOT NULL"])
def test_a_window_takes_a_large_array_for_no_null(array: str, wanted: str) -> None:
    block = block_of(
        f"SELECT count(*) FROM (SELECT uid, i4, {array}, row_number() OVER (PARTITION BY uid ORDER BY i4) AS rn"
        f" FROM visits) s WHERE rn = 1 AND {array} {wanted}"
    )
    assert not _moves_too_far(block, array, "visits", "uid")


@pytest.mark.parametrize("array", _LARGE)
def test_a_cut_takes_a_large_array_for_no_null(array: str) -> None:
    block = block_of(f"SELECT count(*) FROM people WHERE {array} IS NULL")
    names = ("i2", "i4", array)
    key, *others = (of_table("r1", "people", name) for name in names)
    cut = Truncate(scan("r1", "people"), key, 1, (key, *others), (key,), names, "place")
    block = noise_for(replace(block, source=cut, neighbours=rows_that_change(2)), 2)
    assert not _moves_too_far(block, array, "people", "i2")
