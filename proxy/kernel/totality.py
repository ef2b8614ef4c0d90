"""No row makes the SQL of a plan raise: every expression of a block is judged from its columns up.

Claim: PostgreSQL computes each expression of a block that `check_totality` lets pass on every row that the
tables can hold, whatever is stored, so that whether a statement ends in an error is no function of the rows
(PROOFS.md 22 A1).

Argument: by induction over nodes. A node is total on operands within the ranges that its rule asks for, and the
rule gives the range of its result (`number_totality`, `time_totality`, `text_totality`). Ranges begin with
what is printed, or what the catalogue says of stored columns (`known_values`). What has no rule here is total
on all operands of its type (TOTALITY.md 2 says why, node by node). Types are those that
`column_types.check_expressions` has counted before.

Aggregates add up what has ends, or clamp it themselves (`check_grid_index`). What the compiler computes
around all this is in TOTALITY.md 3: it is believed of the compiler, and of these limits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.result_columns import UNIT_COLUMN, aggregate_column, key_column
from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import COUNTS, is_hashed, is_printed_as_number
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.known_values import (
    ANYTHING,
    MOST_BITS,
    ColumnValues,
    Value,
    answer_value,
    around,
    bits_of,
    check_printed_number,
    constant_value,
    hull,
    refused,
    within,
)
from proxy.kernel.listed_values import check_listed
from proxy.kernel.neighbour_kinds import Neighbours, UnitNeighbours
from proxy.kernel.number_totality import (
    arithmetic_rule,
    bucket_rule,
    check_number,
    clamp_rule,
    computable_bits,
    quotient_rule,
    real_call_rule,
    rounding_rule,
    without_zero,
)
from proxy.kernel.owners import name
from proxy.kernel.plan import (
    BlockPlan,
    DistinctCount,
    KeptUnits,
    NoisyStatistic,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.prepared_copies import stored_table
from proxy.kernel.statistics import LARGEST_INDEX, Counted, Measured, factors_of
from proxy.kernel.text_totality import (
    check_printed,
    concatenation_rule,
    inside_rule,
    like_rule,
    printed_characters,
    printed_rule,
    text_call_rule,
)
from proxy.kernel.time_totality import (
    bin_rule,
    cast_time_rule,
    check_printed_time,
    extract_rule,
    shift_rule,
    template_rule,
    time_clamp_rule,
    truncation_rule_of_time,
)
from proxy.kernel.world import World
from proxy.query.ir.expression_walk import children
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choose,
    Clamped,
    ColumnRef,
    Comparison,
    Concat,
    Connective,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    In,
    InPublic,
    Inside,
    Is,
    Like,
    Not,
    NullIf,
    NumericCall,
    Parameter,
    Quotient,
    RealCall,
    Shift,
    TextCall,
    TimeBin,
)
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
    WindowFunction,
)

_ENDS = (AggregateKind.MIN, AggregateKind.MAX)
_ENCODING = "UTF8"  # in others lower() and upper() may raise
_DEEPEST = 5_000  # half of what 2 MB of stack take (TOTALITY.md 1)
_ROWS_BITS = 64  # no query has 2^64 rows
_COUNT = within(Fraction(0), Fraction(2**63))


def check_totality(block: BlockPlan, world: World) -> None:
    """Let a block pass that raises on no row, whose expressions `check_expressions` has seen.

    Raises:
        NotPrivate: A node of which that cannot be proven.
    """
    rows = _Judge(check_relation(block.source, world))
    rows.maybe(block.where)
    for key in block.keys:
        check_key(key, rows.of(key.expression))
    for release in block.releases:
        _check_release(release, block.neighbours, rows)
    for choice in block.value_choices:
        _check_measured(choice.measured, rows)


def check_relation(relation: Relation, world: World) -> ColumnValues:
    """Judge all expressions of a relation, and say where its columns lie.

    >>> from tests.kernel.examples import WORLD, scan
    >>> check_relation(scan("r1", "visits"), WORLD).value(("r1", "i4")).step
    Fraction(1, 1)
    """
    match relation:
        case Scan():
            if world.catalog.encoding != _ENCODING:
                raise refused("texts of another encoding than UTF8")
            table = stored_table(relation, world)
            return ColumnValues(tables={} if table is None else {relation.alias: table})
        case Join():
            both = check_relation(relation.left, world).beside(
                check_relation(relation.right, world)
            )
            _Judge(both).maybe(relation.rest)
            for one in (column for pair in relation.equal for column in pair):
                check_printed(one)
            return both
        case Subquery():
            return _subquery(relation, world)
        case GroupByUnit():
            return _groups(relation, world)
        case UnionAll():
            return _union(relation, world)
        case Truncate():
            found = check_relation(relation.source, world)
            _Judge(found).maybe(relation.where)
            return found
        case _:
            assert_never(relation)


def _subquery(subquery: Subquery, world: World) -> ColumnValues:
    """PostgreSQL puts its columns in where they are named; a window is computed first."""
    rows = _Judge(check_relation(subquery.source, world))
    rows.maybe(subquery.where)
    computed = {(subquery.alias, one): rows.output(made) for one, made in subquery.outputs}
    for window in subquery.windows:
        computed[subquery.alias, window.name] = _window(window, rows)
    return ColumnValues(computed=computed)


def _window(window: WindowColumn, rows: _Judge) -> Value:
    sorted_by = (*window.partition, *(term.expression for term in window.order))
    _check_compared(sorted_by)
    for part in sorted_by:
        rows.of(part)
    if window.aggregate is not None:
        return aggregate_value(window.aggregate, window.rows, rows)
    if window.operand is not None:
        return replace(rows.output(window.operand), depth=0)
    return ANYTHING if window.function is WindowFunction.ROW_NAME else _COUNT


def _groups(grouped: GroupByUnit, world: World) -> ColumnValues:
    """Of a text key the first characters are left (compiler.relation_sql). A key is hashed as its text."""
    rows = _Judge(check_relation(grouped.source, world))
    rows.maybe(grouped.where)
    computed = {(grouped.alias, UNIT_COLUMN): rows.of(grouped.unit)}
    for number, key in enumerate(grouped.keys, start=1):
        check_printed(key)
        computed[grouped.alias, key_column(number)] = replace(_cut(rows.of(key)), depth=0)
    for number, aggregate in enumerate(grouped.aggregates, start=1):
        computed[grouped.alias, aggregate_column(number)] = aggregate_value(
            aggregate, grouped.rows, rows
        )
    return ColumnValues(computed=computed)


def _union(union: UnionAll, world: World) -> ColumnValues:
    """A column is what one of the columns in its place is."""
    parts = [(part.alias, check_relation(part, world)) for part in union.parts]
    first = union.parts[0]
    names = [*(one for one, _ in first.outputs), *(one.name for one in first.windows)]
    found = {}
    for place, one in enumerate(names):
        values = []
        for part, (alias, columns) in zip(union.parts, parts, strict=True):
            below = [*(n for n, _ in part.outputs), *(w.name for w in part.windows)]
            values.append(columns.value((alias, below[place])))
        depth = max(value.depth for value in values)
        found[union.alias, one] = replace(hull(values), step=None, least=None, depth=depth)
    return ColumnValues(computed=found)


def aggregate_value(aggregate: Aggregate, most: int, rows: _Judge) -> Value:
    """Bound an exact aggregate of the rows of a unit.

    Totality: a sum in numeric raises above 131,072 digits alone: its operand has ends, and no query has 2^64
    rows. What is no time is a number. Ends of values, and counts, are total. A count is cut to the most that
    the plan says it can be, so that is no number below 0.

    >>> from tests.kernel.examples import WORLD, counted, scan
    >>> rows, count = _Judge(check_relation(scan("r1", "people"), WORLD)), counted(noise=Fraction(1)).aggregate
    >>> str(aggregate_value(count, 10, rows).low)
    '0'
    >>> aggregate_value(count, -1, rows)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    rows.maybe(aggregate.condition)
    if aggregate.kind in COUNTS and not 0 <= most < 2**63:
        raise refused("a count that is cut to no count")
    operand = aggregate.operand
    if operand is None:
        return _COUNT
    value = rows.of(operand)
    if aggregate.kind in COUNTS:
        if aggregate.kind is AggregateKind.COUNT_DISTINCT or operand.type is SqlType.OTHER:
            _check_compared((operand,))
        return _COUNT
    is_end = aggregate.kind in _ENDS
    if not is_end or operand.type is None or not operand.type.is_time:
        check_number(operand)
    if is_end:
        return Value(low=value.low, high=value.high, is_null=value.is_null)
    return around(computable_bits(value) + _ROWS_BITS)


def check_key(key: KeyPlan, value: Value) -> None:
    """Let a key pass of which no row makes the text that is sorted longer than `limits.KEY_CHARACTERS`.

    Totality: a key that says of itself that it is short is printed whole. So it is a text of which the type, or
    what is computed, says so, and a private number of which the type does: of a computed one no more is
    believed than of a numeric. Listed keys of a column are values of its type (`listed_values`).

    >>> from tests.kernel.examples import key_plan
    >>> check_key(key_plan("t", None), Value(characters=10))
    >>> check_key(key_plan("t", None), Value())
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    check_printed(key.expression)
    kind = key.expression.type
    if key.values is not None and isinstance(key.expression, ColumnRef):
        check_listed(key.expression.type, key.values)
    if key.is_long or kind is None:
        return
    if kind.is_text:
        characters = value.characters
    elif is_printed_as_number(kind) and key.values is None:
        characters = printed_characters(key.expression, value)
    else:
        return
    if characters is None or characters > limits.KEY_CHARACTERS:
        raise refused("a key that may be long")


def _check_release(release: Release, neighbours: Neighbours, rows: _Judge) -> None:
    check_aggregate(release)
    match release:
        case NoisyStatistic():
            if isinstance(release.of, Counted):
                rows.maybe(release.of.condition)
                rows.maybe(release.of.operand)
            else:
                for measured in release.of:
                    _check_measured(measured, rows)
        case DistinctCount():
            rows.maybe(release.condition)
            check_distinct(release, neighbours, rows.of(release.operand))
        case _:
            _check_measured(release.measured, rows)


def check_aggregate(release: Release) -> None:
    """Let a release pass whose aggregate PostgreSQL computes without an error, as it is printed.

    Totality: MIN and MAX choose one of the stored values; AVG is of grid indices. Of other aggregates the
    compiler prints values before they are clamped: a sum of them overflows by the rows of one unit.

    Raises:
        NotPrivate: The compiler would print another aggregate.

    >>> from tests.kernel.examples import kept_units
    >>> check_aggregate(kept_units(keeps_one_group=True))
    """
    printed: tuple[AggregateKind, ...]
    match release:
        case UnitExtreme() | KeptUnits():
            printed = _ENDS
        case SampleAggregate():
            printed = (*_ENDS, AggregateKind.AVG)
        case _:
            return  # the statement prints what is measured, or counts
    if release.aggregate.kind not in printed:
        raise refused("an aggregate that is not computed of clamped values")


def check_distinct(release: DistinctCount, neighbours: Neighbours, value: Value) -> None:
    """Let values pass of which no row makes what is sorted longer than `limits.KEY_CHARACTERS`.

    Totality: values are hashed as their texts. Texts that are said to be short are counted whole. Units are
    short, as an index holds them, and where several rows of one are gathered no text is counted.

    >>> from tests.kernel.examples import distinct_count, of_table, row_shape
    >>> texts, rows = distinct_count(of_unit=False), row_shape(changed=1).neighbours
    >>> texts = replace(texts, operand=of_table("r1", "visits", "t"))
    >>> check_distinct(texts, rows, Value(characters=10))
    >>> check_distinct(texts, rows, Value())
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    operand = release.operand
    check_printed(operand)
    is_text = operand.type is not None and operand.type.is_text
    if release.is_long and not is_text:
        raise refused("values that are no texts, of which the first characters count")
    if release.is_long or not is_text:
        return
    unit = operand if isinstance(neighbours, UnitNeighbours) else neighbours.not_null
    if release.of_unit and operand == unit:
        return
    if value.characters is None or value.characters > limits.KEY_CHARACTERS:
        raise refused("distinct texts that may be long")


def _check_measured(measured: Measured, rows: _Judge) -> None:
    rows.maybe(measured.condition)
    rows.of(measured.operand)
    column = _plain(measured.operand)
    check_grid_index(measured, ANYTHING if column is None else rows.of(column))
    own = factors_of(measured.operand, rows.of) if measured.factors else ()
    if any(factor not in own or factor.factors for factor in measured.factors):
        raise refused("a factor that is not one of the operand's")


def _plain(operand: Expression) -> ColumnRef | None:
    """The column, where the operand is one, clamped."""
    inner = operand.operand if isinstance(operand, Clamped) else None
    return inner if isinstance(inner, ColumnRef) else None


def check_grid_index(measured: Measured, stored: Value) -> None:
    """Let an operand pass of which each row gives a grid index.

    Totality: it is clamped in its own type, or in numeric, before it becomes a whole number
    (compiler.aggregate_sql), and no index is above 2^52. A comparison is left out where the type of the column
    has nothing below: that is the catalogue's word. Sums of a column that is said to lie on the grid are not
    rounded row by row: its type has to hold whole steps only, else one row moves a sum by more. A stored
    index is an integer, and so is all that is computed of it once it is clamped.

    >>> from tests.kernel.examples import measured
    >>> check_grid_index(measured(0, 10), Value())
    >>> check_grid_index(replace(measured(0, 10), least=Fraction(0)), Value(least=Fraction(-100)))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    operand = measured.operand
    kind = operand.type
    if kind is not None and kind.is_time:
        if _plain(operand) is None:
            raise refused("a time that is measured and is no column")
        check_printed_time(kind, measured.clamp.low, measured.clamp.high)
    else:
        check_number(operand)
        check_printed_number(measured.clamp.low, measured.clamp.high)
    if measured.grid <= 0:
        raise refused("a grid without steps")
    if max(abs(measured.low), abs(measured.high)) > LARGEST_INDEX:
        raise refused("a clamp with too many steps")
    if max(bits_of(measured.grid), bits_of(1 / measured.grid)) > MOST_BITS:
        raise refused("a grid that is too fine or too coarse")
    if measured.least is not None and (stored.least is None or stored.least < measured.least):
        raise refused("a least value that the type of the column does not have")
    if measured.index is not None and measured.index.type is not SqlType.INT4:
        raise refused("an index that is no integer")
    if not 1 <= measured.index_steps < 2**22:  # and no division by zero
        raise refused("an index of no whole steps")
    farthest = max(abs(measured.low), abs(measured.high)) * measured.index_steps
    if measured.index is not None and farthest >= 2**23:  # half a step more, and its distances, fit
        raise refused("an index beyond an integer")
    is_on_grid = stored.step is not None and (stored.step / measured.grid).denominator == 1
    if measured.on_grid and not is_on_grid:
        raise refused("a column whose type holds other values than steps of the grid")


def _check_compared(parts: Iterable[Expression]) -> None:
    """What is compared or sorted is of a type that is read: of another one the operators may raise, and tell
    apart what is equal by a key. No jsonb and no array is compared as a whole: large ones, which count as NULL
    where rows are put in order, would be told apart (`column_types.tells_forms_apart`).
    """
    kinds = (one.type for one in parts)
    if any(kind is SqlType.OTHER or (kind is not None and kind.is_container) for kind in kinds):
        raise refused("a value of an unknown type, or of any length, that is compared")


def _check_met(one: SqlType, other: SqlType) -> None:
    """What is looked for is cast to the type of the list, which raises where that is of another kind."""
    if not is_hashed(one, other) and not (one.is_time and other.is_time):
        raise refused("a list of another kind of values")


def _cut(value: Value) -> Value:
    """The first characters of a text; anything else as it is."""
    most = limits.KEY_CHARACTERS
    return replace(value, characters=min(value.characters or most, most))


def _makes_text(expression: Expression) -> bool:
    """Whether the compiler cuts it where a subquery puts it out (compiler.relation_sql)."""
    if isinstance(expression, TextCall | Concat | Inside):
        return True
    return any(map(_makes_text, children(expression)))


@dataclass(slots=True)
class _Judge:
    """Judges expressions of the rows of a relation.

    Attributes:
        columns: What is known of the columns.
        deepest: So many operations stand inside one another in what was judged last.
    """

    columns: ColumnValues
    deepest: int = 0

    def maybe(self, expression: Expression | None) -> None:
        if expression is not None:
            self.of(expression)

    def of(self, expression: Expression) -> Value:
        self.deepest = 0
        found = self._of(expression, 1)
        if self.deepest > _DEEPEST:
            raise refused("an expression that is too deep")
        return found

    def output(self, expression: Expression) -> Value:
        """A column of a subquery: of a text that it makes the first characters are left."""
        value = self.of(expression)
        if _makes_text(expression):
            value = _cut(value)
        return replace(value, depth=self.deepest)

    def _of(self, expression: Expression, level: int) -> Value:
        match expression:
            case ColumnRef():
                found = self.columns.value(name(expression))
                self.deepest = max(self.deepest, level + found.depth)
                return found
            case Constant():
                self.deepest = max(self.deepest, level)
                return constant_value(expression)
            case Parameter():
                return answer_value(expression)
            case Comparison() | Connective() | Not() | Is() | In() | InPublic() | Like():
                return self._truth(expression, level + 1)
            case TextCall() | Concat() | Inside():
                return self._text(expression, level + 1)
            case Extract() | DateTrunc() | FormattedTime() | Shift() | TimeBin():
                return self._time(expression, level + 1)
            case Case() | Choose() | NullIf():
                return self._chosen(expression, level + 1)
            case _:
                return self._number(expression, level + 1)

    def _all(self, parts: Iterable[Expression], level: int) -> list[Value]:
        return [self._of(one, level) for one in parts]

    def _truth(
        self,
        expression: Comparison | Connective | Not | Is | In | InPublic | Like,
        level: int,
    ) -> Value:
        """Total on all operands of a type that is read. What a list of a public table is made of depends on no
        protected row.
        """
        match expression:
            case Comparison():
                _check_compared((expression.left, expression.right))
                self._all((expression.left, expression.right), level)
            case Connective():
                self._all(expression.operands, level)
            case Is() | Not():
                self._of(expression.operand, level)
            case In() | InPublic():
                _check_compared((expression.operand,))
                self._of(expression.operand, level)
                if isinstance(expression, InPublic):
                    _check_met(expression.operand.type or SqlType.TEXT, expression.output.type)
            case Like():
                self._of(expression.operand, level)
                return like_rule(expression)
            case _:
                assert_never(expression)
        return ANYTHING

    def _text(self, expression: TextCall | Concat | Inside, level: int) -> Value:
        match expression:
            case TextCall():
                return text_call_rule(expression, self._of(expression.operand, level))
            case Concat():
                return concatenation_rule(expression, self._all(expression.operands, level))
            case Inside():
                return inside_rule(expression)
            case _:
                assert_never(expression)

    def _time(
        self, expression: Extract | DateTrunc | FormattedTime | Shift | TimeBin, level: int
    ) -> Value:
        operand = self._of(expression.operand, level)
        match expression:
            case Extract():
                return extract_rule(expression)
            case DateTrunc():
                return truncation_rule_of_time(expression, operand)
            case FormattedTime():
                return template_rule(expression, operand)
            case Shift():
                return shift_rule(expression, operand)
            case TimeBin():
                return bin_rule(expression, operand)
            case _:
                assert_never(expression)

    def _chosen(self, expression: Case | Choose | NullIf, level: int) -> Value:
        """One of several values. Where they are numbers, each is printed as one."""
        match expression:
            case Case():
                self._all((condition for condition, _ in expression.whens), level)
                parts = (*(result for _, result in expression.whens), expression.otherwise)
            case Choose():
                parts = expression.operands
            case NullIf():
                parts = (expression.operand, expression.other)
            case _:
                assert_never(expression)
        _check_compared(parts)
        if is_printed_as_number(expression.type):
            for one in parts:
                check_number(one)
        values = self._all(parts, level)
        if isinstance(expression, NullIf):
            return without_zero(expression, values[0])
        return hull(values)

    def _number(
        self,
        expression: Clamped | Arithmetic | Quotient | NumericCall | RealCall | Bucket | Cast,
        level: int,
    ) -> Value:
        match expression:
            case Clamped():
                operand = self._of(expression.operand, level)
                is_time = expression.type.is_time
                return (time_clamp_rule if is_time else clamp_rule)(expression, operand)
            case Arithmetic():
                left, right = self._all((expression.left, expression.right), level)
                return arithmetic_rule(expression, left, right)
            case Quotient():
                left, right = self._all((expression.operand, expression.divisor), level)
                return quotient_rule(expression, left, right)
            case NumericCall():
                return rounding_rule(expression, self._of(expression.operand, level))
            case RealCall():
                return real_call_rule(expression, self._of(expression.operand, level))
            case Bucket():
                return bucket_rule(expression, self._of(expression.operand, level))
            case Cast():
                return _cast(expression, self._of(expression.operand, level))
            case _:
                assert_never(expression)


def _cast(cast: Cast, operand: Value) -> Value:
    """A text by `printed_rule`, a time by `cast_time_rule`. A number is cast to no narrower type, as all are
    computed in numeric; a truth value is 0 or 1.
    """
    if cast.type.is_text:
        return printed_rule(cast, operand)
    if cast.type.is_time:
        return cast_time_rule(cast, operand)
    if cast.operand.type is SqlType.BOOL:
        return within(Fraction(0), Fraction(1))
    check_number(cast.operand)
    if not cast.type.is_number:
        raise refused("a cast to a type that is not known")
    return operand
