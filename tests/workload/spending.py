"""What a workload spends under a policy: asked of the engine by one analyst, paid from a ledger of its own.

The noise of each answer is compared with that which the same question gets when it is asked for the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.resources import files
from typing import Any

import psycopg

from proxy.cli.assembly import Database, assemble
from proxy.engine import charged_queries
from proxy.planner.plan import BlockPlan, DistinctCount, NoisyStatistic, PrivatePlan
from proxy.policy.check import fitted
from proxy.policy.policy_model import Reuse
from proxy.policy_file.policy_yaml import read_policy
from proxy.reuse.derivation import variance
from proxy.shadow.shadow_database import Shadow
from tests.live.served_database import asked
from tests.servers_fixture import Servers
from tests.workload.questions import Question

_ANALYST = "one of many"
_BUDGETS = """\
budgets:
  total:   {epsilon: 1000000, delta: 0.9}
  default: {epsilon: 1000000, delta: 0.9}
"""
# Of the demo's policies what is said otherwise here: a bound that is chosen anew costs each statement a part.
_INSTEAD = {
    "max_rows_per_unit: auto": "max_rows_per_unit: 40",
    ", per_unit: [0, 4000]": "",
    "max_epsilon: 2.0": "max_epsilon: 20",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    name: str
    reuse: Reuse | None
    derives: bool = True
    gaussian: bool = False


_SLOT = Reuse(31 * 86_400)
STRATEGIES = (
    Strategy(name="none", reuse=None),
    Strategy(name="exact", reuse=replace(_SLOT, is_lifted=False), derives=False),
    Strategy(name="derived", reuse=replace(_SLOT, is_lifted=False)),
    Strategy(name="lifted", reuse=_SLOT),
    Strategy(name="gaussian", reuse=_SLOT, gaussian=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """total, own: epsilons of everybody's budget and the analyst's; events: all that was drawn, by database;
    ratios: of each answer, the largest standard error beside that of a fresh one; paid: of each question"""

    total: float
    own: float
    events: Mapping[str, Sequence[Mapping[str, Any]]]
    ratios: Sequence[float]
    paid: Sequence[float]


class Workload:
    """The demo's databases, whose shadows are built once."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._shadows: dict[str, Shadow] = {}

    def database(self, name: str, strategy: Strategy) -> Database:
        text = files("proxy.cli.demo").joinpath(f"{name}.yaml").read_text(encoding="utf-8")
        for found, instead in _INSTEAD.items():
            text = text.replace(found, instead)
        text = text.replace(f"database: {name}", f"database: workload_{name}")
        if strategy.gaussian:
            text = text.replace("noise: laplace        #", "noise: gaussian       #")
            text = text.replace("noise: laplace\n  median", "noise: gaussian\n  median")
        text = text[: text.index("budgets:")] + _BUDGETS
        dsn = self._servers.source_dsns[name]
        policy = read_policy(text, f"{name}.yaml", {f"{name.upper()}_DSN": dsn})
        catalog = self._servers.catalogs[name]
        policy = replace(fitted(policy, catalog), reuse=strategy.reuse)
        if name not in self._shadows:
            server = self._servers.shadow_server
            self._shadows[name] = Shadow(server.dsn(), policy.database, server.address)
            self._shadows[name].build(policy, catalog)
        return assemble(policy, catalog, self._shadows[name], self._servers.lease(policy))

    async def spending(
        self,
        strategy: Strategy,
        wanted: Sequence[Question],
        epsilon: Callable[[Question], str] = lambda _: "1",
    ) -> Spending:
        """All of them asked by one analyst, one after the other.

        Given    epsilon: what each statement asks for
        """
        names = sorted({question.database for question in wanted})
        served = {name: self.database(name, strategy) for name in names}
        kept = charged_queries.derived_blocks
        if not strategy.derives:
            charged_queries.derived_blocks = _nothing  # type: ignore[assignment]
        try:
            for database in served.values():
                await database.open()
            ratios, paid = await _asked_all(served, wanted, epsilon)
        finally:
            charged_queries.derived_blocks = kept
            for database in served.values():
                await database.close()
        found = [_receipts(database) for database in served.values()]
        return Spending(
            total=sum(total for total, _, _ in found),
            own=sum(own for _, own, _ in found),
            events={name: events for name, (_, _, events) in zip(served, found, strict=True)},
            ratios=ratios,
            paid=paid,
        )


async def _nothing(*_: object) -> dict[int, object]:
    return {}


async def _asked_all(
    served: Mapping[str, Database],
    wanted: Sequence[Question],
    epsilon: Callable[[Question], str],
) -> tuple[list[float], list[float]]:
    known: dict[str, tuple[Any, PrivatePlan]] = {}
    ratios, paid = [], []
    for one in wanted:
        database, settings = served[one.database], {"dp.epsilon": epsilon(one)}
        if one.text not in known:
            read = asked(database, one.text)
            known[one.text] = (read, database.engine.planned(read, settings))
        read, fresh = known[one.text]
        answer = await database.engine.run(read, (), settings, one.analyst)
        assert answer.plan is not None
        ratios.append(_ratio(answer.plan, fresh))
        paid.append(float(answer.loss.epsilon))
    return ratios, paid


def _ratio(shown: PrivatePlan, fresh: PrivatePlan) -> float:
    pairs = zip(map(_variances, shown.blocks), map(_variances, fresh.blocks), strict=True)
    ratios = [float(a / b) for some, others in pairs for a, b in zip(some, others, strict=True)]
    return float(max(ratios) ** 0.5)


def _variances(block: BlockPlan) -> list[Fraction]:
    """In squared steps of each release, which are the same steps in both."""
    assert all(isinstance(one, NoisyStatistic | DistinctCount) for one in block.releases)
    return [
        variance(one.noise)
        for one in block.releases
        if isinstance(one, NoisyStatistic | DistinctCount)
    ]


def _receipts(database: Database) -> tuple[float, float, Sequence[Mapping[str, Any]]]:
    with psycopg.connect(database.lease.ledger_dsn) as connection:
        rows = connection.execute(
            "SELECT coalesce(drawn_epsilon, epsilon)::float8, epsilon::float8, events"
            " FROM ledger.receipt WHERE source = %s",
            (database.lease.source,),
        ).fetchall()
    events = [event for *_, some in rows for event in some]
    return sum(total for total, *_ in rows), sum(own for _, own, _ in rows), events
