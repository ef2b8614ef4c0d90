"""Whether what a program printed of a feature is right, against the protected database's exact answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import psycopg

MANY = 10_000  # orders of a status; programs ask for more
_COUNT = "SELECT count(*) FROM shop.orders"
_EXACT = {
    "count": _COUNT,
    "int_parameter": f"{_COUNT} WHERE quantity >= 3",
    "text_parameter": f"{_COUNT} WHERE status = 'paid'",
    "date_parameter": "SELECT count(*) FROM shop.customers WHERE birth_date >= '1990-01-01'",
    "timestamp_parameter": f"{_COUNT} WHERE created_at >= '2025-01-01 00:00:00+00'",
    "list_parameter": f"{_COUNT} WHERE status IN ('paid', 'shipped')",
    "null_parameter": f"{_COUNT} WHERE status = 'paid'",
    "time_range": f"{_COUNT} WHERE created_at >= now() - interval '3 years'",
    "raw": f"{_COUNT} WHERE quantity >= 3",
    "related": f"{_COUNT} o JOIN shop.customers c ON c.id = o.customer_id WHERE c.state = 'CA'",
    "more_than_2": f"{_COUNT} WHERE quantity >= 2",
    "more_than_4": f"{_COUNT} WHERE quantity >= 4",
}
_BY_STATUS = "SELECT status, count(*) FROM shop.orders GROUP BY status"
_AGGREGATE = (
    "SELECT count(*), sum(total), avg(total), min(quantity), max(quantity) FROM shop.orders"
)
_ORDERS = "count(*) FROM shop.orders"
_MONTH, _DAY = "date_trunc('month', created_at)::date::text", "created_at::date::text"
_MARCH = "date '2024-03-01', date '2024-03-10', interval '1 day'"
# What MetricFlow is asked: a metric by one dimension.
_BY_DIMENSION = {
    "by_month": f"SELECT {_MONTH}, {_ORDERS} GROUP BY 1",
    "ranged_month": f"SELECT {_MONTH}, {_ORDERS} WHERE extract(year FROM created_at) = 2024 GROUP BY 1",
    "dimension": f"SELECT status, {_ORDERS} GROUP BY 1",
    "joined": f"SELECT state, {_ORDERS} o JOIN shop.customers c ON c.id = customer_id GROUP BY 1",
    "filtered": f"SELECT status, {_ORDERS} WHERE status = 'paid' GROUP BY 1",
    "ratio": "SELECT state, avg((status = 'returned')::int) FROM shop.orders o"
    " JOIN shop.customers c ON c.id = customer_id GROUP BY 1",
    "derived": "SELECT m, t - b FROM (SELECT m, t, lag(t) OVER (ORDER BY m) AS b FROM"
    f" (SELECT {_MONTH} AS m, count(*) AS t FROM shop.orders GROUP BY 1) q) q"
    " WHERE m BETWEEN '2024' AND '2025'",
    "cumulative": "SELECT d::date::text, count(*) FROM generate_series("
    f"{_MARCH}) d JOIN shop.orders ON created_at::date <= d AND created_at::date > d - interval '7 days'"
    " GROUP BY 1",
    "filled": f"SELECT {_DAY}, {_ORDERS} WHERE created_at::date BETWEEN '2024-03-01' AND '2024-03-10'"
    " GROUP BY 1",
}
_SHARES = ("ratio",)  # quotients of two counts: within a few hundredths
_SUM_BY_STATUS = "SELECT status, sum(total) FROM shop.orders GROUP BY status"
_TABLES = ["customers", "orders", "products"]
_COLUMNS = ["id", "customer_id", "product_id", "quantity", "total", "status", "created_at"]
_SLOWEST_CANCEL = 20.0  # seconds; what is cancelled sleeps for 30


class Judge:
    """Gives "" or what is wrong."""

    def __init__(self, exact: psycopg.Connection) -> None:
        self._numbers: dict[str, float] = {}
        for name, sql in _EXACT.items():
            row = exact.execute(sql.encode()).fetchone()
            assert row is not None
            self._numbers[name] = float(row[0])
        self._groups: dict[str, Any] = dict(exact.execute(_BY_STATUS).fetchall())
        self._by_dimension: dict[str, dict[str | None, Any]] = {
            name: dict(exact.execute(sql.encode()).fetchall())
            for name, sql in _BY_DIMENSION.items()
        }
        self._most = {key: n for key, n in self._groups.items() if n > MANY}
        self._sums: dict[str, Any] = dict(exact.execute(_SUM_BY_STATUS).fetchall())
        self._aggregate = exact.execute(_AGGREGATE).fetchone() or ()
        self._by_feature: Mapping[str, Callable[[Any], bool]] = {
            "connect": lambda value: int(value) == 1,
            "tls": lambda value: int(value) == 1,
            "reflection": self._reflected,
            "grouped_sum": lambda value: _all_near(value, self._sums, 0.05),
            "prepared": self._prepared,
            "transaction": lambda value: self._is_count(value[0]) and int(value[1]) == 0,
            "two_counts": lambda value: all(map(self._is_count, value)) and len(value) == 2,
            "introspection": lambda value: set(_COLUMNS) <= set(value),
            "aggregate": self._is_aggregate,
            "having": lambda value: _all_near(value, self._most),
            "cancel": lambda value: value[0] == "57014" and float(value[1]) < _SLOWEST_CANCEL,
            "refusal": _refused,
            "after_error": self._is_count,
            "temporary_table": self._is_count,
            "batches": lambda value: [int(n) for n in value] == [3, 1],
            "copy": lambda value: _all_near(value, self._groups),
        }

    def wrong(self, feature: str, value: Any) -> str:
        if feature in self._by_dimension:
            return self._differs(feature, value)
        if feature in self._by_feature:
            try:
                right = self._by_feature[feature](value)
            except (TypeError, ValueError, KeyError, IndexError):
                right = False
            return "" if right else f"gave {value!r}"
        if feature not in self._numbers:  # compared by the program itself
            return "" if value is True else f"gave {value!r}"
        return "" if _near(value, self._numbers[feature]) else f"gave {value!r}"

    def _differs(self, feature: str, value: Mapping[str, Any]) -> str:
        exact = {key or "": float(number) for key, number in self._by_dimension[feature].items()}
        if set(value) != set(exact):
            return f"{len(value)} groups for {len(exact)}: {str(value)[:200]}"
        slack = 0.03 if feature in _SHARES else 100 + 0.03 * max(map(abs, exact.values()))
        far = {key: one for key, one in value.items() if abs(float(one) - exact[key]) > slack}
        return f"{far} for {exact}" if far else ""

    def _is_aggregate(self, value: Any) -> bool:
        rows, total, *small = (float(one) for one in value)
        near = [_near(rows, self._aggregate[0]), _near(total, float(self._aggregate[1]), 0.05)]
        rest = zip(small, self._aggregate[2:], strict=True)
        return all(near) and all(abs(one - float(other)) <= 1 for one, other in rest)

    def _is_count(self, value: Any) -> bool:
        return _near(value, self._numbers["count"])

    def _prepared(self, value: Any) -> bool:
        return _near(value[0], self._numbers["more_than_2"]) and _near(
            value[1], self._numbers["more_than_4"]
        )

    def _reflected(self, value: Any) -> bool:
        return (
            "shop" in value["schemas"]
            and sorted(value["tables"]) == _TABLES
            and list(value["columns"]) == _COLUMNS
        )


def _near(value: Any, exact: float, share: float = 0.02) -> bool:
    """share: of the exact number; the noise of a count is a few tens"""
    return abs(float(value) - exact) <= max(100.0, share * abs(exact))


def _all_near(found: Mapping[str, Any], exact: Mapping[str, Any], share: float = 0.02) -> bool:
    return set(found) == set(exact) and all(
        _near(found[key], float(exact[key]), share) for key in exact
    )


def _refused(value: Any) -> bool:
    state, message, hint = value
    return state in ("42501", None) and "cannot be returned" in message and "count(" in str(hint)
