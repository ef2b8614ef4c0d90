"""A change of a policy, and words for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from proxy.base.shown_numbers import shown_number
from proxy.mechanisms.loss import Loss
from proxy.policy.odds_words import odds_text
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import Policy


class Direction(Enum):
    """For analysts. EXPOSES: people's rows are shown that were protected."""

    GAINS = "gains"
    LOSES = "loses"
    EXPOSES = "exposes"
    CHANGES = "changes"


class ForPeople(Enum):
    """What becomes of the protection of people whom the data is about. What nobody decided is LOOK."""

    WEAKER = "weaker"
    STRONGER = "stronger"
    SAME = "same"
    LOOK = "look at it"


class Topic(Enum):
    """In the order of a report."""

    RIGHTS = "rights"
    PROTECTION = "protection"
    ERROR = "error"
    BUDGETS = "budgets"
    CACHE = "cached answers"
    PUBLISHED = "published tables"
    REST = "the rest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """where: a key of the policy; what: in words."""

    topic: Topic
    direction: Direction
    where: str
    what: str
    people: ForPeople = ForPeople.LOOK


def change(
    topic: Topic, direction: Direction, where: str, what: str, people: ForPeople = ForPeople.LOOK
) -> Change:
    return Change(topic=topic, direction=direction, where=where, what=what, people=people)


def error(where: str, what: str, people: ForPeople = ForPeople.LOOK) -> Change:
    return change(Topic.ERROR, Direction.CHANGES, where, what, people)


def by_amounts(*amounts: tuple[Fraction | int, Fraction | int]) -> ForPeople:
    """Each before and after; more of one is weaker. Where one grows and another shrinks, nobody can say.

    >>> [by_amounts(*one).value for one in (((1, 2), (3, 3)), ((2, 1),), ((1, 1),), ((1, 2), (2, 1)))]
    ['weaker', 'stronger', 'same', 'look at it']
    """
    grows, shrinks = (any(b > a for a, b in amounts), any(b < a for a, b in amounts))
    if grows and shrinks:
        return ForPeople.LOOK
    return ForPeople.WEAKER if grows else ForPeople.STRONGER if shrinks else ForPeople.SAME


def times(factor: Fraction) -> str:
    """
    >>> times(Fraction(2)), times(Fraction(1, 3)), times(Fraction(1))
    ('times 2', 'times 0.33', 'as before')
    """
    return "as before" if factor == 1 else f"times {shown_number(float(factor), 2)}"


def both(was: Fraction, now: Fraction) -> str:
    return decimal(was) if was == now else f"{decimal(was)} -> {decimal(now)}"


def word_of(value: object) -> str:
    if value is None:
        return "not said"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Fraction):
        return decimal(value)
    if isinstance(value, Mapping):
        return (
            ", ".join(f"{word_of(key)} {word_of(item)}" for key, item in value.items())
            or "not said"
        )
    return str(value)


# What a change of policy does to the protection of people, summed up.

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
