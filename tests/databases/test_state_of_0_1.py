"""A state folder of version 0.1 becomes a ledger: nobody's password and nothing that was spent is lost."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from proxy.ledger.ledger_check import ledger_problems
from proxy.ledger.ledger_home import embedded_ledger
from proxy.ledger.ledger_sources import Identity, find_source
from proxy.ledger.state_of_0_1 import is_state_of_0_1, migrate_state
from proxy.ledger.users import verifiers
from proxy.postgres.embedded import EmbeddedPostgres
from tests.databases.ledger_database import rows

# What 0.1 kept in each shadow, without its functions.
_OLD = """\
CREATE SCHEMA dp;
CREATE TABLE dp.allowance (kind text, analyst text, epsilon numeric, delta numeric, period text);
INSERT INTO dp.allowance VALUES ('total', '', 100, 0.001, 'none'), ('default', '', 10, 0.0001, 'month');
CREATE TABLE dp.receipt (id bigint, at timestamptz, analyst text, epsilon numeric, delta numeric,
                         reused boolean, fingerprint text, policy_digest text);
INSERT INTO dp.receipt VALUES
    (1, '2026-11-01 10:00+00', 'ann', 1.5, 0, false, 'f1', 'p'),
    (4, '2026-11-02 10:00+00', 'ann', 2, 1e-6, false, 'f2', 'p');
CREATE TABLE dp.settlement (receipt bigint, at timestamptz, outcome text);
INSERT INTO dp.settlement VALUES (1, '2026-11-01 10:00:01+00', 'answered');
CREATE TABLE dp.balance (kind text, analyst text, period text, window_start timestamptz,
                         epsilon numeric, delta numeric);
INSERT INTO dp.balance VALUES ('analyst', 'ann', 'month', '2026-11-01', 3.5, 1e-6),
                              ('total', '', 'none', '-infinity', 3.5, 1e-6);
"""


@pytest.fixture
def old_home(tmp_path: Path) -> Path:
    server = EmbeddedPostgres(tmp_path, "shadow")
    server.start()
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("SET timezone = 'UTC'")
        connection.execute("CREATE ROLE dp_analyst NOLOGIN")
        connection.execute("CREATE ROLE ann LOGIN PASSWORD 'her password' IN ROLE dp_analyst")
        connection.execute("CREATE ROLE somebody LOGIN PASSWORD 'x'")
        connection.execute("CREATE DATABASE shop")
        connection.execute("CREATE DATABASE empty")
    with psycopg.connect(server.dsn("shop"), autocommit=True) as connection:
        connection.execute("SET timezone = 'UTC'")
        connection.execute(_OLD.encode())
    server.stop()
    return tmp_path


def test_everything_is_brought_once(old_home: Path) -> None:
    assert is_state_of_0_1(old_home)
    ledger = EmbeddedPostgres(old_home, "ledger", tcp=False)
    ledger.start()
    try:
        dsn = embedded_ledger(ledger)
        brought = migrate_state(old_home, dsn)
        assert str(brought) == (
            "1 databases, 1 analysts, 2 receipts; the old files are kept as shadow-0.1"
        )
        assert not is_state_of_0_1(old_home)
        assert (old_home / "shadow-0.1" / "data" / "PG_VERSION").exists()
        assert verifiers(dsn).keys() == {"ann"}
        source = find_source(dsn, Identity("7", "shop_of_production"), "shop")
        remaining = (
            "SELECT kind, epsilon_limit::float8, epsilon_spent::float8, delta_spent::float8"
            f" FROM ledger.standing({source.id}, 'ann', '2026-11-20') ORDER BY kind"
        )
        assert rows(dsn, remaining) == [("analyst", 10, 3.5, 1e-6), ("total", 100, 3.5, 1e-6)]
        assert rows(
            dsn,
            "SELECT r.analyst, r.at::date::text, r.epsilon::float8, s.outcome, r.events->0->>'kind'"
            " FROM ledger.receipt r LEFT JOIN ledger.settlement s ON s.receipt = r.id ORDER BY r.id",
        ) == [
            ("ann", "2026-11-01", 1.5, "answered", "pure"),
            ("ann", "2026-11-02", 2, None, "approx"),
        ]
        assert ledger_problems(dsn) == ()
        # As after a crash between the ledger's commit and the renaming.
        (old_home / "shadow-0.1").rename(old_home / "shadow")
        assert migrate_state(old_home, dsn) is None
        assert rows(dsn, "SELECT count(*) FROM ledger.receipt") == [(2,)]
    finally:
        ledger.stop()


def test_a_disposable_shadow_is_no_state_of_0_1(tmp_path: Path) -> None:
    shadow = EmbeddedPostgres(tmp_path, "shadow", disposable=True, tcp=False)
    shadow.start()
    try:
        assert not is_state_of_0_1(tmp_path)
        with psycopg.connect(shadow.dsn(), autocommit=True) as connection:
            connection.execute("CREATE ROLE left_behind")
            connection.execute("CREATE DATABASE left_behind TEMPLATE template0")
        shadow.stop()
        shadow.start()
        with psycopg.connect(shadow.dsn()) as connection:
            assert not connection.execute(
                "SELECT FROM pg_roles WHERE rolname = 'left_behind'"
            ).fetchall(), "empty at every start"
    finally:
        shadow.stop()
