"""pg8000: pure Python, values as texts, prepared on each call."""

from __future__ import annotations

import importlib.metadata
import io
import ssl
from contextlib import closing
from typing import Any

import pg8000.dbapi
import pg8000.native
from each_feature import (
    CERTIFICATE,
    DATABASE,
    HOST,
    MARKED,
    NAMED,
    PASSWORD,
    PORT,
    SQL,
    TLS_PORT,
    USER,
    absent,
    given,
    run,
)


def connected(autocommit: bool = True, **more: Any) -> Any:
    way = {"host": HOST, "port": PORT, "ssl_context": None, **more}
    connection = pg8000.dbapi.connect(USER, password=PASSWORD, database=DATABASE, **way)
    connection.autocommit = autocommit
    return closing(connection)


def rows(connection: Any, sql: str, values: tuple[Any, ...] = (), **more: Any) -> list[Any]:
    cursor = connection.cursor()
    cursor.execute(sql, values, **more)
    return cursor.fetchall() if cursor.description else []


def one(sql: str, values: tuple[Any, ...] = ()) -> Any:
    with connected() as connection:
        return rows(connection, sql, values)[0][0]


def tls() -> object:
    context = ssl.create_default_context(cafile=CERTIFICATE)
    with connected(host="localhost", port=TLS_PORT, ssl_context=context) as connection:
        return rows(connection, SQL["one"])[0][0]


def reflection() -> object:
    with connected() as connection:
        return {
            name: [row[0] for row in rows(connection, SQL[name])]
            for name in ("schemas", "tables", "columns")
        }


def grouped_sum() -> object:
    with connected() as connection:
        return {row[0]: row[1] for row in rows(connection, SQL["grouped_sum"])}


def prepared() -> object:
    way = {"host": HOST, "port": PORT, "ssl_context": None}
    with closing(
        pg8000.native.Connection(USER, password=PASSWORD, database=DATABASE, **way)
    ) as connection:
        statement = connection.prepare(NAMED["int"].replace(":p", "cast(:p AS integer)"))
        return [statement.run(p=n)[0][0] for n in (2, 4)]


def transaction() -> object:
    with connected(autocommit=False) as connection:
        n = rows(connection, SQL["count"])[0][0]
        rows(connection, SQL["temporary"])
        connection.rollback()
        return [n, rows(connection, SQL["is_there"])[0][0]]


def refusal() -> object:
    with connected() as connection:
        try:
            rows(connection, SQL["refused"])
        except pg8000.dbapi.DatabaseError as error:
            return [error.args[0][key] for key in "CMH"]


def after_error() -> object:
    with connected(autocommit=False) as connection:
        try:
            rows(connection, SQL["refused"])
        except pg8000.dbapi.DatabaseError:
            connection.rollback()
        return rows(connection, SQL["count"])[0][0]


def temporary_table() -> object:
    with connected() as connection:
        rows(connection, SQL["temporary"])
        return rows(connection, SQL["read_temporary"])[0][0]


def batches() -> object:
    with connected(autocommit=False) as connection:
        rows(connection, "DECLARE c CURSOR FOR " + SQL["by_status"])
        return [len(rows(connection, "FETCH 3 FROM c")) for _ in range(2)]


def copy() -> object:
    with connected() as connection:
        written = io.BytesIO()
        rows(connection, SQL["copy"], stream=written)
        return dict(line.split("\t") for line in written.getvalue().decode().splitlines())


if __name__ == "__main__":
    run(
        f"pg8000 {importlib.metadata.version('pg8000')}",
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
            "cancel": absent("pg8000 cannot cancel"),
            "refusal": refusal,
            "after_error": after_error,
            "temporary_table": temporary_table,
            "batches": batches,
            "copy": copy,
        },
    )
