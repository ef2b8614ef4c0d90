"""Record every random draw and every read of a session, and play the draws back on a neighbouring database.

The method is that of Cebere, Erb, Desfontaines, Bellet and Fitzimons, "Privacy in Theory, Bugs in Practice"
(Re:cord-play, 2025). What a mechanism draws in the first session is what it returns in the second one. Then
nothing outside of mechanisms may differ: neither a statement that is sent to the protected database, nor a
call of a mechanism, nor a byte that the analyst sees. And what differs within mechanisms must have been paid.

Nothing here uses the kernel's rules. A mechanism is known by its exact inputs, and by what its release says
that it spends.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from proxy.base.slots import Slots
from proxy.drawing import drawer
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.plan import BlockPlan, DistinctCount, KeptUnits, NoisyStatistic, Release
from proxy.protected.protected_database import DatabaseSession
from proxy.release import adding_noise, choosing_bounds, deviation_means
from proxy.release.drawn_values import DrawnNumber

Exact = Any  # what a mechanism is given, compared with ==


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One call of a mechanism.

    Attributes:
        statement: The number of the statement in the session.
        mechanism: Its name, and all of its arguments that are public.
        exact: What it was given of the data.
        drawn: What it returned.
    """

    statement: int
    mechanism: tuple[str, Any]
    exact: Exact
    drawn: Any


@dataclass(slots=True)
class Recorder:
    """What happens in one session. played: the draws of an earlier one, which are returned again."""

    played: Recorder | None = None
    statement: int = 0
    draws: list[Draw] = field(default_factory=list)
    reads: list[tuple[int, str]] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    _waiting: dict[Any, deque[Draw]] = field(default_factory=lambda: defaultdict(deque))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        for one in () if self.played is None else self.played.draws:
            self._waiting[one.statement, one.mechanism].append(one)

    def draw(self, mechanism: tuple[str, Any], exact: Exact, drawn: Any) -> Any:
        """Note a call; give what it drew, or what it drew in the session that is played back."""
        with self._lock:
            if self.played is not None:
                waiting = self._waiting[self.statement, mechanism]
                if not waiting:
                    self.differences.append(f"{mechanism[0]} is called once more, or otherwise")
                else:
                    drawn = waiting.popleft().drawn
            made = Draw(statement=self.statement, mechanism=mechanism, exact=exact, drawn=drawn)
            self.draws.append(made)
        return drawn

    def read(self, text: str) -> None:
        with self._lock:
            self.reads.append((self.statement, text))

    def pairs(self) -> Iterator[tuple[Draw, Draw]]:
        """Each draw of the session that was played back, with its own."""
        assert self.played is not None
        mine: dict[Any, deque[Draw]] = defaultdict(deque)
        for one in self.draws:
            mine[one.statement, one.mechanism].append(one)
        for other in self.played.draws:
            if mine[other.statement, other.mechanism]:
                yield other, mine[other.statement, other.mechanism].popleft()

    def found(self) -> list[str]:
        """What differs from the session that was played back, outside of mechanisms."""
        assert self.played is not None
        found = list(self.differences)
        found += [f"{key[1][0]} is not called again" for key, rest in self._waiting.items() if rest]
        if sorted(self.reads) != sorted(self.played.reads):
            found.append("other statements are sent to the protected database")
        return found


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Have what the mechanisms of this process draw, and what it reads, recorded or played back."""
    noise = threading.local()
    draw_noise, draw_release, choose_groups = (
        adding_noise._draw,
        adding_noise._drawn,
        adding_noise._groups,
    )
    means = deviation_means.drawn_means
    centres, bounds = deviation_means.drawn_centres, choosing_bounds.choose_bounds

    def noted(law: Any, bits: Any) -> int:
        value = draw_noise(law, bits)
        noise.last = law, value
        return int(value)

    def released(
        release: Release, slots: Slots, group: list[ExactRow], sub_partitions: int, bits: Any
    ) -> Any:
        drawn = draw_release(release, slots, group, sub_partitions, bits)
        if isinstance(release, (NoisyStatistic, DistinctCount, KeptUnits)):
            law, added = noise.last
            assert isinstance(drawn, DrawnNumber)
            return recorder.draw(("sum", (release, law)), drawn.index - added, drawn)
        exact = slots, _sorted(group)
        return recorder.draw(("release", (release, sub_partitions)), exact, drawn)

    def selected(
        plan: BlockPlan, grouped: Any, bits: Any, is_selected: bool = False
    ) -> Sequence[Any]:
        chosen = list(choose_groups(plan, grouped, bits, is_selected))
        if plan.combinations is not None or plan.selection is None:
            return chosen
        units = {keys: sum(row.units for row in rows) for keys, rows in grouped[0].items()}
        return list(recorder.draw(("groups", plan.selection), units, chosen))

    def with_means(plan: BlockPlan, table: ExactTable, bits: Any) -> Any:
        law = tuple(plan.deviation_means.items())
        drawn = means(plan, table, bits)
        return recorder.draw(("means", law), _sorted(table.rows), drawn)

    def with_centres(block: Any, table: ExactTable, bits: Any) -> Any:
        law = tuple(block.block.deviation_means.items())
        return recorder.draw(("centres", law), _sorted(table.rows), centres(block, table, bits))

    def with_bounds(block: Any, totals: Any, bits: Any) -> Any:
        law = tuple(block.block.choices.items())
        exact = {number: (one.units, one.sums) for number, one in totals.choices.items()}
        return recorder.draw(("bounds", law), exact, bounds(block, totals, bits))

    seeds = drawer._seeds

    def with_seeds(query: Any, bits: Any) -> Any:
        return recorder.draw(("seeds", query.seeds), None, seeds(query, bits))

    with (
        patch.object(adding_noise, "_draw", noted),
        patch.object(adding_noise, "_drawn", released),
        patch.object(adding_noise, "_groups", selected),
        patch.object(adding_noise, "drawn_means", with_means),
        patch.object(drawer, "drawn_centres", with_centres),
        patch.object(drawer, "choose_bounds", with_bounds),
        patch.object(drawer, "_seeds", with_seeds),
        # Groups that are chosen while rows come in have no key there: they are chosen when all have come.
        patch.object(drawer, "group_selector", lambda block, bits: None),
        _noting_reads(recorder),
    ):
        yield


@contextmanager
def _noting_reads(recorder: Recorder) -> Iterator[None]:
    run, in_parts, listed = (
        DatabaseSession.run,
        DatabaseSession.run_in_two_parts,
        DatabaseSession.public_list,
    )

    def text_of(query: Any, values: Mapping[str, object]) -> str:
        return f"{query.sql} {sorted(query.parameters.items())} {sorted(values.items())}"

    async def noted_run(self: Any, paid: Any, values: Any, is_selected: Any = None) -> ExactTable:
        recorder.read(text_of(paid.query, values))
        return await run(self, paid, values, is_selected)

    async def noted_parts(
        self: Any, paid: Any, values: Any, between: Callable[[ExactTable], Awaitable[str]]
    ) -> ExactTable:
        recorder.read(text_of(paid.query, values))

        async def noted_between(first: ExactTable) -> str:
            text = await between(first)
            recorder.read(text)
            return text

        return await in_parts(self, paid, values, noted_between)

    async def noted_list(self: Any, wanted: Any) -> Any:
        recorder.read(f"{wanted.sql} {wanted.parameters}")
        return await listed(self, wanted)

    with (
        patch.object(DatabaseSession, "run", noted_run),
        patch.object(DatabaseSession, "run_in_two_parts", noted_parts),
        patch.object(DatabaseSession, "public_list", noted_list),
    ):
        yield


def _sorted(rows: Sequence[ExactRow]) -> list[ExactRow]:
    return sorted(rows, key=lambda row: (str(row.keys), row.cell, str(row.values), row.units))
