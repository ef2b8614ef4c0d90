"""Public keys narrowed by the question's own conditions on them: what WHERE excludes for sure is not answered.

Only constants of the statement are looked at, so which groups are answered stays public.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from fractions import Fraction

from proxy.base.decimals import decimal_text
from proxy.base.sql_types import SqlType
from proxy.planner.facts import ColumnFacts, Facts
from proxy.planner.unit_truncation import conjuncts
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import (
    ColumnRef,
    Comparator,
    Comparison,
    Constant,
    Expression,
    In,
)

_MIRRORED = {
    Comparator.LT: Comparator.GT,
    Comparator.LE: Comparator.GE,
    Comparator.GT: Comparator.LT,
    Comparator.GE: Comparator.LE,
    Comparator.EQ: Comparator.EQ,
}


def narrowed(facts: Facts, where: Expression | None) -> Facts:
    """The facts of columns as far as rows that pass WHERE are concerned. For keys only: clamps stay."""
    if where is None:
        return facts
    changed = dict(facts)
    for part in conjuncts(where):
        match part:
            case In(operand=ColumnRef() as column, items=items):
                texts = [_text(item) for item in items if isinstance(item, Constant)]
                if len(texts) == len(items):
                    _select_values(changed, column, texts)
            case Comparison(comparator=how, left=ColumnRef() as column, right=Constant() as value):
                _compare(changed, column, how, value)
            case Comparison(comparator=how, left=Constant() as value, right=ColumnRef() as column):
                if how in _MIRRORED:
                    _compare(changed, column, _MIRRORED[how], value)
            case _:
                pass
    return changed


def _compare(
    facts: dict[tuple[str, str], ColumnFacts], column: ColumnRef, how: Comparator, value: Constant
) -> None:
    if how is Comparator.EQ:
        _select_values(facts, column, [_text(value)])
    known = facts.get((column.relation, column.column))
    number = _number(value, column.type)
    if known is None or known.bounds is None or number is None:
        return
    low, high = known.bounds.low, known.bounds.high
    if how in (Comparator.GT, Comparator.GE, Comparator.EQ):
        low = min(max(low, number), high)
    if how in (Comparator.LT, Comparator.LE, Comparator.EQ):
        high = max(min(high, number), low)
    span = Bounds(low, high, known.bounds.kind)
    facts[column.relation, column.column] = replace(known, bounds=span)


def _select_values(
    facts: dict[tuple[str, str], ColumnFacts], column: ColumnRef, texts: list[str | None]
) -> None:
    known = facts.get((column.relation, column.column))
    if known is None or known.values is None or not column.type.is_text:
        return
    selected = {_compared(text, column.type) for text in texts if text is not None}
    values = tuple(
        v for v in known.values if v is not None and _compared(v, column.type) in selected
    )
    facts[column.relation, column.column] = replace(known, values=values)


def _compared(text: str, kind: SqlType) -> str:
    """character(n) compares without trailing blanks (PostgreSQL 17 documentation, section 8.3)."""
    return text.rstrip(" ") if kind is SqlType.BPCHAR else text


def _text(constant: Constant) -> str | None:
    value = constant.value
    return decimal_text(value) if isinstance(value, Fraction) else str(value)


def _number(constant: Constant, kind: SqlType) -> Fraction | None:
    """Days of a date, seconds of a timestamp (UTC), as bounds count; None for what is not plain."""
    value = constant.value
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, str) or not kind.is_time:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    seconds = Fraction(int(moment.timestamp()))
    return seconds / 86400 if kind is SqlType.DATE else seconds
