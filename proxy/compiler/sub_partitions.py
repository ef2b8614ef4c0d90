"""The partition of a unit: which cell its rows go to. A function of the unit alone, and of fresh seeds."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds, column_sql
from proxy.compiler.inside_sql import stored_sql
from proxy.query.ir.expressions import ColumnRef

_SUB_PARTITION_BITS = 31


def sub_partition_sql(
    columns: tuple[ColumnRef, ...], sub_partitions: int, binds: Binds
) -> tuple[str, tuple[str, ...]]:
    """The partition of a unit: a keyed hash of its identifier, spread evenly over 0..cells-1.

    A row without a key goes by the hash of its place, or to a random cell, which is as private but cannot run
    in parallel (PROOFS.md, "Partitions of rows without a key").
    """
    if not columns:
        return (
            f"pg_catalog.floor(pg_catalog.random() * "
            f"{binds.number(sub_partitions, 'double precision')})::bigint",
            (),
        )
    first, name = seed_sql("cell", binds)
    column = columns[0]
    if len(columns) > 1:
        hashed = row_hash_sql(columns, first)
    elif column.type is SqlType.INT8:
        hashed = f"pg_catalog.hashint8extended({_unfolded(column_sql(column), first)}, {first})"
    else:
        hashed = hash_sql(column_sql(column), column.type, first)
    # As an integer: dividing it and a hash table of it are the quicker ones (tests/bench).
    spread = f"(({hashed}) & {binds.number(2**_SUB_PARTITION_BITS - 1, 'bigint')})::integer"
    return f"pg_catalog.mod({spread}, {binds.number(sub_partitions, 'integer')})", (name,)


def _unfolded(unit: str, seed: str) -> str:
    """A bigint whose halves hashint8extended can fold before it keys them: as they are, identifiers with equal
    halves would collide under every seed (docs/design/backends.md 2.1). The product of the upper half, at most
    2^31, and a secret number below 2^30 cannot overflow. Identifiers with the same upper half never fold to the
    same, others meet in pairs under some seeds: that costs accuracy, never privacy."""
    return f"({unit} # (({unit} >> 32) * ({seed} >> {_SUB_PARTITION_BITS + 2})))"


def seed_sql(purpose: str, binds: Binds) -> tuple[str, str]:
    """A parameter for a fresh random number: its placeholder and its name."""
    placeholder = binds.add(("seed", purpose), "bigint")
    return placeholder, placeholder[2 : placeholder.index(")")]


def row_hash_sql(columns: tuple[ColumnRef, ...], seed: str) -> str:
    """A hash of several columns. What may be long stands in the row as a hash of its own: ROW() is made of
    whole values, unpacked (heaptoast.c, toast_flatten_tuple_to_datum), and raises above 1 GB, which two texts
    of one person can have, or one text in as many columns as a question names it."""
    hashed = [short_sql(column, seed) for column in columns]
    return f"pg_catalog.hash_record_extended(ROW({', '.join(hashed)}), {seed})"


def row_order_sql(row: Sequence[str], seed: str) -> str:
    """Compute a keyed hash by which the rows of one unit are put in order.

    `hash_record_extended` is 31 h(a) + h(b), modulo 2^64. Two units would have their groups in one order, begun
    at another place, and a group that stands just behind a large gap would lose more rows than others. The hash
    of the sum has no such order. It depends on the unit where `row` contains the unit.

    Args:
        row: SQL of the parts of the row. Each part is short (`short_sql`).
        seed: the placeholder of a fresh random number.
    """
    hashed = f"pg_catalog.hash_record_extended(ROW({', '.join(row)}), {seed})"
    return f"pg_catalog.hashint8extended({hashed}, {seed})"


def short_sql(column: ColumnRef, seed: str) -> str:
    """A type that we do not know may have no hash, as bit and money, which raises 42883, but only once there is
    a row: it is hashed as its text."""
    match column.type:
        case SqlType.INT8:
            return _unfolded(column_sql(column), seed)
        case SqlType.ENUM | SqlType.DURATION:
            return column_sql(column)
        case SqlType.JSONB:
            return f"pg_catalog.jsonb_hash_extended({stored_sql(column)}, {seed})"
        case kind if kind.element is not None:
            return f"pg_catalog.hash_array_extended({stored_sql(column)}, {seed})"
        case kind if kind.is_text or kind is SqlType.OTHER:
            return f"pg_catalog.hashtextextended({column_sql(column)}::text, {seed})"
        case _:
            return column_sql(column)


def hash_sql(name: str, kind: SqlType, seed: str) -> str:
    """A hash that agrees with equality of the type."""
    match kind:
        case SqlType.INT2 | SqlType.INT4:
            return f"pg_catalog.hashint4extended({name}::integer, {seed})"
        case SqlType.NUMERIC:
            return f"pg_catalog.hash_numeric_extended({name}, {seed})"
        case SqlType.FLOAT4 | SqlType.FLOAT8:
            return f"pg_catalog.hashfloat8extended({name}::double precision, {seed})"
        case SqlType.TID:
            return f"pg_catalog.hashtidextended({name}, {seed})"
        case _:
            return f"pg_catalog.hashtextextended({name}::text, {seed})"
