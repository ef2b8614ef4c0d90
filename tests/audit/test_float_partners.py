"""A number that a subquery computes meets a float in numeric, wherever they meet: brought to float it could
raise, which would tell of the one row that it was computed from."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.planner import joins
from proxy.planner.facts import Facts
from proxy.query.ir.expressions import ColumnRef
from tests.audit.two_states import TwoStates, two_states
from tests.audit.without_kernel import without_kernel
from tests.servers_fixture import servers
from tests.unchecked_blocks import compile_block

_SCRIPT = """
CREATE SCHEMA s;
CREATE TABLE s.p (id int PRIMARY KEY, uid int, d float8, f real, n numeric);
CREATE TABLE s.one (uid int PRIMARY KEY, age int, zip text);
CREATE TABLE s.r (a int);
CREATE TABLE s.pub (w float8 PRIMARY KEY, zip text UNIQUE NOT NULL);
INSERT INTO s.p SELECT g, g / 4, g % 40, g % 40, g % 40 FROM generate_series(1, 400) g WHERE g / 4 <> 42;
INSERT INTO s.one SELECT g, g % 40, 'z' || g % 50 FROM generate_series(1, 100) g WHERE g <> 42;
INSERT INTO s.r SELECT g FROM generate_series(1, 100) g WHERE g <> 42;
INSERT INTO s.pub SELECT g, 'z' || g FROM generate_series(0, 99) g;
"""
_PERSON = """
INSERT INTO s.p SELECT 1000 + g, 42, 1e-10, 1, 1 FROM generate_series(1, 4) g;
INSERT INTO s.one VALUES (42, 42, 'z1');
INSERT INTO s.r VALUES (42);
"""
_TABLES = """\
  s.p:
    unit: {person: uid}
    max_rows_per_unit: 4
    columns: {d: {bounds: [0, 40]}, f: {bounds: [0, 40]}, n: {bounds: [0, 40]}}
  s.one: {unit: {person: uid}, max_rows_per_unit: 1, columns: {age: {bounds: [0, 40]}, zip: {}}}
  s.r: {unit: row, columns: {a: {bounds: [0, 100]}}}
  s.pub: public
"""
_TINY = "CASE WHEN uid = 42 THEN 1e-400 ELSE {} END"
_ROWS = "(SELECT uid, {} AS x FROM s.p) a"
_MAX = f"(SELECT uid, max({_TINY.format('n')}) AS x FROM s.p GROUP BY uid) a"
_COLUMNS = [
    _ROWS.format(_TINY.format("d")),
    _ROWS.format(_TINY.format("f")),
    _ROWS.format(_TINY.format("n") + "::float8"),
    _ROWS.format("CASE WHEN uid = 42 THEN d ELSE 0 END * 1e-200 * 1e-200"),
    _ROWS.format("coalesce(nullif(d, 1e-10), 1e-400)"),
    _MAX,
    f"(SELECT uid, {_TINY.format('d')} AS x FROM s.p UNION ALL SELECT uid, d FROM s.p) a",
    f"(SELECT uid, d AS x FROM s.p UNION ALL SELECT uid, {_TINY.format('d')} FROM s.p) a",
    f"(SELECT uid, x FROM (SELECT uid, {_TINY.format('d')} AS x FROM s.p) c) a",
]
_JOINS = [
    "{} JOIN s.p b ON a.uid = b.uid AND a.x = b.d",
    "{} JOIN s.p b ON a.uid = b.uid AND a.x = b.f",
    "{} JOIN s.p b ON b.d = a.x AND b.uid = a.uid",
    "{}, s.p b WHERE a.uid = b.uid AND a.x = b.d",
    "{} LEFT JOIN s.p b ON a.uid = b.uid AND a.x = b.d",
    "{} JOIN (SELECT uid, d AS x FROM s.p) b USING (uid, x)",
    "{} JOIN s.pub b ON a.x = b.w",
]
_QUESTIONS = [f"SELECT count(*) FROM {join.format(rows)}" for rows in _COLUMNS for join in _JOINS] + [
    f"SELECT count(*) FROM (SELECT zip, {_TINY.format('age')}::float8 AS x FROM s.one) a JOIN s.pub b"
    " ON a.zip = b.zip AND a.x = b.w",
    "SELECT count(*) FROM (SELECT CASE WHEN a = 42 THEN 1e-400 ELSE a END::float8 AS x FROM s.r) a JOIN s.pub b"
    " ON a.x = b.w",
]  # fmt: skip


@pytest.fixture(scope="module")
def floats() -> Iterator[TwoStates]:
    yield two_states(servers().protected, "float_partners", _SCRIPT, _TABLES, _PERSON)


def _raising(floats: TwoStates) -> tuple[list[str], int]:
    """Those that raise on one of the two, and how many were planned."""
    found, planned = [], 0
    for question in _QUESTIONS:
        try:
            floats.plan(question)
        except Refusal:
            continue
        planned += 1
        if floats.raises(question) != (False, False):
            found.append(question)
    return found, planned


@pytest.mark.long
def test_none_raises(floats: TwoStates) -> None:
    found, planned = _raising(floats)
    assert found == []
    assert planned > len(_QUESTIONS) / 2


def _as_claimed(column: ColumnRef, facts: Facts) -> ColumnRef:
    return column


def test_types_as_they_are_written_are_found_before_a_row_is_read(
    floats: TwoStates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second wall: a plan that claims another type than what is printed is not run."""
    monkeypatch.setattr(joins, "_typed", _as_claimed)
    with pytest.raises(NotPrivate) as refused:
        floats.plan(_QUESTIONS[0])
    assert refused.value.rule is Rule.EXPRESSION


@pytest.mark.long
def test_without_both_walls_they_raise(floats: TwoStates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joins, "_typed", _as_claimed)
    without_kernel(monkeypatch)
    found, _ = _raising(floats)
    assert len(found) > 10


_TYPES = {
    "integers": ("int", "7"),
    "bigints": ("bigint", "7"),
    "numerics": ("numeric(9,2)", "7"),
    "texts": ("text", "'x'"),
    "varchars": ("varchar(20)", "'x'"),
    "padded": ("char(8)", "'x'"),
    "collated": ('text COLLATE "C"', "'x'"),
    "collated_varchars": ('varchar(20) COLLATE "POSIX"', "'x'"),
    "collated_padded": ('char(8) COLLATE "POSIX"', "'x'"),
    "uuids": ("uuid", "'00000000-0000-0000-0000-000000000001'"),
    "labels": ("u.mood", "'low'"),
}
_STATEMENTS = [
    "SELECT count(*) FROM {a} a JOIN {b} b ON a.pid = b.pid",
    "SELECT count(*) FROM {a} a LEFT JOIN {b} b ON a.pid = b.pid AND b.x > 5 WHERE b.x IS NULL",
    "SELECT count(*) FROM {a} a WHERE a.pid IN (SELECT pid FROM {b} WHERE x > 1)",
    "SELECT count(*) FROM {a} a WHERE NOT EXISTS (SELECT 1 FROM {b} b WHERE b.pid = a.pid AND b.t = a.t)",
    "SELECT count(*) FROM {a} a WHERE (SELECT max(b.x) FROM {b} b WHERE b.pid = a.pid) > 5",
    "SELECT count(*) FROM {a} a JOIN (SELECT pid, max(x) AS m FROM {b} GROUP BY pid) b ON a.pid = b.pid"
    " WHERE b.m > 1",
    "SELECT count(*) FROM (SELECT a.pid, a.t, count(*) AS n FROM {a} a JOIN {b} b ON a.pid = b.pid"
    " GROUP BY a.pid, a.t) g WHERE n > 1",
    "SELECT count(*) FROM (SELECT pid, x, row_number() OVER (PARTITION BY pid ORDER BY x) AS r FROM {a}) w"
    " WHERE r = 1",
    "SELECT count(*) FROM (SELECT pid, x FROM {a} UNION ALL SELECT pid, x FROM {b}) u",
    "SELECT count(*) FROM (SELECT DISTINCT pid, t FROM {a}) g",
    "SELECT t, count(*), avg(x), min(x), count(DISTINCT pid) FROM {a} GROUP BY t",
    "SELECT count(*) FROM {a} a JOIN {b} b USING (pid) JOIN {a} c ON c.pid = b.pid",
    "SELECT count(*) FROM {a} a LEFT JOIN {b} b ON a.pid = b.pid"
    " WHERE EXISTS (SELECT 1 FROM {a} c WHERE c.pid = b.pid)",
    "SELECT count(*) FROM {a} a LEFT JOIN {b} b ON a.pid = b.pid JOIN {a} c ON c.pid = b.pid",
]


def _script() -> tuple[str, str]:
    script, policy = "CREATE SCHEMA u; CREATE TYPE u.mood AS ENUM ('low', 'high');", ""
    for name, (kind, value) in _TYPES.items():
        for side in "ab":
            script += (
                f"CREATE TABLE u.{name}_{side} (id int PRIMARY KEY, pid {kind}, x int, t text);"
                f"INSERT INTO u.{name}_{side} VALUES"
                f" (1, {value}, 5, 'x'), (2, {value}, 6, 'y'), (3, NULL, 1, 'z');"
            )
            policy += (
                f"  u.{name}_{side}: {{unit: {{{name}: pid}}, max_rows_per_unit: 10, columns:"
                " {id: {}, x: {bounds: [0, 100]}, t: {values: [x, y]}}}\n"
            )
    return script, policy


@pytest.fixture(scope="module")
def states() -> Iterator[TwoStates]:
    script, policy = _script()
    yield two_states(
        servers().protected, "types_of_units", script, policy, "DELETE FROM u.texts_a;"
    )


@pytest.mark.every(9)
@pytest.mark.parametrize("name", _TYPES)
@pytest.mark.parametrize("statement", _STATEMENTS)
def test_what_is_planned_runs(states: TwoStates, statement: str, name: str) -> None:
    text = statement.format(a=f"u.{name}_a", b=f"u.{name}_b")
    try:
        plan = states.plan(text)
    except Refusal as refused:
        assert refused.hint
        return
    with psycopg.connect(states.here, autocommit=True) as connection:
        for block in plan.blocks:
            for query in compile_block(block):
                values = {**query.parameters, **dict.fromkeys(query.seeds, 7)}
                connection.execute(query.sql.encode(), values).fetchall()
