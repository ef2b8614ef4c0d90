"""Whether what a program printed of a feature is right, against the protected database's exact answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import psycopg

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
    "more_than_2": f"{_COUNT} WHERE quantity >= 2",
    "more_than_4": f"{_COUNT} WHERE quantity >= 4",
}
_BY_STATUS = "SELECT status, count(*) FROM shop.orders GROUP BY status"
_SUM_BY_STATUS = "SELECT status, sum(total) FROM shop.orders GROUP BY status"
_TABLES = ["customers", "orders", "products"]
_COLUMNS = ["customer_id", "product_id", "quantity", "total", "status", "created_at"]
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
        self._sums: dict[str, Any] = dict(exact.execute(_SUM_BY_STATUS).fetchall())
        self._by_feature: Mapping[str, Callable[[Any], bool]] = {
            "connect": lambda value: int(value) == 1,
            "tls": lambda value: int(value) == 1,
            "reflection": self._reflected,
            "grouped_sum": lambda value: _all_near(value, self._sums, 0.05),
            "prepared": self._prepared,
            "transaction": lambda value: self._is_count(value[0]) and int(value[1]) == 0,
            "cancel": lambda value: value[0] == "57014" and float(value[1]) < _SLOWEST_CANCEL,
            "refusal": _refused,
            "after_error": self._is_count,
            "temporary_table": self._is_count,
            "batches": lambda value: [int(n) for n in value] == [3, 1],
            "copy": lambda value: _all_near(value, self._groups),
        }

    def wrong(self, feature: str, value: Any) -> str:
        if feature in self._by_feature:
            try:
                right = self._by_feature[feature](value)
            except (TypeError, ValueError, KeyError, IndexError):
                right = False
            return "" if right else f"gave {value!r}"
        if feature not in self._numbers:  # compared by the program itself
            return "" if value is True else f"gave {value!r}"
        return "" if _near(value, self._numbers[feature]) else f"gave {value!r}"

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
