"""Tables whose unit is a person in a block of time: read through a subquery that names the blocks.

Which blocks a statement reads follows from its conditions on the time column, and each of them is charged. All
other uses of the person are refused: what is known of one block says nothing of the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.instants import DAY_SECONDS
from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import conjuncts
from proxy.kernel.owners import ColumnName, name
from proxy.kernel.units_in_time import InTime, in_time
from proxy.planner.facts import (
    ColumnFacts,
    PlanningContext,
    Range,
    RelationWithUnit,
    UnitRows,
    Untruncated,
    typed,
)
from proxy.planner.narrowing import narrowed
from proxy.planner.table_rows import table_rows
from proxy.policy.blocks_of_time import block_name, blocks_within, first_day
from proxy.policy.policy_model import BlockLength, Bounds, BoundsKind, ProtectedTable
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import ColumnRef, Connective, DateTrunc, Expression
from proxy.query.ir.query import AggregateBlock, Query, changed
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.rebuilding import conjunction, rebuild
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    scans,
)

# Groups by one of these are each in one block.
_WITHIN = {
    BlockLength.DAY: ("day", "hour", "minute", "second"),
    BlockLength.WEEK: ("week", "day", "hour", "minute", "second"),
    BlockLength.MONTH: ("month", "day", "hour", "minute", "second"),
    BlockLength.QUARTER: ("quarter", "month", "day", "hour", "minute", "second"),
    BlockLength.YEAR: ("year", "quarter", "month", "day", "hour", "minute", "second"),
}


def with_blocks(query: Query, known: PlanningContext) -> Query:
    """Read tables of units in blocks of time through subqueries that name the blocks.

    Raises:
        Refusal: The person is named elsewhere than in COUNT(DISTINCT person) of groups that are each in one
            block; or the conditions leave no block.
    """
    are_timed = [bool(_in_blocks(block.source, known)) for block in query.blocks]
    if not any(are_timed):
        return query
    others = (
        block for block, is_timed in zip(query.blocks, are_timed, strict=True) if not is_timed
    )
    if any(_has_people(block.source, known) for block in others):
        raise Refusal(
            Code.UNSUPPORTED,
            "a statement cannot ask tables whose privacy unit has blocks of time and others",
            "Ask them in two statements: other budgets pay for each.",
        )
    return replace(query, blocks=tuple(_block(block, known) for block in query.blocks))


def _in_blocks(relation: Relation, known: PlanningContext) -> dict[str, InTime]:
    """By the alias of the table."""
    world = known.world
    found = {scan.alias: in_time(scan, world) for scan in scans(relation)}
    return {alias: one for alias, one in found.items() if one is not None}


def _has_people(relation: Relation, known: PlanningContext) -> bool:
    tables = known.policy.tables
    return any(isinstance(tables.get(one.table), ProtectedTable) for one in scans(relation))


def _block(block: AggregateBlock, known: PlanningContext) -> AggregateBlock:
    timed = _in_blocks(block.source, known)
    if not timed:
        return block
    reading = _BlockReading(
        known=known, timed=timed, read={}, persons={name(one.person): one for one in timed.values()}
    )
    source = reading.relation(block.source, block.where)
    counted = replace(
        block, aggregates=tuple(reading.aggregate(one, block) for one in block.aggregates)
    )
    changed(replace(counted, source=source), reading.refuse_person)
    return replace(counted, source=source)


@dataclass(frozen=True, slots=True, kw_only=True)
class _BlockReading:
    """Of one SELECT, by the alias of a table: what tells its units apart, and which blocks are read.
    persons: columns that hold the person alone."""

    known: PlanningContext
    timed: dict[str, InTime]
    read: dict[str, range]
    persons: dict[ColumnName, InTime]

    def relation(self, relation: Relation, where: Expression | None) -> Relation:
        """where: a condition that leaves out rows of the relation for which it is not true."""
        match relation:
            case Scan():
                return self._scan(relation, where)
            case Subquery():
                self._refuse_in(relation, bool(relation.windows), "cannot be what a window is over")
                source = self.relation(
                    relation.source, _both(relation.where, _below(relation, where))
                )
                return replace(relation, source=source, outputs=tuple(self._outputs(relation)))
            case UnionAll():
                parts = tuple(
                    replace(part, source=self.relation(part.source, part.where))
                    for part in relation.parts
                )
                return replace(relation, parts=parts)
            case Join():
                self._check_join(relation)
                # Rows that are not on the right are there as NULLs: a condition on these leaves others out.
                there = None if relation.left_outer or relation.is_lookup else where
                left, right = (
                    self.relation(relation.left, where),
                    self.relation(relation.right, there),
                )
                return replace(relation, left=left, right=right)
            case GroupByUnit():
                self._refuse_in(relation, True, "cannot be grouped by in a subquery")
                return relation
            case Truncate():
                raise AssertionError("only the planner truncates rows")
            case _:
                assert_never(relation)

    def _refuse_in(self, relation: Relation, is_refused: bool, why: str) -> None:
        for alias in self.timed.keys() & {scan.alias for scan in scans(relation)}:
            if is_refused:
                _refuse(self.timed[alias], why, None)

    def _outputs(self, subquery: Subquery) -> Iterator[tuple[str, Expression]]:
        """Without the person, whom SELECT * has among them, too."""
        for output, part in subquery.outputs:
            one = self.persons.get(name(part)) if isinstance(part, ColumnRef) else None
            if one is None:
                yield output, part
            else:
                self.persons[subquery.alias, output] = one

    def _check_join(self, join: Join) -> None:
        """Rows of a person in a block meet nobody else's, nor those of another block: only public rows."""
        if all(_has_people(side, self.known) for side in (join.left, join.right)):
            one = next(iter(self.timed.values()))
            raise Refusal(
                Code.UNSUPPORTED,
                f"rows whose privacy unit is a {one.unit.kind} cannot be joined with other rows of people",
                "Join them with public tables, or ask each table by itself.",
                join.position,
            )
        for column in (column for pair in join.equal for column in pair):
            self.refuse_person(column)

    def _scan(self, scan: Scan, where: Expression | None) -> Relation:
        one = self.timed.get(scan.alias)
        if one is None:
            return scan
        blocks = self._blocks(one, scan, where)
        self.read[scan.alias] = blocks
        inner = Scan(f"{scan.alias}b", scan.table)
        below = in_time(inner, self.known.world)
        table, there = self.known.policy.tables[scan.table], self.known.catalog.tables[scan.table]
        assert below is not None and isinstance(table, ProtectedTable)
        outputs: list[tuple[str, Expression]] = [
            (column.name, ColumnRef(column.name, column.type, None, inner.alias))
            for column in there.columns
            if column.name in table.columns
        ]
        outputs.append((one.person.column, below.name))  # which is no column of the policy's
        return Subquery(scan.alias, inner, below.within(blocks), tuple(outputs))

    def _blocks(self, one: InTime, scan: Scan, where: Expression | None) -> range:
        """Of which the condition leaves rows."""
        name = (scan.alias, one.time.column)
        rows = table_rows(scan, self.known)
        own = None if where is None else typed(where, rows.facts)
        left = narrowed(rows.facts, own, {name})[name]
        every = one.every
        if left.ranges is None:
            return every
        found = range(every.stop, every.start)
        for part in left.ranges:
            low = one.bounds.low if part.low is None else max(part.low, one.bounds.low)
            high = one.bounds.high if part.high is None else min(part.high, one.bounds.high)
            if low <= high:
                blocks = blocks_within(Bounds(low, high, one.bounds.kind), one.blocks.per)
                found = range(min(found.start, blocks.start), max(found.stop, blocks.stop))
        if not found:
            per = one.blocks.per
            ends = f"{block_name(every[0], per)} to {block_name(every[-1], per)}"
            raise Refusal(
                Code.NO_VALUES,
                f"the conditions leave no {per.value} of {one.time.column} that has a privacy budget",
                f"Ask for {per.value}s from {ends}.",
            )
        return found

    def aggregate(self, aggregate: Aggregate, block: AggregateBlock) -> Aggregate:
        """COUNT(DISTINCT person) counts units, where each group is in one block."""
        operand = aggregate.operand
        if aggregate.kind is not AggregateKind.COUNT_DISTINCT or not isinstance(operand, ColumnRef):
            return aggregate
        one = self.timed.get(operand.relation)
        if one is None or name(operand) not in self.persons:
            return aggregate
        if len(self.read[operand.relation]) > 1 and not any(
            _is_within(key.expression, one) for key in block.keys
        ):
            per, time = one.blocks.per.value, one.time.column
            raise Refusal(
                Code.UNSUPPORTED,
                f"people are counted within one {per}: the privacy unit is a {one.unit.kind}",
                f"Add GROUP BY date_trunc('{per}', {time}), or a condition that leaves one {per} of {time}.",
                operand.position,
            )
        return replace(aggregate, operand=replace(operand, type=SqlType.TEXT))

    def refuse_person(self, expression: Expression) -> Expression:
        def visit(part: Expression) -> Expression:
            one = self.persons.get(name(part)) if isinstance(part, ColumnRef) else None
            # The unit has the person's name, and another type.
            if one is not None and isinstance(part, ColumnRef) and part.type is one.person.type:
                _refuse(one, "is for COUNT(DISTINCT) alone", part.position)
            return part

        return rebuild(expression, visit)


def _refuse(one: InTime, what: str, position: int | None) -> NoReturn:
    raise Refusal(
        Code.UNSUPPORTED,
        f"{one.person.column} {what}: the privacy unit is a {one.unit.kind}",
        f"Ask COUNT(DISTINCT {one.person.column}) of one {one.blocks.per.value}, or COUNT(*) of rows.",
        position,
    )


def _is_within(key: Expression, one: InTime) -> bool:
    """Whether rows of equal keys are in one block."""
    return (
        isinstance(key, DateTrunc)
        and key.zone is None
        and key.unit in _WITHIN[one.blocks.per]
        and isinstance(key.operand, ColumnRef)
        and (key.operand.relation, key.operand.column) == (one.time.relation, one.time.column)
    )


def _below(subquery: Subquery, where: Expression | None) -> Expression | None:
    """What a condition on the rows of a subquery says of the rows that they are made of: one for one."""
    if where is None or subquery.windows:  # a window sees rows that the condition leaves out
        return None
    outputs = {(subquery.alias, name): part for name, part in subquery.outputs}
    found = [
        rebuild(part, lambda one: outputs[name(one)] if isinstance(one, ColumnRef) else one)
        for part in conjuncts(where)
        if columns(part) <= outputs.keys()
    ]
    return conjunction(found)


def _both(one: Expression | None, other: Expression | None) -> Expression | None:
    if one is None or other is None:
        return other if one is None else one
    return Connective("AND", (one, other))


def _times_of(one: InTime, blocks: range) -> Range:
    """From the first to the last time of these blocks, in the unit of bounds."""
    is_date = one.bounds.kind is BoundsKind.DATE
    scale, step = (1, Fraction(1)) if is_date else (DAY_SECONDS, Fraction(1, 10**6))
    low, high = (first_day(block, one.blocks.per) * scale for block in (blocks.start, blocks.stop))
    return Range(Fraction(low), high - step)


def rows_in_blocks(subquery: Subquery, known: PlanningContext) -> RelationWithUnit | None:
    """What is known of the subquery that `with_blocks` has made. None: it is another one."""
    scan = subquery.source
    if not isinstance(scan, Scan):
        return None
    one = in_time(scan, known.world)
    if one is None:
        return None
    below = table_rows(scan, known)
    owned = below.ownership
    assert isinstance(owned, UnitRows)
    facts = {
        (subquery.alias, name): below.facts[scan.alias, name]
        for name, part in subquery.outputs
        if isinstance(part, ColumnRef)
    }
    column = ColumnRef(one.person.column, SqlType.TEXT, None, subquery.alias)
    facts[subquery.alias, column.column] = ColumnFacts(SqlType.TEXT, is_unit=True)
    time = (subquery.alias, one.time.column)
    facts[time] = replace(
        facts[time], nullable=False, ranges=(_times_of(one, one.read_by(subquery.where)),)
    )
    ownership = replace(
        owned, column=column, untruncated=(Untruncated(subquery.alias, column, owned.joined),)
    )
    return RelationWithUnit(subquery, below.facts.instead(facts), ownership)
