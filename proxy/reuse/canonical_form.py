"""Plain data as one text, equal where the data is: tagged with types, lengths before texts, so that no two
values share a text.

Fields that do not take part in comparison (positions) are left out, as are those a caller names. Aliases of
relations are numbers: how a question was written does not show. Sets have no order, so there are none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.query.ir import expressions as ir
from proxy.query.ir.rebuilding import rebuild

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


# --- Conditions in one form, by rules that hold in three-valued logic: for every row true, false or NULL as
# before.
#
# A question that is not recognised costs epsilon, one that is recognised wrongly lies; so there is no
# other rule. What is not done: the excluded middle and whatever rests on it (false with NULL), any order
# of texts (it is the collation's), distribution (it grows), moving a FILTER into WHERE.
#
# Source Kleene's strong logic; `x < c` and `NOT x >= c` agree also for NaN, which PostgreSQL orders (its
# documentation, 8.1.3)


_NEGATED = {
    ir.Comparator.EQ: ir.Comparator.NE,
    ir.Comparator.NE: ir.Comparator.EQ,
    ir.Comparator.LT: ir.Comparator.GE,
    ir.Comparator.GE: ir.Comparator.LT,
    ir.Comparator.GT: ir.Comparator.LE,
    ir.Comparator.LE: ir.Comparator.GT,
    ir.Comparator.DISTINCT: ir.Comparator.NOT_DISTINCT,
    ir.Comparator.NOT_DISTINCT: ir.Comparator.DISTINCT,
}
_MIRRORED = {
    ir.Comparator.LT: ir.Comparator.GT,
    ir.Comparator.GT: ir.Comparator.LT,
    ir.Comparator.LE: ir.Comparator.GE,
    ir.Comparator.GE: ir.Comparator.LE,
}
_LOWER = (ir.Comparator.GT, ir.Comparator.GE)
_UPPER = (ir.Comparator.LT, ir.Comparator.LE)
_OTHER = {"AND": "OR", "OR": "AND"}

TextOf = Callable[[ir.Expression], str]


def canonical_condition(condition: ir.Expression, text: TextOf) -> ir.Expression:
    """
    Given    text: of an expression, equal where the expression is
    """

    def normal(part: ir.Expression) -> ir.Expression:
        match part:
            case ir.Not():
                return _negation(part, text)
            case ir.Comparison():
                return _constant_right(part, text)
            case ir.Connective():
                return _connective(part.word, part.operands, text)
            case ir.In():
                return _list(part, part.items, text)
            case _:
                return part

    return rebuild(condition, normal)


def _negation(part: ir.Not, text: TextOf) -> ir.Expression:
    """NOT moved inwards; its operand is in normal form."""
    inner = part.operand
    match inner:
        case ir.Not():
            return inner.operand
        case ir.Comparison():
            return _constant_right(replace(inner, comparator=_NEGATED[inner.comparator]), text)
        case ir.Connective():
            parts = [_negation(ir.Not(one), text) for one in inner.operands]
            return _connective(_OTHER[inner.word], parts, text)
        case _:
            return part


def _constant_right(part: ir.Comparison, text: TextOf) -> ir.Expression:
    """The constant on the right; x = c as x IN (c), so that a list of one is no other question."""
    mirrored = _MIRRORED.get(part.comparator, part.comparator)
    left, right = part.left, part.right
    is_right = isinstance(right, ir.Constant)
    is_turned = not is_right and (isinstance(left, ir.Constant) or text(right) < text(left))
    if is_right and isinstance(left, ir.Constant):
        is_turned = text(right) < text(left)
    if is_turned:
        left, right = right, left
        part = replace(part, comparator=mirrored, left=left, right=right)
    if isinstance(left, ir.Constant) or not isinstance(right, ir.Constant):
        return part
    right = _constant(right, left)
    part = replace(part, right=right)
    if _is_compared_exactly(left, right):
        if part.comparator is ir.Comparator.EQ:
            return ir.In(left, (right,))
        if part.comparator is ir.Comparator.NE:
            return ir.Not(ir.In(left, (right,)))
    return part


def _list(part: ir.In, items: Iterable[ir.Constant | ir.Parameter], text: TextOf) -> ir.In:
    """Each item once, in the order of their texts."""
    known: dict[str, ir.Constant | ir.Parameter] = {}
    for item in items:
        one = _constant(item, part.operand) if isinstance(item, ir.Constant) else item
        known[text(one)] = one
    return replace(part, items=tuple(known[key] for key in sorted(known)))


def _constant(right: ir.Constant, left: ir.Expression) -> ir.Constant:
    """What is compared with an exact number is one, whatever type it came in."""
    if _is_exact(left) and isinstance(right.value, Fraction) and _is_exact(right):
        return ir.Constant(right.value, SqlType.NUMERIC)
    return ir.Constant(right.value, right.type)


def _is_exact(part: ir.Expression) -> bool:
    return part.type is not None and part.type.is_number and not part.type.is_float


def _is_compared_exactly(left: ir.Expression, right: ir.Constant) -> bool:
    """Alone as in a list: not floats, which a list may bring to one type; nor character(n)."""
    if _is_exact(left):
        return _is_exact(right)
    kind = left.type
    return (
        kind is right.type and kind is not None and kind is not SqlType.BPCHAR and not kind.is_float
    )


def _connective(word: str, operands: Iterable[ir.Expression], text: TextOf) -> ir.Expression:
    flat: list[ir.Expression] = []
    for one in operands:
        is_same = isinstance(one, ir.Connective) and one.word == word
        flat += one.operands if isinstance(one, ir.Connective) and is_same else (one,)
    flat = _lists_joined(word, flat, text)
    if word == "AND":
        flat = _tightest(flat, text)
    known = {text(one): one for one in flat}
    cached = {
        key: one for key, one in known.items() if not _is_absorbed(word, key, one, known, text)
    }
    if len(cached) == 1:
        (only,) = cached.values()
        return only
    return ir.Connective(word, tuple(cached[key] for key in sorted(cached)))


def _is_absorbed(
    word: str, key: str, one: ir.Expression, known: dict[str, ir.Expression], text: TextOf
) -> bool:
    """a AND (a OR b) is a; a OR (a AND b) is a."""
    if not isinstance(one, ir.Connective) or one.word == word:
        return False
    return any(text(part) in known and text(part) != key for part in one.operands)


def _lists_joined(
    word: str, operands: Sequence[ir.Expression], text: TextOf
) -> list[ir.Expression]:
    """x IN (a) OR x IN (b, c) is x IN (a, b, c); AND of NOT IN likewise."""
    lists: dict[str, list[ir.In]] = {}
    others: list[ir.Expression] = []
    for one in operands:
        found = one if word == "OR" else one.operand if isinstance(one, ir.Not) else None
        if isinstance(found, ir.In) and _is_joinable(found):
            lists.setdefault(text(found.operand), []).append(found)
        else:
            others.append(one)
    for same in lists.values():
        joined = _list(same[0], (item for one in same for item in one.items), text)
        others.append(joined if word == "OR" else ir.Not(joined))
    return others


def _is_joinable(part: ir.In) -> bool:
    return all(
        isinstance(item, ir.Constant) and _is_compared_exactly(part.operand, item)
        for item in part.items
    )


def _tightest(operands: Sequence[ir.Expression], text: TextOf) -> list[ir.Expression]:
    """Of several lower or upper bounds of one number the one that implies the others: also of NULL and NaN."""
    bounds: dict[tuple[str, bool], ir.Comparison] = {}
    others: list[ir.Expression] = []
    for one in operands:
        if not _is_bound(one):
            others.append(one)
            continue
        assert isinstance(one, ir.Comparison)
        one = _whole(one)
        place = text(one.left), one.comparator in _LOWER
        found = bounds.get(place)
        bounds[place] = one if found is None else _tighter(found, one)
    return [*others, *bounds.values()]


def _is_bound(one: ir.Expression) -> bool:
    if not isinstance(one, ir.Comparison) or one.comparator not in (*_LOWER, *_UPPER):
        return False
    return _is_exact(one.left) and _number(one) is not None


def _number(one: ir.Comparison) -> Fraction | None:
    right = one.right
    value = right.value if isinstance(right, ir.Constant) else None
    return value if isinstance(value, Fraction) else None


def _whole(one: ir.Comparison) -> ir.Comparison:
    """x > 5 is x >= 6 where x is a whole number."""
    value, kind = _number(one), one.left.type
    assert value is not None and kind is not None
    if not kind.is_integer:
        return one
    if one.comparator in _LOWER:
        least = math.floor(value) + 1 if one.comparator is ir.Comparator.GT else math.ceil(value)
        return _with(one, ir.Comparator.GE, Fraction(least))
    most = math.ceil(value) - 1 if one.comparator is ir.Comparator.LT else math.floor(value)
    return _with(one, ir.Comparator.LE, Fraction(most))


def _with(one: ir.Comparison, comparator: ir.Comparator, value: Fraction) -> ir.Comparison:
    return ir.Comparison(comparator, one.left, ir.Constant(value, SqlType.NUMERIC))


def _tighter(one: ir.Comparison, other: ir.Comparison) -> ir.Comparison:
    here, there = _number(one), _number(other)
    assert here is not None and there is not None
    if here == there:
        return one if one.comparator in (ir.Comparator.GT, ir.Comparator.LT) else other
    is_lower = one.comparator in _LOWER
    return one if (here > there) is is_lower else other
