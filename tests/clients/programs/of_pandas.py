"""pandas through SQLAlchemy and psycopg, as its documents show."""

from __future__ import annotations

from typing import Any

import pandas as pd
import sqlalchemy as sa
from each_feature import (
    CERTIFICATE,
    DATABASE,
    HOST,
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

URL = sa.URL.create("postgresql+psycopg", USER, PASSWORD, HOST, PORT, DATABASE)
ENGINE = sa.create_engine(URL)
OF_SQLALCHEMY = absent("that of SQLAlchemy")


def frame(sql: str, engine: Any = ENGINE, **more: Any) -> pd.DataFrame:
    return pd.read_sql_query(sa.text(sql), engine, **more)


def one(sql: str, **more: Any) -> object:
    return frame(sql, **more).iloc[0, 0]


def tls() -> object:
    more = {"sslmode": "verify-full", "sslrootcert": CERTIFICATE}
    engine = sa.create_engine(URL.set(host="localhost", port=TLS_PORT), connect_args=more)
    return frame(SQL["one"], engine).iloc[0, 0]


def reflection() -> object:
    """What it has: an empty frame with the columns and types of a table."""
    return {name: list(frame(SQL[name]).iloc[:, 0]) for name in ("schemas", "tables")} | {
        "columns": list(frame("SELECT * FROM shop.orders WHERE false").columns)
    }


def refusal() -> object:
    try:
        pd.read_sql_table("orders", ENGINE, schema="shop", columns=["total"])
    except pd.errors.DatabaseError as error:
        return [None, str(error), str(error)]


def after_error() -> object:
    with ENGINE.connect() as connection:
        try:
            frame(SQL["refused"], connection)
        except pd.errors.DatabaseError:
            connection.rollback()
        return frame(SQL["count"], connection).iloc[0, 0]


def temporary_table() -> object:
    """Its own: answers are read, and written into a temporary table of the session."""
    with ENGINE.connect() as connection:
        connection.execute(sa.text("CREATE TEMPORARY TABLE answers (status text, n bigint)"))
        frame(SQL["by_status"], connection).to_sql(
            "answers", connection, if_exists="append", index=False
        )
        return frame(SQL["read_temporary"], connection).iloc[0, 0]


def batches() -> object:
    with ENGINE.connect().execution_options(stream_results=True) as connection:
        return [len(part) for part in frame(SQL["by_status"], connection, chunksize=3)]


if __name__ == "__main__":
    run(
        f"pandas {pd.__version__}",
        {
            "connect": lambda: one(SQL["one"]),
            "tls": tls,
            "reflection": reflection,
            "count": lambda: one(SQL["count"]),
            "grouped_sum": lambda: dict(frame(SQL["grouped_sum"]).itertuples(index=False)),
            **given(lambda name, value: one(NAMED[name], params={"p": value})),
            "prepared": OF_SQLALCHEMY,
            "time_range": lambda: one(SQL["time_range"]),
            "transaction": OF_SQLALCHEMY,
            "cancel": OF_SQLALCHEMY,
            "refusal": refusal,
            "after_error": after_error,
            "temporary_table": temporary_table,
            "batches": batches,
            "copy": OF_SQLALCHEMY,
        },
    )
