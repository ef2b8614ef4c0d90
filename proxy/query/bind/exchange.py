"""Aggregates and keys in the text of a SELECT, exchanged for columns of the noised relation."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import TokenType, exp

from proxy.base.errors import Code, Refusal
from proxy.query.bind.aggregate_reading import read_aggregate
from proxy.query.bind.block_reader import BlockReader, placed
from proxy.query.ir import expressions as ir
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.syntax.blocks import (
    AGGREGATES,
    AVAILABLE,
    OTHER_AGGREGATES,
    Span,
    is_call,
    opens_query,
)
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.residual import Edit, quoted
from proxy.query.syntax.slices import HINT as _ASK
from proxy.query.syntax.slices import parse
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed

_ORDERED_SET = frozenset({"percentile_cont", "percentile_disc"})
_INTERVALS = {"low": "l", "high": "h", "error": "e"}


def exchange(reader: BlockReader, clause: str) -> None:
    """Aggregates and keys of one clause, exchanged for columns of the noised relation."""
    span = reader.select.clauses[clause]
    parts = split_commas(reader.lexed, *span) if clause in ("items", "order") else (span,)
    for part in parts:
        if clause == "items":
            node, alias, inner = reader.item(part)
            if isinstance(node, exp.Star) or (
                isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
            ):
                raise Refusal(
                    Code.RAW_ROWS,
                    "rows of a protected table cannot be read",
                    _ASK,
                    reader.lexed.lexemes[part[0]].position,
                )
            before = len(reader.edits)
            _exchange_span(reader, inner)
            if alias is None:
                _keep_name(reader, inner, reader.edits[before:])
        elif clause == "order" and _is_output_name(reader, part):
            continue
        else:
            _exchange_span(reader, part)


def _keep_name(reader: BlockReader, item: Span, edits: list[Edit]) -> None:
    """AS the name that PostgreSQL takes from a word which was exchanged."""
    name = output_name(reader.lexed, item)
    lexemes = reader.lexed.lexemes
    if name is not None and any(
        edit.start <= lexemes[name.decided_at].start < edit.end for edit in edits
    ):
        end = lexemes[item[1] - 1].end
        reader.edits.append(Edit(end, end, f" AS {quoted(name.name)}"))


def _is_output_name(reader: BlockReader, part: Span) -> bool:
    """ORDER BY with a bare name means the output column of that name first (manual, SELECT)."""
    lexemes = reader.lexed.lexemes[part[0] : part[1]]
    rest = {lexeme.word for lexeme in lexemes[1:]}
    return bool(lexemes) and lexemes[0].name in reader.output_names and rest <= {
        "asc", "desc", "nulls", "first", "last",
    }  # fmt: skip


def _exchange_span(reader: BlockReader, span: Span) -> None:
    lexed = reader.lexed
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
        index = end


def _interval(reader: BlockReader, index: int) -> tuple[int, str | None] | None:
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


def _aggregate_at(reader: BlockReader, index: int) -> tuple[int, str | None] | None:
    span = _aggregate_span(reader, index)
    if span is None:
        return None
    return span[1], f"dp_{reader.block_name}.a{_number(reader, span)}"


def _aggregate_span(reader: BlockReader, index: int) -> Span | None:
    """The lexemes of an aggregate call with its FILTER, if one starts here."""
    lexed = reader.lexed
    lexemes = lexed.lexemes
    at = index
    while at + 2 < len(lexemes) and lexemes[at + 1].token.token_type is TokenType.DOT:
        at += 2
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
    if at > index:
        raise Refusal(
            Code.FUNCTION,
            f"{name} with a schema is not available on a protected table",
            f"Write {name}(...) alone.",
            lexemes[index].position,
        )
    if name in OTHER_AGGREGATES or following == "within":
        raise Refusal(
            Code.FUNCTION,
            f"aggregate {name} is not available on a protected table",
            AVAILABLE,
            lexemes[index].position,
        )
    return index, end


def _number(reader: BlockReader, span: Span) -> int:
    """The number of an aggregate among the block's distinct ones."""
    aggregate = _aggregate(reader, span)
    return reader.aggregates.setdefault(aggregate, len(reader.aggregates) + 1)


def _aggregate(reader: BlockReader, span: Span) -> Aggregate:
    first = reader.lexed.lexemes[span[0]]
    node = parse(reader.lexed, span, reader.sources.scalars)
    try:
        return replace(read_aggregate(node, reader.scope), position=first.position)
    except Refusal as refusal:
        raise placed(refusal, first) from None


def _key_at(reader: BlockReader, index: int) -> tuple[int, str | None] | None:
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


def _key_expression_at(reader: BlockReader, index: int) -> tuple[int, str | None] | None:
    """A key that is an expression, written again word for word."""
    lexemes = reader.lexed.lexemes
    for number, signature in enumerate(reader.signatures, start=1):
        end = index + len(signature)
        if (
            len(signature) > 1
            and end <= len(lexemes)
            and reader.signature((index, end)) == signature
        ):
            # date_part gives double precision, the key is EXTRACT's numeric (manual 9.9.1).
            called = next((x.word for x in lexemes[index:end] if x.name), "")
            is_part = isinstance(reader.keys[number - 1].expression, ir.Extract)
            kind = "::pg_catalog.float8" if is_part and called == "date_part" else ""
            return end, f"dp_{reader.block_name}.k{number}{kind}"
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
