"""psycopg2, which writes values into the text of a statement."""

from __future__ import annotations

import io
from contextlib import closing
from typing import Any

import psycopg2
from dbapi import Driver, rows
from each_feature import CERTIFICATE, SQL, TLS_PORT, run


def connected(autocommit: bool) -> Any:
    connection = psycopg2.connect("sslmode=disable")
    connection.autocommit = autocommit
    return closing(connection)


def over_tls() -> Any:
    way = {"host": "localhost", "port": TLS_PORT, "sslmode": "verify-full"}
    connection = psycopg2.connect("", **way, sslrootcert=CERTIFICATE)
    assert connection.info.ssl_in_use
    return closing(connection)


def prepared() -> object:
    with connected(True) as connection:
        rows(connection, "PREPARE many(int) AS " + SQL["int"].replace("?", "$1"))
        return [rows(connection, "EXECUTE many(%s)", n)[0][0] for n in (2, 4)]


def batches() -> object:
    with connected(False) as connection, connection.cursor("c") as cursor:
        cursor.execute(SQL["by_status"])
        return [len(cursor.fetchmany(3)), len(cursor.fetchmany(3))]


def copy() -> object:
    with connected(True) as connection, connection.cursor() as cursor:
        written = io.StringIO()
        cursor.copy_expert(SQL["copy"], written)
        return dict(line.split("\t") for line in written.getvalue().splitlines())


DRIVER = Driver(
    connected=connected,
    over_tls=over_tls,
    error=psycopg2.Error,
    told=lambda error: [error.pgcode, error.diag.message_primary, error.diag.message_hint],
)

if __name__ == "__main__":
    own = {"prepared": prepared, "batches": batches, "copy": copy}
    run(f"psycopg2 {psycopg2.__version__.split()[0]}", {**DRIVER.features(), **own})
