"""Nested joins by truncation: each table moves them by no more than is planned of it, all of them together by
no more than of all; and where nothing is cut, the exact results are PostgreSQL's own."""

from __future__ import annotations

import random  # noqa: TID251  synthetic data must be the same twice
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import given, seed, settings

from proxy.base.errors import Code, Refusal
from proxy.kernel.world import World
from proxy.planner.facts import PlanningContext, ProtectedRows
from proxy.planner.tracking import track
from tests.audit import own_answers
from tests.audit.changed_by_table import changed_by_table
from tests.audit.exact_results import Auditor, unlimited
from tests.audit.movement import all_moved
from tests.audit.nested_joins import (
    TABLES,
    NestedQuestion,
    nested_questions,
    planted_rows,
    single_rows,
)
from tests.audit.questions import Question
from tests.audit.reach import Reach
from tests.audit.selected_groups import show
from tests.audit.test_generated_questions import SLOW
from tests.audit.truncated import create_state, neighbours_of, values_apart
from tests.pipeline_world import CATALOG, KNOWN_PUBLIC, POLICIES, Pipeline, read, walk
from tests.postgres_labels import POSTGRES_LABELS

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
