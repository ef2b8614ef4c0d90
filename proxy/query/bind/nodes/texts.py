"""Functions of text."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.operands import read_constant, text_operand, typed
from proxy.query.bind.scope import Readers, Scope, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import Expression

_TEXT_FUNCTIONS: Mapping[type[exp.Expr], tuple[ir.TextFunction, tuple[str, ...], SqlType]] = {
    exp.Lower: (ir.TextFunction.LOWER, (), SqlType.TEXT),
    exp.Upper: (ir.TextFunction.UPPER, (), SqlType.TEXT),
    exp.Length: (ir.TextFunction.LENGTH, (), SqlType.INT4),
    exp.Left: (ir.TextFunction.LEFT, ("expression",), SqlType.TEXT),
    exp.Right: (ir.TextFunction.RIGHT, ("expression",), SqlType.TEXT),
    exp.Substring: (ir.TextFunction.SUBSTR, ("start", "length"), SqlType.TEXT),
    exp.StrPosition: (ir.TextFunction.STRPOS, ("substr",), SqlType.INT4),
    exp.StartsWith: (ir.TextFunction.STARTS_WITH, ("expression",), SqlType.BOOL),
    exp.Trim: (ir.TextFunction.BTRIM, ("expression",), SqlType.TEXT),
}
# trim(leading ...) and ltrim() are one node.
_TRIMS = {"LEADING": ir.TextFunction.LTRIM, "TRAILING": ir.TextFunction.RTRIM}


_COUNTING = frozenset({ir.TextFunction.LEFT, ir.TextFunction.RIGHT, ir.TextFunction.SUBSTR})


def _text_call(node: exp.Expr, scope: Scope) -> Expression:
    function, argument_names, result = _TEXT_FUNCTIONS[type(node)]
    only(node, "this", *argument_names, *(("position",) if isinstance(node, exp.Trim) else ()))
    function = _TRIMS.get(node.args.get("position") or "", function)
    given: list[ir.Constant | ir.Parameter] = []
    wanted = SqlType.INT4 if function in _COUNTING else SqlType.TEXT
    for name in argument_names:
        if node.args.get(name) is not None:
            constant = read_constant(node.args[name], scope)
            try:
                settled = typed(constant, wanted)
            except Refusal:  # substring(x FROM 'pattern') is a regular expression, which may raise
                raise unknown(node) from None
            if not isinstance(settled, ir.Constant | ir.Parameter) or settled.type is None:
                raise unknown(node)
            if not (settled.type.is_text if wanted is SqlType.TEXT else settled.type.is_integer):
                raise unknown(node)
            given.append(settled)
    operand = text_operand(node.this, scope)
    return ir.TextCall(function, operand, tuple(given), result, position_of(node))


READERS: Readers = {
    **dict.fromkeys(_TEXT_FUNCTIONS, _text_call),
}
