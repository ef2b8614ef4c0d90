"""The databases of the demo and the tests: the samples `census` (one table) and `shop` (three)."""

from __future__ import annotations

import os

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.cli.sample_policies import SamplePolicy, sample_policy

READER = "dp_reader"
DEMO_SAMPLES = ("census", "shop")


def make_demo_data(server_dsn: str) -> dict[str, str]:
    """
    Given    a superuser's DSN of the server to hold the data
    Gives    for each database the DSN of a role that may read it and do nothing else; databases that
             are already there are left as they are. The DSNs hold a password: never log them.
    """
    password = os.urandom(24).hex()
    with psycopg.connect(server_dsn, autocommit=True) as connection:
        there = {row[0] for row in connection.execute("SELECT datname FROM pg_database")}
        _make_reader(connection, password)
        for database in DEMO_SAMPLES:
            if database in there and not _is_complete(make_conninfo(server_dsn, dbname=database)):
                connection.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(database)))
                there.remove(database)
            if database not in there:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
    for database in DEMO_SAMPLES:
        if database not in there:
            _fill(make_conninfo(server_dsn, dbname=database), sample_policy(database))
    return {
        database: make_conninfo(server_dsn, dbname=database, user=READER, password=password)
        for database in DEMO_SAMPLES
    }


def _is_complete(dsn: str) -> bool:
    """Schema and rows are made in one transaction: the schema is there or it is not."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute(
            "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = current_database())"
        ).fetchone()
        return row is not None and bool(row[0])


def _fill(dsn: str, sample: SamplePolicy) -> None:
    with psycopg.connect(dsn) as connection:
        # VACUUM sets no page visible whose commit may not have reached the disk yet (PostgreSQL 17
        # documentation, section 28.4).
        connection.execute("SET LOCAL synchronous_commit = on")
        connection.execute(sample.schema.encode())
        connection.execute(sample.rows.encode())
        connection.execute(
            sql.SQL(
                "REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA {schema} TO {reader};"
                " GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}"
            ).format(schema=sql.Identifier(sample.name), reader=sql.Identifier(READER))
        )
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")  # index-only scans need the visibility map


def _make_reader(connection: psycopg.Connection, password: str) -> None:
    """A role as docs/design/sql.md 4 wants it: reads, owns nothing, its settings cannot be anybody else's."""
    reader = sql.Identifier(READER)
    known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (READER,)).fetchone()
    if known is None:
        connection.execute(sql.SQL("CREATE ROLE {}").format(reader))
    verifier = connection.pgconn.encrypt_password(
        password.encode(), READER.encode(), b"scram-sha-256"
    ).decode()
    connection.execute(
        sql.SQL(
            "ALTER ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
            " NOINHERIT PASSWORD {}"
        ).format(reader, sql.Literal(verifier))
    )
    for setting, value in (
        ("default_transaction_read_only", "on"),
        ("search_path", ""),
        ("temp_file_limit", "10GB"),
    ):
        connection.execute(
            sql.SQL("ALTER ROLE {} SET {} = {}").format(
                reader, sql.Identifier(setting), sql.Literal(value)
            )
        )
