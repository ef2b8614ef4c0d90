"""One SELECT that aggregates protected rows, read: its typed Block and what to change in its text.

Aggregates, keys and FROM are exchanged for columns of the noised relation; HAVING becomes WHERE; all else
stays as it is (docs/design/sql.md 5.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import (
    IntervalColumn,
    IntervalEnd,
    aggregate_column,
    key_column,
)
from proxy.base.sql_types import SqlType
from proxy.query.bind.aggregate_reading import is_aggregate, read_aggregate
from proxy.query.bind.block_keys import read_keys
from proxy.query.bind.block_reader import BlockReader
from proxy.query.bind.clause_reading import read_where
from proxy.query.bind.exchange import exchange
from proxy.query.bind.source_reading import read_source
from proxy.query.bind.sources import Sources
from proxy.query.ir.query import Block
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.syntax.blocks import Select
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.residual import Edit, marker, recordset
from proxy.query.syntax.slices import HINT as _ASK
from proxy.query.syntax.slices import parse_item
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed


@dataclass(frozen=True, slots=True)
class ReadBlock:
    block: Block
    edits: tuple[Edit, ...]


def read_block(sources: Sources, select: Select, parameter: int, block_name: str) -> ReadBlock:
    """The typed block of one SELECT and the edits that put the noised relation in its place.

    Refuses  every construct that is not known to be safe, with its position
    """
    lexed = sources.lexed
    _no_empty_clause(lexed, select)
    relation, scope = read_source(sources, select)
    relation, where = read_where(sources, select, relation, scope)
    reader = BlockReader(sources, select, relation, scope, parameter, block_name)
    _output_names(reader)
    read_keys(reader)
    for name in ("items", "having", "window", "order", "limit", "offset", "fetch"):
        if name in select.clauses:
            exchange(reader, name)
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
            Code.RAW_ROWS, "rows of a protected table cannot be read", _ASK, reader.start()
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
    _, scope = read_source(sources, select)
    return read_aggregate(node, scope)


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


def _output_names(reader: BlockReader) -> None:
    for span in reader.selected():
        _, alias, inner = reader.item(span)
        found = output_name(reader.lexed, inner)
        name = alias or (found.name if found is not None else None)
        if name is not None:
            reader.output_names.add(name)


def _exchange_relation(reader: BlockReader) -> None:
    """FROM, WHERE and GROUP BY give way to the noised relation; HAVING becomes its WHERE."""
    lexemes = reader.lexed.lexemes
    clauses = reader.select.clauses
    last = max(clauses[name][1] for name in ("from", "where", "group") if name in clauses)
    first = clauses["from"][0] - 1
    columns = [(key_column(i), key.type_name) for i, key in enumerate(reader.keys, start=1)]
    for aggregate, number in reader.aggregates.items():
        columns.append((aggregate_column(number), aggregate.type.sql))
        for column in (IntervalColumn(end, number) for end in IntervalEnd):
            if column in reader.intervals:
                kind = SqlType.FLOAT8 if column.end is IntervalEnd.ERROR else aggregate.type
                columns.append((column.name, kind.sql))
    text = recordset(reader.parameter, reader.block_name, columns)
    span = lexemes[first].start, lexemes[last - 1].end
    reader.edits.append(Edit(*span, text, marker(reader.parameter)))
    if "having" in clauses:
        keyword = lexemes[clauses["having"][0] - 1]
        reader.edits.append(Edit(keyword.start, keyword.end, "WHERE"))
