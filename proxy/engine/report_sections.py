"""Sections of a policy report on budgets: how far answers can bring a guess, and how budgets change."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.engine.unit_words import unit_of_policy
from proxy.mechanisms.loss import Loss
from proxy.policy.amount_findings import block_findings, stated_budgets, yearly_losses
from proxy.policy.change_words import protection_words
from proxy.policy.odds_words import odds_text, reached
from proxy.policy.policy_changes import policy_changes
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import Accounting, Budget, Period, Policy, PublicTable
from proxy.policy_file.shown_text import kept_statement

# Fields of the public registry of deployments (tier 3) and of the privacy label that a policy has.


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Sentences, and a table below them if it has heads. key: stable, for programs."""

    key: str
    title: str
    text: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def registry_entry(policy: Policy, mechanisms: Iterable[str]) -> Mapping[str, object]:
    """Empty texts are for the owner: a policy does not say them.

    Source: opendp/deployments-registry-data, template of a deployment.
    """
    total = policy.budgets.total.limit
    public = [str(one.name) for one in policy.tables.values() if isinstance(one, PublicTable)]
    domain = [f"{one.name} ({', '.join(one.columns)})" for one in policy.protected()]
    return {
        "basic": {"name": policy.database, "description": "", "intended_use": ""},
        "dp_variant": {
            "variant_name": "Approximate DP" if total.delta else "Pure DP",
            "data_domain": "; ".join(domain),
            "unprotected_quantities": ", ".join(public) or "none",
        },
        "privacy_loss": {
            "privacy_unit": unit_of_policy(policy),
            "privacy_unit_details": "neighbours differ in the rows of one unit (add or remove)",
            "number_of_privacy_units": policy.units_about,
            "privacy_parameters": {"epsilon": float(total.epsilon), "delta": float(total.delta)},
            "privacy_parameters_details": "of all answers together, within a total that does not renew",
        },
        "deployment_model": {
            "model_name": "Central",
            "trust_assumptions": "dpproxy, its operator and the protected database are trusted",
            "release_type": "Many releases",
            "access_type": "Interactive",
        },
        "implementation": {
            "mechanisms": "; ".join(mechanisms),
            "composition": "epsilon and delta add up"
            if policy.accounting is Accounting.BASIC
            else "epsilon and delta add up, or rho (zCDP), whichever admits more",
            "post_processing": "rounding, intervals, and sums of released numbers",
        },
        "administrative": {"status": "Draft", "tier": 3},
    }


def privacy_label(policy: Policy) -> Mapping[str, object]:
    """Source: privacy label of Dibia, Near and others (arXiv 2507.15997)."""
    total = policy.budgets.total.limit
    return {
        "unit": unit_of_policy(policy),
        "epsilon": float(total.epsilon),
        "delta": float(total.delta),
        "epsilon_of_a_statement": float(policy.privacy.epsilon),
        "delta_of_a_statement": float(policy.privacy.delta),
        "model": "central",
    }


_LARGE = Fraction(10)  # where a guess of 1 in 100 comes to more than 99 %
_COIN = Fraction(1, 2)
_HOLDS = Fraction(4)  # where a guess of 1 in 100 comes to 1 in 2 at most
_NEVER = "never renews"
_ADDED = {
    Accounting.BASIC: "Charges add up: epsilons and deltas of all statements (PROOFS.md 25).",
    Accounting.ZCDP: "Charges add up as epsilons and deltas or as rho (zCDP), whichever admits more, each"
    " with half of the budget's delta (PROOFS.md 25).",
}
_WHOSE = {"analysts": "analyst {}", "groups": "group {}, all members", "tables": "table {}"}


def budgets_section(policy: Policy) -> Section:
    privacy, total = policy.privacy, policy.budgets.total
    one = Loss(privacy.epsilon, privacy.delta)
    largest = Loss(privacy.max_epsilon, privacy.max_delta)
    lines = {("budgets", "total"): total, **dict(stated_budgets(policy))}
    return Section(
        key="budgets",
        title="Budgets",
        text=tuple(_budget_words(policy)),
        heads=(
            *("line of the policy", "for", "epsilon", "delta", "per", "enough for statements"),
            *("a guess of 1 in 100 comes to, at most", "of 1 in 2"),
        ),
        rows=(
            _row("privacy (each statement)", "any analyst", one, "statement", "1"),
            _row("privacy (a statement at most)", "any analyst", largest, "statement", "1"),
            *(
                _row(
                    ".".join(path),
                    _whose(path),
                    line.limit,
                    _per(line),
                    _enough(policy, line.limit),
                )
                for path, line in lines.items()
            ),
        ),
    )


def _row(line: str, whose: str, loss: Loss, per: str, enough: str) -> tuple[str, ...]:
    guesses = reached(loss.epsilon), reached(loss.epsilon, _COIN)
    return line, whose, *loss_text(loss), per, enough, *guesses


def _budget_words(policy: Policy) -> Iterator[str]:
    epsilon, total = decimal(policy.privacy.epsilon), policy.budgets.total.limit
    one = unit_of_policy(policy)
    yield (
        f"Somebody thinks it 1 in 100, or 1 in 2, likely that {one} is in the data. The last two columns say"
        " how likely they can think it after these answers, at most. With the chance delta nothing is promised."
    )
    yield (
        f"The numbers of statements are of new ones at epsilon {epsilon}. A session can ask for less, or for up"
        f" to {decimal(policy.privacy.max_epsilon)}."
        " When a line is used up, statements are refused, and nothing is charged for them. A line that renews"
        " is whole again in its next window."
    )
    if total.epsilon > _LARGE:
        yield from _large_total(policy)
    if policy.units_about is not None and total.delta:
        share = decimal(min(total.delta * policy.units_about * 100, Fraction(100)))
        yield (
            f"The total's delta times the number of units is {share} %: the chance, at most, that the bound"
            " fails for any of them. From 10 % on there is a finding (`DELTA_AGAINST_UNITS`);"
            " this limit is the proxy's own, no law's."
        )
    if policy.approve_above is not None:
        above = decimal(policy.approve_above)
        yield f"A person approves each statement of an agent above epsilon {above}."
    yield _ADDED[policy.accounting]


def _large_total(policy: Policy) -> Iterator[str]:
    total, own = policy.budgets.total.limit.epsilon, policy.budgets.default
    statement = reached(policy.privacy.max_epsilon)
    left = (
        "The line of each analyst promises next to nothing either, against one who uses all of it."
        if own.limit.epsilon > _LARGE
        else f"One analyst (budgets.default) comes to {reached(own.limit.epsilon)} with all of it."
    )
    yield (
        f"At epsilon {decimal(total)} the bound excludes hardly any guess: nothing is promised against"
        " somebody who has all answers and knows everybody else. What is left is the bound of one answer"
        f" ({statement}). {left}"
    )
    within = _enough(policy, Loss(_HOLDS, policy.budgets.total.limit.delta))
    yield (
        f"Ask the owner for a smaller total. With epsilon {decimal(_HOLDS)} a guess of 1 in 100 stays at most"
        f" {reached(_HOLDS)}; that is enough for statements: {within}. A total of 1 to 10 is usual for a small"
        " team (page Choose). Kept answers, published tables and `accounting: zcdp` give more answers within"
        " it. If it has to be larger, ask who can have all answers."
    )


def _enough(policy: Policy, limit: Loss) -> str:
    """How many statements of the policy's loss a budget admits."""
    one = Loss(policy.privacy.epsilon, policy.privacy.delta)
    number = math.floor(limit.epsilon / one.epsilon)
    of_delta = math.floor(limit.delta / one.delta) if one.delta else number
    text = f"{number:,}"
    if of_delta < number:
        text = f"{text}, of which {of_delta:,} with delta"
    return f"{text} or more" if policy.accounting is Accounting.ZCDP else text


def _whose(path: Sequence[str]) -> str:
    match path:
        case (_, "total"):
            return "all analysts together"
        case (_, "default"):
            return "each analyst without a line of their own"
        case (_, kind, name):
            return _WHOSE[kind].format(name)
        case _:
            raise AssertionError(path)


def loss_text(loss: Loss) -> tuple[str, str]:
    return decimal(loss.epsilon), decimal(loss.delta)


def _per(budget: Budget) -> str:
    return _NEVER if budget.per is Period.NONE else budget.per.value


def adjustments_section(
    ledger: tuple[tuple[tuple[str, ...], ...], tuple[str, ...]] | None, heads: tuple[str, ...]
) -> Section:
    """
    Args:
        ledger: Rows, and requests that wait. None: no ledger was read.
        heads: Of the rows.
    """
    text = [
        "The proxy never gives a charge back. Two things make a budget larger. The policy's file states more:"
        " one person who may write it is enough. Or an administrator asks by `dpproxy ledger adjust` for an"
        " amount below 0, and another one confirms it. Then the figures of what was spent are smaller than what"
        " was charged, and what was shown stays shown.",
        "An amount above 0 counts releases by other ways as spent: less is left.",
        "Where it is seen: `dpproxy ledger log` has adjustments, and each policy that is taken while the proxy"
        " serves. The section on changes has each key of the policy. No signature is asked for, and who can"
        " write the ledger's tables needs no confirmation.",
    ]
    rows: tuple[tuple[str, ...], ...] = ()
    if ledger is None:
        text.append("Adjustments are not in this report: no ledger was named.")
    else:
        rows, waiting = ledger
        text += [] if rows else ["There are none."]
        text += (f"Not confirmed yet, so without effect: {one}." for one in waiting)
    return Section(
        key="adjustments",
        title="What administrators added and gave back",
        text=tuple(text),
        heads=heads if rows else (),
        rows=rows,
    )


def year_section(policy: Policy) -> Section:
    key, title = "year", "What a year can come to"
    one, losses = unit_of_policy(policy), yearly_losses(policy)
    blocks = tuple(f"{found.what}." for found in block_findings(policy))
    total = policy.budgets.total.limit
    if not losses:
        text = "No budget renews. The total above holds for all years."
        return Section(key=key, title=title, text=(text, *blocks))
    return Section(
        key=key,
        title=title,
        text=(
            "For tables without blocks of time the total does not renew."
            if blocks
            else "The total does not renew: all years and all analysts together stay within it, until it is"
            " made larger (see above).",
            *blocks,
        ),
        heads=(
            *("line of the policy", "epsilon without the total", "delta without the total"),
            "with the total",
        ),
        rows=tuple(
            (
                line,
                *loss_text(loss),
                f"the total ends it at epsilon {decimal(total.epsilon)}"
                if not blocks and loss.epsilon > total.epsilon
                else odds_text(loss, one),
            )
            for line, loss in losses.items()
        ),
    )


# What a policy report says of the report before it: what the policy changes, in the words of `policy diff`.

_SHORT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierReport:
    """policy: None where its text cannot be read; served: digests of policies that were served for the first
    time since, and when."""

    digest: str
    at: str
    by: str
    policy: Policy | None
    served: tuple[tuple[str, str], ...]


def changes_section(
    policy: Policy, earlier: EarlierReport | None, *, has_ledger: bool = True
) -> Section:
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    if not has_ledger:
        text = [
            "This report cannot tell: no ledger was named (--ledger or --state)."
            " The ledger notes reports that are made with --record.",
        ]
    elif earlier is None:
        text = ["No earlier report is noted in the ledger. A report is noted with --record."]
    else:
        text = [
            f"The last report that is noted is of {earlier.at}, by {earlier.by}, of the policy"
            f" {earlier.digest[:_SHORT]}.",
            *_served(policy, earlier),
        ]
        if earlier.digest == policy.digest:
            text.append("The policy is the same.")
        elif earlier.policy is None:
            text.append("What has changed cannot be told: this version cannot read that policy.")
        else:
            # Connection strings are not kept, so they are not compared; of published statements digests are.
            before = replace(earlier.policy, source=policy.source)
            changes = policy_changes(before, _as_kept(policy))
            text += (
                protection_words(before, policy, changes)
                if changes
                else [
                    "Both policies say the same. Comments and the connection string are not compared."
                ]
            )
            if changes:
                heads = ("key of the policy", "change", "protection of people")
                rows = tuple((one.where, one.what, one.people.value) for one in changes)
    title = "Changes since the last report"
    return Section(key="changes", title=title, text=tuple(text), heads=heads, rows=rows)


def _as_kept(policy: Policy) -> Policy:
    kept = (replace(one, sql=kept_statement(one.sql)) for one in policy.publish)
    return replace(policy, publish=tuple(kept))


def _served(policy: Policy, earlier: EarlierReport) -> Iterator[str]:
    others = [
        f"{digest[:_SHORT]} ({at})" for digest, at in earlier.served if digest != policy.digest
    ]
    if others:
        yield f"Other policies that were served since, for the first time: {', '.join(others)}."
