"""Groups that are there and no others: conditions on keys narrow which groups are answered, exactly."""

from __future__ import annotations

import pytest

from tests.pipeline_world import POLICIES, walk


def _values(text: str, place: int = 0, policy: str = "world") -> tuple[str | None, ...] | None:
    pipeline = walk(text, POLICIES[policy])
    assert pipeline is not None
    return pipeline.plan.blocks[0].keys[place].values


def _of(key: str, where: str) -> tuple[str | None, ...] | None:
    return _values(f"SELECT {key} AS k, count(*) FROM people WHERE {where} GROUP BY 1")


@pytest.mark.parametrize(
    "where, left",
    [
        ("t = 'x'", ("x",)),
        ("t <> 'x'", ("y", "z")),
        ("t IN ('x', 'z', 'other')", ("x", "z")),
        ("t NOT IN ('x', 'z')", ("y",)),
        ("t NOT IN ('x', NULL)", ()),
        ("t IS NULL", (None,)),
        ("t IS NOT NULL", ("x", "y", "z")),
        ("t IS DISTINCT FROM 'x'", ("y", "z", None)),
        ("t IS NOT DISTINCT FROM NULL", (None,)),
        ("t = 'x' OR t IS NULL", ("x", None)),
        ("NOT (t = 'x' OR t = 'y')", ("z",)),
        ("t > 'x'", ("y", "z")),  # nothing is known of the order of others: 'x' > 'x' is false
        ("t >= 'x'", ("x", "y", "z")),
        ("t = 'x' AND i4 > 5", ("x",)),
        ("t = 'x' OR i4 > 5", ("x", "y", "z", None)),
        ("(t = 'x' AND i4 > 5) OR (t = 'y' AND b)", ("x", "y")),
        ("t LIKE 'x%'", ("x",)),
        ("t LIKE '_' AND t NOT LIKE 'y'", ("x", "z")),
        ("t ILIKE '%Y'", ("y",)),
        ("strpos(t, 'y') > 0", ("y",)),
        ("left(t, 1) = 'z'", ("z",)),
        ("strpos(CASE WHEN t IS NOT NULL THEN t ELSE '' END, 'x') = 0", ("y", "z", None)),
        ("CASE WHEN length(t) > 1 THEN true ELSE upper(t) = 'X' END", ("x",)),
        ("t || i4::text = 'x1'", ("x", "y", "z", None)),  # of two columns
        ("t = 'x ' ", ()),
        ("true", ("x", "y", "z", None)),
        ("t = 'x' AND t = 'y'", ()),
        ("(t = 'x') IS NOT TRUE", ("y", "z", None)),
        ("CASE WHEN t = 'x' THEN false ELSE t = 'y' END", ("y",)),
    ],
)
def test_a_text(where: str, left: tuple[str | None, ...]) -> None:
    assert _of("t", where) == left


@pytest.mark.parametrize(
    "key, where, left",
    [
        ("b", "b", ("true",)),
        ("b", "NOT b", ("false",)),
        ("b", "b IS NOT FALSE", ("true",)),
        ("i2", "i2 > 1", ("2",)),
        ("i2", "i2 BETWEEN 1 AND 1.5", ("1",)),
        ("c", "c = 'a '", ("a",)),  # character(2): the blank counts for nothing
        ("e", "e <> 'low'", ("high",)),
        ("t = 'x'", "t = 'x'", ("true",)),
        ("t = 'x'", "t IN ('y', 'z')", ("false",)),
        ("i4 > 5", "i4 < 3", ("false",)),
        ("i4 > 5 OR b", "b AND i4 IS NOT NULL", ("true",)),
    ],
)
def test_other_types_and_conditions(key: str, where: str, left: tuple[str, ...]) -> None:
    assert _of(key, where) == left


_MONTH = "date_trunc('month', d)"


def _months(*months: str) -> tuple[str, ...]:
    return tuple(f"{month}-01 00:00:00+00" for month in months)


@pytest.mark.parametrize(
    "where, left",
    [
        ("d >= '2010-01-01' AND d < '2010-03-01'", _months("2010-01", "2010-02")),
        ("d >= '2010-01-01' AND d <= '2010-03-01'", _months("2010-01", "2010-02", "2010-03")),
        ("d > '2010-01-31' AND d < '2010-02-02'", _months("2010-02")),
        ("d BETWEEN '2010-01-05' AND '2010-02-05'", _months("2010-01", "2010-02")),
        ("d IN ('2010-05-05', '2012-01-01')", _months("2010-05", "2012-01")),
        ("d < '2000-02-01' OR d >= '2019-12-31'", _months("2000-01", "2019-12", "2020-01")),
        (
            "d < '2000-02-01' OR d > '2100-01-01'",
            _months("2000-01", "2020-01"),
        ),  # clamped to the bounds
        (
            "d = '2010-05-05' OR (d > '2012-01-01' AND d < '2012-02-01' AND b)",
            _months("2010-05", "2012-01"),
        ),
        (f"d < '2000-04-01' AND {_MONTH} <> '2000-02-01'", _months("2000-01", "2000-03")),
        (f"{_MONTH} = '2000-02-01'", _months("2000-02")),
        (f"{_MONTH} IN ('2000-02-01', '2000-02-02')", _months("2000-02")),
    ],
)
def test_months(where: str, left: tuple[str, ...]) -> None:
    assert _of(_MONTH, where) == left


@pytest.mark.parametrize(
    "key, where, left",
    [
        ("extract(year FROM d)", "d >= '2010-01-01' AND d < '2012-01-01'", ("2010", "2011")),
        ("extract(month FROM d)", "d >= '2010-11-05' AND d < '2011-02-01'", ("1", "11", "12")),
        ("extract(quarter FROM ts)", "ts >= '2010-11-05' AND ts < '2011-04-01'", ("1", "4")),
        # The other end is the policy's: rows beyond it are in no group.
        ("extract(month FROM ts)", "ts <= '2000-01-01'", ("1",)),
        ("extract(quarter FROM d)", "d >= '2019-12-31'", ("1", "4")),
        ("extract(hour FROM tz)", "tz > '2019-12-31 22:00Z'", ("0", "22", "23")),
        ("extract(dow FROM d)", "d BETWEEN '2010-11-05' AND '2010-11-07'", ("0", "5", "6")),
        (
            "extract(hour FROM ts)",
            "ts > '2010-11-05 07:59:59' AND ts < '2010-11-05 09:00'",
            ("7", "8"),
        ),
        ("extract(year FROM d)", "extract(year FROM d) > 2018", ("2019", "2020")),
        (
            "extract(month FROM d)",
            "extract(month FROM d) NOT IN (1, 2, 3)",
            tuple(map(str, range(4, 13))),
        ),
        (
            "date_trunc('hour', ts)",
            "ts >= '2010-11-05 08:00' AND ts < '2010-11-05 09:00'",
            ("2010-11-05 08:00:00",),
        ),
        ("floor(n)", "n > 6", ("6", "7")),
        ("floor(n)", "n < 0", ("-3", "-2", "-1")),
        ("ceil(n)", "n > 6 AND n <= 7", ("7",)),
        ("floor(i4 / 10.0) * 10", "i4 >= 20 AND i4 < 40", ("20", "30")),
        ("floor(i4 / 10.0) * 10", "i4 > 19 AND i4 <> 30 AND i4 < 31", ("20",)),
        ("round(n)", "n > 5 AND n < 5.5", ("5",)),
        ("floor(f8)", "f8 > 98.5 AND f8 < 100", ("98", "99")),
        ("width_bucket(i4, 0, 100, 10)", "i4 >= 20 AND i4 < 40", ("3", "4")),
        ("width_bucket(i4, 0, 100, 10)", "true", tuple(map(str, range(1, 12)))),
        ("CASE WHEN i4 < 30 THEN 'young' ELSE 'old' END", "i4 >= 30", ("old",)),
        ("CASE WHEN i4 < 30 THEN 'young' ELSE 'old' END", "i4 = 30 OR i4 = 29", ("young", "old")),
        ("CASE WHEN t = 'x' THEN 'a' WHEN t = 'y' THEN 'b' END", "t IN ('x', 'y')", ("a", "b")),
        ("CASE WHEN t = 'x' THEN 'a' ELSE 'b' END", "t <> 'x'", ("b",)),
        # A text that is not among the public values of t is some other text to a condition.
        ("CASE WHEN t = 'x' THEN 'a' ELSE 'b' END", "t = 'unlisted'", ("b",)),
        ("t = 'x'", "t = 'unlisted'", ("false",)),
        ("t = 'x'", "(t <> 'unlisted') IS NOT TRUE", ("false",)),
        ("CASE WHEN b AND i4 > 3 THEN 'a' WHEN b THEN 'b' ELSE 'c' END", "i4 > 4", ("a", "c")),
    ],
)
def test_computed(key: str, where: str, left: tuple[str, ...]) -> None:
    assert _of(key, where) == left


@pytest.mark.parametrize(
    "statement, left",
    [
        (
            "SELECT t, count(*) FROM (SELECT t FROM people WHERE t <> 'x') q WHERE t IS NOT NULL GROUP BY t",
            ("y", "z"),
        ),
        (
            f"SELECT m, count(*) FROM (SELECT {_MONTH} AS m FROM people WHERE d < '2000-03-01') q GROUP BY m",
            _months("2000-01", "2000-02"),
        ),
        (
            f"SELECT {_MONTH}, count(*) FROM (SELECT d FROM people WHERE d < '2000-03-01') q"
            " WHERE d > '2000-02-01' GROUP BY 1",
            _months("2000-02"),
        ),
        (
            "SELECT y, count(*) FROM (SELECT extract(year FROM d) AS y FROM people WHERE d < '2002-01-01') q"
            " WHERE y > 2000 GROUP BY y",
            ("2001",),
        ),
        (
            "SELECT t, count(*) FROM (SELECT t FROM people WHERE t = 'x'"
            " UNION ALL SELECT t FROM people WHERE t = 'y') q GROUP BY t",
            ("x", "y"),
        ),
        (
            f"SELECT {_MONTH}, count(*) FROM (SELECT d FROM people WHERE d < '2000-02-01'"
            " UNION ALL SELECT d FROM people WHERE d = '2010-05-05') q GROUP BY 1",
            _months("2000-01", "2010-05"),
        ),
        (
            "WITH q AS (SELECT CASE WHEN i4 < 9 THEN 'a' ELSE 'b' END AS k FROM people WHERE i4 > 9)"
            " SELECT k, count(*) FROM q GROUP BY k",
            ("b",),
        ),
        (
            "SELECT zone, count(*) FROM people JOIN places ON t = code WHERE zone = 'south' GROUP BY zone",
            ("south",),
        ),
        (
            "SELECT zone, count(*) FROM people JOIN places ON t = code AND zone = 'south' GROUP BY zone",
            ("south",),
        ),
        (
            "SELECT zone, count(*) FROM people LEFT JOIN places ON t = code AND zone = 'south' GROUP BY zone",
            ("south", None),
        ),
        (
            "SELECT zone, count(*) FROM people LEFT JOIN places ON t = code"
            " WHERE zone IS NOT NULL GROUP BY zone",
            ("north", "south"),
        ),
    ],
)
def test_below(statement: str, left: tuple[str, ...]) -> None:
    assert _values(statement) == left


@pytest.mark.parametrize(
    "key, left",
    [
        ("CASE WHEN id < 3 THEN 'a' WHEN id >= 3 THEN 'b' END", ("a", "b")),
        ("CASE WHEN id < 3 THEN 'a' WHEN id > 3 THEN 'b' END", ("a", "b", None)),
        ("CASE WHEN i4 < 3 THEN 'a' WHEN i4 >= 3 THEN 'b' END", ("a", "b", None)),  # i4 can be NULL
        (
            "CASE WHEN i4 < 3 THEN 'a' WHEN i4 >= 3 THEN 'b' WHEN i4 IS NULL THEN 'c' END",
            ("a", "b", "c"),
        ),
    ],
)
def test_null_where_it_can_be(key: str, left: tuple[str | None, ...]) -> None:
    assert _values(f"SELECT {key}, count(*) FROM orders GROUP BY 1") == left
