"""psql against the whole proxy: what the issue asks for, and what psql itself needs."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from proxy.query.bind.function_forms import FUNCTIONS
from tests.live_proxy import LiveProxy

QUESTION = "SELECT count(*), avg(total) FROM shop.orders WHERE total > 20"
GROUPED = "SELECT status, count(*) FROM shop.orders GROUP BY status"
# What psql 15 sends for `SELECT count(*) FROM shop.<TAB>` and `... FROM or<TAB>`.
_COMPLETION = """\
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c
WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE 'or%'
AND pg_catalog.pg_table_is_visible(c.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n
WHERE n.nspname LIKE 'or%' AND n.nspname NOT LIKE E'pg\\\\_%' LIMIT 1000;"""


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "text",
    [r"\d", r"\dt", r"\dt shop.*", r"\d shop.orders", r"\d+ shop.orders", r"\dv dp.*", r"\dn", r"\l",
     r"\du", r"\df dp.*", r"\conninfo" + "\n", _COMPLETION, f"{QUESTION} \\gdesc",
     "SHOW server_version; SHOW search_path;", "SELECT * FROM dp.columns;",
     "SELECT * FROM shop.products ORDER BY id LIMIT 3;", "SELECT nosuch FROM shop.orders;",
     "SELECT 1/0;", "SELECT count(*) FROM shop.nosuch;", "SELECT count(*) FORM shop.orders;"],
)  # fmt: skip
def test_as_without_the_proxy(text: str, live: LiveProxy) -> None:
    through, past = live.psql(text), live.psql(text, direct=True)
    for server_port in (str(live.port), str(live.servers.shadow_server.address[1])):
        through, past = through.replace(server_port, "PORT"), past.replace(server_port, "PORT")
    # the proxy's own help
    hint = r"HINT:  (Columns of .*)?SELECT \* FROM dp.columns lists what (can be|each can be used).*\.\n"
    assert re.sub(hint, "", through) == past
    assert past


def test_tables_are_seen(live: LiveProxy) -> None:
    assert re.findall(r"^shop\|(\w+)\|table", live.psql(r"\d"), re.MULTILINE) == [
        "customers", "orders", "products",
    ]  # fmt: skip
    assert "orders" in live.psql(_COMPLETION)
    described = live.psql(r"\d+ shop.orders")
    assert "total|numeric(8,2)|" in described and "email" not in live.psql(r"\d shop.customers")


def rows(text: str) -> list[list[str]]:
    return [line.split("|") for line in text.splitlines() if re.match(r"-?[\d.]+\|", line)]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("text", "answers", "charges"),
    [
        (f"{QUESTION};", 1, 1),
        (f"BEGIN; {QUESTION}; COMMIT;", 1, 1),
        (f"BEGIN;\n{QUESTION}; SAVEPOINT s;\n{QUESTION};\nROLLBACK TO s; ROLLBACK;", 2, 2),
        ("PREPARE q(numeric, text) AS SELECT count(*), avg(total) FROM shop.orders WHERE total > $1"
         " AND status <> $2;\nEXECUTE q(20, 'x'); EXECUTE q(10 + 10, lower('X'));"
         "\nDEALLOCATE q;", 2, 2),
        (f"BEGIN; DECLARE c CURSOR FOR {QUESTION};\nFETCH 1 FROM c; FETCH ALL FROM c; COMMIT;", 1, 1),
        (f"BEGIN; DECLARE c SCROLL CURSOR FOR {QUESTION};\nFETCH ALL FROM c; MOVE ABSOLUTE 0 IN c;"
         "\nFETCH ALL FROM c; COMMIT;", 2, 1),
        (f"CREATE TEMP TABLE answer AS {QUESTION};\nSELECT * FROM answer; SELECT * FROM answer;", 2, 1),
        (f"SELECT 1;\n{QUESTION}\\; SELECT 2\\; {QUESTION};", 2, 2),
        (f"{QUESTION} \\g\n\\g\n", 2, 2),
        (f"\\set FETCH_COUNT 1\n{QUESTION};", 1, 1),
        (f"SELECT 20 AS low \\gset\n{QUESTION.replace('20', ':low')};", 1, 1),
        (f"DO $$ BEGIN NULL; END $$;\n/* shop.orders ; */ {QUESTION} -- ;", 1, 1),
        (f"EXPLAIN {QUESTION};", 0, 0),
    ],
)  # fmt: skip
def test_questions(text: str, answers: int, charges: int, live: LiveProxy) -> None:
    analyst = live.servers.new_analyst()
    got = ask(live, analyst, text)
    assert "ERROR" not in got, got
    found = rows(got)
    assert len(found) == answers, got
    assert all(35_000 < int(count) < 42_000 and 20 <= float(avg) <= 175 for count, avg in found)
    assert live.spent(analyst)[:2] == (charges, charges)


def ask(live: LiveProxy, analyst: str, text: str) -> str:
    other = LiveProxy(live.servers, live.assembly, live.server, live.loop, live.thread, analyst)
    return other.psql(text + "\n")


def test_watched(live: LiveProxy) -> None:
    """What \\watch does: the same simple Query again and again; each is a new question."""
    got = live.psql((QUESTION + " \\g\n") * 3)
    assert len(rows(got)) == 3 and len({tuple(row) for row in rows(got)}) > 1


def test_copy(live: LiveProxy, tmp_path: Path) -> None:
    states = ["paid", "shipped", "returned", "cancelled"]
    got = live.psql(f"COPY ({GROUPED}) TO STDOUT (FORMAT csv, HEADER);")
    assert [row[0] for row in csv.reader(got.splitlines())] == ["status", *states]
    target = tmp_path / "answer.csv"
    said = live.psql(f"\\copy ({GROUPED}) TO '{target}' WITH (FORMAT csv)")
    assert said == "COPY 4\n"
    assert [row[0] for row in csv.reader(target.read_text().splitlines())] == states
    said = live.psql(f"CREATE TEMP TABLE kept (s text, n bigint);\n\\copy kept FROM '{target}' CSV"
                     "\nSELECT sum(n) > 1000 FROM kept;")  # fmt: skip
    assert "COPY 4" in said and "\nt\n" in said


def test_gdesc_costs_nothing(live: LiveProxy) -> None:
    analyst = live.servers.new_analyst()
    got = ask(live, analyst, f"{QUESTION} \\gdesc")
    assert "count|bigint" in got and "avg|numeric" in got
    assert live.spent(analyst)[0] == 0


def test_explain(live: LiveProxy) -> None:
    got = live.psql(
        f"EXPLAIN (VERBOSE) {QUESTION};\nEXPLAIN (FORMAT JSON) {QUESTION};\nEXPLAIN (VERBOSE) {GROUPED};"
    )
    assert "count(*): discrete Laplace, sensitivity 40 row(s), epsilon 0.5" in got
    assert "Groups: 4 public groups" in got
    assert re.search(r'"mechanism": ?"noisy deviations of units ', got)
    assert "charged" in got and "ERROR" not in got


def test_notice_and_intervals(live: LiveProxy) -> None:
    got = live.psql(
        "SET dp.notice = on;\nSELECT count(*), dp.low(count(*)), dp.high(count(*)), dp.error(count(*)),"
        " dp.error(avg(total)) > 0 FROM shop.orders;\n"
        f"SELECT q.* FROM ({GROUPED}) q; SET dp.notice = off; {QUESTION};"
    )
    assert got.count("NOTICE:  differential privacy: charged epsilon 1") == 2, got
    match = re.search(r"^(\d+)\|(\d+)\|(\d+)\|(\d+)\|t$", got, re.MULTILINE)
    assert match is not None, got
    count, low, high, error = map(int, match.groups())
    assert count - low == high - count == error > 0


def test_refusals_point_at_the_word(live: LiveProxy) -> None:
    assert live.psql("SELECT count(*),\n  sum(id) FROM shop.orders;") == (
        'ERROR:  column "id" has no bounds in the policy, so nothing can be computed from its values\n'
        "LINE 2:   sum(id) FROM shop.orders;\n"
        "              ^\n"
        "HINT:  Ask the data owner for `bounds` on this column, count its rows, or compare it as it is.\n"
    )
    got = live.psql("SELECT 'é', 1; SELECT count(*) FROM shop.orders WHERE random() < 1;")
    assert got.endswith(
        "ERROR:  function random is not allowed on protected columns\n"
        "LINE 1: SELECT count(*) FROM shop.orders WHERE random() < 1;\n"
        "                                               ^\n"
        "HINT:  Allowed are comparisons, + - * / and ||, CASE, LIKE, "
        f"{', '.join([*FUNCTIONS.values()][:-1])} and {[*FUNCTIONS.values()][-1]}.\n"
    )
