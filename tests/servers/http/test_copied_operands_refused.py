"""A statement whose operands PostgreSQL would copy too often does not reach the shadow, by no way."""

from __future__ import annotations

import pytest
from psycopg.pq import DiagnosticField, ExecStatus

from tests.servers.http.both_listeners import BothListeners


def _text(levels: int) -> str:
    operand = "relpages"
    for _ in range(levels):
        operand = f"({operand} BETWEEN SYMMETRIC 1 AND 2)::int"
    return f"SELECT count(*) FROM pg_class WHERE {operand} = 1"


_REFUSED = _text(7)  # 67 MB of one backend, so that PostgreSQL would take it


@pytest.mark.parametrize("way", ["simple", "parse", "several", "prepare", "do"])
def test_over_the_wire(listeners: BothListeners, way: str) -> None:
    with listeners.proxy.connect("shop") as connection:
        session = connection.pgconn
        match way:
            case "simple":
                result = session.exec_(_REFUSED.encode())
            case "parse":  # alone: nothing is bound yet
                result = session.prepare(b"p", _REFUSED.encode())
            case "several":
                result = session.exec_(f"SELECT 1; {_REFUSED}".encode())
            case "prepare":
                result = session.exec_(f"PREPARE p AS {_REFUSED}".encode())
            case _:
                result = session.exec_(f"DO $$ BEGIN PERFORM ({_REFUSED}); END $$".encode())
        assert result.status == ExecStatus.FATAL_ERROR
        assert result.error_field(DiagnosticField.SQLSTATE) == b"54001"
        message = result.error_field(DiagnosticField.MESSAGE_PRIMARY)
        assert message == b"BETWEEN or IN is nested too deeply"
        assert session.exec_(b"SELECT 1").status == ExecStatus.TUPLES_OK


def test_over_http(listeners: BothListeners) -> None:
    for path in ("/v1/query", "/v1/explain"):
        response = listeners.query(_REFUSED, path=path)
        assert response.json()["sqlstate"] == "54001", response.text
    # The shadow did not analyse it either: of a text with an error in it, it would tell the error.
    wrong = _REFUSED.replace("pg_class", "nowhere")
    assert listeners.query(wrong).json()["detail"] == "BETWEEN or IN is nested too deeply"


def test_fewer_levels_are_answered(listeners: BothListeners) -> None:
    assert listeners.query(_text(5)).status_code == 200
