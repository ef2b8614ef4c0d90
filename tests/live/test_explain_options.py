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


_O = "shop.orders"
_PAIRED = f"{_O} o JOIN shop.customers c ON c.id = o.customer_id"
_WITHOUT_AGGREGATES = (
    f"SELECT DISTINCT status FROM {_O}",
    f"SELECT status FROM {_O} GROUP BY status",
    "SELECT DISTINCT state FROM shop.customers",
    f"SELECT DISTINCT c.state FROM {_PAIRED}",
    f"SELECT o.status, c.state FROM {_PAIRED} GROUP BY 1, 2",
    f"SELECT DISTINCT p.category FROM {_O} o JOIN shop.products p ON p.id = o.product_id",
    f"SELECT 1 FROM {_O} GROUP BY status",
    f"SELECT status FROM {_O} GROUP BY GROUPING SETS ((status), ())",
    f"SELECT DISTINCT status FROM {_O} UNION ALL SELECT DISTINCT state FROM shop.customers",
    f"SELECT status FROM {_O} GROUP BY status HAVING status <> 'paid'",
)


@pytest.mark.every(3)
@pytest.mark.parametrize("text", _WITHOUT_AGGREGATES)
def test_keys_alone_are_explained_as_free(
    live: LiveProxy, listeners: BothListeners, analyst: str, text: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        for options in ("", "(VERBOSE) ", "(FORMAT TEXT) "):
            rows = connection.execute(f"EXPLAIN {options}{text}".encode()).fetchall()
            assert rows[0][0].startswith("Answered from the policy, for epsilon 0")
        ((told,),) = connection.execute(f"EXPLAIN (FORMAT JSON) {text}".encode()).fetchall()
        assert told[0]["privacy"]["epsilon"] == 0
        connection.execute(text.encode())
    body = listeners.query(f"EXPLAIN {text}", analyst=analyst).json()
    assert body["rows"][0][0].startswith("Answered from the policy")
    told = listeners.query(text, analyst=analyst, path="/v1/explain").json()
    assert (told["privacy"]["epsilon"], told["aggregates"]) == (0, [])
    assert live.spent(analyst)[0] == 0


REFUSED = (
    *(f"UPDATE {_O} SET total = 1", f"DELETE FROM {_O}", f"INSERT INTO {_O} (id) VALUES (1)"),
    *("", " ; -- nothing", "SELECT 1 FROM pg_authid", f"SELECT total FROM {_O}", f"TABLE {_O}"),
    *(f"EXPLAIN SELECT * FROM {_O}", f"EXPLAIN TABLE {_O}", f"EXPLAIN UPDATE {_O} SET total = 0"),
    *(f"TRUNCATE {_O}", f"LOCK {_O}", f"DROP TABLE {_O}", f"ALTER TABLE {_O} ADD x int"),
    *(f"CREATE VIEW v AS SELECT * FROM {_O}", f"CREATE INDEX ON {_O} (id)", f"VACUUM {_O}"),
    *(f"CLUSTER {_O}", f"REINDEX TABLE {_O}", f"COMMENT ON TABLE {_O} IS 'x'"),
    *(f"GRANT SELECT ON {_O} TO PUBLIC", f"COPY {_O} FROM STDIN", f"COPY {_O} TO STDOUT"),
    *(f"INSERT INTO {_O} SELECT * FROM {_O}", f"INSERT INTO {_O} (id) SELECT count(*) FROM {_O}"),
    f"MERGE INTO {_O} o USING {_O} p ON o.id = p.id WHEN MATCHED THEN DELETE",
    f"CREATE TEMP TABLE t AS {_COUNT}",
    f"CREATE TEMP TABLE t AS SELECT * FROM {_O}",
    f"DECLARE c CURSOR FOR {_COUNT}",
    *("EXECUTE q", "SET work_mem = 'x'", "RESET nothing", "CREATE ROLE x"),
    *(f"{_COUNT} LIMIT -1", "SELECT sqrt(-1), count(*) FROM shop.orders"),
    f"WITH x AS ({_COUNT}) INSERT INTO {_O} (id) SELECT * FROM x ON CONFLICT DO NOTHING",
)


@pytest.mark.every(4)
@pytest.mark.parametrize("text", REFUSED)
def test_what_a_query_refuses_has_no_plan(
    listeners: BothListeners, analyst: str, text: str
) -> None:
    refused = listeners.query(text, analyst=analyst)
    explained = listeners.query(text, analyst=analyst, path="/v1/explain")
    assert explained.status_code == refused.status_code >= 400
    assert explained.json() == refused.json()
    assert listeners.proxy.spent(analyst)[0] == 0


@pytest.mark.parametrize("rows", [f"SELECT * FROM {_O}", f"SELECT id FROM {_O} o", f"TABLE {_O}"])
def test_an_explain_of_rows_is_refused_as_the_rows_are(
    live: LiveProxy, analyst: str, rows: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        said = []
        for text in (rows, f"EXPLAIN {rows}"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
                connection.execute(text.encode())
            said.append((caught.value.diag.message_primary, caught.value.diag.message_hint))
    assert said[0] == said[1]
    assert "Use aggregates" in (said[0][1] or "")


def test_judging_a_command_leaves_nothing_behind(listeners: BothListeners, analyst: str) -> None:
    """It is run in the request's transaction, which is undone; a block of code is not run at all."""
    for text in ("SET dp.epsilon = 0.5", "CREATE TEMP TABLE left_behind (a int)", "COMMIT"):
        assert listeners.query(text, analyst=analyst, path="/v1/explain").status_code == 200
    body = listeners.query("SHOW dp.epsilon", analyst=analyst).json()
    assert body["rows"] == [["1"]]
    gone = listeners.query("SELECT to_regclass('left_behind')", analyst=analyst).json()
    assert gone["rows"] == [[None]]
    code = "DO $$ BEGIN RAISE EXCEPTION 'is run'; END $$"
    assert listeners.query(code, analyst=analyst, path="/v1/explain").status_code == 200


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("SELECT 1", ()),
        ("; (SELECT $1::int)", (5,)),
        ("SELECT * FROM dp.columns", ()),
        ("SHOW dp.epsilon", ()),
        ("VALUES (1)", ()),
        (f"{_COUNT} HAVING false", ()),
        (f"{_COUNT} LIMIT $1", (0,)),
        ("CREATE TEMP TABLE t AS SELECT 1", ()),
        (f"ANALYZE {_O}", ()),
    ],
)
def test_what_asks_nothing_costs_nothing(
    listeners: BothListeners, analyst: str, text: str, params: tuple[int, ...]
) -> None:
    explained = listeners.query(text, *params, analyst=analyst, path="/v1/explain")
    assert explained.status_code == 200, explained.text
    assert json.loads(explained.text)["privacy"]["epsilon"] == 0
