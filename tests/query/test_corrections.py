"""Candidates for refused statements: what they are made of, and that no text makes the corrections raise."""

from __future__ import annotations

import pytest

from proxy.query.corrections import CANDIDATES, CORRECTIONS, corrections
from proxy.query.refused_parts import RefusedStatement, UsableColumn
from tests.live.hinted_statements import HINTED

_TABLES = {
    "shop.orders": (
        UsableColumn(name="status", is_listed=True),
        UsableColumn(name="total", is_number=True),
        UsableColumn(name="created_at"),
        UsableColumn(name="customer_id"),
    )
}


def _candidates(sql: str, reason: str, word: str | None = None, hint: str = "") -> list[str]:
    position = None if word is None else sql.index(word) + 1
    refused = RefusedStatement(
        text=sql, reason=reason, hint=hint, position=position, tables=_TABLES
    )
    return list(corrections(refused))


@pytest.mark.parametrize(
    ("sql", "reason", "word", "first"),
    [
        (
            "SELECT sum(total / visits) FROM orders",
            "UNSUPPORTED",
            "total",
            None,  # visits is no column that can be used
        ),
        (
            "SELECT sum(total / customer_id) FROM orders",
            "UNSUPPORTED",
            "total /",
            "SELECT sum(total / nullif(customer_id, 0)) FROM orders",
        ),
        (
            "SELECT created_at, '  ;' AS x, count(*) FROM orders GROUP BY created_at",
            "NO_BOUNDS",
            "created_at,",
            "SELECT date_trunc('month', created_at), '  ;' AS x, count(*) FROM orders"
            " GROUP BY date_trunc('month', created_at)",
        ),
        (
            "WITH big AS (SELECT * FROM orders WHERE total > 5) SELECT status, total FROM big",
            "RAW_ROWS",
            "SELECT status",
            "WITH big AS (SELECT * FROM orders WHERE total > 5) SELECT status, count(*), avg(total)"
            " FROM big GROUP BY status",
        ),
        (
            "SELECT status, sum(total), avg(total) FROM orders GROUP BY status",
            "INFEASIBLE",
            None,
            "SELECT status, sum(total) FROM orders GROUP BY status",
        ),
        (
            "SELECT DISTINCT ON (status) status, total FROM orders ORDER BY status, created_at",
            "RAW_ROWS",
            "DISTINCT",
            "SELECT status, count(*), avg(total) FROM orders GROUP BY status",
        ),
        ("SELECT OrderTotal FROM orders", "42703", "Order", "SELECT total FROM orders"),
        ("SELECT email FROM orders", "42703", "email", None),
        (
            "SELECT avg(Totals) FROM orders",
            "42703",
            "Totals",
            "SELECT avg(total) FROM orders",
        ),
    ],
)
def test_the_first_candidate(sql: str, reason: str, word: str | None, first: str | None) -> None:
    found = _candidates(sql, reason, word)
    assert (found[0] if found else None) == first


def test_several_statements_are_not_corrected() -> None:
    for sql in ("COMMIT; SELECT * FROM shop.orders", "SELECT * FROM shop.orders; DROP TABLE x"):
        assert _candidates(sql, "RAW_ROWS", "shop") == []


def test_no_text_makes_a_correction_raise() -> None:
    """Each statement with each reason, and each of its places to blame; and cut off anywhere."""
    hint = " ".join(HINTED)
    for sql in [one.refused for one in HINTED.values()]:
        for text in (sql, sql[: len(sql) // 2], sql[len(sql) // 3 :]):
            for reason in CORRECTIONS:
                for position in (None, 1, len(text) // 2, len(text), 10**6):
                    refused = RefusedStatement(
                        text=text, reason=reason, hint=hint, position=position, tables=_TABLES
                    )
                    assert len(list(corrections(refused))) <= CANDIDATES


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ("customer_id = 5 AND status = 'a'", " WHERE status = 'a'"),
        ("status = 'a' AND customer_id IN (1, 2)", " WHERE status = 'a'"),
        ("customer_id = 5", ""),
        ("status = 'a' OR customer_id = 5", " WHERE status = 'a' OR customer_id = 5"),
        (" AND ".join(f"customer_id = {n}" for n in range(600)), None),
    ],
)
def test_what_leaves_one_unit_is_left_out_whole_or_not_at_all(where: str, left: str | None) -> None:
    tables = {"shop.orders": (UsableColumn(name="customer_id", is_unit=True),)}
    text = f"SELECT * FROM orders WHERE {where}"
    refused = RefusedStatement(text=text, reason="RAW_ROWS", hint="", position=None, tables=tables)
    wanted = [] if left is None else [f"SELECT count(*) FROM orders{left}"]
    assert list(corrections(refused)) == wanted
