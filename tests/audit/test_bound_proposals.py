"""Bounds that are proposed privately: one unit more raises the counts that decide by 0 or 1, whatever rows it
has; what is charged is what is drawn; on long-tailed data few units are beyond what is proposed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.accounting.amounts import EPSILON_DECIMALS
from proxy.catalog.catalog_model import TableName
from proxy.compiler.proposal_scan import proposal_scan
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.proposal_check import CheckedProposals
from proxy.kernel.proposal_plan import Proposed, TableProposals
from proxy.mechanisms import private_bound
from proxy.mechanisms.private_bound import UnitTotals
from proxy.planner import neighbours
from proxy.planner.bound_proposals import proposal_plan
from proxy.planner.facts import PlanningContext
from proxy.policy.column_shapes import bounds_kind
from proxy.policy.policy_model import ProtectedTable, RowUnit
from proxy.release.proposing_bounds import propose
from tests.audit.exact_results import Auditor
from tests.audit.synthetic import Base
from tests.pipeline_world import CATALOG, POLICIES, moved
from tests.seeded_bits import SeededBits
from tests.uncharged_statements import read
from tests.unchecked_blocks import unchecked_proposals

_POLICY = POLICIES["best"]
_KNOWN = PlanningContext(_POLICY, CATALOG, {})
_TABLES = [table.name.name for table in _POLICY.protected()]


def _policy(name: str) -> ProtectedTable:
    return next(table for table in _POLICY.protected() if table.name.name == name)


def _plan(name: str, epsilon: Fraction = Fraction(1)) -> CheckedProposals:
    """Of all columns that can have bounds, of every type."""
    table = _policy(name)
    there = CATALOG.tables[table.name]
    columns = [
        column.name
        for column in there.columns
        if column.name in table.columns and bounds_kind(column.type) is not None
    ]
    assert len(columns) > 5
    return proposal_plan(_KNOWN, epsilon, table.name, columns)


def _above(table: TableProposals, auditor: Auditor, schema: str) -> Iterator[list[int]]:
    """Of each bound, how many units are above each step of its grid."""
    there = unchecked_proposals(replace(table, relation=moved(table.relation, schema)))
    query = proposal_scan(there, 0)
    exact = auditor._loop.run_until_complete(
        read(auditor._data, query, dict.fromkeys(query.seeds, 7))
    )
    units: dict[int, dict[int, int]] = {}
    for row in exact.rows:
        place, band, number = (value or 0 for value in row.values)
        units.setdefault(place, {})[band] = number
    for place, bound in enumerate(table.bounds):
        totals = UnitTotals(units=units.get(place, {}), sums={})
        yield totals.above_each(len(bound.choice.bounds))


def _neighbours(name: str, base: Base) -> Sequence[str]:
    unit = _policy(name).unit
    if isinstance(unit, RowUnit):
        return base.without_row if unit.rows == 1 else base.without_three
    return base.without_unit


def _changes(name: str, auditor: Auditor, table: TableProposals) -> Iterator[tuple[str, list[int]]]:
    """Of each neighbour and bound: by how much it is fewer, at each step of the grid."""
    for base in auditor.bases[:2]:
        here = list(_above(table, auditor, base.name))
        for schema in _neighbours(name, base):
            for one, other in zip(here, _above(table, auditor, schema), strict=True):
                yield schema, [a - b for a, b in zip(one, other, strict=True)]


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize("name", _TABLES)
def test_a_unit_raises_each_count_by_one_at_most(name: str, auditor: Auditor) -> None:
    """On hostile rows too: infinities, NaN, the ends of every type."""
    (table,) = _plan(name).proposed
    unit = _policy(name).unit
    most = unit.rows if isinstance(unit, RowUnit) else 1
    assert {bound.times for bound in table.bounds} == {most}
    changes = [change for _, change in _changes(name, auditor, table)]
    assert all(0 <= step <= most for change in changes for step in change)
    assert any(any(change) for change in changes)


def test_rows_that_are_not_gathered_by_unit_are_seen(auditor: Auditor) -> None:
    (table,) = _plan("orders").proposed
    columns = tuple(bound for bound in table.bounds if bound.column is not None)
    ungathered = replace(table, unit=None, bounds=columns)
    changes = _changes("orders", auditor, ungathered)
    assert any(step > 1 for _, change in changes for step in change)


def test_what_is_charged_is_what_is_drawn() -> None:
    """By the scales alone: 1/s of the threshold, 1/s of the counts, 2/s of the report, times rows."""
    for name in _TABLES:
        plan = _plan(name, Fraction(3, 4))
        cost = Fraction(0)
        for table in plan.proposed:
            for bound in table.bounds:
                walk = private_bound.walk(bound.choice.walk.epsilon)
                drawn = 1 / walk.of_threshold + 1 / walk.of_counts + 2 / bound.choice.report_scale
                cost += drawn * bound.times
        events = plan.price.events
        charged = sum((Fraction(str(event["epsilon"])) for event in events), Fraction(0))
        assert cost <= plan.loss.epsilon <= Fraction(3, 4), name
        # Each event is written rounded up.
        least = Fraction(1, 10**EPSILON_DECIMALS)
        assert 0 <= charged - plan.loss.epsilon <= len(events) * least, name


def test_a_table_with_nothing_to_propose_is_not_read() -> None:
    """Rows that are units, of which all columns have bounds: beside it there is something, which is paid."""
    tables = dict(_POLICY.tables)
    for name, columns in (("members", {}), ("orders", _policy("orders").columns)):
        table = _policy(name)
        tables[table.name] = replace(table, columns=columns, chooses_rows=True)
    for name in _TABLES:
        if name not in ("members", "orders"):
            del tables[_policy(name).name]
    known = PlanningContext(replace(_POLICY, tables=tables), CATALOG, {})
    plan = proposal_plan(known, Fraction(1), None, ())
    assert [table.table.name for table in plan.proposed] == ["orders"]
    assert plan.loss.epsilon == 1


def test_a_walk_that_is_not_charged_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = neighbours.choice_of

    def whole(loss: object, most: int) -> object:
        choice = real(loss, most)  # type: ignore[arg-type]
        walk = replace(choice.walk, epsilon=2 * choice.walk.epsilon)
        return replace(choice, walk=walk)

    monkeypatch.setattr("proxy.planner.bound_proposals.choice_of", whole)
    assert _plan("orders", Fraction(3, 4)).loss.epsilon > Fraction(3, 4)


def _table(values: Sequence[int], units: int) -> tuple[TableProposals, ExactTable]:
    """The upper bound of a column, of so many values: each of a unit of its own."""
    table = _policy("orders")
    plan = proposal_plan(_KNOWN, Fraction(1), TableName(table.name.schema, "orders"), ["i8"])
    (found,) = plan.proposed
    place, high = next(
        (n, bound) for n, bound in enumerate(found.bounds) if bound.what is Proposed.HIGH
    )
    edges = high.choice.bounds
    bands: Counter[int] = Counter()
    for value in values:
        band = 1 + sum(edge < value for edge in edges)
        bands[band] += 1
    assert sum(bands.values()) == units
    rows = tuple(ExactRow((), 0, (place, band, number)) for band, number in bands.items())
    return found, ExactTable(rows, (), ())


_SHAPES: dict[str, Callable[[SeededBits], int]] = {
    "log-normal": lambda bits: round(
        math.exp(5 + sum(bits.below(1000) / 250 - 2 for _ in range(3)))
    ),
    "zipf": lambda bits: 500_000_000 // (1 + bits.below(5000)),
    "constant": lambda bits: 731,
}


@pytest.mark.parametrize("shape", _SHAPES)
def test_few_units_are_beyond_what_is_proposed(shape: str) -> None:
    units, bits = 5_000, SeededBits(9)
    values = [_SHAPES[shape](bits) for _ in range(units)]
    table, exact = _table(values, units)
    (place,) = [n for n, bound in enumerate(table.bounds) if bound.what is Proposed.HIGH]
    walk = private_bound.walk(table.bounds[place].choice.walk.epsilon)
    beyond, within = [], 0
    for _ in range(200):
        chosen = propose(unchecked_proposals(table), 0, exact, bits)[place]
        assert chosen.bound is not None
        above = sum(value > chosen.bound for value in values)
        within += abs(chosen.above - above) <= chosen.half_width
        beyond.append(above)
    # 12 scales beyond the threshold come once in 160,000 times.
    assert max(beyond) <= walk.stop + 12 * float(walk.of_counts)
    assert sum(beyond) / len(beyond) <= 3 * float(walk.of_counts)
    assert within >= 175  # of 200 at 95 %; fewer come once in 10^5 times


def test_too_few_units_have_no_proposal() -> None:
    table, exact = _table([100] * 3, 3)
    (place,) = [n for n, bound in enumerate(table.bounds) if bound.what is Proposed.HIGH]
    bits = SeededBits(3)
    none = sum(
        propose(unchecked_proposals(table), 0, exact, bits)[place].bound is None for _ in range(100)
    )
    assert none > 80
