"""A PostgreSQL server that somebody else runs, by its connection string."""

from __future__ import annotations

import psycopg
from psycopg.conninfo import make_conninfo

from proxy.catalog.catalog_model import Catalog
from proxy.protected.catalog_reader import read_catalog

_CONNECT_SECONDS = 10


class Unreachable(RuntimeError):
    """Its text names server and role, never a password."""


class GivenServer:
    """
    Given    a libpq connection string
    Gives    `dsn` and `address`, as an EmbeddedPostgres has them
    Refuses  Unreachable
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        try:
            with psycopg.connect(dsn, connect_timeout=_CONNECT_SECONDS) as connection:
                self._address = (connection.info.host, connection.info.port)
        except psycopg.Error as error:
            raise Unreachable(_reason(error)) from None

    def dsn(self, database: str | None = None) -> str:
        """Holds a password: never log it."""
        return self._dsn if database is None else make_conninfo(self._dsn, dbname=database)

    @property
    def address(self) -> tuple[str, int]:
        return self._address


def reachable_catalog(dsn: str) -> Catalog:
    """Refuses  Unreachable"""
    try:
        return read_catalog(dsn)
    except psycopg.Error as error:
        raise Unreachable(_reason(error)) from None


def _reason(error: psycopg.Error) -> str:
    """libpq's text: host, port, database and role. A bad connection string may be quoted: left out."""
    if isinstance(error, psycopg.OperationalError):
        return str(error).strip()
    return "the connection string cannot be parsed, or the catalogue cannot be read"
