"""Keys that are functions of one column of listed texts: what each text becomes the shadow says, and the
database only compares the column with the listed texts. Neither its locale nor a row makes another key of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.planner.facts import Facts
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.expressions import (
    Case,
    Choose,
    ColumnRef,
    Comparator,
    Comparison,
    Constant,
    Expression,
    Is,
    NullIf,
    TextCall,
    TextFunction,
)

_BY_LOCALE = (TextFunction.LOWER, TextFunction.UPPER, TextFunction.INITCAP)
MOST = 500  # comparisons for a row
LISTED = (SqlType.TEXT, SqlType.VARCHAR, SqlType.ENUM)


def mapped_texts(expression: Expression, facts: Facts) -> Mapping[str | None, str | None] | None:
    """What each listed text of the one column becomes, in the order of the list; None: it is no such function.

    A null that is not listed is among them where it becomes a text: coalesce(x, 'unknown').
    """
    if not isinstance(expression, TextCall | Choose | NullIf) or expression.type is SqlType.BOOL:
        return None
    names = columns(expression)
    known = facts.get(next(iter(names))) if len(names) == 1 else None
    if known is None or known.values is None or known.type not in LISTED:
        return None
    listed = dict.fromkeys(value for value in known.values if value is not None or known.nullable)
    if len(listed) > MOST:
        return None
    values = (*listed, None) if known.nullable and None not in listed else tuple(listed)
    column = _column(expression)
    assert column is not None
    texts = facts.labels.evaluated([expression], [column], [(value,) for value in values])
    if texts is None:
        return None
    found = {value: text for value, (text,) in zip(values, texts, strict=True)}
    if None not in listed and found.get(None) is None:
        found.pop(None, None)
    return found


def key_by_text(expression: Expression, facts: Facts) -> Case | None:
    """The key as a comparison with each listed text; what is not listed becomes a text that is no key."""
    found = mapped_texts(expression, facts)
    column = _column(expression)
    if found is None or column is None or expression.type is None:
        return None
    kind, labels = expression.type, set(found.values())
    # Lengths and places are not negative.
    other: Fraction | str = Fraction(-1) if kind.is_number else "other"
    while isinstance(other, str) and other in labels:
        other += "."
    whens = tuple(
        (
            Is(column, None)
            if value is None
            else Comparison(Comparator.EQ, column, Constant(value, column.type)),
            Constant(Fraction(text) if text is not None and kind.is_number else text, kind),
        )
        for value, text in found.items()
    )
    return Case(whens, Constant(other, kind), kind)


def depends_on_locale(expression: Expression) -> bool:
    """Whether the database's locale has a part in what it is, if the database evaluates it."""
    if isinstance(expression, TextCall) and expression.function in _BY_LOCALE:
        return True
    return any(map(depends_on_locale, children(expression)))


def _column(expression: Expression) -> ColumnRef | None:
    if isinstance(expression, ColumnRef):
        return expression
    return next((column for part in children(expression) if (column := _column(part))), None)
