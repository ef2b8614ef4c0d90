"""A condition that the policy's bounds leave no value for is told with the bound, wherever it stands."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.engine.impossible_conditions import CONFLICT, ImpossibleConditions, impossible_conditions
from proxy.policy.policy_model import BoundsKind, MovingBounds, Policy, ProtectedTable
from proxy.query.ir.binding import bind
from proxy.query.ir.expressions import Constant
from tests.cases import read_cases
from tests.pipeline_world import POLICIES, read
from tests.planner.test_golden_pipeline import PIPELINE

_BEST = POLICIES["best"]


def _found(sql: str, policy: Policy = _BEST, day: int | None = None) -> ImpossibleConditions:
    found = read(sql)
    assert found is not None
    return impossible_conditions(found[1].query, policy, day)


_COUNT = "SELECT count(*) FROM people WHERE "
_D_ENDS = "d ends at 2020-01-01 in the policy, and a condition asks for later ones"
_D_BEGINS = "d begins at 2000-01-01 in the policy, and a condition asks for earlier ones"
_D_OTHER = "d is within 2000-01-01 and 2020-01-01 in the policy, and a condition asks for others"
_I4_ENDS = "i4 ends at 100 in the policy, and a condition asks for larger ones"
_I4_OTHER = "i4 is within 0 and 100 in the policy, and a condition asks for others"
_I4_BEGINS = "i4 begins at 0 in the policy, and a condition asks for smaller ones"


@pytest.mark.parametrize(
    ("condition", "line"),
    [
        ("d >= '2027-01-01'", _D_ENDS),
        ("d > '2020-01-01'", _D_ENDS),
        ("'2027-01-01' <= d", _D_ENDS),
        ("d = '2027-01-01'", _D_ENDS),
        ("d BETWEEN '2027-01-01' AND '2028-01-01'", _D_ENDS),
        ("NOT (d < '2027-01-01')", _D_ENDS),
        ("d IN ('2027-01-01', '2028-01-01')", _D_ENDS),
        ("(d = '2027-01-01' OR d = '2028-01-01')", _D_ENDS),
        ("d >= '2027-01-01' AND b", _D_ENDS),
        ("d < '2000-01-01'", _D_BEGINS),
        ("d IN ('1990-01-01', '2028-01-01')", _D_OTHER),
        ("date_trunc('month', d) >= '2021-01-01'", _D_ENDS),
        ("extract(year FROM d) = 2027", _D_OTHER),
        ("extract(year FROM d) IN (1980, 1981)", _D_OTHER),
        ("ts >= '2027-01-01'", _D_ENDS.replace("d ends", "ts ends")),
        ("tz::date >= '2027-01-01'", _D_ENDS.replace("d ends", "tz ends")),
        ("ts < timestamp '1999-12-31 23:00'", _D_BEGINS.replace("d begins", "ts begins")),
        ("i4 > 100", _I4_ENDS),
        ("i4 * 2 > 200", _I4_OTHER),
        ("-i4 < -100", _I4_OTHER),
        ("i4 < 0", _I4_BEGINS),
        ("n2 > 175.5", "n2 ends at 175 in the policy, and a condition asks for larger ones"),
        (
            "i4 + n2 > 300",
            "within the bounds of i4 and n2 in the policy no row meets the condition",
        ),
    ],
)
def test_the_end_is_told(condition: str, line: str) -> None:
    assert _found(f"{_COUNT}{condition}") == ImpossibleConditions(lines=(line,), is_everywhere=True)


@pytest.mark.parametrize(
    "condition",
    [
        "d >= '2019-01-01' AND d < '2028-01-01'",
        "d <> '2027-01-01'",
        "d IS DISTINCT FROM '2027-01-01'",
        "d IS NULL",
        "(d IS NULL OR d >= '2027-01-01')",
        "(d >= '2027-01-01') IS NOT TRUE",
        "(d >= '2027-01-01' OR b)",
        "NOT (d >= '2027-01-01')",
        "coalesce(i4, 500) = 500",
        "i4 IN (5, 500)",
        "free > 1000000",  # no bounds
        "extract(month FROM d) = 12",
        "extract(year FROM d) = 2019",
        "i4 > i2",
        "t IN ('x', 'q')",
        "lower(t) = 'q'",
        "t LIKE 'q%'",
        "i4 >= (SELECT avg(i4) FROM people)",
    ],
)
def test_nothing_is_told_of_others(condition: str) -> None:
    assert _found(f"{_COUNT}{condition}") == ImpossibleConditions()


@pytest.mark.parametrize(
    "condition",
    [
        "t = 'q'",
        "t IN ('q', 'r')",
        "(t = 'q' OR t = 'r')",
        "t = 'q' AND i4 > 3",
        "i2 = 7",
        "c = 'zz'",
    ],
)
def test_of_lists_nothing_more_is_told(condition: str) -> None:
    """impossible_conditions.py has the line."""
    assert _found(f"{_COUNT}{condition}") == ImpossibleConditions(is_everywhere=True)


@pytest.mark.parametrize(
    "condition",
    [
        *(
            "tod = NULL",
            "d = NULL",
            "i4 BETWEEN NULL AND 3",
            "ts::time NOT IN ('00:37:11.25', NULL)",
        ),
        *("extract(month FROM d) = 13", "extract(hour FROM tod) > 30", "cardinality(ta) < 0"),
        *("i4 = NULL", "free = NULL", "extract(dow FROM tz) = 7", "length(s) < 0", "iv = NULL"),
    ],
)
def test_of_what_no_row_meets_by_its_type_no_bound_is_told(condition: str) -> None:
    """Nor is an error made of it."""
    assert _found(f"{_COUNT}{condition}").lines == ()


@pytest.mark.parametrize(
    ("sql", "is_everywhere"),
    [
        ("SELECT count(*) FILTER (WHERE d > '2027-01-01') FROM people", True),
        ("SELECT count(*) FILTER (WHERE d > '2027-01-01'), count(*) FROM people", False),
        ("SELECT t, count(*) FROM people WHERE d > '2027-01-01' GROUP BY t", True),
        ("SELECT count(*) FROM (SELECT d AS day FROM people) p WHERE day > '2027-01-01'", True),
        ("SELECT count(*) FROM (SELECT i4 FROM people WHERE d > '2027-01-01') p", True),
        (
            "WITH p AS (SELECT d AS next FROM people) SELECT count(*) FROM p WHERE next > '2027-01-01'",
            True,
        ),
        (
            "SELECT count(*) FROM orders o JOIN members m ON o.uid = m.uid WHERE m.d > '2027-01-01'",
            True,
        ),
        (
            "SELECT count(*) FROM orders o JOIN members m ON o.uid = m.uid AND o.d > '2027-01-01'",
            True,
        ),
        (
            "SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM orders WHERE d > '2027-01-01' GROUP BY uid) q",
            True,
        ),
        (
            "SELECT (SELECT count(*) FROM people WHERE d > '2027-01-01'), (SELECT count(*) FROM people)",
            False,
        ),
    ],
)
def test_wherever_the_condition_stands(sql: str, is_everywhere: bool) -> None:
    found = _found(sql)
    assert found == ImpossibleConditions(lines=(_D_ENDS,), is_everywhere=is_everywhere)


_EXISTS = "SELECT count(*) FROM members m WHERE {}EXISTS (SELECT 1 FROM orders o WHERE o.uid = m.uid AND o.{})"


@pytest.mark.parametrize(
    "sql",
    [
        _EXISTS.format("", "d > '2027-01-01'"),
        "SELECT count(*) FROM members WHERE uid IN (SELECT uid FROM orders WHERE d > '2027-01-01')",
        "SELECT count(CASE WHEN d > '2027-01-01' THEN 1 END) FROM people",
        "SELECT avg(CASE WHEN d > '2027-01-01' THEN i4 END) FROM people",
        "SELECT sum(CASE WHEN d > '2027-01-01' THEN i4 ELSE 0 END) FROM people",
    ],
)
def test_a_condition_in_other_words(sql: str) -> None:
    assert _found(sql) == ImpossibleConditions(lines=(_D_ENDS,), is_everywhere=True)


@pytest.mark.parametrize(
    "sql",
    [
        _EXISTS.format("NOT ", "d > '2027-01-01'"),
        "SELECT avg(CASE WHEN d > '2027-01-01' THEN i4 ELSE 0 END) FROM people",  # of all people
        "SELECT count(CASE WHEN d > '2027-01-01' THEN 1 ELSE 0 END) FROM people",
    ],
)
def test_what_leaves_out_no_row(sql: str) -> None:
    assert _found(sql) == ImpossibleConditions()


@pytest.mark.parametrize(
    ("condition", "days"),
    [
        ("d = '2010-01-01'", 1),
        ("d IN ('2010-01-01', '2011-01-01')", 2),
        ("(d = '2010-01-01' OR d IS NULL)", 1),
        ("d::text = '2010-01-01'", 1),
        ("to_char(d, 'YYYY-MM-DD') = '2010-01-01'", 1),
        ("d BETWEEN '2010-01-01' AND '2010-03-14'", 73),
        ("d BETWEEN '2010-01-01' AND '2010-03-15'", None),
        ("d >= '2020-01-01'", 1),
        ("d <= '2000-01-01'", 1),
        ("d >= '2019-12-02' AND i4 > 3", 31),
        ("extract(year FROM d) = 2020", 1),
        ("date_trunc('month', ts) = '2020-01-01'", 1),
        ("d > '2019-12-01' AND d < '2020-01-01' AND i4 > 3", 30),
        ("d <> '2010-01-01'", None),
        ("extract(day FROM d) = 31", None),
        ("i4 = 3", None),  # ages and amounts are not spread evenly
        ("ts = '2010-01-01 03:00'", 1),
        ("ts BETWEEN '2010-01-01' AND '2010-01-03'", 3),  # as many as there are groups
        ("ts >= '2010-01-01' AND ts < '2010-01-03'", 2),
        ("ts > '2010-01-01 23:00' AND ts <= '2010-01-02 05:00'", 2),
        ("tz::date = '2010-01-01'", 1),
        ("date_trunc('month', ts) = '2010-01-01'", 31),
        ("ts > '2010-01-01' AND d = '2027-01-01'", None),  # nothing is left: told by its end
    ],
)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM people WHERE {}",
        "SELECT count(*) FILTER (WHERE {}), count(*) FROM people",
        "SELECT sum(CASE WHEN {} THEN 1 ELSE 0 END) FROM people",
        "SELECT count(*) FROM (SELECT * FROM people) p WHERE {}",
    ],
)
def test_few_days_are_told(sql: str, condition: str, days: int | None) -> None:
    lines = [one for one in _found(sql.format(condition)).lines if "days" in one]
    assert [line.partition(" of the 7,30")[0] for line in lines] == (
        [] if days is None else [f"the conditions leave at most {days}"]
    )


@pytest.mark.parametrize(
    ("condition", "has_more"),
    [
        ("d >= '2019-12-25'", True),
        ("d <= '2000-01-05'", True),
        ("d >= '2019-12-25' AND d < '2030-01-01'", False),
        ("d = '2019-12-25'", False),
    ],
)
def test_rows_beyond_the_bounds_are_told_where_they_meet_the_conditions(
    condition: str, has_more: bool
) -> None:
    """A policy may be older than the rows."""
    (line,) = _found(f"{_COUNT}{condition}").lines
    assert ("that d has in the policy, and rows beyond them: of few rows" in line) == has_more


_NO_DAY = "no day that {} has in the policy, 2000-01-01 to 2020-01-01, meets the conditions"


@pytest.mark.parametrize("column", ["d", "ts", "tz"])
@pytest.mark.parametrize(
    "condition",
    [
        "extract(year FROM {}) = 2021",  # the year after the end, which the bounds of a year leave room for
        "extract(year FROM {}) = 1999",
        "date_part('year', {}) >= 2021",
        "extract(year FROM {}) = 2021 AND extract(month FROM {}) = 3",
        "to_char({}, 'YYYY-MM') = '2027-01'",
        "to_char({}, 'YYYY') IN ('1999', '2021')",
        "to_char({}, 'YYYY-MM-DD') = '2020-01-02'",
        "{}::date::text = '2027-01-01'",
        "extract(month FROM {}) = 3 AND extract(month FROM {}) = 4",
    ],
)
def test_a_function_of_a_time_that_no_day_meets(condition: str, column: str) -> None:
    told = (_NO_DAY.format(column),)
    where = condition.replace("{}", column)
    for sql, is_everywhere in (
        (f"{_COUNT}{where}", True),
        (f"SELECT t, count(*) FROM people WHERE {where} GROUP BY t", True),
        (f"SELECT count(*) FILTER (WHERE {where}) FROM people", True),
        (f"SELECT count(*) FILTER (WHERE {where}), count(*) FROM people", False),
        (f"SELECT avg(CASE WHEN {where} THEN i4 END) FROM people", True),
    ):
        assert _found(sql) == ImpossibleConditions(lines=told, is_everywhere=is_everywhere), sql
    assert _found(f"{_COUNT}({where} OR {column} IS NULL)") == ImpossibleConditions()


def test_days_of_two_tables_are_not_held_against_each_other() -> None:
    found = _found(
        "SELECT count(*) FROM members a JOIN members b ON a.uid = b.uid"
        " WHERE a.d >= '2010-01-01' AND b.d <= '2010-01-01'"
    )
    assert found == ImpossibleConditions()


def test_rows_without_partner_stay() -> None:
    """The condition of a LEFT JOIN leaves out no row of its left side; nor does a part of UNION ALL."""
    for sql in (
        "SELECT count(*) FROM orders o LEFT JOIN members m ON o.uid = m.uid AND m.d > '2027-01-01'",
        "SELECT count(*) FROM (SELECT i4 FROM people WHERE d > '2027-01-01' UNION ALL SELECT i4 FROM events) u",
        "SELECT count(*) FROM (SELECT uid, max(d) AS m FROM orders GROUP BY uid) q WHERE m > '2027-01-01'",
    ):
        assert _found(sql) == ImpossibleConditions()


def test_a_parameter_and_a_bound_that_moves() -> None:
    found = read(f"{_COUNT}d >= $1", (SqlType.DATE,))
    assert found is not None
    query = found[1].query
    assert impossible_conditions(query, _BEST, None) == ImpossibleConditions()
    for text, lines in (("2015-01-01", ()), ("2027-01-01", (_D_ENDS,))):
        values = {1: Constant(text, SqlType.DATE)}
        bound = replace(query, blocks=tuple(bind(block, values) for block in query.blocks))
        assert impossible_conditions(bound, _BEST, None).lines == lines
    tables = {
        name: replace(
            table,
            columns={
                **table.columns,
                "d": replace(
                    table.columns["d"], bounds=MovingBounds(Fraction(10_957), BoundsKind.DATE)
                ),
            },
        )
        if isinstance(table, ProtectedTable)
        else table
        for name, table in _BEST.tables.items()
    }
    moving = replace(_BEST, tables=tables)
    assert _found(f"{_COUNT}d >= '2027-01-01'", moving, 20_000).lines == (
        "d ends at 2024-10-04 in the policy, and a condition asks for later ones",
    )
    assert _found(f"{_COUNT}d >= '2024-01-01'", moving, 20_000).lines == ()


@pytest.mark.every(3)
@pytest.mark.parametrize("part", range(3))
def test_no_statement_fails_for_it(part: int) -> None:
    """Every golden one, under each policy and with its conditions."""
    checked = 0
    for file in sorted(PIPELINE.glob("*.sql")):
        for case in read_cases(file)[part::3]:
            try:
                found = read(case.statement)
            except Refusal:
                continue
            if found is not None:
                for policy in POLICIES.values():
                    impossible_conditions(found[1].query, policy, 20_000)
                    checked += 1
    assert checked > 1_000


@pytest.mark.parametrize(
    ("condition", "column"),
    [
        ("t = 'x' AND t = 'y'", "t"),
        ("t = 'x' AND t <> 'x'", "t"),
        ("free > 5 AND free < 3", "free"),
        ("i4 > 5 AND b AND i4 IN (2, 3)", "i4"),
        ("d >= '2015-01-01' AND d < '2014-01-01'", "d"),
        ("i4 IS NULL AND i4 > 3", "i4"),
        ("t = 'x' AND t IN ('x', 'y')", None),
        ("free > 3 AND free < 5", None),
        ("i4 >= 5 AND i4 <= 5", None),
        ("t = 'x' AND s = 'y'", None),
        ("lower(t) = 'x' AND t = 'y'", None),
    ],
)
def test_conditions_that_contradict_each_other(condition: str, column: str | None) -> None:
    """Whatever the policy lists or bounds, and whatever is stored."""
    told = () if column is None else (f"the conditions on {column} {CONFLICT}",)
    found = ImpossibleConditions(lines=told, is_everywhere=column is not None)
    assert _found(f"{_COUNT}{condition}") == found


def test_two_tables_of_a_join_do_not_contradict_each_other() -> None:
    sql = "SELECT count(*) FROM members a JOIN members b ON a.uid = b.uid WHERE a.t = 'x' AND b.t = 'y'"
    assert _found(sql) == ImpossibleConditions()


@pytest.mark.parametrize(
    ("condition", "is_told"),
    [("uid = 3", True), ("3 = uid AND i4 > 5", True), ("uid > 3", False), ("i4 = 3", False)],
)
def test_what_leaves_one_unit_is_told(condition: str, is_told: bool) -> None:
    """It is known beforehand that the answer says nothing."""
    found = _found(f"SELECT count(*) FROM orders WHERE {condition}")
    assert [line.partition(":")[0] for line in found.lines] == [
        *(["a condition on uid leaves one person"] if is_told else [])
    ]
    assert not found.is_everywhere
