"""What the Python client makes of answers: values by type, errors, and members that it does not know."""

from __future__ import annotations

import copy
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

import dpproxy
import httpx
import pytest
from dpproxy.errors import error_of
from dpproxy.values import reader_of

_BODY: dict[str, Any] = {
    "columns": [{"name": "state", "type": "text"}, {"name": "n", "type": "bigint"}],
    "rows": [["CA", 1246], ["TX", None]],
    "privacy": {
        "epsilon": 0.5,
        "delta": 0,
        "remaining": {"epsilon": 11.5, "delta": 1e-6},
        "source": "fresh",
        "as_of": "2026-11-27T10:00:00Z",
        "receipt": "7",
    },
    "accuracy": [{"aggregate": "count(*)", "scale": Decimal("2.5")}],
    "clipped": [],
    "notices": ["a line"],
    "errors": {
        "columns": [
            None,
            {
                **{"least": 6, "most": 6, "unit": None, "no_interval": None, "note": "told"},
                **{"at_least": False, "at_most": False},
            },
        ],
        "rows": [[None, 6], [None, None]],
        "inner": [],
    },
}


def _changed(**members: Any) -> dict[str, Any]:
    body = copy.deepcopy(_BODY)
    body["privacy"].update(members)
    return body


def test_an_answer_has_rows_errors_and_charge() -> None:
    answer = dpproxy.Answer.read(_BODY)
    assert answer.rows == (("CA", 1246), ("TX", None))
    assert list(answer) == [{"state": "CA", "n": 1246}, {"state": "TX", "n": None}]
    assert answer.error("n") == [6.0, None]
    assert answer.interval("n") == [(1240.0, 1252.0), (None, None)]
    assert [column.is_noisy for column in answer.columns] == [False, True]
    assert answer.to_dict() == {"state": ["CA", "TX"], "n": [1246, None], "n_error": [6.0, None]}
    assert answer.charge.receipt == "7" and answer.charge.remaining_epsilon == 11.5
    assert answer.charge.as_of == datetime(2026, 11, 27, 10, tzinfo=timezone.utc)
    assert type(answer.accuracy[0]["scale"]) is float


@pytest.mark.parametrize(
    ("flags", "interval"),
    [
        ({"at_least": True}, (1240.0, None)),
        ({"at_most": True}, (None, 1252.0)),
        ({}, (1240.0, 1252.0)),
    ],
)
def test_an_end_that_is_not_known_is_none(flags: dict[str, bool], interval: object) -> None:
    body = copy.deepcopy(_BODY)
    body["errors"]["columns"][1].update(flags)
    assert dpproxy.Answer.read(body).interval("n")[0] == interval


@pytest.mark.parametrize(
    ("members", "source"),
    [
        ({"source": "derived"}, "derived"),
        ({"source": None}, None),
        ({"source": "fresh", "reused": True}, "fresh"),
        ({"source": "a later kind"}, "a later kind"),
    ],
)
def test_source_is_what_the_server_says(members: dict[str, Any], source: str | None) -> None:
    assert dpproxy.Answer.read(_changed(**members)).charge.source == source


@pytest.mark.parametrize(
    ("reused", "repeated", "receipt", "source"),
    [
        (True, True, None, "published"),
        (False, True, None, "cached"),
        (False, False, "7", "fresh"),
        (False, False, None, None),
    ],
)
def test_older_servers_tell_it_otherwise(
    reused: bool, repeated: bool, receipt: str | None, source: str | None
) -> None:
    body = _changed(reused=reused, repeated=repeated, receipt=receipt)
    del body["privacy"]["source"], body["privacy"]["as_of"]
    assert dpproxy.Answer.read(body).charge.source == source


def test_members_that_are_not_known_are_kept() -> None:
    body = {**_changed(horizon={"days": Decimal("1.5")}), "pages": 3}
    answer = dpproxy.Answer.read(body)
    assert answer.more == {"pages": 3}
    assert answer.charge.more == {"horizon": {"days": 1.5}}
    plan = dpproxy.Plan.read(
        {"privacy": {"epsilon": 1, "delta": 0}, "remaining": None, "instead": "SELECT 1"}
    )
    assert plan.more == {"instead": "SELECT 1"}


def test_an_answer_without_errors_has_none() -> None:
    body = {**copy.deepcopy(_BODY), "errors": None}
    answer = dpproxy.Answer.read(body)
    assert answer.error("n") == [None, None]
    assert not any(column.is_noisy for column in answer.columns)


def test_names_that_are_not_clear_are_told() -> None:
    body = copy.deepcopy(_BODY)
    body["columns"][0]["name"] = "n"
    answer = dpproxy.Answer.read(body)
    with pytest.raises(KeyError, match="two columns are called n"):
        answer.column("n")
    with pytest.raises(ValueError, match="AS"):
        answer.to_dict()
    with pytest.raises(KeyError, match="no column is called m: n, n"):
        answer.error("m")


@pytest.mark.parametrize(
    ("type_name", "given", "value"),
    [
        ("numeric(8,2)", Decimal("1.50"), Decimal("1.50")),
        ("numeric", "NaN", Decimal("NaN")),
        ("bigint", 2**60, 2**60),
        ("double precision", "Infinity", float("inf")),
        ("date", "2026-01-31", date(2026, 1, 31)),
        ("date", "infinity", "infinity"),
        (
            *("timestamp with time zone", "2026-01-31 09:30:00.5+00"),
            datetime(2026, 1, 31, 9, 30, 0, 500_000, tzinfo=timezone.utc),
        ),
        ("timestamp(0) without time zone", "2026-01-31 09:30:00", datetime(2026, 1, 31, 9, 30)),  # noqa: DTZ001
        ("time without time zone", "24:00:00", "24:00:00"),
        ("time without time zone", "09:30:00", time(9, 30)),
        ("interval", "1 day", "1 day"),
        ("jsonb", {"a": [1]}, {"a": [1]}),
        ("boolean", True, True),
        ("text", None, None),
        ("date", None, None),
    ],
)
def test_values_are_read_by_their_type(type_name: str, given: Any, value: Any) -> None:
    found = reader_of(type_name)(given)
    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    ("status", "sqlstate", "kind"),
    [
        (403, "42501", dpproxy.Refused),
        (429, "53400", dpproxy.OverBudget),
        (403, "53400", dpproxy.OverBudget),
        (401, "28P01", dpproxy.NotAllowed),
        (503, "58000", dpproxy.Unavailable),
    ],
)
def test_errors_have_kinds(status: int, sqlstate: str, kind: type[dpproxy.DpproxyError]) -> None:
    problem = {"sqlstate": sqlstate, "detail": "no", "hint": "do", "instead": "SELECT 1"}
    error = error_of(httpx.Response(status, json=problem, headers={"Retry-After": "60"}))
    assert type(error) is kind
    assert str(error) == "no\nHINT: do" and error.retry_after == 60
    assert error.problem["instead"] == "SELECT 1"


def test_what_is_no_answer_of_dpproxy_is_an_error_too() -> None:
    error = error_of(httpx.Response(502, text="<html>bad gateway</html>"))
    assert isinstance(error, dpproxy.Unavailable)
    assert error.sqlstate is None and str(error) == "HTTP 502"


def test_it_needs_one_credential() -> None:
    with pytest.raises(ValueError, match="give a token, or a user"):
        dpproxy.connect("http://127.0.0.1:1")
    with pytest.raises(ValueError, match="give a token, or a user"):
        dpproxy.connect("http://127.0.0.1:1", user="a", token="dpp_x")
