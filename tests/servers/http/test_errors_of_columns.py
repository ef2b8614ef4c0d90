"""The error of every number, through both interfaces: HTTP's `errors` column by column and row by row, and a
line of the NOTICE for each column. Where there is none, the reason."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.servers.http.both_listeners import BothListeners

_TABLE = "shop.orders"


def _body(listeners: BothListeners, sql: str, *params: Any, database: str = "shop") -> Any:
    response = listeners.query(sql, *params, database=database)
    assert response.status_code == 200, response.text
    return response.json()


def _notice(
    listeners: BothListeners, sql: str, database: str = "shop", epsilon: str = "1"
) -> list[str]:
    heard: list[str] = []
    with listeners.proxy.connect(database) as connection:
        connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        connection.execute("SET dp.notice = on")
        connection.execute(f"SET dp.epsilon = {epsilon}".encode())
        connection.execute(sql.encode())
    (notice,) = heard
    return [line.strip() for line in notice.splitlines()[1:]]


def test_rows_have_the_errors_that_dp_error_says(listeners: BothListeners) -> None:
    body = _body(
        listeners,
        f"SELECT status, count(*) AS n, dp.error(count(*)), round(sum(total) / count(*), 2) AS mean,"
        f" dp.error(round(sum(total) / count(*), 2)), upper(status), 7 FROM {_TABLE}"
        " GROUP BY status ORDER BY count(*) DESC LIMIT 3",
    )
    names = [column["name"] for column in body["columns"]]
    assert names == ["status", "n", "error", "mean", "error", "upper", "?column?"]
    assert all(len(row) == 7 for row in body["rows"])
    errors = body["errors"]
    assert [None if one is None else one["no_interval"] for one in errors["columns"]] == [None] * 7
    assert [one is not None for one in errors["columns"]] == [n in (1, 3) for n in range(7)]
    for row, found in zip(body["rows"], errors["rows"], strict=True):
        assert found == [None, row[2], None, row[4], None, None, None]
        for place in (1, 3):
            column = errors["columns"][place]
            assert column["least"] <= found[place] <= column["most"]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT max(age) FROM census.adult", "noise is private"),
        (
            "SELECT max(age) - min(age) AS x FROM census.adult",
            "of max no interval: its error is not known",
        ),
        (
            f"SELECT count(*) FROM {_TABLE} WHERE total > (SELECT avg(total) FROM {_TABLE})",
            "is not known",
        ),
        (f"SELECT count(*) ^ 2 FROM {_TABLE}", "form of expression"),
        (f"SELECT count(*) / (SELECT count(*) FROM {_TABLE}) FROM {_TABLE}", "subquery"),
        (f"SELECT sum(total) / nullif(count(*) - count(*), 0) FROM {_TABLE}", "nullif()"),
        (f"SELECT max(count(*)) OVER () FROM {_TABLE} GROUP BY status", "form of expression"),
        (f"SELECT max(n) FROM (SELECT count(*) AS n FROM {_TABLE}) q", "a query around"),
        (
            f"SELECT n + m FROM (SELECT count(*) AS n FROM {_TABLE}) q,"
            f" (SELECT count(total) AS m FROM {_TABLE}) r",
            "`inner` has their errors",
        ),
        (
            f"SELECT percentile_cont(ARRAY[0.1, 0.5]) WITHIN GROUP (ORDER BY total) FROM {_TABLE}",
            "each with an error of its own in sorted rows",
        ),
        (f"SELECT count(*) FROM {_TABLE} UNION ALL SELECT count(*) FROM {_TABLE}", "`inner` has"),
        (
            f"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) FROM {_TABLE}",
            "it lies between about p",
        ),
    ],
)
def test_without_an_error_the_reason(sql: str, reason: str, listeners: BothListeners) -> None:
    body = _body(listeners, sql, database="census" if "census." in sql else "shop")
    (column,) = body["errors"]["columns"]
    assert column["least"] is column["most"] is None
    assert reason in column["no_interval"]
    rows = body["errors"]["rows"]
    assert rows is None or all(row == [None] for row in rows)
    assert len(body["columns"]) == 1 and all(len(row) == 1 for row in body["rows"])


def test_rows_that_a_noisy_answer_chooses_have_no_error(listeners: BothListeners) -> None:
    """That of the noise alone held the number by the exact answer in 1 of 10 cases."""
    compared = f"FROM {_TABLE} WHERE total > (SELECT avg(total) FROM {_TABLE})"
    body = _body(
        listeners,
        f"SELECT count(*), dp.error(count(*)), dp.low(sum(total)), dp.high(avg(total)) {compared}",
    )
    ((count, *ends),) = body["rows"]
    assert isinstance(count, int) and ends == [None] * 3  # with its noise it may be below 0
    described = [entry for entry in body["accuracy"] if entry["no_interval"]]
    assert len(described) == 3
    assert all(entry["error_95"] is entry["error_times_rows"] is None for entry in described)
    lines = _notice(listeners, f"SELECT count(*) {compared}")
    assert lines[1].startswith("count: no interval: rows are compared with a noisy answer")


@pytest.mark.parametrize(
    "sql",
    [
        f"WITH q AS (SELECT total FROM {_TABLE}) SELECT count(*), sum(total) FROM q",
        f"SELECT count(*), sum(total) s FROM {_TABLE} HAVING count(*) > 0 FETCH FIRST ROW ONLY",
        f"SELECT count(*), sum(total) -- a comment\nFROM {_TABLE}",
        f"SELECT count(*), sum(total)/*c*/FROM {_TABLE} WHERE total > $1",
    ],
)
def test_wherever_the_list_ends(sql: str, listeners: BothListeners) -> None:
    body = _body(listeners, sql, *([1] if "$1" in sql else []))
    ((count, total),) = body["errors"]["rows"]
    assert count > 0 and total > 0 and len(body["rows"][0]) == 2


def test_rows_that_are_distinct_are_not_told_apart(listeners: BothListeners) -> None:
    body = _body(listeners, f"SELECT DISTINCT count(*) FROM {_TABLE} GROUP BY status")
    assert body["errors"]["rows"] is None
    assert body["errors"]["columns"][0]["most"] > 0


def test_what_has_no_noise_has_no_errors(listeners: BothListeners) -> None:
    assert _body(listeners, "SELECT 1")["errors"] is None
    assert _body(listeners, "SELECT analyst FROM dp.budget")["errors"] is None


def test_csv_has_its_own_columns_only(listeners: BothListeners) -> None:
    sql = f"SELECT status, count(*) FROM {_TABLE} GROUP BY status"
    text = listeners.query(sql, headers={"accept": "text/csv"}).text
    assert {line.count(",") for line in text.splitlines()} == {1}


def test_a_line_of_the_notice_for_each_number(listeners: BothListeners) -> None:
    lines = _notice(
        listeners,
        f"SELECT status, count(*), sum(total) / count(*) AS mean, count(*) > 5, max(total)"
        f" FROM {_TABLE} GROUP BY status",
    )
    names = [line.partition(":")[0] for line in lines]
    assert names[:3] == ["count", "mean", "max"]
    count, mean, greatest = (line.partition(": ")[2] for line in lines[:3])
    assert count.startswith("+-") and "group" not in count  # one error for all groups
    assert mean.endswith("by group")
    beyond = (
        r"at least this number; about [\d,]+ \+-[\d,]+ [a-z]+ lie beyond it"
        r"|no interval: this is at the policy's limit of [\d,.]+: the real largest value is not known"
    )
    assert re.match(beyond, greatest)


def test_only_columns_that_compare_with_a_noisy_answer_have_no_error(
    listeners: BothListeners,
) -> None:
    compared = f"total > (SELECT avg(total) FROM {_TABLE})"
    above = f"count(*) FILTER (WHERE {compared})"
    body = _body(
        listeners,
        f"SELECT count(*) AS n, dp.error(count(*)), {above} AS above, dp.error({above}),"
        f" 100 * {above} / count(*) AS share, avg(CASE WHEN {compared} THEN total END) AS mean FROM {_TABLE}",
    )
    ((_, of_all, _, of_some, *_),) = body["rows"]
    assert of_all > 0 and of_some is None
    known, _, above_it, _, share, mean = body["errors"]["columns"]
    assert known["most"] == of_all and not known["no_interval"]
    for column in (above_it, share, mean):
        assert column["most"] is None and "compared with a noisy answer" in column["no_interval"]


def test_errors_that_differ_are_told_by_group(listeners: BothListeners) -> None:
    """A deviation by itself, as it is NULL in small groups of a part of epsilon."""
    sql = f"SELECT status, stddev(total) FROM {_TABLE} GROUP BY status"
    (line, *_) = _notice(listeners, sql, epsilon="2")
    assert line.startswith("stddev: at least the number less ") and ", by group" in line


def test_inner_queries_have_lines_of_their_own(listeners: BothListeners) -> None:
    lines = _notice(
        listeners,
        f"SELECT n * 2 FROM (SELECT count(*) AS n, avg(total) FROM {_TABLE}) q",
    )
    assert lines[0].startswith("?column?: +-")
    lines = _notice(
        listeners,
        f"SELECT sum(n) FROM (SELECT status, count(*) AS n FROM {_TABLE} GROUP BY status) q",
    )
    assert lines[0].startswith("sum: a query around") and lines[1].startswith("n: +-")


def test_an_answer_that_compares_with_a_noisy_one_says_so(listeners: BothListeners) -> None:
    sql = f"SELECT count(*) FROM {_TABLE} WHERE total > (SELECT avg(total) FROM {_TABLE})"
    said = "compared with a noisy answer"
    body = _body(listeners, sql)
    (column,) = body["errors"]["columns"]
    assert column["most"] is None and said in column["no_interval"]
    inner, outer = body["accuracy"]
    assert not inner["no_interval"] and said in outer["no_interval"]
    lines = _notice(listeners, sql)
    assert [said in line for line in lines].count(True) == 1
    with listeners.proxy.connect("shop") as connection:
        rows = connection.execute(f"EXPLAIN {sql}".encode()).fetchall()
    assert " ".join(str(line).strip() for (line,) in rows).count("compared with a noisy") == 1
