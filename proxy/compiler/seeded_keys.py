"""A term of GROUP BY that spreads keys over a hash table, whatever rows one person has chosen.

PostgreSQL's hash tables are not seeded: of integers and times it folds the halves of a bigint together, of
texts and numbers it has a known hash. One person can store n different keys with one hash, and to group them
takes n^2 steps: 20,000 keys took 5 seconds. A keyed hash of the keys as one more term leaves the groups as they
are, since equal keys have equal hashes, and makes the hash of the row one that nobody knows.

Hash tables of joins are spread by the same hash of the keys of both sides (compiler/full_joins.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds

# To compare each with each of so many takes 10 ms.
FEW_ROWS = 500


def spread_sql(keys: Iterable[tuple[str, SqlType | None]], binds: Binds) -> list[str]:
    """Print the term for keys of which one unit can have many; no term where there are none.

    The hash of each key is the seed of the next one's, so that no choice of a key undoes another.

    Args:
        keys: as they are printed in GROUP BY, and of which type that is.

    >>> spread_sql([("k", SqlType.INT4)], Binds())
    ['coalesce(pg_catalog.hash_numeric_extended((k)::numeric, %(p1)s::bigint), %(p1)s::bigint)']
    """
    found = None
    for value, kind in keys:
        if kind is None or kind in (SqlType.OTHER, SqlType.BOOL):
            continue
        seed = found or binds.seed("spread")
        # NULL has no hash, and must not hide that of the keys before it.
        found = f"coalesce({_hash_sql(value, kind, seed)}, {binds.seed('spread')})"
    return [] if found is None else [found]


def spread_texts_sql(keys: Sequence[str], binds: Binds) -> list[str]:
    """The same for keys that are printed as texts."""
    return spread_sql([(key, SqlType.TEXT) for key in keys], binds)


def spread_column_sql(value: str, kind: SqlType, binds: Binds) -> str:
    """Print a keyed hash of a column, NULL where it is: of what rows are joined by.

    The halves of a bigint are put together by PostgreSQL before the seed comes in, so that many have one hash
    under each seed; so the upper half is put into the seed.

    >>> spread_column_sql('a."k"', SqlType.INT4, Binds())
    'pg_catalog.hashint4extended((a."k")::integer, %(p1)s::bigint)'
    """
    seed = binds.seed("spread")
    match kind:
        case SqlType.INT2 | SqlType.INT4:
            return f"pg_catalog.hashint4extended(({value})::integer, {seed})"
        case SqlType.INT8:
            upper = f"pg_catalog.hashint4extended((({value}) >> 32)::integer, {seed})"
            return f"pg_catalog.hashint8extended({value}, {upper})"
        case SqlType.FLOAT8:  # or a real: as a numeric it has fewer digits
            return f"pg_catalog.hashfloat8extended(({value})::double precision, {seed})"
        case _:
            return _hash_sql(value, kind, seed)


def _hash_sql(value: str, kind: SqlType, seed: str) -> str:
    """A keyed hash that agrees with equality. That of bigint and of times is keyed only after their halves are
    put together, so that what collides does so under each seed: they are hashed as numerics and texts."""
    match kind:
        case _ if kind.is_number:  # a computed one is printed as a numeric, whatever its type is
            return f"pg_catalog.hash_numeric_extended(({value})::numeric, {seed})"
        case SqlType.DURATION | SqlType.INTERVAL:
            # Equal ones have different texts. A year is compared as 360 days, and has 365.25 in `epoch`.
            compared = f"extract(epoch FROM {value}) - extract(year FROM {value}) * 453600"
            return f"pg_catalog.hash_numeric_extended({compared}, {seed})"
        case _:
            return f"pg_catalog.hashtextextended(({value})::text, {seed})"
