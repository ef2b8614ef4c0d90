"""A change of a policy, and words for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from proxy.base.shown_numbers import shown_number
from proxy.policy.policy_decimals import decimal


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
