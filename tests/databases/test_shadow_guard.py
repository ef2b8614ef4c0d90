"""The guard is verified as one list: what is not as it must be is found, repaired and named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest

from proxy.shadow.shadow_database import Shadow
from proxy.shadow.shadow_tables import ShadowBusy, ShadowError
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
    database.shadow.verify()
    assert database.shadow.verify() == ()
    return database.shadow


@pytest.fixture
def superuser(shadow: Shadow) -> Iterator[psycopg.Connection]:
    with psycopg.connect(shadow.superuser_dsn, autocommit=True) as connection:
        yield connection


@pytest.mark.every(12)
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
        ("CREATE TABLE child () INHERITS (secret); INSERT INTO child VALUES (1)",
         "rows in public.secret"),
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
        ("GRANT EXECUTE ON FUNCTION int8_avg_accum(internal, bigint) TO PUBLIC",
         "rights on function int8_avg_accum(internal,bigint)"),
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
        ("ALTER EVENT TRIGGER dp_allow_definition DISABLE", "event trigger dp_allow_definition"),
        ("ALTER EVENT TRIGGER dp_allow_definition ENABLE", "event trigger dp_allow_definition"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_and_repaired(
    shadow: Shadow, superuser: psycopg.Connection, change: str, named: str
) -> None:
    """Each begins with a sound one: of the fixture, or of the last line of the test before."""
    superuser.execute(change.encode())
    repaired = shadow.verify()
    if named == "rights on schema public":  # that the reader has on it, too
        assert named in repaired
    else:
        assert repaired == (named,)
    assert shadow.verify() == ()


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("change", "back"),
    [
        ("ALTER TABLE secret RENAME TO gone", "ALTER TABLE gone RENAME TO secret"),
        (
            "ALTER FUNCTION has_table_privilege(oid, text) RENAME TO gone",
            "ALTER FUNCTION gone(oid, text) RENAME TO has_table_privilege",
        ),
        (
            "ALTER TABLE secret RENAME TO gone; CREATE VIEW secret AS SELECT 1 AS id, 1 AS x",
            "DROP VIEW secret; ALTER TABLE gone RENAME TO secret",
        ),
    ],
)
def test_what_cannot_be_repaired_is_an_error(
    shadow: Shadow, superuser: psycopg.Connection, change: str, back: str
) -> None:
    superuser.execute(change.encode())
    with pytest.raises(ShadowError, match=r"cannot be repaired|could not be verified"):
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
            "SET session_replication_role = replica",
            "SET event_triggers = off",
            "DROP EVENT TRIGGER dp_allow_definition",
            "ALTER EVENT TRIGGER dp_allow_definition DISABLE",
            "DROP FUNCTION dp.allow_definition()",
            "ALTER FUNCTION dp.allow_definition() SET search_path = pg_temp",
            "SELECT dp.allow_definition()",
        ):
            with suppress(psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedObject):
                analyst.execute(text.encode())
        assert shadow.verify() == ()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            analyst.execute("SELECT count(*) FROM secret")


_MAKES = [
    "CREATE TEMP TABLE t (a int PRIMARY KEY, b text UNIQUE)",
    "CREATE TEMP TABLE u AS SELECT 1 AS a",
    "SELECT 1 AS a INTO TEMP v",
    "ALTER TABLE t ADD COLUMN c serial",
    "CREATE INDEX ON t (b)",
    "COMMENT ON TABLE t IS 'mine'",
    "CREATE TEMP VIEW w AS SELECT * FROM t",
    "CREATE TEMP SEQUENCE s",
    "CREATE TYPE pg_temp.pair AS (a int, b int)",
    "CREATE TYPE pg_temp.mood AS ENUM ('so', 'la')",
    "CREATE DOMAIN pg_temp.small AS int CHECK (VALUE < 9)",
    "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE PROCEDURE pg_temp.p() LANGUAGE sql AS 'SELECT 1'",
    "DO $$ BEGIN CREATE TEMP TABLE inner_one (); END $$",
    "REINDEX TABLE t",
    "VACUUM ANALYZE t",
    "TRUNCATE t",
    "DROP FUNCTION pg_temp.f()",
    "DROP TABLE t, u CASCADE",
]


def test_analysts_define_what_is_temporary(shadow: Shadow, pair: Servers) -> None:
    with psycopg.connect(pair.analyst_dsn("guarded", "alice"), autocommit=True) as alice:
        for text in _MAKES:
            alice.execute(text.encode())


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "text",
    [
        "CREATE RULE r AS ON INSERT TO pg_catalog.pg_authid DO ALSO NOTHING",
        "CREATE RULE r AS ON INSERT TO mine DO ALSO NOTHING",
        "CREATE TRIGGER t BEFORE INSERT ON pg_class FOR EACH ROW EXECUTE FUNCTION f()",
        "CREATE POLICY p ON secret",
        "CREATE STATISTICS s ON a, b FROM mine",
        "CREATE EXTENSION plpgsql",
        "CREATE PUBLICATION p",
        "CREATE CAST (int AS text) WITH INOUT",
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC",
        "REVOKE ALL ON secret FROM PUBLIC",
        "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC",
        "DROP OWNED BY CURRENT_USER",
        "SECURITY LABEL ON TABLE secret IS 'x'",
        "REFRESH MATERIALIZED VIEW secret",
        "DO $$ BEGIN CREATE RULE r AS ON INSERT TO pg_class DO ALSO NOTHING; END $$",
    ],
)
def test_other_definitions_are_refused_before_they_lock(
    shadow: Shadow, pair: Servers, superuser: psycopg.Connection, text: str
) -> None:
    """N1: CREATE RULE locked any relation, and asked for rights after."""
    with (
        psycopg.connect(pair.analyst_dsn("guarded", "alice"), autocommit=True) as alice,
        superuser.transaction(),
    ):
        alice.execute("CREATE TEMP TABLE mine (a int, b int)")
        for table in ("pg_authid", "pg_class", "secret"):
            superuser.execute(f"LOCK TABLE {table} IN ROW EXCLUSIVE MODE".encode())
        alice.execute("SET lock_timeout = '30s'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for"):
            alice.execute(text.encode())


def test_settings_that_are_held_are_no_broken_wall(shadow: Shadow, pair: Servers) -> None:
    """N2: two looks in vain, a minute apart, ended the process."""
    name = pair.new_analyst()
    with psycopg.connect(pair.analyst_dsn("guarded", name), autocommit=True) as analyst:
        analyst.execute("ALTER ROLE CURRENT_USER SET application_name = 'a'")
        analyst.execute("BEGIN")
        analyst.execute("ALTER ROLE CURRENT_USER SET application_name = 'b'")
        assert shadow.verify() == (f"settings of {name}: not now",)
        analyst.execute("ROLLBACK")
    assert shadow.verify() == (f"settings of {name}",)


def test_a_lock_that_verifying_waits_for_is_no_broken_wall(
    shadow: Shadow, superuser: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as soon, superuser.transaction():
        soon.setattr("proxy.shadow.shadow_database._VERIFY_LOCK_TIMEOUT", "200ms")
        superuser.execute("LOCK TABLE dp.catalogue IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(ShadowBusy):
            shadow.verify()
    assert shadow.verify() == ()


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
