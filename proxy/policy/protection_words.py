"""What a change of policy does to the protection of people, summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from proxy.mechanisms.loss import Loss
from proxy.policy.change_words import Change, ForPeople
from proxy.policy.odds_words import odds_text
from proxy.policy.policy_model import Policy

_COUNTED = ((ForPeople.WEAKER, "weaker"), (ForPeople.STRONGER, "stronger"))


def weakened(changes: Sequence[Change]) -> tuple[str, ...]:
    """The keys of the policy by which people are protected less, each once."""
    return tuple(dict.fromkeys(one.where for one in changes if one.people is ForPeople.WEAKER))


def protection_words(old: Policy, new: Policy, changes: Sequence[Change]) -> list[str]:
    """Of changes from one to the other: in how many points, then the odds of a statement before and after."""
    before, after = old.privacy, new.privacy
    return [
        f"Protection of people: {_points(changes)}",
        *_odds("A statement", before.epsilon, after.epsilon, before.delta, after.delta),
        *_odds(
            "A statement at the most that a session may ask for",
            *(before.max_epsilon, after.max_epsilon, before.max_delta, after.max_delta),
        ),
    ]


def _points(changes: Sequence[Change]) -> str:
    found = Counter(one.people for one in changes)
    parts = [
        f"{word} in {found[people]} point{'s'[: found[people] != 1]}"
        for people, word in _COUNTED
        if found[people]
    ]
    if found[ForPeople.LOOK]:
        parts.append(f"{found[ForPeople.LOOK]} to look at")
    return ", ".join(parts) or "the same"


def _odds(of: str, was: Fraction, now: Fraction, *deltas: Fraction) -> list[str]:
    before, after = odds_text(Loss(was, deltas[0])), odds_text(Loss(now, deltas[1]))
    if (was, deltas[0]) == (now, deltas[1]):
        return [f"{of}, as before: {after}"]
    return [f"{of} before: {before}", f"{of} after: {after}"]
