"""Joins, of which PostgreSQL always computes both sides.

An inner join whose one side has no row leaves the other side alone: one person's row then decides whether
logarithms of 300,000 rows are computed, which took 5 seconds or none. Where a condition names one unit it drops
the equality, and runs one side again for each row of the other. A FULL JOIN can do neither. What it leaves
without a partner is taken away above it, by a condition that PostgreSQL cannot read as one on a single side: it
would make an inner join of it again.

    (SELECT r1."id" AS c1, r2."cost" AS c2
     FROM (w.orders AS r1 FULL JOIN w.calls AS r2 ON r1."uid" = r2."uid")
     WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1
    CROSS JOIN LATERAL (SELECT j1.c1 AS "id") AS r1
    CROSS JOIN LATERAL (SELECT j1.c2 AS "cost") AS r2

LIMIT ALL keeps conditions of the statement around it outside. The LATERAL subqueries give the columns their
names back, and vanish in planning. Conditions on one side stand below the join, so that it has no more rows
than before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from proxy.base import limits
from proxy.base.node_parts import nodes
from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds, column_sql, identifier
from proxy.compiler.expression_sql import condition_sql, numeric_sql, value_sql
from proxy.compiler.seeded_keys import spread_column_sql
from proxy.kernel.column_types import is_printed_as_number
from proxy.kernel.join_rules import equal_beside
from proxy.query.ir import expression_walk
from proxy.query.ir.expressions import ColumnRef, Comparator, Comparison, Connective, Expression
from proxy.query.ir.relations import Join, Relation

NamedColumns = Mapping[str, Collection[str]]  # by the alias of their relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition on single rows as SQL, and the aliases that it names."""

    sql: str
    aliases: frozenset[str]


def conditions(expression: Expression | None, binds: Binds) -> list[Condition]:
    """Print the parts of a condition that all have to hold."""
    match expression:
        case None:
            return []
        case Connective(word="AND"):
            return [one for part in expression.operands for one in conditions(part, binds)]
        case _:
            return [condition(condition_sql(expression, binds), expression)]


def condition(sql: str, *of: Expression) -> Condition:
    """What is printed of these expressions."""
    named = frozenset(alias for one in of for alias, _ in expression_walk.columns(one))
    return Condition(sql=sql, aliases=named)


def has_value(column: ColumnRef, binds: Binds) -> Condition:
    """Print that a column by which rows are gathered or joined has a value.

    A text longer than any name counts as none: each row with it would take as long as many others.
    """
    value = column_sql(column)
    if not column.type.is_text or column.type is SqlType.ENUM:
        return condition(f"{value} IS NOT NULL", column)
    most = binds.number(limits.JOINED_TEXT_OCTETS, "integer")
    return condition(f"pg_catalog.octet_length({value}) <= {most}", column)


def where_sql(found: Iterable[Condition]) -> str:
    """WHERE, or nothing where nothing is asked."""
    parts = [one.sql for one in found]
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def aliases(relation: Relation) -> frozenset[str]:
    """The aliases by which columns of a relation are named beside it."""
    if isinstance(relation, Join):
        return aliases(relation.left) | aliases(relation.right)
    return frozenset({relation.alias})


def named_columns(relation: Relation, *named_by: object) -> NamedColumns:
    """Collect the columns that are named in expressions beside a tree of joins, and in its conditions."""
    found = defaultdict(set)
    for node in nodes(*named_by, *_compared(relation)):
        if isinstance(node, ColumnRef):
            found[node.relation].add(node.column)
    return dict(found)


def _compared(relation: Relation) -> Iterator[object]:
    if isinstance(relation, Join):
        yield relation.equal, relation.rest
        yield from _compared(relation.left)
        yield from _compared(relation.right)


def filtered(source: str, alias: str, named: Collection[str], found: Collection[Condition]) -> str:
    """A side of a join with conditions on its rows, under its own alias."""
    if not found:
        return source
    listed = ", ".join(f"{alias}.{identifier(column)}" for column in sorted(named))
    return f"(SELECT {listed} FROM {source}{where_sql(found)}) AS {alias}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where the conditions of a join stand: below it on each side, in ON, above it."""

    left: list[Condition]
    right: list[Condition]
    on: list[Condition]
    above: list[Condition]


def placed(join: Join, rest: list[Condition], found: list[Condition]) -> Placed:
    """Place conditions as low as they mean the same.

    Args:
        join: The join.
        rest: What ON says besides its equalities.
        found: Conditions on joined rows.

    A condition of ON on the right side of a LEFT JOIN takes partners away, never rows of the left side. So it
    stands below the right side; one on the left side stays in ON.
    """
    left, right = aliases(join.left), aliases(join.right)
    places = Placed(left=[], right=[], on=[], above=[])
    for one in rest:
        if one.aliases <= right:
            places.right.append(one)
        elif one.aliases <= left and not join.left_outer:
            places.left.append(one)
        else:
            places.on.append(one)
    for one in found:
        if one.aliases <= left:
            places.left.append(one)
        elif one.aliases <= right and not join.left_outer:
            places.right.append(one)
        else:
            places.above.append(one)
    return places


def full_join_sql(
    join: Join,
    sides: tuple[str, str],
    rest: Collection[Condition],
    above: Collection[Condition],
    columns: NamedColumns,
    binds: Binds,
) -> str:
    """Print a join of two sides that are printed already.

    Args:
        join: The join.
        sides: Its left and its right side, with their conditions.
        rest: What stands in ON beside the equalities.
        above: Conditions on joined rows.
        columns: The columns that are named around it.
        binds: The bind parameters of the statement.
    """
    left, right = sides
    on = [*_equalities(join, binds), *(one.sql for one in rest)]
    if join.left_outer:
        marked = binds.alias("m")
        left = f"({left} CROSS JOIN (SELECT TRUE AS here) AS {marked})"
        present = f"{marked}.here"
    else:
        present = " AND ".join(f"{column_sql(one)} IS NOT NULL" for one in join.equal[0])
    kept = " AND ".join(one.sql for one in above) or "TRUE"
    listed: list[str] = []
    shown: list[str] = []
    around = binds.alias("j")
    for alias in sorted(aliases(join)):
        outputs = []
        for column in sorted(columns.get(alias, ())):
            listed.append(f"{alias}.{identifier(column)} AS c{len(listed) + 1}")
            outputs.append(f"{around}.c{len(listed)} AS {identifier(column)}")
        if outputs:
            shown.append(f" CROSS JOIN LATERAL (SELECT {', '.join(outputs)}) AS {alias}")
    joined = f"({left} FULL JOIN {right} ON {' AND '.join(on)})"
    only = f"CASE WHEN {present} THEN {kept} ELSE FALSE END"
    rows = f"(SELECT {', '.join(listed)} FROM {joined} WHERE {only} LIMIT ALL) AS {around}"
    return f"({rows}{''.join(shown)})"


def _equalities(join: Join, binds: Binds) -> Iterator[str]:
    """The equalities of ON, and that of a seeded hash, so that nobody can choose keys that collide."""
    for x, y in join.equal:
        if x.type.is_text and y.type.is_text:
            yield f"({_short(x, binds)} = {_short(y, binds)})"
        else:
            yield condition_sql(Comparison(Comparator.EQ, x, y), binds)
    if not join.is_seeded:
        return
    for value, column in (*join.equal, *equal_beside(join)):
        kind = _hashed_type(value, column)
        if kind is not None:
            keys = (_key(part, binds) for part in (value, column))
            yield f"({' = '.join(spread_column_sql(key, kind, binds) for key in keys)})"


def _short(column: ColumnRef, binds: Binds) -> str:
    """Two texts of one length are unpacked to be compared, for each pair of rows."""
    value, most = column_sql(column), binds.number(limits.JOINED_TEXT_OCTETS, "integer")
    return f"CASE WHEN pg_catalog.octet_length({value}) <= {most} THEN {value} END"


def _hashed_type(value: Expression, column: ColumnRef) -> SqlType | None:
    """The type in which equal values of both have equal hashes, as they are compared (`condition_sql`)."""
    one, other = value.type or SqlType.TEXT, column.type
    if not any(expression_walk.columns(value)):
        return None
    if one.is_text and other.is_text:
        return None if one.meets_blank_padded(other) else SqlType.TEXT
    is_stored = isinstance(value, ColumnRef)
    if is_printed_as_number(one) and is_printed_as_number(other):
        if is_stored and one.is_float and other.is_float:
            return SqlType.FLOAT8
        return one if is_stored and one is other and one.is_integer else SqlType.NUMERIC
    has_one_text = one.is_time or one in (SqlType.UUID, SqlType.TIME_OF_DAY)
    return one if one is other and has_one_text else None


def _key(part: Expression, binds: Binds) -> str:
    kind = part.type or SqlType.TEXT
    if isinstance(part, ColumnRef):
        return _short(part, binds) if kind.is_text else column_sql(part)
    return (numeric_sql if kind.is_number else value_sql)(part, binds)
