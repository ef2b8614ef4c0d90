"""Keys of GROUP BY (or of SELECT DISTINCT) read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from sqlglot import TokenType, exp

from proxy.base.errors import Code, Refusal
from proxy.query.bind.declared_types import declared_type
from proxy.query.bind.expression_reading import read_expression
from proxy.query.bind.scope import Scope
from proxy.query.bind.select_context import SelectContext, is_no_column, placed
from proxy.query.ir import expressions as ir
from proxy.query.ir.bound_statement import KeyValue, Level
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query import Key
from proxy.query.ir.typing_rules import ordinal
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import (
    ANSWERED,
    Span,
    grouping_sets,
    is_call,
    is_distinct,
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


# Keys of GROUP BY where they are written again: as columns, word for word, in other words, in GROUPING().


_PLAIN = (ir.ColumnRef, ir.Constant, ir.Parameter)


def argument_of_grouping(context: SelectContext, keys: Sequence[WrittenKey], span: Span) -> Key:
    """
    Refuses  UNSUPPORTED: it is not written as in GROUP BY
    """
    # Before it is read as a column: an expression begins with a column that need be no key.
    found = key_in_other_words(context, keys, span)
    if found is None:
        end, column = column_at(context, keys, span[0])
        found = column if end == span[1] else None
    if found is None:
        raise Refusal(
            Code.UNSUPPORTED,
            "an argument of GROUPING() is not a key as it stands in GROUP BY",
            "Write the key in both places with the same words, e.g. GROUPING(column).",
            context.lexed.lexemes[span[0]].position,
        )
    return found.key


def repeated_key_at(
    context: SelectContext, keys: Sequence[WrittenKey], index: int
) -> tuple[int, KeyValue] | None:
    """A key that is an expression, written again word for word."""
    lexemes = context.lexed.lexemes
    for written in keys:
        end = index + len(written.words)
        if (
            len(written.words) > 1
            and end <= len(lexemes)
            and context.words((index, end)) == written.words
        ):
            return end, KeyValue(written.key)
    return None


def key_in_other_words(
    context: SelectContext, keys: Sequence[WrittenKey], span: Span
) -> KeyValue | None:
    """A key that is an expression, with other qualifiers, brackets or spellings than in GROUP BY."""
    computed = [one.key for one in keys if not isinstance(one.key.expression, _PLAIN)]
    if not computed:
        return None
    try:
        node = parse(context.lexed, span, context.sources.placeholders)
        expression = read_expression(node, context.scope)
    except Refusal:
        return None  # it may have aggregates in it
    for key in computed:
        if key.expression == expression:
            name = declared_type(node, expression, context.scope).type_name
            return KeyValue(key, "" if name == key.type_name else name)
    return None


def column_at(
    context: SelectContext, keys: Sequence[WrittenKey], index: int
) -> tuple[int, KeyValue | None]:
    """A column name: a key is one of the noisy relation, any other column of the table is a refusal."""
    lexed = context.lexed
    lexemes = lexed.lexemes
    if not lexemes[index].name or (index > 0 and is_no_column(lexed, index)):
        return index + 1, None
    last = lexed.name_end(index)
    name = lexemes[last].name
    qualifier = tuple(lexemes[i].name for i in range(index, last, 2))
    if qualifier and not any(qualifier in r.qualifiers for r in context.scope.relations):
        return last + 1, None
    after = lexemes[last + 1].kind if last + 1 < len(lexemes) else None
    if after in (TokenType.L_PAREN, TokenType.STRING):
        return last + 1, None
    found = context.scope.find(qualifier, name)
    for written in keys:
        if found is not None and written.key.expression == found:
            return last + 1, KeyValue(written.key)
    dependent = dependent_key(context, keys, (index, last + 1), found)
    if dependent is not None:
        return last + 1, KeyValue(dependent)
    whole_row = not qualifier and any((name,) in r.qualifiers for r in context.scope.relations)
    if found is not None or whole_row:
        whose = "" if _is_public(context, name) else " of a protected table"
        raise Refusal(
            Code.RAW_ROWS,
            f'"{name}"{whose} can only be read inside an aggregate or as a GROUP BY key',
            _RUN_BY_ITSELF,
            lexemes[index].position,
        )
    return last + 1, None


def dependent_key(
    context: SelectContext, keys: Sequence[WrittenKey], span: Span, column: ir.ColumnRef | None
) -> Key | None:
    """A column that depends on the keys, as one more key.

    Args:
        span: Where it is written.
        column: What is written there.
    """
    grouped = (written.key.expression for written in keys)
    if column is None or not depends_on_keys(context.scope, grouped, column):
        return None
    return key_of(context, parse(context.lexed, span, context.sources.placeholders), span).key


def depends_on_keys(scope: Scope, keys: Iterable[Expression], column: ir.ColumnRef) -> bool:
    """Whether rows are grouped by the primary key of a column's table, so that the column has one value in each
    group (PostgreSQL 17 documentation, section 7.2.3)."""
    by = {(one.relation, one.column) for one in keys if isinstance(one, ir.ColumnRef)}
    return any(
        relation.alias == column.relation
        and bool(relation.key)
        and by.issuperset((relation.alias, name) for name in relation.key)
        for relation in scope.relations
    )


def _is_public(context: SelectContext, name: str) -> bool:
    """Whether a column is of public tables alone."""
    of = [table.protected for table in context.sources.tables.values() if name in table.columns]
    return bool(of) and not any(of)
