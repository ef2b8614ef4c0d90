"""What an analyst of a shadow sees of the others: nothing that a view or function can keep back."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from tests.servers_fixture import PASSWORD, Servers

_OTHER = "neighbour with a name"


@pytest.fixture(scope="module")
def other(pair: Servers) -> Iterator[psycopg.Connection]:
    """Logged in, with a table, a setting and a name of the application."""
    pair.add_analyst(_OTHER, PASSWORD)
    with psycopg.connect(pair.shadow_server.dsn(), autocommit=True) as superuser:
        setting = sql.SQL("ALTER ROLE {} SET application_name = 'their-setting'")
        superuser.execute(setting.format(sql.Identifier(_OTHER)))
    dsn = pair.analyst_dsn("shop", _OTHER)
    with psycopg.connect(dsn, autocommit=True, application_name="their-dashboard") as connection:
        connection.execute("CREATE TEMP TABLE theirs AS SELECT 'noisy answer' AS a")
        connection.execute("BEGIN")
        connection.execute("LOCK TABLE theirs")
        yield connection


@pytest.fixture
def alice(pair: Servers) -> Iterator[psycopg.Connection]:
    with psycopg.connect(pair.analyst_dsn("shop", "alice"), autocommit=True) as connection:
        yield connection


def _oid(pair: Servers, name: str) -> int:
    with psycopg.connect(pair.shadow_server.dsn()) as superuser:
        row = superuser.execute(
            "SELECT oid::int FROM pg_roles WHERE rolname = %s", (name,)
        ).fetchone()
    assert row is not None
    return int(row[0])


_LOOKS = [
    "SELECT * FROM pg_roles",
    "SELECT * FROM pg_user",
    "SELECT * FROM pg_group",
    "SELECT * FROM pg_stat_activity",
    "SELECT * FROM pg_stat_get_activity(NULL)",
    "SELECT * FROM pg_stat_get_activity(%(pid)s)",
    "SELECT * FROM pg_stat_ssl",
    "SELECT * FROM pg_stat_gssapi",
    "SELECT * FROM pg_stat_replication",
    "SELECT * FROM pg_locks",
    "SELECT * FROM pg_lock_status()",
    "SELECT * FROM pg_stat_progress_copy",
    "SELECT * FROM pg_auth_members",
    "SELECT * FROM pg_db_role_setting",
    "SELECT * FROM pg_prepared_xacts",
    "SELECT * FROM pg_prepared_statements",
    "SELECT tableowner FROM pg_tables",
    "SELECT viewowner FROM pg_views",
    "SELECT pg_get_userbyid(%(oid)s)",
    "SELECT pg_get_userbyid(relowner) FROM pg_class",
    "SELECT %(oid)s::oid::regrole, %(oid)s::oid::regrole::text",
    "SELECT acldefault('r', %(oid)s::oid)",
    "SELECT pg_describe_object(1260, %(oid)s, 0)",
    "SELECT * FROM pg_identify_object(1260, %(oid)s, 0)",
    "SELECT * FROM pg_identify_object_as_address(1260, %(oid)s, 0)",
    "SELECT datacl FROM pg_database",
    "SELECT relacl FROM pg_class",
    "SELECT * FROM pg_user_mappings",
    "SELECT * FROM pg_shdescription",
    "SELECT * FROM information_schema.applicable_roles",
    "SELECT * FROM information_schema.enabled_roles",
    "SELECT * FROM information_schema.table_privileges",
    "SELECT * FROM information_schema.schemata",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM information_schema.columns WHERE table_name = 'theirs'",
]


@pytest.mark.every(6)
@pytest.mark.parametrize("text", _LOOKS)
@pytest.mark.parametrize("as_group", [False, True])
def test_nobody_sees_another(
    text: str, as_group: bool, alice: psycopg.Connection, other: psycopg.Connection, pair: Servers
) -> None:
    """F21."""
    if as_group:
        alice.execute("SET ROLE dp_analyst")
    marks = (_OTHER, "their-setting", "their-dashboard")
    process = other.info.backend_pid
    seen = alice.execute(text.encode(), {"oid": _oid(pair, _OTHER), "pid": process}).fetchall()
    assert not any(mark in repr(seen) for mark in marks), seen
    if "pid" in text or "stat" in text or "lock" in text:
        assert not any(process in row for row in seen)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT makeaclitem(%(oid)s::oid, %(oid)s::oid, 'SELECT', false)",
        "SELECT pg_stat_get_backend_userid(n) FROM generate_series(1, 300) n",
        "SELECT pg_stat_get_backend_client_addr(n) FROM generate_series(1, 300) n",
        "SELECT pg_catalog.dp_pg_get_userbyid(%(oid)s)",
        "SELECT rolname FROM pg_authid",
        "SELECT usename FROM pg_shadow",
        "SELECT * FROM pg_catalog.dp_auth_members",
        "SELECT pg_terminate_backend(%(pid)s)",
        "SELECT pg_cancel_backend(%(pid)s)",
    ],
)
def test_other_ways_are_refused(
    text: str, alice: psycopg.Connection, other: psycopg.Connection, pair: Servers
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        values = {"oid": _oid(pair, _OTHER), "pid": other.info.backend_pid}
        alice.execute(text.encode(), values).fetchall()


def test_a_cheap_function_is_not_tried_on_what_is_hidden(
    alice: psycopg.Connection, other: psycopg.Connection
) -> None:
    alice.execute(
        "CREATE FUNCTION pg_temp.peek(anyelement) RETURNS boolean COST 0.0001 LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$"
    )
    seen: list[str] = []
    alice.add_notice_handler(lambda notice: seen.append(str(notice.message_primary)))
    for text in (
        "SELECT 1 FROM pg_roles WHERE pg_temp.peek(rolname)",
        "SELECT 1 FROM pg_user WHERE pg_temp.peek(usename)",
        "SELECT 1 FROM pg_stat_activity WHERE pg_temp.peek(usename::text)",
        "SELECT 1 FROM pg_db_role_setting WHERE pg_temp.peek(setconfig::text)",
        "SELECT 1 FROM pg_tables WHERE pg_temp.peek(tableowner)",
    ):
        alice.execute(text.encode()).fetchall()
    assert any("alice" in text for text in seen)
    assert not any(_OTHER in text or "their-" in text for text in seen)


def test_one_sees_oneself_and_what_is_postgresqls_own(
    alice: psycopg.Connection, other: psycopg.Connection
) -> None:
    roles = {row[0] for row in alice.execute("SELECT rolname FROM pg_roles")}
    assert {"alice", "dp_analyst", "postgres", "pg_monitor"} <= roles
    own = alice.execute(
        "SELECT usename, query FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    ).fetchone()
    assert own is not None and own[0] == "alice" and "pg_stat_activity" in own[1]
    assert alice.execute("SELECT count(*) > 0 FROM pg_locks").fetchone() == (True,)
    assert alice.execute(
        "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'orders'"
    ).fetchone() == ("postgres",)
    assert alice.execute("SELECT pg_get_userbyid(1)").fetchone() == ("unknown (OID=1)",)
    member = "SELECT count(*) FROM pg_auth_members WHERE roleid = 'dp_analyst'::regrole::oid"
    assert alice.execute(member.encode()).fetchone() == (1,)


def test_the_superuser_sees_everybody(pair: Servers, other: psycopg.Connection) -> None:
    with psycopg.connect(pair.shadows["shop"].superuser_dsn) as superuser:
        for text in (
            "SELECT rolname FROM pg_roles",
            "SELECT usename FROM pg_stat_activity",
            "SELECT pg_get_userbyid(relowner) FROM pg_class",
        ):
            assert (_OTHER,) in superuser.execute(text.encode()).fetchall()


def test_no_view_calls_what_was_put_away(pair: Servers) -> None:
    """A view calls functions by OID: one that is not made again shows what the hidden function shows."""
    with psycopg.connect(pair.shadow_server.dsn("shop")) as superuser:
        rows = superuser.execute(
            "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind = 'v' AND EXISTS ("
            "  SELECT FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace"
            "  AND p.proname ~ '^dp_' AND p.proname !~ '^dp_(is_|has_)'"
            "  AND pg_get_viewdef(c.oid) ~ ('\\m' || p.proname || '\\('))"
        ).fetchall()
        hidden = superuser.execute("SELECT count(*) FROM pg_proc WHERE proname = 'dp_acldefault'")
        assert hidden.fetchone() == (1,)
    assert rows == []
