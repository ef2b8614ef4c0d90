"""A real PostgreSQL that stands for the shadow in the tests of the relay: started once, small.

It has the functions of every shadow, a protected table that nobody may read, and an ordinary table.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import psycopg

from proxy.postgres.embedded import EmbeddedPostgres

PASSWORD = "analyst's password"

_TABLES = f"""
CREATE ROLE dp_analyst NOLOGIN;
CREATE ROLE alice LOGIN PASSWORD '{PASSWORD.replace("'", "''")}' IN ROLE dp_analyst;
CREATE ROLE bob LOGIN PASSWORD '{PASSWORD.replace("'", "''")}' IN ROLE dp_analyst;
CREATE ROLE monitor LOGIN PASSWORD '{PASSWORD.replace("'", "''")}';
CREATE ROLE another_superuser LOGIN SUPERUSER PASSWORD '{PASSWORD.replace("'", "''")}';
GRANT USAGE ON SCHEMA dp TO alice;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA dp TO alice;
CREATE SCHEMA shop;
CREATE TABLE shop.orders (id int PRIMARY KEY, amount numeric NOT NULL, region text, at timestamp);
COMMENT ON TABLE shop.orders IS 'protected';
CREATE TABLE shop.colours (name text PRIMARY KEY, rank int);
INSERT INTO shop.colours VALUES ('red', 1), ('green', 2), ('blue', 3);
CREATE FUNCTION shop.chatty() RETURNS int LANGUAGE plpgsql AS
    $$BEGIN RAISE NOTICE 'hello'; RETURN 1; END$$;
GRANT USAGE ON SCHEMA shop TO alice;
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA shop TO alice;
REVOKE SELECT ON shop.orders FROM alice;
"""


@dataclass(frozen=True, slots=True)
class WireShadow:
    postgres: EmbeddedPostgres
    host: str
    port: int
    orders_oid: int

    def conninfo(self, port: int | None = None, **more: str) -> str:
        """Of a direct connection, or through whoever listens on `port`."""
        return psycopg.conninfo.make_conninfo(
            host=self.host,
            port=self.port if port is None else port,
            user="alice",
            password=PASSWORD,
            dbname="shop",
            **more,
        )


@functools.cache
def wire_shadow() -> WireShadow:
    home = Path(tempfile.mkdtemp(prefix="dpproxy-wire-"))
    postgres = EmbeddedPostgres(home, "shadow", durable=False)
    postgres.start()

    def stop() -> None:
        postgres.stop()
        shutil.rmtree(home, ignore_errors=True)

    atexit.register(stop)
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE shop")
    shadow_sql = resources.files("proxy.shadow").joinpath("shadow.sql").read_text()
    with psycopg.connect(postgres.dsn("shop"), autocommit=True) as connection:
        connection.execute(shadow_sql.encode())
        connection.execute(_TABLES.encode())
        row = connection.execute("SELECT 'shop.orders'::regclass::oid").fetchone()
        assert row is not None
    host, port = postgres.address
    return WireShadow(postgres, host, port, row[0])
