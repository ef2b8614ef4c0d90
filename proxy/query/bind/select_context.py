"""One SELECT that aggregates protected rows, with what names mean in it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from proxy.base.errors import Refusal
from proxy.query.bind.scope import Scope
from proxy.query.bind.sources import Sources
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import Select, Span
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
