"""Epsilon and delta that promise little, and budgets that contradict each other: by the policy alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from proxy.mechanisms.loss import Loss
from proxy.mechanisms.rho_of_noise import rho_of_pure
from proxy.mechanisms.zcdp import rho_of_loss
from proxy.policy.blocks_of_time import blocks_of
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.odds_words import reached
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import (
    Accounting,
    BlockLength,
    Budget,
    IdentifierUnit,
    Noise,
    Period,
    Policy,
)
from proxy.policy.publication import Publication

# That a year can touch.
BLOCKS_A_YEAR = {
    BlockLength.DAY: 366,
    BlockLength.WEEK: 54,
    BlockLength.MONTH: 12,
    BlockLength.QUARTER: 4,
    BlockLength.YEAR: 1,
}

STATEMENT_EPSILON = Fraction(4)
STATEMENT_DELTA = Fraction(1, 100_000)
PUBLISHING_DELTA = Fraction(1, 1_000)
TOTAL_EPSILON = Fraction(20)
LARGEST_TOTAL_EPSILON = Fraction(50)
SHARE_OF_UNITS = Fraction(1, 10)
TOTAL_DELTA = Fraction(1, 10_000)
PUBLISHING_DAYS = 30
_DAY = 86_400
_YEAR = 366 * _DAY
_TIMES_A_YEAR = {
    Period.DAY: 366,
    Period.WEEK: 54,
    Period.MONTH: 12,
}  # windows that a year can touch

Path = tuple[str | int, ...]


def amount_findings(policy: Policy) -> Iterator[Finding]:
    """
    Given    a policy that is consistent in itself
    """
    yield from _epsilons(policy)
    yield from _delta(policy.privacy.delta, "a statement", ("privacy", "delta"))
    path: Path
    for index, publication in enumerate(policy.publish):
        if publication.loss.delta != policy.privacy.delta:
            path = ("publish", index, "delta")
            yield from _delta(publication.loss.delta, f"the published {publication.name}", path)
    total = policy.budgets.total
    for line, budget in stated_budgets(policy):
        yield from _above_total(line, budget, total)
        yield from _below_statement(line, budget, policy)
    yield from _below_statement(("budgets", "total"), total, policy)
    yield from _total(total.limit.epsilon)
    yield from _published_up(policy)
    yield from _of_a_year(policy)
    yield from _against_units(policy)
    yield from block_findings(policy)
    forever: dict[tuple[str, ...], Budget] = {("budgets", "total"): total}
    forever |= {
        ("budgets", "tables", str(name)): own for name, own in policy.budgets.tables.items()
    }
    for line, budget in forever.items():
        if budget.limit.delta > TOTAL_DELTA:
            yield _finding(
                FindingName.TOTAL_DELTA_LARGE,
                line,
                f"{'.'.join(line)}: delta {_text(budget.limit.delta)} is above {_text(TOTAL_DELTA)}: so large "
                "a chance that somebody is not protected at all",
                "write a delta below 1 / number of people, such as delta: 1e-5",
            )


def _total(epsilon: Fraction) -> Iterator[Finding]:
    if epsilon <= TOTAL_EPSILON:
        return
    name, most, meaning = (
        FindingName.TOTAL_EPSILON_LARGE,
        TOTAL_EPSILON,
        "all answers together may say nearly everything about a person",
    )
    if epsilon > LARGEST_TOTAL_EPSILON:
        name, most, meaning = (
            FindingName.TOTAL_IS_LARGE,
            LARGEST_TOTAL_EPSILON,
            "nothing is promised to anybody against all answers together: a guess of 1 in 100 that a person is "
            f"in the data can come to {reached(epsilon)}",
        )
    yield _finding(
        name,
        ("budgets", "total"),
        f"budgets.total: epsilon {_text(epsilon)} is above {_text(most)}: {meaning}",
        "write a smaller one, such as epsilon: 20, or accept this with the reason",
    )


def yearly_losses(policy: Policy) -> dict[str, Loss]:
    """What the budgets that renew, and publications, come to in a year. An analyst and their groups pay at
    once, so these do not add up."""
    yearly: dict[str, Loss] = {}
    for path, budget in stated_budgets(policy):
        times = _TIMES_A_YEAR.get(budget.per)
        if times is not None and budget.limit.epsilon:
            delta = min(times * budget.limit.delta, 1 - Fraction(1, 10**9))
            yearly[".".join(path)] = Loss(times * budget.limit.epsilon, delta)
    published = [(one.loss.epsilon, one.loss.delta, _times_a_year(one)) for one in policy.publish]
    if published:
        delta = sum((times * delta for _, delta, times in published), Fraction(0))
        epsilon = sum((times * epsilon for epsilon, _, times in published), Fraction(0))
        yearly["publish"] = Loss(epsilon, min(delta, 1 - Fraction(1, 10**9)))
    return yearly


def _of_a_year(policy: Policy) -> Iterator[Finding]:
    total = policy.budgets.total.limit
    yearly = yearly_losses(policy)
    if not yearly or not total.epsilon:
        return
    said = "; ".join(
        f"{line} epsilon {_rounded(loss.epsilon, 6)}, delta {_rounded(loss.delta, 2)}"
        for line, loss in yearly.items()
    )
    yield _finding(
        FindingName.TOTAL_RENEWS,
        ("budgets",),
        f"what renews would come to in a year by itself: {said}. The total does not renew. All years and all "
        f"analysts together stay within its epsilon {_text(total.epsilon)}, delta {_text(total.delta)}, until "
        "the policy raises it or two administrators give budget back",
        "",
    )


def block_findings(policy: Policy) -> Iterator[Finding]:
    """A finding of each table whose unit has blocks of time."""
    total = policy.budgets.total.limit.epsilon
    for table in policy.protected():
        if not isinstance(table.unit, IdentifierUnit) or table.unit.blocks is None:
            continue
        per, one = table.unit.blocks.per, table.unit.identifier
        yearly = min(BLOCKS_A_YEAR[per], max(1, len(blocks_of(table))))
        yield Finding(
            name=FindingName.UNIT_HAS_BLOCKS,
            where=str(table.name),
            what=f"{table.name}: each {per.value} has a total of its own, epsilon {_text(total)}. A {one} with"
            f" rows in all {per.value}s of a year can lose {yearly} times that, epsilon"
            f" {_text(yearly * total)}: a guess of 1 in 100 that they are in the data can come to"
            f" {reached(yearly * total)}; of the rows of one {per.value}, to {reached(total)}",
            fix="leave per and of out, or accept this with the reason",
            path=("tables", str(table.name), "unit"),
        )


def _against_units(policy: Policy) -> Iterator[Finding]:
    if policy.units_about is None:
        return
    most = SHARE_OF_UNITS / policy.units_about
    deltas: dict[Path, Fraction] = {
        ("privacy", "delta"): policy.privacy.delta,
        ("budgets", "total"): policy.budgets.total.limit.delta,
    }
    for index, publication in enumerate(policy.publish):
        if publication.loss.delta != policy.privacy.delta:
            deltas["publish", index, "delta"] = publication.loss.delta
    for path, delta in deltas.items():
        if delta >= most:
            yield _finding(
                FindingName.DELTA_AGAINST_UNITS,
                path,
                f"{'.'.join(map(str, path))}: delta {_text(delta)} is not below {float(most):.2g}, a tenth of "
                f"1 / {policy.units_about:,} (units_about): with this chance nothing is promised to a person, "
                "so it has to be far below one of all of them",
                f"write a delta below {float(most):.2g}",
            )


def _epsilons(policy: Policy) -> Iterator[Finding]:
    stated: dict[Path, tuple[str, Fraction]] = {
        ("privacy", "epsilon"): ("epsilon of a statement", policy.privacy.epsilon)
    }
    if policy.privacy.max_epsilon != policy.privacy.epsilon:
        what = "max_epsilon, which a session can ask for,"
        stated["privacy", "max_epsilon"] = (what, policy.privacy.max_epsilon)
    path: Path
    for index, publication in enumerate(policy.publish):
        path = ("publish", index, "epsilon")
        stated[path] = (f"epsilon of the published {publication.name}", publication.loss.epsilon)
    for path, (what, epsilon) in stated.items():
        if epsilon > STATEMENT_EPSILON:
            yield _finding(
                FindingName.STATEMENT_EPSILON_LARGE,
                path,
                f"{what} is {_text(epsilon)}, above {STATEMENT_EPSILON}: one answer can change the odds "
                "about a person by more than 54",
                "write a smaller one, such as epsilon: 1",
            )


def _delta(delta: Fraction, what: str, path: Path) -> Iterator[Finding]:
    if delta > PUBLISHING_DELTA:
        yield _finding(
            FindingName.STATEMENT_DELTA_PUBLISHES,
            path,
            f"delta of {what} is {_text(delta)}: each may publish one of {round(1 / delta):,} people",
            "write delta: 1e-8",
        )
    elif delta > STATEMENT_DELTA:
        yield _finding(
            FindingName.STATEMENT_DELTA_LARGE,
            path,
            f"delta of {what} is {_text(delta)}, above {_text(STATEMENT_DELTA)}: it belongs far below "
            "1 / number of people",
            "write delta: 1e-8",
        )


def _below_statement(path: Path, budget: Budget, policy: Policy) -> Iterator[Finding]:
    """Nothing is below it that is 0: nobody is to ask then."""
    wanted = policy.privacy
    if budget.limit.epsilon == 0:
        return
    below = [
        f"{word} {_text(own)} is below the {_text(least)} of a statement"
        for word, own, least in (
            ("epsilon", budget.limit.epsilon, wanted.epsilon),
            ("delta", budget.limit.delta, wanted.delta),
        )
        if 0 < own < least
    ]
    if below:
        yield _finding(
            FindingName.BUDGET_BELOW_STATEMENT,
            path,
            f"{'.'.join(map(str, path))}: {' and '.join(below)}: not one that spends it "
            f"{'on this table ' if path[:2] == ('budgets', 'tables') else ''}can be asked",
            "write a larger budget, or less under privacy",
        )


def _times_a_year(one: Publication) -> int:
    """How often it is charged in a year of 366 days, a series of 365 days once."""
    seconds = _YEAR if one.continual is None else _YEAR - _DAY
    return -(-seconds // one.charged_seconds)


def _published_up(policy: Policy) -> Iterator[Finding]:
    total = policy.budgets.total.limit.epsilon
    daily = sum(
        (one.loss.epsilon * _DAY / one.charged_seconds for one in policy.publish), Fraction(0)
    )
    if total == 0 or daily == 0 or policy.accounting is not Accounting.BASIC:
        return
    days = total / daily
    if days < PUBLISHING_DAYS:
        lasts = f"{float(days):.0f} days" if days >= 2 else f"{float(days * 24):.1f} hours"
        ends, uses = FindingName.PUBLISHING_ENDS_TOTAL, FindingName.PUBLISHING_USES_TOTAL
        yield _finding(
            ends if days <= 1 else uses,
            ("publish",),
            f"what is published takes epsilon {float(daily):.6g} a day: the whole total of {_text(total)} is "
            f"used up in {lasts}, and then nobody can ask or publish",
            "publish less often, or with less epsilon",
        )


def stated_budgets(policy: Policy) -> Iterator[tuple[tuple[str, ...], Budget]]:
    budgets = policy.budgets
    yield ("budgets", "default"), budgets.default
    for kind, lines in (("analysts", budgets.analysts), ("groups", budgets.groups)):
        for name, line in lines.items():
            yield ("budgets", kind, name), line
    for table, line in budgets.tables.items():
        yield ("budgets", "tables", str(table)), line


def _above_total(path: tuple[str, ...], budget: Budget, total: Budget) -> Iterator[Finding]:
    above = [
        f"{word} {_text(own)} is above {_text(most)}"
        for word, own, most in (
            ("epsilon", budget.limit.epsilon, total.limit.epsilon),
            ("delta", budget.limit.delta, total.limit.delta),
        )
        if own > most
    ]
    if above:
        yield _finding(
            FindingName.BUDGET_ABOVE_TOTAL,
            path,
            f"{'.'.join(path)}: {' and '.join(above)}, the total of everybody together",
            "write less than the total, or a larger total",
        )


def _finding(name: FindingName, path: Path, what: str, fix: str) -> Finding:
    return Finding(name=name, where=".".join(map(str, path)), what=what, fix=fix, path=path)


def _text(amount: Fraction) -> str:
    return decimal(amount)


def _rounded(amount: Fraction, digits: int) -> str:
    return decimal(Fraction(f"{float(amount):.{digits}g}"))


# Whether the shared budget would last longer under zCDP, or with Gaussian noise under it: by public numbers.
#
# What is counted is a COUNT at the policy's epsilon, which one unit moves by one step: the worst of discrete
# Laplace noise. Of Gaussian noise of the same standard deviation rho is smaller; but rho adds up to little only
# where there are many, so that both are worth it for large budgets only.

_WORTH_IT = Fraction(11, 10)
_BISECTIONS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """How many typical COUNTs the total admits: as the policy is, by rho, and with Gaussian noise as exact as
    now, which takes this epsilon a statement. None: no such epsilon may be given."""

    now: int
    by_rho: int
    by_gaussian: int
    gaussian_epsilon: Fraction | None


def accounting_findings(policy: Policy) -> Iterator[Finding]:
    """
    Given    a policy that is consistent in itself
    Gives    one finding, where a tenth more could be asked
    """
    total = policy.budgets.total.limit
    if policy.privacy.noise is not Noise.LAPLACE or total.epsilon == 0 or total.delta == 0:
        return
    lasting = how_long(policy)
    epsilon = lasting.gaussian_epsilon
    best_laplace = max(lasting.now, lasting.by_rho)
    is_small = epsilon is not None and epsilon <= STATEMENT_EPSILON
    if epsilon is not None and is_small and lasting.by_gaussian > best_laplace * _WORTH_IT:
        count = lasting.by_gaussian
        other = ". All but COUNT and SUM then cost more: a session can lower its epsilon for them"
        change = f"`accounting: zcdp`, `noise: gaussian` and `epsilon: {float(epsilon):g}`"
    elif lasting.by_rho > lasting.now * _WORTH_IT:
        count, change, other = lasting.by_rho, "`accounting: zcdp`", ""
    else:
        return
    what = (
        f"with {change} the total would last for {count:,} COUNTs as exact as now, instead of {lasting.now:,}."
        f" Half of each budget's delta is set aside for that: statements with delta get half as many{other}"
    )
    yield Finding(
        name=FindingName.TOTAL_COULD_LAST_LONGER,
        where="budgets",
        what=what,
        path=("budgets", "total"),
    )


def how_long(policy: Policy) -> Lasting:
    """Of a policy with Laplace noise and a total above 0."""
    privacy, total = policy.privacy, policy.budgets.total.limit
    most = rho_of_loss(total.epsilon, total.delta / 2)
    by_epsilon = math.floor(total.epsilon / privacy.epsilon)
    by_rho = max(by_epsilon, math.floor(most / rho_of_pure(privacy.epsilon)))
    # The variance of DLap(1/epsilon) is 1 / (2 sinh^2(epsilon/2)); rho of a Gaussian with it 1/(2 sigma2).
    rho = math.sinh(float(privacy.epsilon) / 2) ** 2 if privacy.epsilon < 40 else math.inf
    epsilon = _epsilon_of(rho, privacy.delta)
    return Lasting(
        now=by_rho if policy.accounting is Accounting.ZCDP else by_epsilon,
        by_rho=by_rho,
        by_gaussian=0
        if epsilon is None
        else math.floor(most / rho_of_loss(epsilon, privacy.delta)),
        gaussian_epsilon=epsilon,
    )


@lru_cache(maxsize=64)  # a hundred conversions; each look at a policy asks for the same
def _epsilon_of(rho: float, delta: Fraction) -> Fraction | None:
    """The least epsilon, in three digits, at which a statement's noise has this rho. None above 100."""
    low, high = 0.0, 100.0
    if not rho < rho_of_loss(Fraction(100), delta):
        return None
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if rho_of_loss(Fraction(middle), delta) < rho else (low, middle)
    digits = 2 - math.floor(math.log10(high))
    return Fraction(math.ceil(high * 10**digits)) / Fraction(10) ** digits
