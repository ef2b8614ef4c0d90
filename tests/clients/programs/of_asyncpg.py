"""asyncpg: binary values, prepared always."""

from __future__ import annotations

import asyncio
import io
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
from each_feature import CERTIFICATE, NUMBERED, SQL, TLS_PORT, given, run

Session = Any


def alone(work: Callable[[Session], Awaitable[object]], **more: Any) -> Callable[[], object]:
    async def talk() -> object:
        connection = await asyncpg.connect(**{"ssl": False, **more})
        try:
            return await work(connection)
        finally:
            await connection.close()

    return lambda: asyncio.run(talk())


def one(sql: str, *values: Any) -> Callable[[], object]:
    return alone(lambda connection: connection.fetchval(sql, *values))


async def reflection(connection: Session) -> object:
    return {
        name: [row[0] for row in await connection.fetch(SQL[name])]
        for name in ("schemas", "tables", "columns")
    }


async def grouped_sum(connection: Session) -> object:
    return {row[0]: row[1] for row in await connection.fetch(SQL["grouped_sum"])}


async def prepared(connection: Session) -> object:
    statement = await connection.prepare(NUMBERED["int"])
    return [await statement.fetchval(n) for n in (2, 4)]


async def transaction(connection: Session) -> object:
    block = connection.transaction()
    await block.start()
    n = await connection.fetchval(SQL["count"])
    await connection.execute(SQL["temporary"])
    await block.rollback()
    return [n, await connection.fetchval(SQL["is_there"])]


async def cancel(connection: Session) -> object:
    start = time.monotonic()
    try:
        await connection.execute(SQL["sleep"], timeout=0.5)  # cancels when the time is over
    except asyncio.TimeoutError:
        await connection.fetchval(SQL["one"])
        return ["57014", time.monotonic() - start]


async def refusal(connection: Session) -> object:
    try:
        await connection.fetch(SQL["refused"])
    except asyncpg.PostgresError as error:
        return [error.sqlstate, error.message, error.hint]


async def after_error(connection: Session) -> object:
    try:
        async with connection.transaction():
            await connection.fetch(SQL["refused"])
    except asyncpg.PostgresError:
        return await connection.fetchval(SQL["count"])


async def temporary_table(connection: Session) -> object:
    await connection.execute(SQL["temporary"])
    return await connection.fetchval(SQL["read_temporary"])


async def batches(connection: Session) -> object:
    async with connection.transaction():
        cursor = await connection.cursor(SQL["by_status"])
        return [len(await cursor.fetch(3)), len(await cursor.fetch(3))]


async def copy(connection: Session) -> object:
    written = io.BytesIO()
    query = SQL["copy"].removeprefix("COPY (").removesuffix(") TO STDOUT")
    await connection.copy_from_query(query, output=written)
    return dict(line.split("\t") for line in written.getvalue().decode().splitlines())


def context() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=CERTIFICATE)


if __name__ == "__main__":
    run(
        f"asyncpg {asyncpg.__version__}",
        {
            "connect": one(SQL["one"]),
            "tls": alone(
                lambda connection: connection.fetchval(SQL["one"]),
                host="localhost",
                port=TLS_PORT,
                ssl=context(),
            ),
            "reflection": alone(reflection),
            "count": one(SQL["count"]),
            "grouped_sum": alone(grouped_sum),
            **given(lambda name, value: one(NUMBERED[name], value)()),
            "prepared": alone(prepared),
            "time_range": one(SQL["time_range"]),
            "transaction": alone(transaction),
            "cancel": alone(cancel),
            "refusal": alone(refusal),
            "after_error": alone(after_error),
            "temporary_table": alone(temporary_table),
            "batches": alone(batches),
            "copy": alone(copy),
        },
    )
