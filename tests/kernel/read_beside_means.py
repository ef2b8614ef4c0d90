"""What a block with means of deviations is drawn of: all that their scan has, in place of other statements.

`TinyDatabase.tables` runs each statement by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from proxy.audit.movement import Movement, movements
from proxy.compiler.deviation_scan import centres_text
from proxy.drawing import drawer
from proxy.exact.table import ExactTable
from proxy.kernel.plan import BlockPlan, with_centres
from tests.kernel.tiny_database import TinyDatabase
from tests.seeded_bits import SeededBits
from tests.uncharged_statements import written
from tests.unchecked_blocks import compile_block, compile_centres, drawn_centres


def read_beside_means(
    block: BlockPlan, database: TinyDatabase, about: BlockPlan | None = None
) -> tuple[BlockPlan, list[ExactTable]]:
    """Read a block that chooses no bounds.

    Args:
        block: The block.
        database: Of its rows.
        about: The block with the centres that are taken. None: they are drawn here.

    Returns:
        The block with its centres, and the tables of all of its releases.
    """
    scan = compile_centres(block)
    assert scan is not None and not block.choices
    scan = replace(scan, query=written(scan.query))
    if about is None:
        first, _ = database.in_two_parts(scan.query, centres_text(block))
        about = with_centres(block, drawn_centres(block, first, SeededBits(1)))
    _, read = database.in_two_parts(scan.query, centres_text(about))
    found = drawer._of_releases(scan, read)
    tables = [
        found[query.releases] if query.releases in found else database.table(query)
        for query in compile_block(about)
    ]
    return about, tables


def moved_beside_means(
    block: BlockPlan, database: TinyDatabase, deletion: str
) -> Iterator[Movement]:
    """How far the results move as they are drawn, and how far they may, where a unit is deleted."""
    about, here = read_beside_means(block, database)
    with database.without(deletion):
        _, there = read_beside_means(block, database, about)
    yield from movements(about, here, there)
