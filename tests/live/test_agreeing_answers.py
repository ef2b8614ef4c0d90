"""Through the whole proxy: answers of a group agree, empty ones are NULL, a noisy 0 divides to NULL, and plain
clients are told by a NOTICE, without asking."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.errors import Diagnostic

from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import servers

_SCRIPT = """\
CREATE SCHEMA w;
CREATE TABLE w.sales (id bigint PRIMARY KEY, person int NOT NULL, region text NOT NULL, paid int, at date,
    shop int NOT NULL);
CREATE TABLE w.shops (id int PRIMARY KEY);
INSERT INTO w.shops SELECT generate_series(1, 20);
INSERT INTO w.sales
SELECT row_number() OVER (), p, CASE WHEN p % 50 = 0 THEN 'few' ELSE 'many' END, (p * 7 + k) % 400,
date '2024-01-01' + (p + k) % 300, 1 + p % 20
FROM generate_series(1, 3000) p, generate_series(1, 1 + p % 3) k;
"""
_TABLES = """\
tables:
  w.sales:
    unit: {buyer: person}
    max_rows_per_unit: 3
    columns:
      region: {values: [few, many, none]}
      paid: {bounds: [0, 500]}
      at: {bounds: [2024-01-01, 2024-12-31]}
      shop: {references: w.shops.id}
  w.shops: public
"""
_EXTREMES = "min(paid), max(paid), avg(paid), percentile_cont(0.5) WITHIN GROUP (ORDER BY paid)"


@pytest.fixture(scope="module")
def sales() -> Iterator[LiveProxy]:
    pair = servers()
    database = served_database(pair, "agreeing", _SCRIPT, _TABLES, "best", most="20")
    tables = _TABLES.replace("max_rows_per_unit: 3", "max_rows_per_unit: auto")
    kept = served_database(pair, "kept", _SCRIPT, f"{tables}reuse: 24h\n", "best", most="20")
    proxy = start_proxy(pair, [database, kept])
    yield proxy
    proxy.stop()


@pytest.fixture(scope="module")
def listeners(sales: LiveProxy) -> Iterator[BothListeners]:
    both = open_http(sales)
    yield both
    both.close()


_ENOUGH = 40  # draws, of which one in two at least shows what is looked for


def _asked(
    live: LiveProxy, text: str, *settings: str, database: str = "agreeing"
) -> tuple[list[tuple[object, ...]], str]:
    heard: list[str] = []

    def hear(diagnostic: Diagnostic) -> None:
        heard.append(diagnostic.message_primary or "")

    with live.connect(database, analyst=live.servers.new_analyst()) as connection:
        connection.add_notice_handler(hear)
        for setting in settings:
            connection.execute(setting.encode())
        rows = connection.execute(text.encode()).fetchall()
    return rows, "\n".join(heard)


def test_nothing_contradicts_and_the_empty_group_is_null(sales: LiveProxy) -> None:
    text = f"SELECT region, {_EXTREMES}, count(*) FROM w.sales GROUP BY region"
    for epsilon in ("0.3", "1", "5"):
        rows, told = _asked(sales, text, f"SET dp.epsilon = {epsilon}")
        by_region = {str(region): answers for region, *answers in rows}
        for least, most, mean, median, _ in by_region.values():
            known = [value for value in (mean, median) if value is not None]
            assert least is None or all(least <= value for value in known)  # type: ignore[operator]
            assert most is None or all(most >= value for value in known)  # type: ignore[operator]
            assert None in (least, most) or least <= most  # type: ignore[operator]
        assert isinstance(by_region["none"][-1], int)
        assert by_region["none"][:2] == [None, None]
        assert re.search(r"^min\b.* (is|are) NULL in \d of 3 groups: ", told, re.MULTILINE)


def test_of_a_spread_it_is_said_that_it_may_be_cut(sales: LiveProxy) -> None:
    """Squares of people far from the mean are cut at a chosen bound, which no error says."""
    _, told = _asked(
        sales, "SELECT avg(paid), stddev(paid) AS spread FROM w.sales", "SET dp.epsilon = 5"
    )
    assert (
        "spread: what buyers far from the mean add is cut at a bound chosen from the data" in told
    )
    assert "avg: what buyers" not in told


_UNLISTED = (
    "region has the values 'few', 'many', 'none' in the policy; 'Many' is not one of them:"
    " did you mean 'many'?"
)


def test_a_value_that_the_policy_does_not_list_is_told(sales: LiveProxy) -> None:
    """In place of more epsilon, which would not help. EXPLAIN says it before anything is paid."""
    text = "SELECT count(*) FROM w.sales WHERE region = 'Many'"
    _, told = _asked(sales, text)
    assert told.count(_UNLISTED) == 1
    rows, _ = _asked(sales, f"EXPLAIN {text}")
    assert (_UNLISTED,) in rows
    rows, _ = _asked(sales, f"EXPLAIN (FORMAT json) {text}")
    assert _UNLISTED in str(rows)
    for listed in (text.replace("Many", "many"), f"EXPLAIN {text.replace('Many', 'many')}"):
        rows, told = _asked(sales, listed)
        assert "has the values" not in f"{rows} {told}"


_ENDED = "at ends at 2024-12-31 in the policy, and a condition asks for later ones"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT avg(paid) FROM w.sales WHERE region = 'Many'", _UNLISTED),
        ("SELECT avg(paid) FROM w.sales WHERE at >= '2027-01-01'", _ENDED),
        ("SELECT region, avg(paid) FROM w.sales WHERE at >= '2027-01-01' GROUP BY region", _ENDED),
        (
            "SELECT sum(paid) FROM w.sales WHERE paid > 500",
            "paid ends at 500 in the policy, and a condition asks for larger ones",
        ),
    ],
)
def test_the_reason_leads_and_nothing_is_advised(sales: LiveProxy, text: str, reason: str) -> None:
    rows, _ = _asked(sales, f"EXPLAIN {text}")
    assert (reason,) in rows
    for policy in ("agreeing", "kept"):
        rows, told = _asked(sales, text, database=policy)
        after = [line for line in told.splitlines()[1:] if not line.startswith("  ")]
        assert after[0] == reason
        assert None not in [row[-1] for row in rows] or len(after) > 1
        assert "aise dp.epsilon" not in told and "max_epsilon" not in told


@pytest.mark.parametrize("days", [10, 100_000])
def test_the_end_of_bounds_before_now_is_told_once(sales: LiveProxy, days: int) -> None:
    """A window that begins after it has no values, one that begins before it a part without."""
    text = f"SELECT count(*) FROM w.sales WHERE at >= now() - interval '{days} days'"
    _, told = _asked(sales, text, database="kept")
    assert told.count("at ends ") == 1
    assert (_ENDED in told) is (days == 10)
    assert ("a window up to now() has no days after that end" in told) is (days != 10)


def test_an_answer_that_was_shown_is_said_to_be_free(sales: LiveProxy) -> None:
    """To the analyst who has been shown it, and to no other."""
    first, second = sales.servers.new_analyst(), sales.servers.new_analyst()
    text = "SELECT region, avg(paid) FROM w.sales GROUP BY region"
    shown = "an answer that you have been shown"

    def explained(analyst: str) -> tuple[bool, float]:
        with sales.connect("kept", analyst=analyst) as connection:
            ((found,),) = connection.execute(f"EXPLAIN (FORMAT json) {text}".encode()).fetchall()
        (plan,) = found
        return shown in str(plan["blocks"]), plan["charge"]["epsilon"]

    before = explained(first)
    assert before == explained(second) and not before[0] and before[1] > 0
    with sales.connect("kept", analyst=first) as connection:
        connection.execute(text.encode())
    assert explained(first) == (True, 0) and explained(second) == before


_NO_GROUPS = (
    "SELECT region, count(*) FROM w.sales WHERE region IN ('Many', 'fw') GROUP BY 1",
    "SELECT region, avg(paid), max(paid) FROM w.sales WHERE region = 'Many' GROUP BY region",
    "SELECT region, count(*) AS n FROM w.sales WHERE region = 'Many' GROUP BY 1 ORDER BY n DESC LIMIT 3",
    "SELECT region, count(*) FROM w.sales WHERE region = 'Many' GROUP BY 1 HAVING count(*) > 5",
    "SELECT region, avg(paid) FROM w.sales WHERE region = 'few' AND region = 'many' GROUP BY 1",
    "SELECT region, count(*) FROM w.sales WHERE region = 'x' GROUP BY 1"
    " UNION ALL SELECT region, count(*) FROM w.sales WHERE region = 'y' GROUP BY 1",
)


@pytest.mark.every(2)
@pytest.mark.parametrize("text", _NO_GROUPS)
def test_where_no_group_is_left_nothing_is_paid(
    sales: LiveProxy, listeners: BothListeners, text: str
) -> None:
    """The policy says that the answer has no rows, whatever is stored. EXPLAIN says it before."""
    for policy in ("agreeing", "kept"):
        lines, _ = _asked(sales, f"EXPLAIN {text}", database=policy)
        assert any("Not read, at no cost: the conditions leave no" in str(line) for line in lines)
        rows, told = _asked(sales, text, database=policy)
        assert rows == []
        assert "charged epsilon 0, delta 0" in told
        assert "NULL" not in told and "aise dp.epsilon" not in told
        analyst = sales.servers.new_analyst()
        body = listeners.query(text, database=policy, analyst=analyst).json()
        assert body["rows"] == [] and body["privacy"]["epsilon"] == 0
        with sales.connect(policy, analyst=analyst) as connection:
            spent = connection.execute("SELECT analyst, epsilon_spent FROM dp.budget").fetchall()
        assert [amount for name, amount in spent if name == analyst] == [0]


def test_other_parts_of_a_statement_are_paid(sales: LiveProxy) -> None:
    text = f"{_NO_GROUPS[0]} UNION ALL SELECT region, count(*) FROM w.sales GROUP BY region"
    rows, told = _asked(sales, text)
    assert len(rows) == 3 and "charged epsilon 1," in told
    assert "count(*) is NULL" not in told


@pytest.mark.parametrize("binary", [False, True])
def test_so_is_a_parameter(sales: LiveProxy, binary: bool) -> None:
    """By its value in each execution of one prepared statement."""
    heard: list[str] = []
    with sales.connect("agreeing", analyst=sales.servers.new_analyst()) as connection:
        connection.add_notice_handler(lambda one: heard.append(one.message_primary or ""))
        text = "SELECT count(*) FROM w.sales WHERE region = %b" if binary else ""
        for value in ("many", "Many", "few"):
            connection.execute(
                (text or "SELECT count(*) FROM w.sales WHERE region = %s").encode(),
                [value],
                prepare=True,
            )
    assert len(heard) == 3
    assert [_UNLISTED in told for told in heard] == [False, True, False]


def test_a_notice_comes_unasked_and_can_be_turned_off(sales: LiveProxy) -> None:
    _, told = _asked(sales, "SELECT count(*) FROM w.sales")
    assert told.startswith("differential privacy: charged epsilon 1")
    assert "  count: +-" in told and "at most 3 rows of a buyer" in told
    _, told = _asked(sales, "SELECT count(*) FROM w.sales", "SET dp.notice = off")
    assert told == ""


@pytest.mark.parametrize(
    "expression",
    [
        "count(*) / (count(*) - count(*))",
        "sum(paid) % (count(*) - count(*))",
        "sum(paid)::float8 / (count(*) - count(*))::double precision",
        "avg(paid) / -(count(*) - count(*))::numeric(10, 2)",
    ],
)
def test_a_noisy_zero_divides_to_null(expression: str, sales: LiveProxy) -> None:
    rows, told = _asked(sales, f"SELECT {expression} AS ratio, count(*) > 0 FROM w.sales")
    assert rows == [(None, True)]
    if "%" not in expression:
        assert "ratio is NULL: it divides by a noisy 0." in told


def test_a_zero_of_the_analyst_is_still_an_error(sales: LiveProxy) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        _asked(sales, "SELECT count(*) / 0 FROM w.sales")


def test_over_a_subquery_a_zero_divides_to_null(sales: LiveProxy) -> None:
    text = (
        "SELECT region, n / (n - n), n * 1.0 / lag(n) OVER (ORDER BY region) FROM"
        " (SELECT region, count(*) AS n FROM w.sales GROUP BY region) AS q"
    )
    rows, _ = _asked(sales, text)
    assert len(rows) == 3 and all(row[1] is None for row in rows)


def test_window_functions_have_the_values_and_errors_of_the_same_rows(
    sales: LiveProxy, listeners: BothListeners
) -> None:
    month = "date_trunc('month', at)"
    text = (
        f"SELECT {month} AS month, count(*) AS n, sum(count(*)) OVER (ORDER BY {month}) AS running,"
        f" avg(count(*)) OVER (ORDER BY {month} DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS moving,"
        f" 100.0 * count(*) / sum(count(*)) OVER () AS share FROM w.sales GROUP BY 1 ORDER BY 1"
    )
    body = listeners.query(text, database="agreeing", analyst=sales.servers.new_analyst()).json()
    rows, errors = body["rows"], body["errors"]["rows"]
    assert len(rows) == 12 and len(errors) == 12
    each = [error[1] for error in errors]
    for number, (row, error) in enumerate(zip(rows, errors, strict=True)):
        assert float(row[2]) == sum(one[1] for one in rows[: number + 1])
        assert error[2] == pytest.approx(sum(e**2 for e in each[: number + 1]) ** 0.5, abs=1)
        pair = rows[number : number + 2]
        assert float(row[3]) == pytest.approx(sum(one[1] for one in pair) / len(pair))
        assert error[4] is not None and error[4] > 0


def test_the_same_over_http(sales: LiveProxy, listeners: BothListeners) -> None:
    text = f"SELECT region, {_EXTREMES}, count(*) FROM w.sales GROUP BY region"
    body = listeners.query(text, database="agreeing", analyst=sales.servers.new_analyst()).json()
    by_region = {row[0]: row[1:] for row in body["rows"]}
    assert by_region["none"][:2] == [None, None]
    assert any("at most 3 rows of a buyer" in one for one in body["notices"])
    assert any(" NULL in " in text for text in body["notices"])


def test_what_noise_makes_impossible_is_said(sales: LiveProxy, listeners: BothListeners) -> None:
    """A share above 1 is within its interval, and told; so are groups that may be empty. On both interfaces."""
    columns = (
        "count(*) AS n, count(*) FILTER (WHERE paid >= 0) AS m,"
        " 1.0 * count(*) FILTER (WHERE paid >= 0) / count(*) AS share"
    )
    share = columns.partition(" AS m, ")[2].removesuffix(" AS share")
    ends = f"dp.low({share}), dp.high({share})"
    text = f"SELECT region, {columns}, {ends} FROM w.sales GROUP BY region"
    above, every = 0, ""
    left_out = (
        "HAVING dp.low(count(*)) > 0 leaves out all but about 1 in 40 of the empty ones,"
        " and small groups with them."
    )
    for _ in range(_ENOUGH):  # about half of the groups of a draw have a share above 1
        rows, told = _asked(sales, text, "SET dp.epsilon = 0.2")
        every += told
        higher = [row[2] > row[1] for row in rows]  # type: ignore[operator]
        above += sum(higher)
        groups = f"puts m above n in {sum(higher)} of 3 groups"
        assert (groups in told) == any(higher)
        for _, _, _, quotient, low, high in rows:
            assert low is None or low <= quotient <= high  # type: ignore[operator]
        if above > 0 and left_out in every:
            break
    assert above > 0 and left_out in every
    # A group without rows is above its error in 1 of 40 draws.
    asked = (
        listeners.query(text, database="agreeing", analyst=sales.servers.new_analyst()).json()
        for _ in range(_ENOUGH)
    )
    assert any("groups may be empty" in line for one in asked for line in one["notices"])
    # One draw in 40 keeps the empty group, as said above.
    for _ in range(_ENOUGH):
        rows, told = _asked(sales, f"{text} HAVING dp.low(count(*)) > 0", "SET dp.epsilon = 5")
        assert "may be empty" not in told
        if {row[0] for row in rows} <= {"few", "many"}:
            break
    else:
        pytest.fail("the empty group is always kept")


def test_http_has_the_errors_of_columns_inside(sales: LiveProxy, listeners: BothListeners) -> None:
    inner = "SELECT region, sum(paid) AS s FROM w.sales GROUP BY region"
    text = (
        "SELECT x.v, coalesce(q.s, 0) AS s FROM (VALUES ('many')) x (v)"
        f" LEFT JOIN ({inner}) q ON q.region = x.v"
    )
    body = listeners.query(text, database="agreeing", analyst=sales.servers.new_analyst()).json()
    (column,) = body["errors"]["inner"]
    _, told = _asked(sales, text)
    assert column["name"] == "s" and f"  s: +-{column['least']:,.6g}" in told


_DAILY = "FROM w.sales GROUP BY date_trunc('day', at)"
_TOLD_BY_BOTH = {
    "SELECT region, max(paid), count(*) AS n FROM w.sales GROUP BY region": "lie beyond it",
    "SELECT count(*) FROM w.sales WHERE at > now() - interval '3 years'": "rounded down",
    "SELECT sum(paid) AS s FROM w.sales": "of a buyer",
    "SELECT region, sum(paid) FILTER (WHERE paid > 2) AS s FROM w.sales GROUP BY 1": "paid less than",
    f"SELECT date_trunc('day', at), count(*) AS n {_DAILY} ORDER BY 2 DESC LIMIT 3": "belong to the list",
    "SELECT region, avg(paid) AS mean FROM w.sales GROUP BY 1": "dp.error(...)",
    "SELECT max(n) FROM (SELECT region, count(*) AS n FROM w.sales GROUP BY 1) q": "a query around",
    f"SELECT date_trunc('day', at), count(*) AS n {_DAILY}": "may be empty",
    f"SELECT date_trunc('day', at), count(*) FILTER (WHERE paid < 9) AS n {_DAILY}": "that n counts",
    "SELECT * FROM w.sales LIMIT 0": "",
}
_OF_MEMBERS = re.compile(
    r"differential privacy: charged .*|\w+: \+-[\d.e+]+( to \+-[\d.e+]+, by group)?"
)


@pytest.mark.every(2)
@pytest.mark.parametrize("sql", _TOLD_BY_BOTH)
def test_both_listeners_tell_the_same(sql: str, sales: LiveProxy, listeners: BothListeners) -> None:
    """Of one answer. HTTP has what it cost, and plain widths, in members of their own."""
    analyst, heard = sales.servers.new_analyst(), list[str]()
    with sales.connect("kept", analyst=analyst) as connection:
        connection.add_notice_handler(lambda told: heard.append(told.message_primary or ""))
        connection.execute("SET dp.epsilon = 10")
        connection.execute(sql.encode())
    lines = [line.strip() for one in heard for line in one.splitlines()]
    wire = {line for line in lines if not _OF_MEMBERS.fullmatch(line)}
    body = listeners.query(sql, database="kept", analyst=analyst, epsilon=10).json()
    assert body["privacy"]["source"] == "cached" or body["rows"] == []
    assert set(body["notices"]) == wire
    assert any(_TOLD_BY_BOTH[sql] in line for line in wire) or not _TOLD_BY_BOTH[sql]


_COUNTED = {
    "count(DISTINCT region)": 3,
    "count(DISTINCT upper(region))": 3,
    "count(DISTINCT region) FILTER (WHERE region <> 'few')": 2,
    "count(DISTINCT paid % 10)": 10,
    "count(DISTINCT shop)": 20,
    "count(DISTINCT paid > 100)": 2,
    "count(DISTINCT person)": None,
}


@pytest.mark.every(6)
@pytest.mark.parametrize("counted", _COUNTED)
@pytest.mark.parametrize("database", ["agreeing", "kept"])
def test_no_more_different_values_are_counted_than_there_can_be(
    database: str, counted: str, sales: LiveProxy, listeners: BothListeners
) -> None:
    """Neither by the number nor by its ends, with and without groups, over wire and HTTP; a NOTICE says it."""
    most, cut = _COUNTED[counted], 0
    ends = f"dp.low({counted}) AS low, dp.high({counted}) AS high"
    for number in range(4):
        text = f"SELECT {counted} AS n, {ends} FROM w.sales WHERE paid >= {number}"
        grouped = (
            f"SELECT region, {counted} AS n, {ends} FROM w.sales WHERE paid >= {number} GROUP BY 1"
        )
        analyst, heard = sales.servers.new_analyst(), list[str]()
        with sales.connect(database, analyst=analyst) as connection:
            connection.add_notice_handler(
                lambda one, heard=heard: heard.append(one.message_primary or "")  # type: ignore[misc]
            )
            connection.execute("SET dp.epsilon = 0.1")
            rows = connection.execute(text.encode()).fetchall()
            rows += [row[1:] for row in connection.execute(grouped.encode()).fetchall()]
        body = listeners.query(text, database=database, analyst=analyst, epsilon=0.1).json()
        rows.append(body["rows"][0])
        for value, low, high in rows:
            assert low <= value and (high is None or value <= high)
            assert most is None or (value <= most and low <= most)
            assert most is None or high == most or (high is not None and high < most)
        told = "n: cut to " in "\n".join((*heard, *body["notices"]))
        assert told == (told and any(value == most for value, _, _ in rows))
        cut += told
    assert (cut > 0) == (most is not None)
