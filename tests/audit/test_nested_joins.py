"""Nested joins by truncation: each table moves them by no more than is planned of it, all of them together by
no more than of all; and where nothing is cut, the exact results are PostgreSQL's own."""

from __future__ import annotations

import random  # noqa: TID251  synthetic data must be the same twice
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from proxy.base.errors import Code, Refusal
from proxy.kernel.world import World
from proxy.planner.facts import PlanningContext, ProtectedRows
from proxy.planner.tracking import track
from proxy.query.ir.relations import Join, Relation, Scan, Subquery, Truncate, scans
from tests.audit import own_answers
from tests.audit.changed_by_table import changed_by_table
from tests.audit.exact_results import Auditor, unlimited
from tests.audit.expressions import Column, Scope, conditions, one_in
from tests.audit.movement import all_moved
from tests.audit.questions import Question
from tests.audit.reach import Reach
from tests.audit.selected_groups import show
from tests.audit.test_generated_questions import SLOW
from tests.audit.truncated import PlantedRow, create_state, neighbours_of, values_apart
from tests.pipeline_world import CATALOG, JOIN_KEYS, KNOWN_PUBLIC, POLICIES, Pipeline, read, walk
from tests.postgres_labels import POSTGRES_LABELS

TABLES = ("people", "events", "trips", "visits", "notes", "members")
_KEYS: Mapping[str, tuple[str, ...]] = {name: tuple(JOIN_KEYS[name]) for name in TABLES} | {
    "members": ("t", "uid")
}
_TEXTS = ("t", "e")  # others are whole numbers of all sizes, uid among them
_HELD = (Column("t", "text"), Column("e", "enum"), Column("i2", "int"), Column("i4", "int"))
_SHOWN = ("t", "e", "i2", "i4", "i8")
_NARROWED = ("i8 > 50", "i8 < 60", "t IS NOT NULL", "i2 > 1", "i4 <> 2", "e = 'low' OR t = 'x'")
_WORDS = ("JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN")
_GROUPED = ("{}.t", "{}.e", "({}.i4 > 3)", "CASE WHEN {}.i2 > 1 THEN 'more' ELSE 'one' END")
_MEASURES = (
    *(
        "count(*)",
        "sum({}.i4)",
        "count({}.i2)",
        "count(DISTINCT {}.i4)",
        "max({}.i4)",
        "avg({}.i4)",
    ),
    *(
        f"percentile_{word} WITHIN GROUP (ORDER BY {{}}.{name})"
        for word in ("cont(0.5)", "disc(0.75)")
        for name in ("i4", "i8")
    ),
)


@dataclass(frozen=True)
class NestedQuestion:
    """aliases: of the tables; keys, measures: as in tests.audit.questions. The last measure is over numbers
    that tell joined rows apart."""

    join: str
    aliases: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    measures: tuple[str, ...]
    where: str

    @property
    def sql(self) -> str:
        group = f" GROUP BY {', '.join(self.keys)}" if self.keys else ""
        return f"SELECT {', '.join((*self.keys, *self.measures))} FROM {self.tail}{group}"

    @property
    def tail(self) -> str:
        return f"{self.join}{self.where}"


@st.composite
def nested_questions(draw: DrawFn) -> NestedQuestion:
    tables = draw(st.permutations(TABLES))[: draw(st.sampled_from([2, 3, 3, 3, 4]))]
    aliased = tuple(zip("abcd", tables, strict=False))
    join = _tree(draw, aliased)
    names = [alias for alias, _ in aliased]
    told = " + ".join(f"{31**n} * coalesce({alias}.i8, 0)" for n, alias in enumerate(names))
    measures = [
        draw(st.sampled_from(_MEASURES)).format(draw(st.sampled_from(names)))
        for _ in range(draw(st.sampled_from([0, 0, 1, 2])))
    ]
    keys: list[str] = []
    for _ in range(draw(st.sampled_from([0, 1, 1, 2]))):
        keys.append(draw(st.sampled_from(_GROUPED)).format(draw(st.sampled_from(names))))
    where = ""
    if one_in(draw, 4):
        columns = [replace(c, text=f"{alias}.{c.text}") for alias in names for c in _HELD]
        where = f" WHERE {draw(conditions(0, Scope(tuple(columns))))}"
    return NestedQuestion(
        join,
        aliased,
        tuple(dict.fromkeys(keys)),
        (*measures, f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {told})"),
        where,
    )


def _tree(draw: DrawFn, leaves: Sequence[tuple[str, str]]) -> str:
    """Joined in this order, in any brackets."""
    if len(leaves) == 1:
        return _leaf(draw, *leaves[0])
    cut = len(leaves) - 1 if draw(st.booleans()) else draw(st.integers(1, len(leaves) - 1))
    left, right = leaves[:cut], leaves[cut:]
    texts = [_tree(draw, left), _tree(draw, right)]
    equal = [
        f"{a}.{x} = {b}.{y}"
        for a, here in left
        for b, there in right
        for x in _KEYS[here]
        for y in _KEYS[there]
        if (x in _TEXTS) == (y in _TEXTS)
    ]
    on = [draw(st.sampled_from(equal)) for _ in range(draw(st.sampled_from([1, 1, 1, 2])))]
    if one_in(draw, 5):
        a, b = draw(st.sampled_from(left))[0], draw(st.sampled_from(right))[0]
        on.append(draw(st.sampled_from([f"{a}.i8 > {b}.i8", f"{b}.i8 > 60", f"{a}.i8 > 60"])))
    bracketed = f"({texts[1]})" if len(right) > 1 else texts[1]
    return f"{texts[0]} {draw(st.sampled_from(_WORDS))} {bracketed} ON {' AND '.join(on)}"


def _leaf(draw: DrawFn, alias: str, table: str) -> str:
    if not one_in(draw, 4):
        return f"{table} {alias}"
    shown = ", ".join((*_SHOWN, *(("uid",) if table == "members" else ())))
    return f"(SELECT {shown} FROM {table} WHERE {draw(st.sampled_from(_NARROWED))}) {alias}"


def planted_rows(generator: random.Random, table: str) -> list[PlantedRow]:
    """Few rows, of which most have a partner and some more than are kept; i8 tells them apart."""
    found = []
    for number in range(
        1, generator.randint(2, 6) if table == "members" else generator.randint(4, 11)
    ):
        found.append(
            PlantedRow(
                number,
                number if table == "members" else generator.choice((1, 1, 1, 2, 2, 3, None)),
                generator.choice(("x", "x", "x", "y", "y", "z", None, "k")),
                generator.choice(("x", "x", "low", "low", "high", None, "a ")),
                generator.choice((1, 1, 2, 2, 3)),
                generator.choice((1, 1, 2, 3, 3, 4, 5, 6)),
                10 * number,
            )
        )
    return found


def single_rows(generator: random.Random, table: str) -> list[PlantedRow]:
    """Each key once in each table, so that nothing is cut."""
    texts = generator.sample(("x", "y", "z", None, "k"), 5)
    labels = generator.sample(("x", "low", "high", None, "a "), 5)
    small, large, units = (generator.sample(range(1, 7), 5) for _ in range(3))
    return [
        PlantedRow(n + 1, units[n], texts[n], labels[n], small[n], large[n], 10 * n + 10)
        for n in range(5)
    ]


def tables_of(relation: Relation) -> Iterator[tuple[str, str]]:
    """The alias of each side that is joined, and its table."""
    match relation:
        case Join():
            yield from tables_of(relation.left)
            yield from tables_of(relation.right)
        case Truncate():
            yield from tables_of(relation.source)
        case Scan():
            yield relation.alias, relation.table.name
        case Subquery():
            yield relation.alias, next(scans(relation.source)).table.name
        case _:
            raise AssertionError(relation)


_POLICY = "joins best"  # whose medians are of values, by which two databases can be compared
# Too many rows of a join for any answer, and joins of which nothing is known to bound them.
_ALLOWED = {Code.UNSUPPORTED, Code.INFEASIBLE, Code.TOO_COMPLEX}
_PUBLIC = ("moods", "rates")  # that conditions look things up in
_KINDS = ("groups", "no groups", "LEFT", "RIGHT", "brackets", "subquery", "two conditions", "where")


def _planned(question: NestedQuestion) -> tuple[Pipeline, Mapping[str, int]] | None:
    """With how many joined rows change with each table; None: refused."""
    try:
        pipeline = walk(question.sql, POLICIES[_POLICY])
    except Refusal as refusal:
        assert refusal.code in _ALLOWED, f"{refusal.message}: {question.sql}"
        return None
    found = read(f"SELECT count(*) FROM {question.tail}")
    assert pipeline is not None and found is not None
    known = PlanningContext(POLICIES[_POLICY], CATALOG, KNOWN_PUBLIC, evaluating=POSTGRES_LABELS)
    joined = track(found[1].query.blocks[0].source, known)
    if not isinstance(joined.ownership, ProtectedRows):  # all on the unit, or along a reference
        return None
    by_table = changed_by_table(joined.relation, World(POLICIES[_POLICY], CATALOG))
    assert joined.ownership.rows == sum(by_table.values())
    return pipeline, by_table


def _moved(
    question: NestedQuestion, auditor: Auditor, states: Mapping[str, list[str]]
) -> Iterator[str]:
    found = _planned(question)
    assert found is not None
    pipeline, planned = found
    block = pipeline.plan.blocks[0]
    block = replace(block, releases=tuple(map(unlimited, block.releases)))
    told = block.answers[-1].releases[0]
    base = {"places": "tame"} | {table: states[table][0] for table in planned}
    here = auditor.exact(block, base)
    last = {table: schemas[-1] for table, schemas in states.items() if table in planned}
    changes = [({table: s}, n) for table, n in planned.items() for s in states[table][1:]]
    for change, rows in [*changes, (last, sum(planned.values()))]:
        there = auditor.exact(block, {**base, **change})
        for line in all_moved(block, Reach(rows, rows, False, 3, together=rows), here, there, 1):
            yield f"{change}: {line}: {question.sql}"
        mine, other = here.numbers[told], there.numbers[told]
        apart = sum(values_apart(mine.get(k, ()), other.get(k, ())) for k in {*mine, *other})
        if apart > rows:
            yield f"{change}: {apart} rows change, planned are {rows}: {question.sql}"


def _features(question: NestedQuestion) -> set[str]:
    found = {"groups" if question.keys else "no groups", f"{len(question.aliases)} tables"}
    found |= {word for word in ("LEFT", "RIGHT") if f" {word} JOIN" in question.join}
    found |= {"subquery"} if "(SELECT" in question.join else set()
    found |= {"brackets"} if any(f"JOIN ({t} " in question.join for t in TABLES) else set()
    found |= {"two conditions"} if " AND " in question.join else set()
    return found | ({"where"} if question.where else set())


@contextmanager
def _planted(auditor: Auditor, number: int) -> Iterator[Mapping[str, list[str]]]:
    """Schemas of each table: as it is, and its neighbours."""
    generator = random.Random(number)
    states: dict[str, list[str]] = {}
    for table in TABLES:
        rows = planted_rows(generator, table)
        states[table] = []
        for place, each in enumerate([rows, *neighbours_of(table, rows, 1)]):
            states[table].append(f"nested_{number}_{table}_{place}")
            create_state(auditor.connection, states[table][-1], table, each)
    yield states
    gone = ", ".join(schema for schemas in states.values() for schema in schemas)
    auditor.connection.execute(f"DROP SCHEMA {gone} CASCADE".encode())


@contextmanager
def _single(auditor: Auditor, number: int) -> Iterator[str]:
    """One schema with all tables, of which nothing is cut."""
    schema, generator = f"single_{number}", random.Random(number)
    for table in TABLES:
        create_state(auditor.connection, f"{schema}_{table}", table, single_rows(generator, table))
    auditor.connection.execute(f"CREATE SCHEMA {schema}".encode())
    for table in TABLES:
        moving = f"ALTER TABLE {schema}_{table}.{table} SET SCHEMA {schema}"
        auditor.connection.execute(moving.encode())
    for table in _PUBLIC:
        copied = f"CREATE TABLE {schema}.{table} AS TABLE tame.{table}"
        auditor.connection.execute(copied.encode())
    show(auditor.connection, schema, (*TABLES, *_PUBLIC))
    yield schema
    schemas = ", ".join([schema, f"{schema}_shown", *(f"{schema}_{t}" for t in TABLES)])
    auditor.connection.execute(f"DROP SCHEMA {schemas} CASCADE".encode())


def _run(number: int, examples: int, auditor: Auditor) -> Counter[str]:
    seen: Counter[str] = Counter()
    asked: set[NestedQuestion] = set()

    with _planted(auditor, number) as states, _single(auditor, number) as single:

        @seed(number)
        @settings(max_examples=examples, deadline=None, suppress_health_check=SLOW, database=None)
        @given(nested_questions())
        def check(question: NestedQuestion) -> None:
            if question in asked:
                return
            asked.add(question)
            found = _planned(question)
            if found is None:
                seen["refused"] += 1
                return
            assert list(_moved(question, auditor, states)) == []
            theirs = Question(
                (), question.keys, question.measures, question.tail, _POLICY, frozenset()
            )
            assert list(own_answers.differences(theirs, found[0], auditor, single)) == [], theirs
            seen["answered"] += 1
            seen.update(_features(question))

        check()
    return seen


@pytest.mark.long
def test_some_nested_joins(auditor: Auditor) -> None:
    seen = _run(1, 6, auditor)
    assert seen["answered"] >= 2, seen


@pytest.mark.long
@pytest.mark.parametrize("number", range(2, 26))
def test_nested_joins(number: int, auditor: Auditor) -> None:
    seen = _run(number, 60, auditor)
    print(number, seen)
    assert seen["answered"] >= 25, seen
    assert sum(not seen[kind] for kind in _KINDS) <= 1, seen  # of "where" and "brackets" a few come
