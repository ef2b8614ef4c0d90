"""What may stand under a key of a policy file, as data: the reader takes its keys from here, and the schema for
editors is made of it. What a schema cannot say (that low is below high, that a name exists) the reader says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Plain:
    """A text: in quotes or not, also one that others take for a number. pattern: of the whole of it."""

    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """least, most: None where only the rest of the policy says it; below: less than that."""

    least: Fraction | None = None
    most: Fraction | None = None
    below: Fraction | None = None


@dataclass(frozen=True, slots=True)
class NumberWithin:
    """A number from the least to the most."""

    least: Fraction
    most: Fraction
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """Words. on and off are what some readers take for true and false."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """[low, high]"""

    of: Shape


@dataclass(frozen=True, slots=True)
class KeyList:
    """Public keys: texts, numbers, dates, null."""

    most: int


@dataclass(frozen=True, slots=True)
class ListOf:
    of: Shape
    most: int


@dataclass(frozen=True, slots=True)
class NamedBy:
    """A mapping whose keys the owner chooses."""

    of: Shape
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Keyed:
    """A mapping whose keys are these. about: where the reference explains them, such as `privacy`."""

    keys: Mapping[str, Shape]
    required: tuple[str, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class Either:
    """One of several."""

    shapes: tuple[Shape, ...]


Shape = Plain | Number | NumberWithin | OneOf | Pair | KeyList | ListOf | NamedBy | Keyed | Either

TEXT = Plain()
NUMBER = Number()
SWITCH = OneOf(("on", "off"))


def one_of(known: type[Enum]) -> OneOf:
    """The values of an enumeration, as `policy_nodes.member` reads them."""
    return OneOf(tuple(str(member.value) for member in known))


def whole_number(least: int, most: int) -> NumberWithin:
    return NumberWithin(Fraction(least), Fraction(most), is_whole=True)
