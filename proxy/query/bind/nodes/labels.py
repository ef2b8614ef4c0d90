"""Columns of an enumeration: compared by the order of its labels, read as texts where they are cast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import ge, gt, le, lt

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.base.written_names import written_name
from proxy.query.bind.scope import Scope, identifier, position_of
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import Expression

_ORDER: Mapping[ir.Comparator, Callable[[int, int], bool]] = {
    ir.Comparator.LT: lt,
    ir.Comparator.LE: le,
    ir.Comparator.GT: gt,
    ir.Comparator.GE: ge,
}
_MIRRORED = {
    ir.Comparator.LT: ir.Comparator.GT,
    ir.Comparator.LE: ir.Comparator.GE,
    ir.Comparator.GT: ir.Comparator.LT,
    ir.Comparator.GE: ir.Comparator.LE,
}


def by_label(
    comparator: ir.Comparator, left: Expression, right: Expression, node: exp.Expr, scope: Scope
) -> Expression | None:
    """
    Gives    a comparison of an enumeration by its order as the list of labels for which it is true, so that
             the protected server, which may have got another label since, evaluates no order; None where the
             operands are no enumeration, or the comparison needs no order
    Refuses  UNSUPPORTED: the order of two columns, or of a parameter
    """
    if comparator not in _ORDER:
        return None
    if not scope.labels(left) and scope.labels(right):
        comparator, left, right = _MIRRORED[comparator], right, left
    labels = scope.labels(left)
    if not labels:
        return None
    bound = right.value if isinstance(right, ir.Constant) else None
    if bound not in labels:
        assert isinstance(left, ir.ColumnRef)
        label = labels[0].replace("'", "''")
        raise Refusal(
            Code.UNSUPPORTED,
            "labels of an enumeration are compared by their order with constants only",
            f"Write the labels: {written_name(left.column)} IN ('{label}').",
            position_of(node),
        )
    place, meets = labels.index(str(bound)), _ORDER[comparator]
    true = [label for number, label in enumerate(labels) if meets(number, place)]
    listed = tuple(ir.Constant(label, SqlType.ENUM) for label in true or labels)
    found = ir.In(left, listed)
    return found if true else ir.Not(found)  # false of every label, NULL of NULL


def as_label_text(operand: Expression, scope: Scope) -> Expression:
    """An enumeration cast to a text: the same column, which meets texts from then on."""
    if not scope.labels(operand):
        return operand
    assert isinstance(operand, ir.ColumnRef)
    return replace(operand, type=SqlType.TEXT)


def as_label(operand: Expression, target: exp.Expr, scope: Scope) -> Expression | None:
    """
    Given    target: the type of a cast
    Gives    a literal or a text argument as a label of the enumeration of that name, of which a column is in
             FROM, as drivers write them; None: it is no such cast, or no such label
    """
    kind = target.args.get("kind")
    parts = kind.flatten() if isinstance(kind, exp.Dot) else iter((kind,))
    names = [identifier(part) for part in parts if isinstance(part, exp.Identifier)]
    if target.this is not exp.DType.USERDEFINED or not names:
        return None
    written = written_name(*names)
    every = (known for relation in scope.relations for known in relation.columns.values())
    labels = next(
        (
            known.labels
            for known in every
            if known.labels
            and (known.type_name == written or known.type_name.endswith(f".{written}"))
        ),
        (),
    )
    if isinstance(operand, ir.Constant) and operand.type is None:
        is_label = operand.value is None or operand.value in labels
        return replace(operand, type=SqlType.ENUM) if labels and is_label else None
    is_text = isinstance(operand, ir.Parameter) and operand.type.is_text
    return operand if labels and is_text else None


def refuse_choice(operands: list[Expression], node: exp.Expr, scope: Scope) -> None:
    """
    Refuses  UNSUPPORTED: CASE and its like of an enumeration, of which it would have to be known that they are
             of it
    """
    for operand in operands:
        if scope.labels(operand):
            assert isinstance(operand, ir.ColumnRef)
            raise Refusal(
                Code.UNSUPPORTED,
                "one of several labels of an enumeration is not available in a query on a protected table",
                f"Cast the column to text: {written_name(operand.column)}::text.",
                position_of(node),
            )
