"""What is in a jsonb or an array to SQL: total, and of bounded work whatever is stored.

A value of which more than limits.INSIDE_STORED_BYTES are stored counts as NULL: stored, not as it is in memory,
as nothing else can be told without unpacking it. One byte unpacks to 255 at the most (lz4; pglz to 91).
"""

from __future__ import annotations

from fractions import Fraction

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.decimals import decimal_text
from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds, column_sql
from proxy.query.ir.expressions import ColumnRef, Constant, Inside, InsideLook

_LARGE = "'...'::text"


def inside_sql(inside: Inside, binds: Binds) -> str:
    assert isinstance(inside.operand, ColumnRef)
    column, whole = column_sql(inside.operand), _whole(inside.operand)
    steps = [_constant(step, binds) for step in inside.path]
    given = [_constant(part, binds) for part in inside.arguments]
    match inside.look:
        case InsideLook.MEMBER:
            return _member(whole, steps)
        case InsideLook.TEXT:
            return _text(whole, steps)
        case InsideLook.KIND:
            return f"pg_catalog.jsonb_typeof({_member(whole, steps)})"
        case InsideLook.HAS_KEY:
            return f"pg_catalog.jsonb_exists({_member(whole, steps)}, {given[0]})"
        case InsideLook.HOLDS:
            return f"({_member(whole, steps)} @> {given[0]})"
        case InsideLook.ANY:
            return f"({given[0]} = ANY ({whole}))"
        case InsideLook.ALL_OF:
            return _several(whole, given, "AND", "TRUE")
        case InsideLook.SOME_OF:
            return _several(whole, given, "OR", "FALSE")
        case InsideLook.CARDINALITY:
            return f"pg_catalog.cardinality({whole})"
        case InsideLook.LENGTH:
            return f"pg_catalog.array_length({whole}, 1)"
        case InsideLook.ELEMENT:
            return f"({whole})[{steps[0]}]{_collation(inside)}"
        case InsideLook.EPOCH:
            return f"extract(epoch FROM {column})"
        case InsideLook.HOUR:
            return f"extract(hour FROM {column})"
        case InsideLook.MINUTE:
            return f"extract(minute FROM {column})"
        case InsideLook.SECOND:
            return f"extract(second FROM {column})"
        case InsideLook.COMPARED:
            return _compared(column)
        case _:
            assert_never(inside.look)


def stored_sql(column: ColumnRef) -> str:
    """A jsonb or an array as all that looks into it sees it: what names a row needs no more of it. Arrays of
    two collations that are united have none, without which texts are neither hashed nor ordered."""
    collation = ' COLLATE pg_catalog."default"' if column.type is SqlType.TEXT_ARRAY else ""
    return f"{_whole(column)}{collation}"


def carried_sql(inside: Inside, binds: Binds) -> str:
    """A member as a column of a subquery, in whose rows it stands unpacked: one that nothing could look into is
    not carried along."""
    found = inside_sql(inside, binds)
    return _bounded(found) if inside.look is InsideLook.MEMBER else found


def _whole(column: ColumnRef) -> str:
    """An array of NULLs has eight in a byte before it is compressed: what goes through it is bounded too."""
    value = column_sql(column)
    bounded = _bounded(value)
    if column.type.element is None:
        return bounded
    return f"(CASE WHEN pg_catalog.cardinality({bounded}) <= {limits.INSIDE_ELEMENTS} THEN {value} END)"


def _bounded(value: str) -> str:
    stored = f"pg_catalog.pg_column_size({value}) <= {limits.INSIDE_STORED_BYTES}"
    return f"(CASE WHEN {stored} THEN {value} END)"


def _member(whole: str, steps: list[str]) -> str:
    return f"({' -> '.join((whole, *steps))})" if steps else whole


def _text(whole: str, steps: list[str]) -> str:
    """Texts, numbers and truth values have a text of bounded length. An object or an array may print
    thousands of times what is stored of it (1e131071), beyond what a text can have, which raises: only short
    ones are printed."""
    *outer, last = steps
    found = _member(whole, steps)
    is_large = (
        f"pg_catalog.jsonb_typeof({found}) IN ('object', 'array')"
        f" AND pg_catalog.pg_column_size({found}) > {limits.INSIDE_PRINTED_BYTES}"
    )
    return f"(CASE WHEN {is_large} THEN {_LARGE} ELSE {_member(whole, outer)} ->> {last} END)"


def _several(whole: str, given: list[str], word: str, empty: str) -> str:
    """As the operators have it, to which an element that is NULL is none that is looked for. They unpack all
    elements at once, nine bytes for each, of which as many fit into a stored byte as bits."""
    found = f" {word} ".join(f"coalesce({part} = ANY ({whole}), FALSE)" for part in given)
    return f"(CASE WHEN {whole} IS NOT NULL THEN ({found or empty}) END)"


def _compared(column: str) -> str:
    """timestamp.c, interval_cmp_value. Infinite ones, which there are since 17, have no months."""
    sizes = (
        ("year", 31_104_000),
        ("month", 2_592_000),
        ("day", 86_400),
        ("hour", 3_600),
        ("minute", 60),
    )
    parts = [f"extract({field} FROM {column}) * {size}" for field, size in sizes]
    parts.append(f"extract(second FROM {column})")
    return f"coalesce({' + '.join(parts)}, extract(epoch FROM {column}))"


def _collation(inside: Inside) -> str:
    """Columns have one of their own, of which two that meet would raise once there is a row (ADR 0011)."""
    return ' COLLATE pg_catalog."default"' if inside.type.is_text else ""


def _constant(part: object, binds: Binds) -> str:
    """Text in, so that the cast is PostgreSQL's."""
    assert isinstance(part, Constant) and part.type is not None
    if part.value is None:
        return f"NULL::{part.type.sql}"
    value = part.value
    return binds.add(decimal_text(value) if isinstance(value, Fraction) else value, part.type.sql)
