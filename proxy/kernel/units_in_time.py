"""Units that are the rows of a person in one block of time: how a plan names them, and which blocks it reads.

A plan reads such a table through a subquery of one form, and in no other way: WHERE leaves the rows of some
blocks, and one output is the text of the block and the person. It holds the unit. What it reads of time stands
in WHERE, so the budgets that are charged follow from what runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from proxy.base.instants import DAY_SECONDS, iso_text, seconds_of
from proxy.base.sql_types import SqlType
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.world import World
from proxy.policy.blocks_of_time import TEMPLATES, block_of, blocks_of, first_day, line_name
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    IdentifierUnit,
    ProtectedTable,
    TimeBlocks,
)
from proxy.query.ir.expressions import (
    Cast,
    Clamped,
    ColumnRef,
    Comparison,
    Concat,
    Connective,
    Constant,
    Expression,
    FormattedTime,
)
from proxy.query.ir.function_names import Comparator
from proxy.query.ir.relations import Relation, Scan, Subquery, relations_of

# Of a person: what is printed short, and equal values alike. A long text would be cut.
PERSON_TYPES = (SqlType.INT2, SqlType.INT4, SqlType.INT8, SqlType.UUID)


@dataclass(frozen=True, slots=True, kw_only=True)
class InTime:
    """Of a table: what tells its units apart, and the blocks that there are."""

    person: ColumnRef
    time: ColumnRef
    unit: IdentifierUnit
    blocks: TimeBlocks
    bounds: Bounds
    every: range

    @property
    def name(self) -> Expression:
        """The unit of a row: NULL where there is no person.

        Privacy: two rows have one text if and only if person and block are the same. to_char() prints one text
        for all times of a block, another for each block, and all of them equally long; what follows is the
        person, whose type prints equal values alike and others differently. A time beyond the bounds is clamped
        into the first or last block, which WHERE has it in.
        """
        time = Clamped(self.time, self.bounds.low, self.bounds.high, self.time.type)
        block = FormattedTime(time, TEMPLATES[self.blocks.per])
        space = Constant(" ", SqlType.TEXT)
        return Concat((block, space, Cast(self.person, SqlType.TEXT)))

    def within(self, blocks: range) -> Expression:
        """The condition that leaves the rows of these blocks, which are in a row."""

        def at(block: int) -> Constant:
            day = Fraction(first_day(block, self.blocks.per))
            of_type = day if self.time.type is SqlType.DATE else day * DAY_SECONDS
            return Constant(iso_text(of_type, self.time.type), self.time.type)

        low = Comparison(Comparator.GE, self.time, at(blocks.start))
        return Connective("AND", (low, Comparison(Comparator.LT, self.time, at(blocks.stop))))

    def read_by(self, where: Expression | None) -> range:
        """The blocks of which a condition leaves rows.

        Raises:
            NotPrivate: It is no condition of `within`, or of blocks that no budget is for.
        """
        match where:
            case Connective(
                "AND", (Comparison(right=Constant(str(low))), Comparison(right=Constant(str(high))))
            ):
                ends = [seconds for seconds in map(seconds_of, (low, high)) if seconds is not None]
            case _:
                ends = []
        if len(ends) < 2:
            raise NotPrivate(Rule.UNIT_IN_TIME, "rows of blocks that are not named")
        found = range(*(block_of(int(end // DAY_SECONDS), self.blocks.per) for end in ends))
        if not found or found.start < self.every.start or found.stop > self.every.stop:
            raise NotPrivate(Rule.UNIT_IN_TIME, "blocks without a budget")
        if where != self.within(found):
            raise NotPrivate(Rule.UNIT_IN_TIME, "rows of blocks that are not named")
        return found


def in_time(scan: Scan, world: World) -> InTime | None:
    """What tells the units of a table apart. None: its units have no blocks of time.

    Raises:
        NotPrivate: The policy or the catalogue does not say enough of them.
    """
    table, there = world.policy.tables.get(scan.table), world.catalog.tables.get(scan.table)
    if not isinstance(table, ProtectedTable) or not isinstance(table.unit, IdentifierUnit):
        return None
    unit, blocks = table.unit, table.unit.blocks
    if blocks is None:
        return None
    person = None if there is None else there.column(unit.column)
    time = None if there is None else there.column(blocks.time)
    known = table.columns.get(blocks.time)
    bounds, every = (None if known is None else known.bounds), blocks_of(table)
    if person is None or time is None or not isinstance(bounds, Bounds) or unit.path is not None:
        raise NotPrivate(Rule.UNIT_IN_TIME, "a unit without a person or a bounded time")
    if person.type not in PERSON_TYPES or not time.type.is_time or not every:
        raise NotPrivate(Rule.UNIT_IN_TIME, "a person or a time that does not print in one form")
    if (bounds.kind is BoundsKind.DATE) is not (time.type is SqlType.DATE):
        raise NotPrivate(Rule.UNIT_IN_TIME, "bounds of another type than the time")
    return InTime(
        person=ColumnRef(unit.column, person.type, None, scan.alias),
        time=ColumnRef(blocks.time, time.type, None, scan.alias),
        unit=unit,
        blocks=blocks,
        bounds=bounds,
        every=every,
    )


def unit_outputs(subquery: Subquery, world: World) -> frozenset[tuple[str, str]]:
    """The outputs of a subquery that hold the person and the block of time, where it reads such a table."""
    known = None if not isinstance(subquery.source, Scan) else in_time(subquery.source, world)
    if known is None:
        return frozenset()
    return frozenset(
        (subquery.alias, name) for name, part in subquery.outputs if part == known.name
    )


def budget_lines(relation: Relation, world: World) -> tuple[str, ...]:
    """The budgets of all blocks of time that a relation reads, each once.

    Claim: A row of a person in a block whose budget is not among them has no effect on the relation, and
        neither has a row without a time. So what is drawn of the relation costs such a unit nothing, and each
        unit of one of these blocks what the plan costs (parallel composition, PROOFS.md 34 T2).
    Argument: A table of such units is read by the subquery that names its blocks alone, whose WHERE no other
        row passes. Each block has a line of its own, of all tables with this unit.

    Raises:
        NotPrivate: Such a table is read in another way; or beside protected tables whose units have no blocks,
            which another budget pays for.

    >>> from tests.kernel.examples import TIMED, visits_of
    >>> budget_lines(visits_of(range(24_230, 24_232)), TIMED)
    ('person 2019-03', 'person 2019-04')
    >>> budget_lines(visits_of(range(24_230, 24_232)).source, TIMED)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    found: dict[str, None] = {}
    before: Relation | None = None
    has_others = False
    # `relations_of` gives what a Subquery reads right after it. Before any other scan comes no Subquery: a
    # join, a union, a cut, or the scan with which the left side of a join ends.
    for one in relations_of(relation):
        known = in_time(one, world) if isinstance(one, Scan) else None
        if known is not None:
            if not isinstance(before, Subquery):
                raise NotPrivate(Rule.UNIT_IN_TIME, "rows of blocks that are not named")
            blocks = known.read_by(before.where)
            found |= dict.fromkeys(line_name(known.unit, block) for block in blocks)
        elif isinstance(one, Scan):
            has_others |= isinstance(world.policy.tables.get(one.table), ProtectedTable)
        before = one
    if found and has_others:
        raise NotPrivate(Rule.UNIT_IN_TIME, "rows that two kinds of budgets pay for")
    return tuple(found)
