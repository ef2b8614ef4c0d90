"""psqlODBC, the driver of Excel, Power BI and R on other machines, through pyodbc."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from typing import Any

import pyodbc
from each_feature import (
    CERTIFICATE,
    DATABASE,
    HOST,
    PASSWORD,
    PORT,
    SQL,
    TLS_PORT,
    USER,
    NotApplicable,
    absent,
    given,
    run,
)


def connected(host: str = HOST, port: int = PORT, more: str = "sslmode=disable") -> Any:
    way = f"Driver=PostgreSQL Unicode;Server={host};Port={port};Database={DATABASE};{more}"
    return closing(pyodbc.connect(f"{way};UID={USER};PWD={PASSWORD}", autocommit=True))


def one(sql: str, *values: Any) -> Any:
    with connected() as connection:
        return connection.execute(sql, *values).fetchone()[0]


def tls() -> object:
    # Its certificate's authority is a file of the account; the host is checked by that alone.
    with connected(
        "localhost", TLS_PORT, f"sslmode=verify-full;pqopt=sslrootcert={CERTIFICATE}"
    ) as c:
        return c.execute(SQL["one"]).fetchone()[0]


def reflection() -> object:
    with connected() as connection:
        cursor = connection.cursor()
        cursor.primaryKeys("orders", schema="shop").fetchall()
        cursor.statistics("orders", schema="shop").fetchall()
        return {
            "schemas": [row[0] for row in cursor.execute(SQL["schemas"])],
            "tables": [row.table_name for row in cursor.tables(schema="shop", tableType="TABLE")],
            "columns": [row.column_name for row in cursor.columns("orders", schema="shop")],
        }


def grouped_sum() -> object:
    with connected() as connection:
        return {row.status: row.total for row in connection.execute(SQL["grouped_sum"])}


def prepared() -> object:
    with connected() as connection:
        cursor = connection.cursor()
        return [cursor.execute(SQL["int"], n).fetchone()[0] for n in (2, 4)]


def transaction() -> object:
    with connected() as connection:
        connection.autocommit = False
        n = connection.execute(SQL["count"]).fetchone()[0]
        connection.execute(SQL["temporary"])
        connection.rollback()
        return [n, connection.execute(SQL["is_there"]).fetchone()[0]]


def cancel() -> object:
    with connected() as connection:
        cursor = connection.cursor()
        threading.Timer(0.5, cursor.cancel).start()
        start = time.monotonic()
        try:
            cursor.execute(SQL["sleep"])
        except pyodbc.Error as error:
            assert "canceling statement" in str(error), error
            return ["57014", time.monotonic() - start]


def refusal() -> object:
    with connected() as connection:
        try:
            connection.execute(SQL["refused"])
        except pyodbc.Error as error:
            assert "cannot be returned" in error.args[1], error
            raise NotApplicable(
                "the message arrives; it shows no hints, of PostgreSQL's neither"
            ) from None


def after_error() -> object:
    with connected() as connection:
        connection.autocommit = False
        try:
            connection.execute(SQL["refused"])
        except pyodbc.Error:
            connection.rollback()
        return connection.execute(SQL["count"]).fetchone()[0]


def temporary_table() -> object:
    with connected() as connection:
        connection.execute(SQL["temporary"])
        return connection.execute(SQL["read_temporary"]).fetchone()[0]


def batches() -> object:
    with connected(more="sslmode=disable;UseDeclareFetch=1;Fetch=3") as connection:
        cursor = connection.execute(SQL["by_status"])
        return [len(cursor.fetchmany(3)), len(cursor.fetchmany(3))]


def version() -> str:
    with connected() as connection:
        return str(connection.getinfo(pyodbc.SQL_DRIVER_VER))


if __name__ == "__main__":
    run(
        f"psqlODBC {version()}",
        {
            "connect": lambda: one(SQL["one"]),
            "tls": tls,
            "reflection": reflection,
            "count": lambda: one(SQL["count"]),
            "grouped_sum": grouped_sum,
            **given(lambda name, value: one(SQL[name], value)),
            "list_parameter": absent("ODBC has no arrays; IN (?, ?) works"),
            "prepared": prepared,
            "time_range": lambda: one(SQL["time_range"]),
            "transaction": transaction,
            "cancel": cancel,
            "refusal": refusal,
            "after_error": after_error,
            "temporary_table": temporary_table,
            "batches": batches,
            "copy": absent("ODBC has no COPY"),
        },
    )
