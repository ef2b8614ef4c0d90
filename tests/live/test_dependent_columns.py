"""Columns of a table beside its primary key, by which the rows are grouped: as by PostgreSQL, a group for each
key, in every clause that comes after grouping. What is no key's column stays refused."""

from __future__ import annotations

import psycopg
import pytest

from tests.live.session_answers import answers_to, exact_answer
from tests.live_proxy import LiveProxy

_THINGS = "FROM kinds.things t JOIN kinds.codes c ON c.code = t.txt"
_RENAMED = "FROM kinds.things t JOIN kinds.codes AS c(k, called) ON c.k = t.txt"
_OWNED = "FROM shop.customers c LEFT JOIN shop.orders o ON o.customer_id = c.id"
_SHOP = "FROM shop.orders o JOIN shop.products p ON p.id = o.product_id"
_OTHERS = "(SELECT txt, count(*) AS n FROM kinds.things GROUP BY txt) q ON q.txt = t.txt"
_SAME = {
    "kinds": (
        f"SELECT c.label, count(*) {_THINGS} GROUP BY c.code ORDER BY 1",
        f"SELECT label, c.code, weight * 2, count(*) {_THINGS} GROUP BY code ORDER BY code",
        f"SELECT upper(c.label) AS k, count(*) {_THINGS} GROUP BY 1, c.code ORDER BY c.weight",
        f"SELECT count(*) {_THINGS} GROUP BY c.code HAVING c.label <> 'first' ORDER BY c.label DESC",
        f"SELECT c.label, flag, count(*) {_THINGS} GROUP BY c.code, ROLLUP (flag) ORDER BY 1, 2",
        f"SELECT c.label, rank() OVER (ORDER BY c.label), count(*) {_THINGS} GROUP BY c.code ORDER BY 1",
        f"SELECT (SELECT max(d.weight) FROM kinds.codes d WHERE d.label = c.label), count(*) {_THINGS}"
        " GROUP BY c.code ORDER BY 1",
        f"SELECT called, count(*) {_RENAMED} GROUP BY k ORDER BY 1",
        "SELECT c.label, count(t.txt) FROM kinds.codes c LEFT JOIN kinds.things t ON c.code = t.txt"
        " GROUP BY c.code ORDER BY 1",
        f"WITH q AS (SELECT c.code, c.label, count(*) AS n {_THINGS} GROUP BY c.code)"
        " SELECT label, sum(n) FROM q GROUP BY label ORDER BY 1",
    ),
    "shop": (
        f"SELECT category, count(*), sum(n) FROM (SELECT p.id, p.category, count(*) AS n {_SHOP} GROUP BY p.id)"
        " q GROUP BY 1 ORDER BY 1",
        f"SELECT state, count(*), avg(n) FROM (SELECT c.id, c.state, count(o.id) AS n {_OWNED} GROUP BY c.id"
        " HAVING c.state <> 'CA') q GROUP BY 1 ORDER BY 1",
        f"SELECT k, count(*) FROM (SELECT lower(c.state) AS k, sum(o.total) AS s {_OWNED} GROUP BY c.id) q"
        " WHERE s > 50 GROUP BY 1 ORDER BY 1",
    ),
}  # fmt: skip


def _near(ours: object, right: object) -> bool:
    if right is None or isinstance(right, str | bool):
        return ours == right
    return abs(float(str(ours)) - float(str(right))) <= 0.3 * abs(float(str(right))) + 60


@pytest.mark.parametrize("database", sorted(_SAME))
def test_they_are_answered_as_by_postgresql(live: LiveProxy, analyst: str, database: str) -> None:
    texts = _SAME[database]
    ours = answers_to(live, analyst, *texts, database=database, epsilon="2")
    for text, rows in zip(texts, ours, strict=True):
        right = exact_answer(live, text, database)
        assert len(rows) == len(right), text
        for row, other in zip(rows, right, strict=True):
            assert all(map(_near, row, other)), (text, row, other)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (f"SELECT c.*, count(*) {_THINGS} GROUP BY c.code", "by their names"),
        (
            f"SELECT c.label, q.n, count(*) {_THINGS} JOIN {_OTHERS} GROUP BY c.code, q.n",
            "Write GROUP BY ..., c.label.",
        ),
        (f"SELECT t.small, c.label, count(*) {_THINGS}", None),
        (f"SELECT c.label, count(*) {_THINGS} GROUP BY t.txt", None),
        (f"SELECT t.txt, t.vc, count(*) {_THINGS} GROUP BY c.code, c.label", None),
    ],
)
def test_others_are_refused(live: LiveProxy, analyst: str, text: str, hint: str | None) -> None:
    with live.connect("kinds", analyst=analyst) as connection:
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(text.encode())
        assert hint is None or hint in (caught.value.diag.message_hint or "")
        assert caught.value.sqlstate == ("42803" if hint is None else caught.value.sqlstate)
    assert live.spent(analyst)[0] == 0
