"""A term of GROUP BY that spreads keys over a hash table, whatever rows one person has chosen.

PostgreSQL's hash tables are not seeded: of integers and times it folds the halves of a bigint together, of
texts and numbers it has a known hash. One person can store n different keys with one hash, and to group them
takes n^2 steps: 20,000 keys took 5 seconds. A keyed hash of the keys as one more term leaves the groups as they
are, since equal keys have equal hashes, and makes the hash of the row one that nobody knows.

Hash tables of joins are not spread (SECURITY.md): a table whose rows join others of the unit is cut before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds


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
