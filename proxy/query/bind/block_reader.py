"""What is known of one SELECT while it is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from proxy.base.errors import Refusal
from proxy.base.result_columns import IntervalColumn
from proxy.query.bind.scope import Scope
from proxy.query.bind.sources import Sources
from proxy.query.ir.query import Key
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.relations import Relation
from proxy.query.syntax.blocks import (
    Select,
    Span,
)
from proxy.query.syntax.residual import Edit
from proxy.query.syntax.slices import parse_item
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed, Lexeme


@dataclass(slots=True)
class BlockReader:
    """Aggregates, keys and edits are added while its clauses are gone through."""

    sources: Sources
    select: Select
    relation: Relation
    scope: Scope
    parameter: int
    block_name: str
    aggregates: dict[Aggregate, int] = field(default_factory=dict)
    intervals: set[IntervalColumn] = field(default_factory=set)
    edits: list[Edit] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    signatures: list[tuple[str, ...]] = field(default_factory=list)
    output_names: set[str] = field(default_factory=set)
    items: dict[Span, tuple[exp.Expr, str | None, Span]] = field(default_factory=dict)

    @property
    def lexed(self) -> Lexed:
        return self.sources.lexed

    def selected(self) -> tuple[Span, ...]:
        """The items of the SELECT list."""
        return split_commas(self.lexed, *self.select.items)

    def item(self, span: Span) -> tuple[exp.Expr, str | None, Span]:
        """An item of the list: its expression, its alias, the lexemes of the expression."""
        if span not in self.items:
            self.items[span] = parse_item(self.lexed, span, self.sources.scalars)
        return self.items[span]

    def start(self) -> int:
        """1-based position of the SELECT in the statement."""
        return self.lexed.lexemes[self.select.keyword].position

    def signature(self, span: Span) -> tuple[str, ...]:
        """The words of an expression, folded, by which it is found again outside GROUP BY."""
        return tuple(x.name or x.token.text for x in self.lexed.lexemes[span[0] : span[1]])


def placed(refusal: Refusal, lexeme: Lexeme) -> Refusal:
    """With the position of a lexeme, where it has none of its own."""
    return refusal if refusal.position is not None else refusal.at(lexeme.position)
