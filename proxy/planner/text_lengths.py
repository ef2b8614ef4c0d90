"""How long a text can be by its type and the question: what may be longer than rows are sorted by is cut.

A text that a person has stored and a question sorts or groups rows by is a part of what is written to temporary
files, which have a limit; so its length must not be that person's alone.
"""

from __future__ import annotations

import re

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column
from proxy.planner.facts import Facts
from proxy.query.ir.expressions import (
    Case,
    Choose,
    ColumnRef,
    Constant,
    Expression,
    NullIf,
    TextCall,
    TextFunction,
)

_MODIFIER = re.compile(r"character(?: varying)?\((\d+)\)")
_NO_LONGER = (
    *(TextFunction.BTRIM, TextFunction.LTRIM, TextFunction.RTRIM),
    *(TextFunction.LEFT, TextFunction.RIGHT, TextFunction.SUBSTR),
)


def is_long(expression: Expression, facts: Facts) -> bool:
    """Whether it is a text that can have more characters than count where rows are grouped."""
    if expression.type is None or not expression.type.is_text:
        return False
    most = characters(expression, facts)
    return most is None or most > limits.KEY_CHARACTERS


def is_long_number(expression: Expression, facts: Facts) -> bool:
    """Whether it can be printed with more characters than that. A numeric(p, s) has 1,000 digits at most, and
    where s is not negative nothing but zeros beside them."""
    if expression.type is not SqlType.NUMERIC:
        return False
    if not isinstance(expression, ColumnRef):
        return True
    known = facts.get((expression.relation, expression.column))
    return known is None or known.step is None or known.step > 1


def type_characters(column: Column) -> int | None:
    """The most characters of a column's texts, by its declared type; None: as many as are stored."""
    if column.type is SqlType.ENUM:
        return limits.IDENTIFIER_BYTES
    modifier = _MODIFIER.fullmatch(column.type_name)
    return int(modifier[1]) if modifier is not None and column.is_enforced else None


def characters(expression: Expression, facts: Facts) -> int | None:
    """The most that a text can have; None: as many as are stored, or more."""
    match expression:
        case Constant():
            return len(expression.value) if isinstance(expression.value, str) else 0
        case ColumnRef():
            known = facts.get((expression.relation, expression.column))
            return None if known is None else known.characters
        case TextCall() if expression.function in _NO_LONGER:
            return characters(expression.operand, facts)
        case Case():
            return _most([*(b for _, b in expression.whens), expression.otherwise], facts)
        case Choose():
            return _most(list(expression.operands), facts)
        case NullIf():
            return characters(expression.operand, facts)
        case _:  # upper and lower can lengthen a text
            return None


def _most(parts: list[Expression], facts: Facts) -> int | None:
    lengths = [characters(part, facts) for part in parts]
    known = [length for length in lengths if length is not None]
    return max(known) if len(known) == len(lengths) else None
