"""FROM clauses: relations to SQL text, under our own aliases, hidden columns included."""

from __future__ import annotations

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.result_columns import UNIT_COLUMN, aggregate_column, key_column
from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds, column_sql, identifier
from proxy.compiler.expression_sql import condition_sql, numeric_sql, value_sql
from proxy.compiler.full_joins import (
    Condition,
    NamedColumns,
    conditions,
    filtered,
    full_join_sql,
    has_value,
    named_columns,
    placed,
    where_sql,
)
from proxy.compiler.inside_sql import carried_sql, stored_sql
from proxy.compiler.seeded_keys import spread_sql
from proxy.compiler.sub_partitions import hash_sql, row_order_sql, short_sql
from proxy.compiler.text_sql import first_characters, key_characters
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import children
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    OrderTerm,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    WindowColumn,
    WindowFunction,
)


def relation_sql(relation: Relation, binds: Binds) -> str:
    """What stands after FROM."""
    match relation:
        case Scan():
            table = relation.table if relation.copy is None else relation.copy.table
            return f"{identifier(table.schema)}.{identifier(table.name)} AS {relation.alias}"
        case Join():
            raise AssertionError("printed by source_sql")
        case Subquery():
            return f"({_subquery(relation, binds)}) AS {relation.alias}"
        case GroupByUnit():
            return f"({_per_unit(relation, binds)}) AS {relation.alias}"
        case UnionAll():
            parts = " UNION ALL ".join(_subquery(part, binds) for part in relation.parts)
            return f"({parts}) AS {relation.alias}"
        case Truncate():
            return f"({_truncate(relation, binds)}) AS {relation.alias}"
        case _:
            assert_never(relation)


def source_sql(relation: Relation, found: list[Condition], binds: Binds, *named_by: object) -> str:
    """Print what stands after FROM, with conditions on its rows, each where it costs least.

    Args:
        relation: The relation.
        found: The conditions.
        binds: The bind parameters of the statement.
        named_by: Expressions in which columns of the relation are named.
    """
    if not isinstance(relation, Join):
        return f"{relation_sql(relation, binds)}{where_sql(found)}"
    return _joined(relation, found, named_columns(relation, *named_by), binds)


def _joined(join: Join, found: list[Condition], columns: NamedColumns, binds: Binds) -> str:
    places = placed(join, conditions(join.rest, binds), found)
    left, right = (
        _side(side, below, columns, binds)
        for side, below in ((join.left, places.left), (join.right, places.right))
    )
    return full_join_sql(join, (left, right), places.on, places.above, columns, binds)


def _side(relation: Relation, found: list[Condition], columns: NamedColumns, binds: Binds) -> str:
    if isinstance(relation, Join):
        return _joined(relation, found, columns, binds)
    named = columns.get(relation.alias, ())
    return filtered(relation_sql(relation, binds), relation.alias, named, found)


def _truncate(truncate: Truncate, binds: Binds) -> str:
    """One scan and a sort by the key. By another key than the unit rows of different units meet in it, so that
    it is not local to a shard.

    What is kept of a value depends on the rows of that value and on the seed, never on their order of
    arrival: ordered_by names a row, and ties of the hash fall to the names themselves.
    """
    found = [has_value(column, binds) for column in truncate.present]
    found += conditions(truncate.where, binds)
    source = source_sql(truncate.source, found, binds)
    # One by one, as the role may be allowed to read no others.
    listed = ", ".join(f"{truncate.alias}.{identifier(name)}" for name in truncate.columns)
    if truncate.by is None:
        return f"SELECT {listed} FROM {source}"
    key, place = column_sql(truncate.by), identifier(truncate.place)
    if truncate.most is None:
        place_of, condition = f"pg_catalog.count(*) OVER (PARTITION BY {key})", "= 1"
    else:
        order = _hash_order(truncate, binds)
        place_of = f"pg_catalog.row_number() OVER (PARTITION BY {key} ORDER BY {order})"
        condition = f"<= {binds.number(truncate.most, 'bigint')}"
    if truncate.with_null:
        condition += f" OR {key} IS NULL"
    with_place = f"SELECT {listed}, {place_of} AS {place} FROM {source}"
    return f"SELECT * FROM ({with_place}) AS {truncate.alias} WHERE {place} {condition}"


def _hash_order(truncate: Truncate, binds: Binds) -> str:
    first, *others = truncate.ordered_by
    seed = binds.seed("kept")
    if first.is_place and isinstance(truncate.source, Scan):
        # Rows of two tables have equal places by chance alone, as the others come and go.
        seed = binds.seed(f"kept of {truncate.source.table}")
    terms = [term for column in truncate.ordered_by for term in _ordered_sql(column)]
    if not others:
        hashed = hash_sql(terms[0], first.type, seed)
    else:
        hashed = row_order_sql([short_sql(column, seed) for column in truncate.ordered_by], seed)
    return ", ".join([hashed, *terms])


def _ordered_sql(column: ir.ColumnRef) -> list[str]:
    """Print terms of ORDER BY of which no two values that can be told apart are tied.

    Equal values can have several forms: 1 and 1.00, 0 and -0 of floats, intervals of a day and of 24 hours,
    blanks at the end of a character without a length. Of two such rows the server's sort would decide which is
    first, and rows of other units decide how it sorts. A type that we do not know may have no order: its text
    has one, byte by byte, as texts of a nondeterministic collation are of such a type. Of a jsonb and an array
    no more is unpacked than can be looked into; a jsonb tells no rows apart (kernel.column_types). One that is
    too large counts as NULL there, but not where a question asks whether it is NULL.
    """
    value = column_sql(column)
    match column.type:
        case SqlType.OTHER:
            return [f'({value})::text COLLATE pg_catalog."C"']
        case SqlType.NUMERIC:
            return [value, f"pg_catalog.scale({value})"]
        case SqlType.BPCHAR:
            return [value, f"pg_catalog.octet_length({value})"]
        case SqlType.FLOAT4 | SqlType.FLOAT8 | SqlType.DURATION:
            return [value, f"({value})::text"]
        case kind if kind.is_container:
            return [stored_sql(column), f"({value}) IS NULL"]
        case _:
            return [value]


def _subquery(subquery: Subquery, binds: Binds) -> str:
    columns = [f"{_output(e, binds)} AS {identifier(n)}" for n, e in subquery.outputs]
    columns += [
        f"{_window(one, subquery, binds)} AS {identifier(one.name)}" for one in subquery.windows
    ]
    listed = ", ".join(columns)
    found = conditions(subquery.where, binds)
    named_by = (subquery.outputs, subquery.windows, subquery.where)
    source = source_sql(subquery.source, found, binds, *named_by)
    return f"SELECT {listed} FROM {source}"


def _window(column: WindowColumn, subquery: Subquery, binds: Binds) -> str:
    """Ties fall to columns that tell rows apart, so that neither sorting nor what is stored beside decides."""
    if column.function is WindowFunction.ROW_NAME:
        return (
            _repeated_name(subquery, binds)
            if binds.repeats_names
            else "pg_catalog.gen_random_uuid()"
        )
    # The unit first, and whole: two units with equal beginnings are two partitions.
    unit, *others = column.partition
    by = ", ".join([_output(unit, binds), *(_key(part, binds) for part in others)])
    terms = [_term(term, binds) for term in column.order]
    terms += [term for one in column.ties for term in _ordered_sql(one)]
    order = f" ORDER BY {', '.join(terms)}" if terms else ""
    frame = f" {column.frame.value}" if column.frame.value else ""
    over = f" OVER (PARTITION BY {by}{order}{frame})"
    if column.aggregate is not None:
        found = _aggregate(column.aggregate, column.rows, binds, over)
    else:
        arguments = [] if column.operand is None else [_output(column.operand, binds)]
        if column.function in (WindowFunction.LAG, WindowFunction.LEAD):
            arguments.append(binds.number(column.offset, "integer"))
        found = f"pg_catalog.{column.function.value}({', '.join(arguments)}){over}"
    if column.present is None:
        return found
    return f"CASE WHEN {column_sql(column.present)} IS NOT NULL THEN {found} END"


def _repeated_name(subquery: Subquery, binds: Binds) -> str:
    """Of all that is seen of a row above; of rows that are alike each has its own, whichever."""
    row = f"ROW({', '.join(_output(e, binds) for _, e in subquery.outputs)})::text"
    number = f"pg_catalog.row_number() OVER (PARTITION BY {row})"
    return f"pg_catalog.md5(pg_catalog.concat({row}, ' ', {number}))::uuid"


def _term(term: OrderTerm, binds: Binds) -> str:
    direction = "DESC" if term.is_descending else "ASC"
    nulls = "FIRST" if term.nulls_first else "LAST"
    return f"{_key(term.expression, binds)} {direction} NULLS {nulls}"


def _output(expression: ir.Expression, binds: Binds) -> str:
    """Computed numbers are numeric, as the planner says of them. A float among them, even a constant, would
    make PostgreSQL bring what it meets to float, which raises on some values."""
    computed = isinstance(
        expression,
        ir.Arithmetic
        | ir.Quotient
        | ir.NumericCall
        | ir.RealCall
        | ir.Case
        | ir.Choose
        | ir.NullIf
        | ir.Clamped,
    )
    kind = expression.type
    if isinstance(expression, ir.Constant | ir.Parameter):
        computed = kind is not None and kind.is_float
    if computed and kind is not None and kind.is_number:
        return numeric_sql(expression, binds)
    is_text = kind is not None and kind.is_text
    if isinstance(expression, ir.Inside):
        found = carried_sql(expression, binds)
        return f"{first_characters(found, limits.KEY_CHARACTERS)}::text" if is_text else found
    if is_text and _makes_text(expression):
        return f"{first_characters(value_sql(expression, binds), limits.KEY_CHARACTERS)}::text"
    if computed and is_text and kind is not SqlType.BPCHAR:
        # CASE has the type of one of its texts in PostgreSQL: as character(n) a join compares without blanks.
        return f"({value_sql(expression, binds)})::text"
    return value_sql(expression, binds)


def _makes_text(expression: ir.Expression) -> bool:
    """Whether it may be a new text: a stored one stands in a sorted row as a pointer to where it is, a new
    one with its whole length."""
    if isinstance(expression, ir.TextCall | ir.Concat | ir.Inside):
        return True
    return any(map(_makes_text, children(expression)))


def _per_unit(grouped: GroupByUnit, binds: Binds) -> str:
    unit = column_sql(grouped.unit)
    listed = [f"{_one_form(unit, grouped.unit.type)} AS {UNIT_COLUMN}"]
    listed += [
        f"{_grouped_key(key, binds)} AS {key_column(number)}"
        for number, key in enumerate(grouped.keys, start=1)
    ]
    listed += [
        f"{_aggregate(aggregate, grouped.rows, binds)} AS {aggregate_column(number)}"
        for number, aggregate in enumerate(grouped.aggregates, start=1)
    ]
    asked = [has_value(grouped.unit, binds), *conditions(grouped.where, binds)]
    named_by = (grouped.unit, grouped.keys, grouped.aggregates, grouped.where)
    source = source_sql(grouped.source, asked, binds, *named_by)
    # The unit is there; but PostgreSQL puts a cast of `x COLLATE c` below COLLATE, and then misses x COLLATE c.
    others = {
        n: key
        for n, key in enumerate(grouped.keys, start=2)
        if key != grouped.unit or key.type is SqlType.COLLATED
    }
    spread = spread_sql([(_grouped_key(key, binds), key.type) for key in others.values()], binds)
    by = ", ".join([unit, *map(str, others), *spread])
    return f"SELECT {', '.join(listed)} FROM {source} GROUP BY {by}"


def _key(key: ir.Expression, binds: Binds) -> str:
    """What rows are grouped by must not grow with the text of one of them (ADR 0003)."""
    if key.type is not None and key.type.is_text:
        kind = "bpchar" if key.type is SqlType.BPCHAR else "text"
        return f"{key_characters(_output(key, binds), key, limits.KEY_CHARACTERS)}::{kind}"
    return _output(key, binds)


def _grouped_key(key: ir.Expression, binds: Binds) -> str:
    """One form for all rows of a group. Texts are cut, which takes its blanks from character(n)."""
    kind, found = key.type, _key(key, binds)
    if kind is None or not kind.is_number:
        return found
    is_column = isinstance(key, ir.ColumnRef)
    return _one_form(found, kind if is_column else SqlType.NUMERIC)


def _one_form(value: str, kind: SqlType) -> str:
    """Print the same for equal values. Else the first row would decide (`_ordered_sql`)."""
    match kind:
        case SqlType.NUMERIC:
            return f"pg_catalog.trim_scale({value})"
        case SqlType.FLOAT4 | SqlType.FLOAT8:
            return f"CASE WHEN {value} = 0 THEN '0'::{kind.sql} ELSE {value} END"
        case SqlType.BPCHAR:
            return f"({value})::text::bpchar"
        case _:
            return value


def _aggregate(aggregate: Aggregate, rows: int, binds: Binds, over: str = "") -> str:
    """Sums are exact, in numeric over clamped values; counts never exceed the rows that count. over: the window
    of a window function."""
    only = over
    if aggregate.condition is not None:
        only = f" FILTER (WHERE {condition_sql(aggregate.condition, binds)}){over}"
    most = binds.number(rows, "bigint")
    operand = aggregate.operand
    match aggregate.kind:
        case AggregateKind.COUNT_ROWS:
            return f"least(pg_catalog.count(*){only}, {most})"
        case AggregateKind.COUNT | AggregateKind.COUNT_DISTINCT:
            assert operand is not None
            word = "DISTINCT " if aggregate.kind is AggregateKind.COUNT_DISTINCT else ""
            value = value_sql(operand, binds)
            if word and operand.type is not None and operand.type.is_text:
                value = key_characters(value, operand, limits.KEY_CHARACTERS)
            return f"least(pg_catalog.count({word}{value}){only}, {most})"
        case _:
            assert operand is not None and operand.type is not None
            number = not operand.type.is_time
            value = numeric_sql(operand, binds) if number else value_sql(operand, binds)
            found = f"pg_catalog.{aggregate.kind.value}({value}){only}"
            is_end = aggregate.kind in (AggregateKind.MIN, AggregateKind.MAX)
            # Of 1 and 1.00 either may be found: one form (`_ordered_sql`).
            return f"pg_catalog.trim_scale({found})" if number and is_end else found
