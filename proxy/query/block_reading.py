"""One SELECT that aggregates protected rows, read: its typed Block and what to change in its text.

Aggregates, keys and FROM are exchanged for columns of the noised relation; HAVING becomes WHERE; all else
stays as it is (design/DESIGN.md 2).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import TokenType, exp

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.aggregate_reading import is_aggregate, read_aggregate
from proxy.query.blocks import (
    AGGREGATES,
    OTHER_AGGREGATES,
    Select,
    Span,
    is_call,
    opens_query,
    own_lexemes,
)
from proxy.query.expressions import ColumnRef, Expression
from proxy.query.query import Block, Key
from proxy.query.query_aggregates import Aggregate
from proxy.query.reading import read_expression
from proxy.query.relations import Relation
from proxy.query.residual import Edit, column_name, quoted, recordset
from proxy.query.scope import ColumnType, Scope
from proxy.query.slices import HINT as _ASK
from proxy.query.slices import parse, parse_item
from proxy.query.sources import Sources
from proxy.query.statements import split_commas
from proxy.query.tokens import Lexed, Lexeme, fold

_ORDERED_SET = frozenset({"percentile_cont", "percentile_disc"})
_INTERVALS = {"low": "l", "high": "h", "error": "e"}


@dataclass(frozen=True, slots=True)
class ReadBlock:
    block: Block
    edits: tuple[Edit, ...]


@dataclass(slots=True)
class _Reader:
    sources: Sources
    select: Select
    relation: Relation
    scope: Scope
    parameter: int
    block_name: str
    aggregates: dict[Aggregate, int] = field(default_factory=dict)
    intervals: set[str] = field(default_factory=set)
    edits: list[Edit] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    signatures: list[tuple[str, ...]] = field(default_factory=list)
    output_names: set[str] = field(default_factory=set)
    items: dict[Span, tuple[exp.Expr, str | None, Span]] = field(default_factory=dict)

    @property
    def lexed(self) -> Lexed:
        return self.sources.lexed


def read_block(sources: Sources, select: Select, parameter: int, block_name: str) -> ReadBlock:
    """The typed block of one SELECT and the edits that put the noised relation in its place.

    Refuses  every construct that is not known to be safe, with its position
    """
    lexed = sources.lexed
    _no_empty_clause(lexed, select)
    relation, scope = sources.source(select)
    relation, where = sources.where(select, relation, scope)
    reader = _Reader(sources, select, relation, scope, parameter, block_name)
    _output_names(reader)
    _keys(reader)
    for name in ("items", "having", "window", "order", "limit", "offset", "fetch"):
        if name in select.clauses:
            _exchange(reader, name)
    _exchange_relation(reader)
    if len(reader.aggregates) > limits.RELEASES_PER_STATEMENT:
        raise Refusal(
            Code.TOO_COMPLEX,
            f"more than {limits.RELEASES_PER_STATEMENT} different aggregates in one statement",
            "Ask several questions.",
            lexed.lexemes[select.keyword].position,
        )
    grouped = "group" in select.clauses or select.distinct
    if not grouped and not reader.aggregates:  # count(*) OVER () and the like
        raise Refusal(
            Code.RAW_ROWS, "rows of a protected table cannot be read", _ASK, _start(reader)
        )
    block = Block(
        reader.relation,
        where,
        tuple(reader.keys),
        grouped,
        tuple(reader.aggregates),
        frozenset(reader.intervals),
    )
    return ReadBlock(block, tuple(reader.edits))


def read_scalar(sources: Sources, select: Select) -> Aggregate:
    """The one aggregate of a scalar subquery: `SELECT avg(x) FROM t WHERE ...`.

    Refuses  UNSUPPORTED: groups, several columns, arithmetic around the aggregate
    """
    items = split_commas(sources.lexed, *select.items)
    extra = set(select.clauses) - {"items", "from", "where"}
    node = parse_item(sources.lexed, items[0], sources.scalars)[0]
    if len(items) != 1 or extra or select.distinct or not is_aggregate(node):
        raise Refusal(
            Code.UNSUPPORTED,
            "a subquery in a condition on a protected table must be one aggregate of a table",
            "Write (SELECT avg(column) FROM table), or ask for the value first.",
            sources.lexed.lexemes[select.keyword].position,
        )
    _, scope = sources.source(select)
    return read_aggregate(node, scope)


def _at(refusal: Refusal, lexeme: Lexeme) -> Refusal:
    return refusal if refusal.position is not None else refusal.at(lexeme.position)


def _no_empty_clause(lexed: Lexed, select: Select) -> None:
    """PostgreSQL has accepted the statement, so a clause without content means that we cut it wrongly."""
    for first, last in select.clauses.values():
        if first >= last:
            raise Refusal(
                Code.UNSUPPORTED,
                "a clause of the question cannot be read",
                _ASK,
                lexed.lexemes[select.keyword].position,
            )


def _items(reader: _Reader) -> tuple[Span, ...]:
    return split_commas(reader.lexed, *reader.select.items)


def _item(reader: _Reader, span: Span) -> tuple[exp.Expr, str | None, Span]:
    if span not in reader.items:
        reader.items[span] = parse_item(reader.lexed, span, reader.sources.scalars)
    return reader.items[span]


def _output_names(reader: _Reader) -> None:
    for span in _items(reader):
        node, alias, _ = _item(reader, span)
        name = alias or column_name(node, reader.lexed.lexemes[span[0]].word)
        if name is not None:
            reader.output_names.add(name)


def _keys(reader: _Reader) -> None:
    """GROUP BY: input columns first, then output names, then ordinals (manual 7.2.3, SELECT)."""
    clauses = reader.select.clauses
    if reader.select.distinct and "group" not in clauses:
        if reader.lexed.lexemes[reader.select.keyword + 2].word == "on":
            raise Refusal(Code.RAW_ROWS, "DISTINCT ON reads rows", _ASK, _start(reader))
        spans = () if _has_aggregate(reader) else tuple(_item(reader, s)[2] for s in _items(reader))
    else:
        spans = split_commas(reader.lexed, *clauses["group"]) if "group" in clauses else ()
    for span in spans:
        key, place = _key(reader, span)
        if key.expression not in [known.expression for known in reader.keys]:
            reader.keys.append(key)
            reader.signatures.append(_signature(reader, place))


def _start(reader: _Reader) -> int:
    return reader.lexed.lexemes[reader.select.keyword].position


def _has_aggregate(reader: _Reader) -> bool:
    lexed = reader.lexed
    return any(
        lexed.lexemes[i].name in AGGREGATES and is_call(lexed, i)
        for i in own_lexemes(lexed, reader.select.items)
    )


def _key(reader: _Reader, span: Span) -> tuple[Key, Span]:
    lexeme = reader.lexed.lexemes[span[0]]
    node = parse(reader.lexed, span, reader.sources.scalars)
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Literal) and not node.is_string and span[1] - span[0] == 1:
        return _ordinal(reader, int(str(node.this)), lexeme)
    if isinstance(node, exp.Column) and not node.args.get("table"):
        name = lexeme.name if span[1] - span[0] == 1 else fold(node.name)
        aliased = _aliased(reader, name)
        if reader.scope.find((), name) is None and aliased is not None:
            return _key_of(reader, *aliased)
    return _key_of(reader, node, span)


def _ordinal(reader: _Reader, number: int, lexeme: Lexeme) -> tuple[Key, Span]:
    spans = _items(reader)
    if not 1 <= number <= len(spans):
        raise Refusal(
            Code.SYNTAX, f"GROUP BY position {number} is not in select list", _ASK, lexeme.position
        )
    node, _, span = _item(reader, spans[number - 1])
    return _key_of(reader, node, span)


def _aliased(reader: _Reader, name: str) -> tuple[exp.Expr, Span] | None:
    for span in _items(reader):
        node, alias, inner = _item(reader, span)
        if alias == name:
            return node, inner
    return None


def _key_of(reader: _Reader, node: exp.Expr, span: Span) -> tuple[Key, Span]:
    lexeme = reader.lexed.lexemes[span[0]]
    try:
        expression = read_expression(node, reader.scope)
    except Refusal as refusal:
        raise _at(refusal, lexeme) from None
    kind = _column_type(reader, expression)
    return Key(expression, kind.type, kind.type_name, lexeme.position), span


def _column_type(reader: _Reader, expression: Expression) -> ColumnType:
    if isinstance(expression, ColumnRef):
        for relation in reader.scope.relations:
            if relation.alias == expression.relation and expression.column in relation.columns:
                return relation.columns[expression.column]
    kind = expression.type or SqlType.TEXT
    return ColumnType(kind, kind.sql)


def _exchange(reader: _Reader, clause: str) -> None:
    """Aggregates and keys of one clause, exchanged for columns of the noised relation."""
    span = reader.select.clauses[clause]
    parts = split_commas(reader.lexed, *span) if clause in ("items", "order") else (span,)
    for part in parts:
        if clause == "items":
            node, alias, inner = _item(reader, part)
            if isinstance(node, exp.Star) or (
                isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
            ):
                raise Refusal(
                    Code.RAW_ROWS,
                    "rows of a protected table cannot be read",
                    _ASK,
                    reader.lexed.lexemes[part[0]].position,
                )
            changed = _exchange_span(reader, inner)
            name = column_name(node, reader.lexed.lexemes[inner[0]].word)
            if changed and alias is None and name is not None:
                end = reader.lexed.lexemes[inner[1] - 1].end
                reader.edits.append(Edit(end, end, f" AS {quoted(name)}"))
        elif clause == "order" and _is_output_name(reader, part):
            continue
        else:
            _exchange_span(reader, part)


def _is_output_name(reader: _Reader, part: Span) -> bool:
    """ORDER BY with a bare name means the output column of that name first (manual, SELECT)."""
    lexemes = reader.lexed.lexemes[part[0] : part[1]]
    rest = {lexeme.word for lexeme in lexemes[1:]}
    return bool(lexemes) and lexemes[0].name in reader.output_names and rest <= {
        "asc", "desc", "nulls", "first", "last",
    }  # fmt: skip


def _exchange_span(reader: _Reader, span: Span) -> bool:
    """Gives whether anything was exchanged."""
    lexed = reader.lexed
    changed = False
    index = span[0]
    while index < span[1]:
        lexeme = lexed.lexemes[index]
        if opens_query(lexed, index):
            index = lexed.partner[index] + 1
            continue
        after = (
            _interval(reader, index)
            or _aggregate_at(reader, index)
            or _key_expression_at(reader, index)
            or _key_at(reader, index)
        )
        if after is None:
            index += 1
            continue
        end, replacement = after
        if replacement is not None:
            reader.edits.append(Edit(lexeme.start, lexed.lexemes[end - 1].end, replacement))
            changed = True
        index = end
    return changed


def _interval(reader: _Reader, index: int) -> tuple[int, str | None] | None:
    """dp.low(aggregate), dp.high(aggregate), dp.error(aggregate)."""
    lexemes = reader.lexed.lexemes
    if (
        index + 3 >= len(lexemes)
        or lexemes[index].name != "dp"
        or lexemes[index + 1].token.token_type is not TokenType.DOT
        or lexemes[index + 2].name not in _INTERVALS
        or not is_call(reader.lexed, index + 2)
    ):
        return None
    close = reader.lexed.partner[index + 3]
    inner = _aggregate_span(reader, index + 4)
    if inner is None or inner[1] != close:
        raise Refusal(
            Code.UNSUPPORTED,
            f"dp.{lexemes[index + 2].name}() takes one aggregate over a protected table",
            f"Write dp.{lexemes[index + 2].name}(count(*)) or the like.",
            lexemes[index].position,
        )
    number = _number(reader, inner)
    column = f"{_INTERVALS[lexemes[index + 2].name]}{number}"
    reader.intervals.add(column)
    return close + 1, f"dp_{reader.block_name}.{column}"


def _aggregate_at(reader: _Reader, index: int) -> tuple[int, str | None] | None:
    span = _aggregate_span(reader, index)
    if span is None:
        return None
    return span[1], f"dp_{reader.block_name}.a{_number(reader, span)}"


def _aggregate_span(reader: _Reader, index: int) -> Span | None:
    """The lexemes of an aggregate call with its FILTER, if one starts here."""
    lexed = reader.lexed
    lexemes = lexed.lexemes
    at = index
    if (
        lexemes[at].name == "pg_catalog"
        and at + 2 < len(lexemes)
        and lexemes[at + 1].token.token_type is TokenType.DOT
    ):
        at += 2
    elif index > 0 and lexemes[index - 1].token.token_type is TokenType.DOT:
        return None
    name = lexemes[at].name
    if not is_call(lexed, at) or name not in AGGREGATES | OTHER_AGGREGATES:
        return None
    end = lexed.partner[at + 1] + 1
    if name in _ORDERED_SET and end + 2 < len(lexemes) and lexemes[end].word == "within":
        end = lexed.partner[end + 2] + 1  # WITHIN GROUP (ORDER BY ...)
    if end + 1 < len(lexemes) and lexemes[end].word == "filter" and is_call(lexed, end):
        end = lexed.partner[end + 1] + 1
    following = lexemes[end].word if end < len(lexemes) else ""
    if following == "over":
        return (
            None  # a window function over results: what is inside its brackets is looked at in turn
        )
    if name in OTHER_AGGREGATES or following == "within":
        raise Refusal(
            Code.FUNCTION,
            f"aggregate {name} is not available on a protected table",
            "Available are count, sum, avg, min, max, variance, stddev, percentile_cont and percentile_disc.",
            lexemes[index].position,
        )
    return index, end


def _number(reader: _Reader, span: Span) -> int:
    """The number of an aggregate among the block's distinct ones."""
    aggregate = _aggregate(reader, span)
    return reader.aggregates.setdefault(aggregate, len(reader.aggregates) + 1)


def _aggregate(reader: _Reader, span: Span) -> Aggregate:
    first = reader.lexed.lexemes[span[0]]
    start = span[0] + (2 if first.name == "pg_catalog" else 0)
    node = parse(reader.lexed, (start, span[1]), reader.sources.scalars)
    try:
        return replace(read_aggregate(node, reader.scope), position=first.position)
    except Refusal as refusal:
        raise _at(refusal, first) from None


def _key_at(reader: _Reader, index: int) -> tuple[int, str | None] | None:
    """A column name: a key is exchanged, any other column of the table is a refusal."""
    lexed = reader.lexed
    lexemes = lexed.lexemes
    if not lexemes[index].name or (index > 0 and _is_no_column(lexed, index)):
        return None
    last = index
    while (
        last + 2 < len(lexemes)
        and lexemes[last + 1].token.token_type is TokenType.DOT
        and lexemes[last + 2].name
    ):
        last += 2
    name = lexemes[last].name
    qualifier = tuple(lexemes[i].name for i in range(index, last, 2))
    if qualifier and not any(qualifier in r.qualifiers for r in reader.scope.relations):
        return last + 1, None
    after = lexemes[last + 1].token.token_type if last + 1 < len(lexemes) else None
    if after in (TokenType.L_PAREN, TokenType.STRING):
        return last + 1, None
    found = reader.scope.find(qualifier, name)
    for number, key in enumerate(reader.keys, start=1):
        if found is not None and key.expression == found:
            return last + 1, f"dp_{reader.block_name}.k{number}"
    whole_row = not qualifier and any((name,) in r.qualifiers for r in reader.scope.relations)
    if found is not None or whole_row:
        raise Refusal(
            Code.RAW_ROWS,
            f'"{name}" of a protected table can only be read inside an aggregate or as a GROUP BY key',
            _ASK,
            lexemes[index].position,
        )
    return last + 1, None


def _signature(reader: _Reader, span: Span) -> tuple[str, ...]:
    """The words of an expression, folded, by which it is found again outside GROUP BY."""
    return tuple(x.name or x.token.text for x in reader.lexed.lexemes[span[0] : span[1]])


def _key_expression_at(reader: _Reader, index: int) -> tuple[int, str | None] | None:
    """A key that is an expression, written again word for word."""
    lexemes = reader.lexed.lexemes
    for number, signature in enumerate(reader.signatures, start=1):
        end = index + len(signature)
        if (
            len(signature) > 1
            and end <= len(lexemes)
            and _signature(reader, (index, end)) == signature
        ):
            return end, f"dp_{reader.block_name}.k{number}"
    return None


def _is_no_column(lexed: Lexed, index: int) -> bool:
    """A type after :: or AS, a part of a longer name, a field of extract(field FROM ...), AT TIME ZONE."""
    before = lexed.lexemes[index - 1]
    if before.token.token_type in (TokenType.DCOLON, TokenType.DOT) or before.word == "as":
        return True
    following = lexed.lexemes[index + 1].word if index + 1 < len(lexed.lexemes) else ""
    if lexed.lexemes[index].word == "at" and following == "time":
        return True
    called = lexed.lexemes[index - 2].word if index > 1 else ""
    return following == "from" and called in ("extract", "trim", "substring", "overlay")


def _exchange_relation(reader: _Reader) -> None:
    """FROM, WHERE and GROUP BY give way to the noised relation; HAVING becomes its WHERE."""
    lexemes = reader.lexed.lexemes
    clauses = reader.select.clauses
    last = max(clauses[name][1] for name in ("from", "where", "group") if name in clauses)
    first = clauses["from"][0] - 1
    columns = [(f"k{i}", key.type_name) for i, key in enumerate(reader.keys, start=1)]
    for aggregate, number in reader.aggregates.items():
        columns.append((f"a{number}", aggregate.type.sql))
        for column in (f"l{number}", f"h{number}", f"e{number}"):
            if column in reader.intervals:
                kind = SqlType.FLOAT8 if column.startswith("e") else aggregate.type
                columns.append((column, kind.sql))
    text = recordset(reader.parameter, reader.block_name, columns)
    reader.edits.append(Edit(lexemes[first].start, lexemes[last - 1].end, text))
    if "having" in clauses:
        keyword = lexemes[clauses["having"][0] - 1]
        reader.edits.append(Edit(keyword.start, keyword.end, "WHERE"))
