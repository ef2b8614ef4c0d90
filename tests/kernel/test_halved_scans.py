"""What release reads of two halves of the units is what it reads of all of them, in generated blocks.

Halves have more rows than the whole: each says how many its first part has, and a group of which both have some
has a row in each. Release adds them up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random  # noqa: TID251  the same blocks for the same seed

import pytest

from proxy.audit.movement import movements
from proxy.compiler.backend_query import BELOW, FROM_CUT_ON, StoredColumn
from proxy.compiler.deviation_scan import CentredScan, centres_text
from proxy.drawing import drawer
from proxy.exact.table import ExactTable
from proxy.kernel.block_price import price_of_block
from proxy.kernel.plan import BlockPlan, with_centres
from proxy.kernel.refusals import NotPrivate
from proxy.protected.protected_database import _of_all_units
from proxy.release.deviation_means import Place, read_places
from tests.kernel.made_blocks import WORLD
from tests.kernel.made_values import ValueMaker
from tests.kernel.tiny_database import tiny_database
from tests.seeded_bits import SeededBits
from tests.uncharged_statements import written
from tests.unchecked_blocks import compile_centres, drawn_block, drawn_centres

_MOST_CUTS = 4


def _is_private(block: BlockPlan) -> bool:
    try:
        price_of_block(block, WORLD)
    except NotPrivate:
        return False
    return True


def _sums(block: BlockPlan, table: ExactTable) -> list[Counter[object]]:
    """What is read for means, without zeros: both halves have a group that one of them has."""
    return [_sums_of(place) for place in read_places(block, table)]


def _sums_of(place: Place) -> Counter[object]:
    found = Counter[object]({("units", band): number for band, number in place.units.items()})
    for keys, bands in place.groups.items():
        found.update({(keys, "total", band): number for band, number in bands.totals.items()})
        found.update({(keys, "share", band): number for band, number in bands.shares.items()})
        found[keys, "mean"] = bands.mean
    return Counter({at: number for at, number in found.items() if number})


def _cuts(at: StoredColumn) -> list[str]:
    """Some units that are stored: the least leaves nothing below it."""
    units = tiny_database().asked(
        f"SELECT {at.column}::text FROM {at.schema}.{at.table} WHERE {at.column} IS NOT NULL"
        f" GROUP BY {at.column} ORDER BY {at.column} LIMIT {_MOST_CUTS}"
    )
    return [unit for (unit,) in units]


def _halves(scan: CentredScan, text: str, cut: str) -> tuple[ExactTable, ExactTable]:
    """Both together: the first part, and all."""
    database = tiny_database()
    read = [database.in_two_parts(scan.query, text, half, cut) for half in (BELOW, FROM_CUT_ON)]
    first, every = zip(*read, strict=True)
    return _of_all_units(first), _of_all_units(every)


def _released(scan: CentredScan, read: ExactTable) -> Sequence[ExactTable]:
    return list(drawer._of_releases(scan, read).values())


def _compared(block: BlockPlan, scan: CentredScan) -> Counter[str]:
    """Raises AssertionError where release reads anything else of halves."""
    found, database = Counter[str](), tiny_database()
    assert scan.query.halved_by is not None
    first, _ = database.in_two_parts(scan.query, centres_text(block))
    centred = with_centres(block, drawn_centres(block, first, SeededBits(1)))
    text = centres_text(centred)
    first, whole = database.in_two_parts(scan.query, text)
    read = _released(scan, whole)
    drawn = {number for table in read for number in table.releases}
    alone = drawn == set(range(len(block.releases)))
    for cut in _cuts(scan.query.halved_by):
        halved_first, halved = _halves(scan, text, cut)
        both = _released(scan, halved)
        assert _sums(block, halved_first) == _sums(block, first), (cut, block)
        assert _sums(centred, both[0]) == _sums(centred, read[0]), (cut, block)
        for moved in movements(centred, read, both):
            assert moved.observed == 0, (cut, moved, block)
        found["more rows"] += len(halved.rows) > len(whole.rows)
        found["beside"] += bool(scan.beside and any(table.rows for table in both[1:]))
        found["there"] += bool(whole.rows)
        if alone:
            one, other = (drawn_block(centred, tables, SeededBits(2)) for tables in (read, both))
            assert one == other, (cut, block)
            found["drawn"] += 1
    return found


def _verified(seed: int, count: int) -> Counter[str]:
    database, found = tiny_database(), Counter[str]()
    maker = ValueMaker(Random(seed))
    for number in range(count):
        if number % 20 == 0:
            database.fill(maker.rows())
        block = maker.block_of_sums() if number % 2 else maker.block()
        if block is None or not _is_private(block):
            continue
        scan = compile_centres(block)
        if scan is None or scan.query.halved_by is None:
            continue
        found["blocks"] += 1
        found += _compared(block, replace(scan, query=written(scan.query)))
    return found


@pytest.mark.every(9)
@pytest.mark.parametrize(("seed", "count"), [(0, 48), *((seed, 120) for seed in range(8))])
def test_halves_are_the_whole(seed: int, count: int) -> None:
    found = _verified(seed, count)
    assert found["blocks"] > count / 24, found
    assert found["more rows"] and found["there"] and found["beside"] and found["drawn"], found
