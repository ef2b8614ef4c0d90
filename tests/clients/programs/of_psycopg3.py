"""psycopg 3, alone and behind pgbouncer."""

from __future__ import annotations

import threading
import time
from typing import Any

import psycopg
from each_feature import CERTIFICATE, MARKED, SQL, TLS_PORT, given, run


def connected(**more: Any) -> psycopg.Connection:
    return psycopg.connect("", autocommit=True, sslmode="disable", **more)


def one(sql: str, values: tuple[Any, ...] = (), **more: Any) -> Any:
    with connected() as connection:
        return connection.execute(sql, values or None, **more).fetchone()[0]


def tls() -> object:
    with psycopg.connect(
        host="localhost", port=TLS_PORT, sslmode="verify-full", sslrootcert=CERTIFICATE
    ) as connection:
        assert connection.pgconn.ssl_in_use
        return connection.execute(SQL["one"]).fetchone()[0]


def reflection() -> object:
    with connected() as connection:
        return {
            name: [row[0] for row in connection.execute(SQL[name])]
            for name in ("schemas", "tables", "columns")
        }


def grouped_sum() -> object:
    with connected() as connection:
        return dict(connection.execute(SQL["grouped_sum"]).fetchall())


def prepared() -> object:
    with connected() as connection:
        return [connection.execute(MARKED["int"], (n,), prepare=True).fetchone()[0] for n in (2, 4)]


def transaction() -> object:
    with connected() as connection:
        with connection.transaction(force_rollback=True):
            n = connection.execute(SQL["count"]).fetchone()[0]
            connection.execute(SQL["temporary"])
        return [n, connection.execute(SQL["is_there"]).fetchone()[0]]


def cancel() -> object:
    with connected() as connection:
        threading.Timer(0.5, connection.cancel_safe).start()
        start = time.monotonic()
        try:
            connection.execute(SQL["sleep"])
        except psycopg.errors.QueryCanceled as error:
            return [error.sqlstate, time.monotonic() - start]


def refusal() -> object:
    with connected() as connection:
        try:
            connection.execute(SQL["refused"])
        except psycopg.Error as error:
            return [error.sqlstate, error.diag.message_primary, error.diag.message_hint]


def after_error() -> object:
    with psycopg.connect("", sslmode="disable") as connection:
        try:
            connection.execute(SQL["refused"])
        except psycopg.Error:
            connection.rollback()
        return connection.execute(SQL["count"]).fetchone()[0]


def temporary_table() -> object:
    with connected() as connection:
        connection.execute(SQL["temporary"])
        return connection.execute(SQL["read_temporary"]).fetchone()[0]


def batches() -> object:
    with connected() as connection, connection.transaction(), connection.cursor("c") as cursor:
        cursor.execute(SQL["by_status"])
        return [len(cursor.fetchmany(3)), len(cursor.fetchmany(3))]


def copy() -> object:
    with connected() as connection, connection.cursor().copy(SQL["copy"]) as rows:
        return dict(rows.rows())


if __name__ == "__main__":
    run(
        f"psycopg {psycopg.__version__}",
        {
            "connect": lambda: one(SQL["one"]),
            "tls": tls,
            "reflection": reflection,
            "count": lambda: one(SQL["count"]),
            "grouped_sum": grouped_sum,
            **given(lambda name, value: one(MARKED[name], (value,))),
            "prepared": prepared,
            "time_range": lambda: one(SQL["time_range"]),
            "transaction": transaction,
            "cancel": cancel,
            "refusal": refusal,
            "after_error": after_error,
            "temporary_table": temporary_table,
            "batches": batches,
            "copy": copy,
        },
    )
