"""psqlODBC, the driver of Excel, Power BI and R on other machines, through pyodbc."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pyodbc
from dbapi import Driver
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
    run,
)


def connected(
    autocommit: bool, host: str = HOST, port: int = PORT, more: str = "sslmode=disable"
) -> Any:
    way = f"Driver=PostgreSQL Unicode;Server={host};Port={port};Database={DATABASE};{more}"
    return closing(pyodbc.connect(f"{way};UID={USER};PWD={PASSWORD}", autocommit=autocommit))


def over_tls() -> Any:
    # Its certificate's authority is a file of the account; the host is checked by that alone.
    more = f"sslmode=verify-full;pqopt=sslrootcert={CERTIFICATE}"
    return connected(True, "localhost", TLS_PORT, more)


def reflection() -> object:
    with connected(True) as connection:
        cursor = connection.cursor()
        cursor.primaryKeys("orders", schema="shop").fetchall()
        cursor.statistics("orders", schema="shop").fetchall()
        return {
            "schemas": [row[0] for row in cursor.execute(SQL["schemas"])],
            "tables": [row.table_name for row in cursor.tables(schema="shop", tableType="TABLE")],
            "columns": [row.column_name for row in cursor.columns("orders", schema="shop")],
        }


def told(error: pyodbc.Error) -> list[object]:
    if "canceling statement" in str(error):
        return ["57014"]
    assert "cannot be returned" in error.args[1], error
    raise NotApplicable("the message arrives; it shows no hints, of PostgreSQL's neither")


def batches() -> object:
    with connected(True, more="sslmode=disable;UseDeclareFetch=1;Fetch=3") as connection:
        cursor = connection.execute(SQL["by_status"])
        return [len(cursor.fetchmany(3)), len(cursor.fetchmany(3))]


def version() -> str:
    with connected(True) as connection:
        return str(connection.getinfo(pyodbc.SQL_DRIVER_VER))


DRIVER = Driver(connected=connected, over_tls=over_tls, error=pyodbc.Error, told=told, marked=SQL)

if __name__ == "__main__":
    own = {
        "reflection": reflection,
        "list_parameter": absent("ODBC has no arrays; IN (?, ?) works"),
        "batches": batches,
        "copy": absent("ODBC has no COPY"),
    }
    run(f"psqlODBC {version()}", {**DRIVER.features(), **own})
