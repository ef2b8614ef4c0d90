"""Correlation, covariance and regression through both interfaces: PostgreSQL's numbers within their errors."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
import pytest

from tests.servers.http.both_listeners import BothListeners

_KINDS = ("covar_pop", "covar_samp", "corr", "regr_slope", "regr_intercept", "regr_r2")
_PAIR = "income, age"
_TABLE = "census.adult"
_CLAMPED = "least(greatest(income, 0), 500000)::float8, least(greatest(age, 0), 120)::float8"


def _listed(pair: str, *around: str) -> str:
    return ", ".join(
        f"{before}{kind}({pair}){')' if before else ''}" for kind in _KINDS for before in around
    )


def _truth(listeners: BothListeners, condition: str = "") -> tuple[float, ...]:
    with psycopg.connect(listeners.proxy.servers.protected.dsn("census")) as connection:
        sql = f"SELECT {_listed(_CLAMPED, '')} FROM {_TABLE}{condition}"
        row = connection.execute(sql.encode()).fetchone()
    assert row is not None
    return tuple(map(float, row))


def _within(found: Sequence[object], truth: Sequence[float]) -> None:
    """found: each answer, then its dp.error. One of six intervals may miss now and then; ten half widths are
    never reached."""
    for kind, answer, error, own in zip(_KINDS, found[::2], found[1::2], truth, strict=True):
        assert isinstance(answer, int | float) and isinstance(error, int | float), kind
        assert 0 < error < float("inf"), kind
        assert abs(answer - own) <= 10 * error, (kind, answer, own, error)


@pytest.mark.parametrize("condition", ["", " WHERE sex = 'Female'"])
def test_both_interfaces_answer(condition: str, listeners: BothListeners) -> None:
    sql = f"SELECT {_listed(_PAIR, '', 'dp.error(')} FROM {_TABLE}{condition}"
    truth = _truth(listeners, condition)
    with listeners.proxy.connect("census") as connection:
        row = connection.execute(sql.encode()).fetchone()
    assert row is not None
    _within(row, truth)
    body = listeners.query(sql, database="census").json()
    assert {column["type"] for column in body["columns"][::2]} == {"double precision"}
    _within(body["rows"][0], truth)
    assert [entry["aggregate"] for entry in body["accuracy"]] == list(_KINDS)
    assert {entry["error_95"] for entry in body["accuracy"]} == {None}
    assert sum(entry["epsilon"] for entry in body["accuracy"]) == pytest.approx(
        body["privacy"]["epsilon"]
    )


def test_by_a_key_with_filter(listeners: BothListeners) -> None:
    sql = (
        f"SELECT sex, corr({_PAIR}) FILTER (WHERE age > 30), count(*) FROM {_TABLE} "
        "GROUP BY sex HAVING corr(income, age) FILTER (WHERE age > 30) <= 1 ORDER BY sex"
    )
    with listeners.proxy.connect("census") as connection:
        rows = connection.execute(sql.encode()).fetchall()
    assert [key for key, _, _ in rows] == ["Female", "Male"]
    assert all(-1 <= float(found) <= 1 for _, found, _ in rows)


def test_explain_says_what_they_are_made_of(listeners: BothListeners) -> None:
    with listeners.proxy.connect("census") as connection:
        lines = connection.execute(
            f"EXPLAIN (VERBOSE) SELECT corr({_PAIR}) FROM {_TABLE}".encode()
        ).fetchall()
    text = " ".join(str(line) for (line,) in lines)
    assert "six noisy sums" in text
    assert "the error shrinks" in text
