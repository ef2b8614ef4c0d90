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

_Names = tuple[tuple[str, bool], ...]  # of fields, and whether they may hold an alias
# By what is left out: of each class of data the fields that are told, found once.
_NAMES: dict[tuple[tuple[str, frozenset[str]], ...], dict[type, _Names]] = {}


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
        # By id, and with the part, so that no other one gets its id: a column is told again and again.
        self._known: dict[int, tuple[object, str]] = {}

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
            found = self._known.get(id(part))
            if found is None:
                found = self._known[id(part)] = part, self._fields(part, kind.__name__, known)
            return found[1]
        # What most parts are, by its very class: to ask whether it is a Fraction takes longer than all of this.
        if kind is str:
            return _of_text(str(part))
        if kind is bool:
            return "t" if part else "f"
        if kind is int:
            return f"i{part}"
        if kind is not tuple:
            if isinstance(part, Enum):
                return f"e{kind.__name__}.{part._name_}"
            if isinstance(part, Fraction):
                return f"q{part.numerator}/{part.denominator}"
        if isinstance(part, tuple):
            return " ".join([f"({len(part)}", *map(self.text, part)]) + ")"
        if not is_dataclass(part) or isinstance(part, type):
            raise NotCanonical(kind.__name__)
        out = self._left_out.get(kind.__name__, frozenset())
        names = [f.name for f in fields(part) if f.compare and f.name not in out]
        self._names[kind] = tuple((name, name in _ALIASES) for name in names)
        return self.text(part)

    def _fields(self, part: object, kind: str, names: _Names) -> str:
        texts = [f"<{kind}"]
        for name, is_alias in names:
            value = getattr(part, name)
            if value is None:  # as most are that may be
                texts.append("~")
            elif is_alias and isinstance(value, str):
                texts.append(self._alias(value))
            else:
                texts.append(self.text(value))
        return " ".join(texts) + ">"

    def _alias(self, name: str) -> str:
        return f"r{self._numbers.setdefault(name, len(self._numbers))}"


def _of_text(value: str) -> str:
    return f"s{len(value)}:{value}"
