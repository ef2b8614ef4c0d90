"""What one row can cost is bounded through subqueries, columns and keys too."""

from __future__ import annotations

import json

import pytest

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from tests.pipeline_world import walk

_HERS = "CASE WHEN uid = 42 THEN $1 ELSE '' END"


def _asked(question: str, length: int) -> bool:
    text = json.dumps("a" * length)
    return walk(question, types=(SqlType.TEXT,), arguments=(text,)) is not None


_SEARCHED = f"LIKE '%{'a' * 253}b%'"
_MOST = limits.TEXT_WORK // 256


@pytest.mark.parametrize(
    "question",
    [
        f"SELECT count(*) FROM (SELECT {_HERS} AS t FROM w.orders) q WHERE t {_SEARCHED}",
        f"SELECT count(*) FROM (SELECT t AS u FROM (SELECT {_HERS} AS t FROM w.orders) q) p"
        f" WHERE u {_SEARCHED}",
        f"WITH q AS (SELECT {_HERS} AS t FROM w.orders) SELECT count(*) FROM q WHERE t {_SEARCHED}",
        f"SELECT count(*) FILTER (WHERE t {_SEARCHED}) FROM (SELECT {_HERS} AS t FROM w.orders) q",
        f"SELECT count(*) FROM (SELECT uid, {_HERS} AS t FROM w.orders UNION ALL"
        f" SELECT uid, t FROM w.orders) q WHERE t {_SEARCHED}",
        f"SELECT count(*) FROM (SELECT uid, {_HERS} AS t FROM w.orders) q"
        f" JOIN w.members m ON m.uid = q.uid WHERE q.t {_SEARCHED}",
    ],
)
def test_a_text_is_followed_through_subqueries(question: str) -> None:
    assert _asked(question, _MOST)
    with pytest.raises(Refusal, match="too long together") as caught:
        _asked(question, _MOST + 1)
    assert caught.value.code is Code.TOO_COMPLEX


def test_a_text_is_not_copied_into_many_columns_or_keys() -> None:
    columns = ", ".join(f"CASE WHEN uid > {n} THEN $1 END AS t{n}" for n in range(8))
    question = f"SELECT count(*) FROM (SELECT uid, {columns} FROM w.orders) q WHERE t0 = 'x'"
    assert _asked(question, limits.CARRIED_BYTES // 8)
    with pytest.raises(Refusal, match="subquery columns and GROUP BY keys"):
        _asked(question, limits.CARRIED_BYTES // 8 + 1)
    keys = ", ".join(f"coalesce(CASE WHEN uid > {n} THEN $1 END, left(c, 1))" for n in range(8))
    question = f"SELECT count(*) FROM w.orders GROUP BY {keys}"
    assert _asked(question, limits.CARRIED_BYTES // 8)
    with pytest.raises(Refusal, match="subquery columns and GROUP BY keys"):
        _asked(question, limits.CARRIED_BYTES // 8 + 1)


def test_keys_are_few() -> None:
    def asked(count: int) -> bool:
        keys = ", ".join(f"i4 + {n}" for n in range(count))
        return walk(f"SELECT count(*) FROM w.orders GROUP BY {keys}") is not None

    assert asked(limits.GROUP_KEYS)
    with pytest.raises(Refusal, match=f"at most {limits.GROUP_KEYS} keys"):
        asked(limits.GROUP_KEYS + 1)


def test_what_is_searched_for_in_stored_texts_is_bounded_together() -> None:
    def asked(count: int) -> bool:
        likes = " OR ".join(f"t LIKE '{n:03}{'a' * 237}'" for n in range(count))
        return walk(f"SELECT count(*) FROM w.orders WHERE {likes}") is not None

    assert asked(limits.SEARCHED_TOGETHER // 256)
    with pytest.raises(Refusal, match="search texts"):
        asked(limits.SEARCHED_TOGETHER // 256 + 1)


def test_subqueries_do_not_multiply_expressions() -> None:
    def asked(levels: int) -> bool:
        source = "SELECT uid, i4 * 0.5 AS x FROM w.orders"
        for number in range(levels):
            source = f"SELECT uid, greatest(x, x, x, x, x, x, x, x) AS x FROM ({source}) q{number}"
        return walk(f"SELECT count(*) FROM ({source}) q WHERE x < 0") is not None

    assert asked(3)
    with pytest.raises(Refusal, match="subqueries expanded"):
        asked(5)


_LOOKED_TOO_OFTEN = (
    " OR ".join(f"j -> '{n}' ->> 'k' = 'x'" for n in range(20)),
    " OR ".join(f"'{n}' = ANY(ta)" for n in range(limits.INSIDE_LOOKS + 1)),
    f"ia @> ARRAY[{', '.join(map(str, range(limits.INSIDE_LOOKS + 1)))}]",
    f"j @> '[{', '.join(map(str, range(limits.INSIDE_LOOKS)))}]'",
    " AND ".join(f"cardinality(ta) > {n}" for n in range(limits.INSIDE_LOOKS + 1)),
)


@pytest.mark.parametrize("condition", _LOOKED_TOO_OFTEN)
def test_one_row_is_not_looked_into_too_often(condition: str) -> None:
    """Each look unpacks what is stored."""
    with pytest.raises(Refusal, match="too often"):
        walk(f"SELECT count(*) FROM people WHERE {condition}")
    half = " OR ".join(condition.split(" OR ")[:8]) if " OR " in condition else "ia @> ARRAY[1, 2]"
    assert walk(f"SELECT count(*) FROM people WHERE {half}") is not None


def test_looks_are_counted_through_subqueries() -> None:
    """PostgreSQL puts a subquery's columns in where they are used."""
    used = " OR ".join(f"q.k = '{n}'" for n in range(40))
    inner = "SELECT j -> 'a' ->> 'b' AS k FROM people"
    with pytest.raises(Refusal, match="too often"):
        walk(f"SELECT count(*) FROM ({inner}) q WHERE {used}")
    assert walk(f"SELECT count(*) FROM ({inner}) q WHERE q.k = 'x' OR q.k = 'y'") is not None


@pytest.mark.parametrize(("columns", "is_refused"), [(16, False), (17, True)])
def test_computed_texts_that_windows_sort(columns: int, is_refused: bool) -> None:
    """A sorted row has them at their length, where a stored text is a pointer."""
    inner = ", ".join(f"left(s, {n + 1}) AS x{n}" for n in range(columns))
    outer = ", ".join(f"x{n}" for n in range(columns))
    sql = (
        f"SELECT count(*) FROM (SELECT {outer}, row_number() OVER (PARTITION BY uid ORDER BY d) AS r"
        f" FROM (SELECT uid, d, s, {inner} FROM orders) p) q WHERE r = 1"
    )
    if not is_refused:
        assert walk(sql) is not None
        return
    with pytest.raises(Refusal, match="at most 16 computed texts"):
        walk(sql)
