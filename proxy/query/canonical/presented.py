"""What is said of a statement's answers: its output columns, and the clauses that leave out groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from proxy.query.canonical import trees
from proxy.query.canonical.columns_of_answers import NoisyColumns, columns_around
from proxy.query.canonical.context import Ctes, cte_of, with_ctes
from proxy.query.canonical.group_choices import GroupChoices, is_cut
from proxy.query.canonical.statement import AnsweredSelect, CanonicalReading
from proxy.query.canonical.walk import children, parts
from proxy.query.ir.query import AggregateBlock, OutputColumn, Query


def presented(reading: CanonicalReading, names: Sequence[str] = ()) -> Query:
    """The typed query with what is said of its answers.

    Args:
        names: Of the result's columns, as the client's text has them.
    """
    statement = _PresentedTree.of(reading)
    blocks = list(reading.query.blocks)
    for one in reading.answered.values():
        made = _completed(one, statement, names)
        for place in range(one.number - 1, one.number - 1 + len(set(one.levels))):
            whole = blocks[place]
            blocks[place] = replace(made, keys=whole.keys, grouped=whole.grouped)
    return replace(reading.query, blocks=tuple(blocks))


@dataclass(frozen=True, slots=True)
class _PresentedTree:
    """queries: What an item of FROM reads, by the item's identity. result: The SELECT that gives the rows."""

    reading: CanonicalReading
    queries: Mapping[int, trees.QueryTree]
    result: trees.SelectTree | None

    @classmethod
    def of(cls, reading: CanonicalReading) -> _PresentedTree:
        tree = reading.tree
        result = tree if isinstance(tree, trees.SelectTree) else None
        return cls(reading, dict(_queries(tree, {})), result)

    def read_by(self, item: trees.FromItem) -> trees.QueryTree | None:
        return self.queries.get(id(item))

    def around(self, select: trees.SelectTree) -> tuple[trees.SelectTree, ...]:
        """SELECTs over answers which may have the groups of this one, inner ones first."""
        found: list[trees.SelectTree] = []

        def reaches(query: object) -> bool:
            if query is select:
                return True
            below = [reaches(one) for one in children(query)]
            if isinstance(query, trees.TableInFrom) and (inner := self.read_by(query)) is not None:
                below.append(reaches(inner))
            is_reached = any(below)
            if isinstance(query, trees.SelectTree) and is_reached:
                is_known = any(one is query for one in found)
                if not is_known and id(query) not in self.reading.answered:
                    found.append(query)
            return is_reached

        reaches(self.reading.tree)
        return tuple(found)

    def plain_around(self, select: trees.SelectTree) -> trees.SelectTree | None:
        """The SELECT that gives the result's rows, if it reads this one and nothing else."""
        result = self.result
        if result is None or result is select or select.is_distinct or len(result.source) != 1:
            return None
        if result.is_distinct or result.group or result.having or result.windows:
            return None
        item = result.source[0]
        if not isinstance(item, trees.TableInFrom | trees.QueryInFrom) or item.columns:
            return None
        is_this = self.read_by(item) is select
        return result if is_this and not any(cte.columns for cte in result.ctes) else None


def _queries(query: trees.QueryTree, around: Ctes) -> Iterator[tuple[int, trees.QueryTree]]:
    ctes = with_ctes(query, around)
    for cte in query.ctes:
        yield from _queries(cte.query, ctes[cte.name].around)
    inner = replace(query, ctes=())
    for one in _own_parts(inner):
        if isinstance(one, trees.TableInFrom):
            known = cte_of(one, ctes)
            if known is not None:
                yield id(one), known.tree.query
        elif isinstance(one, trees.QueryInFrom):
            yield id(one), one.query
            yield from _queries(one.query, ctes)
        elif isinstance(one, trees.QueryTree):
            yield from _queries(one, ctes)


def _own_parts(query: trees.QueryTree) -> Iterator[object]:
    """What stands in a query, and not in those inside it, but these themselves."""
    for one in children(query):
        yield from _until_query(one)


def _until_query(one: object) -> Iterator[object]:
    yield one
    if isinstance(one, trees.QueryTree | trees.QueryInFrom):
        return
    for inner in children(one):
        yield from _until_query(inner)


def _completed(
    one: AnsweredSelect, statement: _PresentedTree, names: Sequence[str]
) -> AggregateBlock:
    select, met = one.select, one.met
    columns = NoisyColumns(
        select=select,
        block=one.block,
        meanings=one.meanings,
        is_filtered=select.having is not None or (met is not None and bool(met.answers)),
        has_levels=len(one.levels) > 1,
        answers=frozenset() if met is None else met.answers,
    )
    listed = columns.listed()
    is_result = statement.result is select
    if is_result and len(names) == len(listed):
        listed = _renamed(listed, names)
    plain = statement.plain_around(select)
    outer: tuple[OutputColumn, ...] = ()
    if plain is not None and not one.block.is_summed:
        outer = columns_around(plain, columns, listed)
        outer = _renamed(outer, names) if len(names) == len(outer) else outer
    if not is_result:
        listed = _renamed(listed, _union_names(select, statement.reading.tree, names))
    choices = GroupChoices(
        of=columns,
        listed=listed,
        result=statement.result,
        around=statement.around(select),
        plain=plain,
        queries=statement.read_by,
    )
    top = choices.top_list(outer)
    if (select.group or select.is_distinct) and not columns.has_levels and not is_cut(select):
        if is_result:
            listed = _in_order(select, listed)
        elif plain is not None and not is_cut(plain):
            outer = _in_order(plain, outer)
    return replace(
        one.block,
        outputs=listed if is_result else (),
        top=top,
        inner_outputs=() if is_result else listed,
        outer_outputs=outer,
        row_choices=choices.row_choices(top),
    )


def _renamed(columns: Sequence[OutputColumn], names: Sequence[str]) -> tuple[OutputColumn, ...]:
    if len(names) != len(columns):
        return tuple(columns)
    return tuple(replace(one, name=name) for one, name in zip(columns, names, strict=True))


def _union_names(
    select: trees.SelectTree, tree: trees.QueryTree, names: Sequence[str]
) -> Sequence[str]:
    """Of SELECTs that UNION and its kin connect those of the result, which are the first one's."""
    connected = (one for one in parts(tree, with_queries=True) if isinstance(one, trees.SetTree))
    whole = tree if isinstance(tree, trees.SetTree) else None
    is_outermost = whole is not None and any(
        part is select
        for one in connected
        if one is whole or one in whole.parts
        for part in one.parts
    )
    return names if is_outermost else ()


def _in_order(
    select: trees.SelectTree, outputs: tuple[OutputColumn, ...]
) -> tuple[OutputColumn, ...]:
    """Mark the column by which ORDER BY sorts first, if it is noisy."""
    items = [tree for tree, _ in select.items]
    order = select.ending.order
    if not order or not outputs or order[0].operand not in items:
        return outputs
    place = items.index(order[0].operand)
    if outputs[place].expression is None:
        return outputs
    return (*outputs[:place], replace(outputs[place], is_order=True), *outputs[place + 1 :])
