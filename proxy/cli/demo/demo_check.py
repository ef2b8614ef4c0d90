"""`dpproxy demo --check`: questions through both interfaces, what they cost, and a refusal."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import psycopg

from proxy.base.shown_numbers import shown_number
from proxy.cli.demo.demo_databases import ANALYST
from proxy.cli.listen_addresses import ListenerPorts
from proxy.cli.text_table import text_table

# A client of dpproxy's own PostgreSQL listener: what `dpproxy demo --check` asks with.


@dataclass(frozen=True, slots=True)
class StatementReport:
    """remaining: epsilon that is left; refusal: SQLSTATE and message, if it was one."""

    rows: tuple[tuple[Any, ...], ...]
    charged: Decimal
    remaining: Decimal
    refusal: tuple[str, str] | None = None


def query_over_the_wire(
    address: tuple[str, int], database: str, user: str, password: str, sql: str
) -> StatementReport:
    """One question in a session of its own, and what the ledger says of it."""
    host, port = address
    with psycopg.connect(
        host=host, port=port, user=user, password=password, dbname=database, autocommit=True
    ) as connection:
        before = _spent_on_the_wire(connection)
        rows: tuple[tuple[Any, ...], ...] = ()
        refusal = None
        try:
            rows = tuple(connection.execute(sql.encode()).fetchall())
        except psycopg.Error as error:
            refusal = (error.sqlstate or "", error.diag.message_primary or "")
        left = connection.execute("SELECT min(epsilon_remaining) FROM dp.budget").fetchone()
        assert left is not None
        return StatementReport(rows, _spent_on_the_wire(connection) - before, left[0], refusal)


def _spent_on_the_wire(connection: psycopg.Connection) -> Decimal:
    row = connection.execute("SELECT coalesce(sum(epsilon), 0) FROM dp.history").fetchone()
    assert row is not None
    return Decimal(row[0])


_HTTP_SECONDS = 60
_LISTED = 60


@dataclass(frozen=True, slots=True)
class _DemoQuery:
    listener: str
    database: str
    sql: str
    rows: int | None  # None: it must be refused


_QUESTIONS = (
    _DemoQuery("wire", "census", "SELECT count(*) FROM census.adult WHERE age >= 65", 1),
    _DemoQuery("http", "census", "SELECT avg(age), max(age) FROM census.adult", 1),
    _DemoQuery("wire", "census", "SELECT sex, count(*) FROM census.adult GROUP BY sex", 2),
    _DemoQuery("http", "shop", "SELECT status, sum(total) FROM shop.orders GROUP BY status", 4),
    _DemoQuery(
        "wire", "shop", "SELECT round(sum(total) / count(*), 2) AS mean FROM shop.orders", 1
    ),
    _DemoQuery("http", "shop", "SELECT count(*) FROM shop.customers WHERE state = 'CA'", 1),
    _DemoQuery("wire", "shop", "SELECT * FROM shop.customers", None),
    _DemoQuery("http", "shop", "SELECT * FROM shop.customers", None),
)
_REFUSED = "42501"


def check_demo(ports: ListenerPorts, password: str) -> tuple[list[str], bool]:
    """
    Gives    the lines to print, and whether everything was as it must be
    """
    rows: list[list[str]] = []
    problems: list[str] = []
    left: dict[str, Decimal] = {}
    for number, question in enumerate(_QUESTIONS, start=1):
        report = _run_query(question, ports, password)
        problems += [
            f"question {number}: {problem}"
            for problem in _problems(question, report, left.get(question.database))
        ]
        left[question.database] = report.remaining
        rows.append(
            [
                str(number),
                question.listener,
                question.sql,
                _displayed(report),
                shown_number(report.charged),
                shown_number(report.remaining),
            ]
        )
    heads = ["", "listener", "question", "answer", "epsilon charged", "epsilon left"]
    lines = list(text_table(heads, rows))
    return [*lines, *(problems or ["all checks passed"])], not problems


def _problems(
    question: _DemoQuery, report: StatementReport, before: Decimal | None
) -> Iterator[str]:
    if question.rows is None:
        if report.refusal is None or report.refusal[0] != _REFUSED or report.charged != 0:
            yield "it was answered, although it should be refused"
        return
    if report.refusal is not None:
        yield f"it was refused, although it should be answered: {report.refusal[1]}"
        return
    if len(report.rows) != question.rows:
        yield f"{len(report.rows)} rows instead of {question.rows}"
    if any(value is None for row in report.rows for value in row):
        yield "an answer is NULL"
    if report.charged <= 0:
        yield "nothing was charged"
    if before is not None and report.remaining != before - report.charged:
        yield "the remaining budget did not fall by exactly the charge"


def _run_query(question: _DemoQuery, ports: ListenerPorts, password: str) -> StatementReport:
    if question.listener == "wire":
        return query_over_the_wire(ports.wire, question.database, ANALYST, password, question.sql)
    before = _spent(ports, password, question.database)
    status, body = _call(
        ports, password, "POST", "/v1/query", {"database": question.database, "sql": question.sql}
    )
    charged = _spent(ports, password, question.database) - before
    _, budget = _call(ports, password, "GET", f"/v1/budget?database={question.database}")
    remaining = min(Decimal(str(line["epsilon_remaining"])) for line in budget["budget"])
    if status != http.client.OK:
        return StatementReport((), charged, remaining, (str(body["sqlstate"]), str(body["detail"])))
    return StatementReport(tuple(tuple(row) for row in body["rows"]), charged, remaining)


def _spent(ports: ListenerPorts, password: str, database: str) -> Decimal:
    _, body = _call(ports, password, "GET", f"/v1/history?database={database}")
    return sum((Decimal(str(entry["epsilon"])) for entry in body["history"]), Decimal(0))


def _call(
    ports: ListenerPorts, password: str, method: str, path: str, body: object = None
) -> tuple[int, Any]:
    token = base64.b64encode(f"{ANALYST}:{password}".encode()).decode()
    headers = {"Authorization": f"Basic {token}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(*ports.http, timeout=_HTTP_SECONDS)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read(), parse_float=Decimal)
    finally:
        connection.close()


def _displayed(report: StatementReport) -> str:
    if report.refusal is not None:
        return f"refused ({report.refusal[0]})"
    text = "; ".join(", ".join(map(str, row)) for row in report.rows)
    return text if len(text) <= _LISTED else text[: _LISTED - 3] + "..."
