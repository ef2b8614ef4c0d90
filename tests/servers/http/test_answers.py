"""What a client gets over HTTP, and what it costs."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from decimal import Decimal

import pytest

from proxy.base.errors import Fault
from proxy.servers.http import rendering
from tests.servers.http.both_listeners import BothListeners
from tests.servers_fixture import PASSWORD

_COUNT = "SELECT count(*) FROM shop.orders"


def test_an_answer_says_what_it_cost(listeners: BothListeners) -> None:
    before = listeners.proxy.spent()
    body = listeners.query("SELECT count(*) AS n, avg(total) FROM shop.orders", epsilon=0.5).json()
    after = listeners.proxy.spent()
    assert (after[0] - before[0], round(after[1] - before[1], 9)) == (1, 0.5)
    assert [column["name"] for column in body["columns"]] == ["n", "avg"]
    assert body["columns"][0]["type"] == "bigint"
    ((count, mean),) = body["rows"]
    assert abs(count - 60_000) < 10_000
    assert 0 <= mean <= 175
    privacy = body["privacy"]
    assert privacy["epsilon"] == 0.5
    assert privacy["source"] == "fresh"
    assert privacy["receipt"].isdigit()
    assert [entry["aggregate"] for entry in body["accuracy"]] == ["count(*)", "avg"]
    assert sum(entry["epsilon"] for entry in body["accuracy"]) == pytest.approx(0.5)
    assert body["accuracy"][0]["error_95"] > 0
    assert body["accuracy"][1]["error_95"] is None  # private
    history = listeners.get("/v1/history", database="shop").json()["history"]
    assert str(history[0]["receipt"]) == privacy["receipt"]
    assert history[0]["epsilon"] == 0.5
    budget = listeners.get("/v1/budget", database="shop").json()["budget"]
    assert min(line["epsilon_remaining"] for line in budget) == pytest.approx(
        privacy["remaining"]["epsilon"]
    )


def test_a_history_takes_a_turn_of_the_analyst(listeners: BothListeners) -> None:
    """Many of them keep nobody else's answers waiting: decrypting texts takes a thread."""
    proxy, goes_on = listeners.proxy, threading.Event()
    name = proxy.servers.new_analyst()
    turns = proxy.assembly.databases["shop"].in_force.answering

    def ask(path: str) -> int:
        got = listeners.client.get(path, params={"database": "shop"}, auth=(name, PASSWORD))
        return got.status_code

    holding = asyncio.run_coroutine_threadsafe(turns.run(name, goes_on.wait, 30), proxy.loop)
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(ask, "/v1/history")
        try:
            assert ask("/v1/budget") == 200
            with pytest.raises(FutureTimeout):
                asked.result(1)
        finally:
            goes_on.set()
        assert asked.result(60) == 200
    holding.result(60)


def test_values_keep_their_digits(listeners: BothListeners) -> None:
    response = listeners.query(
        "SELECT 12345678901234567890.1234567890::numeric AS a, 9007199254740993::bigint AS b,"
        " 'NaN'::float8 AS c, 'Infinity'::numeric AS d, NULL AS e, true AS f, date '2020-02-29' AS g,"
        " 'é\"€'::text AS h, '{\"x\": [1.50]}'::json AS i, ARRAY[1, 2] AS j,"
        " 0.1::float8 AS k, '-0'::float8 AS l"
    )
    assert "12345678901234567890.1234567890" in response.text
    (row,) = json.loads(response.text, parse_float=Decimal)["rows"]
    assert row == [
        Decimal("12345678901234567890.1234567890"),
        9007199254740993,
        "NaN",
        "Infinity",
        None,
        True,
        "2020-02-29",
        'é"€',
        {"x": [Decimal("1.50")]},
        "{1,2}",
        Decimal("0.1"),
        0,
    ]
    privacy = response.json()["privacy"]
    assert privacy == {
        "epsilon": 0,
        "delta": 0,
        "remaining": None,
        "source": None,
        "as_of": None,
        "receipt": None,
    }


def test_csv(listeners: BothListeners) -> None:
    response = listeners.query(
        "SELECT status, count(*), NULL AS nothing, '' AS empty, E'a\"b,c\\nd' AS hard"
        " FROM shop.orders GROUP BY status",
        headers={"Accept": "text/csv"},
    )
    assert response.headers["content-type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(response.text, newline="")))
    assert rows[0] == ["status", "count", "nothing", "empty", "hard"]
    assert {row[0] for row in rows[1:]} == {"paid", "shipped", "returned", "cancelled"}
    assert {tuple(row[2:]) for row in rows[1:]} == {("", "", 'a"b,c\nd')}
    assert ',,"","a""b,c\nd"\r\n' in response.text
    assert response.headers["dpproxy-epsilon"] == "1"
    assert response.headers["dpproxy-receipt"].isdigit()
    assert Decimal(response.headers["dpproxy-remaining-epsilon"]) > 0


def test_parameters_are_read_as_their_types(listeners: BothListeners) -> None:
    body = listeners.query(
        "SELECT $1::int + 1, $2::numeric, $3::text, $4::bool, $5::date",
        41,
        0.50,
        None,
        True,
        "2020-01-01",
    ).json()
    assert body["rows"] == [[42, 0.5, None, True, "2020-01-01"]]
    asked = listeners.query(
        "SELECT count(*) FROM shop.orders WHERE total > $1 AND status = $2", 1000, "paid"
    )
    assert abs(asked.json()["rows"][0][0]) < 2_000  # no total is above its bound


def test_explain_costs_nothing(listeners: BothListeners) -> None:
    before = listeners.proxy.spent()
    sql = "SELECT status, sum(total) FROM shop.orders WHERE total > $1 GROUP BY status"
    plan = listeners.query(sql, 5, path="/v1/explain", epsilon=0.25).json()
    assert plan["privacy"]["epsilon"] == 0.25
    (block,) = plan["blocks"]
    assert (block["tables"], block["groups"]) == (["shop.orders"], 4)
    assert plan["aggregates"][0]["error_95"] > 0
    as_rows = listeners.query(f"EXPLAIN {_COUNT}").json()
    assert as_rows["columns"][0]["name"] == "QUERY PLAN"
    assert any("Nothing was read" in line for (line,) in as_rows["rows"])
    nothing = listeners.query("SELECT 1", path="/v1/explain").json()
    assert (nothing["privacy"]["epsilon"], nothing["blocks"]) == (0, [])
    refused = listeners.query("SELECT total FROM shop.orders", path="/v1/explain")
    assert (refused.status_code, refused.json()["sqlstate"]) == (403, "42501")
    assert listeners.proxy.spent() == before


def test_refusals_cost_nothing(listeners: BothListeners) -> None:
    before = listeners.proxy.spent()
    for sql in (
        "SELECT * FROM shop.orders",
        f"COPY ({_COUNT}) TO STDOUT",
        f"CREATE TEMP TABLE kept AS {_COUNT}",
        f"DECLARE c CURSOR FOR {_COUNT}",
        f"{_COUNT} WHERE nothing = 1",
        f"{_COUNT}; {_COUNT}",
    ):
        response = listeners.query(sql)
        assert response.status_code in (400, 403), sql
        assert response.json()["sqlstate"] in ("42501", "0A000", "42703", "42601")
    assert listeners.proxy.spent() == before


def test_a_charge_whose_statement_fails_after_it_is_reported(listeners: BothListeners) -> None:
    before = listeners.proxy.spent()
    response = listeners.query("SELECT mod(1, count(*) / 4000000) FROM shop.orders WHERE total > 7")
    assert (response.status_code, response.json()["sqlstate"]) == (400, "22012")
    assert listeners.proxy.spent()[0] == before[0] + 1
    history = listeners.get("/v1/history", database="shop").json()["history"]
    assert response.json()["receipt"] == str(history[0]["receipt"])


def test_nothing_outlives_a_request(listeners: BothListeners) -> None:
    for sql in (
        "SET dp.epsilon = 0.001",
        "SET search_path = pg_catalog",
        "CREATE TEMP TABLE orders (a int)",
        "PREPARE p AS SELECT 1",
        "LISTEN news",
        "COMMIT",
        "BEGIN",
    ):
        assert listeners.query(sql).status_code == 200, sql
    assert (
        listeners.query("SELECT count(*) FROM orders WHERE total > 3").json()["privacy"]["epsilon"]
        == 1
    )
    held = listeners.query("SELECT count(*) FROM pg_listening_channels()").json()
    assert held["rows"] == [[0]]
    assert listeners.query("EXECUTE p").json()["sqlstate"] == "26000"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("sql", "sqlstate"),
    [
        ("COPY shop.products TO STDOUT", "0A000"),
        ("COPY (SELECT 1) TO STDOUT", "0A000"),
        ("SELECT generate_series(1, 100001)", "54001"),
        ("SELECT repeat('x', 1000000) FROM generate_series(1, 100)", "54001"),
        ("", "42601"),
        ("-- nothing", "42601"),
    ],
)
def test_what_a_response_cannot_hold(listeners: BothListeners, sql: str, sqlstate: str) -> None:
    assert listeners.query(sql).json()["sqlstate"] == sqlstate
    assert listeners.query("SELECT 1").json()["rows"] == [[1]]


@pytest.mark.parametrize(
    ("rows", "size", "limit"),
    [
        (17, 1_000_000, 16 * 1024 * 1024),  # one after another
        (100_001, 1, 100_000),
        (90_000, 1_000, 64 * 1024 * 1024),
    ],
)
def test_a_limit_is_named_that_was_met(
    listeners: BothListeners, rows: int, size: int, limit: int
) -> None:
    sql = f"SELECT repeat('x', {size}) FROM generate_series(1, {rows})"
    body = listeners.query(sql).json()
    assert body["sqlstate"] == "54001"
    assert f"more than {limit} " in body["detail"]


def test_most_rows(listeners: BothListeners) -> None:
    assert len(listeners.query("SELECT generate_series(1, 100000)").json()["rows"]) == 100_000


def test_schema_and_databases(listeners: BothListeners) -> None:
    assert listeners.get("/v1/databases").json() == {"databases": ["census", "shop"]}
    tables = {t["name"]: t for t in listeners.get("/v1/schema", database="shop").json()["tables"]}
    assert set(tables) == {"shop.customers", "shop.orders", "shop.products"}
    columns = {column["name"]: column for column in tables["shop.orders"]["columns"]}
    assert list(columns)[:2] == ["id", "customer_id"]
    assert columns["status"]["values"] == ["paid", "shipped", "returned", "cancelled"]
    assert (columns["total"]["low"], columns["total"]["high"]) == ("0", "175")
    unknown = listeners.get("/v1/schema", database="nothing")
    assert (unknown.status_code, unknown.json()["sqlstate"]) == (404, "3D000")


def test_the_example_of_the_document_is_answered(listeners: BothListeners) -> None:
    document = listeners.client.get("/openapi.json").json()
    body = document["paths"]["/v1/query"]["post"]["requestBody"]["content"]["application/json"]
    auth = (listeners.analyst, PASSWORD)
    answered = listeners.client.post("/v1/query", json=body["example"], auth=auth)
    assert answered.status_code == 200


def test_health(listeners: BothListeners) -> None:
    assert listeners.client.get("/healthz").json() == {"status": "ok"}
    assert listeners.client.get("/readyz").status_code in (200, 503)


def test_texts_that_fail_keep_no_charged_answer_back(
    listeners: BothListeners, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As JSON and as CSV: the numbers are there, and a constant text says that the notices are not."""

    def fails(answer: object) -> object:
        raise ZeroDivisionError("a text of this error")

    monkeypatch.setattr(rendering, "answer_lines", fails)
    sql = "SELECT count(*) AS n FROM shop.orders"
    body = listeners.query(sql, epsilon=0.5).json()
    assert abs(body["rows"][0][0] - 60_000) < 10_000
    assert body["notices"] == [Fault().message]
    as_csv = listeners.query(sql, epsilon=0.5, headers={"Accept": "text/csv"})
    assert as_csv.status_code == 200
    assert as_csv.headers["DPProxy-Notice"] == Fault().message
    assert as_csv.text.startswith("n\r\n")
