"""A hint leads in one step from LATERAL, windows over totals and columns of the query around to
what is answered."""

from __future__ import annotations

import re

import pytest

from proxy.base.errors import Code, Refusal
from tests.pipeline_world import walk

_LAST = "SELECT o.t, o.n2 FROM orders o WHERE o.uid = c.uid ORDER BY o.ts DESC"
_SHOWN = "SELECT l.t, count(*), avg(l.n2) FROM members c"


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        (
            f"{_SHOWN} CROSS JOIN LATERAL ({_LAST} LIMIT 1) l GROUP BY l.t",
            " rn = 1) l ON l.uid = c.uid GROUP BY l.t",
        ),
        (
            f"{_SHOWN} LEFT JOIN LATERAL ({_LAST} LIMIT 3) AS l ON true GROUP BY l.t",
            "c LEFT JOIN (SELECT * FROM",
        ),
        (f"{_SHOWN}, LATERAL ({_LAST} LIMIT 1) l WHERE c.b GROUP BY 1", " WHERE c.b GROUP BY 1"),
        (
            f"{_SHOWN} JOIN LATERAL (SELECT k.t, k.n2 FROM w.orders AS k WHERE c.uid = k.uid AND k.i4 > 3 AND"
            " k.b"
            " ORDER BY k.ts LIMIT 2) l ON true GROUP BY l.t",
            "FROM w.orders AS k WHERE k.i4 > 3 AND k.b) numbered WHERE rn <= 2) l",
        ),
        (
            "SELECT avg(l.s) FROM members c CROSS JOIN LATERAL (SELECT sum(k.n2) AS s, count(*) AS n FROM"
            " calls k"
            " WHERE k.uid = c.uid) l",
            "(SELECT k.uid AS uid, sum(k.n2) AS s, count(*) AS n FROM calls k GROUP BY k.uid) l ON l.uid ="
            " c.uid",
        ),
        (
            f"{_SHOWN} -- the last of each\n CROSS JOIN LATERAL (SELECT k.t, k.n2 FROM orders k"
            " WHERE (c.uid = k.uid AND k.i4 BETWEEN 1 AND 9) AND k.t <> 'a  b' ORDER BY k.ts LIMIT 1) l"
            " GROUP BY l.t",
            "members c JOIN (SELECT * FROM (SELECT k.uid AS uid, k.t, k.n2, row_number() OVER (PARTITION BY"
            " k.uid ORDER BY k.ts) AS rn FROM orders k WHERE k.i4 BETWEEN 1 AND 9 AND k.t <> 'a  b') numbered",
        ),
    ],
)  # fmt: skip
def test_lateral_has_the_statement_without_it(refused: str, told: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(refused)
    assert caught.value.message == "LATERAL is not available on a protected table"
    found = re.match("Join a subquery over all rows instead: (SELECT .*)\\.$", caught.value.hint)
    assert found is not None, caught.value.hint
    assert told in found[1]
    assert walk(found[1]) is not None


@pytest.mark.parametrize(
    "lateral",
    [
        "SELECT * FROM orders o WHERE o.uid = c.uid ORDER BY o.ts LIMIT 1",
        "SELECT o.t, o.n2 FROM orders o WHERE o.uid = c.uid AND o.i4 > c.i4 ORDER BY o.ts LIMIT 1",
        "SELECT o.t, o.n2 FROM orders o WHERE o.uid = c.uid OR o.b ORDER BY o.ts LIMIT 1",
        "SELECT o.t, o.n2 FROM orders o WHERE o.uid = c.uid AND (o.b OR o.i4 = 1) ORDER BY o.ts LIMIT 1",
        "SELECT o.t, o.n2 FROM orders o WHERE NOT o.uid = c.uid ORDER BY o.ts LIMIT 1",
        "SELECT o.t, o.n2 FROM orders o WHERE o.uid = c.uid",
        "SELECT o.t, o.n2 FROM orders o JOIN calls k USING (uid) WHERE o.uid = c.uid ORDER BY o.ts LIMIT 1",
    ],
)
def test_other_forms_have_one_to_be_filled_in(lateral: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(f"{_SHOWN} CROSS JOIN LATERAL ({lateral}) l GROUP BY l.t")
    assert caught.value.hint.startswith("Number the rows of each unit in a subquery")


@pytest.mark.parametrize(
    "refused",
    [
        "SELECT c.t, l.n FROM (SELECT DISTINCT t FROM members) c, LATERAL (SELECT count(*) AS n FROM members k"
        " WHERE k.t = c.t) l",
        "SELECT c.t, (SELECT count(*) FROM members k WHERE k.t = c.t) FROM regions c",
    ],
)
def test_a_column_of_the_query_around_is_named_as_such(refused: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(refused)
    assert caught.value.code is Code.COLUMN_NOT_USABLE
    assert caught.value.message.startswith("c.t is of the query around")
    assert "GROUP BY c.t" in caught.value.hint


def test_a_column_without_a_policy_is_not_of_the_query_around() -> None:
    with pytest.raises(Refusal) as caught:
        walk("SELECT count(k.unknown) FROM members k")
    assert caught.value.code is Code.COLUMN_NOT_USABLE


@pytest.mark.parametrize(
    ("window", "told"),
    [
        ("ntile(10) OVER (ORDER BY sum(n2) DESC)", "Ask for edges"),
        ("row_number() OVER (ORDER BY sum(n2) DESC)", "Ask for edges"),
        ("percent_rank() OVER (ORDER BY sum(n2))", "Ask for edges"),
        ("sum(sum(n2)) OVER ()", "Aggregate the totals"),
    ],
)  # fmt: skip
def test_windows_over_totals_have_edges(window: str, told: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(
            f"SELECT g, count(*) FROM (SELECT uid, {window} AS g FROM orders GROUP BY uid) d GROUP BY g"
        )
    assert "as it reads the rows of others" in caught.value.message
    assert caught.value.hint.startswith(told)
    (example,) = re.findall("(SELECT .*) q\\.", caught.value.hint)
    filled = example.replace("column", "n2").replace("unit", "uid").replace("table", "orders")
    assert walk(f"{filled} q") is not None


@pytest.mark.parametrize("end", ["", " q", " ()", " (SELECT", " )"])
def test_a_statement_that_ends_with_lateral_is_refused(end: str) -> None:
    """PostgreSQL has no answer to it either: nothing but a refusal may come of it."""
    try:
        assert walk(f"SELECT count(*) FROM members c, LATERAL{end}") is None
    except Refusal as refusal:
        assert refusal.code is Code.UNSUPPORTED


@pytest.mark.parametrize(
    "statement",
    [
        f"{_SHOWN} -- all\n CROSS JOIN LATERAL (SELECT o.t, o.n2 FROM orders o"
        " WHERE o.uid = c.uid AND o.t = 'a  b\n' ORDER BY o.ts DESC LIMIT 1) l GROUP BY l.t",
        "SELECT g.m, count(o.uid) FROM generate_series(1, 3) g(m) /* all */\n LEFT JOIN orders o"
        " ON o.t = g.m::text || 'a  b\n' GROUP BY 1",
    ],
)
def test_literals_stay_as_they_are(statement: str) -> None:
    """Else the hint runs, and asks about other rows."""
    with pytest.raises(Refusal) as caught:
        walk(statement)
    assert "'a  b\n'" in caught.value.hint
    assert "all" not in caught.value.hint.removeprefix("Join a subquery over all rows")
    assert caught.value.hint.count("\n") == caught.value.hint.count("b\n")
