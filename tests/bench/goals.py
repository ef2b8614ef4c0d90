"""What the benchmark is to reach, as one table: a row for each goal, least of rounds in turn within one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from tests.bench.copies import goals_of_copies
from tests.bench.latency import small_goals
from tests.bench.measuring import Comparison, Measured, measure
from tests.bench.orders import goals_of_orders
from tests.bench.relaying import GOAL, Throughput
from tests.bench.scale import five_aggregates
from tests.bench.servers import Servers


@dataclass(frozen=True)
class Effort:
    """Rounds of statements on large and on small tables; `warm` rounds before the latter are not counted."""

    large: int
    small: int
    warm: int


@dataclass(frozen=True)
class Outcome:
    what: str
    figure: str
    goal: str
    is_met: bool


Row = Callable[[Servers, Effort], Iterable[Outcome]]


def _compared(
    comparisons: Callable[[Servers], Sequence[Comparison]],
    servers: Servers,
    effort: Effort,
    *,
    is_large: bool = True,
) -> list[Outcome]:
    """What comes of comparisons, each of which has a bound."""
    rounds, warm = (effort.large, 1) if is_large else (effort.small, effort.warm)
    return [outcome(one) for one in measure(comparisons(servers), rounds, warm, min)]


def _orders(_: Servers, effort: Effort) -> list[Outcome]:
    """They have servers of their own."""
    return [outcome(one) for one in goals_of_orders(effort.large)]


# A new goal is an entry here: comparisons with bounds on tables of the protected server, mostly.
GOALS: tuple[Row, ...] = (
    partial(_compared, five_aggregates),
    partial(_compared, goals_of_copies),
    _orders,
    partial(_compared, small_goals, is_large=False),
)


def outcomes(servers: Servers, effort: Effort, relayed: Sequence[Throughput]) -> list[Outcome]:
    """Measure all goals; `relayed` is measured before."""
    found = [outcome for row in GOALS for outcome in row(servers, effort)]
    return found + [
        Outcome(
            f"prepared SELECT 1 of {one.connections} clients, of pgbouncer's",
            f"{one.share:.2f}",
            f">= {GOAL}",
            one.share >= GOAL,
        )
        for one in relayed
    ]


def goals_table(found: Sequence[Outcome]) -> str:
    width = max(len(one.what) for one in found)
    lines = [f"{'statement':{width}}  {'ratio':>9}  {'goal':>9}"]
    for one in found:
        verdict = "met" if one.is_met else "MISSED"
        lines.append(f"{one.what:{width}}  {one.figure:>9}  {one.goal:>9}  {verdict}")
    return "\n".join(lines)


def outcome(one: Measured) -> Outcome:
    assert one.holds is not None, f"{one.what} has no bound"
    added = f"+{one.ours - one.plain:.2f} ms"
    figure = added if one.bound.ratio is None else f"{one.ratio:.2f}x"
    return Outcome(one.what, figure, str(one.bound), one.holds)
