"""What a policy changes about the cost of statements, and about budgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from fractions import Fraction

from proxy.policy.change_words import Change, Direction, Topic, both, change, error, times, word_of
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import Accounting, Budget, Period, Policy


def changed_amounts(old: Policy, new: Policy) -> Iterator[Change]:
    yield from _privacy(old, new)
    yield from _accounting(old, new)
    yield from _budgets(old, new)
    yield from _more_budgets("groups", old.budgets.groups, new.budgets.groups)
    before, after = (
        {str(name): budget for name, budget in one.budgets.tables.items()} for one in (old, new)
    )
    yield from _more_budgets("tables", before, after)


def _privacy(old: Policy, new: Policy) -> Iterator[Change]:
    before, after = old.privacy, new.privacy
    if before.epsilon != after.epsilon:
        what = (
            f"{both(before.epsilon, after.epsilon)}: errors {times(before.epsilon / after.epsilon)}"
        )
        yield error(
            "privacy.epsilon",
            f"{what}, and a statement costs {times(after.epsilon / before.epsilon)}",
        )
    if before.max_epsilon != after.max_epsilon:
        direction = Direction.GAINS if after.max_epsilon > before.max_epsilon else Direction.LOSES
        what = (
            f"{both(before.max_epsilon, after.max_epsilon)} is the most that a session may ask for"
        )
        yield change(Topic.RIGHTS, direction, "privacy.max_epsilon", what)
    if before.delta != after.delta:
        what = f"{both(before.delta, after.delta)}: what a statement may spend"
        yield error("privacy.delta", what)
    reported = ("epsilon", "max_epsilon", "delta", "max_delta")
    for one in fields(before):
        was, now = getattr(before, one.name), getattr(after, one.name)
        if one.name not in reported and was != now:
            what = f"{word_of(was)} -> {word_of(now)}"
            yield error(f"privacy.{_KEYS.get(one.name, one.name)}", what)


_KEYS = {
    "median_noise": "median.noise",
    "is_rounded": "round",
    "uses_published": "published",
    "has_notices": "notice",
}


def _budgets(old: Policy, new: Policy) -> Iterator[Change]:
    each = old.privacy.epsilon, new.privacy.epsilon
    yield from _budget("total", old.budgets.total, new.budgets.total, each)
    yield from _budget("default", old.budgets.default, new.budgets.default, each)
    for name in dict.fromkeys((*old.budgets.analysts, *new.budgets.analysts)):
        was, now = old.budgets.of(name), new.budgets.of(name)
        is_line = name in old.budgets.analysts, name in new.budgets.analysts
        note = {(True, False): " (by default now)", (False, True): " (by a line of their own now)"}
        if was == now and is_line[0] is not is_line[1]:
            what = f"the same{note[is_line]}"
            yield change(Topic.BUDGETS, Direction.CHANGES, f"budgets.analysts.{name}", what)
        yield from _budget(f"analysts.{name}", was, now, each, note.get(is_line, ""))


def _accounting(old: Policy, new: Policy) -> Iterator[Change]:
    if old.accounting is new.accounting:
        return
    what = f"{old.accounting.value} -> {new.accounting.value}: "
    if new.accounting is Accounting.ZCDP:
        what += "a statement fits where the epsilons do or where rho does"
        yield change(Topic.BUDGETS, Direction.GAINS, "accounting", what)
    else:
        what += "a statement fits where the epsilons do; what is spent counts, as epsilons"
        yield change(Topic.BUDGETS, Direction.LOSES, "accounting", what)


def _more_budgets(
    key: str, old: Mapping[str, Budget], new: Mapping[str, Budget]
) -> Iterator[Change]:
    """Of what need not have one: nothing bounds it then but the others."""
    for name in dict.fromkeys((*old, *new)):
        where, was, now = f"budgets.{key}.{name}", old.get(name), new.get(name)
        if was is None and now is not None:
            what = f"{_limits(now)}: nothing bounded it by itself; what is spent counts"
            yield change(Topic.BUDGETS, Direction.LOSES, where, what)
        elif was is not None and now is None:
            what = f"{_limits(was)}: nothing bounds it by itself any more"
            yield change(Topic.BUDGETS, Direction.GAINS, where, what)
        elif was is not None and now is not None:
            yield from _budget(f"{key}.{name}", was, now, None)


def _limits(budget: Budget) -> str:
    epsilon, delta = decimal(budget.limit.epsilon), decimal(budget.limit.delta)
    renews = "" if budget.per is Period.NONE else f" {_window(budget.per)}"
    return f"epsilon {epsilon}, delta {delta}{renews}"


def _budget(
    key: str, was: Budget, now: Budget, each: tuple[Fraction, Fraction] | None, note: str = ""
) -> Iterator[Change]:
    """each: epsilon of a statement before and now; None: not told in statements, which cost it in part"""
    if was == now and (each is None or each[0] == each[1]):
        return
    a, b = (budget.limit for budget in (was, now))
    lasts = ""
    if each is not None:
        statements = [int(limit.epsilon / cost) for limit, cost in zip((a, b), each, strict=True)]
        lasts = f": {statements[0]} -> {statements[1]} statements at the policy's epsilon"
    if was == now and each is not None:
        direction = Direction.GAINS if each[1] < each[0] else Direction.LOSES
        yield change(Topic.BUDGETS, direction, f"budgets.{key}", lasts.removeprefix(": "))
        return
    gains = b.epsilon >= a.epsilon and b.delta >= a.delta
    loses = b.epsilon <= a.epsilon and b.delta <= a.delta
    is_same_window = was.per is now.per
    direction = Direction.GAINS if gains else Direction.LOSES if loses else Direction.CHANGES
    what = f"epsilon {both(a.epsilon, b.epsilon)}, delta {both(a.delta, b.delta)}{note}{lasts}"
    if not is_same_window:
        direction = Direction.CHANGES
        what += f"; renews {_window(was.per)} -> {_window(now.per)}"
    if b.epsilon < a.epsilon or b.delta < a.delta:
        what += "; what is spent counts"
    yield change(Topic.BUDGETS, direction, f"budgets.{key}", what)


def _window(per: Period) -> str:
    return "never" if per is Period.NONE else f"each {per.value}"
