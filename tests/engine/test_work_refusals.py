"""A refusal for too much work names what the statement has, and what to write instead."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from proxy.engine.work_refusals import in_words_of
from proxy.kernel.work import TooMuchWork, UnitWork
from proxy.kernel.work_prices import Dearest
from tests.pipeline_world import POLICIES, read, walk

_PAIRED = "FROM orders a JOIN orders b ON a.uid = b.uid AND b.ts > a.ts GROUP BY 1"
_TIME = "the rows of one privacy unit could keep the database busy for 0.4 seconds, more than 0.25"


def _reworded(text: str, step: str, rows: int = 10_200) -> Refusal:
    found = read(text)
    assert found is not None
    statement, reading = found
    work = UnitWork(rows=rows, dearest=Dearest(1.0, step, 0))
    refused = TooMuchWork(
        f"{_TIME}: up to {rows} rows",
        f"Use {step} fewer times.",
        work,
        step=f", of which {step} is the dearest step",
        dearest=work.dearest,
    )
    return in_words_of(refused, statement.lexed, reading.query, POLICIES["world"])


@pytest.mark.parametrize(
    ("column", "step", "is_written"),
    [
        ("a.t", "left()", False),
        ("left(a.t, 2)", "left()", True),
        ("a.ts::date", "date_trunc()", False),
        ("date_trunc('month', a.ts)", "date_trunc()", True),
        ("a.ts::date", "a cast", True),
        ("a.t", "a cast", False),
        ("a.t", "a comparison (>)", True),
        ("a.t", "a comparison (<=)", False),
        ("a.t", "AND", True),
        ("a.t", "CASE", False),
        ("CASE WHEN a.b THEN 1 ELSE 2 END", "CASE", True),
    ],
)
def test_a_step_is_named_if_the_statement_has_it(column: str, step: str, is_written: bool) -> None:
    text = f"SELECT {column}, count(*) {_PAIRED}"
    # LEFT JOIN is no call of left().
    for joined in (text, text.replace("a JOIN", "a LEFT JOIN")):
        refused = _reworded(joined, step)
        assert (f"of which {step} is the dearest step" in refused.message) == is_written
        assert (step in refused.hint) == is_written
        assert is_written or refused.message == f"{_TIME}: up to 10200 rows of w.orders"
        assert "OVER (PARTITION BY uid ORDER BY d)" in refused.hint
        assert "(SELECT uid, max(d) AS last FROM w.orders GROUP BY uid)" in refused.hint


def test_what_the_hint_says_of_pairs_is_planned() -> None:
    over = "OVER (PARTITION BY uid ORDER BY ts)"
    next_row = f"SELECT t, next, count(*) FROM (SELECT t, lead(t) {over} AS next FROM orders) q GROUP BY 1, 2"
    last = "(SELECT uid, max(ts) AS last FROM w.orders GROUP BY uid)"
    one_row = f"SELECT o.t, count(*) FROM orders o JOIN {last} q USING (uid) WHERE o.ts < q.last GROUP BY 1"
    assert walk(next_row) is not None and walk(one_row) is not None


def test_rows_without_pairs_have_no_hint_about_them() -> None:
    for text, rows in (
        ("SELECT count(*) FROM orders", 10_200),
        (f"SELECT a.t, count(*) {_PAIRED}", 9),
    ):
        hint = _reworded(text, "left()", rows).hint
        assert hint == "Ask for fewer columns, keys or conditions in one statement."


def test_a_refusal_about_room_stays() -> None:
    found = read("SELECT count(*) FROM orders")
    assert found is not None
    refused = TooMuchWork(
        "could take 90 MB of temporary files", "Use fewer keys.", UnitWork(rows=9)
    )
    statement, reading = found
    assert in_words_of(refused, statement.lexed, reading.query, POLICIES["world"]) is refused
