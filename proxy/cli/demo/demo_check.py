"""`dpproxy demo --check`: questions through both interfaces, what they cost, and a refusal."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from proxy.cli.demo.demo_databases import ANALYST
from proxy.cli.demo.wire_client import Told, ask_over_the_wire
from proxy.cli.doors import Doors
from proxy.cli.text_table import text_table

_HTTP_SECONDS = 60
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Question:
    door: str
    database: str
    sql: str
    rows: int | None  # None: it must be refused


_QUESTIONS = (
    _Question("wire", "census", "SELECT count(*) FROM census.adult WHERE age >= 65", 1),
    _Question("http", "census", "SELECT avg(age), max(age) FROM census.adult", 1),
    _Question("wire", "census", "SELECT sex, count(*) FROM census.adult GROUP BY sex", 2),
    _Question("http", "shop", "SELECT status, sum(total) FROM shop.orders GROUP BY status", 4),
    _Question("wire", "shop", "SELECT round(sum(total) / count(*), 2) AS mean FROM shop.orders", 1),
    _Question("http", "shop", "SELECT count(*) FROM shop.customers WHERE state = 'CA'", 1),
    _Question("wire", "shop", "SELECT * FROM shop.customers", None),
    _Question("http", "shop", "SELECT * FROM shop.customers", None),
)
_REFUSED = "42501"


def check_demo(doors: Doors, password: str) -> tuple[list[str], bool]:
    """
    Gives    the lines to print, and whether everything was as it must be
    """
    rows: list[list[str]] = []
    problems: list[str] = []
    left: dict[str, Decimal] = {}
    for number, question in enumerate(_QUESTIONS, start=1):
        told = _ask(question, doors, password)
        problems += [
            f"question {number}: {problem}"
            for problem in _problems(question, told, left.get(question.database))
        ]
        left[question.database] = told.remaining
        rows.append(
            [
                str(number),
                question.door,
                question.sql,
                _shown(told),
                f"{told.charged:.6g}",
                f"{told.remaining:.6g}",
            ]
        )
    heads = ["", "door", "question", "answer", "epsilon charged", "epsilon left"]
    lines = list(text_table(heads, rows))
    return [*lines, *(problems or ["everything is as it must be"])], not problems


def _problems(question: _Question, told: Told, before: Decimal | None) -> Iterator[str]:
    if question.rows is None:
        if told.refusal is None or told.refusal[0] != _REFUSED or told.charged != 0:
            yield "it was not refused"
        return
    if told.refusal is not None:
        yield f"it was refused: {told.refusal[1]}"
        return
    if len(told.rows) != question.rows:
        yield f"{len(told.rows)} rows instead of {question.rows}"
    if any(value is None for row in told.rows for value in row):
        yield "an answer is NULL"
    if told.charged <= 0:
        yield "nothing was charged"
    if before is not None and told.remaining != before - told.charged:
        yield "the remaining budget is not what it was less the charge"


def _ask(question: _Question, doors: Doors, password: str) -> Told:
    if question.door == "wire":
        return ask_over_the_wire(doors.wire, question.database, ANALYST, password, question.sql)
    before = _spent(doors, password, question.database)
    status, body = _call(
        doors, password, "POST", "/v1/query", {"database": question.database, "sql": question.sql}
    )
    charged = _spent(doors, password, question.database) - before
    _, budget = _call(doors, password, "GET", f"/v1/budget?database={question.database}")
    remaining = min(Decimal(str(line["epsilon_remaining"])) for line in budget["budget"])
    if status != http.client.OK:
        return Told((), charged, remaining, (str(body["sqlstate"]), str(body["detail"])))
    return Told(tuple(tuple(row) for row in body["rows"]), charged, remaining)


def _spent(doors: Doors, password: str, database: str) -> Decimal:
    _, body = _call(doors, password, "GET", f"/v1/history?database={database}")
    return sum((Decimal(str(entry["epsilon"])) for entry in body["history"]), Decimal(0))


def _call(
    doors: Doors, password: str, method: str, path: str, body: object = None
) -> tuple[int, Any]:
    token = base64.b64encode(f"{ANALYST}:{password}".encode()).decode()
    headers = {"Authorization": f"Basic {token}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(*doors.http, timeout=_HTTP_SECONDS)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read(), parse_float=Decimal)
    finally:
        connection.close()


def _shown(told: Told) -> str:
    if told.refusal is not None:
        return f"refused ({told.refusal[0]})"
    text = "; ".join(", ".join(map(str, row)) for row in told.rows)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
