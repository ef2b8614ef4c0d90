"""polars through ADBC, its fastest way, which reads by binary COPY, and its frames through SQLAlchemy."""

from __future__ import annotations

from contextlib import closing
from typing import Any
from urllib.parse import quote

import adbc_driver_postgresql
import adbc_driver_postgresql.dbapi as adbc
import polars as pl
from each_feature import (
    CERTIFICATE,
    DATABASE,
    HOST,
    NUMBERED,
    PASSWORD,
    PORT,
    SQL,
    TLS_PORT,
    USER,
    absent,
    given,
    run,
)


def uri(host: str = HOST, port: int = PORT, more: str = "") -> str:
    return f"postgresql://{USER}:{quote(PASSWORD)}@{host}:{port}/{DATABASE}{more}"


def one(sql: str) -> object:
    return pl.read_database_uri(sql, uri(), engine="adbc").item(0, 0)


def tls() -> object:
    where = uri("localhost", TLS_PORT, f"?sslmode=verify-full&sslrootcert={CERTIFICATE}")
    return pl.read_database_uri(SQL["one"], where, engine="adbc").item(0, 0)


def rows(connection: Any, sql: str, values: Any = None) -> pl.DataFrame:
    more = {"parameters": values} if values else {}
    return pl.read_database(sql, connection, execute_options=more)


def count(name: str, value: object) -> object:
    with closing(adbc.connect(uri())) as connection:
        return rows(connection, NUMBERED[name], [value]).item(0, 0)


def reflection() -> object:
    with closing(adbc.connect(uri())) as connection:
        objects = connection.adbc_get_objects(depth="columns", catalog_filter="shop").read_all()
        schemas = objects.to_pylist()[0]["catalog_db_schemas"]
        shop = next(one for one in schemas if one["db_schema_name"] == "shop")["db_schema_tables"]
        tables = {one["table_name"]: one for one in shop if one["table_type"] == "table"}
        return {
            "schemas": [one["db_schema_name"] for one in schemas],
            "tables": sorted(tables),
            "columns": [one["column_name"] for one in tables["orders"]["table_columns"]],
        }


def grouped_sum() -> object:
    return dict(pl.read_database_uri(SQL["grouped_sum"], uri(), engine="adbc").rows())


def prepared() -> object:
    return [count("int", n) for n in (2, 4)]


def transaction() -> object:
    with closing(adbc.connect(uri())) as connection, connection.cursor() as cursor:
        n = rows(connection, SQL["count"]).item(0, 0)
        cursor.execute(SQL["temporary"])
        connection.rollback()
        return [n, rows(connection, SQL["is_there"]).item(0, 0)]


def refusal() -> object:
    try:
        one(SQL["refused"])
    except Exception as error:
        return [None, str(error), str(error)]


def after_error() -> object:
    with closing(adbc.connect(uri())) as connection:
        try:
            rows(connection, SQL["refused"])
        except Exception:
            connection.rollback()
        return rows(connection, SQL["count"]).item(0, 0)


def temporary_table() -> object:
    with closing(adbc.connect(uri())) as connection, connection.cursor() as cursor:
        cursor.execute(SQL["temporary"])
        return rows(connection, SQL["read_temporary"]).item(0, 0)


def batches() -> object:
    with closing(adbc.connect(uri())) as connection, connection.cursor() as cursor:
        cursor.execute(SQL["by_status"])
        return [len(cursor.fetchmany(3)), len(cursor.fetchmany(3))]


if __name__ == "__main__":
    run(
        f"polars {pl.__version__}, ADBC {adbc_driver_postgresql.__version__}",
        {
            "connect": lambda: one(SQL["one"]),
            "tls": tls,
            "reflection": reflection,
            "count": lambda: one(SQL["count"]),
            "grouped_sum": grouped_sum,
            **given(count),
            "prepared": prepared,
            "time_range": lambda: one(SQL["time_range"]),
            "transaction": transaction,
            "cancel": absent("polars has no cancel"),
            "refusal": refusal,
            "after_error": after_error,
            "temporary_table": temporary_table,
            "batches": batches,
            "copy": absent("ADBC reads by COPY by itself"),
        },
    )
