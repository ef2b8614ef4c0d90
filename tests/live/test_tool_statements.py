"""Clauses that tools write out of habit and that change nothing, beside PostgreSQL."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import psycopg
import pytest

from tests.live_proxy import LiveProxy

_INERT = [
    "OFFSET 0",
    "LIMIT ALL",
    "LIMIT NULL",
    "OFFSET NULL",
    "LIMIT ALL OFFSET 0",
    "OFFSET 0 LIMIT ALL",
    "OFFSET 0 ROWS",
    "OFFSET (0)",
    "ORDER BY id OFFSET 0",
    "ORDER BY id LIMIT ALL",
]
_AROUND = [
    "SELECT count(*) FROM (SELECT id FROM shop.orders WHERE 1=1 {}) AS sub",
    "SELECT status, count(*) AS n, count(total) FROM (SELECT * FROM shop.orders {}) AS q GROUP BY 1 ORDER BY 1",
    "WITH q AS (SELECT status, id FROM shop.orders {}) SELECT status, count(*) FROM q GROUP BY 1 ORDER BY 1",
    "SELECT count(*) FROM (SELECT id FROM (SELECT id, total FROM shop.orders {}) a WHERE total > 20 {}) b",
    "SELECT avg(n) FROM (SELECT customer_id AS id, count(*) AS n FROM shop.orders GROUP BY 1 {}) q",
    "SELECT count(*) FROM shop.customers c WHERE EXISTS"
    " (SELECT id FROM shop.orders o WHERE o.customer_id = c.id {})",
    "SELECT status, count(*) FROM shop.orders AS q(id) GROUP BY 1 ORDER BY 1 {}",
]


def _inert() -> list[str]:
    pairs = itertools.product(_AROUND[:-1], _INERT)
    whole = [
        around.replace("{}", clause)
        for around, clause in pairs
        if "EXISTS" not in around or "ORDER" not in clause
    ]
    return whole + [_AROUND[-1].format(clause) for clause in _INERT if "ORDER" not in clause]


def _near(ours: object, right: object) -> bool:
    if right is None or isinstance(right, str):
        return ours == right
    return abs(float(str(ours)) - float(str(right))) <= 0.05 * abs(float(str(right))) + 60


def test_clauses_that_keep_all_rows_are_read_over(live: LiveProxy, analyst: str) -> None:
    """All clauses in one way, and some in each other way."""
    texts = _inert()
    _compare(live, analyst, (*texts[: len(_INERT)], *texts[len(_INERT) :: 7]))


# Malloy's set of groups, and other functions of constants in FROM.
_SERIES = [
    "WITH s AS (SELECT group_set, CASE WHEN group_set=0 THEN status END AS s, CASE WHEN group_set=0 THEN"
    " count(1) END AS n, CASE WHEN group_set=1 THEN quantity > 2 END AS q, CASE WHEN group_set=1 THEN count(1)"
    " END AS m FROM shop.orders AS base CROSS JOIN GENERATE_SERIES(0,1,1) AS group_set GROUP BY 1,2,4)"
    " SELECT n, m FROM s ORDER BY group_set, s, q",
    "SELECT u.x, count(*) FROM shop.orders o JOIN unnest(ARRAY['paid', 'shipped']) u(x) ON o.status = u.x"
    " GROUP BY 1 ORDER BY 1",
    # MetricFlow's spine: public rows that rows meet by ranges alone.
    "SELECT p.n, count(*) FROM (SELECT id AS n FROM shop.products WHERE id BETWEEN 2 AND 6) p JOIN shop.orders"
    " o ON o.quantity <= p.n AND o.quantity > p.n - 3 GROUP BY p.n ORDER BY 1",
    "SELECT p.id, count(*) FROM shop.orders o JOIN shop.products p ON o.quantity < p.id AND p.id < 5"
    " GROUP BY 1 ORDER BY 1",
    "SELECT u, count(*) FROM unnest('{paid,returned}'::text[]) AS u, shop.orders WHERE status = u GROUP BY u"
    " ORDER BY u",
]


def _compare(live: LiveProxy, analyst: str, texts: Sequence[str]) -> None:
    with (
        psycopg.connect(live.servers.protected.dsn("shop"), autocommit=True) as plain,
        live.connect("shop", analyst=analyst) as proxy,
    ):
        proxy.execute("SET dp.epsilon = 2")
        for text in texts:
            right = plain.execute(text.encode()).fetchall()
            ours = proxy.execute(text.encode()).fetchall()
            assert len(ours) == len(right), text
            pairs = zip(itertools.chain(*ours), itertools.chain(*right), strict=True)
            assert all(_near(one, other) for one, other in pairs), text


def test_functions_of_constants_in_from(live: LiveProxy, analyst: str) -> None:
    _compare(live, analyst, _SERIES)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM shop.orders o, generate_series(1, o.quantity)",
        "SELECT count(*) FROM shop.orders CROSS JOIN generate_series(1, quantity) g",
        "SELECT count(*) FROM shop.orders o, unnest(ARRAY[o.quantity, 3]) u",
        "SELECT g, count(*) FROM shop.orders CROSS JOIN generate_series(1, (SELECT count(*) FROM shop.orders))"
        " g GROUP BY 1",
        "SELECT DISTINCT ON (customer_id) customer_id, total FROM shop.orders ORDER BY 1, created_at",
        "SELECT count(*) FROM (SELECT DISTINCT ON (status) status, total FROM shop.orders ORDER BY 1, 2) q",
    ],
)
def test_rows_by_rows_and_first_rows_of_others_are_refused(
    live: LiveProxy, analyst: str, text: str
) -> None:
    with live.connect("shop", analyst=analyst) as proxy:
        with pytest.raises(psycopg.Error) as caught:
            proxy.execute(text.encode())
        assert caught.value.sqlstate in ("0A000", "42501") and caught.value.diag.message_hint
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize("clause", ["OFFSET 1", "LIMIT 5", "OFFSET -1", "LIMIT ALL OFFSET 3"])
def test_clauses_that_cut_rows_stay_refused(live: LiveProxy, analyst: str, clause: str) -> None:
    text = _AROUND[1].replace("{}", clause)
    with live.connect("shop", analyst=analyst) as proxy:
        with pytest.raises(psycopg.Error) as caught:
            proxy.execute(text.encode())
        assert caught.value.sqlstate in ("0A000", "2201X")
    assert live.spent(analyst)[0] == 0


def test_an_offset_that_is_a_parameter_has_to_skip_nothing(live: LiveProxy, analyst: str) -> None:
    """Prisma writes its counts so."""
    text = 'SELECT COUNT(*) FROM (SELECT id FROM shop.orders WHERE 1=1 OFFSET $1) AS "sub"'
    for value in (b"0", None):
        with live.connect("shop", analyst=analyst) as proxy:
            result = proxy.pgconn.exec_params(text.encode(), [value])
            assert _near((result.get_value(0, 0) or b"").decode(), 60_000), result.error_message
    with live.connect("shop", analyst=analyst) as proxy:
        spent = live.when_settled(analyst)[0]
        result = proxy.pgconn.exec_params(text.encode(), [b"2"])
        assert b"OFFSET is not available below an aggregate" in result.error_message
        assert live.spent(analyst)[0] == spent
