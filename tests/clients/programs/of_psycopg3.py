"""psycopg 3, alone and behind pgbouncer."""

from __future__ import annotations

import psycopg
from dbapi import Driver
from each_feature import CERTIFICATE, MARKED, SQL, TLS_PORT, run


def connected(autocommit: bool) -> psycopg.Connection:
    return psycopg.connect("", autocommit=autocommit, sslmode="disable")


def over_tls() -> psycopg.Connection:
    connection = psycopg.connect(
        host="localhost", port=TLS_PORT, sslmode="verify-full", sslrootcert=CERTIFICATE
    )
    assert connection.pgconn.ssl_in_use
    return connection


def prepared() -> object:
    with connected(True) as connection:
        return [connection.execute(MARKED["int"], (n,), prepare=True).fetchone()[0] for n in (2, 4)]


def batches() -> object:
    with connected(True) as connection, connection.transaction(), connection.cursor("c") as cursor:
        cursor.execute(SQL["by_status"])
        return [len(cursor.fetchmany(3)), len(cursor.fetchmany(3))]


def copy() -> object:
    with connected(True) as connection, connection.cursor().copy(SQL["copy"]) as rows:
        return dict(rows.rows())


DRIVER = Driver(
    connected=connected,
    over_tls=over_tls,
    error=psycopg.Error,
    told=lambda error: [error.sqlstate, error.diag.message_primary, error.diag.message_hint],
)

if __name__ == "__main__":
    own = {"prepared": prepared, "batches": batches, "copy": copy}
    run(f"psycopg {psycopg.__version__}", {**DRIVER.features(), **own})
