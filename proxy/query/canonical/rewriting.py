"""The rewritten statement, printed from the trees: noisy relations stand for the rows of protected tables.

Every column is qualified in canonical text. So what takes the place of a key or an aggregate is a column of the
noisy relation, and no name of the client's can be taken for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import (
    NOISY_RELATION,
    IntervalColumn,
    IntervalEnd,
    aggregate_column,
    grouping_column,
    key_column,
    noisy_relation,
)
from proxy.query.canonical import trees
from proxy.query.canonical.printing import query_sql
from proxy.query.canonical.rows_meeting_answers import conjuncts, one_item
from proxy.query.canonical.statement import AnsweredSelect, CanonicalReading
from proxy.query.canonical.walk import parts, rebuilt
from proxy.query.ir.bound_statement import (
    AggregateSubquery,
    AnswerArray,
    ExpressionInterval,
    GroupingValue,
    IntervalValue,
    KeyValue,
    OneValue,
    SpanMeaning,
    SureTruth,
)
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.rewrite.joined_text import summed
from proxy.query.rewrite.noisy_from import groupings, noisy_rows
from proxy.query.syntax.selects import Select

_ZERO = trees.Literal("0")
_TRUE = trees.Literal(True)


def rewritten(reading: CanonicalReading, parameters: int, names: Sequence[str] = ()) -> str:
    """Print a statement with its noisy relations, which are parameter `parameters + 1`.

    Args:
        names: Of the result's columns, as the client's text has them; canonical text leaves out some.

    Raises:
        Refusal: UNSUPPORTED: a name of the client's like those of noisy relations.
    """
    aliases = (getattr(one, "alias", "") for one in parts(reading.tree, with_queries=True))
    if any(isinstance(one, str) and one.startswith(NOISY_RELATION) for one in aliases):
        raise Refusal(
            Code.UNSUPPORTED,
            f'names that begin with "{NOISY_RELATION}" cannot be used in this statement',
            "Use other names.",
        )
    tree = reading.tree
    if names:
        tree = _named(tree, names)
    answered = {**reading.answered}
    if tree is not reading.tree and id(reading.tree) in answered:
        answered[id(tree)] = answered[id(reading.tree)]
    return query_sql(_without_unused(_Rewriter(answered, parameters + 1).query(tree)))


def _named(query: trees.QueryTree, names: Sequence[str]) -> trees.QueryTree:
    """With all names of the result's columns written."""
    if not isinstance(query, trees.SelectTree) or len(query.items) != len(names):
        return query
    items = tuple((tree, name) for (tree, _), name in zip(query.items, names, strict=True))
    return replace(query, items=items)


@dataclass(frozen=True, slots=True)
class _Rewriter:
    answered: Mapping[int, AnsweredSelect]
    parameter: int

    def query(
        self, query: trees.QueryTree, keys: Mapping[trees.Tree, trees.Tree] | None = None
    ) -> trees.QueryTree:
        """A query with what stands for the keys of the SELECT around it that it names."""
        known = self.answered.get(id(query))
        if known is not None and isinstance(query, trees.SelectTree):
            return self._of_answers(query, known)
        is_noisy = isinstance(query, trees.SelectTree) and self._reads_answers(query)
        named = keys or {}
        found = rebuilt(query, lambda one: self._changed(one, named, is_noisy=is_noisy))
        assert isinstance(found, trees.QueryTree)
        return found

    def _reads_answers(self, select: trees.SelectTree) -> bool:
        """Whether answers of other SELECTs, or what is made of them, may be in its FROM clause."""
        inner = parts(select.source, with_queries=True)
        return any(
            id(one) in self.answered or (isinstance(one, trees.TableInFrom) and not one.schema)
            for one in inner
        )

    def _changed(
        self, tree: object, values: Mapping[trees.Tree, trees.Tree], *, is_noisy: bool
    ) -> Any:
        """A node outside of rows: keys and calls are columns, and a division by a noisy 0 gives NULL."""
        if isinstance(tree, trees.QueryTree):
            found = values.items()
            return self.query(tree, {k: v for k, v in found if isinstance(k, trees.ColumnName)})
        if isinstance(tree, trees.Tree) and tree in values:
            return values[tree]
        changed = rebuilt(tree, lambda one: self._changed(one, values, is_noisy=is_noisy))
        match tree:
            case trees.OperatorTree(operator="/" | "%", operands=(_, divisor)):
                assert isinstance(changed, trees.OperatorTree)
                is_plain = changed.operands[1] == divisor and not is_noisy
                if is_plain or not any(
                    isinstance(one, trees.ColumnName | trees.RawSql | trees.ScalarQuery)
                    for one in parts(changed.operands[1])
                ):
                    return changed
                wrapped = trees.Call("NULLIF", (changed.operands[1], _ZERO))
                return replace(changed, operands=(changed.operands[0], wrapped))
            case _:
                return changed

    def _of_answers(self, select: trees.SelectTree, of: AnsweredSelect) -> trees.SelectTree:
        subquery = _subquery(of)
        is_summed = of.met is not None and of.met.is_summed
        values: dict[trees.Tree, trees.Tree] = {}
        for tree, meaning in of.meanings.items():
            text = _value(subquery, meaning)
            if is_summed and isinstance(meaning, Aggregate):
                text = summed(text, meaning)
            values[tree] = trees.RawSql(text if isinstance(meaning, KeyValue) else f"({text})")

        def put(one: Any) -> Any:
            return self._changed(one, values, is_noisy=True)

        rows = trees.RawSql(noisy_rows(self.parameter, subquery, ()))
        items = tuple(
            (put(tree), name or (tree.column if isinstance(tree, trees.ColumnName) else ""))
            for tree, name in select.items
        )
        having = () if select.having is None else (put(select.having),)
        ending = rebuilt(select.ending, put)
        source: tuple[trees.FromItem, ...] = (rows,)
        retained: tuple[trees.Tree, ...] = ()
        group: tuple[trees.GroupItem, ...] = ()
        if of.met is not None:
            settled = of.met.settled
            source = (self._joined(one_item(select.source), of, rows, values),)
            own = [one for one in conjuncts(select.where) if one not in settled]
            retained = tuple(map(put, own))
            group = tuple(map(put, select.group)) if is_summed else ()
        where = (*retained, *(() if group or is_summed else having))
        return replace(
            select,
            ctes=tuple(replace(cte, query=self.query(cte.query)) for cte in select.ctes),
            distinct_on=tuple(map(put, select.distinct_on)),
            items=items,
            source=source,
            where=_conjunction(where),
            group=group,
            having=_conjunction(having) if is_summed else None,
            ending=ending,
            windows=rebuilt(select.windows, put),
        )

    def _joined(
        self,
        item: trees.FromItem,
        of: AnsweredSelect,
        rows: trees.RawSql,
        values: Mapping[trees.Tree, trees.Tree],
    ) -> trees.FromItem:
        """FROM, in which the noisy relation stands for the rows."""
        assert of.met is not None
        if item == of.met.rows:
            return rows
        if not isinstance(item, trees.JoinInFrom):
            found = self._changed(item, values, is_noisy=True)
            assert isinstance(found, trees.FromItem)
            return found
        sides = (item.left, item.right)
        left, right = (self._joined(side, of, rows, values) for side in sides)
        on = [one for one in conjuncts(item.on) if one not in of.met.settled]
        conditions = [self._changed(one, values, is_noisy=True) for one in on]
        for name in item.using:
            conditions.append(_using(name, sides, values))
        is_cross = item.kind == "CROSS"
        condition = None if is_cross else _conjunction(conditions) or _TRUE
        return replace(item, left=left, right=right, on=condition, using=())


def _using(
    name: str, sides: Sequence[trees.FromItem], values: Mapping[trees.Tree, trees.Tree]
) -> trees.Tree:
    """What USING compares: a key of the rows, and a column of the answers."""
    columns = []
    for side in sides:
        aliases = [getattr(one, "alias", "") for one in parts(side) if hasattr(one, "alias")]
        found = [trees.ColumnName(alias, name) for alias in aliases if alias]
        known = [values[one] for one in found if one in values]
        columns.append((known or found)[0])
    return trees.OperatorTree("=", tuple(columns))


def _conjunction(conditions: Sequence[trees.Tree]) -> trees.Tree | None:
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return trees.Junction("AND", tuple(conditions))


def _subquery(of: AnsweredSelect) -> AggregateSubquery:
    """As the printing of noisy relations takes it."""
    found = (one for one in of.meanings.values() if isinstance(one, GroupingValue))
    spans = {(number, number): one for number, one in enumerate(dict.fromkeys(found))}
    return AggregateSubquery(
        number=of.number,
        select=Select(0, 0, 0, {"items": (0, 0)}, distinct=False),
        block=of.block,
        spans=spans,
        unnamed=(),
        is_constant=False,
        levels=of.levels,
    )


def _value(subquery: AggregateSubquery, meaning: SpanMeaning) -> str:
    """SQL of what a key or a call means."""
    before = noisy_relation(subquery.number)
    match meaning:
        case AnswerArray(parts=several):
            listed = ", ".join(f"{before}.{_column(subquery, one)}" for one in several)
            return f"ARRAY[{listed}]"
        case SureTruth(is_or=is_or):
            sides = [
                f"{before}.{IntervalColumn(IntervalEnd.LOW, _number(subquery, rows)).name}"
                f" OPERATOR(pg_catalog.>) 0 THEN {word}"
                for rows, word in ((meaning.true, "true"), (meaning.false, "false"))
            ]
            first, then = sides if is_or else sides[::-1]
            return f"CASE WHEN {first} WHEN {then} END"
        case _:
            return f"{before}.{_column(subquery, meaning)}"


def _column(subquery: AggregateSubquery, meaning: OneValue) -> str:
    block = subquery.block
    match meaning:
        case Aggregate():
            return aggregate_column(_number(subquery, meaning))
        case IntervalValue(end=end, aggregate=aggregate):
            return IntervalColumn(end, _number(subquery, aggregate)).name
        case ExpressionInterval(end=end, expression=expression):
            number = len(block.aggregates) + block.expressions.index(expression) + 1
            return IntervalColumn(end, number).name
        case KeyValue(key=key):
            return key_column(block.keys.index(key) + 1)
        case GroupingValue():
            return grouping_column(groupings(subquery).index(meaning) + 1)
        case _:
            assert_never(meaning)


def _number(subquery: AggregateSubquery, aggregate: Aggregate) -> int:
    return subquery.block.aggregates.index(aggregate) + 1


def _without_unused(query: trees.QueryTree) -> trees.QueryTree:
    """Without CTEs that nothing names: PostgreSQL checks the rights of what they read."""
    while query.ctes:
        every = tuple(parts(query, with_queries=True))
        named = {one.name for one in every if isinstance(one, trees.TableInFrom) and not one.schema}
        kept = tuple(cte for cte in query.ctes if cte.name in named)
        if kept == query.ctes:
            break
        query = replace(query, ctes=kept)
    return query
