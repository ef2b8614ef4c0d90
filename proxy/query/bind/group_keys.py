"""Keys of GROUP BY (or of SELECT DISTINCT) read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.query.bind.declared_types import declared_type
from proxy.query.bind.expression_reading import read_expression
from proxy.query.bind.select_context import SelectContext, placed
from proxy.query.ir.bound_statement import Level
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query import Key
from proxy.query.ir.typing_rules import ordinal
from proxy.query.syntax.grouping_sets import grouping_sets, is_distinct
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import (
    ANSWERED,
    Span,
    is_call,
    own_lexemes,
)
from proxy.query.syntax.slices import HINT as _RUN_BY_ITSELF
from proxy.query.syntax.slices import parse
from proxy.query.syntax.tokens import Lexeme, fold

_ONE_ROW = (
    "Aggregate one row of each unit: SELECT avg(total) FROM (SELECT DISTINCT ON (unit) unit, total FROM table"
    " ORDER BY unit, time DESC) q. For one row of each group write GROUP BY with aggregates."
)


@dataclass(frozen=True, slots=True)
class WrittenKey:
    """A key and the words by which its expression is found again elsewhere in the SELECT."""

    key: Key
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WrittenKeys:
    """keys: each once; levels: as of AggregateSubquery."""

    keys: tuple[WrittenKey, ...]
    levels: tuple[Level, ...]


def read_keys(context: SelectContext) -> WrittenKeys:
    """GROUP BY: input columns first, then output names, then ordinals (PostgreSQL 17 documentation, section
    7.2.3, SELECT), in GROUPING SETS as well.

    Refuses  UNSUPPORTED: a key that is another one to PostgreSQL in some levels than in others
    """
    sets = _sets(context)
    found: dict[Expression, WrittenKey] = {}
    read: dict[Span, Expression] = {}
    levels_of: dict[tuple[Key, int | tuple[str, ...]], set[int]] = {}
    for span in dict.fromkeys(span for level in sets for span in level):
        node, place = _group_item(context, span)
        written = key_of(context, node, place)
        read[span] = written.key.expression
        if written.key.expression not in found or isinstance(node, exp.Column):
            found[written.key.expression] = written
        there = {number for number, level in enumerate(sets) if span in level}
        key = replace(written.key, type_name="")  # a cast that changes no value makes no other key
        levels_of.setdefault((key, _item(context, node, place)), set()).update(there)
    _check_levels(levels_of)
    places = {expression: place for place, expression in enumerate(found)}
    levels = [tuple(sorted({places[read[span]] for span in level})) for level in sets]
    clauses = context.select.clauses
    if "group" in clauses and is_distinct(context.lexed, clauses["group"]):
        levels = list(dict.fromkeys(levels))
    return WrittenKeys(tuple(found.values()), tuple(levels))


def _item(context: SelectContext, node: exp.Expr, span: Span) -> int | tuple[str, ...]:
    """What a key is to PostgreSQL: the item of its ordinal or alias, the first item with its expression, or,
    where there is none, its own words.

    Source   PostgreSQL 17, parse_clause.c, findTargetlistEntrySQL92 and findTargetlistEntrySQL99
    """
    # A column is one, whatever stands before its name.
    words = (fold(node.name),) if isinstance(node, exp.Column) else context.words(span)
    for number, item in enumerate(context.items):
        if item.inner == span:
            return number
    for number, item in enumerate(context.items):
        is_column = isinstance(item.node, exp.Column)
        if words == ((fold(item.node.name),) if is_column else context.words(item.inner)):
            return number
    return words


def _check_levels(levels_of: Mapping[tuple[Key, int | tuple[str, ...]], set[int]]) -> None:
    """In a level that has one of two keys only, the other is NULL, whatever their values are."""
    first: dict[Key, set[int]] = {}
    for (key, _), levels in levels_of.items():
        if first.setdefault(key, levels) != levels:
            raise Refusal(
                Code.UNSUPPORTED,
                "a key is written in two ways, of which some grouping sets have only one",
                "Write the key once, and with the same words wherever it stands among the keys.",
                key.position,
            )


def group_items(context: SelectContext) -> Iterator[tuple[exp.Expr, Span]]:
    """
    Gives    what a SELECT groups by, each expression, and where it is written: for names and ordinals among the
             items
    Refuses  UNSUPPORTED: several groupings
    """
    sets = _sets(context)
    if len(sets) > 1:
        raise Refusal(
            Code.UNSUPPORTED,
            "GROUPING SETS, ROLLUP and CUBE are not supported where rows are joined or compared with answers",
            "Run a statement for each grouping.",
            context.lexed.lexemes[context.select.clauses["group"][0]].position,
        )
    for span in sets[0]:
        yield _group_item(context, span)


def _sets(context: SelectContext) -> tuple[tuple[Span, ...], ...]:
    clauses = context.select.clauses
    if context.select.distinct and "group" not in clauses:
        if context.select.is_distinct_on and not _has_aggregate(context):
            refuse_first_rows(context.start())
        items = () if _has_aggregate(context) else tuple(item.inner for item in context.items)
        return (items,)
    return grouping_sets(context.lexed, clauses["group"]) if "group" in clauses else ((),)


def refuse_first_rows(position: int | None) -> NoReturn:
    """DISTINCT ON whose rows are the answer, or that are not those of units."""
    raise Refusal(
        Code.RAW_ROWS,
        "DISTINCT ON reads rows: ask for aggregates, e.g. SELECT column, count(*) FROM table"
        " GROUP BY column",
        _ONE_ROW,
        position,
    )


def _has_aggregate(context: SelectContext) -> bool:
    lexed = context.lexed
    return any(
        lexed.lexemes[i].name in ANSWERED and is_call(lexed, i)
        for i in own_lexemes(lexed, context.select.items)
    )


def _group_item(context: SelectContext, span: Span) -> tuple[exp.Expr, Span]:
    node = parse(context.lexed, span, context.sources.placeholders)  # which refuses an empty span
    lexeme = context.lexed.lexemes[span[0]]
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Literal) and not node.is_string and span[1] - span[0] == 1:
        return _ordinal(context, ordinal(str(node.this)), lexeme)
    if isinstance(node, exp.Column) and not node.args.get("table"):
        name = lexeme.name if span[1] - span[0] == 1 else fold(node.name)
        aliased = _aliased(context, name)
        if context.scope.find((), name) is None and aliased is not None:
            return aliased
    return node, span


def _ordinal(context: SelectContext, number: int | None, lexeme: Lexeme) -> tuple[exp.Expr, Span]:
    if number is None or not 1 <= number <= len(context.items):
        raise Refusal(
            Code.SYNTAX,
            f"GROUP BY position {'of this form' if number is None else number} is not in select list",
            _RUN_BY_ITSELF,
            lexeme.position,
        )
    item = context.items[number - 1]
    return item.node, item.inner


def _aliased(context: SelectContext, name: str) -> tuple[exp.Expr, Span] | None:
    for item in context.items:
        implied = output_name(context.lexed, item.inner) if item.alias is None else None
        if name == (item.alias if implied is None else implied.name):
            return item.node, item.inner
    return None


def key_of(context: SelectContext, node: exp.Expr, span: Span) -> WrittenKey:
    """
    Given    an expression and where it is written
    Refuses  what reading it refuses
    """
    lexeme = context.lexed.lexemes[span[0]]
    try:
        expression = read_expression(node, context.scope)
    except Refusal as refusal:
        raise placed(refusal, lexeme) from None
    kind = declared_type(node, expression, context.scope)
    key = Key(expression, kind.type, kind.type_name, lexeme.position)
    return WrittenKey(key, context.words(span))
