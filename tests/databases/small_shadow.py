"""A shadow's server with small shares, and two analysts of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from proxy.postgres.analyst_limits import DATABASE_SETTINGS, AnalystLimits
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.shadow.shadow_monitor import ShadowMonitor
from proxy.shadow.shadow_roles import match_roles

MIB = 1 << 20
_PASSWORD = "of all of them"
SMALL_LIMITS = AnalystLimits(temporary_bytes=20 * MIB, locks=500)


class SmallShadow:
    """A server for analysts of its own: mallory takes, bob is there."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        self.server = server

    def connect(self, name: str) -> psycopg.Connection:
        host, port = self.server.address
        return psycopg.connect(
            make_conninfo(host=host, port=port, user=name, password=_PASSWORD, dbname="shared"),
            autocommit=True,
        )

    def monitor(self, limits: AnalystLimits = SMALL_LIMITS) -> ShadowMonitor:
        return ShadowMonitor(self.server.dsn(), self.server.log, limits)


@contextlib.contextmanager
def started(folder: Path) -> Iterator[SmallShadow]:
    server = EmbeddedPostgres(folder, "shadow", durable=False, for_analysts=True)
    server.start()
    try:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            encrypt = connection.pgconn.encrypt_password
            verifiers = {
                name: encrypt(_PASSWORD.encode(), name.encode(), b"scram-sha-256").decode()
                for name in ("mallory", "bob")
            }
            match_roles(server.dsn(), [], verifiers)
            connection.execute("CREATE DATABASE shared")
            for setting, value in DATABASE_SETTINGS.items():
                connection.execute(f"ALTER DATABASE shared SET {setting} = '{value}'".encode())
        yield SmallShadow(server)
    finally:
        server.stop()


def is_alive(connection: psycopg.Connection) -> bool:
    try:
        return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False
