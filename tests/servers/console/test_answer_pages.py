"""Answers as pages: every number that PostgreSQL can give is shown, as it was charged by then."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from proxy.servers.console.answer_pages import AnswerPage, shown_answer, shown_rows
from proxy.servers.console.charts import number_text
from proxy.servers.console.prices import burn_down

_PRIVACY = {
    "epsilon": 0.5,
    "delta": 0,
    "remaining": {"epsilon": 1.5, "delta": 0},
    "source": "fresh",
    "as_of": "2026-11-27T12:00:00Z",
    "receipt": "7",
}
_TWO_SIDED = {"at_least": False, "at_most": False}


def _page(
    rows: str,
    errors: str,
    *columns: dict[str, Any] | None,
    kind: str = "numeric",
    notice: str = "a +-1",
) -> AnswerPage:
    """rows, errors: JSON, as the server writes it."""
    listed = [{"name": f"c{n}", "type": kind} for n, _ in enumerate(columns)]
    rest = {"privacy": _PRIVACY, "accuracy": [], "clipped": [], "notices": [notice]}
    told = json.dumps({"columns": list(columns), "inner": []})[:-1]
    body = (
        f'{{"columns": {json.dumps(listed)}, "rows": {rows}, "errors": {told}, "rows": {errors}}},'
        f"{json.dumps(rest)[1:]}"
    )
    return shown_answer(body.encode(), len(json.loads(rows, parse_int=str, parse_float=str)))


def _cells(page: AnswerPage) -> list[tuple[str, str]]:
    return [(one.text, one.error) for row in page.rows for one in row]


def _saved(page: AnswerPage) -> list[str]:
    return base64.b64decode(page.download.partition("base64,")[2]).decode().splitlines()


def test_a_value_has_its_error_beside_it() -> None:
    page = _page("[[1234.5678], [-3]]", "[[0.123], [12]]", _TWO_SIDED)
    assert _cells(page) == [("1,234.57", "± 0.13"), ("−3", "± 12")]
    assert [row[0].is_faint for row in page.rows] == [False, True]
    assert page.notes == ["a ±1"] and _saved(page) == ["c0,c0_error_95", "1234.5678,0.123", "-3,12"]


@pytest.mark.parametrize(
    ("side", "told", "saved"),
    [("at_least", "at least 8,411", "8411"), ("at_most", "at most 10,989", "10989")],
)
def test_what_is_known_to_one_side_is_no_interval(side: str, told: str, saved: str) -> None:
    """A count whose bound was chosen: how much is cut of it is not known."""
    page = _page("[[9700]]", "[[1289]]", {**_TWO_SIDED, side: True})
    assert _cells(page) == [("9,700", told)] and "the other end is not known" in page.caption
    assert _saved(page) == [f"c0,c0_{side}", f"9700,{saved}"]
    plot = page.rows[0][0].plot
    assert plot is not None and plot.count("v8") == 1


@pytest.mark.parametrize(
    "value",
    [
        *("0", "-0.0", "1e400", "-1e-400", "9" * 5_000, f"0.{'1' * 5_000}", '"NaN"', '"Infinity"'),
        *(
            "null",
            "true",
            '"2024-01-01 00:00:00+00"',
            '"999999-01-01"',
            '{"a": [1.5, null]}',
            "[1]",
        ),
    ],
)
@pytest.mark.parametrize("error", ["0", "1", "1e-400", "1e400", "9" * 5_000, '"NaN"', "null"])
def test_no_number_keeps_an_answer_back(value: str, error: str) -> None:
    for column in (_TWO_SIDED, {"at_least": True, "at_most": False}, None):
        page = _page(f"[[{value}], [2]]", f"[[{error}], [1]]", column)
        assert len(page.rows) == 2 and page.download


def test_a_series_is_drawn_once_its_days_differ() -> None:
    rows = json.dumps([[f"2024-0{n}-01 00:00:00+00", 10 * n] for n in range(1, 7)])
    errors = json.dumps([[None, 3]] * 6)
    columns = (None, _TWO_SIDED)
    page = _page(rows, errors, *columns, kind="timestamp with time zone")
    assert page.chart.count("<circle") == 2 * 6 and page.rows[0][0].text == "2024-01-01"
    same = json.dumps([["2024-01-01 00:00:00+00", n] for n in range(6)])
    assert not _page(same, errors, *columns, kind="timestamp").chart


def test_what_noise_puts_beyond_what_is_possible_is_hollow() -> None:
    rows = json.dumps([[f"2024-0{n}-01", 100 * n - 250] for n in range(1, 7)])
    errors = json.dumps([[None, 3]] * 6)
    for notice, hollow in (("a +-1", 0), ("Noise alone puts c1 below 0 in 2 of 6 groups.", 2)):
        page = _page(rows, errors, None, _TWO_SIDED, kind="date", notice=notice)
        assert sum(row[1].is_faint for row in page.rows) == hollow
        assert page.chart.count('"point faint"') == 2 * hollow  # wide and narrow
        assert sum(' faint"' in (row[1].plot or "") for row in page.rows) == hollow


def test_a_percentile_says_between_which_others_it_lies() -> None:
    column = {**_TWO_SIDED, "no_interval": "no interval: it lies between about p84 and p96"}
    page = _page("[[145.3]]", "[[null]]", column)
    assert _cells(page) == [("145.3", "between about p84 and p96")]
    assert _saved(page) == ["c0,c0_error_95", "145.3,"]


def test_a_page_has_an_end() -> None:
    assert [shown_rows(columns) for columns in (0, 1, 100, 1_600, 10**6)] == [
        1_000,
        1_000,
        100,
        6,
        1,
    ]
    long = json.dumps("x" * 3_000_000)
    page = _page(f"[[{long}]]", "[[null]]", None, kind="text")
    assert len(page.rows[0][0].text) < 3_000 and page.download == ""


def test_what_is_saved_is_no_formula() -> None:
    page = _page('[["=1+2"]]', "[[null]]", None, kind="text")
    assert _saved(page)[1] == "'=1+2"


def test_many_receipts_are_drawn_in_time_that_they_are_read_in() -> None:
    """10,000 of them, of which the last hundred are of this window."""
    from datetime import datetime, timedelta, timezone
    from decimal import Decimal

    now = datetime(2026, 11, 27, tzinfo=timezone.utc)
    history: list[dict[str, Any]] = [
        {"at": (now - timedelta(minutes=n)).isoformat(), "epsilon": Decimal("0.01")}
        for n in range(10_000)
    ]
    own = {
        "analyst": "ann",
        "epsilon_limit": Decimal(2),
        "epsilon_spent": Decimal(1),
        "renews_at": "2026-12-01T00:00:00+00:00",
    }
    drawn = burn_down([own], history, "ann", now)
    path = str(drawn).partition('class="line" d="')[2].partition('"')[0]
    assert path.count("V") == 101


def test_numbers_are_written_in_groups() -> None:
    from decimal import Decimal

    assert number_text(Decimal("1E+3")) == "1,000" and number_text(Decimal("0.10")) == "0.1"
