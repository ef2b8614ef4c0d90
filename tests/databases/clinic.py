"""A healthy database with a policy, in which tests plant problems for `diagnose` to find."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psycopg
from psycopg.conninfo import make_conninfo

from proxy.doctor.all_findings import diagnose
from proxy.policy.findings import Verdict
from proxy.policy.policy_model import Policy
from proxy.policy_file.policy_yaml import read_policy
from proxy.protected.catalog_reader import read_catalog
from tests.servers_fixture import servers

ROLE, PASSWORD, DATABASE = "patient", "patient's password", "clinic"
Superuser = psycopg.Connection[tuple[object, ...]]

HEAD = """\
dpproxy: 1
database: clinic
source: ${CLINIC_DSN}
privacy: {epsilon: 1, delta: 1e-6}
reuse: none
budgets: {total: {epsilon: 20, delta: 1e-4}, default: {epsilon: 10, delta: 1e-5}}
"""


@contextlib.contextmanager
def made_clinic(script: str) -> Iterator[Superuser]:
    """The superuser's connection to a database made by a script; what is done to it is gone at the end."""
    server = servers().protected
    with psycopg.connect(server.dsn(), autocommit=True) as outer:
        password = PASSWORD.replace("'", "''")
        outer.execute(f"CREATE ROLE {ROLE} LOGIN NOINHERIT PASSWORD '{password}'".encode())
        outer.execute(f"ALTER ROLE {ROLE} SET temp_file_limit = '1GB'".encode())
        outer.execute(f"CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING 'UTF8'".encode())
        try:
            with psycopg.connect(server.dsn(DATABASE), autocommit=True) as connection:
                # Or VACUUM sees no page visible yet.
                connection.execute("SET synchronous_commit = on")
                connection.execute(script.encode())
                may_read(connection)
                yield connection
        finally:
            outer.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)".encode())
            outer.execute(f"DROP ROLE {ROLE}".encode())


class Clinics:
    """The database of one script, until another is asked for. Nothing changes it."""

    def __init__(self) -> None:
        self._script = ""
        self._made = contextlib.ExitStack()

    def make(self, script: str) -> None:
        if script != self._script:
            self.close()
            self._made.enter_context(made_clinic(script))
            self._script = script

    def close(self) -> None:
        self._script = ""
        self._made.close()


def may_read(connection: Superuser) -> None:
    connection.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")
    connection.execute(f"GRANT USAGE ON SCHEMA c TO {ROLE}".encode())
    connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA c TO {ROLE}".encode())


def source() -> str:
    protected = servers().protected
    return make_conninfo(
        protected.dsn(DATABASE),
        user=ROLE,
        password=PASSWORD,
        host="127.0.0.1",
        port=protected.address[1],
    )


def clinic_policy(rest: str) -> Policy:
    """rest: its tables, and what it accepts."""
    return read_policy(HEAD + rest, "clinic.yaml", {"CLINIC_DSN": source()})


def verdict(policy: Policy) -> Verdict:
    return diagnose(policy, read_catalog(source()))
