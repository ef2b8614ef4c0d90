"""A server that goes by the system user over its socket is found: the shadow may have the same one."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.doctor import installed_postgres
from proxy.doctor.all_findings import diagnose
from proxy.doctor.installed_postgres import Installation, read_installation
from proxy.policy.finding_names import FindingName, Severity
from proxy.policy_file.policy_yaml import read_policy
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.catalog_reader import read_catalog
from tests.waiting import until

_PASSWORD = "kept safe"
_POLICY = """
dpproxy: 1
database: postgres
source: ${SOURCE}
privacy: {epsilon: 1, delta: 1e-6}
budgets: {total: {epsilon: 10, delta: 1e-4}, default: {epsilon: 5, delta: 1e-5}}
tables:
  public.visits: {unit: row, columns: {age: {bounds: [0, 100]}}}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    """With a role that is called as the system user of the tests."""
    server = EmbeddedPostgres(tmp_path_factory.mktemp("trusting"), "trusting")
    server.start()
    try:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            connection.execute("CREATE TABLE visits (id integer PRIMARY KEY, age integer NOT NULL)")
            role = sql.Identifier(_system_user())
            connection.execute(
                sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(role, sql.Literal(_PASSWORD))
            )
            connection.execute(sql.SQL("GRANT SELECT ON visits TO {}").format(role))
        yield server
    finally:
        server.stop()


def _system_user() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name


def _own_dsn(server: EmbeddedPostgres) -> str:
    return make_conninfo(server.dsn(), user=_system_user(), password=_PASSWORD)


def _set_rule(server: EmbeddedPostgres, method: str) -> None:
    """Let the system user's role in by this method, over the socket.

    A server in a user namespace knows that user by another name, so that `peer` takes any.
    """
    (server.home / "data" / "pg_ident.conf").write_text(f"any /^.*$ {_system_user()}\n")
    rules = server.home / "data" / "pg_hba.conf"
    line = f"local all {_system_user()} {method}{' map=any' if method == 'peer' else ''}\n"
    others = [x for x in rules.read_text().splitlines(keepends=True) if _system_user() not in x]
    rules.write_text(line + "".join(others))
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("SELECT pg_reload_conf()")
    until(lambda: _asks_for_password(server) == (method == "scram-sha-256"))


def _asks_for_password(server: EmbeddedPostgres) -> bool:
    with psycopg.connect(_own_dsn(server)) as connection:
        return connection.pgconn.used_password


@pytest.mark.every(2)
@pytest.mark.parametrize("method", ["peer", "trust"])
@pytest.mark.parametrize("is_kept_apart", [True, False])
def test_a_source_that_trusts_the_system_user_is_found(
    method: str, is_kept_apart: bool, server: EmbeddedPostgres
) -> None:
    _set_rule(server, method)
    policy = read_policy(_POLICY, "p.yaml", {"SOURCE": _own_dsn(server)})
    installation = Installation(is_kept_apart=is_kept_apart)
    verdict = diagnose(policy, read_catalog(policy.source), installation)
    (found,) = (one for one in verdict.open if "TRUSTED_SOCKET" in one.name.name)
    assert found.where == "source" and "scram-sha-256" in found.fix
    assert found.severity is (Severity.WARNING if is_kept_apart else Severity.SEVERE)
    assert _PASSWORD not in str(found)


@pytest.mark.parametrize("method", ["peer", "trust"])
@pytest.mark.parametrize("has_filter", [True, False])
@pytest.mark.parametrize("user", [None, "shadow"])
def test_a_ledger_that_trusts_the_system_user_is_found(
    method: str,
    has_filter: bool,
    user: str | None,
    server: EmbeddedPostgres,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _set_rule(server, method)
    monkeypatch.setattr(installed_postgres, "can_filter", lambda: has_filter)
    monkeypatch.setattr(installed_postgres, "landlock_version", lambda: 5)
    found = read_installation(None, user, _own_dsn(server)).findings
    names = [one.name for one in found if one.where == "--ledger"]
    is_kept_apart = has_filter or user is not None
    expected = F.TRUSTED_SOCKET if is_kept_apart else F.TRUSTED_SOCKET_IN_THE_OPEN
    assert names == [expected]


def test_what_asks_for_a_password_is_not_found(server: EmbeddedPostgres, tmp_path: Path) -> None:
    _set_rule(server, "scram-sha-256")
    policy = read_policy(_POLICY, "p.yaml", {"SOURCE": _own_dsn(server)})
    installation = read_installation(ledger_dsn=_own_dsn(server))
    verdict = diagnose(policy, read_catalog(policy.source), installation)
    assert not [one for one in verdict.open if "TRUSTED_SOCKET" in one.name.name]
    gone = make_conninfo(host=str(tmp_path), dbname="nowhere")
    assert not [
        one for one in read_installation(ledger_dsn=gone).findings if one.where == "--ledger"
    ]


F = FindingName
