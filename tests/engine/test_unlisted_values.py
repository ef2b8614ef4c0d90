"""A constant that the policy does not list is told with the list, wherever the statement has it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.base.sql_types import SqlType
from proxy.engine.impossible_conditions import unlisted_lines
from proxy.policy.policy_model import ColumnPolicy, Policy, ProtectedTable
from proxy.query.ir.binding import bind
from proxy.query.ir.expressions import Constant
from tests.pipeline_world import POLICIES, read


def _told(sql: str, policy: Policy = POLICIES["best"]) -> tuple[str, ...]:
    found = read(sql)
    assert found is not None
    return unlisted_lines(found[1].query, policy)


_T = "t has the values 'x', 'y', 'z', NULL in the policy; "
_COUNT = "SELECT count(*) FROM people WHERE "


@pytest.mark.parametrize(
    "sql",
    [
        f"{_COUNT} t = 'q'",
        f"{_COUNT} 'q' = t",
        f"{_COUNT} t <> 'q'",
        f"{_COUNT} t IS DISTINCT FROM 'q'",
        f"{_COUNT} t IN ('x', 'q')",
        f"{_COUNT} t NOT IN ('q', 'x')",
        f"{_COUNT} i4 > 3 AND (b OR NOT (t = 'q'))",
        f"{_COUNT} nullif(t, 'q') = 'x'",
        f"{_COUNT} people.t = 'q'",
        "SELECT count(*) FILTER (WHERE t = 'q') FROM people",
        "SELECT sum(CASE WHEN t = 'q' THEN i4 ELSE 0 END) FROM people",
        "SELECT sum(CASE t WHEN 'q' THEN 1 ELSE 0 END) FROM people",
        "SELECT CASE WHEN t = 'q' THEN 'one' ELSE 'other' END AS k, count(*) FROM people GROUP BY 1",
        "SELECT count(*) FROM (SELECT t AS kind, i4 FROM people) p WHERE kind = 'q'",
        "SELECT count(*) FROM (SELECT i4 FROM people WHERE t = 'q') p",
        "WITH p AS (SELECT t AS kind FROM people WHERE b) SELECT count(*) FROM p WHERE p.kind = 'q'",
        "SELECT count(*) FROM orders o JOIN members m ON o.uid = m.uid WHERE m.t = 'q'",
        "SELECT count(*) FROM orders o JOIN members m ON o.uid = m.uid AND o.t = 'q'",
        "SELECT count(*) FROM (SELECT t FROM people UNION ALL SELECT t FROM events) u WHERE t = 'q'",
        "SELECT count(*) FROM (SELECT uid, t, count(*) AS n FROM orders GROUP BY uid, t) q WHERE t = 'q'",
        "SELECT t, count(*) FROM people GROUP BY t HAVING t = 'q'",
        "SELECT t, count(*) FROM people GROUP BY t HAVING count(*) > 5 AND people.t IN ('x', 'q')",
        "SELECT t, count(*) FROM people GROUP BY 1 HAVING 'q' <> t",
        "SELECT * FROM (SELECT t AS kind, count(*) AS n FROM people GROUP BY t) g WHERE kind = 'q'",
        "WITH g AS (SELECT t, count(*) AS n FROM people GROUP BY t) SELECT n FROM g WHERE g.t NOT IN ('q')",
    ],
)
def test_the_list_is_told_wherever_the_constant_stands(sql: str) -> None:
    assert _told(sql) == (f"{_T}'q' is not one of them",)


@pytest.mark.parametrize(
    "sql",
    [
        f"{_COUNT} t = 'x' AND t <> 'y' AND b AND NOT b AND b = true AND e = 'low'",
        f"{_COUNT} t LIKE 'q%'",
        f"{_COUNT} t < 'q'",  # an order is no list
        f"{_COUNT} lower(t) = 'q'",  # computed
        f"{_COUNT} s = 'q' AND free = 7",  # no list
        f"{_COUNT} t IS NULL",
        f"{_COUNT} c = 'a '",  # character(2)
        f"{_COUNT} i2 = 1 AND i2 = 2.0",
        "SELECT t, count(*) FROM people GROUP BY t HAVING t = 'x' AND count(*) > 3",
        "SELECT t, count(*) AS q FROM people GROUP BY t HAVING count(*) = 3",
    ],
)
def test_nothing_is_told_of_others(sql: str) -> None:
    assert _told(sql) == ()


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("t IN ('q', 'r', 'x')", f"{_T}'q', 'r' are not among them"),
        ("t = 'it''s'", f"{_T}'it''s' is not one of them"),
        (
            "e = 'medium'",
            "e has the values 'low', 'high', NULL in the policy; 'medium' is not one of them",
        ),
        ("i2 = 7", "i2 has the values '1', '2' in the policy; '7' is not one of them"),
        ("c = 'zz'", "c has the values 'a', 'bb' in the policy; 'zz' is not one of them"),
    ],
)
def test_lists_of_other_types(condition: str, told: str) -> None:
    assert _told(f"{_COUNT} {condition}") == (told,)


def _with_list(name: str, *values: str) -> Policy:
    policy = POLICIES["best"]
    tables = {
        key: replace(table, columns={**table.columns, name: ColumnPolicy(name, values=values)})
        if isinstance(table, ProtectedTable)
        else table
        for key, table in policy.tables.items()
    }
    return replace(policy, tables=tables)


def test_dates_booleans_and_long_lists() -> None:
    days = _with_list("d", "2020-01-01", "2020-02-01")
    assert _told(f"{_COUNT} d = '2020-02-01'", days) == ()
    (told,) = _told(f"{_COUNT} d = '2020-03-01'", days)
    assert (
        told
        == "d has the values '2020-01-01', '2020-02-01' in the policy; '2020-03-01' is not one of them"
    )
    (told,) = _told(f"{_COUNT} b = false", _with_list("b", "true"))
    assert told == "b has the value 'true' in the policy; 'false' is not one of them"
    (told,) = _told(f"{_COUNT} t = 'q'", _with_list("t", *map(str, range(40))))
    assert "'7' and 32 more in the policy" in told


def test_a_parameter_is_told_by_its_value() -> None:
    found = read(f"{_COUNT} t = $1", (SqlType.TEXT,))
    assert found is not None
    query = found[1].query
    assert unlisted_lines(query, POLICIES["best"]) == ()
    for text, is_told in (("x", False), ("q", True)):
        values = {1: Constant(text, SqlType.TEXT)}
        bound = replace(query, blocks=tuple(bind(block, values) for block in query.blocks))
        assert bool(unlisted_lines(bound, POLICIES["best"])) is is_told


def test_the_word_that_is_spelled_alike_is_offered() -> None:
    paid = _with_list("t", "paid", "shipped")
    (told,) = _told(f"{_COUNT} t IN ('payed', 'SHIPPED', 'other')", paid)
    assert told.endswith("are not among them: did you mean 'paid' or 'shipped'?")


def test_a_word_is_looked_for_of_a_few_texts_alone() -> None:
    months = (
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
    )
    policy = POLICIES["best"]
    table = next(one for one in policy.protected() if "t" in one.columns)
    listed = replace(table.columns["t"], values=months)
    changed = replace(table, columns={**table.columns, "t": listed})
    misspelled = ", ".join(f"'{month}x'" for month in months)
    (told,) = _told(
        f"{_COUNT} t IN ({misspelled})",
        replace(policy, tables={**policy.tables, table.name: changed}),
    )
    meant = told.partition("did you mean ")[2].rstrip("?").split(" or ")
    assert meant == [f"'{month}'" for month in months[:8]]
