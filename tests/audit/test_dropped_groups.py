"""Units with more groups or rows than count: no group and no value loses more rows than the others.

Each unit has all clinics and keeps some of them, by a keyed hash of unit and clinic. So each clinic keeps a
binomial number of units: n trials of probability k / clinics. By Hoeffding's inequality one number is off by
more than t with a probability of at most 2 exp(-2 t^2 / n). `_TOLERANCE` is the t with which all numbers of
this file together raise a false alarm with a probability below 1e-9.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from proxy.compiler import sub_partitions, unit_gathering, value_scan
from tests.audit.exact_results import unlimited
from tests.audit.two_states import TwoStates, two_states
from tests.servers_fixture import servers
from tests.unchecked_blocks import compile_block

_UNITS, _CLINICS, _KEPT = 4_000, 14, 10
_FALSE_ALARM, _NUMBERS = 1e-9, 500  # more numbers than are looked at
_TOLERANCE = math.sqrt(_UNITS / 2 * math.log(2 * _NUMBERS / _FALSE_ALARM))
_SEEDS = (7_777_777_777_777_777_777, 4_242_424_242_424_242)
_TYPES = {
    "int4": "{}",
    # A quarter has two equal halves, which hashint8extended alone does not tell apart.
    "int8": "{0}::bigint * CASE {0} % 4 WHEN 0 THEN 4294967297 ELSE 1 END",
    "text": "'unit ' || {}",
    "uuid": "md5({}::text)::uuid",
}
_NAMES = [f"c{number}" for number in range(1, _CLINICS)]  # the last group is that of NULL


def _table(kind: str) -> str:
    unit = _TYPES[kind].format("u")
    return f"""
CREATE TABLE s.of_{kind} (uid {kind}, clinic text, half int, seventh int, x int);
INSERT INTO s.of_{kind} SELECT {unit}, CASE g WHEN {_CLINICS} THEN NULL ELSE 'c' || g END, g % 2, g % 7, g
    FROM generate_series(1, {_UNITS}) u, generate_series(1, {_CLINICS}) g;"""


_SCRIPT = "CREATE SCHEMA s;" + "".join(map(_table, _TYPES))
_TABLES = "".join(
    f"""\
  s.of_{kind}:
    unit: {{person_{kind}: uid}}
    max_rows_per_unit: {_KEPT}
    max_groups_per_unit: {_KEPT}
    columns:
      clinic: {{values: [{", ".join(_NAMES)}, null]}}
      half: {{values: [0, 1]}}
      seventh: {{values: [0, 1, 2, 3, 4, 5, 6]}}
      x: {{bounds: [1, {_CLINICS}]}}
"""
    for kind in _TYPES
)


@pytest.fixture(scope="module")
def clinics() -> Iterator[TwoStates]:
    yield two_states(servers().protected, "dropped_groups", _SCRIPT, _TABLES, "SELECT 1")


def _kept(clinics: TwoStates, question: str, seed: int, each: int = 1) -> Counter[object]:
    """How many units are in each group, or have each value.

    Args:
        each: how many rows of a unit are in a group that it keeps.
    """
    (block,) = clinics.plan(question).blocks
    block = replace(block, releases=tuple(map(unlimited, block.releases)))
    (table,) = clinics.exact(compile_block(block), seed)
    found: Counter[object] = Counter()
    for row in table.rows:
        if row.keys:
            found[row.keys] += (row.values[0] or 0) // each
        else:  # a value, and how many rows have it
            found[row.values[0]] += row.values[1] or 0
    return found


def _is_even(kept: Counter[object]) -> bool:
    expected = _UNITS * _KEPT / _CLINICS
    assert sum(kept.values()) == _UNITS * _KEPT, "each unit keeps as many as count"
    assert len(kept) <= _CLINICS
    seen = [*kept.values(), *[0] * (_CLINICS - len(kept))]
    return all(abs(number - expected) <= _TOLERANCE for number in seen)


_BY_CLINIC = "SELECT clinic, count(*) FROM s.of_{} GROUP BY clinic"
_BY_TWO = "SELECT half, seventh, count(*) FROM s.of_{} GROUP BY half, seventh"
_VALUES = "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM s.of_{}"
# Cut below the join: each of the rows that a unit keeps meets as many others.
_JOINED = (
    "SELECT a.clinic, count(*) FROM s.of_{0} a JOIN s.of_{0} b ON a.uid = b.uid GROUP BY a.clinic"
)


@pytest.mark.every(4)
@pytest.mark.parametrize("kind", _TYPES)
@pytest.mark.parametrize("question", [_BY_CLINIC, _BY_TWO, _VALUES])
def test_groups_and_values_lose_the_same_share(
    clinics: TwoStates, kind: str, question: str
) -> None:
    drawn = [_kept(clinics, question.format(kind), seed) for seed in _SEEDS]
    assert all(map(_is_even, drawn))
    assert drawn[0] != drawn[1], "another seed keeps others"
    assert drawn[0] == _kept(clinics, question.format(kind), _SEEDS[0]), "the same seed the same"


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "kind", ["int4", "text", "uuid"]
)  # such int8 make PostgreSQL's own join slow
def test_rows_that_are_cut_below_a_join_are_even(clinics: TwoStates, kind: str) -> None:
    for seed in _SEEDS:
        assert _is_even(_kept(clinics, _JOINED.format(kind), seed, each=_KEPT))


def _without_unit(row: list[str], seed: str) -> str:
    return f"pg_catalog.hash_record_extended(ROW({', '.join(row[1:])}), {seed})"


def _not_mixed(row: list[str], seed: str) -> str:
    return f"pg_catalog.hash_record_extended(ROW({', '.join(row)}), {seed})"


def test_units_with_equal_halves_have_orders_of_their_own(
    clinics: TwoStates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sub_partitions, "_unfolded", lambda unit, _: unit)
    question = _BY_CLINIC.format("int8")
    assert not all(_is_even(_kept(clinics, question, seed)) for seed in _SEEDS)


@pytest.mark.parametrize("order", [_without_unit, _not_mixed])
@pytest.mark.parametrize("question", [_BY_CLINIC, _BY_TWO, _VALUES])
def test_other_orders_are_found(
    clinics: TwoStates, monkeypatch: pytest.MonkeyPatch, question: str, order: object
) -> None:
    """One order for all units; and the orders of `hash_record_extended`, which begin at another place in one
    circle."""
    for module in (sub_partitions, unit_gathering, value_scan):
        monkeypatch.setattr(module, "row_order_sql", order)
    assert not all(_is_even(_kept(clinics, question.format("text"), seed)) for seed in _SEEDS)
