"""Long texts that a statement goes through are cut to their beginnings first (kernel/work.py).

A column that a subquery only hands on stays whole, if that is not too much: in a row it is a pointer to where
it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.result_columns import UNIT_COLUMN, key_column
from proxy.base.sql_types import SqlType
from proxy.kernel.attribution import scan_rule
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.owners import ColumnName, name
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
from proxy.kernel.statistics import Counted, Measured
from proxy.kernel.work import OCTETS_OF_CHARACTER, columns_as_stored, identifying
from proxy.kernel.work_prices import longest_size
from proxy.kernel.world import World
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import ColumnRef, Concat, Expression, Inside, TextCall
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.rebuilding import changed_aggregate, each_changed, rebuild, rewrite, with_parts
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    OrderTerm,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    WindowColumn,
)

_EQUAL = (ir.Comparator.EQ, ir.Comparator.NE)
# character(n) is declared with its length, and compared without its blanks; labels are short.
_SHORT = (SqlType.BPCHAR, SqlType.ENUM)


class CutKeys(Enum):
    """Which texts are cut that rows are joined, grouped and sorted by."""

    NONE = auto()
    REPEATED = (
        auto()
    )  # those of rows that a join repeats: to cut the others costs more than it saves
    ALL = auto()  # which saves temporary files
    HANDED_ON = auto()  # and what subqueries put out


@dataclass(frozen=True, slots=True)
class Beginning:
    """characters: of each text that is gone through; keys: which others are cut, too."""

    characters: int
    keys: CutKeys


BEGINNINGS = tuple(
    Beginning(characters, keys) for characters in limits.TEXT_BEGINNINGS for keys in CutKeys
)


def with_beginnings(block: BlockPlan, beginning: Beginning, world: World) -> BlockPlan:
    """The block with so many characters of each stored text that is gone through; itself, if none is."""
    texts = _Texts(beginning.characters, _short_columns(block.source, world))
    cut, of_keys = texts.cut, texts
    if beginning.keys is CutKeys.REPEATED:
        of_keys = replace(texts, whole=texts.whole | columns_as_stored(block, world))
    cuts_keys = beginning.keys is not CutKeys.NONE

    def maybe(expression: ir.Expression | None) -> ir.Expression | None:
        return None if expression is None else cut(expression)

    def key(one: KeyPlan) -> ir.Expression:
        listed = [value for value in one.values or () if value is not None]
        return of_keys.short(cut(one.expression), None if one.values is None else longest(listed))

    def whole(expression: ir.Expression) -> ir.Expression:
        return expression

    source = rewrite(block.source, cut)
    changed = replace(
        block,
        source=_sorted(source, of_keys, beginning.keys) if cuts_keys else source,
        where=maybe(block.where),
        keys=tuple(
            with_parts(one, expression=key(one) if cuts_keys else cut(one.expression))
            for one in block.keys
        ),
        releases=tuple(
            _release(one, cut, of_keys.short if cuts_keys else whole) for one in block.releases
        ),
    )
    return block if changed == block else replace(changed, text_characters=beginning.characters)


def _sorted(relation: Relation, texts: _Texts, which: CutKeys) -> Relation:
    """With the beginnings of what rows are grouped and sorted by."""

    def below(source: Relation) -> Relation:
        return _sorted(source, texts, which)

    match relation:
        case Scan():
            return relation
        case Join():
            return with_parts(relation, left=below(relation.left), right=below(relation.right))
        case Subquery():
            windows = each_changed(relation.windows, texts.window)
            outputs = relation.outputs
            if which is CutKeys.HANDED_ON:
                outputs = tuple((column, texts.short(part)) for column, part in outputs)
            return with_parts(
                relation, source=below(relation.source), outputs=outputs, windows=windows
            )
        case GroupByUnit():
            return with_parts(
                relation,
                source=below(relation.source),
                keys=each_changed(relation.keys, texts.short),
                aggregates=each_changed(relation.aggregates, texts.counted),
            )
        case UnionAll():
            return with_parts(relation, parts=each_changed(relation.parts, below))
        case Truncate():
            return with_parts(relation, source=below(relation.source))
        case _:
            assert_never(relation)


_Change = Callable[[ir.Expression], ir.Expression]


def _release(release: Release, cut: _Change, short: _Change) -> Release:
    def maybe(part: ir.Expression | None) -> ir.Expression | None:
        return None if part is None else cut(part)

    def measured(one: Measured) -> Measured:
        return replace(one, operand=cut(one.operand), condition=maybe(one.condition))

    match release:
        case NoisyStatistic(of=Counted() as counted):
            operand, condition = maybe(counted.operand), maybe(counted.condition)
            return replace(release, of=replace(counted, operand=operand, condition=condition))
        case NoisyStatistic(of=tuple() as several):
            return replace(release, of=tuple(map(measured, several)))
        case DistinctCount():
            operand = short(cut(release.operand))
            return replace(release, operand=operand, condition=maybe(release.condition))
        case (
            RecentredMean()
            | DeviationMean()
            | OrderStatistic()
            | SampleAggregate()
            | UnitExtreme()
            | KeptUnits()
        ):
            return replace(release, measured=measured(release.measured))
        case _:
            raise AssertionError("a release of another kind")


@dataclass(frozen=True, slots=True)
class _Texts:
    """characters: of each text; whole: columns of which all values are short."""

    characters: int
    whole: frozenset[ColumnName]

    def cut(self, expression: ir.Expression) -> ir.Expression:
        return rebuild(expression, self._gone_through)

    def short(self, operand: ir.Expression, characters: int | None = None) -> ir.Expression:
        kind = operand.type
        if kind is None or not kind.is_text or kind in _SHORT:
            return operand
        if isinstance(
            operand,
            ir.Constant | ir.Parameter | ir.TextCall | ir.Concat | ir.Cast | ir.FormattedTime,
        ):
            return operand
        if isinstance(operand, ir.ColumnRef) and name(operand) in self.whole:
            return operand
        most = ir.Constant(Fraction(characters or self.characters), SqlType.INT4)
        return ir.TextCall(ir.TextFunction.LEFT, operand, (most,), SqlType.TEXT)

    def window(self, column: WindowColumn) -> WindowColumn:
        """But for the first column of PARTITION BY, which is the unit."""

        def term(one: OrderTerm) -> OrderTerm:
            return with_parts(one, expression=self.short(one.expression))

        partition = (*column.partition[:1], *map(self.short, column.partition[1:]))
        return with_parts(column, partition=partition, order=each_changed(column.order, term))

    def counted(self, aggregate: Aggregate) -> Aggregate:
        if aggregate.kind is AggregateKind.COUNT_DISTINCT:
            return changed_aggregate(aggregate, self.short)
        return aggregate

    def _gone_through(self, part: ir.Expression) -> ir.Expression:
        short = self.short
        match part:
            case ir.In():
                items = [one.value for one in part.items if isinstance(one, ir.Constant)]
                listed = [one for one in items if isinstance(one, str)]
                known = all(isinstance(one, ir.Constant) for one in part.items)
                operand = short(part.operand, longest(listed) if known else None)
                return with_parts(part, operand=operand)
            case ir.Like() | ir.InPublic():
                return with_parts(part, operand=short(part.operand))
            case ir.TextCall() if not _is_beginning(part):
                return with_parts(part, operand=short(part.operand))
            case ir.Comparison() if not _with_constant(part):
                return with_parts(part, left=short(part.left), right=short(part.right))
            case ir.Concat():
                return with_parts(part, operands=tuple(map(short, part.operands)))
            case ir.Choose() if part.choice is not ir.Choice.COALESCE:
                return with_parts(part, operands=tuple(map(short, part.operands)))
            case ir.NullIf() if not isinstance(part.other, ir.Constant | ir.Parameter):
                return with_parts(part, operand=short(part.operand), other=short(part.other))
            case _:
                return part


def longest(listed: Iterable[str]) -> int:
    """So many characters of a text tell whether it is one of these."""
    return max(map(len, listed), default=0) + 1


def _is_beginning(call: ir.TextCall) -> bool:
    """left(x, 5): no more is unpacked. left(x, -5) is all of it but for its end."""
    if call.function is not ir.TextFunction.LEFT:
        return False
    (most,) = call.arguments
    return isinstance(most, ir.Constant) and isinstance(most.value, Fraction) and most.value >= 0


def _with_constant(comparison: ir.Comparison) -> bool:
    """Whether lengths are compared, which mostly differ."""
    sides = (comparison.left, comparison.right)
    return comparison.comparator in _EQUAL and any(
        isinstance(one, ir.Constant | ir.Parameter) for one in sides
    )


def _short_columns(relation: Relation, world: World) -> frozenset[ColumnName]:
    """Columns of a relation, and of those below it, in which no text is long."""
    match relation:
        case Scan():
            known, table = scan_rule(relation, world), stored_table(relation, world)
            assert table is not None, "`scan_rule` has found it"
            named = identifying(table, known)
            most = OCTETS_OF_CHARACTER * limits.KEY_CHARACTERS
            return frozenset(
                (relation.alias, column.name)
                for column in table.columns
                if column.name in named or longest_size(column).octets <= most
            )
        case Subquery():
            below = _short_columns(relation.source, world)
            return below | _handed_on(relation.alias, relation.outputs, below)
        case GroupByUnit():
            below = _short_columns(relation.source, world)
            keys = (key_column(number) for number in range(1, len(relation.keys) + 1))
            return below | {(relation.alias, one) for one in (UNIT_COLUMN, *keys)}
        case UnionAll():
            parts = [_short_columns(part, world) for part in relation.parts]
            names = [name for name, _ in relation.parts[0].outputs]
            each = [
                {place for place, (n, _) in enumerate(part.outputs) if (part.alias, n) in short}
                for part, short in zip(relation.parts, parts, strict=True)
            ]
            in_all = set.intersection(*each)
            united = {(relation.alias, one) for place, one in enumerate(names) if place in in_all}
            return frozenset().union(*parts, united)
        case Truncate():
            return _short_columns(relation.source, world)
        case Join():
            return _short_columns(relation.left, world) | _short_columns(relation.right, world)
        case _:
            assert_never(relation)


def _handed_on(
    alias: str, outputs: tuple[tuple[str, Expression], ...], below: frozenset[ColumnName]
) -> frozenset[ColumnName]:
    """A text that a subquery makes is cut to its first characters there."""
    return frozenset(
        (alias, output)
        for output, made in outputs
        if isinstance(made, TextCall | Concat | Inside)
        or (isinstance(made, ColumnRef) and name(made) in below)
    )
