"""Conditions that leave some of a column's public values: `column = constant`, IN, NOT IN."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.planner.facts import Facts
from proxy.planner.public_keys import constant_text
from proxy.query.ir.expressions import ColumnRef, Comparison, Constant, Expression, In, Not
from proxy.query.ir.function_names import Comparator

# Of these equal texts are equal values, and the other way round.
_EXACT_TEXTS = frozenset(
    {SqlType.BOOL, SqlType.INT2, SqlType.INT4, SqlType.INT8}
    | {SqlType.TEXT, SqlType.VARCHAR, SqlType.ENUM}
)


def slice_of(part: Expression, facts: Facts) -> tuple[ColumnRef, frozenset[str]] | None:
    """A column of which all values are public, and those that a condition leaves; None: no such condition.

    Given    part: its columns in the types that they have in the backend
    """
    found = compared_texts(part)
    if found is None or found.is_negated:
        return None
    column = found.column
    known = facts.get((column.relation, column.column))
    if known is None or known.values is None or known.is_unit:
        return None
    return (column, found.texts) if found.texts <= {*known.values} else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTexts:
    """column IN (texts), or NOT IN."""

    column: ColumnRef
    texts: frozenset[str]
    is_negated: bool = False


def compared_texts(part: Expression) -> ComparedTexts | None:
    """None: it is no such condition, or equal values of the column are not equal texts."""
    match part:
        case Comparison(Comparator.EQ | Comparator.NE, ColumnRef() as column, Constant() as one):
            texts = [_text(one, column)]
        case Comparison(Comparator.EQ | Comparator.NE, Constant() as one, ColumnRef() as column):
            texts = [_text(one, column)]
        case In(ColumnRef() as column, items):
            texts = [_text(one, column) if isinstance(one, Constant) else None for one in items]
        case ColumnRef(type=SqlType.BOOL) as column:
            texts = ["true"]
        case Not(operand):
            found = compared_texts(operand)
            return None if found is None else _negated(found)
        case _:
            return None
    known = frozenset(text for text in texts if text is not None)
    if column.type not in _EXACT_TEXTS or None in texts:
        return None
    if any(len(text) >= limits.KEY_CHARACTERS for text in known):
        return None  # a key is only the beginning of such a text
    compared = ComparedTexts(column=column, texts=known)
    is_negated = isinstance(part, Comparison) and part.comparator is Comparator.NE
    return _negated(compared) if is_negated else compared


def _negated(of: ComparedTexts) -> ComparedTexts:
    if of.column.type is SqlType.BOOL:
        return replace(of, texts=frozenset({"true", "false"}) - of.texts)
    return replace(of, is_negated=not of.is_negated)


def _text(constant: Constant, column: ColumnRef) -> str | None:
    """Of a constant that is compared as the column is."""
    kind, is_number = constant.type, column.type.is_integer
    is_alike = kind is None or (kind.is_integer if is_number else kind is SqlType.BOOL)
    if column.type.is_text:
        is_alike = kind in (None, SqlType.TEXT, SqlType.VARCHAR, SqlType.ENUM)
    return constant_text(constant) if is_alike else None
