"""Settings with a dot in their name, in the startup packet, beside PostgreSQL (the shadow itself)."""

from __future__ import annotations

import asyncio

import asyncpg  # type: ignore[import-untyped]
import psycopg
import pytest

from tests.servers.wire.conftest import Running

_OPTIONS = [
    "-c my.thing=1",
    "-cmy.thing=1",
    "--my.thing=1",
    "-c My.Thing=1",
    "-c my.thing=1 -c my.thing=2",
    "--my.thing=1 --my.other-thing=2 -c search_path=shop",
    r"-c my.thing=a\ b",
    r"-c my.thing=a\\b",
    r"-c my.th\ ing=1",
    "-c my.thing='1'",
    "-c my.thing=",
    "-c my.thing==",
    "-c 'my.thing=1'",
    "-c my.1=1",
    "-c my..x=1",
    "-c .x=1",
    "-c my.thing.more=1",
    "-c ünï.cødé=1",
    "-c _my.$thing=1",
    "-c my.thing",
    "--my.thing",
    "-c plpgsql.variable_conflict=use_column",
    "-c search-path=shop",
]


def _heard(conninfo: str, options: str, name: str) -> object:
    try:
        with psycopg.connect(conninfo, options=options, autocommit=True) as session:
            shown = session.execute(
                "SELECT current_setting(%s, true), current_setting('search_path')", (name,)
            ).fetchone()
            session.execute(f"SET {name} = 'changed'")
            session.execute("RESET ALL")
            again = session.execute("SELECT current_setting(%s, true)", (name,)).fetchone()
            return shown, again
    except psycopg.Error as error:
        told = str(error)
        return told[told.index("FATAL") :] if "FATAL" in told else told


@pytest.mark.every(4)
@pytest.mark.parametrize("options", _OPTIONS)
@pytest.mark.parametrize("name", ["my.thing", "my.other_thing"])
def test_a_setting_with_a_dot_is_that_of_postgresql(
    options: str, name: str, relay: Running
) -> None:
    assert _heard(relay.conninfo(), options, name) == _heard(relay.shadow.conninfo(), options, name)


def test_settings_of_our_own_stay_a_list(relay: Running) -> None:
    for name in ("dp.secret", "DP.secret", "dp.epsilon.more"):
        with pytest.raises(psycopg.OperationalError, match="unrecognized configuration parameter"):
            psycopg.connect(relay.conninfo(), options=f"-c {name}=1")
    with pytest.raises(psycopg.OperationalError, match="Others are changed"):
        psycopg.connect(relay.conninfo(), options="-c quote_all_identifiers=on")


@pytest.mark.parametrize("name", ["my.thing", "MY.Thing", "my.1", "ünï.x", "my-own.x"])
def test_the_startup_packet_takes_them_too(name: str, relay: Running) -> None:
    """asyncpg puts them there, each by itself."""

    async def shown(port: int) -> object:
        given = psycopg.conninfo.conninfo_to_dict(relay.conninfo())
        try:
            session = await asyncpg.connect(
                host=given["host"],
                port=port,
                user=given["user"],
                password=given["password"],
                database=given["dbname"],
                ssl=False,
                server_settings={name: r"a\b 'c'"},
            )
        except asyncpg.PostgresError as error:
            return str(error)
        try:
            return await session.fetchval("SELECT current_setting($1)", name)
        finally:
            await session.close()

    outcome = asyncio.run(shown(relay.port))
    assert outcome == asyncio.run(shown(relay.shadow.port))
