"""psycopg2, which writes values into the text of a statement."""

from __future__ import annotations

import io
import threading
import time
from contextlib import closing
from typing import Any

import psycopg2
import psycopg2.extensions
from each_feature import CERTIFICATE, MARKED, SQL, TLS_PORT, given, run


def connected(autocommit: bool = True) -> Any:
    connection = psycopg2.connect("sslmode=disable")
    connection.autocommit = autocommit
    return closing(connection)


def rows(connection: Any, sql: str, values: tuple[Any, ...] | None = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall() if cursor.description else []


def one(sql: str, values: tuple[Any, ...] | None = None) -> Any:
    with connected() as connection:
        return rows(connection, sql, values)[0][0]


def tls() -> object:
    way = {"host": "localhost", "port": TLS_PORT, "sslmode": "verify-full"}
    with closing(psycopg2.connect("", **way, sslrootcert=CERTIFICATE)) as connection:
        assert connection.info.ssl_in_use
        return rows(connection, SQL["one"])[0][0]


def reflection() -> object:
    with connected() as connection:
        return {
            name: [row[0] for row in rows(connection, SQL[name])]
            for name in ("schemas", "tables", "columns")
        }


def grouped_sum() -> object:
    with connected() as connection:
        return dict(rows(connection, SQL["grouped_sum"]))


def prepared() -> object:
    with connected() as connection:
        rows(connection, "PREPARE many(int) AS " + SQL["int"].replace("?", "$1"))
        return [rows(connection, "EXECUTE many(%s)", (n,))[0][0] for n in (2, 4)]


def transaction() -> object:
    with connected(autocommit=False) as connection:
        n = rows(connection, SQL["count"])[0][0]
        rows(connection, SQL["temporary"])
        connection.rollback()
        return [n, rows(connection, SQL["is_there"])[0][0]]


def cancel() -> object:
    with connected() as connection:
        threading.Timer(0.5, connection.cancel).start()
        start = time.monotonic()
        try:
            rows(connection, SQL["sleep"])
        except psycopg2.extensions.QueryCanceledError as error:
            return [error.pgcode, time.monotonic() - start]


def refusal() -> object:
    with connected() as connection:
        try:
            rows(connection, SQL["refused"])
        except psycopg2.Error as error:
            return [error.pgcode, error.diag.message_primary, error.diag.message_hint]


def after_error() -> object:
    with connected(autocommit=False) as connection:
        try:
            rows(connection, SQL["refused"])
        except psycopg2.Error:
            connection.rollback()
        return rows(connection, SQL["count"])[0][0]


def temporary_table() -> object:
    with connected() as connection:
        rows(connection, SQL["temporary"])
        return rows(connection, SQL["read_temporary"])[0][0]


def batches() -> object:
    with connected(autocommit=False) as connection, connection.cursor("c") as cursor:
        cursor.execute(SQL["by_status"])
        return [len(cursor.fetchmany(3)), len(cursor.fetchmany(3))]


def copy() -> object:
    with connected() as connection, connection.cursor() as cursor:
        written = io.StringIO()
        cursor.copy_expert(SQL["copy"], written)
        return dict(line.split("\t") for line in written.getvalue().splitlines())


if __name__ == "__main__":
    run(
        f"psycopg2 {psycopg2.__version__.split()[0]}",
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
