"""PostgreSQL's own answers to generated questions, on rows of which nothing is cut or clamped.

Counts are PostgreSQL's to the last row; sums up to a grid step per row, by which values are rounded, and places
in an order up to one. Which
key and which answer of ours stands for what is written is read from the statement that the analyst's own
becomes: what is one key there must be one to PostgreSQL in every row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import psycopg

from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, DistinctCount, NoisyStatistic, OrderStatistic, Release
from proxy.kernel.statistics import Statistic
from proxy.query.ir.query_aggregates import AggregateKind
from tests.audit.exact_results import Auditor, unlimited
from tests.audit.questions import INTERVAL, UNGROUPED, Question
from tests.audit.row_sources import TIED
from tests.audit.selected_groups import among_shown
from tests.audit.source_joins import FOREIGN_KEY
from tests.audit.synthetic import MILD
from tests.audit.without_noise import Keys, Numbers
from tests.pipeline_world import Pipeline

_ROWS = 40  # more than the tables have, pairs of them included, in which a sum is rounded
_COLUMN = re.compile(r"\bdp_b\d+\.([ak])(\d+)\b")
_Numbers = tuple[Fraction | None, ...]
_Level = frozenset[int]  # numbers of our keys, from 1, by which is grouped


@dataclass(frozen=True)
class _Row:
    """As PostgreSQL gives it. grouped: which of the keys its level of grouping sets has."""

    keys: Keys
    grouped: tuple[bool, ...]
    measures: _Numbers


@dataclass(frozen=True)
class _Written:
    """keys: of each that is written, the number of ours; measures: of each answer of ours, which of those that
    are written shows it."""

    keys: tuple[int, ...]
    measures: Mapping[int, int]


def is_comparable(question: Question, pipeline: Pipeline) -> bool:
    """Where groups of a unit may be cut, or an answer stands in a condition, PostgreSQL's own is another; so it
    is along a foreign key, as its rows here are not of one unit, and ours have to be. Intervals it has none."""
    units = [block.neighbours for block in pipeline.plan.blocks]
    cut = any(
        isinstance(unit, UnitNeighbours) and (unit.groups, unit.rows_per_group) != (None, None)
        for unit in units
    )
    of_levels = question.grouping != UNGROUPED and not pipeline.reading.query.scalars
    of_others = {TIED, FOREIGN_KEY, INTERVAL} & question.features
    return not cut and (len(units) == 1 or of_levels) and not of_others


def differences(
    question: Question, pipeline: Pipeline, auditor: Auditor, schema: str = MILD
) -> Iterator[str]:
    """
    Given    schema: of tables of which nothing is cut or clamped
    """
    written, rows = _written(question, pipeline), _own(question, auditor, schema)
    if rows is None:
        return
    theirs: dict[_Level, dict[Keys, _Numbers]] = {}
    for row in rows:
        level = frozenset(n for n, held in zip(written.keys, row.grouped, strict=True) if held)
        keys = dict(zip(written.keys, row.keys, strict=True))
        each = zip(written.keys, row.keys, row.grouped, strict=True)
        if any(keys[n] != key or (n in level) != held for n, key, held in each):
            yield f"one key of ours are several: {row.keys} of {row.grouped}"
        theirs.setdefault(level, {})[tuple(keys[n] for n in sorted(level))] = row.measures
    blocks = pipeline.plan.blocks
    expressions = list(dict.fromkeys(key.expression for block in blocks for key in block.keys))
    for block in blocks:
        level = frozenset(expressions.index(key.expression) + 1 for key in block.keys)
        own, measures = theirs.pop(level, {}), len(question.measures)
        yield from _of_level(block, own, written, measures, auditor, schema)
    if theirs:
        yield f"levels of PostgreSQL alone: {theirs}"


def _of_level(
    block: BlockPlan,
    theirs: Mapping[Keys, _Numbers],
    written: _Written,
    measures: int,
    auditor: Auditor,
    schema: str,
) -> Iterator[str]:
    releases = tuple(map(unlimited, block.releases))
    mine, nothing = auditor.exact(replace(block, releases=releases), schema), (None,) * measures
    for keys in theirs.keys() - set(mine.shown):
        listed = zip(block.keys, keys, strict=True)
        if all(key.values is None or value in key.values for key, value in listed):
            yield f"PostgreSQL alone has the group {keys}"
    for number, answer in enumerate(block.answers, start=1):
        if answer.calculated is not None:
            continue
        n = answer.releases[0]
        for keys in mine.shown:
            own = theirs.get(keys, nothing)[written.measures[number]]
            if wrong := _is_wrong(block.releases[n], mine.numbers[n].get(keys, ()), own):
                yield f"{wrong} of {keys}, PostgreSQL says {None if own is None else float(own)}"


def _is_wrong(release: Release, found: Numbers, own: Fraction | None) -> str:
    """What is not PostgreSQL's own, or nothing."""
    name, grid, slack = release.aggregate.kind.value, Fraction(1), Fraction(0)
    match release:
        case NoisyStatistic() | DistinctCount():
            mine = Fraction(found[0] if found else 0)
            if isinstance(release, NoisyStatistic) and release.statistic is Statistic.STEPS:
                grid, slack = release.grid, release.grid * _ROWS
        case OrderStatistic() if own is not None and release.aggregate.type.is_number:
            if not found:
                return f"{name} of no values"
            # A float's last digit may have pushed it over a step.
            grid = slack = release.measured.grid
            mine = _in_order(found, release.aggregate.kind, release.aggregate.fraction)
        case _:
            return ""
    is_near = abs(mine * grid - (own or 0)) <= slack
    return "" if is_near else f"{name} {float(mine * grid)}"


def _in_order(found: Numbers, kind: AggregateKind, fraction: Fraction | None) -> Fraction:
    """The value at a place among all, each of which stands before its number."""
    pairs = zip(found[::2], found[1::2], strict=True)
    values = [Fraction(value) for value, times in pairs for _ in range(times)]
    last = len(values) - 1
    if fraction is None:
        return values[last if kind is AggregateKind.MAX else 0]
    if kind is AggregateKind.QUANTILE_DISC:
        return values[max(0, math.ceil(fraction * len(values)) - 1)]
    below = math.floor(fraction * last)
    above = values[min(below + 1, last)]
    return values[below] + (fraction * last - below) * (above - values[below])


def _written(question: Question, pipeline: Pipeline) -> _Written:
    """By the changes of the analyst's text: what now stands where an item stood."""
    end, spans = len(question.head), []
    for item in question.items:
        spans.append((end, end + len(item)))
        end += len(item) + len(", ")
    edits = pipeline.reading.rewritten.edits
    found = [
        [
            (kind, int(number))
            for edit in edits
            if first <= edit.start and edit.end <= last
            for kind, number in _COLUMN.findall(edit.text)
        ]
        for first, last in spans
    ]
    width = len(question.keys)
    keys = tuple(number for columns in found[:width] for _, number in columns[:1])
    assert len(keys) == width, f"a key that is not in the answer: {question.sql}"
    measures: dict[int, int] = {}
    for place, columns in enumerate(found[width : width + len(question.measures)]):
        for kind, number in columns:
            assert kind == "a", question.sql
            measures.setdefault(number, place)
    return _Written(keys, measures)


def _own(question: Question, auditor: Auditor, schema: str) -> list[_Row] | None:
    """None where PostgreSQL itself has no answer: smallint out of range and the like."""
    width = len(question.keys)
    items = [f"({item})::text" for item in (*question.keys, *question.measures)]
    if width:
        items.append(f"grouping({', '.join(question.keys)})::bit({width})::text")
    try:
        with among_shown(auditor.connection, schema):
            rows = auditor.connection.execute(question.select(items).encode()).fetchall()
    except psycopg.errors.DataError:
        return None
    return [
        _Row(
            tuple(None if key is None else str(key) for key in row[:width]),
            tuple(bit == "0" for bit in (str(row[-1]) if width else "")),
            tuple(map(_number, row[width : width + len(question.measures)])),
        )
        for row in rows
    ]


def _number(text: object) -> Fraction | None:
    try:
        return None if text is None else Fraction(Decimal(str(text)))
    except (ValueError, ArithmeticError):
        return None
