"""The catalogue of a PostgreSQL server that dpproxy does not run, by its connection string."""

from __future__ import annotations

import psycopg

from proxy.catalog.catalog_model import Catalog
from proxy.planner.facts import PublicContents
from proxy.policy.missing_grants import MissingGrants
from proxy.policy.policy_model import Policy
from proxy.postgres.failure_reason import reason_of
from proxy.protected.catalog_reader import read_catalog
from proxy.protected.public_values import read_public_contents


class Unreachable(RuntimeError):
    """Its text names server and role, never a password."""


def reachable_catalog(dsn: str, *, declared: bool = False) -> Catalog:
    """As read_catalog. Refuses  Unreachable"""
    try:
        return read_catalog(dsn, declared=declared)
    except psycopg.Error as error:
        raise Unreachable(_reason(error)) from None


def missing_grants(dsn: str) -> MissingGrants:
    """What the role of a connection string would need a GRANT for. Refuses  Unreachable"""
    declared = reachable_catalog(dsn, declared=True)
    try:
        with psycopg.connect(dsn) as connection:
            return MissingGrants(declared=declared, role=connection.info.user)
    except psycopg.Error as error:
        raise Unreachable(_reason(error)) from None


def reachable_contents(policy: Policy, catalog: Catalog) -> PublicContents:
    """Read public tables as `serve` does. Raises: Unreachable; its text quotes no row."""
    try:
        return read_public_contents(policy, catalog)
    except psycopg.Error as error:
        raise Unreachable(f"{type(error).__name__}: {reason_of(error)}") from None


def _reason(error: psycopg.Error) -> str:
    """libpq's text: host, port, database and role. A bad connection string may be quoted: left out."""
    if isinstance(error, psycopg.OperationalError):
        return str(error).strip()
    return "the connection string cannot be parsed, or the catalogue cannot be read"
