"""Costs that grow with what rows hold rather than with how many there are: colliding keys, public tables that
the first row has read.

Two neighbouring databases, with person 7 and without; processor time of the backend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.compiler import relation_sql, unit_gathering, unit_scan, value_scan
from proxy.compiler.binds import Binds
from proxy.compiler.seeded_keys import spread_sql
from tests.audit.two_states import TwoStates, two_states
from tests.kernel.backend_time import backend_seconds
from tests.machine_speed import allowed_work
from tests.servers_fixture import servers
from tests.unchecked_blocks import compile_block

pytestmark = pytest.mark.timed

_ROWS = 12_000
# The halves of these numbers are put together to one hash; a time is such a number of microseconds.
_COLLIDING = "((g::bigint << 32) | (g::bigint # 12345))"
_SCRIPT = f"""
CREATE SCHEMA h;
CREATE TABLE h.visits (id int PRIMARY KEY, pid int NOT NULL, x int, big bigint, at timestamptz);
INSERT INTO h.visits SELECT g, 100 + g / 3, g % 50, g, timestamptz '2020-01-01' + g * interval '1 hour'
    FROM generate_series(1, 300) g;
INSERT INTO h.visits SELECT 10000 + g, 7, g % 50, {_COLLIDING},
    timestamptz '2000-01-01' + {_COLLIDING} / 1000000 * interval '1 second'
        + {_COLLIDING} % 1000000 * interval '1 microsecond'
    FROM generate_series(1, {_ROWS}) g;
CREATE TABLE h.few (id int PRIMARY KEY, pid int NOT NULL, c varchar(8), ref numeric(8, 0), n numeric(8, 2));
INSERT INTO h.few SELECT g, g, 'b', g, g FROM generate_series(1, 300) g;
CREATE TABLE h.items (k int PRIMARY KEY, name text NOT NULL, v int NOT NULL);
INSERT INTO h.items SELECT g, 'n' || g, g % 1000 FROM generate_series(1, 100000) g;
CREATE TABLE h.shelves (k int PRIMARY KEY, v int NOT NULL);
INSERT INTO h.shelves SELECT g, g FROM generate_series(1, 1000) g;
"""
_POLICY = """\
  h.visits:
    {unit: {person: pid}, max_rows_per_unit: 100, columns: {id: {}, x: {bounds: [0, 90]}, big: {}, at: {}}}
  h.few: {unit: {person: pid}, max_rows_per_unit: 5, columns: {id: {}, c: {}, ref: {}, n: {bounds: [0, 100]}}}
  h.items: {unit: public}
  h.shelves: {unit: public}
"""
_GONE = "DELETE FROM h.visits WHERE pid = 7; DELETE FROM h.few WHERE pid = 7"
_LIMIT = limits.UNIT_NANOSECONDS / 1e9


@pytest.fixture(scope="module")
def states() -> Iterator[TwoStates]:
    yield two_states(servers().protected, "unseeded_costs", _SCRIPT, _POLICY, _GONE)


def _of_person(states: TwoStates, question: str) -> float:
    """Processor time on the database with the person, less that on the one without."""
    queries = [query for block in states.plan(question).blocks for query in compile_block(block)]
    here, there = (backend_seconds(dsn, queries) for dsn in (states.here, states.there))
    return here - there


_GROUPED = "SELECT count(*) FROM (SELECT pid, {0}, count(*) AS n FROM h.visits GROUP BY pid, {0}) g WHERE n > 0"
_FLOODS = {
    "keys of a subquery": _GROUPED.format("big"),
    "times as keys": _GROUPED.format("at"),
    "several keys": _GROUPED.format("x, big"),
    "distinct values": "SELECT count(DISTINCT big) FROM h.visits",
    "private keys": "SELECT big, count(*) FROM h.visits GROUP BY big",
}


@pytest.mark.every(2)
@pytest.mark.parametrize("flood", _FLOODS)
def test_keys_that_collide_are_spread(states: TwoStates, flood: str) -> None:
    assert _of_person(states, _FLOODS[flood]) < allowed_work(_LIMIT)


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.parametrize("flood", ["keys of a subquery", "times as keys", "distinct values"])
def test_without_the_seeded_hash_they_take_too_long(
    states: TwoStates, flood: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (relation_sql, value_scan):
        monkeypatch.setattr(module, "spread_sql", lambda *_: [])
    for module in (unit_gathering, unit_scan):
        monkeypatch.setattr(module, "spread_texts_sql", lambda *_: [])
    assert _of_person(states, _FLOODS[flood]) > _LIMIT


def test_equal_keys_stay_one_group() -> None:
    """Of each type, values that are equal and print differently, or are NULL."""
    forms = {
        "numeric": ("1", "1.00"),
        "double precision": ("0", "-0"),
        "character(9)": ("a", "a  "),
        "interval": ("1 day", "24 hours"),
        "interval ": ("12 mons", "360 days"),
        "interval  ": ("infinity", "infinity"),
        "text": (None, None),
    }
    kinds = {
        "numeric": "NUMERIC",
        "double": "FLOAT8",
        "character(9)": "BPCHAR",
        "interval": "DURATION",
        "text": "TEXT",
    }
    with psycopg.connect(servers().protected.dsn(), autocommit=True) as connection:
        for kind, values in forms.items():
            binds = Binds()
            of = SqlType[kinds[kind.split(" ")[0]]]
            [hashed] = spread_sql([("v", of), ("1", SqlType.INT4)], binds)
            statement = (
                f"SELECT count(*) FROM (SELECT v FROM (VALUES (%(a)s::{kind}), (%(b)s::{kind})) t(v)"
                f" GROUP BY v, {hashed}) g"
            )
            given = {"a": values[0], "b": values[1], **dict.fromkeys(binds.values, 5)}
            assert connection.execute(statement.encode(), given).fetchone() == (1,), kind


_LOGARITHMS = "ln({0}v + 1.5) + ln({0}v + 2.5) > 0"
_JOINED = "SELECT count(*) FROM h.few p JOIN h.{1} q ON p.ref = q.k WHERE p.pid = 7 AND {0}"
_OF_PUBLIC_ROWS: dict[str, Callable[[str], str]] = {
    "of a subquery": lambda table: (
        f"SELECT count(*) FROM h.few p JOIN (SELECT k FROM h.{table} WHERE {_LOGARITHMS.format('')}) q"
        " ON p.ref = q.k WHERE p.pid = 7"
    ),
    "above the join": lambda table: _JOINED.format(_LOGARITHMS.format("q."), table),
    "through a subquery": lambda table: (
        f"SELECT count(*) FROM (SELECT p.pid, q.v FROM h.few p JOIN h.{table} q ON p.ref = q.k"
        f" WHERE p.pid = 7) s WHERE {_LOGARITHMS.format('')}"
    ),
    "of an arm": lambda table: _JOINED.format(
        "(p.n = 1 AND ln(q.v + 1.5) > 0 OR p.n = 7 AND ln(q.v + 2.5) + ln(q.v + 3.5) > 0)", table
    ),
    "of a key": lambda table: (
        f"SELECT count(*) FROM h.few p JOIN (SELECT k, ln(v + 1.5) + ln(v + 2.5) AS r FROM h.{table}) q"
        " ON p.ref = q.k AND p.n = q.r WHERE p.pid = 7"
    ),
}


@pytest.mark.long
@pytest.mark.every(6)
@pytest.mark.parametrize("place", _OF_PUBLIC_ROWS)
def test_public_rows_are_computed_whoever_meets_them(states: TwoStates, place: str) -> None:
    """They take as long without the person, so that nobody is told by it."""
    assert _of_person(states, _OF_PUBLIC_ROWS[place]("items")) <= allowed_work(_LIMIT)


@pytest.mark.long
def test_blocks_that_read_public_rows_tell_nobody(states: TwoStates) -> None:
    several = [f"({_JOINED.format(f'ln(q.v + {n}.5) > 0', 'items')})" for n in range(3)]
    assert _of_person(states, f"SELECT {' + '.join(several)}") <= allowed_work(_LIMIT)


@pytest.mark.parametrize(
    "condition", ["TRUE", "q.v > 3", "q.v > 3 AND q.v < 700", "q.name = 'n7'", "q.k IN (7, 8)"]
)
def test_plain_joins_of_public_tables_stay(states: TwoStates, condition: str) -> None:
    assert states.plan(_JOINED.format(condition, "items"))
