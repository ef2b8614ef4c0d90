"""Privacy units that are long texts: SQL names a unit whole, wherever it names one.

All units begin with the same 1,200 characters, more than KEY_CHARACTERS. Some are the beginnings of others. A
statement that cuts a unit takes several of them for one: then one person changes the rows of all. Two checks
see that. No neighbour moves a result further than planned. A database in which each unit has a short name
instead gives the same exact results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from proxy.base import limits
from proxy.compiler import relation_sql
from proxy.compiler.binds import Binds
from proxy.query.ir.relations import Subquery, WindowColumn
from tests.audit.two_states import TwoStates, two_states
from tests.servers_fixture import servers

_BEGINNING = limits.KEY_CHARACTERS + 176
_UNITS = 120
# Unit 0 is the beginning of all others. Unit 1 is long enough to be stored outside of its row.
_SCRIPT = f"""
CREATE SCHEMA s;
CREATE TABLE s.named (n int PRIMARY KEY, uid text NOT NULL UNIQUE, rest text NOT NULL);
INSERT INTO s.named SELECT g, repeat('x', {_BEGINNING}) || CASE g WHEN 0 THEN '' ELSE g::text END,
    CASE g WHEN 1 THEN (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 80) i) ELSE '' END
    FROM generate_series(0, {_UNITS}) g;
CREATE TABLE s.notes (
    id int PRIMARY KEY, uid text NOT NULL, x int NOT NULL, k text NOT NULL, b boolean NOT NULL);
INSERT INTO s.notes SELECT 10 * n + i, uid || rest, (7 * n + i) % 50, (ARRAY['p', 'q', 'r'])[(n + i) % 3 + 1],
    n = 7 FROM s.named, generate_series(1, 2) i WHERE n <> 3 OR i = 1;
INSERT INTO s.notes SELECT 10 * n + i, uid || rest, CASE n WHEN 7 THEN 46 ELSE 40 END + i, 'r', n = 7
    FROM s.named, generate_series(3, 4) i WHERE n IN (7, 8);
CREATE TABLE s.members (uid text UNIQUE NOT NULL, age int NOT NULL, kind text NOT NULL);
INSERT INTO s.members SELECT uid, n % 80, (ARRAY['p', 'q'])[n % 2 + 1] FROM s.named WHERE n <> 5;
CREATE TABLE s.lines (id int PRIMARY KEY, note int NOT NULL REFERENCES s.notes, amount int NOT NULL);
INSERT INTO s.lines SELECT id, id, x % 10 FROM s.notes;
"""
_PERSON = "DELETE FROM s.lines WHERE note / 10 = 7; DELETE FROM s.notes WHERE id / 10 = 7;"
_PERSON += " DELETE FROM s.members WHERE uid = (SELECT uid FROM s.named WHERE n = 7);"
_RENAMED = "UPDATE s.notes SET uid = md5(uid); UPDATE s.members SET uid = md5(uid);"
_TABLES = """\
  s.notes:
    unit: {author: uid}
    max_rows_per_unit: 4
    columns: {id: {}, x: {bounds: [0, 50]}, k: {values: [p, q, r]}, b: {values: ["true", "false"]}}
  s.members:
    unit: {author: uid}
    max_rows_per_unit: 1
    columns: {age: {bounds: [0, 100]}, kind: {values: [p, q]}}
  s.lines:
    unit: {author: note -> s.notes.uid}
    max_rows_per_unit: 4
    columns: {note: {}, amount: {bounds: [0, 10]}}
"""
# By the place where SQL names the unit.
_QUESTIONS = {
    "a window, an aggregate": (
        "SELECT count(*) FROM (SELECT max(CASE WHEN b THEN 1 ELSE 0 END) OVER (PARTITION BY uid) AS s"
        " FROM s.notes) q WHERE s > 0"
    ),
    "a window, the first row": (
        "SELECT count(*), sum(x) FROM (SELECT x, row_number() OVER (PARTITION BY uid ORDER BY b DESC, x) AS r"
        " FROM s.notes) q WHERE r = 1"
    ),
    "a window, further keys": (
        "SELECT sum(s) FROM (SELECT count(*) OVER (PARTITION BY uid, k ORDER BY b DESC, x) AS s FROM s.notes) q"
    ),
    "a window of a union": (
        "SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY uid) AS s FROM (SELECT uid, k FROM s.notes"
        " UNION ALL SELECT uid, kind FROM s.members) u) q WHERE s > 4"
    ),
    "a window of a group": (
        "SELECT count(*) FROM (SELECT sum(n) OVER (PARTITION BY uid) AS s FROM (SELECT uid, k, count(*) AS n"
        " FROM s.notes GROUP BY uid, k) g) q WHERE s > 2"
    ),
    "GROUP BY": (
        "SELECT count(*) FROM (SELECT uid, count(*) AS n, bool_or(b) AS some FROM s.notes GROUP BY uid) q"
        " WHERE n > 2 OR some"
    ),
    "GROUP BY with a key": (
        "SELECT k, count(*), sum(n) FROM (SELECT uid, k, count(*) AS n FROM s.notes GROUP BY uid, k) q"
        " GROUP BY k"
    ),
    "truncation below a join": "SELECT count(*) FROM s.notes a JOIN s.notes b ON a.uid = b.uid WHERE b.b",
    "a join": "SELECT k, count(*), sum(age) FROM s.notes n JOIN s.members m ON m.uid = n.uid GROUP BY k",
    "an outer join": "SELECT count(*), count(m.age) FROM s.notes n LEFT JOIN s.members m ON m.uid = n.uid",
    "a join of groups": (
        "SELECT sum(age) FROM s.members m JOIN (SELECT uid, max(x) AS most FROM s.notes GROUP BY uid) q"
        " ON q.uid = m.uid WHERE most > 40"
    ),
    "EXISTS": (
        "SELECT count(*) FROM s.members m WHERE EXISTS (SELECT 1 FROM s.notes n WHERE n.uid = m.uid AND n.b)"
    ),
    "IN": "SELECT count(*) FROM s.members WHERE uid IN (SELECT uid FROM s.notes WHERE b)",
    "a scalar subquery": (
        "SELECT sum((SELECT max(x) FROM s.notes n WHERE n.uid = m.uid AND n.b)) FROM s.members m"
    ),
    "along a reference": "SELECT k, sum(amount) FROM s.lines l JOIN s.notes n ON n.id = l.note GROUP BY k",
    "gathering": "SELECT k, count(*), sum(x), count(*) FILTER (WHERE b) FROM s.notes GROUP BY k",
    "gathering by values": "SELECT min(x), max(x), percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM s.notes",
    "distinct values": "SELECT k, count(DISTINCT x) FROM s.notes GROUP BY k",
    "count(DISTINCT unit)": "SELECT k, count(DISTINCT uid) FROM s.notes GROUP BY k",
    "count(DISTINCT unit) of a condition": "SELECT count(DISTINCT uid) FILTER (WHERE b) FROM s.notes",
    "private groups": "SELECT x, count(*) FROM s.notes GROUP BY x",
}


@pytest.fixture(scope="module")
def people() -> Iterator[TwoStates]:
    """One person is gone."""
    tables = _TABLES.replace(
        "max_rows_per_unit: 4", "max_rows_per_unit: 4\n    max_groups_per_unit: 2", 1
    )
    yield two_states(servers().protected, "long_units", _SCRIPT, tables, _PERSON)


@pytest.fixture(scope="module")
def medians() -> Iterator[TwoStates]:
    """One person is gone, and AVG is the median of partitions."""
    name = "long_units_median"
    yield two_states(servers().protected, name, _SCRIPT, _TABLES, _PERSON, "smooth_median")


@pytest.fixture(scope="module")
def names() -> Iterator[TwoStates]:
    """Each unit has a short name instead. No bound cuts, so that no choice depends on the names."""
    yield two_states(servers().protected, "long_units_named", _SCRIPT, _TABLES, _RENAMED)


@pytest.fixture(scope="module")
def choosing() -> Iterator[TwoStates]:
    """As `names`, with bounds on the rows of a unit that are chosen."""
    tables = _TABLES.replace("max_rows_per_unit: 4", "max_rows_per_unit: auto")
    yield two_states(servers().protected, "long_units_choosing", _SCRIPT, tables, _RENAMED)


@pytest.mark.every(2)
@pytest.mark.parametrize("place", _QUESTIONS)
def test_no_neighbour_moves_further_than_planned(people: TwoStates, place: str) -> None:
    found = people.movements(_QUESTIONS[place])
    assert any(movement.observed > 0 for movement in found), "the person is in the result"
    assert people.too_far(_QUESTIONS[place]) == []


def test_partitions_of_medians(medians: TwoStates) -> None:
    found = medians.movements("SELECT avg(x) FROM s.notes")
    assert {movement.measure.name for movement in found} >= {"OUTPUTS", "GATE"}
    assert medians.too_far("SELECT avg(x) FROM s.notes") == []
    assert medians.too_far("SELECT k, avg(x) FROM s.notes GROUP BY k") == []


@pytest.mark.every(2)
@pytest.mark.parametrize("place", _QUESTIONS)
def test_the_length_of_names_changes_no_result(names: TwoStates, place: str) -> None:
    assert names.differs(_QUESTIONS[place]) is False


@pytest.mark.parametrize(
    "question",
    [
        "SELECT k, count(*), sum(x) FROM s.notes GROUP BY k",
        "SELECT avg(x), count(*) FROM s.notes WHERE NOT b",
        "SELECT sum(n.x) FROM s.notes n JOIN s.members m ON m.uid = n.uid",
    ],
)
def test_bounds_are_chosen_by_whole_units(choosing: TwoStates, question: str) -> None:
    (block,) = choosing.plan(question).blocks
    assert block.chooses
    assert choosing.differs(question) is False


def test_a_cut_unit_in_a_window_is_found(
    people: TwoStates, names: TwoStates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was printed before: both checks see it."""
    real, question = relation_sql._window, _QUESTIONS["a window, an aggregate"]

    def cut(column: WindowColumn, subquery: Subquery, binds: Binds) -> str:
        printed = real(column, subquery, binds)
        return re.sub(r'(PARTITION BY )(\w+\."uid")', r"\1(\2)::varchar(1024)::text", printed)

    monkeypatch.setattr(relation_sql, "_window", cut)
    assert people.too_far(question) != []
    assert names.differs(question)
