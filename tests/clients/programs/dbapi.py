"""What drivers with Python's DB-API (PEP 249) do alike; what each does in its own way is in its program."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from each_feature import MARKED, SQL, NotApplicable, given

Feature = Callable[[], object]


@dataclass(frozen=True)
class Driver:
    """
    Attributes:
        connected: Gives a connection that commits each statement by itself, or not.
        over_tls: Gives one to the listener that takes TLS only; the certificate is checked.
        error: What it raises of a statement that fails.
        told: SQLSTATE, message and hint of such an error.
        marked: The statements, with its marks for parameters.
    """

    connected: Callable[[bool], AbstractContextManager[Any]]
    over_tls: Callable[[], AbstractContextManager[Any]]
    error: type[Exception]
    told: Callable[[Any], list[object]]
    marked: Mapping[str, str] = field(default_factory=lambda: MARKED)

    def features(self) -> dict[str, Feature]:
        """Those without `batches` and `copy`."""
        return {
            "connect": lambda: self.one("one"),
            "tls": self.tls,
            "reflection": self.reflection,
            "count": lambda: self.one("count"),
            "grouped_sum": self.grouped_sum,
            **given(self.one),
            "prepared": self.prepared,
            "time_range": lambda: self.one("time_range"),
            "transaction": self.transaction,
            "cancel": self.cancel,
            "refusal": self.refusal,
            "after_error": self.after_error,
            "temporary_table": self.temporary_table,
        }

    def one(self, name: str, *values: object) -> object:
        with self.connected(True) as connection:
            return rows(connection, self.marked[name], *values)[0][0]

    def tls(self) -> object:
        with self.over_tls() as connection:
            return rows(connection, SQL["one"])[0][0]

    def reflection(self) -> object:
        with self.connected(True) as connection:
            return {
                name: [row[0] for row in rows(connection, SQL[name])]
                for name in ("schemas", "tables", "columns")
            }

    def grouped_sum(self) -> object:
        with self.connected(True) as connection:
            return {row[0]: row[1] for row in rows(connection, SQL["grouped_sum"])}

    def prepared(self) -> object:
        with self.connected(True) as connection:
            cursor = connection.cursor()
            return [rows_of(cursor, self.marked["int"], n)[0][0] for n in (2, 4)]

    def transaction(self) -> object:
        with self.connected(False) as connection:
            n = rows(connection, SQL["count"])[0][0]
            rows(connection, SQL["temporary"])
            connection.rollback()
            return [n, rows(connection, SQL["is_there"])[0][0]]

    def cancel(self) -> object:
        with self.connected(True) as connection:
            cursor = connection.cursor()
            cancelling = getattr(cursor, "cancel", None) or getattr(connection, "cancel", None)
            if cancelling is None:
                raise NotApplicable(f"{self.error.__module__.split('.')[0]} cannot cancel")
            threading.Timer(0.5, cancelling).start()
            start = time.monotonic()
            try:
                rows_of(cursor, SQL["sleep"])
            except self.error as error:
                return [self.told(error)[0], time.monotonic() - start]

    def refusal(self) -> object:
        with self.connected(True) as connection:
            try:
                rows(connection, SQL["refused"])
            except self.error as error:
                return self.told(error)

    def after_error(self) -> object:
        with self.connected(False) as connection:
            try:
                rows(connection, SQL["refused"])
            except self.error:
                connection.rollback()
            return rows(connection, SQL["count"])[0][0]

    def temporary_table(self) -> object:
        with self.connected(True) as connection:
            rows(connection, SQL["temporary"])
            return rows(connection, SQL["read_temporary"])[0][0]


def rows(connection: Any, sql: str, *values: object) -> list[Any]:
    return rows_of(connection.cursor(), sql, *values)


def rows_of(cursor: Any, sql: str, *values: object) -> list[Any]:
    cursor.execute(sql, *([values] if values else []))
    return cursor.fetchall() if cursor.description else []
