"""EXPLAIN over both listeners: its options, and what has no plan."""

from __future__ import annotations

import json
from collections.abc import Iterator

import psycopg
import pytest

from tests.live_proxy import LiveProxy
from tests.servers.http.both_listeners import BothListeners, open_http

_COUNT = "SELECT count(*) FROM shop.orders"


@pytest.fixture(scope="module")
def listeners(live: LiveProxy) -> Iterator[BothListeners]:
    both = open_http(live)
    yield both
    both.close()


@pytest.mark.parametrize(
    ("options", "sqlstate"),
    [
        ("NOPE", "42601"),
        ("COSTS, NOPE off", "42601"),
        ("COSTS json", "42601"),
        ("FORMAT", "42601"),
        ("FORMAT odd", "22023"),
        ("FORMAT 'odd'", "22023"),
    ],
)
def test_what_postgresql_refuses(
    live: LiveProxy, analyst: str, options: str, sqlstate: str
) -> None:
    with live.connect(analyst=analyst) as connection, live.direct(analyst=analyst) as direct:
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(f"EXPLAIN ({options}) {_COUNT}".encode())
        with pytest.raises(psycopg.Error) as own:
            direct.execute(f"EXPLAIN ({options}) SELECT 1".encode())
        assert caught.value.sqlstate == own.value.sqlstate == sqlstate
        assert caught.value.diag.message_primary == own.value.diag.message_primary
        assert caught.value.diag.message_hint
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize("written", ["json", "JSON", "'json'", '"json"', "text, FORMAT json"])
def test_json_however_it_is_written(live: LiveProxy, analyst: str, written: str) -> None:
    with live.connect(analyst=analyst) as connection:
        row = connection.execute(f"EXPLAIN (FORMAT {written}) {_COUNT}".encode()).fetchone()
    assert row is not None
    assert row[0][0]["privacy"]["epsilon"] == 1


@pytest.mark.parametrize(
    "options", ["FORMAT text", "COSTS off, VERBOSE", "FORMAT json, FORMAT text"]
)
def test_text(live: LiveProxy, analyst: str, options: str) -> None:
    with live.connect(analyst=analyst) as connection:
        rows = connection.execute(f"EXPLAIN ({options}) {_COUNT}".encode()).fetchall()
    assert rows[0][0].startswith("Differentially private answer")


@pytest.mark.parametrize("written", ["xml", "YAML", "'xml'"])
def test_other_forms_are_not_available(
    live: LiveProxy, listeners: BothListeners, analyst: str, written: str
) -> None:
    text = f"EXPLAIN (FORMAT {written}) {_COUNT}"
    with live.connect(analyst=analyst) as connection:
        with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
            connection.execute(text.encode())
        assert caught.value.diag.message_hint == "Use FORMAT TEXT or FORMAT JSON."
    body = listeners.query(text, analyst=analyst).json()
    assert body["hint"] == "Use FORMAT TEXT or FORMAT JSON."


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE shop.orders SET total = 1",
        "DELETE FROM shop.orders",
        "INSERT INTO shop.orders (id) VALUES (1)",
        "",
        " ; -- nothing",
        "SELECT 1 FROM pg_authid",
    ],
)
def test_what_a_query_refuses_has_no_plan(
    listeners: BothListeners, analyst: str, text: str
) -> None:
    refused = listeners.query(text, analyst=analyst)
    explained = listeners.query(text, analyst=analyst, path="/v1/explain")
    assert explained.status_code == refused.status_code >= 400
    assert explained.json()["detail"] == refused.json()["detail"]


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("SELECT 1", ()),
        ("; (SELECT $1::int)", (5,)),
        ("SELECT * FROM dp.columns", ()),
        ("SHOW dp.epsilon", ()),
        ("VALUES (1)", ()),
    ],
)
def test_what_asks_nothing_costs_nothing(
    listeners: BothListeners, analyst: str, text: str, params: tuple[int, ...]
) -> None:
    explained = listeners.query(text, *params, analyst=analyst, path="/v1/explain")
    assert explained.status_code == 200, explained.text
    assert json.loads(explained.text)["privacy"]["epsilon"] == 0
