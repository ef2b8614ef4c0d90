"""Analysts come and go in the ledger, the shadow's roles follow; their passwords are known to nobody."""

from __future__ import annotations

import threading

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.ledger.users import UserError, add_analyst, list_analysts, remove_analyst, set_password
from proxy.shadow.shadow_roles import RolesNotMatched
from tests.ledger_of_before import add_analyst_of_any_name
from tests.servers_fixture import Servers


def test_add_use_change_remove(pair: Servers) -> None:
    name, password = 'O"Hara; drop', "it's a 'secret' \\ pässword"
    add_analyst_of_any_name(pair.ledger_dsn, name, password)
    pair.match_roles()
    assert name in list_analysts(pair.ledger_dsn)
    with psycopg.connect(pair.shadow_server.dsn()) as connection:
        row = connection.execute(
            "SELECT rolpassword, rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolreplication"
            " FROM pg_authid WHERE rolname = %s",
            (name,),
        ).fetchone()
        assert row is not None
        assert row[0].startswith("SCRAM-SHA-256$4096:")
        assert row[1:] == (False,) * 5
    dsn = make_conninfo(pair.analyst_dsn("shop", name), password=password)
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT session_user").fetchone() == (name,)
        set_password(pair.ledger_dsn, name, "another")
        pair.match_roles()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(dsn)
    with psycopg.connect(make_conninfo(dsn, password="another")) as connection:
        connection.execute("CREATE TEMP TABLE mine AS SELECT 1")
        connection.commit()
        remove_analyst(pair.ledger_dsn, name)
        pair.match_roles()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    assert name not in list_analysts(pair.ledger_dsn)


def test_default_privileges_do_not_keep_an_analyst_from_being_removed(pair: Servers) -> None:
    """F19: an entry in pg_default_acl made DROP ROLE fail for good."""
    name = pair.new_analyst()
    with psycopg.connect(pair.analyst_dsn("shop", name), autocommit=True) as connection:
        connection.execute("ALTER ROLE CURRENT_USER SET statement_timeout = 0")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO public")
    with psycopg.connect(pair.shadows["shop"].superuser_dsn) as superuser:
        statement = "ALTER DEFAULT PRIVILEGES FOR ROLE {} GRANT SELECT ON TABLES TO public"
        superuser.execute(sql.SQL(statement).format(sql.Identifier(name)))
    remove_analyst(pair.ledger_dsn, name)
    pair.match_roles()
    with psycopg.connect(pair.shadow_server.dsn()) as connection:
        assert not connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (name,)).fetchall()
    pair.add_analyst(name, "again")


def test_who_is_added_again_is_another_with_the_same_name(pair: Servers) -> None:
    name = pair.new_analyst()
    remove_analyst(pair.ledger_dsn, name)
    pair.match_roles()
    pair.add_analyst(name, "the new one's password")
    with psycopg.connect(pair.ledger_dsn) as connection:
        row = connection.execute(
            "SELECT count(*) FROM ledger.analyst WHERE name = %s", (name,)
        ).fetchone()
    assert row == (2,)


@pytest.mark.parametrize(
    ("name", "password", "why"),
    [
        ("", "x", "1 to 63 bytes"),
        ("ä" * 32, "x", "1 to 63 bytes"),
        ("a\0b", "x", "1 to 63 bytes"),
        ("pg_read_all_data", "x", "reserved: take another"),
        ("PG_monitor", "x", "reserved: take another"),
        ("public", "x", "reserved: take another"),
        ("PUBLIC", "x", "reserved: take another"),
        ("none", "x", "reserved: take another"),
        ("current_user", "x", "reserved: take another"),
        ("all", "x", "reserved: take another"),
        ("postgres", "x", "reserved: take another"),
        ("dp_analyst", "x", "reserved: take another"),
        ("dp_inner_0", "x", "reserved: take another"),
        ("(policy bounds)", "x", "does not begin with"),
        ("+research", "x", "does not begin with"),
        ('a"b', "x", "leave them out"),
        ("a,", "x", "leave them out"),
        ("a\\b", "x", "leave them out"),
        ("a\nb", "x", "printable text"),
        (" a", "x", "printable text"),
        ("a\u202eb", "x", "printable text"),
        ("a\u0308", "x", "composed form"),
        ("alice", "x", "already an analyst"),
        ("zoe", "", "password is empty"),
    ],
)
def test_refused(pair: Servers, name: str, password: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        add_analyst(pair.ledger_dsn, name, password)


def test_only_analysts_are_removed(pair: Servers) -> None:
    for name in ("postgres", "dp_analyst", "nobody_here"):
        with pytest.raises(UserError, match="no analyst"):
            remove_analyst(pair.ledger_dsn, name)
        with pytest.raises(UserError, match="no analyst"):
            set_password(pair.ledger_dsn, name, "x")


def _locks_their_row(pair: Servers, name: str) -> psycopg.Connection:
    """And lets no time limit end it."""
    connection = psycopg.connect(pair.analyst_dsn("shop", name), autocommit=True)
    connection.execute("SET idle_in_transaction_session_timeout = 0")
    connection.execute("BEGIN")
    connection.execute("ALTER ROLE CURRENT_USER PASSWORD 'locked'")
    return connection


def _exists(pair: Servers, name: str) -> bool:
    with psycopg.connect(pair.shadow_server.dsn()) as connection:
        found = connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (name,))
        return found.fetchone() is not None


@pytest.mark.parametrize("what", ["remove", "password"])
def test_an_analyst_cannot_hold_their_own_role(pair: Servers, what: str) -> None:
    """N4: who was removed went on, and nobody else's role was made or changed any more."""
    name, new = pair.new_analyst(), f"new of {what}"
    other = psycopg.connect(pair.analyst_dsn("shop", name), autocommit=True)
    with _locks_their_row(pair, name) as holding:
        if what == "remove":
            remove_analyst(pair.ledger_dsn, name)
        else:
            set_password(pair.ledger_dsn, name, "another")
        add_analyst(pair.ledger_dsn, new, "x")
        matching = threading.Thread(target=pair.match_roles, daemon=True)
        matching.start()
        matching.join(30)
        assert not matching.is_alive(), "it waits for a row that an analyst holds"
        for session in (holding, other):
            with pytest.raises(psycopg.OperationalError):
                session.execute("SELECT 1")
            session.close()
    assert _exists(pair, new)
    assert _exists(pair, name) == (what == "password")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(pair.analyst_dsn("shop", name))


@pytest.mark.long
def test_one_role_that_fails_keeps_no_other(pair: Servers) -> None:
    stuck, changed, gone = (pair.new_analyst() for _ in range(3))
    set_password(pair.ledger_dsn, stuck, "another")
    set_password(pair.ledger_dsn, changed, "another")
    remove_analyst(pair.ledger_dsn, gone)
    new = "new beside one that fails"
    add_analyst(pair.ledger_dsn, new, "x")
    with psycopg.connect(pair.shadow_server.dsn()) as superuser:  # a session that cannot be ended
        statement = sql.SQL("ALTER ROLE {} CONNECTION LIMIT 7").format(sql.Identifier(stuck))
        superuser.execute(statement)
        with pytest.raises(RolesNotMatched) as raised:
            pair.match_roles()
        superuser.rollback()
    assert raised.value.failed == {stuck: "55P03"}
    assert set(raised.value.changed) == {changed, gone, new}
    assert _exists(pair, new) and not _exists(pair, gone)
    dsn = make_conninfo(pair.analyst_dsn("shop", changed), password="another")
    psycopg.connect(dsn).close()
    pair.match_roles()
    psycopg.connect(make_conninfo(pair.analyst_dsn("shop", stuck), password="another")).close()
