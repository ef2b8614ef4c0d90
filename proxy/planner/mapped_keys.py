"""Keys that the database must not evaluate: comparisons of their parts with all values that these have."""

from __future__ import annotations

from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.planner.computed_labels import mapping
from proxy.planner.facts import Facts
from proxy.planner.mapped_texts import LISTED, MOST, depends_on_locale
from proxy.planner.public_keys import is_computed, key_parts, label_values
from proxy.query.ir.expression_walk import children
from proxy.query.ir.expressions import (
    Case,
    Cast,
    Comparator,
    Comparison,
    Connective,
    Constant,
    Expression,
    Is,
)


def key_by_parts(expression: Expression, facts: Facts) -> Case | None:
    """The key as a comparison of its parts with each combination of their values: where the database must not
    evaluate it, as its locale would have a part in it, or as it could raise."""
    if not must_be_mapped(expression) or not is_computed(expression, facts):
        return None
    parts = key_parts(expression, facts)
    if not parts or not all(map(_is_compared, parts)):
        return None
    found = mapping(expression, parts, [label_values(part, facts) or () for part in parts], facts)
    if found is None or len(found) * len(parts) > MOST:
        return None
    kind = expression.type
    assert kind is not None and kind is not SqlType.BOOL  # whose values are those of its form
    whens = tuple(
        (_all([_is(part, text) for part, text in zip(parts, texts, strict=True)]), _of(label, kind))
        for texts, label in found.items()
    )
    return Case(whens, _other(kind, set(found.values())), kind)


def _is(part: Expression, text: str | None) -> Expression:
    if text is None:
        return Is(part, None)
    assert part.type is not None
    return Comparison(Comparator.EQ, part, _of(text, part.type))


def _all(tests: list[Expression]) -> Expression:
    return tests[0] if len(tests) == 1 else Connective("AND", tuple(tests))


def _is_compared(part: Expression) -> bool:
    kind = part.type
    return kind in (*LISTED, SqlType.DATE) or (kind is not None and kind.is_number)


def _of(text: str | None, kind: SqlType) -> Constant:
    return Constant(Fraction(text) if text is not None and kind.is_number else text, kind)


def _other(kind: SqlType, labels: set[str | None]) -> Constant:
    """What is none of the labels."""
    there = [text for text in labels if text is not None]
    if kind.is_number:
        return Constant(min(map(Fraction, there), default=Fraction(0)) - 1, kind)
    other = "0001-01-01" if kind is SqlType.DATE else "other"
    while other in labels:
        other = "0001-01-02" if kind is SqlType.DATE else f"{other}."
    return Constant(other, kind)


def must_be_mapped(expression: Expression) -> bool:
    """Whether the database's locale has a part in it, or it is a cast of a text that could raise."""
    if isinstance(expression, Cast) and expression.operand.type is not None:
        is_read = expression.operand.type.is_text and not expression.type.is_text
    else:
        is_read = False
    return (
        is_read or depends_on_locale(expression) or any(map(must_be_mapped, children(expression)))
    )
