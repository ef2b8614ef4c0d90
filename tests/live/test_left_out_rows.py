"""What does not fit into the groups of an answer is said unasked, as a rule and without a number."""

from __future__ import annotations

import re

import pytest
from psycopg.errors import Diagnostic

from tests.live_proxy import LiveProxy

_COUNT = "SELECT {key} AS k, count(*) AS n FROM kinds.things {where} GROUP BY 1"
_NULL = "is null are in no group"
_LAST = "is beyond its bounds in the policy count in the first or last group"
_NONE = "is beyond its bounds in the policy are in no group"


def _notices(live: LiveProxy, analyst: str, text: str) -> list[str]:
    said: list[str] = []

    def hear(diagnostic: Diagnostic) -> None:
        said.append(diagnostic.message_primary or "")

    with live.connect("kinds", analyst=analyst) as connection:
        connection.execute("SET dp.notice = off")
        connection.add_notice_handler(hear)
        connection.execute(text)
    return said


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("key", "where", "rules"),
    [
        ("int > 50", "", [f"int {_NULL}"]),
        ("int > 50 AND small < 3", "", [f"int or small {_NULL}"]),
        ("int IS NULL", "", []),
        ("int > 50", "WHERE int IS NOT NULL", []),
        ("int > 50", "WHERE int < 70", []),
        ("coalesce(int > 50, false)", "", []),
        ("CASE WHEN int > 50 THEN 'many' ELSE 'few' END", "", []),
        ("floor(int / 100)", "", [f"int {_NULL}", f"int {_LAST}"]),
        ("floor(int / 100)", "WHERE int BETWEEN 0 AND 900", []),
        ("width_bucket(int, 0, 1000, 4)", "", [f"int {_NULL}", f"int {_LAST}"]),
        ("date_trunc('month', at)", "", [f"at {_NULL}", f"at {_LAST}"]),
        ("date_trunc('month', att)", "", [f"att {_NULL}", f"att {_LAST}"]),
        ("date_trunc('month', at)::date", "", [f"at {_NULL}", f"at {_LAST}"]),
        ("to_char(date_trunc('month', at), 'YYYY-MM')", "", [f"at {_NULL}", f"at {_LAST}"]),
        ("extract(month FROM date_trunc('month', at))", "", [f"at {_NULL}"]),
        ("extract(year FROM date_trunc('month', day))", "", [f"day {_NULL}", f"day {_LAST}"]),
        ("at::date", "", [f"at {_NULL}"]),
        ("to_char(day, 'YYYY-MM')", "", [f"day {_NULL}", f"day {_NONE}"]),
        ("extract(year FROM day)", "", [f"day {_NULL}", f"day {_NONE}"]),
        ("extract(hour FROM at)", "", [f"at {_NULL}"]),
        ("vc", "", [f"vc {_NULL}"]),
        ("flag", "", []),  # NOT NULL
        ("upper(vc)", "", [f"vc {_NULL}"]),
        ("mood", "", [f"mood {_NULL}"]),
    ],
)
@pytest.mark.parametrize("how", ["direct", "subquery"])
def test_rules_are_told(
    key: str, where: str, rules: list[str], how: str, live: LiveProxy, analyst: str
) -> None:
    text = _COUNT.format(key=key, where=where)
    if how == "subquery":
        if key == "upper(vc)":  # private groups there, with one of NULL
            rules = []
        if key in ("vc", "mood"):  # by the name that it has there
            rules = [rule.replace(key, "k", 1) for rule in rules]
        text = f"SELECT k, count(*) AS n FROM (SELECT {key} AS k FROM kinds.things {where}) q GROUP BY k"
    said = "\n".join(_notices(live, analyst, text)).splitlines()
    lines = [line for line in said if "no group" in line or "last group" in line]
    assert len(lines) == bool(rules), "all rules are one line"
    told = [rule for line in lines for rule in line.removesuffix(".").lower().split("; ")]
    if key == "at::date":  # in the one or the other form
        told = [rule for rule in told if "bounds" not in rule]
    assert told == [f"rows whose {rule}" for rule in rules]
    assert not any(re.search(r"[0-9]", line) for line in told)


@pytest.mark.parametrize(
    ("where", "column"),
    [
        ("date_trunc('month', at) = timestamp '2021-01-01'", "at"),
        ("date_trunc('month', at) <= timestamp '2020-05-01'", "at"),
        ("date_trunc('month', at) = timestamp '2020-05-01'", None),  # neither bound is in it
        ("floor(int / 100) = 9", "int"),
        ("int + 1 > 900", "int"),
        ("int > 900", None),
        ("to_char(day, 'YYYY-MM') = '2020-05'", None),
        ("int BETWEEN 0 AND 900 AND floor(int / 100) = 9", None),
    ],
)
def test_conditions_at_the_bounds_are_told(
    where: str, column: str | None, live: LiveProxy, analyst: str
) -> None:
    said = _notices(live, analyst, f"SELECT count(*) FROM kinds.things WHERE {where}")
    rule = "is beyond its bounds in the policy count in conditions as at the nearest bound"
    lines = [line for text in said for line in text.splitlines() if "of few rows" not in line]
    assert lines == ([] if column is None else [f"Rows whose {column} {rule}."])


def test_explain_says_the_same(live: LiveProxy, analyst: str) -> None:
    text = _COUNT.format(key="date_trunc('month', at)", where="")
    with live.connect("kinds", analyst=analyst) as connection:
        lines = " ".join(row[0].strip() for row in connection.execute(f"EXPLAIN {text}").fetchall())
    assert f"at {_NULL}" in lines and f"at {_LAST}" in lines
