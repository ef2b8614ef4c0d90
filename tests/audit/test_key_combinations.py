"""Groups that are listed as combinations of keys: of neighbours no more moves than is paid for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from proxy.audit.movement import movements
from proxy.compiler import compiling, unit_scan
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.kernel.block_price import price_of_block
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan
from tests.audit.two_states import TwoStates, two_states
from tests.kernel.holes import block_of, noise_for
from tests.kernel.made_blocks import WORLD
from tests.kernel.tiny_database import tiny_database
from tests.seeded_bits import SeededBits
from tests.servers_fixture import servers
from tests.unchecked_blocks import drawn_block

_SCRIPT = """\
CREATE SCHEMA s;
CREATE TABLE s.titles (code text PRIMARY KEY, title text NOT NULL, kind text NOT NULL);
INSERT INTO s.titles SELECT 'c' || n, 'title ' || n % 5, 'kind ' || n % 3 FROM generate_series(1, 8) n;
CREATE TABLE s.read (id int PRIMARY KEY, person int NOT NULL, code text NOT NULL REFERENCES s.titles,
                     place text NOT NULL, pages int NOT NULL);
INSERT INTO s.read
SELECT 100 * p + k, p, 'c' || 1 + (p + k) % 8, (ARRAY['home','work','else'])[1 + (p * k) % 3], 10 * k
FROM generate_series(1, 6) p, generate_series(1, p * p) k;
"""
_TABLES = """\
  s.titles: public
  s.read:
    unit: {person: person}
    max_rows_per_unit: 7
    max_groups_per_unit: 3
    columns:
      code: {references: s.titles.code}
      place: {values: [home, work]}
      pages: {bounds: [0, 100]}
"""
_JOINED = "s.read r JOIN s.titles t ON t.code = r.code"
_QUESTIONS = (
    f"SELECT t.code, t.title, count(*), sum(r.pages) FROM {_JOINED} GROUP BY t.code, t.title",
    f"SELECT t.title, t.kind, avg(r.pages) FROM {_JOINED} GROUP BY t.title, t.kind",
    f"SELECT t.code, r.place, count(*) FROM {_JOINED} WHERE t.code = 'c1' OR r.place = 'home'"
    " GROUP BY t.code, r.place",
    f"SELECT t.code, t.kind, max(r.pages), count(DISTINCT r.pages) FROM {_JOINED} GROUP BY t.code, t.kind",
)


@pytest.fixture(scope="module")
def states() -> Iterator[TwoStates]:
    change = "DELETE FROM s.read WHERE person = 6"  # who has 36 rows, in all groups
    yield two_states(servers().protected, "combined_keys", _SCRIPT, _TABLES, change)


@pytest.mark.parametrize("question", _QUESTIONS)
def test_neighbours_move_by_no_more_than_planned(states: TwoStates, question: str) -> None:
    (block,) = states.plan(question).blocks
    assert block.combinations is not None
    assert states.too_far(question) == []
    moved = [movement for movement in states.movements(question) if movement.observed]
    assert moved, "whoever is gone is seen"


def test_without_the_cut_of_a_unit_they_move_further(
    states: TwoStates, monkeypatch: pytest.MonkeyPatch
) -> None:
    def uncut(
        plan: BlockPlan, releases: tuple[int, ...], unit: UnitNeighbours, binds: Binds
    ) -> BackendQuery:
        return unit_scan.unit_scan(plan, releases, replace(unit, rows=10**6, groups=None), binds)

    monkeypatch.setattr(compiling, "unit_scan", uncut)
    assert states.too_far(_QUESTIONS[0])


def test_what_is_in_no_listed_group_is_neither_drawn_nor_counted() -> None:
    """SQL leaves out keys that are in no list, and no combinations of those that are."""
    block = block_of("SELECT t, b, count(DISTINCT uid) FROM visits GROUP BY t, b")
    block = noise_for(replace(block, combinations=(("x", "true"), ("y", "true")), reach=2), 2)
    price_of_block(block, WORLD)
    database = tiny_database()
    database.fill(
        "INSERT INTO visits(id, uid, t, b) VALUES (1, 1, 'x', true), (2, 1, 'y', true),"
        " (3, 1, 'x', false), (4, 1, 'y', false), (5, 2, 'x', true)"
    )
    here = database.tables(block)
    with database.without("DELETE FROM visits WHERE uid = 1"):
        there = database.tables(block)
    (counted,) = movements(block, here, there)
    assert counted.observed == counted.planned == 2
    (table,) = here
    listed = replace(table, rows=tuple(row for row in table.rows if row.keys[1] == "true"))
    assert (len(table.rows), len(listed.rows)) == (4, 2)
    assert list(movements(block, [listed], there)) == [counted]
    one, other = (drawn_block(block, [rows], SeededBits(3)) for rows in (table, listed))
    assert one == other
    assert [group.keys for group in one.groups] == [("x", "true"), ("y", "true")]
    # One listed group less is seen.
    fewer = replace(table, rows=table.rows[:0])
    assert [moved.observed for moved in movements(block, here, [fewer])] == [3]
