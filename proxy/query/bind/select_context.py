"""One SELECT that aggregates protected rows, with what names mean in it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import TokenType, exp

from proxy.base.errors import Refusal
from proxy.query.bind.scope import Scope
from proxy.query.bind.sources import Sources
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import Select, Span, is_call
from proxy.query.syntax.slices import parse_item
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed, Lexeme


@dataclass(frozen=True, slots=True)
class OutputItem:
    """An item of the SELECT list. inner: the lexemes of its expression, without the alias."""

    span: Span
    node: exp.Expr
    alias: str | None
    inner: Span


@dataclass(frozen=True, slots=True)
class SelectContext:
    """items: of the SELECT list, in order."""

    sources: Sources
    select: Select
    scope: Scope
    items: tuple[OutputItem, ...]

    @property
    def lexed(self) -> Lexed:
        return self.sources.lexed

    def start(self) -> int:
        """1-based position of the SELECT in the statement."""
        return self.lexed.lexemes[self.select.keyword].position

    def words(self, span: Span) -> tuple[str, ...]:
        """Of an expression, folded: by them it is found again outside GROUP BY. A text is in its quotes, as it
        could be a name without them."""
        lexemes = self.lexed.lexemes[span[0] : span[1]]
        return tuple(x.name or self.lexed.text[x.start : x.end] for x in lexemes)

    def output_names(self) -> frozenset[str]:
        """The names of output columns, as far as they are known."""
        found = set()
        for item in self.items:
            implied = output_name(self.lexed, item.inner)
            name = item.alias or (implied.name if implied is not None else None)
            if name is not None:
                found.add(name)
        return frozenset(found)


def context_of(sources: Sources, select: Select, scope: Scope) -> SelectContext:
    """
    Refuses  UNSUPPORTED: an item of the list that the parser does not read as one
    """
    items = tuple(
        OutputItem(span, *parse_item(sources.lexed, span, sources.placeholders))
        for span in split_commas(sources.lexed, *select.items)
    )
    return SelectContext(sources, select, scope, items)


def placed(refusal: Refusal, lexeme: Lexeme) -> Refusal:
    """With the position of a lexeme, where it has none of its own."""
    return refusal if refusal.position is not None else refusal.at(lexeme.position)


# Calls and columns on tokens: what a word is where it stands.


# Before a bracket or an operand, no function's and no column's.
_NO_NAMES = frozenset(
    {
        *("all", "and", "any", "array", "as", "asc", "between", "by", "case", "desc", "distinct"),
        *("else", "end", "exists", "false", "filter", "from", "ilike", "in", "interval", "is"),
        *("like", "not", "null", "on", "or", "over", "row", "select", "similar", "some"),
        *("symmetric", "then", "to", "true", "using", "values", "when", "where", "with"),
    }
)


def call_end(context: SelectContext, index: int) -> int | None:
    """Where a function's call or a column's name ends that begins at a lexeme; None of anything else."""
    lexed = context.lexed
    lexemes = lexed.lexemes
    if not lexemes[index].name or (index > 0 and is_no_column(lexed, index)):
        return None
    last = lexed.name_end(index)
    if not is_call(lexed, last):
        is_typed = lexemes[last + 1 : last + 2] and (lexemes[last + 1].kind is TokenType.STRING)
        return None if is_typed or lexemes[index].word in _NO_NAMES else last + 1
    return None if lexemes[last].word in _NO_NAMES else lexed.partner[last + 1] + 1


def is_no_column(lexed: Lexed, index: int) -> bool:
    """Whether a word is a type after :: or AS, a part of a longer name, a field of extract(field FROM ...), AT
    TIME ZONE."""
    before = lexed.lexemes[index - 1]
    if before.kind in (TokenType.DCOLON, TokenType.DOT) or before.word == "as":
        return True
    following = lexed.lexemes[index + 1].word if index + 1 < len(lexed.lexemes) else ""
    if lexed.lexemes[index].word == "at" and following == "time":
        return True
    called = lexed.lexemes[index - 2].word if index > 1 else ""
    return following == "from" and called in ("extract", "trim", "substring", "overlay")
