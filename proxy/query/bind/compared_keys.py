"""GROUP BY keys that are compared with literals behind the answers: in HAVING, or WHERE of a query around.

Such a comparison is not part of the question. It is read for what is said of it alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.select_context import SelectContext
from proxy.query.bind.sources import Sources
from proxy.query.bind.span_reading import FoundSpans
from proxy.query.ir.bound_statement import KeyValue
from proxy.query.ir.expressions import Comparison, Constant
from proxy.query.ir.function_names import Comparator
from proxy.query.ir.query import Key
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import Select, Span, is_call
from proxy.query.syntax.slices import parse
from proxy.query.syntax.tokens import Lexed

_EQUAL = ("=", "<>", "!=")


def compared_keys(
    context: SelectContext, found: FoundSpans, around: tuple[Select, ...]
) -> tuple[Comparison, ...]:
    """Read the keys that are compared with literals for equality.

    Args:
        context: A SELECT with GROUP BY.
        found: What stands where in it.
        around: The queries around it that may have its groups.
    """
    lexed, sources = context.lexed, context.sources
    keys = {span: one.key for span, one in found.meanings.items() if isinstance(one, KeyValue)}
    compared: dict[Comparison, None] = {}
    having = context.select.clauses.get("having")
    for (first, last), key in keys.items():
        if having is not None and having[0] <= first < having[1]:
            compared.update(dict.fromkeys(_with_literals(sources, (first, last), key)))
    names: dict[str, Key] = {}
    for item in context.items:
        own = keys.get(item.inner)
        implied = output_name(lexed, item.inner) if item.alias is None else None
        name = item.alias or (implied.name if implied else "")
        if own is not None and name:
            names[name] = own
    for select in around:
        for clause in ("where", "having"):
            for index in range(*select.clauses.get(clause, (0, 0))):
                named = names.get(lexed.lexemes[index].name)
                if named is not None and not is_call(lexed, index):
                    found_here = _with_literals(sources, (index, index + 1), named)
                    compared.update(dict.fromkeys(found_here))
    return tuple(compared)


def _with_literals(sources: Sources, span: Span, key: Key) -> Iterator[Comparison]:
    for index in _beside(sources.lexed, span):
        try:
            node = parse(sources.lexed, (index, index + 1), sources.placeholders)
        except Refusal:
            continue
        if isinstance(node, exp.Literal):
            constant = Constant(value=str(node.this), type=SqlType.TEXT)
            yield Comparison(comparator=Comparator.EQ, left=key.expression, right=constant)


def _beside(lexed: Lexed, span: Span) -> Iterator[int]:
    """Where a literal may stand: `key = literal`, `literal = key`, `key [NOT] IN (literal, ...)`."""
    first, last = span
    lexemes = lexed.lexemes
    while first >= 2 and lexemes[first - 1].token.text == "." and lexemes[first - 2].name:
        first -= 2  # the name of a table
    if last + 1 < len(lexemes) and lexemes[last].token.text in _EQUAL:
        yield last + 1
    if first >= 2 and lexemes[first - 1].token.text in _EQUAL:
        yield first - 2
    place = last + 1 if last < len(lexemes) and lexemes[last].word == "not" else last
    if place + 1 < len(lexemes) and lexemes[place].word == "in":
        end = lexed.partner[place + 1]
        yield from range(place + 2, end, 2) if end > 0 else ()
