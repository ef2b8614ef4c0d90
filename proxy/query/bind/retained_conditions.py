"""WHERE and ON parted where rows meet answers: conditions on rows alone, and those that compare them with
answers, which stay in the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import TokenType, exp

from proxy.base.errors import Code, Refusal
from proxy.query.bind.scope import Scope, column_name
from proxy.query.bind.source_reading import nature_of, source_of
from proxy.query.bind.sources import Nature, Sources
from proxy.query.syntax.from_clause import QueryItem, TableItem, leaves
from proxy.query.syntax.placeholder_tokens import Placeholder, PublicSubquery, RowSubquery
from proxy.query.syntax.placeholders import ScalarAnswer
from proxy.query.syntax.selects import Select, Span, conjuncts, is_relation, opens_query
from proxy.query.syntax.slices import HINT, parse

_APART = (
    "Name what it says in a subquery of the table, and compare the name: FROM (SELECT *, EXISTS (SELECT 1 FROM"
    " ...) AS found FROM table) t JOIN (SELECT ...) q ON ... WHERE found OR q.n > 3."
)
_AGGREGATE_CLAUSES = {"items", "from", "where"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """settled: on rows alone; retained: all others; of_where: those of WHERE that are retained; of_join: by the
    place of a join, those of its ON."""

    settled: tuple[Span, ...]
    retained: tuple[Span, ...]
    of_where: tuple[Span, ...]
    of_join: Mapping[int, tuple[Span, ...]]


def parted_conditions(sources: Sources, select: Select, scope: Scope) -> Conditions:
    """
    Given    a SELECT of which the source has been read; scope: of its rows
    """
    joins = sources.joined[select.keyword].joins
    settled: list[Span] = []
    of_where: list[Span] = []
    of_join: dict[int, tuple[Span, ...]] = {}
    for span in _conjuncts(sources, select.clauses.get("where")):
        is_retained = _compares_with_list(sources, span) or (
            joins and not _is_settled(sources, span, scope)
        )
        if is_retained:
            _refuse_row_subquery(sources, span, scope)
        (of_where if is_retained else settled).append(span)
    for join in joins:
        spans = _conjuncts(sources, join.on)
        # What an outer join's condition says of a row decides whether it has a partner, not whether it stays.
        on_rows = [s for s in spans if not join.preserves_rows and _is_settled(sources, s, scope)]
        settled += on_rows
        of_join[join.place] = tuple(span for span in spans if span not in on_rows)
        for span in of_join[join.place]:
            _refuse_row_subquery(sources, span, scope)
    retained = (*of_where, *(span for spans in of_join.values() for span in spans))
    return Conditions(
        settled=tuple(settled), retained=retained, of_where=tuple(of_where), of_join=of_join
    )


def retained_spans(sources: Sources, select: Select) -> Iterator[Span]:
    """What stays in the text of a SELECT on protected rows: its subqueries are answered there."""
    items = leaves(sources.rows_item(select))
    has_query = any(isinstance(item, QueryItem) or sources.cte(item) for item in items)
    where = select.clauses.get("where")
    if not (len(items) > 1 and has_query) and (
        where is None or not _compares_with_list(sources, where)
    ):
        return
    _, scope = source_of(sources, select)
    yield from (join.answers.span for join in sources.joined[select.keyword].joins)
    yield from parted_conditions(sources, select, scope).retained


def is_of_rows(node: exp.Expr, scope: Scope) -> bool | None:
    """Whether an expression reads columns of rows and no others; None: of both."""
    found = {_is_of_rows(column, scope) for column in node.find_all(exp.Column)}
    return None if len(found) == 2 else True in found


def _is_of_rows(column: exp.Column, scope: Scope) -> bool:
    """Also of a column that the policy does not show, and of a row as a whole: they are no answer's."""
    qualifier, name = column_name(column)
    if qualifier:
        return any(qualifier in relation.qualifiers for relation in scope.relations)
    return name in scope.merged or any(
        name in relation.columns or (name,) in relation.qualifiers for relation in scope.relations
    )


def _conjuncts(sources: Sources, span: Span | None) -> tuple[Span, ...]:
    """
    Refuses  UNSUPPORTED: what the parser takes apart differently
    """
    if span is None or span[0] >= span[1]:
        return ()
    parts = conjuncts(sources.lexed, span)
    if len(parts) > 1:
        whole = parse(sources.lexed, span, _with_subqueries(sources, span))
        if len(list(_operands(whole))) != len(parts):
            raise Refusal(
                Code.UNSUPPORTED,
                "a condition of this query on a protected table is not supported",
                HINT,
                sources.lexed.lexemes[span[0]].position,
            )
    return parts


def _operands(node: exp.Expr) -> Iterator[exp.Expr]:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.And):
        yield from _operands(node.this)
        yield from _operands(node.expression)
    else:
        yield node


def _is_settled(sources: Sources, span: Span, scope: Scope) -> bool:
    """What a subquery asks of each row is settled with the rows, as far as it names no answer."""
    node = parse(sources.lexed, span, _with_subqueries(sources, span))
    found = {_is_of_rows(column, scope) for column in node.find_all(exp.Column)}
    for _, names in _row_subqueries(sources, span, scope):
        found |= names
    return found == {True}


def _row_subqueries(sources: Sources, span: Span, scope: Scope) -> Iterator[tuple[int, set[bool]]]:
    """Subqueries that are asked of each row, by their first lexemes: whether they name rows of the SELECT
    around them (True), as each of a protected table does, and answers beside these (False)."""
    for index in range(*span):
        placeholder = sources.placeholders.get(index)
        if not isinstance(placeholder, RowSubquery):
            continue
        select = sources.of_rows[placeholder.index]
        own = set(_aliases(leaves(sources.rows_item(select))))
        named = set(_qualifiers(sources, (select.keyword, select.end))) - own
        answers = set(
            _aliases(
                leaf
                for joined in sources.joined.values()
                for join in joined.joins
                for leaf in leaves(join.answers)
            )
        )
        found = {
            name not in answers for name in named if _is_around(name, scope) or name in answers
        }
        yield index, found | ({True} if nature_of(sources, select) is Nature.ROWS else set())


def _is_around(name: str, scope: Scope) -> bool:
    return any((name,) in relation.qualifiers for relation in scope.relations)


def _qualifiers(sources: Sources, span: Span) -> Iterator[str]:
    lexemes = sources.lexed.lexemes
    for index in range(span[0], span[1] - 1):
        if lexemes[index].name and lexemes[index + 1].kind is TokenType.DOT:
            yield lexemes[index].name


def _aliases(items: Iterable[TableItem | QueryItem]) -> Iterator[str]:
    for item in items:
        if item.alias is not None:
            yield item.alias
        elif isinstance(item, TableItem):
            yield item.chain[-1]


def _refuse_row_subquery(sources: Sources, span: Span, scope: Scope) -> None:
    """
    Given    a condition that stays in the text, where protected rows are not
    Refuses  UNSUPPORTED: one with a subquery that is asked of each of them
    """
    for index, names in _row_subqueries(sources, span, scope):
        if True in names:
            raise Refusal(
                Code.UNSUPPORTED,
                "a subquery about each row cannot be in one condition with the answers of another query",
                _APART,
                sources.lexed.lexemes[index].position,
            )


def _with_subqueries(sources: Sources, span: Span) -> dict[int, Placeholder]:
    """Placeholders for all subqueries, so that no column of theirs is taken for one of the condition."""
    lexed = sources.lexed
    found: dict[int, Placeholder] = dict(sources.placeholders)
    for index in range(*span):
        if opens_query(lexed, index) and index not in found:
            is_list = lexed.lexemes[index - 1].word == "in"
            found[index] = PublicSubquery(0) if is_list else ScalarAnswer(0)
    return found


def _compares_with_list(sources: Sources, span: Span) -> bool:
    """Whether x IN (SELECT ...) stands in a condition, of answers with groups or made of such."""
    lexed = sources.lexed
    index = span[0]
    while index < span[1]:
        if opens_query(lexed, index):
            if lexed.lexemes[index - 1].word == "in" and _is_answer_list(sources, index):
                return True
            index = lexed.partner[index]
        index += 1
    return False


def _is_answer_list(sources: Sources, bracket: int) -> bool:
    close = sources.lexed.partner[bracket]
    first = next((s for s in sources.selects if s.keyword == bracket + 1), None)
    if first is not None and first.end == close and nature_of(sources, first) is not Nature.CLEAN:
        is_scalar = first.clauses.keys() <= _AGGREGATE_CLAUSES and not first.distinct
        return nature_of(sources, first) is Nature.AGGREGATES and not is_scalar
    return _has_answers(sources, (bracket + 1, close), frozenset())


def _has_answers(sources: Sources, span: Span, within: frozenset[Span]) -> bool:
    """Whether aggregate subqueries stand among some lexemes, or in a CTE that is named there."""
    if span in within:
        return False
    if any(
        span[0] <= select.keyword < span[1] and nature_of(sources, select) is Nature.AGGREGATES
        for select in sources.selects
    ):
        return True
    names = {
        sources.lexed.lexemes[index].name
        for index in range(*span)
        if sources.lexed.lexemes[index].name and is_relation(sources.lexed, index)
    }
    return any(
        cte.name in names
        and cte.span[0] <= span[0] < cte.span[1]
        and _has_answers(sources, cte.body, within | {span})
        for cte in sources.ctes
    )
