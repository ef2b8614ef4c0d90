"""Formats of an answer over HTTP, and pages of other sites."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import nanoarrow as na
import pytest

from proxy.base.sql_types import SqlType
from proxy.cli.cli_error import CliError
from proxy.cli.listen_addresses import origins_of
from proxy.engine.sessions import ResultColumn, ResultRows
from proxy.servers.http.arrow_stream import arrow_stream
from proxy.servers.http.http_problem import HttpProblem
from proxy.servers.http.request_reading import Format, chosen_format
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD

_ROWS = (
    "SELECT 1::int AS n, 9007199254740993::bigint AS big, 1.50::numeric AS price, 'é,\"x' AS t, true AS b,"
    " date '2026-01-31' AS d, timestamptz '2026-01-31 12:00:00.25+00' AS at, NULL::int AS nothing,"
    " 2.5::float8 AS f, 1::int AS n"
)
_ARROW = "application/vnd.apache.arrow.stream"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (None, Format.JSON),
        ("", Format.JSON),
        ("*/*", Format.JSON),
        ("application/json", Format.JSON),
        ("text/csv", Format.CSV),
        ("TEXT/CSV; charset=utf-8", Format.CSV),
        ("text/*", Format.CSV),
        ("text/csv, application/json", Format.CSV),
        ("application/json, text/csv", Format.JSON),
        ("text/csv;q=0.4, application/json;q=0.5", Format.JSON),
        ("text/csv;q=0.4, application/json;q=0.5, application/x-ndjson", Format.LINES),
        ("application/jsonl", Format.LINES),
        (_ARROW, Format.ARROW),
        (f"{_ARROW};q=0.9, */*;q=0.1", Format.ARROW),
        ("application/json;q=0, */*", Format.CSV),
        ("application/json;q=0.1, */*;q=0.5", Format.CSV),
        ("text/html, application/xhtml+xml, */*;q=0.8", Format.JSON),
        ("text/csv;q=x, application/json;q=0.1", Format.JSON),
        ("text/html", None),
        ("text/csv;q=0", None),
        ("application/json;q=0", None),
        ("image/*, text/plain", None),
        (",;,q", None),
    ],
)
def test_what_accept_chooses(accept: str | None, wanted: Format | None) -> None:
    if wanted is not None:
        assert chosen_format(accept) is wanted
        return
    with pytest.raises(HttpProblem) as caught:
        chosen_format(accept)
    assert caught.value.status == 406 and "text/csv" in (caught.value.hint or "")


def _asked(listeners: BothListeners, accept: str, sql: str = _ROWS, **more: Any) -> httpx.Response:
    return listeners.query(sql, headers={"Accept": accept}, **more)


def test_each_format_has_the_same_values(listeners: BothListeners) -> None:
    by_json = _asked(listeners, "application/json")
    rows = json.loads(by_json.text, parse_float=Decimal)["rows"]
    assert rows == [
        [1, 9007199254740993, Decimal("1.50"), 'é,"x', True, "2026-01-31", rows[0][6], None, 2.5, 1]
    ]
    lines = _asked(listeners, "application/x-ndjson")
    assert lines.headers["content-type"] == "application/x-ndjson"
    (line,) = lines.text.splitlines()
    found = json.loads(line, parse_float=Decimal)
    assert list(found) == ["n", "big", "price", "t", "b", "d", "at", "nothing", "f", "n_2"]
    assert list(found.values()) == rows[0]
    table = list(csv.reader(io.StringIO(_asked(listeners, "text/csv").text)))
    assert table[1][:4] == ["1", "9007199254740993", "1.50", 'é,"x']
    arrow = _asked(listeners, _ARROW)
    assert arrow.headers["content-type"] == _ARROW and arrow.headers["vary"] == "Accept"
    stream = na.ArrayStream.from_readable(io.BytesIO(arrow.content))
    schema = [(one.name, str(one)) for one in stream.schema.fields]
    assert [name for name, _ in schema] == list(found)
    (row,) = stream.read_all().to_pylist()
    assert row["n"] == 1 and row["big"] == 9007199254740993 and row["nothing"] is None
    assert row["price"] == Decimal("1.50") and row["t"] == 'é,"x' and row["b"] is True
    assert (
        str(row["d"]) == "2026-01-31"
        and row["at"].isoformat() == "2026-01-31T12:00:00.250000+00:00"
    )


def test_rows_alone_can_have_their_errors_beside_them(listeners: BothListeners) -> None:
    sql = "SELECT status, count(*) AS n, sum(total) AS s FROM shop.orders GROUP BY status"
    whole = json.loads(_asked(listeners, "application/json", sql).text)
    names = ["status", "n", "n_error", "s", "s_error"]
    expected = {
        row[0]: (own[1], own[2])
        for row, own in zip(whole["rows"], whole["errors"]["rows"], strict=True)
    }
    wanted = {"error_columns": True}
    text = _asked(listeners, "application/x-ndjson", sql, **wanted).text
    lines = [json.loads(one) for one in text.splitlines()]
    table = list(csv.DictReader(io.StringIO(_asked(listeners, "text/csv", sql, **wanted).text)))
    arrow = io.BytesIO(_asked(listeners, _ARROW, sql, **wanted).content)
    rows = na.ArrayStream.from_readable(arrow).read_all().to_pylist()
    for found in (lines, table, rows):
        assert [list(row) for row in found] == [names] * len(expected)
        own = {row["status"]: (float(row["n_error"]), float(row["s_error"])) for row in found}
        assert own == expected
        assert all(float(row["n"]) > 1_000 < float(row["s"]) for row in found)
    assert _asked(listeners, "text/csv", sql).text.startswith("status,n,s\r\n")


def test_the_price_of_rows_alone_is_in_headers(listeners: BothListeners) -> None:
    sql = "SELECT status, count(*), sum(total) FROM shop.orders GROUP BY status"
    for accept in ("application/x-ndjson", "text/csv", _ARROW):
        answer = _asked(listeners, accept, sql, epsilon=0.5)
        assert answer.status_code == 200
        assert answer.headers["DPProxy-Epsilon"] == "0.5"
        assert answer.headers["DPProxy-Source"] == "fresh"
        assert answer.headers["DPProxy-Receipt"].isdigit()
    rows = na.ArrayStream.from_readable(io.BytesIO(answer.content)).read_all().to_pylist()
    assert {row["status"] for row in rows} == {"paid", "shipped", "returned", "cancelled"}
    assert all(isinstance(row["count"], int) and isinstance(row["sum"], Decimal) for row in rows)


def test_what_is_not_there_is_not_charged(listeners: BothListeners) -> None:
    analyst = listeners.proxy.servers.new_analyst()
    refused = _asked(listeners, "text/html", "SELECT count(*) FROM shop.orders", analyst=analyst)
    assert refused.status_code == 406
    assert refused.headers["content-type"] == "application/problem+json"
    assert listeners.proxy.when_settled(analyst)[0] == 0


def test_large_numbers_as_strings(listeners: BothListeners) -> None:
    sql = (
        "SELECT 9007199254740992::bigint AS a, 9007199254740993::bigint AS b,"
        " -9007199254740993.5::numeric AS c, 'NaN'::float8 AS d, 1e300::float8 AS e,"
        " 123456789012345.25::numeric AS f"
    )
    wanted = ["9007199254740993", "-9007199254740993.5", "NaN", "1e+300"]
    body = json.loads(_asked(listeners, "application/json", sql, large_as_text=True).text)
    (row,) = body["rows"]
    assert row[0] == 9007199254740992 and row[1:5] == wanted and row[5] == 123456789012345.25
    (line,) = _asked(listeners, "application/x-ndjson", sql, large_as_text=True).text.splitlines()
    assert list(json.loads(line).values()) == row
    assert json.loads(_asked(listeners, "application/json", sql).text)["rows"][0][1] == 2**53 + 1


def _arrow(kind: SqlType, *values: str | None) -> list[Any]:
    rows = [(None if value is None else value.encode(),) for value in values]
    stream = arrow_stream(["x"], ResultRows((ResultColumn("x", kind.oid, kind.sql),), rows))
    read = na.ArrayStream.from_readable(io.BytesIO(stream)).read_all().to_pylist()
    return [row["x"] for row in read]


@pytest.mark.parametrize(
    ("kind", "values", "shown"),
    [
        (SqlType.NUMERIC, ("1.5", None, "0.25"), [Decimal("1.50"), None, Decimal("0.25")]),
        (SqlType.NUMERIC, ("1", "NaN"), ["1", "NaN"]),
        (SqlType.NUMERIC, ("1", "Infinity"), ["1", "Infinity"]),
        (SqlType.NUMERIC, ("9" * 38,), [Decimal("9" * 38)]),
        (SqlType.NUMERIC, ("9" * 39,), ["9" * 39]),
        (SqlType.NUMERIC, ("9" * 30, "0." + "1" * 20), ["9" * 30, "0." + "1" * 20]),
        (SqlType.NUMERIC, (), []),
        (SqlType.FLOAT8, ("1.5", "Infinity", None), [1.5, float("inf"), None]),
        (SqlType.INT8, ("-9223372036854775808",), [-(2**63)]),
        (SqlType.DATE, ("infinity", "2020-01-01"), ["infinity", "2020-01-01"]),
        (SqlType.DATE, ("0044-03-15 BC",), ["0044-03-15 BC"]),
        (SqlType.TIMESTAMP, ("-infinity",), ["-infinity"]),
        (SqlType.TEXT, ("", None, "a\nb"), ["", None, "a\nb"]),
    ],
)
def test_values_that_arrow_has_a_place_for_and_others(
    kind: SqlType, values: tuple[str | None, ...], shown: list[Any]
) -> None:
    assert _arrow(kind, *values) == shown


def test_decimals_below_zero() -> None:
    """nanoarrow's reader takes them for positive: the numbers are read as Arrow says that they are stored."""
    texts = ["-0.25", "-1", None, "0.5", "-99999999999999999999999999999999999.99"]
    rows = [(None if text is None else text.encode(),) for text in texts]
    column = ResultColumn("x", SqlType.NUMERIC.oid, "numeric")
    stream = na.ArrayStream.from_readable(
        io.BytesIO(arrow_stream(["x"], ResultRows((column,), rows)))
    )
    (array,) = stream.read_all().child(0).iter_chunks()
    _, data = array.buffers
    stored = bytes(data)
    found = [int.from_bytes(stored[16 * n : 16 * n + 16], "little", signed=True) for n in range(5)]
    assert found == [-25, -100, 0, 50, -9999999999999999999999999999999999999]


@pytest.mark.parametrize(
    "text",
    ["2026-01-31 12:00:00", "2026-01-31 12:00:00.5", "1969-12-31 23:59:59.999999"],
)
def test_times_in_arrow(text: str) -> None:
    (plain,) = _arrow(SqlType.TIMESTAMP, text)
    (zoned,) = _arrow(SqlType.TIMESTAMPTZ, f"{text}+00")
    (east,) = _arrow(SqlType.TIMESTAMPTZ, f"{text}+05:30")
    assert (
        plain.isoformat(" ").rstrip("0") == text.rstrip("0") if "." in text else str(plain) == text
    )
    assert zoned.replace(tzinfo=None) == plain
    assert (zoned - east).total_seconds() == 5.5 * 3600
    assert _arrow(SqlType.TIMESTAMPTZ, f"{text}+05")[0] > east


@pytest.fixture(scope="module")
def shared(listeners: BothListeners) -> Iterator[BothListeners]:
    http = open_http(listeners.proxy, sites=("https://app.example",))
    yield http
    http.close()


def _base(listeners: BothListeners) -> str:
    return str(listeners.client.base_url).rstrip("/")


def _preflight(listeners: BothListeners, origin: str, path: str = "/v1/query") -> httpx.Response:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type",
    }
    return httpx.options(f"{_base(listeners)}{path}", headers=headers)


def test_pages_of_named_sites_may_ask(shared: BothListeners, listeners: BothListeners) -> None:
    asked = _preflight(shared, "https://app.example")
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == "https://app.example"
    assert "access-control-allow-credentials" not in asked.headers
    for other in ("https://evil.example", "null", "https://app.example.evil.example"):
        assert "access-control-allow-origin" not in _preflight(shared, other).headers
        answer = httpx.post(
            f"{_base(shared)}/v1/query",
            json={"database": "shop", "sql": "SELECT 1"},
            headers={"Origin": other},
            auth=(shared.analyst, PASSWORD),
        )
        assert "access-control-allow-origin" not in answer.headers
    answer = httpx.post(
        f"{_base(shared)}/v1/query",
        json={"database": "shop", "sql": "SELECT 1"},
        headers={"Origin": "https://app.example"},
        auth=(shared.analyst, PASSWORD),
    )
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert "DPProxy-Receipt" in answer.headers["access-control-expose-headers"]
    # Neither the console nor a listener without the option.
    page = httpx.get(f"{_base(shared)}/sign-in", headers={"Origin": "https://app.example"})
    assert "access-control-allow-origin" not in page.headers
    assert "access-control-allow-origin" not in _preflight(listeners, "https://app.example").headers


@pytest.mark.parametrize("text", ["*", "null", "app.example", "https://app.example/path", ""])
def test_only_an_origin_is_taken_for_one(text: str) -> None:
    with pytest.raises(CliError, match="not an origin"):
        origins_of([text])
