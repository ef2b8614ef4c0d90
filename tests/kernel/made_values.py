"""Blocks at random over columns of every type, of rows with values of every kind.

Keys, listed and private, of combinations as well; conditions; operands that are computed, on grids of their
own; what a plan says for speed or accuracy alone, true or not. Values are what a person could store to mislead:
NaN and infinity, forms of one number, blanks, times without an end, texts of one beginning and of more octets
than are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from random import Random  # noqa: TID251

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel.attribution import relation_of
from proxy.kernel.fixed_columns import fixed_columns, fixed_times, most_groups
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.known_values import ANYTHING, Value, stored_value
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.owners import Known
from proxy.kernel.plan import (
    BlockPlan,
    DeviationMean,
    NoisyStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
)
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.shape import Shape, shape_of
from proxy.kernel.statistics import Counted, Measured, Statistic, factors_of
from proxy.kernel.world import World
from proxy.policy.policy_model import Bounds, BoundsKind
from proxy.query.ir.expressions import (
    Arithmetic,
    Cast,
    Clamped,
    ColumnRef,
    Comparator,
    Comparison,
    Connective,
    Constant,
    DateTrunc,
    Expression,
    Is,
    Not,
)
from proxy.query.ir.function_names import Operator
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import (
    Frame,
    GroupByUnit,
    Join,
    OrderTerm,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    WindowColumn,
    WindowFunction,
)
from tests.kernel.made_blocks import _LOSS, _PURE, TEMPLATE, WORLD, BlockMaker
from tests.kernel.made_relations import COUNT, DELETIONS, Deletion, RelationMaker
from tests.pipeline_world import CATALOG

_LONG = "repeat('a', 1024) || '{}'"  # of one beginning
_HUGE = "repeat('\u00e4', 5000) || '{}'"  # of more octets than names have
_TIMES = (
    "'infinity'",
    "'-infinity'",
    "'2001-01-01'",
    "'2001-01-31'",
    "'2019-07-01'",
    "'0044-03-15 BC'",
)
_STORED: dict[str, tuple[str, ...]] = {
    "i2": ("1", "1", "2", "-32768", "32767"),
    "i4": ("0", "1", "1", "2", "2147483647", "-2147483648"),
    "i8": ("1", "7", "9223372036854775807", "-9223372036854775808", "4294967297"),
    "n2": ("0.01", "1", "175", "-999999.99", "'NaN'"),
    "n": (
        "1",
        "1.0",
        "1.00",
        "-0.5",
        "2.5",
        "1e-20",
        "1e300",
        "'NaN'",
        "'Infinity'",
        "'-Infinity'",
    ),
    "f4": ("0", "'-0'", "0.1", "1", "3e38", "1e-37", "'NaN'", "'Infinity'", "'-Infinity'"),
    "f8": ("0", "'-0'", "0.1", "1", "1e308", "1e-307", "'NaN'", "'Infinity'", "'-Infinity'"),
    "t": (
        "''",
        "'x'",
        "'X'",
        "'x '",
        "'y'",
        *(_LONG.format(one) for one in "bc"),
        _HUGE.format(""),
    ),
    "c": ("'a'", "'a '", "'bb'", "''"),
    "s": ("'a'", "'a '", "'x'", "''"),
    "b": ("true", "false"),
    "d": (*_TIMES, "'5874897-12-31'"),
    "ts": (*_TIMES, "'294276-12-31 23:59:59.999999'", "'2001-01-01 12:00'"),
    "tz": (*_TIMES, "'294276-12-31 23:59:59.999999+00'", "'2001-01-31 23:59:59+00'"),
    "e": ("'low'", "'x'", "'a'", "'a '", "''"),
    "iv": ("'1 day'", "'24 hours'", "'1 mon'"),
}
_LISTED: dict[SqlType, tuple[str, ...]] = {
    SqlType.INT2: ("1", "2", "-32768"),
    SqlType.INT4: ("0", "1", "2147483647"),
    SqlType.INT8: ("1", "7", "4294967297"),
    SqlType.NUMERIC: ("1", "1.0", "1.00", "NaN", "Infinity", "0.01"),
    SqlType.FLOAT4: ("0", "0.1", "1", "NaN", "Infinity"),
    SqlType.FLOAT8: ("0", "0.1", "1", "NaN", "-Infinity"),
    SqlType.TEXT: ("", "x", "X", "x ", "y", "a" * 1024 + "b", "a" * 1024),
    SqlType.BPCHAR: ("a", "a ", "bb", ""),
    SqlType.VARCHAR: ("a", "a ", "x"),
    SqlType.BOOL: ("true", "false"),
    SqlType.DATE: ("2001-01-01", "infinity", "0044-03-15 BC"),
    SqlType.TIMESTAMP: ("2001-01-01 00:00:00", "infinity", "-infinity"),
    SqlType.TIMESTAMPTZ: ("2001-01-01 00:00:00+00", "infinity", "2019-07-01 00:00:00+00"),
    SqlType.ENUM: ("low", "x", "a", "a ", ""),
}
_TABLES = ("people", "trips", "visits", "orders", "notes", "members", "calls")
_ORDERED = ("i2", "i4", "i8", "n2", "n", "f4", "f8", "d", "ts", "tz")
_LONG_AUTHORS = (_LONG.format("b"), _LONG.format("c"), _HUGE.format(""))
OF_VALUES = (
    *DELETIONS,
    *(
        Deletion("author", text, f"DELETE FROM w.notes WHERE uid = {text}")
        for text in _LONG_AUTHORS
    ),
)


def _of_table(alias: str, table: str) -> list[ColumnRef]:
    return [
        ColumnRef(column.name, column.type, None, alias)
        for column in CATALOG.tables[TableName("w", table)].columns
        if column.name in _STORED or column.name in ("id", "uid", "leg")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A relation, and its columns with the types that they have where it is well made."""

    relation: Relation
    columns: list[ColumnRef]

    def named(self, name: str) -> list[ColumnRef]:
        return [column for column in self.columns if column.column == name]


class ValueMaker(BlockMaker):
    """Given    random: two of one state make the same."""

    def __init__(self, random: Random, world: World = WORLD) -> None:
        super().__init__(RelationMaker(random), world)

    @property
    def _random(self) -> Random:
        return self.maker.random

    def _sometimes(self, percent: int) -> bool:
        return self._random.randrange(100) < percent

    def _alias(self) -> str:
        self.maker.number += 1
        return f"r{self.maker.number}"

    # Rows.

    def rows(self) -> str:
        """SQL that fills the tables with few rows of few units, some of nobody."""
        return "; ".join(
            (
                self._insert("people", "id", "{n}"),
                self._insert("trips", "id, leg", "{n} / 2, '{n}'"),
                self._insert("visits", "id, uid", "{n}, {uid}", 12),
                self._insert("orders", "id, uid", "{n}, {uid}"),
                self._insert("notes", "id, uid", "{n}, {author}"),
                self._insert("members", "id, uid", "{n}, nullif({n}, 5)", 5),
                self._insert("calls", "id, uid", "{n}, {uid}"),
                "INSERT INTO rates VALUES (1, 3.5), (2, NULL), (7, 9)",
                "INSERT INTO places VALUES ('x', 'n'), ('y', 's'), ('', 's')",
            )
        )

    def _insert(self, table: str, names: str, values: str, most: int = 8) -> str:
        rows = []
        for n in range(1, self._random.randint(most // 2, most) + 1):
            uid = self._random.choice(("NULL", "1", "1", "2", "2", "3", "4"))
            author = self._random.choice(("'a'", "'b'", "NULL", *_LONG_AUTHORS))
            own = values.format(n=n, uid=uid, author=author)
            rows.append(f"({', '.join((own, *map(self._stored, _STORED)))})")
        return f"INSERT INTO {table} ({names}, {', '.join(_STORED)}) VALUES {', '.join(rows)}"

    def _stored(self, column: str) -> str:
        return "NULL" if self._sometimes(20) else self._random.choice(_STORED[column])

    # Relations.

    def source(self, depth: int) -> _Source:
        if depth == 0:
            table, alias = self._random.choice(_TABLES), self._alias()
            scan = Scan(alias, TableName("w", table))
            return _Source(relation=scan, columns=_of_table(alias, table))
        kinds = (self._filtered, self._filtered, self._cut_rows, self._per_unit, self._joined)
        return self._random.choice((*kinds, self._both))(self.source(depth - 1))

    def _filtered(self, below: _Source) -> _Source:
        alias = self._alias()
        outputs = tuple((column.column, column) for column in _once(below.columns))
        windows = (self._of_window(below),) if self._sometimes(50) else ()
        where = self._condition(below.columns) if self._sometimes(40) else None
        relation = Subquery(alias, below.relation, where, outputs, windows=windows)
        columns = [replace(column, relation=alias) for _, column in outputs]
        columns += [ColumnRef(one.name, one.type, None, alias) for one in windows]
        return _Source(relation=relation, columns=columns)

    def _of_window(self, below: _Source) -> WindowColumn:
        functions = (
            *(WindowFunction.FIRST_VALUE, WindowFunction.LAST_VALUE, WindowFunction.ROW_NUMBER),
            *(WindowFunction.LAG, WindowFunction.RANK, WindowFunction.AGGREGATE),
        )
        function = self._random.choice(functions)
        has_value = function in (functions[0], functions[1], functions[3])
        operand = self._random.choice(below.columns) if has_value else None
        by = self._random.choice(below.named("uid") or below.columns)
        order = self._two_at_most(below.columns)
        kind = SqlType.INT8 if operand is None else operand.type
        return WindowColumn(
            name="w1",
            function=function,
            type=kind,
            partition=(by,),
            order=tuple(OrderTerm(one, self._sometimes(30), self._sometimes(50)) for one in order),
            frame=self._random.choice(tuple(Frame)),
            operand=operand,
            aggregate=COUNT if function is WindowFunction.AGGREGATE else None,
            ties=tuple(below.columns) if self._sometimes(80) else (),
            rows=100,
        )

    def _cut_rows(self, below: _Source) -> _Source:
        if isinstance(below.relation, Join | GroupByUnit):
            below = self._filtered(below)
        assert isinstance(below.relation, Scan | Subquery | UnionAll | Truncate)
        columns = _once(below.columns)
        of_units = below.named("uid") if self._sometimes(60) else []
        by = self._random.choice(of_units or columns)
        ids = [column for column in columns if column.column in ("id", "leg")]
        relation = Truncate(
            below.relation,
            by,
            self._random.choice((None, 1, 2, 2)),
            tuple(ids if ids and self._sometimes(60) else columns),
            (by,) if self._sometimes(80) else (),
            tuple(column.column for column in columns),
            f"place{self.maker.number}",
            with_null=self._sometimes(10),
        )
        return _Source(relation=relation, columns=columns)

    def _two_at_most(self, columns: Sequence[ColumnRef]) -> list[ColumnRef]:
        return self._random.sample(columns, min(len(columns), self._random.randint(0, 2)))

    def _per_unit(self, below: _Source) -> _Source:
        alias, unit = self._alias(), self._random.choice(below.named("uid") or below.columns)
        keys = self._two_at_most(below.columns)
        largest = Aggregate(
            AggregateKind.COUNT_DISTINCT, self._random.choice(below.columns), None, SqlType.INT8
        )
        relation = GroupByUnit(
            alias, below.relation, None, unit, (COUNT, largest), 100, tuple(keys)
        )
        columns = [ColumnRef("unit", unit.type, None, alias)]
        columns += [ColumnRef(f"k{n}", one.type, None, alias) for n, one in enumerate(keys, 1)]
        columns += [ColumnRef(f"a{n}", SqlType.INT8, None, alias) for n in (1, 2)]
        return _Source(relation=relation, columns=columns)

    def _joined(self, below: _Source) -> _Source:
        other = self.source(self._random.choice((0, 0, 1)))
        if self._sometimes(30):
            other = self._cut_rows(other)
        pairs = []
        for _ in range(self._random.choice((1, 1, 2))):
            of_units = below.named("uid") if self._sometimes(70) else []
            x = self._random.choice(of_units or below.columns)
            fit = [one for one in other.columns if _alike(one.type, x.type)]
            named = [one for one in fit if one.column == x.column]
            if fit:
                pairs.append((x, self._random.choice(named or fit)))
        rest = self._condition(other.columns) if self._sometimes(20) else None
        outer = self._sometimes(40)
        seeded = not all(x.column in ("uid", "unit") for x, _ in pairs)
        relation = Join(below.relation, other.relation, outer, tuple(pairs), rest, is_seeded=seeded)
        return _Source(relation=relation, columns=[*below.columns, *other.columns])

    def _both(self, below: _Source) -> _Source:
        other = self.source(0)
        names = [c.column for c in _once(below.columns) if other.named(c.column)]
        if not names:
            return below
        parts = []
        for one in (below, other):
            outputs = tuple((name, one.named(name)[0]) for name in names)
            parts.append(Subquery(self._alias(), one.relation, None, outputs))
        alias = self._alias()
        columns = [replace(below.named(name)[0], relation=alias) for name in names]
        return _Source(relation=UnionAll(alias, (parts[0], parts[1])), columns=columns)

    def _condition(self, columns: Sequence[ColumnRef]) -> Expression | None:
        column = self._random.choice(columns)
        if column.type not in _LISTED or self._sometimes(20):
            there = Is(column, None)
            return Not(there) if self._sometimes(50) else there
        text = self._random.choice(_LISTED[column.type])
        comparators = (Comparator.EQ, Comparator.LE, Comparator.LT, Comparator.GT)
        constant = _constant(text, column.type)
        found: Expression = Comparison(self._random.choice(comparators), column, constant)
        if self._sometimes(20):
            other = self._condition(columns)
            if other is not None:
                found = Connective(self._random.choice(("AND", "OR")), (found, other))
        return found

    # Blocks.

    def block(self) -> BlockPlan | None:
        return self._block(self.source(self._random.choice((0, 0, 1, 1, 2, 3))), self._of_values)

    def block_of_sums(self) -> BlockPlan | None:
        """Of a table, and of computed operands."""
        return self._block(self.source(0), self._of_sums)

    def _block(
        self,
        made: _Source,
        measuring: Callable[[Shape, Sequence[ColumnRef]], Iterator[Release]],
    ) -> BlockPlan | None:
        try:
            known = relation_of(made.relation, self.world)
            neighbours = self._neighbours(known)
        except NotPrivate:
            return None
        if neighbours is None:
            return None
        keys = self._typed_keys(made.columns)
        plan = replace(
            TEMPLATE,
            source=made.relation,
            neighbours=neighbours,
            where=self._condition(made.columns) if self._sometimes(30) else None,
            keys=keys,
            grouped=bool(keys),
            answers=(),
            releases=(),
            combinations=self._combinations(keys),
            rows_choice=None,
            sub_partitions=0,
        )
        plan = replace(plan, reach=self._reach(plan, known) if self._sometimes(70) else None)
        shape, selection = shape_of(plan), None
        try:
            if plan.combinations is None and any(key.values is None for key in keys):
                selection = self._selection(shape)
            releases = tuple(measuring(shape, made.columns))
        except NotPrivate:
            return None
        has_medians = any(isinstance(one, SampleAggregate) for one in releases)
        return replace(
            plan, releases=releases, selection=selection, sub_partitions=5 if has_medians else 0
        )

    def _reach(self, plan: BlockPlan, known: Known) -> int | None:
        return most_groups(plan.keys, plan.combinations, fixed_columns(known), fixed_times(known))

    def _typed_keys(self, columns: Sequence[ColumnRef]) -> tuple[KeyPlan, ...]:
        wanted = [column for column in columns if column.type in _LISTED]
        count = min(len(wanted), self._random.choice((0, 1, 1, 2)))
        found = []
        for column in self._random.sample(wanted, count):
            expression: Expression = column
            if column.type is SqlType.TIMESTAMP and self._sometimes(60):
                clamped = Clamped(
                    column, Fraction(946_684_800), Fraction(1_577_836_800), column.type
                )
                unit = self._random.choice(("month", "week", "year"))
                expression = DateTrunc(unit, clamped, column.type)
            elif column.type.is_integer and self._sometimes(20):
                expression = Cast(column, SqlType.TEXT)
            kind = expression.type or SqlType.TEXT
            listed = _LISTED[kind]
            values = tuple(
                self._random.sample((*listed, None), self._random.randint(1, len(listed)))
            )
            is_long = kind in (SqlType.TEXT, SqlType.NUMERIC, SqlType.VARCHAR)
            private = self._sometimes(35)
            found.append(
                KeyPlan(
                    expression=expression,
                    type=kind,
                    type_name=kind.sql,
                    values=None if private else values,
                    is_long=is_long,
                )
            )
        return tuple(found)

    def _combinations(self, keys: tuple[KeyPlan, ...]) -> tuple[tuple[str | None, ...], ...] | None:
        if not keys or self._sometimes(60) or any(key.values is None for key in keys):
            return None
        every = list(product(*(key.values or () for key in keys)))
        return tuple(self._random.sample(every, self._random.randint(1, len(every))))

    def _of_sums(self, shape: Shape, columns: Sequence[ColumnRef]) -> Iterator[Release]:
        wanted = [column for column in columns if column.column in _ORDERED[:7]]
        condition = self._condition(columns) if self._sometimes(20) else None
        for column in self._random.sample(wanted, 2):
            measured = self._measured_of(column, wanted, condition, shape)
            yield self._sum(shape, measured)
            if self._sometimes(30):
                yield RecentredMean(
                    aggregate=Aggregate(AggregateKind.AVG, column, None, SqlType.NUMERIC),
                    measured=replace(measured, rows=shape.rows),
                    output_grid=Fraction(1),
                    loss=_PURE,
                )
            if isinstance(shape.neighbours, UnitNeighbours) and shape.count is not None:
                yield self._deviating(column, measured)

    def _of_values(self, shape: Shape, columns: Sequence[ColumnRef]) -> Iterator[Release]:
        random, is_unit = self._random, isinstance(shape.neighbours, UnitNeighbours)
        condition = self._condition(columns) if self._sometimes(30) else None
        counted = random.choice((None, random.choice(columns)))
        if counted is not None and counted.type not in _LISTED:
            counted = None
        yield NoisyStatistic(
            aggregate=COUNT,
            statistic=Statistic.ROWS,
            of=Counted(operand=counted, condition=condition, never_null=self._sometimes(30)),
            noise=self._noise(shape.rows, shape.squared),
            loss=_LOSS,
        )
        wanted = [column for column in columns if column.column in _ORDERED]
        if not wanted:
            return
        column = random.choice(wanted)
        measured = self._measured_of(column, wanted, condition, shape)
        yield self._sum(shape, measured)
        if is_unit and self._sometimes(50):
            yield self._total(shape, measured)
        distinct = random.choice([one for one in columns if one.type in _LISTED])
        is_text = distinct.type.is_text
        yield replace(
            self._distinct(shape, distinct, is_unit), is_long=is_text, condition=condition
        )
        if is_unit and shape.count is not None and self._sometimes(40):
            yield self._deviating(column, measured)
        if self._sometimes(40):
            quantile = random.choice((None, Fraction(1, 2), Fraction(1, 4)))
            kind = random.choice((AggregateKind.MIN, AggregateKind.MAX))
            kind = kind if quantile is None else AggregateKind.QUANTILE_DISC
            aggregate = Aggregate(kind, column, None, SqlType.NUMERIC, fraction=quantile)
            yield self._ordered(shape, measured, aggregate)
        if self._sometimes(40):
            yield from self._extremes(shape, measured, column)
        if self._sometimes(40):
            yield self._sample(shape, measured, column)

    def _deviating(self, column: ColumnRef, measured: Measured) -> DeviationMean:
        return DeviationMean(
            aggregate=Aggregate(AggregateKind.AVG, column, None, SqlType.NUMERIC),
            measured=measured,
            output_grid=Fraction(1),
            declared=self._random.choice((None, 1, 2)),
            loss=_PURE,
            square_share=self._random.choice((Fraction(0), Fraction(2, 5))),
        )

    def _measured_of(
        self,
        column: ColumnRef,
        others: Sequence[ColumnRef],
        condition: Expression | None,
        shape: Shape,
    ) -> Measured:
        grid = self._random.choice(
            (Fraction(1), Fraction(1), Fraction(1, 2), Fraction(1, 100), Fraction(10))
        )
        low, high = sorted(self._random.sample((-2, -1, 0, 1, 3, 5), 2))
        if column.type.is_time:
            day = Fraction(86_400 if column.type is not SqlType.DATE else 1)
            kind = BoundsKind.DATE if column.type is SqlType.DATE else BoundsKind.TIMESTAMP
            clamp = Bounds(11_323 * day, (11_323 + 31) * day, kind)
            operand: Expression = Clamped(column, clamp.low, clamp.high, column.type)
            return Measured(
                operand=operand,
                condition=condition,
                clamp=clamp,
                grid=day,
                rows=shape.neighbours.rows,
            )
        clamp = Bounds(low * grid, high * grid)
        operand = Clamped(column, clamp.low, clamp.high, column.type)
        numbers = [one for one in others if one.type.is_number]
        if self._sometimes(50):
            other = self._random.choice(numbers)
            beside = Clamped(other, Fraction(-1), Fraction(2), other.type)
            operator = self._random.choice((Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY))
            operand = Arithmetic(operator, operand, beside, SqlType.NUMERIC)
        factors = list(factors_of(operand, _held_to))
        if self._sometimes(20):
            other = self._random.choice(numbers)
            more = Clamped(other, Fraction(0), Fraction(1), other.type)
            factors += factors_of(more, _held_to)
        return Measured(
            operand=operand,
            condition=condition,
            clamp=clamp,
            grid=grid,
            rows=shape.neighbours.rows,
            on_grid=self._sometimes(10),
            least=Fraction(-100) if self._sometimes(10) else None,
            is_of_mean=self._sometimes(40),
            factors=tuple(factors) if self._sometimes(90) else (),
            index=ColumnRef("i4", SqlType.INT4, None, column.relation)
            if self._sometimes(10)
            else None,
        )


def _held_to(column: ColumnRef) -> Value:
    """What the type of a column of people or visits is held to, which others have no names of."""
    tables = (CATALOG.tables[TableName("w", one)] for one in ("people", "visits"))
    found = [one for one in (table.column(column.column) for table in tables) if one is not None]
    return stored_value(found[0]) if found else ANYTHING


def _once(columns: Sequence[ColumnRef]) -> list[ColumnRef]:
    """One of each name."""
    return list({column.column: column for column in reversed(columns)}.values())


def _alike(one: SqlType, other: SqlType) -> bool:
    return one is other or (one.is_number and other.is_number) or (one.is_text and other.is_text)


def _constant(text: str, kind: SqlType) -> Constant:
    if kind is SqlType.BOOL:
        return Constant(text == "true", kind)
    if kind.is_number and text.strip("-").isalpha():
        return Constant(text, kind)
    return Constant(Fraction(text) if kind.is_number else text, kind)
