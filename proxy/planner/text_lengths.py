"""How long a text can be by its type and the question: what is longer than rows are sorted by is cut, and a
constant that is too long is refused.

A text that a person has stored and a question sorts or groups rows by is a part of what is written to temporary
files, which have a limit; so its length must not be that person's alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.node_parts import is_kind_of, parts_getter
from proxy.base.sql_types import SqlType
from proxy.kernel.constant_checks import check_size, text_bytes
from proxy.planner.facts import Facts
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import Constant, Expression, In
from proxy.query.ir.query import Query
from proxy.query.ir.written_numbers import too_many_digits

_NUMBER_CHARACTERS = 1_010  # of a numeric(p, s), or of what is computed within bounds
_NO_LONGER = (
    *(ir.TextFunction.SPLIT_PART, ir.TextFunction.REVERSE),
    *(ir.TextFunction.BTRIM, ir.TextFunction.LTRIM, ir.TextFunction.RTRIM),
    *(ir.TextFunction.LEFT, ir.TextFunction.RIGHT, ir.TextFunction.SUBSTR),
)


def is_long(expression: ir.Expression, facts: Facts) -> bool:
    """Whether it is a text that can have more characters than count where rows are grouped."""
    if expression.type is None or not expression.type.is_text:
        return False
    most = characters(expression, facts)
    return most is None or most > limits.KEY_CHARACTERS


def is_long_number(expression: ir.Expression, facts: Facts) -> bool:
    """Whether it can be printed with more characters than that. A numeric(p, s) has 1,000 digits at most, and
    where s is not negative nothing but zeros beside them. All that is computed is a numeric."""
    if expression.type is None or not expression.type.is_number:
        return False
    if not isinstance(expression, ir.ColumnRef):
        return True
    if expression.type is not SqlType.NUMERIC:
        return False
    known = facts.get((expression.relation, expression.column))
    return known is None or known.step is None or known.step > 1


def characters(expression: ir.Expression, facts: Facts) -> int | None:
    """The most that a text can have; None: as many as are stored, or more."""
    match expression:
        case ir.Constant():
            return len(expression.value) if isinstance(expression.value, str) else 0
        case ir.ColumnRef():
            known = facts.get((expression.relation, expression.column))
            return None if known is None else known.characters
        case ir.TextCall(
            function=ir.TextFunction.LEFT, arguments=(ir.Constant(value=Fraction() as n),)
        ) if n >= 0:
            return _least(characters(expression.operand, facts), int(n))
        case ir.TextCall() if expression.function in _NO_LONGER:
            return characters(expression.operand, facts)
        case ir.TextCall(
            function=ir.TextFunction.LPAD | ir.TextFunction.RPAD,
            arguments=(ir.Constant(value=Fraction() as n), *_),
        ):
            return max(int(n), 0)
        case ir.Concat():
            lengths = [characters(part, facts) for part in expression.operands]
            known_lengths = [length for length in lengths if length is not None]
            return sum(known_lengths) if len(known_lengths) == len(lengths) else None
        case ir.Cast() if expression.type.is_text:
            return _NUMBER_CHARACTERS
        case ir.Case():
            return _most([*(b for _, b in expression.whens), expression.otherwise], facts)
        case ir.Choose():
            return _most(list(expression.operands), facts)
        case ir.NullIf():
            return characters(expression.operand, facts)
        case _:  # upper and lower can lengthen a text
            return None


def longest(expression: ir.Expression, facts: Facts) -> int | None:
    """The most characters that count in a sum: by its type, or else of its listed texts, beyond which a stored
    text is cut."""
    found = characters(expression, facts)
    if found is None and isinstance(expression, ir.ColumnRef):
        known = facts.get((expression.relation, expression.column))
        values = None if known is None else known.values
        found = None if values is None else max((len(text or "") for text in values), default=0)
    return found


def _least(known: int | None, most: int) -> int:
    return most if known is None else min(known, most)


def _most(parts: list[ir.Expression], facts: Facts) -> int | None:
    lengths = [characters(part, facts) for part in parts]
    known = [length for length in lengths if length is not None]
    return max(known) if len(known) == len(lengths) else None


# --- Sizes of everything constant in a bound query, before it is planned.
#
# This is one walk over whatever a query holds, by the fields of its nodes: no kind of node and no place in
# a statement can be forgotten.


_MOST = 10**limits.NUMBER_DIGITS


def check_sizes(query: Query) -> None:
    """
    Given    a query whose parameters are bound
    Refuses  TOO_COMPLEX: a text, pattern, trim set, number or list beyond base.limits
    """
    texts: dict[str, int] = {}
    for part in _parts(query):
        check_size(part)
        match part:
            case Constant(value=str() as text):
                texts[text] = text_bytes(text)
            case In() if len(part.items) > limits.LIST_ELEMENTS:
                raise _too_large(
                    f"a list on a protected table may not have more than "
                    f"{limits.LIST_ELEMENTS} elements",
                    _position(part.items[0]),
                )
    if sum(texts.values()) > limits.CONSTANTS_BYTES:
        raise _too_large(
            "the text constants of a query on protected tables may not have more than "
            f"{limits.CONSTANTS_BYTES} bytes together",
            None,
        )
    for block in query.blocks:
        if len(block.keys) > limits.GROUP_KEYS:
            raise Refusal(
                Code.TOO_COMPLEX,
                f"a GROUP BY on a protected table has at most {limits.GROUP_KEYS} keys",
                "Split it into several statements.",
            )


def _position(part: Expression) -> int | None:
    return getattr(part, "position", None)


def _parts(query: Query) -> Iterator[Any]:
    """Every node once, however deep.

    Refuses  TOO_COMPLEX: a number anywhere, of a constant, a bucket or a fraction, with too many digits
    """
    visited: set[int] = set()
    waiting: list[Any] = [query]
    while waiting:
        part = waiting.pop()
        kind = part.__class__
        if is_kind_of(kind, tuple):
            waiting += part
        elif kind is Fraction:
            _check_digits(part)
        elif (parts := parts_getter(kind)) is not None and id(part) not in visited:
            visited.add(id(part))
            yield part
            waiting += parts(part)


def _check_digits(value: Fraction) -> None:
    # A constant is a decimal, so 10^digits is a multiple of its denominator.
    if abs(value) >= _MOST or _MOST % value.denominator:
        raise too_many_digits()


def _too_large(message: str, position: int | None) -> Refusal:
    return Refusal(Code.TOO_COMPLEX, message, "Use a shorter one.", position)
