"""Rows of operator characters, in which PostgreSQL's lexer stays for hours, do not reach the shadow."""

from __future__ import annotations

import pytest
from psycopg.pq import DiagnosticField, ExecStatus

from proxy.base.limits import LOOKED_AT_BYTES, OPERATOR_CHARACTERS
from tests.servers.http.both_listeners import BothListeners

_TEXTS = {
    "comments": "SELECT 1 " + "/*" * 100_000,
    "closed comments": "SELECT 1 " + "/**/" * 50_000,
    "operators": "SELECT 1 " + "+-" * 100_000,
    "quotes": "DO " + "'" * 100_000,
    "in a body": "DO $$ BEGIN PERFORM 1 " + "/**/" * 1_000 + "; END $$",
    "within a long text": f"SELECT '{'x ' * LOOKED_AT_BYTES}' {'/*' * 1_000}",
}


@pytest.mark.parametrize("text", _TEXTS.values(), ids=_TEXTS)
@pytest.mark.parametrize("way", ["simple", "parse", "prepare", "several"])
def test_over_the_wire(listeners: BothListeners, way: str, text: str) -> None:
    with listeners.proxy.connect("shop") as connection:
        session = connection.pgconn
        match way:
            case "simple":
                result = session.exec_(text.encode())
            case "parse":
                result = session.prepare(b"p", text.encode())
            case "prepare":
                result = session.exec_(f"PREPARE p AS {text}".encode())
            case _:
                result = session.exec_(f"SELECT 1; {text}".encode())
        assert result.status == ExecStatus.FATAL_ERROR
        assert result.error_field(DiagnosticField.SQLSTATE) == b"54001"
        message = result.error_field(DiagnosticField.MESSAGE_PRIMARY)
        assert message is not None and b"operator characters" in message
        assert session.exec_(b"SELECT 1").status == ExecStatus.TUPLES_OK


@pytest.mark.parametrize("name", ["comments", "quotes"])
def test_over_http(listeners: BothListeners, name: str) -> None:
    told = listeners.query(_TEXTS[name]).json()
    assert told["sqlstate"] == "54001" and "operator characters" in told["detail"]


def test_what_people_write_is_read(listeners: BothListeners) -> None:
    """Lines in comments, quotes in quotes."""
    line, quotes = "-" * (OPERATOR_CHARACTERS - 2), "''" * 100
    text = f"--{line}\nSELECT '{quotes}' -- {line}\n/*{'*' * (OPERATOR_CHARACTERS - 4)}*/"
    assert listeners.query(text).json()["rows"] == [["'" * 100]]
    with listeners.proxy.connect("shop") as connection:
        assert connection.execute(text.encode()).fetchone() == ("'" * 100,)
