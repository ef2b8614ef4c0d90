"""SQLAlchemy 2 on a driver that DP_DRIVER names: reflection, and Core with parameters of each type."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from each_feature import (
    CERTIFICATE,
    DATABASE,
    GIVEN,
    HOST,
    PASSWORD,
    PORT,
    SQL,
    TLS_PORT,
    USER,
    absent,
    run,
)
from sqlalchemy.ext.asyncio import create_async_engine

DRIVER = os.environ["DP_DRIVER"]
URL = sa.URL.create(f"postgresql+{DRIVER}", USER, PASSWORD, HOST, PORT, DATABASE)
Work = Callable[[sa.Connection], object]


def alone(work: Work, url: sa.URL = URL, **more: Any) -> Callable[[], object]:
    """On a connection of its own; its transaction is rolled back."""
    if DRIVER == "asyncpg":

        async def talk() -> object:
            engine = create_async_engine(url, **more)
            async with engine.connect() as connection:
                value = await connection.run_sync(work)
            await engine.dispose()
            return value

        return lambda: asyncio.run(talk())

    def talk_in_turn() -> object:
        engine = sa.create_engine(url, **more)
        with engine.connect() as connection:
            value = work(connection)
        engine.dispose()
        return value

    return talk_in_turn


def tls() -> Callable[[], object]:
    url = URL.set(host="localhost", port=TLS_PORT)
    match DRIVER:
        case "psycopg" | "psycopg2":
            more: dict[str, Any] = {"sslmode": "verify-full", "sslrootcert": CERTIFICATE}
        case _:
            import ssl

            name = "ssl" if DRIVER == "asyncpg" else "ssl_context"
            more = {name: ssl.create_default_context(cafile=CERTIFICATE)}
    return alone(one(SQL["one"]), url, connect_args=more)


def one(sql: str) -> Work:
    return lambda connection: connection.execute(sa.text(sql)).scalar_one()


def table(connection: sa.Connection, name: str = "orders") -> sa.Table:
    return sa.Table(name, sa.MetaData(), autoload_with=connection, schema="shop", resolve_fks=False)


def reflection(connection: sa.Connection) -> object:
    inspector = sa.inspect(connection)
    for name in inspector.get_table_names("shop"):
        for of_table in (
            inspector.get_pk_constraint,
            inspector.get_foreign_keys,
            inspector.get_indexes,
            inspector.get_unique_constraints,
            inspector.get_check_constraints,
            inspector.get_table_comment,
        ):
            of_table(name, "shop")
    return {
        "schemas": inspector.get_schema_names(),
        "tables": inspector.get_table_names("shop"),
        "columns": [column["name"] for column in inspector.get_columns("orders", "shop")],
    }


def count(connection: sa.Connection) -> object:
    return connection.execute(sa.select(sa.func.count()).select_from(table(connection))).scalar()


def grouped_sum(connection: sa.Connection) -> object:
    orders = table(connection)
    query = (
        sa.select(orders.c.status, sa.func.sum(orders.c.total).label("total"))
        .group_by(orders.c.status)
        .order_by(sa.desc("total"))
        .limit(10)
    )
    return dict(list(map(tuple, connection.execute(query))))


def given(name: str) -> Work:
    value: Any = GIVEN[name]

    def work(connection: sa.Connection) -> object:
        orders = table(connection)
        people = table(connection, "customers")
        condition = {
            "int": lambda: orders.c.quantity >= value,
            "text": lambda: orders.c.status == value,
            "date": lambda: people.c.birth_date >= value,
            "timestamp": lambda: orders.c.created_at >= value,
            "list": lambda: orders.c.status.in_(value),
            "null": lambda: (
                orders.c.status == sa.func.coalesce(sa.bindparam("p", value, sa.Text), "paid")
            ),
        }[name]()
        return connection.execute(sa.select(sa.func.count()).where(condition)).scalar_one()

    return work


def prepared(connection: sa.Connection) -> object:
    orders = table(connection)
    query = sa.select(sa.func.count()).where(orders.c.quantity >= sa.bindparam("n"))
    return [connection.execute(query, {"n": n}).scalar_one() for n in (2, 4)]


def time_range(connection: sa.Connection) -> object:
    orders = table(connection)
    since = sa.func.now() - dt.timedelta(days=3 * 365 + 1)
    sliced = sa.select(sa.func.count()).where(orders.c.created_at >= since)
    connection.execute(sliced).scalar_one()
    return connection.execute(sa.text(SQL["time_range"])).scalar_one()


def transaction(connection: sa.Connection) -> object:
    n = count(connection)
    connection.execute(sa.text(SQL["temporary"]))
    connection.rollback()
    return [n, connection.execute(sa.text(SQL["is_there"])).scalar_one()]


def cancel(connection: sa.Connection) -> object:
    driver: Any = connection.connection.driver_connection
    start = time.monotonic()
    threading.Timer(0.5, driver.cancel).start()
    try:
        connection.execute(sa.text(SQL["sleep"]))
    except sa.exc.DBAPIError as error:
        state = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None)
        return [state, time.monotonic() - start]


def refusal(connection: sa.Connection) -> object:
    try:
        connection.execute(sa.select(table(connection).c.total))
    except sa.exc.DBAPIError as error:
        text = str(error.orig)
        return [None, text, getattr(error.orig.__cause__, "hint", None) or text]


def after_error(connection: sa.Connection) -> object:
    refusal(connection)
    connection.rollback()
    return count(connection)


def temporary_table(connection: sa.Connection) -> object:
    connection.execute(sa.text(SQL["temporary"]))
    return connection.execute(sa.text(SQL["read_temporary"])).scalar_one()


def batches(connection: sa.Connection) -> object:
    streamed = connection.execution_options(stream_results=True, max_row_buffer=3)
    result = streamed.execute(sa.text(SQL["by_status"]))
    return [len(part) for part in result.partitions(3)]


if __name__ == "__main__":
    run(
        f"SQLAlchemy {sa.__version__}",
        {
            "connect": alone(one(SQL["one"])),
            "tls": tls(),
            "reflection": alone(reflection),
            "count": alone(count),
            "grouped_sum": alone(grouped_sum),
            **{f"{name}_parameter": alone(given(name)) for name in GIVEN},
            "prepared": alone(prepared),
            "time_range": alone(time_range),
            "transaction": alone(transaction),
            "cancel": (
                alone(cancel)
                if DRIVER.startswith("psycopg")
                else absent(
                    "SQLAlchemy has no cancel; this driver's needs its own loop, or is none"
                )
            ),
            "refusal": alone(refusal),
            "after_error": alone(after_error),
            "temporary_table": alone(temporary_table),
            "batches": alone(batches),
            "copy": absent("SQLAlchemy has no COPY; that of the driver works"),
        },
    )
