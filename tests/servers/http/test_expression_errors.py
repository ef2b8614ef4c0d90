"""dp.low, dp.high and dp.error of arithmetic over aggregates, through both interfaces: PostgreSQL's own value
of the expression is between them, in its own type."""

from __future__ import annotations

from decimal import Decimal

import psycopg
import pytest

from tests.servers.http.both_listeners import BothListeners

_TABLE = "shop.orders"
_EXPRESSIONS = (
    *("sum(total) / count(*)", "sum(quantity) / count(*)", "sum(quantity)::numeric / count(*)"),
    *("round(sum(total) / count(*), 2)", "sum(total) - 10 * count(*)", "-sum(total)"),
    *("count(*) FILTER (WHERE total > 50) * 100.0 / count(*)", "2 * count(*) + 1"),
    *("round(100.0 * sum(total) FILTER (WHERE status = 'shipped') / sum(total), 1)",),
    *("coalesce(sum(total) / nullif(count(*), 0), 0)", "stddev(total) / 3"),
    *("count(*)::float8 / 7", "(sum(total) / 7)::bigint", "greatest(count(*), 0)"),
    *("abs(count(*) - sum(quantity))", "floor(sum(total) / 1000)", "round(sum(quantity) / 3.0)"),
    *("(sum(total) / count(*))::numeric(10,1)", "ceil(count(*) / 2.0)", "trunc(sum(total) / 9, 3)"),
    *("count(*) / 7", "-count(*) / 7", "corr(total, quantity) + 1", "count(*)::real / 3"),
)


def _asked(expression: str) -> str:
    """The answer, its interval, its error, and whether all is in PostgreSQL's types."""
    return (
        f"({expression})::float8, dp.low({expression})::float8, dp.high({expression})::float8,"
        f" dp.error({expression}), pg_typeof({expression}) = pg_typeof(dp.low({expression}))"
        f" AND pg_typeof({expression}) = pg_typeof(dp.high({expression}))"
    )


def _is_within(value: float, low: float, high: float, error: float, same_types: bool) -> None:
    rounding = 1e-9 * max(1, abs(value))
    assert low - rounding <= value <= high + rounding
    assert error >= 0 and same_types
    assert value - low <= error + rounding and high - value <= error + rounding


@pytest.mark.every(9)
@pytest.mark.parametrize("expression", _EXPRESSIONS)
def test_the_answer_is_between(expression: str, listeners: BothListeners) -> None:
    with listeners.proxy.connect("shop") as connection:
        row = connection.execute(f"SELECT {_asked(expression)} FROM {_TABLE}".encode()).fetchone()
    assert row is not None
    value, low, high, error, same_types = row
    _is_within(value, low, high, error, same_types)


def test_over_http_with_groups_having_and_order(listeners: BothListeners) -> None:
    mean = "sum(total) / count(*)"
    body = listeners.query(
        f"SELECT status, {_asked(mean)} FROM {_TABLE} GROUP BY status"
        f" HAVING dp.error({mean}) < 1000 ORDER BY dp.error({mean}), status"
    ).json()
    assert len(body["rows"]) > 2
    errors = []
    for _, *found in body["rows"]:
        _is_within(*found)
        errors.append(found[3])
    assert errors == sorted(errors)
    assert [column["name"] for column in body["columns"]][2:5] == ["low", "high", "error"]


def test_what_may_be_divided_by_0_is_null(listeners: BothListeners) -> None:
    with listeners.proxy.connect("shop") as connection:
        row = connection.execute(
            f"SELECT dp.error(sum(total) / nullif(count(*) - count(*), 0)), dp.error(count(*) + 0)"
            f" FROM {_TABLE}".encode()
        ).fetchone()
    assert row is not None and row[0] is None and row[1] > 0


def test_it_costs_what_the_aggregates_cost(listeners: BothListeners) -> None:
    plain = f"SELECT sum(total), count(*) FROM {_TABLE}"
    asked = f"SELECT dp.low(sum(total) / count(*)) FROM {_TABLE}"
    plans = [listeners.query(sql, path="/v1/explain").json() for sql in (plain, asked)]
    assert plans[0]["privacy"] == plans[1]["privacy"]
    assert plans[0]["blocks"] == plans[1]["blocks"]


def test_what_no_interval_goes_through_is_refused(listeners: BothListeners) -> None:
    with (
        listeners.proxy.connect("shop") as connection,
        pytest.raises(psycopg.errors.FeatureNotSupported) as refused,
    ):
        connection.execute(f"SELECT dp.error(sqrt(count(*))) FROM {_TABLE}".encode())
    assert "round, floor, ceil" in str(refused.value.diag.message_hint)
    body = listeners.query(f"SELECT dp.error(sqrt(count(*))) FROM {_TABLE}").json()
    assert body["sqlstate"] == "0A000" and body["position"] == 17


def test_parameters_in_its_aggregates(listeners: BothListeners) -> None:
    share = "count(*) FILTER (WHERE total > $1) * 100.0 / count(*)"
    body = listeners.query(f"SELECT {share}, dp.error({share}) FROM {_TABLE}", 50).json()
    ((value, error),) = body["rows"]
    assert 0 < Decimal(str(error)) < 1000 and value is not None
