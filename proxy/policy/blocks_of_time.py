"""Blocks of time of `unit: {person: id, per: month, of: at}`: their numbers and names, and their budgets.

Days are those since 1970-01-01; of an instant they are UTC's. Weeks begin on Monday.
"""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

from proxy.base.instants import DAY_SECONDS, moment
from proxy.base.time_templates import template
from proxy.policy.policy_model import (
    BlockLength,
    Bounds,
    BoundsKind,
    IdentifierUnit,
    Policy,
    ProtectedTable,
)

MOST_BLOCKS = 400  # of a table: each is a line that a charge locks, 13 ms for all
FIRST_YEAR, LAST_YEAR = 1001, 9998  # names have four digits of the year
_EPOCH = date(1970, 1, 1)
_MONTHS = {BlockLength.MONTH: 1, BlockLength.QUARTER: 3, BlockLength.YEAR: 12}
# By which to_char() names a block: another text for each.
TEMPLATES = {
    BlockLength.DAY: "YYYY-MM-DD",
    BlockLength.WEEK: 'IYYY-"W"IW',
    BlockLength.MONTH: "YYYY-MM",
    BlockLength.QUARTER: 'YYYY-"Q"Q',
    BlockLength.YEAR: "YYYY",
}


def block_of(day: int, per: BlockLength) -> int:
    """The number of the block that has a day; the next block has the next number."""
    if per is BlockLength.DAY:
        return day
    if per is BlockLength.WEEK:
        return (day + 3) // 7  # 1970-01-01 was a Thursday
    at = _EPOCH + timedelta(days=day)
    return (at.year * 12 + at.month - 1) // _MONTHS[per]


def first_day(block: int, per: BlockLength) -> int:
    """
    >>> first_day(block_of(59, BlockLength.QUARTER) + 1, BlockLength.QUARTER)
    90
    """
    if per is BlockLength.DAY:
        return block
    if per is BlockLength.WEEK:
        return block * 7 - 3
    year, month = divmod(block * _MONTHS[per], 12)
    return (date(year, month + 1, 1) - _EPOCH).days


def block_name(block: int, per: BlockLength) -> str:
    """As to_char() prints it of any time in the block.

    >>> block_name(block_of(0, BlockLength.WEEK), BlockLength.WEEK)
    '1970-W01'
    """
    known = template(TEMPLATES[per])
    assert known is not None
    return known.text(moment(Fraction(first_day(block, per) * DAY_SECONDS)))


def blocks_are_named(bounds: Bounds) -> bool:
    """Whether all blocks have names of one length, and a next block."""
    scale = 1 if bounds.kind is BoundsKind.DATE else DAY_SECONDS
    first, last = ((date(year, 1, 1) - _EPOCH).days for year in (FIRST_YEAR, LAST_YEAR))
    return bounds.low >= first * scale and bounds.high < last * scale


def blocks_within(bounds: Bounds, per: BlockLength) -> range:
    """The blocks that a time within bounds can be in."""
    scale = 1 if bounds.kind is BoundsKind.DATE else DAY_SECONDS
    return range(block_of(bounds.low // scale, per), block_of(bounds.high // scale, per) + 1)


def blocks_of(table: ProtectedTable) -> range:
    """All blocks that rows of the table can be in; none, where its unit has no blocks."""
    unit = table.unit
    if not isinstance(unit, IdentifierUnit) or unit.blocks is None:
        return range(0)
    time = table.columns.get(unit.blocks.time)
    if time is None or not isinstance(time.bounds, Bounds) or not blocks_are_named(time.bounds):
        return range(0)
    return blocks_within(time.bounds, unit.blocks.per)


def line_name(unit: IdentifierUnit, block: int) -> str:
    """The budget of one block, as the ledger calls it: no table is called so, as there is no point in it."""
    assert unit.blocks is not None
    return f"{unit.identifier} {block_name(block, unit.blocks.per)}"


def is_block_line(name: str) -> bool:
    """
    >>> is_block_line("person 2026-03"), is_block_line("shop.orders")
    (True, False)
    """
    return "." not in name


def block_lines(policy: Policy) -> tuple[str, ...]:
    """The budgets of all blocks of all tables, each once."""
    found: dict[str, None] = {}
    for table in policy.protected():
        for block in blocks_of(table):
            assert isinstance(table.unit, IdentifierUnit)
            found[line_name(table.unit, block)] = None
    return tuple(found)
