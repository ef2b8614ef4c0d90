"""Keys of one public row are one key; conditions on several keys exclude combinations; too many are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import TableName
from proxy.kernel.plan import BlockPlan
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext
from proxy.planner.planning import plan
from proxy.release import adding_noise
from tests.pipeline_world import CATALOG, KNOWN_PUBLIC, PLACES, POLICIES, read
from tests.postgres_labels import POSTGRES_LABELS
from tests.seeded_bits import SeededBits

_PLACES = TableName("w", "places")
_ROWS = {_PLACES: (("code", "zone"), tuple(sorted(PLACES)))}
_VALUES = {**KNOWN_PUBLIC, (_PLACES, "code"): ("w", "x", "y")}
_JOIN = "FROM people JOIN places ON t = code"


def _block(sql: str) -> BlockPlan:
    found = read(sql)
    assert found is not None
    known = PlanningContext(POLICIES["world"], CATALOG, _VALUES, _ROWS, evaluating=POSTGRES_LABELS)
    return plan(found[1].query, known, Loss(Fraction(8), Fraction(1, 1000))).blocks[0]


def _groups(sql: str) -> list[tuple[str | None, ...]]:
    """Those that are released."""
    block = _block(sql)
    groups = list(adding_noise._groups(block, [{}], SeededBits(1)))
    assert block.groups() == len(set(groups)) == len(groups)
    return groups


@pytest.mark.parametrize(
    "sql, groups",
    [
        (f"SELECT code, zone, count(*) {_JOIN} GROUP BY code, zone",
         [("w", "south"), ("x", "north"), ("y", "south")]),
        (f"SELECT zone, code, count(*) {_JOIN} GROUP BY zone, code",
         [("north", "x"), ("south", "w"), ("south", "y")]),
        # A column that equals the key is of its row, and has no value that is not there.
        (f"SELECT t, zone, count(*) {_JOIN} GROUP BY t, zone", [("x", "north"), ("y", "south")]),
        (f"SELECT t, count(*) {_JOIN} GROUP BY t", [("x",), ("y",)]),
        (f"SELECT t, count(*) {_JOIN} WHERE zone = 'south' GROUP BY t", [("y",)]),
        (f"SELECT code, count(*) {_JOIN} AND zone <> 'south' WHERE b GROUP BY code", [("x",)]),
        ("SELECT code, zone, count(*) FROM people LEFT JOIN places ON t = code GROUP BY code, zone",
         [("w", "south"), ("x", "north"), ("y", "south"), (None, None)]),
        ("SELECT code, zone, count(*) FROM people LEFT JOIN places ON t = code WHERE zone IS NOT NULL"
         " GROUP BY code, zone",
         [("w", "south"), ("x", "north"), ("y", "south")]),
        (f"SELECT code, b, zone, count(*) {_JOIN} WHERE b GROUP BY code, b, zone",
         [("w", "true", "south"), ("x", "true", "north"), ("y", "true", "south")]),
        (f"SELECT c, z, count(*) FROM (SELECT code AS c, zone AS z {_JOIN} WHERE zone = 'south') q"
         " GROUP BY c, z",
         [("w", "south"), ("y", "south")]),
        # Two rows of one table are not one.
        ("SELECT p.code, q.zone, count(*) FROM people JOIN places p ON t = p.code JOIN places q ON s = q.code"
         " GROUP BY p.code, q.zone",
         [("w", "north"), ("w", "south"), ("x", "north"), ("x", "south"), ("y", "north"), ("y", "south")]),
        # Conditions on two keys.
        ("SELECT t, b, count(*) FROM people WHERE t = 'x' OR (t = 'y' AND b) GROUP BY t, b",
         [("x", "true"), ("x", "false"), ("y", "true")]),
        ("SELECT i2, e, count(*) FROM people WHERE NOT (i2 = 1 AND e = 'low') GROUP BY i2, e",
         [("1", "high"), ("2", "low"), ("2", "high"), ("2", None)]),
        ("SELECT t, b, count(*) FROM people WHERE t = 'no' GROUP BY t, b", []),
        # Of a text that is not listed several conditions are false; what is made of it is in no group.
        ("SELECT i2 = 1, i2 = 2, count(*) FROM people WHERE b GROUP BY 1, 2",
         [("true", "true"), ("true", "false"), ("false", "true"), ("false", "false")]),
        ("SELECT t = 'x', t || '!', count(*) FROM people WHERE t IN ('x', 'y') GROUP BY 1, 2",
         [("true", "x!"), ("false", "y!")]),
        # Parts of one time that tell its year end where the years of the policy do.
        ("SELECT extract(year FROM d), extract(month FROM d), count(*) FROM people WHERE d >= '2019-12-05'"
         " GROUP BY 1, 2",
         [("2019", "12"), ("2020", "1")]),
        # to_char() reads a date as a timestamp, whose parts are those of the date.
        ("SELECT to_char(d, 'Mon YY'), extract(month FROM d), count(*) FROM people WHERE d >= '2019-12-05'"
         " GROUP BY 1, 2",
         [("Dec 19", "12"), ("Jan 20", "1")]),
    ],
)  # fmt: skip
def test_groups(sql: str, groups: list[tuple[str | None, ...]]) -> None:
    assert _groups(sql) == groups


_WINTER = "d >= '2018-11-01' AND d < '2019-03-01'"
_OF_TS = "ts >= '2018-12-30' AND ts < '2019-01-02'"


@pytest.mark.parametrize(
    "source, keys, number",
    [
        (f"people WHERE {_WINTER}", "date_trunc('month', d)::date, date_trunc('year', d)::date", 4),
        (f"people WHERE {_WINTER}", "date_trunc('month', d)::date, extract(year FROM d)", 4),
        (f"people WHERE {_WINTER}", "extract(quarter FROM date_trunc('quarter', d)), to_char(d, 'YYYY-MM')", 4),
        (f"people WHERE {_WINTER}", "date_trunc('week', d), date_trunc('year', d)::date", 19),
        (f"people WHERE {_OF_TS}", "date_trunc('hour', ts), date_trunc('day', ts)", 72),
        (f"people WHERE {_OF_TS.replace('ts', 'tz')}", "date_trunc('hour', tz), tz::date", 72),
        # computed in subqueries, the condition inside or outside
        (f"(SELECT extract(year FROM d) AS y, extract(month FROM d)::int AS m FROM people WHERE {_WINTER}) q",
         "y, m", 4),
        (f"(SELECT date_trunc('month', d) AS m, date_trunc('year', d) AS y, d FROM people) q WHERE {_WINTER}",
         "y, m", 4),
        (f"(SELECT date_trunc('month', d) AS m, d FROM people) q WHERE {_WINTER}", "m", 4),
        ("(SELECT date_trunc('month', d) AS m, date_trunc('year', d) AS y FROM people) q"
         " WHERE m >= '2018-11-01' AND m < '2019-03-01'", "y, m", 4),
        ("(SELECT *, extract(year FROM d) AS y FROM (SELECT to_char(d, 'YYYY-MM') AS m, d FROM people"
         f" WHERE {_WINTER}) p) q", "y, m", 4),
        (f"(SELECT *, upper(m) AS y FROM (SELECT to_char(d, 'YYYY-MM') AS m, d AS e FROM people) p) q"
         f" WHERE {_WINTER.replace('d ', 'e ')}", "y, m", 4),
        # of one number
        ("people", "i4 / 10, i4 / 50", 11),
        ("people WHERE i4 < 50", "floor(i4 / 10) * 10 || '', width_bucket(i4, 0, 100, 10)", 5),
        ("people", "i4 / 50, CASE WHEN i4 > 200 THEN 'beyond' ELSE 'within' END", 6),  # is not clamped
        # of one public row
        ("people JOIN places ON t = code", "code, upper(zone)", 3),
        ("(SELECT code, zone || '!' AS z FROM people JOIN places ON t = code) q", "z, code", 3),
        # beside another table
        ("members JOIN (SELECT uid, extract(year FROM d) AS y, extract(month FROM d) AS m FROM calls"
         f" WHERE {_WINTER}) q ON members.uid = q.uid", "y, m", 4),
    ],
)  # fmt: skip
def test_keys_of_one_column_are_together_what_it_can_be(
    source: str, keys: str, number: int
) -> None:
    places = ", ".join(str(n) for n, _ in enumerate(_split(keys), start=1))
    assert len(_groups(f"SELECT {keys}, count(*) FROM {source} GROUP BY {places}")) == number


def _split(keys: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth = [""], 0
    for character in keys:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


@pytest.mark.parametrize("number", [8, 9, 25])
def test_a_chain_of_subqueries_is_not_written_out(number: int) -> None:
    """Each doubles the key: up to 500 nodes it is looked into, beyond 4,000 the statement is refused anyway."""
    source = "people"
    for n in range(number):
        doubled = "t AS x" if n == 0 else "x || x AS x"
        source = f"(SELECT t, {doubled} FROM {source}) q"
    sql = f"SELECT x, t, count(*) FROM {source} GROUP BY x, t"
    if number == 25:
        with pytest.raises(Refusal, match="too large together"):
            _block(sql)
        return
    assert _block(sql).keys[1].values is not None


def test_parts_of_a_time_that_do_not_tell_its_year() -> None:
    """An end that the condition leaves open is the policy's, as where a key tells the year."""
    keys = "extract(month FROM d), extract(dow FROM d)"
    sql = f"SELECT {keys}, count(*) FROM people WHERE d >= '2019-12-31' GROUP BY 1, 2"
    closed = sql.replace("GROUP", "AND d < '2020-01-02' GROUP")
    assert _groups(sql) == _groups(closed) == [("1", "3"), ("12", "2")]


def test_the_sensitivity_is_of_so_many_groups() -> None:
    """A unit is in 2 groups at most where the policy says so, and in one where only one is answered."""
    two = _block("SELECT t, b, count(*) FROM orders WHERE t = 'x' OR b GROUP BY t, b")
    one = _block("SELECT code, zone, count(*) FROM orders JOIN places ON t = code WHERE zone = 'north'"
                 " GROUP BY code, zone")  # fmt: skip
    assert (two.groups(), one.groups()) == (5, 1)
    assert one.combinations is None and [key.values for key in one.keys] == [("x",), ("north",)]


@pytest.mark.parametrize(
    "key, hint",
    [
        ("date_trunc('day', d), t",
         "Key number 1 has the most values, 7306: narrow it in WHERE (=, IN, BETWEEN),"
         " truncate to a unit longer than a day, or group by fewer columns."),
        ("t, b, i2, e, floor(f8), floor(f4 * 100)",
         "Key number 5 has the most values, 201: narrow it in WHERE"),
    ],
)  # fmt: skip
def test_too_many_are_refused_with_what_to_do(key: str, hint: str) -> None:
    with pytest.raises(Refusal, match="combinations, more than 10000") as refused:
        _block(f"SELECT count(*) FROM people GROUP BY {key}")
    assert refused.value.hint.startswith(hint)
    narrow = " WHERE d < '2000-03-01' AND f8 = 1"
    assert (_block(f"SELECT count(*) FROM people{narrow} GROUP BY {key}").groups() or 0) < 10_000
