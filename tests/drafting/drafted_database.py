"""Databases for drafts: made by a script, with a role that may do no more than connect."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psycopg
from psycopg.conninfo import make_conninfo

from proxy.cli.demo.demo_databases import READER
from proxy.cli.loading import CheckedPolicy, verdict_of
from proxy.cli.policy_commands import variable_of
from proxy.doctor.declared_database import declared_database
from proxy.drafting.drafted_columns import PolicyDraft
from proxy.drafting.drafted_policy import drafted_policy
from proxy.policy.check import check, fitted
from proxy.policy_file.policy_yaml import read_policy
from proxy.protected.catalog_reader import read_catalog
from tests.servers_fixture import servers

STRANGER, PASSWORD = "stranger", "a stranger's password"


@contextlib.contextmanager
def database(name: str, script: str) -> Iterator[None]:
    """Nobody but its owner may read what is in it."""
    server = servers().protected
    with psycopg.connect(server.dsn(), autocommit=True) as outer:
        outer.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'".encode())
        try:
            with psycopg.connect(server.dsn(name), autocommit=True) as connection:
                connection.execute(script.encode())
            yield
        finally:
            outer.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def run(name: str, script: str) -> None:
    with psycopg.connect(servers().protected.dsn(name), autocommit=True) as connection:
        connection.execute(script.encode())


@contextlib.contextmanager
def stranger() -> Iterator[str]:
    """A role without a right to any table or schema."""
    with psycopg.connect(servers().protected.dsn(), autocommit=True) as outer:
        password = PASSWORD.replace("'", "''")
        outer.execute(f"CREATE ROLE {STRANGER} LOGIN PASSWORD '{password}'".encode())
        try:
            yield STRANGER
        finally:
            outer.execute(f"DROP ROLE {STRANGER}".encode())


def strangers_dsn(name: str) -> str:
    return make_conninfo(servers().protected.dsn(name), user=STRANGER, password=PASSWORD)


def draft(name: str, dsn: str | None = None) -> PolicyDraft:
    declared = declared_database(dsn or servers().protected.dsn(name))
    return drafted_policy(declared, variable_of(declared.name))


def readers_dsn(name: str) -> str:
    """Of the hardened role, which may now read everything in the database."""
    run(name, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
    with psycopg.connect(servers().protected.dsn(name), autocommit=True) as connection:
        schemas = connection.execute(
            "SELECT quote_ident(nspname) FROM pg_namespace"
            " WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'"
        ).fetchall()
    for (schema,) in schemas:
        run(name, f"GRANT USAGE ON SCHEMA {schema} TO {READER}")
        run(name, f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {READER}")
    return make_conninfo(servers().source_dsns["shop"], dbname=name)


def severe(name: str, text: str) -> list[str]:
    """What `policy check` would refuse of a draft, as the hardened role; nothing is wrong with the file."""
    source = readers_dsn(name)
    policy = read_policy(text, "draft.yaml", {variable_of(name): source})
    catalog = read_catalog(source)
    assert check(policy, catalog) == []
    verdict = verdict_of(CheckedPolicy(fitted(policy, catalog), catalog, text, "draft.yaml"))
    return [one.what for one in verdict.open if one.severity.value == "severe"]
