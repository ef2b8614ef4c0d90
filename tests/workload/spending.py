"""What a workload spends under a setting: asked of the engine, paid from a ledger of its own.

The noise of each answer, and the error that it states, are compared with those that the same question has when
it is asked for the first time with Laplace noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import psycopg
import pytest

from proxy.cli.assembly import Database, assemble
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.policy_statements import ProtectedQuery
from proxy.kernel.plan import (
    BlockPlan,
    ContinualNoise,
    DistinctCount,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    PrivatePlan,
)
from proxy.planner.series import noise_of_a_step
from proxy.policy.check import fitted
from proxy.policy.policy_model import Accounting, Reuse
from proxy.policy_file.policy_yaml import read_policy
from proxy.shadow.shadow_database import Shadow
from tests.asked_by import run_by
from tests.chosen_slots import slot_offset
from tests.ledger_key import LEDGER_CIPHER
from tests.live.served_database import asked
from tests.mechanisms.loss_of_rho import loss_of_rho
from tests.samples import DEMO_POLICIES
from tests.servers_fixture import Servers
from tests.unjudged_rows import unjudged
from tests.workload.questions import ANALYSTS, Question

DELTA = Fraction(1, 10**6)
_BUDGETS = """\
budgets:
  total:   {epsilon: 100000, delta: 1e-6}
  default: {epsilon: 100000, delta: 1e-6}
"""
# Changes to the demo's policies: epsilon 1 for each statement, no bound that each statement chooses anew, and
# times that go on. The demo's end within October, so that later rows would count in the group of October, and a
# question about October alone is not one of that group's (docs/explanation/budgets.md 4).
INSTEAD = {
    "created_at: {bounds: [2020-01-01, 2026-10-31]": "created_at: {bounds: [2020-01-01, 2027-01-01]",
    "max_rows_per_unit: auto": "max_rows_per_unit: 40",
    ", per_unit: [0, 5000]": "",
    "  max_epsilon: 0.5": "  max_epsilon: 20",
    "  max_epsilon: 1.0": "  max_epsilon: 20",
    "\n  epsilon: 0.2": "\n  epsilon: 1.0",
    "\n  epsilon: 0.5": "\n  epsilon: 1.0",
    "\n  delta: 1e-8": "\n  delta: 1e-6",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """name: as the table has it; derives: or kept answers serve for the same question alone; is_gaussian: each
    statement asks for the least epsilon, by 0.01, at which its answers are as exact as of Laplace noise
    at 1"""

    name: str
    reuse: Reuse | None
    derives: bool = True
    is_gaussian: bool = False


_SLOT = Reuse(31 * 86_400, slot_offset(31 * 86_400))
NOTHING = Setting(name="nothing", reuse=None)
EXACT = Setting(name="same question", reuse=replace(_SLOT, is_lifted=False), derives=False)
DERIVED = Setting(name="+ derivation", reuse=replace(_SLOT, is_lifted=False))
LIFTED = Setting(name="+ lifting", reuse=_SLOT)
GAUSSIAN = Setting(name="+ zCDP, `noise: gaussian`", reuse=_SLOT, is_gaussian=True)
SETTINGS = (NOTHING, EXACT, DERIVED, LIFTED, GAUSSIAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """total: epsilon of everybody's budgets, those of both databases added; own: those of the analysts; drawn:
    how many statements cost the total something; noise, stated: of each answer, the largest standard deviation
    and stated error beside that of a fresh one with Laplace noise"""

    total: float
    own: Mapping[str, float]
    drawn: int
    noise: Sequence[float]
    stated: Sequence[float]


class Workload:
    """The demo's databases, whose shadows are built once."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._shadows: dict[str, Shadow] = {}
        self._fresh: dict[str, PrivatePlan] = {}

    def database(self, name: str, setting: Setting) -> Database:
        text = DEMO_POLICIES[name].read_text(encoding="utf-8")
        for found, instead in INSTEAD.items():
            text = text.replace(found, instead)
        text = text.replace(f"database: {name}", f"database: workload_{name}")
        if setting.is_gaussian:
            text = text.replace("\n  noise: laplace", "\n  noise: gaussian")
            text = text.replace("dpproxy: 1", "dpproxy: 1\naccounting: zcdp")
        text = text[: text.index("budgets:")] + _BUDGETS
        dsn = self._servers.source_dsns[name]
        policy = read_policy(text, f"{name}.yaml", {f"{name.upper()}_DSN": dsn})
        catalog = self._servers.catalogs[name]
        policy = replace(fitted(policy, catalog), reuse=setting.reuse)
        if name not in self._shadows:
            server = self._servers.shadow_server
            self._shadows[name] = Shadow(server.dsn(), policy.database, server.address)
            self._shadows[name].build(policy, catalog, unjudged(policy))
        return assemble(
            policy, catalog, self._shadows[name], self._servers.lease(policy), LEDGER_CIPHER
        )

    async def spending(self, setting: Setting, wanted: Sequence[Question]) -> Spending:
        """All of them asked, one after the other."""
        names = sorted({question.database for question in wanted})
        served = {name: self.database(name, setting) for name in names}
        if not self._fresh:
            self._fresh = self._planned(wanted)
        try:
            for database in served.values():
                await database.open()
            with pytest.MonkeyPatch.context() as patch:
                if not setting.derives:
                    patch.setattr("proxy.engine.charged_queries.derived_blocks", _nothing)
                shown = await _asked_all(served, wanted, setting, self._fresh)
        finally:
            for database in served.values():
                await database.close()
        fresh = [self._fresh[one.text] for one in wanted]
        return Spending(
            total=sum(_spent(database, "total", "") for database in served.values()),
            own={
                analyst: sum(_spent(database, "analyst", analyst) for database in served.values())
                for analyst in ANALYSTS
            },
            drawn=sum(_drawn(database) for database in served.values()),
            noise=list(map(_noise_ratio, shown, fresh)),
            stated=list(map(_stated_ratio, shown, fresh)),
        )

    def _planned(self, wanted: Sequence[Question]) -> dict[str, PrivatePlan]:
        served = {one.database: self.database(one.database, NOTHING) for one in wanted}
        texts = {one.text: served[one.database] for one in wanted}
        settings = {"dp.epsilon": "1"}
        return {
            text: database.engine.planned(asked(database, text), settings)
            for text, database in texts.items()
        }


async def _nothing(*_: object) -> dict[int, object]:
    return {}


async def _asked_all(
    served: Mapping[str, Database],
    wanted: Sequence[Question],
    setting: Setting,
    fresh: Mapping[str, PrivatePlan],
) -> list[PrivatePlan]:
    known: dict[str, ProtectedQuery] = {}
    epsilons: dict[tuple[str, tuple[str, ...]], str] = {}
    shown = []
    for one in wanted:
        database = served[one.database]
        if one.text not in known:
            known[one.text] = asked(database, one.text)
        kind = one.database, one.measures
        if kind not in epsilons:
            epsilons[kind] = "1"
            if setting.is_gaussian:
                question = known[one.text]
                epsilons[kind] = _least_epsilon(database, question, fresh[one.text])
        settings = {"dp.epsilon": epsilons[kind]}
        answer = await run_by(database.engine, known[one.text], (), settings, one.analyst)
        assert answer.plan is not None
        shown.append(answer.plan)
    return shown


def _least_epsilon(database: Database, question: ProtectedQuery, fresh: PrivatePlan) -> str:
    """Of a kind of statement, as noise does not depend on groups and conditions."""
    for hundredths in range(100, 600):
        epsilon = f"{hundredths / 100:.2f}"
        plan = database.engine.planned(question, {"dp.epsilon": epsilon})
        if max(_noise_ratio(plan, fresh), _stated_ratio(plan, fresh)) <= 1:
            return epsilon
    raise AssertionError("no epsilon is large enough")


def _noise_ratio(shown: PrivatePlan, fresh: PrivatePlan) -> float:
    """Of the largest standard deviation."""
    pairs = zip(map(_variances, shown.blocks), map(_variances, fresh.blocks), strict=True)
    ratios = (a / b for some, others in pairs for a, b in zip(some, others, strict=True))
    return math.sqrt(max(ratios))


def _variances(block: BlockPlan) -> list[float]:
    """In squared steps of each release, which are the same steps in both."""
    assert all(isinstance(one, NoisyStatistic | DistinctCount) for one in block.releases)
    return [
        variance(one.noise)
        for one in block.releases
        if isinstance(one, NoisyStatistic | DistinctCount)
    ]


def variance(noise: Noise) -> float:
    """Of the laws on whole steps; sigma2 is above that of the discrete Gaussian."""
    match noise:
        case LaplaceNoise():
            return 1 / (2 * math.sinh(1 / (2 * float(noise.scale))) ** 2)
        case GaussianNoise():
            return float(noise.sigma2)
        case ContinualNoise():
            return float(noise_of_a_step(noise).sigma2)


def _stated_ratio(shown: PrivatePlan, fresh: PrivatePlan) -> float:
    """Of the errors that HTTP, NOTICE and EXPLAIN state."""
    pairs = zip(_stated(shown), _stated(fresh), strict=True)
    return max(float(a / b) for a, b in pairs)


def _stated(plan: PrivatePlan) -> list[Fraction]:
    errors = [one.error for one in accuracies(plan)]
    return [one.value for one in errors if one is not None]


_STANDING = """\
SELECT epsilon_spent, rho_spent FROM ledger.lines_at(%s, %s, '{}', transaction_timestamp())
WHERE kind = %s"""


def _spent(database: Database, kind: str, analyst: str) -> float:
    """By the ledger: the least epsilon of a budget of this delta in which all of it fits."""
    with psycopg.connect(database.lease.ledger_dsn) as connection:
        of = (database.lease.source, analyst, kind)
        row = connection.execute(_STANDING, of).fetchone()
    assert row is not None
    epsilon, rho = Fraction(row[0]), Fraction(row[1])
    if database.policy.accounting is Accounting.ZCDP:
        return float(loss_of_rho(rho, DELTA / 2).epsilon)
    return float(epsilon)


def _drawn(database: Database) -> int:
    with psycopg.connect(database.lease.ledger_dsn) as connection:
        row = connection.execute(
            "SELECT count(*) FROM ledger.receipt WHERE source = %s"
            " AND coalesce(drawn_epsilon, epsilon) > 0",
            (database.lease.source,),
        ).fetchone()
    assert row is not None
    return int(row[0])
