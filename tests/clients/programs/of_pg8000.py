"""pg8000: pure Python, values as texts, prepared on each call."""

from __future__ import annotations

import importlib.metadata
import io
import ssl
from contextlib import closing
from typing import Any

import pg8000.dbapi
import pg8000.native
from dbapi import Driver, rows
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
    run,
)

_WAY = {"host": HOST, "port": PORT, "ssl_context": None}


def connected(autocommit: bool, **more: Any) -> Any:
    given = {**_WAY, **more}
    connection = pg8000.dbapi.connect(USER, password=PASSWORD, database=DATABASE, **given)
    connection.autocommit = autocommit
    return closing(connection)


def over_tls() -> Any:
    context = ssl.create_default_context(cafile=CERTIFICATE)
    return connected(True, host="localhost", port=TLS_PORT, ssl_context=context)


def prepared() -> object:
    with closing(
        pg8000.native.Connection(USER, password=PASSWORD, database=DATABASE, **_WAY)
    ) as connection:
        statement = connection.prepare(NAMED["int"].replace(":p", "cast(:p AS integer)"))
        return [statement.run(p=n)[0][0] for n in (2, 4)]


def batches() -> object:
    with connected(False) as connection:
        rows(connection, "DECLARE c CURSOR FOR " + SQL["by_status"])
        return [len(rows(connection, "FETCH 3 FROM c")) for _ in range(2)]


def copy() -> object:
    with connected(True) as connection:
        written = io.BytesIO()
        connection.cursor().execute(SQL["copy"], stream=written)
        return dict(line.split("\t") for line in written.getvalue().decode().splitlines())


DRIVER = Driver(
    connected=connected,
    over_tls=over_tls,
    error=pg8000.dbapi.DatabaseError,
    told=lambda error: [error.args[0][key] for key in "CMH"],
)

if __name__ == "__main__":
    version = importlib.metadata.version("pg8000")
    own = {"prepared": prepared, "batches": batches, "copy": copy}
    run(f"pg8000 {version}", {**DRIVER.features(), **own})
