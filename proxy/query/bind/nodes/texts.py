"""Functions of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.casts import as_text
from proxy.query.bind.nodes.operands import read_constant, repeated, text_operand, typed
from proxy.query.bind.scope import Readers, Scope, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import Expression

_Arguments = tuple[tuple[str, SqlType], ...]
_START_AND_LENGTH: _Arguments = (("start", SqlType.INT4), ("length", SqlType.INT4))
_CHARACTERS: _Arguments = (("expression", SqlType.INT4),)
_PART: _Arguments = (("expression", SqlType.TEXT),)

_TEXT_FUNCTIONS: Mapping[type[exp.Expr], tuple[ir.TextFunction, _Arguments, SqlType]] = {
    exp.Lower: (ir.TextFunction.LOWER, (), SqlType.TEXT),
    exp.Upper: (ir.TextFunction.UPPER, (), SqlType.TEXT),
    exp.Initcap: (ir.TextFunction.INITCAP, (), SqlType.TEXT),
    exp.Reverse: (ir.TextFunction.REVERSE, (), SqlType.TEXT),
    exp.Length: (ir.TextFunction.LENGTH, (), SqlType.INT4),
    exp.Left: (ir.TextFunction.LEFT, _CHARACTERS, SqlType.TEXT),
    exp.Right: (ir.TextFunction.RIGHT, _CHARACTERS, SqlType.TEXT),
    exp.Substring: (ir.TextFunction.SUBSTR, _START_AND_LENGTH, SqlType.TEXT),
    exp.StrPosition: (ir.TextFunction.STRPOS, (("substr", SqlType.TEXT),), SqlType.INT4),
    exp.StartsWith: (ir.TextFunction.STARTS_WITH, _PART, SqlType.BOOL),
    exp.Trim: (ir.TextFunction.BTRIM, _PART, SqlType.TEXT),
    exp.SplitPart: (
        ir.TextFunction.SPLIT_PART,
        (("delimiter", SqlType.TEXT), ("part_index", SqlType.INT4)),
        SqlType.TEXT,
    ),
    exp.Replace: (
        ir.TextFunction.REPLACE,
        (("expression", SqlType.TEXT), ("replacement", SqlType.TEXT)),
        SqlType.TEXT,
    ),
    exp.Pad: (
        ir.TextFunction.LPAD,
        (("expression", SqlType.INT4), ("fill_pattern", SqlType.TEXT)),
        SqlType.TEXT,
    ),
}
_OPTIONAL: Mapping[type[exp.Expr], tuple[str, ...]] = {
    exp.Substring: ("start", "length"),
    exp.Trim: ("expression",),
    exp.Pad: ("fill_pattern",),
}
# trim(leading ...) and ltrim() are one node.
_TRIMS = {"LEADING": ir.TextFunction.LTRIM, "TRAILING": ir.TextFunction.RTRIM}
_OF_THE_PARSER: Mapping[type[exp.Expr], tuple[str, ...]] = {
    exp.Trim: ("position",),
    exp.Pad: ("is_left",),
    exp.Initcap: ("expression",),  # what ends a word in other databases
}


def _text_call(node: exp.Expr, scope: Scope) -> Expression:
    function, arguments, result = _TEXT_FUNCTIONS[type(node)]
    only(node, "this", *(name for name, _ in arguments), *_OF_THE_PARSER.get(type(node), ()))
    function = _TRIMS.get(node.args.get("position") or "", function)
    if isinstance(node, exp.Pad) and not node.args.get("is_left"):
        function = ir.TextFunction.RPAD
    given: list[ir.Constant | ir.Parameter] = []
    for name, wanted in arguments:
        if node.args.get(name) is None:
            if name not in _OPTIONAL.get(type(node), ()):
                raise unknown(node)
        else:
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


def _joined(node: exp.Expr, scope: Scope) -> Expression:
    """operand || operand: one of them is a text, the others are taken for one."""
    only(node, "this", "expression", "safe")
    operands = [scope.read(node.this), scope.read(node.expression)]
    if not any(part.type is None or part.type.is_text for part in operands):
        raise unknown(node)
    return concatenated([as_text(part, node) for part in operands])


def concatenated(operands: Sequence[Expression]) -> Expression:
    """One node of all that stand beside each other, as deep as the deepest of them."""
    flat: list[Expression] = []
    for part in operands:
        flat += part.operands if isinstance(part, ir.Concat) else (part,)
    return ir.Concat(tuple(flat))


_EMPTY = ir.Constant("", SqlType.TEXT)


def _concat(node: exp.Expr, scope: Scope) -> Expression:
    """concat(a, b, ...), in which what is NULL is nothing. Two texts of several lines, which may have escapes,
    are the same node to the parser, but without `safe`."""
    only(node, "expressions", "safe", "coalesce")
    if not node.args.get("safe"):
        raise unknown(node)
    return concatenated([_or_nothing(_output(part, node, scope)) for part in node.expressions])


def _concat_ws(node: exp.Expr, scope: Scope) -> Expression:
    """concat_ws(separator, a, b, ...): each with a separator before it, what is NULL without one, and then all
    but the first separator."""
    only(node, "expressions", "safe", "coalesce")
    separator = typed(read_constant(node.expressions[0], scope))
    if not isinstance(separator, ir.Constant) or not isinstance(separator.value, str):
        raise unknown(node)
    parts = [_output(part, node, scope) for part in node.expressions[1:]]
    joined = concatenated([_or_nothing(concatenated([separator, part])) for part in parts])
    start = ir.Constant(Fraction(len(separator.value) + 1), SqlType.INT4)
    return ir.TextCall(ir.TextFunction.SUBSTR, joined, (start,), SqlType.TEXT, position_of(node))


def _or_nothing(part: Expression) -> Expression:
    return ir.Choose(ir.Choice.COALESCE, (part, _EMPTY), SqlType.TEXT)


def _output(part: exp.Expr, node: exp.Expr, scope: Scope) -> Expression:
    """As concat() takes it, which prints what it is given: a truth value as t or f, blanks of character(n)."""
    read = scope.read(part)
    if read.type is SqlType.BPCHAR:
        raise Refusal(
            Code.UNSUPPORTED,
            "concat() of a character(n) is not available on a protected table",
            "Write it with the operator: coalesce(column, '') || 'a'.",
            position_of(node),
        )
    if read.type is SqlType.BOOL:
        read = repeated(read)
        letters = [ir.Constant(letter, SqlType.TEXT) for letter in ("t", "f")]
        nothing = ir.Constant(None, SqlType.TEXT)
        whens = ((read, letters[0]), (ir.Not(read), letters[1]))
        return ir.Case(whens, nothing, SqlType.TEXT)
    return as_text(read, node)


READERS: Readers = {
    **dict.fromkeys(_TEXT_FUNCTIONS, _text_call),
    exp.DPipe: _joined,
    exp.Concat: _concat,
    exp.ConcatWs: _concat_ws,
}
