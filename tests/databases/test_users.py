"""Analysts come and go; their passwords are known to nobody."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.databases.users import (
    UserError,
    add_analyst,
    list_analysts,
    remove_analyst,
    set_password,
)
from tests.servers_fixture import Servers


def test_add_use_change_remove(pair: Servers) -> None:
    server = pair.shadow_server.dsn()
    name, password = 'O"Hara; drop', "it's a 'secret' \\ pässword"
    add_analyst(server, name, password)
    assert name in list_analysts(server)
    with psycopg.connect(server) as connection:
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
        connection.execute("CREATE TEMP TABLE mine AS SELECT 1")
        connection.commit()
        set_password(server, name, "another")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(dsn)
        remove_analyst(server, name)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    assert name not in list_analysts(server)


@pytest.mark.parametrize(
    ("name", "password", "why"),
    [
        ("", "x", "1 to 63 bytes"),
        ("ä" * 32, "x", "1 to 63 bytes"),
        ("a\0b", "x", "1 to 63 bytes"),
        ("pg_read_all_data", "x", "reserves"),
        ("public", "x", "reserves"),
        ("postgres", "x", "already a role"),
        ("dp_analyst", "x", "already a role"),
        ("alice", "x", "already a role"),
        ("zoe", "", "password is empty"),
    ],
)
def test_refused(pair: Servers, name: str, password: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        add_analyst(pair.shadow_server.dsn(), name, password)


def test_only_analysts_are_removed(pair: Servers) -> None:
    for name in ("postgres", "dp_analyst", "nobody_here"):
        with pytest.raises(UserError, match="no analyst"):
            remove_analyst(pair.shadow_server.dsn(), name)
        with pytest.raises(UserError, match="no analyst"):
            set_password(pair.shadow_server.dsn(), name, "x")
