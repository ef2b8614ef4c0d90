"""Joins by truncation on small tables, from which a row, a unit or three rows go: from one or from both.

In tests.audit.synthetic a row is gone from all tables together. Here each table has neighbours of its own, keys
have few rows more than are kept, and the joined rows can be told apart by the values of an order statistic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice, product

import psycopg

from proxy.base.errors import Fault, Refusal
from proxy.catalog.catalog_model import TableName
from proxy.kernel.world import World
from proxy.planner.facts import PlanningContext, ProtectedRows, RelationWithUnit
from proxy.planner.tracking import track
from tests.audit.changed_by_table import changed_by_table
from tests.audit.cost import spent
from tests.audit.exact_results import Auditor
from tests.audit.movement import all_moved
from tests.audit.reach import Reach, by_policy
from tests.pipeline_world import CATALOG, KNOWN_PUBLIC, POLICIES, SCHEMA, read, walk
from tests.postgres_labels import POSTGRES_LABELS
from tests.stored_types import columns_sql

_TABLES = ("people", "events", "trips", "visits", "notes", "members")
_KEPT_APART = "percentile_cont(0.5) WITHIN GROUP (ORDER BY a.i4 + 101 * b.i4)"
_JOINS = (
    "people a JOIN trips b ON a.t = b.t",
    "people a JOIN events b ON a.i4 = b.i4",
    "people a JOIN notes b ON a.i2 = b.i2",
    "notes a JOIN events b ON a.i2 = b.i2",
    "people a JOIN visits b ON a.t = b.t",
    "visits a JOIN notes b ON a.t = b.t",
    "visits a JOIN notes b ON a.i2 = b.i2",
    "visits a JOIN members b ON a.t = b.t",
    "visits a JOIN events b ON a.i4 = b.i4",
    "trips a JOIN members b ON a.i4 = b.uid",
    "people a JOIN visits b ON a.e = b.e",
    "people a JOIN visits b ON a.t = b.e",
    "visits a JOIN trips b ON a.e = b.e",
    "people a JOIN places p ON a.t = p.code JOIN trips b ON a.t = b.t",
    "(SELECT t, i4 FROM people WHERE i4 > 2) a"
    " JOIN (SELECT t AS k, i4 FROM visits WHERE i4 < 9) b ON a.t = b.k",
)
_PUBLIC = (
    "(SELECT i4, CASE WHEN t = 'x' THEN 'south' ELSE 'north' END AS z FROM {}) a"
    " JOIN places b ON a.z = b.zone"
)
QUESTIONS = (
    *(
        f"SELECT count(*), sum(a.i4), avg(a.i4) FROM {_PUBLIC.format(t)}"
        for t in ("trips", "visits")
    ),
    *(f"SELECT count(*), sum(a.i4), avg(b.i4), {_KEPT_APART} FROM {join}" for join in _JOINS),
    *(
        f"SELECT a.t, count(*), sum(b.i4), avg(a.i4) FROM {join} GROUP BY a.t"
        for join in _JOINS[:3]
    ),
)
# Of several tables, and with rows that have no partner: (join, what tells its rows apart).
_OF_THREE = "a.i4 + 101 * coalesce(b.i4, 0) + 10201 * coalesce(c.i4, 0)"
_OF_TWO = "a.i4 + 101 * coalesce(b.i4, 0)"
WIDER = (
    ("people a LEFT JOIN trips b ON a.t = b.t", _OF_TWO),
    ("people a LEFT JOIN events b ON a.i4 = b.i4", _OF_TWO),
    ("visits a LEFT JOIN members b ON a.i2 = b.uid", _OF_TWO),
    ("trips a LEFT JOIN visits b ON a.t = b.t AND b.i4 > 3", _OF_TWO),
    ("notes a RIGHT JOIN visits b ON a.i2 = b.i2", "b.i4 + 101 * coalesce(a.i4, 0)"),
    ("people a JOIN trips b ON a.t = b.t JOIN visits c ON c.t = b.t", _OF_THREE),
    ("people a JOIN visits b ON a.t = b.t JOIN notes c ON b.i2 = c.i2", _OF_THREE),
    ("people a JOIN trips b ON a.t = b.t LEFT JOIN notes c ON c.i2 = a.i2", _OF_THREE),
    ("visits a LEFT JOIN people b ON a.i2 = b.i2 JOIN trips c ON b.t = c.t", _OF_THREE),
    ("visits a LEFT JOIN people b ON a.i2 = b.i2 LEFT JOIN trips c ON b.t = c.t", _OF_THREE),
    ("people a JOIN trips b ON a.t = b.t JOIN members c ON a.i2 = c.uid", _OF_THREE),
    ("people a LEFT JOIN (trips b JOIN notes c ON c.t = b.t) ON a.t = b.t", _OF_THREE),
    ("people a LEFT JOIN trips b ON a.t = b.t LEFT JOIN events c ON c.i4 = b.i4", _OF_THREE),
    ("visits a LEFT JOIN members b ON a.i2 = b.uid JOIN people c ON b.t = c.t", _OF_THREE),
)
# A side is not cut by the key of a public table in it, which any number of its rows may meet.
REFUSED = tuple(
    f"SELECT count(*), sum(a.i4), {_KEPT_APART} FROM {join}"
    for join in (
        "people a JOIN places p ON a.t = p.code JOIN trips b ON p.code = b.t",
        "trips b JOIN (people a JOIN places p ON a.t = p.code) ON b.t = p.code",
        "events a JOIN places p ON a.t = p.code JOIN visits b ON p.code = b.t",
    )
)
_MOST_PAIRS = 12
_WORLD = World(POLICIES["joins"], CATALOG)
_HELD = ("id", "leg", "uid", "t", "e", "i2", "i4", "i8")


@dataclass(frozen=True)
class PlantedRow:
    id: int
    unit: int | None
    t: str | None
    e: str | None
    i2: int
    i4: int
    i8: int | None = None


_LABELS = {"x": "x", "y": "low", "z": "high"}


def _rows() -> Iterator[PlantedRow]:
    """One key with many more rows than are kept, one with as many, and many with one. Most are one unit's."""
    keys = [*["x"] * 12, "y", "y", "z", None, *(f"k{n}" for n in range(12))]
    for number, key in enumerate(keys, start=1):
        unit = {0: 2, 5: 3, 7: None}.get(number % 8, 1)
        label = key and _LABELS.get(key, ("a ", "unlisted")[number % 2])
        yield PlantedRow(number, unit, key, label, number % 5, number)


_ROWS = tuple(_rows())


@dataclass(frozen=True)
class States:
    """Schemas of one table each: as it is, another order, without the rows of nobody, and its neighbours."""

    base: str
    reordered: str
    background: str
    neighbours: tuple[str, ...]


@cache
def synthetic(auditor: Auditor) -> Mapping[str, States]:
    """And public tables, in the schema cut_places."""
    codes = ["x", "y", *(f"place {n}" for n in range(6))]
    places = zip(codes, ["south", "north"] * 4, strict=True)
    zones = ", ".join(f"('{code}', '{zone}')" for code, zone in places)
    auditor.connection.execute(
        "CREATE SCHEMA cut_places; CREATE TABLE cut_places.places (code text, zone text);"
        f"INSERT INTO cut_places.places VALUES {zones};"
        "CREATE TABLE cut_places.moods AS TABLE tame.moods;"
        "CREATE TABLE cut_places.rates AS TABLE tame.rates".encode()
    )
    return {table: _states(auditor.connection, table) for table in _TABLES}


def _states(connection: psycopg.Connection[tuple[object, ...]], table: str) -> States:
    made: list[str] = []

    def add(rows: Sequence[PlantedRow]) -> str:
        made.append(f"cut_{table}_{len(made)}")
        create_state(connection, made[-1], table, rows)
        return made[-1]

    rows = [row for row in _ROWS if table != "members" or row.id in (1, 5, 7, 8, 15)]
    return States(
        add(rows),
        add(rows[::-1]),
        add([row for row in rows if row.unit is not None]),
        tuple(map(add, neighbours_of(table, rows))),
    )


def neighbours_of(table: str, rows: list[PlantedRow], step: int = 2) -> Iterator[list[PlantedRow]]:
    """step: of rows that are units by themselves each so many-th goes"""
    if table in ("visits", "notes", "members"):
        for unit in dict.fromkeys(row.unit for row in rows if row.unit is not None):
            yield [row for row in rows if row.unit != unit]
        return
    gone = 3 if table == "trips" else 1
    for start in range(0, len(rows), step):
        left = [row for place, row in enumerate(rows) if (place - start) % len(rows) >= gone]
        yield left


def create_state(
    connection: psycopg.Connection[tuple[object, ...]],
    schema: str,
    table: str,
    rows: Sequence[PlantedRow],
) -> None:
    described = CATALOG.tables[TableName(SCHEMA, table)]
    columns = columns_sql(described)
    connection.execute(
        f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.{table} ({columns})".encode()
    )
    names = [c.name for c in described.columns if c.name in _HELD]
    for row in rows:
        uid = f"author {row.unit}" if table == "notes" and row.unit is not None else row.unit
        held = {"id": row.id, "leg": "a", "uid": uid, "t": row.t, "e": row.e}
        held |= {"i2": row.i2, "i4": row.i4, "i8": row.i8}
        listed, places = ", ".join(names), ", ".join(["%s"] * len(names))
        statement = f"INSERT INTO {schema}.{table} ({listed}) VALUES ({places})"
        connection.execute(statement.encode(), [held[name] for name in names])


def too_dear(questions: Sequence[str] = QUESTIONS, policy: str = "joins") -> Iterator[str]:
    """Questions whose mechanisms cost more than is charged, by what the policy promises of the join."""
    for question in questions:
        pipeline = walk(question, POLICIES[policy])
        assert pipeline is not None
        cost, wanted = spent(pipeline.plan), POLICIES[policy].privacy
        if cost.epsilon > wanted.epsilon or cost.delta > wanted.delta:
            yield f"costs {cost}: {question}"


def violations(
    auditor: Auditor, questions: Sequence[str] = QUESTIONS, policy: str = "joins", rows: int = 0
) -> Iterator[str]:
    """Everything in which a change of one table or of all moves a join by more than was promised.

    Given    rows: that many rows of the join are said to change; 0: what tests.audit.reach says
    """
    states = synthetic(auditor)
    for question in questions:
        pipeline = walk(question, POLICIES[policy])
        assert pipeline is not None
        block = pipeline.plan.blocks[0]
        tables = [name.split(".")[1] for name in block.tables() if name.split(".")[1] in states]
        base = {"places": "cut_places"} | {table: states[table].base for table in tables}
        reach = Reach(rows, rows, False, 3, together=rows) if rows else by_policy(block)
        try:
            here = auditor.exact(block, base)
            for table in tables:
                if auditor.exact(block, {**base, table: states[table].reordered}) != here:
                    yield f"another order of {table} gives another result: {question}"
                with_units = table in ("visits", "notes", "members")
                if (
                    with_units
                    and auditor.exact(block, {**base, table: states[table].background}) != here
                ):
                    yield f"rows of {table} without a unit change the result: {question}"
            for change in _changed(tables, states):
                there = auditor.exact(block, {**base, **change})
                for line in all_moved(block, reach, here, there, 1):
                    yield f"{', '.join(change.values())}: {line}: {question}"
        except Fault:
            yield f"raises: {question}"


def planned(questions: Sequence[str] = REFUSED) -> Iterator[str]:
    """Those that are not refused."""
    for question in questions:
        with suppress(Refusal):
            walk(question, POLICIES["joins"])
            yield question


def _changed(tables: list[str], states: Mapping[str, States]) -> Iterator[dict[str, str]]:
    one = ({table: schema} for table in tables for schema in states[table].neighbours)
    if len(tables) < 2:
        return one
    together = list(product(*(states[table].neighbours for table in tables)))
    step = max(1, len(together) // _MOST_PAIRS)
    all_of_them = (dict(zip(tables, each, strict=True)) for each in islice(together, 0, None, step))
    return chain(one, all_of_them)


def largest_change(auditor: Auditor, question: str) -> int:
    """How many joined rows change at most when one table does: of the values of the last release."""
    pipeline = walk(question, POLICIES["joins"])
    assert pipeline is not None
    block = replace(pipeline.plan.blocks[0], releases=pipeline.plan.blocks[0].releases[-1:])
    states, tables = synthetic(auditor), [name.split(".")[1] for name in block.tables()]
    base = {table: states[table].base for table in tables}
    here = auditor.exact(block, base).numbers[0][()]
    most = 0
    for table in tables:
        for schema in states[table].neighbours:
            there = auditor.exact(block, {**base, table: schema}).numbers[0][()]
            most = max(most, values_apart(here, there))
    return most


def rows_by_table(join: str) -> Mapping[str, int]:
    """So many joined rows change at most with each table."""
    return changed_by_table(_joined(join).relation, _WORLD)


def rows_of_all(join: str) -> int:
    """So many joined rows change at most with all tables together."""
    ownership = _joined(join).ownership
    assert isinstance(ownership, ProtectedRows)
    assert ownership.rows == sum(rows_by_table(join).values())
    return ownership.rows


def _joined(join: str) -> RelationWithUnit:
    found = read(f"SELECT count(*) FROM {join}")
    assert found is not None
    known = PlanningContext(POLICIES["joins"], CATALOG, KNOWN_PUBLIC, evaluating=POSTGRES_LABELS)
    return track(found[1].query.blocks[0].source, known)


def change_by_table(auditor: Auditor, join: str, told_apart: str) -> Mapping[str, int]:
    """How many joined rows do change at most, of all neighbours in one table."""
    last = f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {told_apart})"
    pipeline = walk(f"SELECT {last} FROM {join}", POLICIES["joins best"])
    assert pipeline is not None
    block, states = pipeline.plan.blocks[0], synthetic(auditor)
    tables = [name.split(".")[1] for name in block.tables()]
    base = {table: states[table].base for table in tables}
    here = auditor.exact(block, base).numbers[0][()]
    assert here, "no row is joined"
    return {
        table: max(
            values_apart(here, auditor.exact(block, {**base, table: schema}).numbers[0][()])
            for schema in states[table].neighbours
        )
        for table in tables
    }


_SEEDS = range(1, 9)  # which rows are selected depends on the hash: some seed has the worst of them


def largest_of_seeds(auditor: Auditor, join: str, told_apart: str, table: str, enough: int) -> int:
    """How many joined rows do change at most, over seeds, until it is enough."""
    before, largest = auditor.seed, 0
    try:
        for seed in (before, *_SEEDS):
            auditor.seed = seed
            largest = max(largest, change_by_table(auditor, join, told_apart)[table])
            if largest >= enough:
                break
    finally:
        auditor.seed = before
    return largest


def values_apart(here: tuple[int, ...], there: tuple[int, ...]) -> int:
    mine, theirs = (dict(zip(n[::2], n[1::2], strict=True)) for n in (here, there))
    return sum(abs(mine.get(v, 0) - theirs.get(v, 0)) for v in {*mine, *theirs})
