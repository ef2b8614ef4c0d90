"""Keys of GROUP BY (or of SELECT DISTINCT) read."""

from __future__ import annotations

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.block_reader import BlockReader, placed
from proxy.query.bind.reading import read_expression
from proxy.query.bind.scope import ColumnType
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query import Key
from proxy.query.ir.typing_rules import ordinal
from proxy.query.syntax.blocks import (
    AGGREGATES,
    Span,
    is_call,
    own_lexemes,
)
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.slices import HINT as _ASK
from proxy.query.syntax.slices import parse
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexeme, fold


def read_keys(reader: BlockReader) -> None:
    """GROUP BY: input columns first, then output names, then ordinals (manual 7.2.3, SELECT)."""
    clauses = reader.select.clauses
    if reader.select.distinct and "group" not in clauses:
        if reader.lexed.lexemes[reader.select.keyword + 2].word == "on":
            raise Refusal(Code.RAW_ROWS, "DISTINCT ON reads rows", _ASK, reader.start())
        spans = (
            () if _has_aggregate(reader) else tuple(reader.item(s)[2] for s in reader.selected())
        )
    else:
        spans = split_commas(reader.lexed, *clauses["group"]) if "group" in clauses else ()
    for span in spans:
        key, place = _key(reader, span)
        if key.expression not in [known.expression for known in reader.keys]:
            reader.keys.append(key)
            reader.signatures.append(reader.signature(place))


def _has_aggregate(reader: BlockReader) -> bool:
    lexed = reader.lexed
    return any(
        lexed.lexemes[i].name in AGGREGATES and is_call(lexed, i)
        for i in own_lexemes(lexed, reader.select.items)
    )


def _key(reader: BlockReader, span: Span) -> tuple[Key, Span]:
    node = parse(reader.lexed, span, reader.sources.scalars)  # which refuses an empty span
    lexeme = reader.lexed.lexemes[span[0]]
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Literal) and not node.is_string and span[1] - span[0] == 1:
        return _ordinal(reader, ordinal(str(node.this)), lexeme)
    if isinstance(node, exp.Column) and not node.args.get("table"):
        name = lexeme.name if span[1] - span[0] == 1 else fold(node.name)
        aliased = _aliased(reader, name)
        if reader.scope.find((), name) is None and aliased is not None:
            return _key_of(reader, *aliased)
    return _key_of(reader, node, span)


def _ordinal(reader: BlockReader, number: int | None, lexeme: Lexeme) -> tuple[Key, Span]:
    spans = reader.selected()
    if number is None or not 1 <= number <= len(spans):
        raise Refusal(
            Code.SYNTAX,
            f"GROUP BY position {'of this form' if number is None else number} is not in select list",
            _ASK,
            lexeme.position,
        )
    node, _, span = reader.item(spans[number - 1])
    return _key_of(reader, node, span)


def _aliased(reader: BlockReader, name: str) -> tuple[exp.Expr, Span] | None:
    for span in reader.selected():
        node, alias, inner = reader.item(span)
        implied = output_name(reader.lexed, inner) if alias is None else None
        if name == (alias if implied is None else implied.name):
            return node, inner
    return None


def _key_of(reader: BlockReader, node: exp.Expr, span: Span) -> tuple[Key, Span]:
    lexeme = reader.lexed.lexemes[span[0]]
    try:
        expression = read_expression(node, reader.scope)
    except Refusal as refusal:
        raise placed(refusal, lexeme) from None
    kind = _column_type(reader, expression)
    return Key(expression, kind.type, kind.type_name, lexeme.position), span


def _column_type(reader: BlockReader, expression: Expression) -> ColumnType:
    if isinstance(expression, ColumnRef):
        for relation in reader.scope.relations:
            if relation.alias == expression.relation and expression.column in relation.columns:
                return relation.columns[expression.column]
    kind = expression.type or SqlType.TEXT
    return ColumnType(kind, kind.sql)
