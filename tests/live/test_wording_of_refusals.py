"""Refusals read the same under each setting by which PostgreSQL writes texts otherwise: no inner mark, no inner
function is shown. The proxy finds its own errors by their texts (proxy/pgwire/wording.py)."""

from __future__ import annotations

import psycopg
import pytest

from proxy.pgwire import frames
from tests.live_proxy import LiveProxy
from tests.raw_client import RawClient

Report = dict[bytes, bytes]

SETTINGS = {
    "quote_all_identifiers": "on",
    "DateStyle": "SQL, DMY",
    "IntervalStyle": "sql_standard",
    "bytea_output": "escape",
    "extra_float_digits": "-15",
    "xmlbinary": "hex",
    "backslash_quote": "on",
    "escape_string_warning": "off",
    "client_min_messages": "error",
    "client_encoding": "LATIN1",
    "search_path": "shop, dp, pg_temp",
    "TimeZone": "Asia/Kathmandu",
    "plpgsql.extra_errors": "all",
    "check_function_bodies": "off",
}
_TEMPORARY = 'CREATE TEMP TABLE "Made" (n int)'
REFUSED = [
    "SELECT * FROM shop.orders",
    "SELECT email FROM shop.customers",
    "SELECT string_agg(status, ',') FROM shop.orders",
    "COPY shop.orders TO STDOUT",
    "INSERT INTO shop.orders (id) VALUES (1)",
    "SELECT dp.low(1)",
    "SELECT dp.error(1)",
    'CREATE TEMP TABLE "Made" AS SELECT count(*) FROM shop.orders',
    "CREATE ROLE somebody",
    "SET dp.epsilon = 99",
    "EXECUTE nothing",
]


def _said(client: RawClient, text: str, protocol: str) -> list[Report]:
    if protocol == "simple":
        client.send(frames.query(text.encode()))
    else:
        client.send(
            frames.parse(b"", text.encode()),
            frames.bind(b"", b""),
            frames.execute(b""),
            frames.SYNC,
        )
    return [
        dict(frames.decode_report(payload)) for tag, payload in client.until_ready() if tag == b"E"
    ]


def _set(client: RawClient, how: str, name: str, value: str) -> None:
    written = value if name in ("search_path", "DateStyle") else f"'{value}'"
    text = {
        "SET": f"SET {name} TO {written}",
        "function": f"SELECT set_config('{name}', '{value}', false)",
        "block": f"BEGIN; SET LOCAL {name} TO {written}",
    }[how]
    assert _said(client, text, "simple") == []


@pytest.mark.every(3)
@pytest.mark.parametrize("how", ["SET", "function", "block"])
@pytest.mark.parametrize("protocol", ["simple", "extended"])
def test_no_setting_shows_what_is_within(
    how: str, protocol: str, live: LiveProxy, analyst: str
) -> None:
    with RawClient(live.dsn(analyst=analyst)) as client:
        _said(client, _TEMPORARY, "simple")
        plain = {text: _said(client, text, protocol) for text in REFUSED}
        assert all(plain.values()), plain
        for name, value in SETTINGS.items():
            for text in REFUSED:
                _set(client, how, name, value)
                said = _said(client, text, protocol)
                _said(client, "ROLLBACK" if how == "block" else f"RESET {name}", "simple")
                assert said == plain[text], (name, text)
                for report in said:
                    assert b"W" not in report, (name, text)
                    assert all(byte >= 32 for byte in report[b"M"]), (name, text)


def test_each_function_of_the_proxy_pins_it(live: LiveProxy) -> None:
    """Or the CONTEXT of its errors is written as the session likes."""
    with psycopg.connect(live.servers.shadow_server.dsn("shop")) as connection:
        found = connection.execute(
            "SELECT p.proname::text, coalesce(p.proconfig, '{}') FROM pg_proc p"
            " JOIN pg_language l ON l.oid = p.prolang"
            " WHERE p.pronamespace = 'dp'::regnamespace AND l.lanname = 'plpgsql'"
        ).fetchall()
    assert len(found) >= 9
    # What a function sets comes back at its end where it has a setting of its own; and this one raises nothing.
    found = [(name, pinned) for name, pinned in found if name != "hold_timeouts"]
    assert [name for name, pinned in found if "quote_all_identifiers=off" not in pinned] == []
    pins = {"search_path=pg_catalog", "search_path=pg_catalog, pg_temp"}
    unpinned = sorted(name for name, pinned in found if pins.isdisjoint(pinned))
    assert unpinned == ["rehearse", "try_answer"]  # they run what analysts write
