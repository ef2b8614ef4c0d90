"""A SELECT in which rows of protected tables are joined or compared with answers of other queries (ADR 0049).

The rows are asked for alone, by groups of all that is compared with an answer. The comparison itself is made by
the shadow, where the noisy relation takes the place of the rows. Where each group meets one answer at most, the
SELECT's groups are those of the noisy relation; else these are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from proxy.query.canonical import trees
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.context import Ctes, cte_of, with_ctes
from proxy.query.canonical.expression_nodes import SCALARS
from proxy.query.canonical.grouping import key_sets
from proxy.query.canonical.walk import (
    children,
    has_aggregate,
    is_aggregate,
    parts,
    subqueries,
    unknown_relations,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinWithAnswers:
    """A join of the rows with answers, its other side. preserves_rows: Also rows without a partner."""

    answers: trees.FromItem
    preserves_rows: bool
    on: trees.Tree | None
    using: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetRows:
    """
    Attributes:
        rows: What is read as a relation.
        settled: Conditions on rows alone.
        retained: Conditions that compare rows with answers.
        keys: By what the rows are grouped.
        is_summed: The groups of the rows are added up.
        answers: Aliases of answers.
    """

    rows: trees.FromItem
    settled: tuple[trees.Tree, ...]
    retained: tuple[trees.Tree, ...]
    keys: tuple[trees.Tree, ...]
    is_summed: bool
    answers: frozenset[str]


def met_rows(
    select: trees.SelectTree,
    ctes: Ctes,
    is_answer: Callable[[trees.FromItem], bool],
    is_answer_list: Callable[[trees.QueryTree], bool],
) -> MetRows | None:
    """
    Args:
        is_answer: Whether a leaf of FROM gives answers.
        is_answer_list: The same of a query behind IN.

    Returns:
        None: No row of the SELECT meets an answer.

    Raises:
        Refusal: UNSUPPORTED: rows on both sides of answers; rows that an outer join fills with NULLs.
    """
    rows, joins = _parted(one_item(select.source), is_answer)
    answers = frozenset(alias for join in joins for alias in _aliases(join.answers))
    search = _Search(answers)
    settled: list[trees.Tree] = []
    of_where: list[trees.Tree] = []
    for tree in conjuncts(select.where):
        queries = (part.query for part in parts(tree) if isinstance(part, trees.InQuery))
        is_list = any(map(is_answer_list, queries))
        is_settled = not is_list and (not joins or search.is_of_rows(tree) is True)
        (settled if is_settled else of_where).append(tree)
    if not joins and not of_where:
        return None
    of_join: list[tuple[JoinWithAnswers, list[trees.Tree]]] = []
    for join in joins:
        conditions = conjuncts(join.on)
        # What an outer join's condition says of a row decides whether it has a partner, not whether it stays.
        of_rows = [
            t for t in conditions if not join.preserves_rows and search.is_of_rows(t) is True
        ]
        settled += of_rows
        of_join.append((join, [tree for tree in conditions if tree not in of_rows]))
    retained = (*of_where, *(tree for _, own in of_join for tree in own))
    for query in subqueries(retained):
        if search.is_of_rows(query) is not False and unknown_relations(query) - answers:
            raise unread("a subquery about each row in one condition with answers")
    groups = _groups(select)
    is_single = bool(groups)
    for tree in groups:
        match search.is_of_rows(tree):
            case True:
                search.add(tree)
            case None:
                is_single = False
    by_groups = set(search.keys)
    for join in joins:
        for name in join.using:
            search.find(next(_named(name, rows)))
    for tree in retained:
        search.find(tree)
    is_single &= set(search.keys) <= by_groups
    for join, own in of_join:
        # An outer join fulfils its own condition only.
        wanted = own if join.preserves_rows else [*own, *of_where]
        is_single &= _meets_one(join, wanted, search, ctes)
    if not is_single:  # what is grouped by is an expression over keys then, or a key
        for tree in groups:
            search.find(tree)
    return MetRows(
        rows=rows,
        settled=tuple(settled),
        retained=retained,
        keys=tuple(search.keys),
        is_summed=not is_single,
        answers=answers,
    )


def rows_in(
    source: Sequence[trees.FromItem], is_answer: Callable[[trees.FromItem], bool]
) -> trees.FromItem:
    """What is read as a relation of a FROM clause."""
    item = one_item(source)
    return _parted(item, is_answer)[0] if any(map(is_answer, _leaves(item))) else item


def one_item(source: Sequence[trees.FromItem]) -> trees.FromItem:
    """What commas connect is a join without condition."""
    found = source[0]
    for item in source[1:]:
        found = trees.JoinInFrom("CROSS", found, item, None, (), "")
    return found


def _parted(
    item: trees.FromItem, is_answer: Callable[[trees.FromItem], bool]
) -> tuple[trees.FromItem, tuple[JoinWithAnswers, ...]]:
    joins: list[JoinWithAnswers] = []
    while isinstance(item, trees.JoinInFrom):
        sides = [[is_answer(leaf) for leaf in _leaves(one)] for one in (item.left, item.right)]
        if not any(any(side) for side in sides):
            break
        is_answers = [all(side) for side in sides]
        if is_answers[0] == is_answers[1]:
            raise unread("rows of protected tables on both sides of answers")
        keeps_answers = item.kind == ("LEFT" if is_answers[0] else "RIGHT")
        if item.kind == "FULL" or keeps_answers:
            raise unread("an outer join that keeps answers without rows of a protected table")
        rows, answers = (item.right, item.left) if is_answers[0] else (item.left, item.right)
        preserves = item.kind in ("LEFT", "RIGHT")
        joins.append(
            JoinWithAnswers(answers=answers, preserves_rows=preserves, on=item.on, using=item.using)
        )
        item = rows
    return item, tuple(joins)


def _leaves(item: trees.FromItem) -> Iterator[trees.FromItem]:
    if isinstance(item, trees.JoinInFrom):
        yield from _leaves(item.left)
        yield from _leaves(item.right)
    else:
        yield item


def _aliases(item: trees.FromItem) -> Iterator[str]:
    for leaf in _leaves(item):
        if isinstance(leaf, trees.TableInFrom | trees.QueryInFrom | trees.FunctionInFrom):
            yield leaf.alias


def conjuncts(tree: trees.Tree | None) -> tuple[trees.Tree, ...]:
    if isinstance(tree, trees.Junction) and tree.word == "AND":
        return tuple(part for one in tree.operands for part in conjuncts(one))
    return () if tree is None else (tree,)


def _groups(select: trees.SelectTree) -> tuple[trees.Tree, ...]:
    if any(isinstance(item, trees.GroupingSets) for item in select.group):
        raise unread("GROUPING SETS where rows meet answers")
    if select.group:
        return key_sets(select)[0]
    return tuple(tree for tree, _ in select.items) if select.is_distinct else ()


def _named(name: str, rows: trees.FromItem) -> Iterator[trees.Tree]:
    """The column of the rows that USING names."""
    for alias in _aliases(rows):
        yield trees.ColumnName(alias, name)


class _Search:
    """Looks for the parts of conditions that are of rows alone."""

    def __init__(self, answers: frozenset[str]) -> None:
        self._answers = answers
        self.keys: list[trees.Tree] = []

    def is_of_rows(self, tree: trees.Tree | trees.QueryTree) -> bool | None:
        """None: It names rows and answers."""
        every = parts(tree, with_queries=True)
        named = (one for one in every if isinstance(one, trees.ColumnName | trees.WholeRow))
        found = {one.relation not in self._answers for one in named}
        return None if len(found) == 2 else True in found

    def add(self, tree: trees.Tree) -> None:
        tree = tree
        if tree not in self.keys:
            self.keys.append(tree)

    def find(self, tree: object) -> None:
        """Calls as wholes, and columns."""
        if isinstance(tree, trees.Tree) and tree in self.keys:
            return
        if isinstance(tree, trees.InQuery):
            self.find(tree.operand)
            return
        is_whole = isinstance(tree, trees.ColumnName | trees.Call) and not is_aggregate(tree)
        if is_whole and isinstance(tree, trees.Tree) and self.is_of_rows(tree) is True:
            self.add(tree)
            return
        if isinstance(tree, trees.QueryTree):
            return
        for one in children(tree):
            self.find(one)


def _equal_sides(tree: trees.Tree) -> Iterator[tuple[trees.Tree, trees.Tree]]:
    """Both orders of what a condition sets equal, NULLs among it or not."""
    is_negated = isinstance(tree, trees.Negation)
    inner = tree.operand if isinstance(tree, trees.Negation) else tree
    operator = "IS DISTINCT FROM" if is_negated else "="
    if (
        isinstance(inner, trees.OperatorTree)
        and inner.operator == operator
        and len(inner.operands) == 2
    ):
        left, right = inner.operands
        yield left, right
        yield right, left


def _meets_one(
    join: JoinWithAnswers, conditions: Sequence[trees.Tree], search: _Search, ctes: Ctes
) -> bool:
    """Whether no group meets two answers: those differ in columns that are equal to keys."""
    answers = join.answers
    needed = _unique(answers, ctes)
    if needed is None or not isinstance(answers, trees.TableInFrom | trees.QueryInFrom):
        return False
    equal = set(join.using)
    for tree in conditions:
        for one, other in _equal_sides(tree):
            if isinstance(other, trees.ColumnName) and other.relation == answers.alias:
                equal |= {other.column} if one in search.keys else set()
    return needed <= equal


def _is_one_value(item: tuple[trees.Tree, str]) -> bool:
    """Whether no function in it can give several rows."""
    calls = (part for part in parts(item[0]) if isinstance(part, trees.Call))
    return all(one.over is not None or is_aggregate(one) or one.name in SCALARS for one in calls)


def _unique(item: trees.FromItem, ctes: Ctes) -> frozenset[str] | None:
    """Columns in which no two rows of answers are alike; None: not known."""
    if isinstance(item, trees.QueryInFrom):
        query, around, columns = item.query, ctes, item.columns
    elif isinstance(item, trees.TableInFrom) and (cte := cte_of(item, ctes)) is not None:
        query, around, columns = cte.tree.query, cte.around, item.columns or cte.tree.columns
    else:
        return None
    if not isinstance(query, trees.SelectTree) or not all(map(_is_one_value, query.items)):
        return None
    names = [name or getattr(tree, "column", "?column?") for tree, name in query.items]
    names[: len(columns)] = columns
    shown = {tree: name for name, (tree, _) in zip(names, query.items, strict=True)}
    if query.group and not any(isinstance(one, trees.GroupingSets) for one in query.group):
        keys = list(key_sets(query)[0])
        return frozenset(shown[key] for key in keys) if all(k in shown for k in keys) else None
    if query.is_distinct and not query.distinct_on:
        return frozenset(names)
    if not query.group and has_aggregate(query.items):
        return frozenset()
    inner = query.source[0] if len(query.source) == 1 else None
    below = None if inner is None else _unique(inner, with_ctes(query, around))
    if below is None or not isinstance(inner, trees.TableInFrom | trees.QueryInFrom):
        return None
    wanted = [trees.ColumnName(inner.alias, name) for name in sorted(below)]
    return frozenset(shown[one] for one in wanted) if all(one in shown for one in wanted) else None
