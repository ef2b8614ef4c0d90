"""The guard is verified as one list: what is not as it must be is found, repaired and named."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from proxy.databases.shadow import Shadow
from proxy.databases.shadow_tables import ShadowError
from tests.live.served_database import served_database
from tests.servers_fixture import Servers

_SCRIPT = """
CREATE TABLE public.secret (id integer PRIMARY KEY, x integer NOT NULL);
CREATE TABLE public.colour (name text PRIMARY KEY);
INSERT INTO public.colour VALUES ('red');
"""
_TABLES = (
    "tables: {public.secret: {unit: row, columns: {x: {bounds: [0, 1]}}}, public.colour: public}\n"
)


@pytest.fixture(scope="module")
def shadow(pair: Servers) -> Shadow:
    database = served_database(pair, "guarded", _SCRIPT, _TABLES)
    database.lease.close()
    return database.shadow


@pytest.fixture
def superuser(shadow: Shadow) -> Iterator[psycopg.Connection]:
    with psycopg.connect(shadow.superuser_dsn, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("GRANT SELECT ON secret TO dp_analyst", "rights on public.secret"),
        ("GRANT SELECT ON secret TO PUBLIC", "rights on public.secret"),
        ("GRANT SELECT (x) ON secret TO bob", "rights on public.secret"),
        ("GRANT ALL ON secret TO bob WITH GRANT OPTION", "rights on public.secret"),
        ("REVOKE ALL ON secret FROM dp_analyst", "rights on public.secret"),
        ("REVOKE ALL ON colour FROM dp_analyst", "rights on public.colour"),
        ("GRANT INSERT ON colour TO dp_analyst", "rights on public.colour"),
        ('REVOKE ALL ON pg_dp_empty."public.secret" FROM dp_analyst',
         'rights on pg_dp_empty."public.secret"'),
        ("GRANT SELECT ON dp.exposed_column TO dp_analyst", "rights on dp.exposed_column"),
        ("ALTER TABLE secret OWNER TO alice", "owner of public.secret"),
        ("INSERT INTO secret VALUES (1)", "rows in public.secret"),
        ('INSERT INTO pg_dp_empty."public.secret" VALUES (1)', "rows in pg_dp_empty.public.secret"),
        ("CREATE SCHEMA more; GRANT USAGE ON SCHEMA more TO PUBLIC", "rights on schema more"),
        ("GRANT CREATE ON SCHEMA public TO dp_analyst", "rights on schema public"),
        ("REVOKE USAGE ON SCHEMA pg_dp_empty FROM dp_analyst", "rights on schema pg_dp_empty"),
        ("GRANT CREATE ON SCHEMA pg_catalog TO bob", "rights on schema pg_catalog"),
        ("GRANT CONNECT ON DATABASE guarded TO PUBLIC", "rights on database guarded"),
        ("GRANT CREATE ON DATABASE guarded TO dp_analyst", "rights on database guarded"),
        ("REVOKE TEMPORARY ON DATABASE guarded FROM dp_analyst", "rights on database guarded"),
        ("GRANT CONNECT ON DATABASE postgres TO bob", "rights on database postgres"),
        ("GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC",
         "rights on function pg_advisory_lock(bigint)"),
        ("GRANT EXECUTE ON FUNCTION lo_create(oid) TO bob", "rights on function lo_create(oid)"),
        ("GRANT EXECUTE ON FUNCTION pg_catalog.dp_pg_lock_status() TO bob",
         "rights on function dp_pg_lock_status()"),
        ("REVOKE EXECUTE ON FUNCTION dp.refuse(text, text, text) FROM dp_analyst",
         "rights on function dp.refuse(text,text,text)"),
        ("CREATE FUNCTION dp.more() RETURNS int LANGUAGE sql AS 'SELECT 1'",
         "rights on function dp.more()"),
        ("GRANT SELECT ON pg_stats TO PUBLIC", "rights on pg_stats"),
        ("GRANT SELECT ON pg_catalog.dp_db_role_setting TO bob", "rights on dp_db_role_setting"),
        ("ALTER ROLE bob SUPERUSER", "role bob"),
        ("ALTER ROLE bob CREATEROLE", "role bob"),
        ("ALTER ROLE bob BYPASSRLS", "role bob"),
        ("ALTER ROLE dp_analyst LOGIN", "role dp_analyst"),
        ("GRANT pg_read_all_data TO bob", "memberships of bob"),
        ("GRANT bob TO alice", "memberships of alice"),
        ("GRANT dp_analyst TO bob WITH ADMIN OPTION", "memberships of bob"),
        ("ALTER ROLE bob SET work_mem = '1GB'", "settings of bob"),
        ("ALTER ROLE bob IN DATABASE guarded SET application_name = 'x'", "settings of bob"),
        ("ALTER ROLE dp_analyst SET work_mem = '1GB'", "settings of dp_analyst"),
        ("ALTER DATABASE guarded SET log_min_messages = 'log'", "setting log_min_messages"),
        ("ALTER DATABASE guarded RESET temp_file_limit", "setting temp_file_limit"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_and_repaired(
    shadow: Shadow, superuser: psycopg.Connection, change: str, named: str
) -> None:
    shadow.verify()
    assert shadow.verify() == ()
    superuser.execute(change.encode())
    repaired = shadow.verify()
    if named == "rights on schema public":  # that the reader has on it, too
        assert named in repaired
    else:
        assert repaired == (named,)
    assert shadow.verify() == ()


@pytest.mark.parametrize(
    ("change", "back"),
    [
        ("ALTER TABLE secret RENAME TO gone", "ALTER TABLE gone RENAME TO secret"),
        (
            "ALTER FUNCTION has_table_privilege(oid, text) RENAME TO gone",
            "ALTER FUNCTION gone(oid, text) RENAME TO has_table_privilege",
        ),
    ],
)
def test_what_cannot_be_repaired_is_an_error(
    shadow: Shadow, superuser: psycopg.Connection, change: str, back: str
) -> None:
    superuser.execute(change.encode())
    with pytest.raises(ShadowError, match="cannot be repaired"):
        shadow.verify()
    superuser.execute(back.encode())
    assert shadow.verify() == ()


def test_what_an_analyst_can_do_changes_nothing_of_it(shadow: Shadow, pair: Servers) -> None:
    """F1, F19: each of these was enough, or lasts."""
    name = pair.new_analyst()
    with psycopg.connect(pair.analyst_dsn("guarded", name), autocommit=True) as analyst:
        for text in (
            "DROP OWNED BY dp_analyst",
            "REASSIGN OWNED BY dp_analyst TO SESSION_USER",
            "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC",
            "GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC",
        ):
            analyst.execute(text.encode())
        assert shadow.verify() == ()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            analyst.execute("SELECT count(*) FROM secret")


def test_settings_that_last_are_reset(shadow: Shadow, pair: Servers) -> None:
    name = pair.new_analyst()
    with psycopg.connect(pair.analyst_dsn("guarded", name), autocommit=True) as analyst:
        analyst.execute("ALTER ROLE CURRENT_USER SET statement_timeout = 0")
    assert shadow.verify() == (f"settings of {name}",)
    with psycopg.connect(pair.analyst_dsn("guarded", name)) as analyst:
        assert analyst.execute("SHOW statement_timeout").fetchone() == ("5min",)


def test_a_shadow_that_is_not_built_is_not_verified(pair: Servers) -> None:
    fresh = Shadow(pair.shadow_server.dsn(), "guarded", pair.shadow_server.address)
    with pytest.raises(ShadowError, match="not built"):
        fresh.verify()
