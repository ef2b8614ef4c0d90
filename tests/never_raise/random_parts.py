"""What random expressions of each kind have in common, and may ask of each other."""

from __future__ import annotations

import random  # noqa: TID251  the same expressions in every run
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tests.never_raise.words import KEYS

Make = Callable[[int], str]
T = TypeVar("T")


@dataclass(frozen=True)
class RandomParts(ABC):
    """
    Given    draw: where choices come from
    """

    draw: random.Random

    @abstractmethod
    def number(self, depth: int) -> str: ...

    @abstractmethod
    def condition(self, depth: int) -> str: ...

    @abstractmethod
    def text(self, depth: int) -> str: ...

    @abstractmethod
    def time(self, depth: int) -> str:
        """Or a date."""

    @abstractmethod
    def instant(self, depth: int) -> str:
        """A timestamp with or without time zone: mostly a column."""

    def _any(self, depth: int) -> str:
        make: Make = self._one((self.number, self.text, self.time, self.condition))
        return make(depth)

    def _case(self, make: Make, depth: int) -> str:
        otherwise = "" if self._rarely() else f" ELSE {make(depth)}"
        if self.draw.random() < 0.2:
            of: Make = self._one((self.number, self.text, self.time))
            small = min(depth, 1)
            return f"(CASE {of(small)} WHEN {of(small)} THEN {make(depth)}{otherwise} END)"
        more = f" WHEN {self.condition(depth)} THEN {make(0)}" if self._rarely() else ""
        return f"(CASE WHEN {self.condition(depth)} THEN {make(depth)}{more}{otherwise} END)"

    def _choice(self, make: Make, depth: int) -> str:
        word = self._one(("coalesce", "greatest", "least", "nullif"))
        return f"{word}({make(depth)}, {make(self.draw.randint(0, depth))})"

    def _path(self) -> str:
        return "".join(f" -> {self._one(KEYS)}" for _ in range(self._one((0, 0, 1, 2))))

    def _length(self) -> str:
        return self._one(("0", "1", "-1", "3", "2147483647", "-2147483647", "NULL", "$1"))

    def _rarely(self) -> bool:
        return self.draw.random() < 0.15

    def _one(self, choices: Sequence[T]) -> T:
        return self.draw.choice(choices)
