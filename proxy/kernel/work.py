"""The work that the rows of one unit can cause: one price for everything that they evaluate and carry.

Claim: of a plan that `check_work` lets pass, rows of one unit of which there is a bounded number take at most
limits.UNIT_NANOSECONDS of a processor of the database, and limits.UNIT_CARRIED_BYTES of temporary files. Where
a unit has as many rows as it stores, each takes limits.ROW_NANOSECONDS and limits.ROW_CARRIED_BYTES at most. So
an analyst cannot make one unit's rows meet a limit of time or of disk space (PROOFS.md 19 J5, 22 A1).

Argument, from the tables up:

- NodePrice. Every node has one (work_prices); digits and octets are followed through every node.
- Expansion. PostgreSQL puts the columns of a subquery in where they are mentioned: each mention costs the
  whole expression. What GROUP BY, a window or a cut computes is computed once for each row that is formed, and
  carried from there with its digits.
- Formed rows. How many rows of a unit stand at each level (formed_rows): what is evaluated there is done for
  each of them.
- Carried. A row that is sorted, hashed or joined holds the columns that anything above is made of.

- Long values. A stored text has the price of limits.STORED_TEXT_OCTETS: one that is longer, in memory, counts
  as so many more rows that are stored. Where a join repeats its row, a value has the price of the longest that
  PostgreSQL stores, as the analyst decides how often it is unpacked. A single row of the longest values takes
  no more than a unit may. So only what looks at beginnings passes: `left(x, 1024)`, which the planner puts.

CASE, AND and OR may stop early; all is counted. What is computed once costs a row nothing. The hashes of a list
are computed when the first row needs them, once for each place that prints the list. Of identifiers (keys,
references, units) values are short: an index holds them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.node_parts import nodes
from proxy.base.result_columns import UNIT_COLUMN, aggregate_column, key_column
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Table
from proxy.kernel import formed_rows
from proxy.kernel.attribution import group_rule, scan_rule, subquery_rule, union_rule
from proxy.kernel.bound_choices import UnitTotal
from proxy.kernel.formed_rows import AS_STORED, NO_ROWS, Formed, RowCount, UnboundedRows, bounded_by
from proxy.kernel.join_rules import equal_beside, join_rule
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.owners import NO_COLUMNS, ColumnName, Known, OfUnit, Public
from proxy.kernel.owners import name as column_name
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    DistinctCount,
    KeptUnits,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.prepared_copies import stored_table
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.kernel.truncation_rules import truncation_rule
from proxy.kernel.work_prices import (
    NO_NODE,
    Dearest,
    NodePrice,
    NotPriced,
    ResultSize,
    add_nanoseconds,
    column_size,
    compare_nanoseconds,
    expression_price,
    longest_size,
    multiply_nanoseconds,
    union,
)
from proxy.kernel.world import World
from proxy.query.ir.expressions import Clamped, ColumnRef, Expression, Inside
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    WindowColumn,
)

LONG_NUMBER = 60  # digits, from which on a refusal speaks of them
_MENTION = 30.0
_SORTED_ROW = 1_000.0
_GROUPED_ROW = 300.0
_HASHED_COLUMN = 150.0
_SPREAD = 500.0  # the seeded hash of a key (compiler/seeded_keys.py)
_LOOK = 6_000.0
_INDEX = 400.0
_LISTED = 100.0  # a listed value of a key is hashed for each statement, when the first row comes
_LISTED_GROUP = 300.0  # and a key of a group that means of deviations are joined with
# Of a unit in one group, once its rows are gathered: counts and totals, means of deviations.
_GATHERED = 400.0
_DEVIATION = 2_500.0
_FEW_GROUPS = 2.5e7  # nanoseconds that a unit in all groups takes, below which no row is looked at
_WIDE = 2**20  # steps, from which on deviations are numerics
_HEAP_ROW = 8_160  # octets that a page has for one row (htup_details.h, MaxHeapTupleSize)
_ROW_HEADER = 24
OCTETS_OF_CHARACTER = 4
_COUNT = ResultSize(19)


class TooMuchWork(Refusal):
    """A query takes too much of one unit's rows.

    Attributes:
        work: Where it may help to read fewer of them.
        dearest: The step that takes longest, where the message ends with it.
        without_step: The message, but for that.
    """

    def __init__(
        self,
        message: str,
        hint: str,
        work: UnitWork | None = None,
        *,
        step: str = "",
        dearest: Dearest | None = None,
    ) -> None:
        super().__init__(Code.TOO_COMPLEX, f"{message}{step}", hint)
        self.work = work
        self.dearest = dearest
        self.without_step = message


class TooManyNodes(TooMuchWork):
    """The expressions of a query are too large together, however short its values are."""


@dataclass(slots=True, kw_only=True)
class UnitWork:
    """Nanoseconds and octets of one unit: of all the rows of which there is a bounded number, and of each row
    that a unit stores; nodes: of all expressions, which PostgreSQL plans; once: of one statement, whatever the
    number of rows, for hashes of lists that the first row asks for. It is added up as a walk meets it."""

    nanoseconds: float = 0.0
    octets: float = 0.0
    stored_nanoseconds: float = 0.0
    single_nanoseconds: float = 0.0
    stored_octets: float = 0.0
    rows: int = 0
    nodes: int = 0
    once: float = 0.0
    dearest: Dearest = NO_NODE

    def take(self, nanoseconds: float, rows: RowCount) -> None:
        self.nanoseconds += nanoseconds * rows.bounded
        self.single_nanoseconds += nanoseconds * (rows != NO_ROWS)
        self.stored_nanoseconds += nanoseconds * rows.stored
        self.rows = max(self.rows, rows.bounded)

    def carry(self, octets: float, rows: RowCount) -> None:
        self.octets += octets * rows.bounded
        self.stored_octets += octets * rows.stored

    def look_at(self, price: NodePrice) -> None:
        self.dearest = self.dearest.or_dearer(price.dearest)
        self.nodes += price.nodes
        self.once += price.once

    def repeat(self, times: int) -> None:
        """Rows are read so often; what they carry has a place until the next time."""
        self.nanoseconds *= times
        self.single_nanoseconds *= times
        self.stored_nanoseconds *= times

    def plus(self, other: UnitWork) -> UnitWork:
        """Of two blocks: one after the other, so that the files of the first are gone."""
        return UnitWork(
            nanoseconds=self.nanoseconds + other.nanoseconds,
            octets=max(self.octets, other.octets),
            stored_nanoseconds=self.stored_nanoseconds + other.stored_nanoseconds,
            single_nanoseconds=self.single_nanoseconds + other.single_nanoseconds,
            stored_octets=max(self.stored_octets, other.stored_octets),
            rows=max(self.rows, other.rows),
            nodes=self.nodes + other.nodes,
            once=self.once + other.once,
            dearest=self.dearest.or_dearer(other.dearest),
        )

    @property
    def is_dear_for_each(self) -> bool:
        """Whether a row costs too much, of which a unit has as many as it stores."""
        too_long = self.stored_nanoseconds > limits.ROW_NANOSECONDS
        return too_long or self.stored_octets > limits.ROW_CARRIED_BYTES

    @property
    def most_stored(self) -> int:
        """So many rows that a unit stores may be read, by what each costs."""
        left = limits.UNIT_NANOSECONDS - self.nanoseconds
        by_time = left / max(1.0, self.stored_nanoseconds)
        room = limits.UNIT_CARRIED_BYTES - self.octets
        return max(0, int(min(by_time, room / max(1.0, self.stored_octets))))


def check_work(blocks: Iterable[BlockPlan], world: World) -> UnitWork:
    """The work of a statement.

    Raises:
        TooMuchWork: It is above the limits.
    """
    total = _work(blocks, world)
    _check_limits(total)
    if total.single_nanoseconds > limits.UNIT_NANOSECONDS:
        raise _too_slow(total, total.single_nanoseconds / 1e9, each=True, is_single=True)
    return total


def _work(blocks: Iterable[BlockPlan], world: World) -> UnitWork:
    total = UnitWork()
    for block in blocks:
        try:
            total = total.plus(block_work(block, world))
        except UnboundedRows:
            raise TooMuchWork(
                "the rows of one privacy unit multiply in this join without a bound",
                "Join on a key of the public table, or aggregate one side per unit first.",
            ) from None
        except NotPriced as unknown:
            raise TooMuchWork(
                f"what this query computes of a row has no known cost: {unknown}",
                "Ask a simpler question.",
            ) from None
    return total


def _check_limits(work: UnitWork) -> None:
    if work.nodes > limits.EXPANDED_NODES:
        raise TooManyNodes(
            "the expressions of this query, with subqueries expanded, are too large together",
            "Split it into several statements.",
        )
    if work.nanoseconds > limits.UNIT_NANOSECONDS:
        raise _too_slow(work, work.nanoseconds / 1e9)
    if work.octets > limits.UNIT_CARRIED_BYTES:
        raise TooMuchWork(
            f"the rows of one privacy unit could take {_megabytes(work.octets)} of temporary files,"
            f" more than {_megabytes(limits.UNIT_CARRIED_BYTES)}",
            "Use fewer or shorter GROUP BY keys and columns of subqueries, or round(x, 2) them first.",
            work,
        )
    if work.is_dear_for_each:
        raise _too_slow(work, work.stored_nanoseconds / 1e9, each=True)


def _too_slow(
    work: UnitWork, seconds: float, *, each: bool = False, is_single: bool = False
) -> TooMuchWork:
    """is_single: so that fewer rows would not help.

    >>> found = _too_slow(UnitWork(rows=9_000, dearest=Dearest(9e4, "ln()", 400)), 8.4)
    >>> found.without_step
    'the rows of one privacy unit could keep the database busy for 8.4 seconds, more than 0.25: up to 9000 rows'
    >>> found.message.partition("which ")[2]
    'ln() on numbers of 400 digits is the dearest step'
    """
    dearest = work.dearest
    of_digits = f" on numbers of {dearest.digits} digits" if dearest.digits > LONG_NUMBER else ""
    step = f"{dearest.written}{of_digits} is the dearest step"
    taken = _seconds(seconds)
    if each:
        message = f"each row of a privacy unit could keep the database busy for {taken}"
        step = f": {step}"
    else:
        message = (
            f"the rows of one privacy unit could keep the database busy for {taken},"
            f" more than {limits.UNIT_NANOSECONDS / 1e9:g}: up to {max(1, work.rows)} rows"
        )
        step = f", of which {step}"
    told = None if is_single else work
    return TooMuchWork(message, _hint(work), told, step=step, dearest=dearest)


def _seconds(seconds: float) -> str:
    """
    >>> _seconds(0.2516), _seconds(3.14159), _seconds(123.4)
    ('0.252 seconds', '3.1 seconds', '123 seconds')
    """
    digits = 2 if seconds >= 1 else 3
    return f"{seconds:.{digits}g} seconds" if seconds < 100 else f"{seconds:.0f} seconds"


def _megabytes(octets: float) -> str:
    return f"{octets / 2**20:.0f} MB"


def _hint(work: UnitWork) -> str:
    if work.dearest.digits > LONG_NUMBER:
        return "Round the numbers first: round(x, 2)."
    if work.rows > 100:
        return (
            "Compute less of each pair of rows that a join forms: aggregate one side per unit first, or use"
            f" {work.dearest.written} fewer times."
        )
    return f"Use {work.dearest.written} fewer times."


def block_work(plan: BlockPlan, world: World) -> UnitWork:
    """The work of all statements that one block becomes.

    It is walked through twice. First all values are as long as may be stored: so much one row can take. Then
    those are that a join repeats, and others as a row of the usual size has them. Where no value can be
    longer than that, a text inside jsonb or an array neither, both walks see the same, and one is enough.

    Raises:
        NotPriced, UnboundedRows: A part of it has no bound.
    """
    parts = tuple(_nodes(plan))
    mentioned = _mentioned(parts)
    longest = _Pricer(world, mentioned)
    of_longest = _walked(plan, longest)
    if not longest.has_longer and not any(isinstance(part, Inside) for part in parts):
        return of_longest
    walk = _Pricer(world, mentioned, longest.levels)
    return replace(_walked(plan, walk), single_nanoseconds=of_longest.single_nanoseconds)


def _walked(plan: BlockPlan, walk: _Pricer) -> UnitWork:
    source = walk.level(plan.source)
    statements = _statements(plan)
    walk.tally.repeat(statements)
    _weigh_top(plan, source, walk, statements)
    listed = sum(len(key.values or ()) for key in plan.keys)
    hashing = (walk.tally.once + _LISTED * listed) * statements
    if plan.deviation_means:
        hashing += _LISTED_GROUP * (plan.groups() or 0) * len(plan.keys)
    if hashing > limits.UNIT_NANOSECONDS / 2:
        walk.tally.dearest = Dearest(hashing, "IN")
    walk.tally.nanoseconds += hashing
    return walk.tally


def _statements(plan: BlockPlan) -> int:
    """How many statements read the rows of the block (compiler/compiling.py)."""
    apart = plan.read_apart
    again = sum(map(plan.looks_at_ends, apart))
    extremes = sum(isinstance(one, UnitExtreme | KeptUnits) for one in plan.releases)
    means = plan.deviation_means
    elsewhere = sum(map(len, apart)) + extremes + len(means)
    together = len(plan.releases) > elsewhere or plan.selection is not None
    others = bool(extremes) + together + bool(plan.choices) + 2 * bool(means)
    return max(1, len(apart) + again + others)


def _weigh_top(plan: BlockPlan, source: _Level, walk: _Pricer, statements: int) -> None:
    """The condition, the keys and what is measured of each row, in every statement."""
    rows = formed_rows.passing(plan.where, source.formed)
    where = walk.price(plan.where, source)
    keys = [walk.price(key.expression, source) for key in plan.keys]
    measured = list(_release_prices(plan, source, walk))
    each = where.nanoseconds
    for key, price in zip(plan.keys, keys, strict=True):
        each += _times_said(key) * price.nanoseconds + walk.key_nanoseconds(price.size)
    own = statements * (each + _SORTED_ROW)
    own += sum(times * price.nanoseconds for price, times in measured)
    if isinstance(plan.neighbours, RowNeighbours) and plan.sub_partitions:
        own += sum(walk.hashed_nanoseconds(column, source) for column in plan.neighbours.hashed_by)
    elif isinstance(plan.neighbours, UnitNeighbours) and plan.keys:
        gathered = sum(map(_gathered_nanoseconds, plan.releases))
        of_all = gathered * (plan.groups() or math.inf)
        if of_all < _FEW_GROUPS:
            walk.tally.nanoseconds += of_all
        else:  # of as many groups as it has rows
            own += gathered
    said = [*zip(keys, map(_times_said, plan.keys), strict=True), *measured]
    walk.tally.once += sum((times - 1) * price.once for price, times in said)  # priced once before
    walk.tally.take(own, rows)
    carried = (where, *keys, *(price for price, _ in measured))
    width = sum(key.size.width for key in keys) + walk.width(carried)
    most = max((price.size.width for price, _ in measured), default=0)
    walk.tally.carry(width + most + _ROW_HEADER, rows)


def _times_said(key: KeyPlan) -> int:
    """A listed key is compared with its list and with NULL, and printed; a private number is compared three
    times."""
    if key.values is not None:
        return 3
    kind = key.expression.type
    return 4 if kind is not None and kind.is_number else 1


def _release_prices(
    plan: BlockPlan, source: _Level, walk: _Pricer
) -> Iterator[tuple[NodePrice, int]]:
    """What is computed of each row for each release, and how often its statement says it
    (compiler/statistic_sql.py, value_scan.py): twice what is summed and counted, three times what is
    squared or divided by a count, and twice more for squares beside a mean, and for what is read twice."""
    for number, release in enumerate(plan.releases):
        match release:
            case NoisyStatistic(of=Counted() as counted):
                yield walk.counted(counted, source), 2
            case NoisyStatistic(of=tuple() as several):
                times = 3 if release.statistic is Statistic.SQUARES else 2
                for measured in several:
                    yield walk.measured(measured, source), times
            case DistinctCount():
                operand = walk.price(release.operand, source)
                yield _together((operand,), walk.key_nanoseconds(operand.size), operand.size), 2
                yield walk.price(release.condition, source), 2
            case DeviationMean():
                yield walk.measured(release.measured, source), 4 if release.has_squares else 2
            case OrderStatistic():
                yield (
                    walk.measured(release.measured, source),
                    4 if plan.looks_at_ends([number]) else 2,
                )
            case UnitExtreme() | KeptUnits():
                yield walk.measured(release.measured, source), 2
            case RecentredMean() | SampleAggregate():
                yield walk.measured(release.measured, source), 3
            case _:
                raise NotPriced(type(release).__name__)
    for chosen in plan.value_choices:
        yield walk.measured(chosen.measured, source), 2


def _gathered_nanoseconds(release: Release) -> float:
    """Of the rows of a unit in one group, beside what is computed of each: they are cut, divided and added up
    over all groups (compiler/unit_scan.py, deviation_scan.py)."""
    match release:
        case NoisyStatistic(total=UnitTotal() as total):
            digits = len(str(total.most * total.parts))
            return _GATHERED + multiply_nanoseconds(digits, digits)
        case NoisyStatistic(of=Counted()):
            return _GATHERED
        case DeviationMean():
            is_wide = release.measured.width >= _WIDE
            return _DEVIATION * (1 + release.has_squares) * (1 + is_wide)
        case _:
            return 0.0


def _nodes(plan: BlockPlan) -> Iterator[Any]:
    """Every node of every expression of a plan, shared ones once."""
    measured = (plan.releases, plan.value_choices)
    return nodes(plan.source, plan.where, plan.keys, plan.neighbours, *measured)


def _mentioned(parts: Iterable[Any]) -> frozenset[ColumnName]:
    return frozenset(column_name(part) for part in parts if isinstance(part, ColumnRef))


@dataclass(frozen=True, slots=True)
class _Level:
    """A relation: what a mention of its columns costs, and how many rows of a unit it forms."""

    columns: Mapping[ColumnName, NodePrice]
    formed: Formed


@dataclass(slots=True)
class _Pricer:
    """longest: of each relation, by its identity, where values are as long as may be stored; None: they are;
    levels: of each that was priced; has_longer: whether one of them is longer than usual."""

    world: World
    mentioned: frozenset[ColumnName]
    longest: Mapping[int, _Level] | None = None
    levels: dict[int, _Level] = field(default_factory=dict)
    tally: UnitWork = field(default_factory=UnitWork)
    widths: dict[ColumnName, int] = field(default_factory=dict)
    tables: set[str] = field(default_factory=set)
    has_longer: bool = False

    def level(self, relation: Relation) -> _Level:
        found = self._level(relation)
        self.levels[id(relation)] = found
        return found

    def _level(self, relation: Relation) -> _Level:
        match relation:
            case Scan():
                return self._scan(relation)
            case Subquery():
                return self._subquery(relation)
            case GroupByUnit():
                return self._group(relation)
            case UnionAll():
                return self._union(relation)
            case Truncate():
                return self._truncate(relation)
            case Join():
                return self._join(relation)
            case _:
                assert_never(relation)

    def _take(self, nanoseconds: float, level: _Level) -> None:
        self.tally.take(nanoseconds, level.formed.rows)

    def price(self, expression: Expression | None, level: _Level) -> NodePrice:
        octets = limits.LONGEST_TEXT_OCTETS if self.longest is None else limits.STORED_TEXT_OCTETS
        found = expression_price(expression, level.columns, octets)
        self.tally.look_at(found)
        return found

    def width(self, prices: Iterable[NodePrice]) -> int:
        """Of the columns that a row has to carry for these to be computed of it. What a table stores of a row
        beside pointers to longer values has a place in one page."""
        found: dict[str, int] = {}
        for leaf in frozenset[ColumnName]().union(*(one.leaves for one in prices)):
            found[leaf[0]] = found.get(leaf[0], 0) + self.widths[leaf]
        return sum(
            min(width, _HEAP_ROW) if alias in self.tables else width
            for alias, width in found.items()
        )

    def sorted_size(self, size: ResultSize) -> ResultSize:
        """Of what rows are sorted by: of a single text its beginning is unpacked (compiler/text_sql.py)."""
        if self.longest is not None:
            return size
        cut = _cut_size(size)
        self.has_longer |= cut != size
        return cut

    def key_nanoseconds(self, of: ResultSize) -> float:
        size = self.sorted_size(of)
        return _GROUPED_ROW + _SPREAD + 3 * size.octets + 3 * size.digits + 2 * size.unpacked

    def hashed_nanoseconds(self, column: ColumnRef, level: _Level) -> float:
        found = self.price(column, level)
        octets = min(found.size.octets, limits.JOINED_TEXT_OCTETS)
        return _HASHED_COLUMN + found.nanoseconds + octets / 2

    def counted(self, counted: Counted, level: _Level) -> NodePrice:
        prices = [self.price(part, level) for part in (counted.operand, counted.condition)]
        return _together(prices, 50.0, ResultSize(1))

    def measured(self, measured: Measured, level: _Level) -> NodePrice:
        """The grid index: clamped, divided by the grid, rounded. A column that is no numeric is cut in its
        own type (compiler/aggregate_sql.py), where nothing costs more than to take the seconds out of a
        time."""
        condition = self.price(measured.condition, level)
        inner = measured.operand.operand if isinstance(measured.operand, Clamped) else None
        if isinstance(inner, ColumnRef) and inner.type is not SqlType.NUMERIC:
            return _together((self.price(inner, level), condition), _INDEX, ResultSize(19))
        operand = self.price(measured.operand, level)
        digits = operand.size.digits
        own = 2 * compare_nanoseconds(digits, 40) + multiply_nanoseconds(digits, 40)
        return _together((operand, condition), own + _INDEX + digits, ResultSize(19))

    def _leaf(self, column: ColumnName, size: ResultSize) -> NodePrice:
        """A column that is there: of a table, or computed below and carried."""
        self.widths[column] = size.width
        return NodePrice(_MENTION + size.unpacked, size, frozenset((column,)))

    def _scan(self, scan: Scan) -> _Level:
        columns: dict[ColumnName, NodePrice] = {}
        known = scan_rule(scan, self.world)
        self.tables.add(scan.alias)
        table = stored_table(scan, self.world)
        assert table is not None, "`scan_rule` has found it"
        mentioned = {column for alias, column in self.mentioned if alias == scan.alias}
        identifiers = identifying(table, known) if mentioned else frozenset()
        for column in table.columns:
            if column.name in mentioned:
                name = (scan.alias, column.name)
                size = column_size(column, limits.STORED_TEXT_OCTETS)
                if self.longest is None and column.name not in identifiers:
                    usual, size = size, longest_size(column)
                    self.has_longer |= size != usual
                columns[name] = self._leaf(name, size)
        if "ctid" in mentioned:
            place = (scan.alias, "ctid")
            columns.setdefault(place, self._leaf(place, ResultSize(10)))
        return _Level(columns, Formed(known, bounded_by(known.owner, AS_STORED)))

    def _subquery(self, subquery: Subquery) -> _Level:
        source = self.level(subquery.source)
        self._take(self.price(subquery.where, source).nanoseconds, source)
        known = subquery_rule(subquery, source.formed.known, self.world)
        passing = formed_rows.passing(subquery.where, source.formed)
        formed = Formed(known, bounded_by(known.owner, passing))
        columns = {
            (subquery.alias, name): _cut_text(self.price(expression, source), expression)
            for name, expression in subquery.outputs
        }
        if subquery.windows:
            columns = self._windows(subquery, source, columns)
        return _Level(columns, formed)

    def _windows(
        self, subquery: Subquery, source: _Level, outputs: dict[ColumnName, NodePrice]
    ) -> dict[ColumnName, NodePrice]:
        """Rows are sorted with all that is asked of them, and kept once more while their window is looked
        at."""
        rows = source.formed.rows
        inner = [self.price(e, source) for one in subquery.windows for e in one.expressions]
        all_of_it = (*outputs.values(), *inner)
        width = sum(one.size.width for one in all_of_it) + self.width(all_of_it) + _ROW_HEADER
        self.tally.carry(2 * width, rows)
        sorts = [
            self.sorted_size(self.price(e, source).size)
            for one in subquery.windows
            for e in (*one.partition, *(term.expression for term in one.order))
        ]
        own = sum(one.nanoseconds for one in inner)
        own += sum(one.unpacked + one.digits + 4 * one.octets for one in sorts)
        ties = (self.price(e, source) for one in subquery.windows for e in one.ties)
        own += sum(self.sorted_size(one.size).octets for one in ties)  # seldom compared
        own += sum(one.nanoseconds for one in outputs.values())
        self._take(own + _SORTED_ROW * len(subquery.windows), source)
        found = {name: self._leaf(name, price.size) for name, price in outputs.items()}
        for one in subquery.windows:
            name = (subquery.alias, one.name)
            found[name] = self._leaf(name, self._window_size(one, source))
        return found

    def _window_size(self, window: WindowColumn, source: _Level) -> ResultSize:
        if window.aggregate is not None:
            return self._aggregated(window.aggregate, source)
        if window.operand is not None:
            return self.price(window.operand, source).size
        return _COUNT

    def _group(self, group: GroupByUnit) -> _Level:
        source = self.level(group.source)
        rows = source.formed.rows
        where = self.price(group.where, source)
        keys = [self.price(part, source) for part in (group.unit, *group.keys)]
        operands = [
            self.price(part, source)
            for one in group.aggregates
            for part in (*one.operands, one.condition)
        ]
        names = [UNIT_COLUMN, *(key_column(n) for n in range(1, len(group.keys) + 1))]
        columns = {
            (group.alias, name): self._leaf((group.alias, name), _cut_size(price.size))
            for name, price in zip(names, keys, strict=True)
        }
        # Keys are computed once more, to be hashed.
        own = _GROUPED_ROW + sum(one.nanoseconds for one in (where, *keys, *keys[1:], *operands))
        own += sum(self.key_nanoseconds(key.size) for key in keys)
        self.tally.once += sum(one.once for one in keys[1:])
        sizes = [self._aggregated(one, source) for one in group.aggregates]
        own += sum(_SORTED_ROW + add_nanoseconds(size.digits, size.digits) for size in sizes)
        own += sum(
            self.key_nanoseconds(self.price(one.operand, source).size)
            for one in group.aggregates
            if one.kind is AggregateKind.COUNT_DISTINCT
        )
        for number, size in enumerate(sizes, start=1):
            name = (group.alias, aggregate_column(number))
            columns[name] = self._leaf(name, size)
        self._take(own, source)
        width = sum(one.size.width for one in keys) + self.width((*keys, *operands))
        width += sum(size.width for size in sizes) + _ROW_HEADER
        width += sum(one.size.width for one in operands) if _counts_distinct(group) else 0
        self.tally.carry(width, rows)
        known = group_rule(group, source.formed.known, self.world)
        formed = Formed(known, bounded_by(known.owner, rows))
        return _Level(columns, formed)

    def _aggregated(self, aggregate: Aggregate, source: _Level) -> ResultSize:
        """An aggregate keeps the digits of what it is made of; a sum has as many more as the number of rows
        has."""
        size = self.price(aggregate.operand, source).size
        match aggregate.kind:
            case AggregateKind.COUNT | AggregateKind.COUNT_DISTINCT | AggregateKind.COUNT_ROWS:
                return _COUNT
            case AggregateKind.MIN | AggregateKind.MAX:
                return size
            case AggregateKind.SUM | AggregateKind.AVG:
                return ResultSize(size.before + 12, max(20, size.after), size.octets, size.is_raw)
            case _:
                raise NotPriced(aggregate.kind.value)

    def _union(self, united: UnionAll) -> _Level:
        """A column costs what the dearest of its parts does."""
        parts = [self.level(part) for part in united.parts]
        columns: dict[ColumnName, NodePrice] = {}
        for place, (name, _) in enumerate(united.parts[0].outputs):
            each = [
                level.columns[part.alias, part.outputs[place][0]]
                for level, part in zip(parts, united.parts, strict=True)
            ]
            dearest = max(each, key=lambda one: one.nanoseconds)
            leaves = dearest.leaves.union(*(one.leaves for one in each))
            columns[united.alias, name] = replace(
                dearest, size=union(one.size for one in each), leaves=leaves
            )
        known = union_rule(united, [level.formed.known for level in parts])
        rows = NO_ROWS
        for level in parts:
            rows = rows.plus(level.formed.rows)
        formed = Formed(known, bounded_by(known.owner, rows))
        return _Level(columns, formed)

    def _truncate(self, truncate: Truncate) -> _Level:
        """Rows are sorted by the hash of their names, and those that stay are carried."""
        source = self.level(truncate.source)
        rows = source.formed.rows
        known = truncation_rule(truncate, source.formed.known, self.world)
        still = formed_rows.kept(truncate, known, source.formed)
        formed = Formed(known, still)
        asked = (truncate.where, *truncate.present)
        self._take(sum(self.price(one, source).nanoseconds for one in asked), source)
        columns = {
            name: price for name, price in source.columns.items() if name[1] in truncate.columns
        }
        if truncate.by is None:
            return _Level(columns, formed)
        names = [self.price(one, source) for one in (truncate.by, *truncate.ordered_by)]
        carried = (*names, *columns.values())
        own = sum(_HASHED_COLUMN + one.nanoseconds for one in names)
        own += sum(2 * self.sorted_size(one.size).octets for one in names)
        own += sum(_LOOK for one in truncate.ordered_by if one.type.is_compound)
        own += sum(one.nanoseconds for one in columns.values())
        self._take(own + _SORTED_ROW, source)
        computed = (one for name, one in columns.items() if one.leaves != {name})
        width = sum(one.size.width for one in computed) + self.width(carried)
        self.tally.carry(2 * (width + _ROW_HEADER), rows)
        kept = {name: self._leaf(name, one.size) for name, one in columns.items()}
        return _Level(kept, formed)

    def _join(self, join: Join) -> _Level:
        """Each side may be sorted or hashed, and what is joined is carried on."""
        left, right = self.level(join.left), self.level(join.right)
        columns: dict[ColumnName, NodePrice] = {}
        repeated = formed_rows.repeated(join, left.formed, right.formed)
        for part, side, is_repeated in zip(
            (join.left, join.right), (left, right), repeated, strict=True
        ):
            if is_repeated and self.longest is not None:
                columns |= self.longest[id(part)].columns
            else:
                columns |= side.columns
        known = join_rule(join, left.formed.known, right.formed.known, self.world)
        formed = formed_rows.joined(join, known, left.formed, right.formed)
        both = _Level(columns, formed)
        for side in (left, right):
            there = [price for name, price in side.columns.items() if name in self.mentioned]
            self.tally.carry(self.width(there) + _ROW_HEADER, side.formed.rows)
        own, compared = 0.0, self.price(join.rest, both).nanoseconds
        for pair in join.equal:
            x, y = (self.price(part, both) for part in pair)
            own += x.nanoseconds + y.nanoseconds + 2 * _GROUPED_ROW + x.size.digits + y.size.digits
            octets = min(x.size.octets, y.size.octets)  # of two lengths they are not equal
            compared += 1.5 * min(octets, limits.JOINED_TEXT_OCTETS)
            own += min(x.size.unpacked, y.size.unpacked)
        for value, column in equal_beside(join) if join.is_seeded else ():
            for key, side in ((self.price(value, both), left), (self.price(column, both), right)):
                self._take(key.nanoseconds + _GROUPED_ROW + key.size.octets / 2, side)
        rows = formed.rows.plus(left.formed.rows).plus(right.formed.rows)
        self.tally.take(own, rows)
        self._take(compared, both)
        return both


def _together(prices: Iterable[NodePrice], own: float, size: ResultSize) -> NodePrice:
    total, once, leaves, dearest = own, 0.0, frozenset[ColumnName](), NO_NODE
    for one in prices:
        total += one.nanoseconds
        once += one.once
        leaves |= one.leaves
        dearest = dearest.or_dearer(one.dearest)
    return NodePrice(total, size, leaves, dearest, once=once)


def _cut_text(price: NodePrice, expression: Expression) -> NodePrice:
    """A computed text is cut to its first characters where a subquery puts it out, a member of a jsonb to what
    can be looked into (compiler/relation_sql.py)."""
    if isinstance(expression, ColumnRef):
        return price
    if expression.type is not None and expression.type.is_container:
        octets = min(price.size.octets, limits.INSIDE_STORED_BYTES)
        return replace(price, size=replace(price.size, octets=octets))
    return replace(price, size=_cut_size(price.size))


def _cut_size(size: ResultSize) -> ResultSize:
    most = OCTETS_OF_CHARACTER * limits.KEY_CHARACTERS
    return size if size.octets <= most else replace(size, octets=most)


def columns_as_stored(plan: BlockPlan, world: World) -> frozenset[ColumnName]:
    """Columns of the block's source whose texts have the price of stored ones: no join repeats their rows."""
    mentioned = _mentioned(_nodes(plan))
    longest = _Pricer(world, mentioned)
    usual = _Pricer(world, mentioned, longest.levels)
    try:
        longest.level(plan.source)
        columns = usual.level(plan.source).columns
    except (NotPriced, UnboundedRows):  # `check_work` refuses it
        return NO_COLUMNS
    return frozenset(name for name, price in columns.items() if price.size == _cut_size(price.size))


def identifying(table: Table, known: Known) -> frozenset[str]:
    """Columns of which values are short: of public tables, those that name a unit, and those of keys, which an
    index holds (2,712 octets at most)."""
    if isinstance(known.owner, Public):
        return frozenset(column.name for column in table.columns)
    owned = known.owner.columns if isinstance(known.owner, OfUnit) else NO_COLUMNS
    keys = (table.primary_key, *table.unique, *(one.columns for one in table.foreign_keys))
    return frozenset(name for _, name in owned).union(*keys)


def _counts_distinct(group: GroupByUnit) -> bool:
    return any(one.kind is AggregateKind.COUNT_DISTINCT for one in group.aggregates)
