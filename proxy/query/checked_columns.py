"""What CHECK constraints say of single columns: the least and the largest value, and lists of values.

Nothing is run. Conditions joined by AND each hold of every row; of one with OR only a list of equalities is
read. What is not understood says nothing, so what is said here is never narrower than the constraint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

_CHARACTERS = 4_000
_TURNED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
}
_KEEPING = (exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.DECIMAL, exp.DType.DOUBLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedColumn:
    """Constants as they are written, without quotes and casts. low_is_open: the value itself is not allowed."""

    low: str | None = None
    high: str | None = None
    low_is_open: bool = False
    high_is_open: bool = False
    values: tuple[str, ...] | None = None


def checked_columns(conditions: Iterator[str] | tuple[str, ...]) -> dict[str, CheckedColumn]:
    """
    Given    conditions of one table, as pg_get_expr prints them
    Gives    by column what they say of it; of two bounds on one side the first
    """
    found: dict[str, CheckedColumn] = {}
    for text in conditions:
        for column, stated in _of(text):
            known = found.get(column, CheckedColumn())
            if known.low is None and stated.low is not None:
                known = replace(known, low=stated.low, low_is_open=stated.low_is_open)
            if known.high is None and stated.high is not None:
                known = replace(known, high=stated.high, high_is_open=stated.high_is_open)
            if known.values is None:
                known = replace(known, values=stated.values)
            found[column] = known
    return found


def _of(text: str) -> Iterator[tuple[str, CheckedColumn]]:
    if len(text) > _CHARACTERS:
        return
    try:
        node = parse_one(text, dialect="postgres")
    except (SqlglotError, RecursionError):
        return
    waiting = [node]
    while waiting:
        part = waiting.pop().unnest()
        if isinstance(part, exp.And):
            waiting += [part.expression, part.this]
            continue
        read = _listed(part) or _compared(part)
        if read is not None:
            yield read


def _compared(node: exp.Expr) -> tuple[str, CheckedColumn] | None:
    kind = type(node)
    if kind not in _TURNED:
        return None
    column, constant = _column(node.this), _constant(node.expression)
    if column is None:
        column, constant, kind = _column(node.expression), _constant(node.this), _TURNED[kind]
    if column is None or constant is None:
        return None
    if kind is exp.EQ:
        return column, CheckedColumn(values=(constant,))
    if kind in (exp.GT, exp.GTE):
        return column, CheckedColumn(low=constant, low_is_open=kind is exp.GT)
    return column, CheckedColumn(high=constant, high_is_open=kind is exp.LT)


def _listed(node: exp.Expr) -> tuple[str, CheckedColumn] | None:
    """x = ANY (ARRAY[...]), which is how IN is printed; x = 'a' OR x = 'b'."""
    if isinstance(node, exp.Or):
        sides = [
            _listed(side.unnest()) or _compared(side.unnest())
            for side in (node.this, node.expression)
        ]
        left, right = sides
        if left is None or right is None or left[0] != right[0]:
            return None
        if left[1].values is None or right[1].values is None:
            return None
        return left[0], CheckedColumn(values=tuple(dict.fromkeys(left[1].values + right[1].values)))
    if not isinstance(node, exp.EQ) or not isinstance(node.expression, exp.Any):
        return None
    column, listed = _column(node.this), node.expression.this.unnest()
    while isinstance(listed, exp.Cast):
        listed = listed.this.unnest()
    if column is None or not isinstance(listed, exp.Array):
        return None
    items = [_constant(item) for item in listed.expressions]
    texts = [item for item in items if item is not None]
    if not texts or len(texts) != len(items):
        return None
    return column, CheckedColumn(values=tuple(dict.fromkeys(texts)))


def _bare(node: exp.Expr) -> exp.Expr:
    node = node.unnest()
    while isinstance(node, exp.Cast):
        node = node.this.unnest()
    return node


def _column(node: exp.Expr) -> str | None:
    """A column, cast to what keeps its order and its text, as PostgreSQL writes varchar and integers where they
    are compared."""
    inner = node.unnest()
    while isinstance(inner, exp.Cast) and inner.to.this in _KEEPING and not inner.to.expressions:
        inner = inner.this.unnest()
    if (
        not isinstance(inner, exp.Column)
        or inner.table
        or not isinstance(inner.this, exp.Identifier)
    ):
        return None
    return str(inner.this.name)


def _constant(node: exp.Expr) -> str | None:
    inner = _bare(node)
    if isinstance(inner, exp.Neg):
        number = _bare(inner.this)
        if isinstance(number, exp.Literal) and not number.is_string:
            return f"-{number.this}"
        return None
    return str(inner.this) if isinstance(inner, exp.Literal) else None
