"""Plain data as one text, equal where the data is: tagged with types, lengths before texts, so that no two
values share a text.

Fields that do not take part in comparison (positions) are left out, as are those a caller names. Aliases of
relations are numbers: how a question was written does not show. Sets have no order, so there are none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction

# Names of relations, wherever they stand.
_ALIASES = frozenset({"alias", "relation"})

# By what is left out: of each class of data the fields that are told, found once.
_NAMES: dict[tuple[tuple[str, frozenset[str]], ...], dict[type, tuple[str, ...]]] = {}


class NotCanonical(TypeError):
    """A part of which no text is known: such a question is not cached."""


class CanonicalForm:
    """The texts of one question: aliases keep their numbers from part to part.

    >>> CanonicalForm().text(("a", 1, None))
    '(3 s1:a i1 ~)'
    """

    def __init__(self, left_out: Mapping[str, frozenset[str]] | None = None) -> None:
        """left_out: fields by the name of their class."""
        self._left_out = left_out or {}
        self._names = _NAMES.setdefault(tuple(sorted(self._left_out.items())), {})
        self._numbers: dict[str, int] = {}

    def number(self, aliases: Iterable[str]) -> None:
        """Aliases in an order that does not depend on what is asked of their columns."""
        for alias in aliases:
            self._numbers.setdefault(alias, len(self._numbers))

    def text(self, part: object) -> str:
        """
        Refuses  NotCanonical
        """
        if part is None:
            return "~"
        kind = type(part)
        known = self._names.get(kind)
        if known is not None:
            return (
                f"<{kind.__name__}" + "".join([f" {self._field(part, one)}" for one in known]) + ">"
            )
        if kind is str:
            return _of_text(str(part))
        if kind is bool:
            return "t" if part else "f"
        if kind is int:
            return f"i{part}"
        if isinstance(part, Fraction):
            return f"q{part.numerator}/{part.denominator}"
        if isinstance(part, Enum):
            return f"e{kind.__name__}.{part.name}"
        if isinstance(part, tuple):
            return f"({len(part)}" + "".join([f" {self.text(one)}" for one in part]) + ")"
        if not is_dataclass(part) or isinstance(part, type):
            raise NotCanonical(kind.__name__)
        out = self._left_out.get(kind.__name__, frozenset())
        self._names[kind] = tuple(f.name for f in fields(part) if f.compare and f.name not in out)
        return self.text(part)

    def _field(self, part: object, name: str) -> str:
        value = getattr(part, name)
        if name in _ALIASES and isinstance(value, str):
            return f"r{self._numbers.setdefault(value, len(self._numbers))}"
        return self.text(value)


def _of_text(value: str) -> str:
    return f"s{len(value)}:{value}"
