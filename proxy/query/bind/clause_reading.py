"""The clauses of a SELECT read in a scope: its conditions, its outputs and the columns that it groups by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from proxy.base.errors import Refusal
from proxy.query.bind.declared_types import all_columns, declared_type, named_apart
from proxy.query.bind.expression_reading import read_condition, read_expression
from proxy.query.bind.join_conditions import computed_keys, conjuncts, with_equalities
from proxy.query.bind.scope import ColumnType, Scope, column_name
from proxy.query.bind.sources import Sources
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.relations import Relation
from proxy.query.ir.typing_rules import ordinal
from proxy.query.syntax.output_names import NO_NAME, output_name
from proxy.query.syntax.selects import Select, Span, aggregates_rows, grouping_sets
from proxy.query.syntax.slices import parse, parse_item
from proxy.query.syntax.statements import split_commas


def read_where(
    sources: Sources, select: Select, relation: Relation, scope: Scope
) -> tuple[Relation, Expression | None]:
    """The WHERE of a SELECT; equalities in it complete joins that are written with commas."""
    span = select.clauses.get("where")
    if span is None:
        return relation, None
    condition = condition_of(sources, span, scope)
    relation = with_equalities(relation, condition)
    keys = computed_keys(sources, scope.relations)
    return keys.applied(relation, conjuncts(condition))[0], condition


def condition_of(sources: Sources, span: Span, scope: Scope) -> Expression:
    """WHERE, ON or HAVING; what is refused in it has a place, its first word at the worst."""
    node = parse(sources.lexed, span, sources.placeholders)  # which refuses an empty span
    place = sources.lexed.lexemes[span[0]].position
    try:
        return read_condition(node, scope)
    except Refusal as refusal:
        raise (refusal if refusal.position is not None else refusal.at(place)) from None


def outputs_of(
    sources: Sources, select: Select, scope: Scope
) -> list[tuple[str, Expression, ColumnType]]:
    """The items after SELECT: name, expression and type of each, * as the columns it stands for."""
    found: list[tuple[str, Expression, ColumnType]] = []
    for span in split_commas(sources.lexed, *select.items):
        node, alias, inner = parse_item(sources.lexed, span, sources.placeholders)
        if isinstance(node, exp.Star) and not node.args.get("except_"):
            found += all_columns(scope)
            continue
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            found += all_columns(scope, column_name(node)[0])
            continue
        place = sources.lexed.lexemes[span[0]].position
        try:
            expression = read_expression(node, scope)
        except Refusal as refusal:
            raise (refusal if refusal.position is not None else refusal.at(place)) from None
        named = output_name(sources.lexed, inner)
        name = alias or (NO_NAME if named is None else named.name)
        found.append((name, expression, declared_type(node, expression, scope)))
    return named_apart(found)


def key_column(sources: Sources, select: Select, span: Span, scope: Scope) -> ColumnRef | None:
    """The column that an item of GROUP BY names, by itself or by its number; None for anything else."""
    node = parse(sources.lexed, span, sources.placeholders)
    if isinstance(node, exp.Literal) and not node.is_string:
        items = split_commas(sources.lexed, *select.items)
        number = ordinal(node.name)
        if number is None or not 1 <= number <= len(items):
            return None
        node, _, _ = parse_item(sources.lexed, items[number - 1], sources.placeholders)
    if not isinstance(node, exp.Column):
        return None
    node = _of_output(sources, select, node, scope)
    try:
        found = read_expression(node, scope)
    except Refusal:
        return None
    return found if isinstance(found, ColumnRef) else None


def _of_output(sources: Sources, select: Select, node: exp.Column, scope: Scope) -> exp.Expr:
    """A name in GROUP BY that is no column's is that of an output (PostgreSQL 17 documentation, GROUP BY)."""
    qualifier, name = column_name(node)
    if qualifier or scope.find((), name) is not None:
        return node
    for item in split_commas(sources.lexed, *select.items):
        inner, alias, _ = parse_item(sources.lexed, item, sources.placeholders)
        if alias == name and inner is not None:
            return inner
    return node


def is_distinct_keys(sources: Sources, select: Select) -> bool:
    """DISTINCT, of which every output is a key."""
    aggregates = aggregates_rows(sources.lexed, replace(select, distinct=False))
    return select.distinct and not select.is_distinct_on and not aggregates


def is_first_rows(sources: Sources, select: Select) -> bool:
    """DISTINCT ON of rows: the first one of each of its keys."""
    aggregates = aggregates_rows(sources.lexed, replace(select, distinct=False))
    return select.is_distinct_on and not aggregates


def key_spans(sources: Sources, select: Select) -> Iterator[Span]:
    if "group" in select.clauses:
        levels = grouping_sets(sources.lexed, select.clauses["group"])
        yield from dict.fromkeys(span for level in levels for span in level)
        return
    if select.is_distinct_on:
        yield from split_commas(sources.lexed, *select.clauses["on"])
        return
    for span in split_commas(sources.lexed, *select.items):
        yield parse_item(sources.lexed, span, sources.placeholders)[2]
