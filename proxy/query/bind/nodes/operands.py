"""Operands that other nodes are made of: constants, and types in which operands can meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from sqlglot import exp

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.scope import Scope, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir import typing_rules
from proxy.query.ir.expression_walk import size
from proxy.query.ir.expressions import Expression
from proxy.query.ir.time_differences import as_seconds, as_seconds_of_day, is_time_of_day
from proxy.query.syntax.placeholders import ClientArray, ClientParameter, WrittenText
from proxy.query.syntax.tokens import too_complex

_INSTEAD = "Write a literal or a parameter, not an expression on columns."


def typed(expression: Expression, fallback: SqlType = SqlType.TEXT) -> Expression:
    """With a type, the fallback where it is an untyped literal."""
    return typing_rules.settle(expression, fallback)


def together(
    parts: list[Expression],
    node: exp.Expr,
    common: Callable[[Sequence[SqlType], int | None], SqlType] = typing_rules.common,
) -> tuple[list[Expression], SqlType]:
    """Operands brought to settled types that can meet, and the type in which they do."""
    known = [part.type for part in parts if part.type is not None]
    meeting = common(known or [SqlType.TEXT], position_of(node))
    settled = [typing_rules.settle_literal(part, meeting) for part in parts]
    return settled, meeting


def read_constant(
    node: exp.Expr, scope: Scope, instead: str = _INSTEAD
) -> ir.Constant | ir.Parameter:
    """A constant, possibly with a sign, a cast or parentheses. instead: the hint for anything else."""
    expression = scope.read(node)
    if isinstance(expression, ir.NumericCall) and expression.function is ir.NumericFunction.NEGATE:
        inner = expression.operand
        if isinstance(inner, ir.Constant) and isinstance(inner.value, Fraction):
            expression = ir.Constant(-inner.value, inner.type, inner.position)
    if not isinstance(expression, ir.Constant | ir.Parameter):
        raise Refusal(
            Code.UNSUPPORTED, "only a constant can stand here", instead, position_of(node)
        )
    return expression


def compared(parts: list[Expression], node: exp.Expr) -> tuple[list[Expression], SqlType]:
    """As `together`, of what is compared: intervals as the seconds by which they are, times
    of day too."""
    kinds = {part.type for part in parts}
    if {SqlType.INTERVAL, SqlType.DURATION} & kinds:
        # A constant is cast to the interval since midnight, beside columns of intervals.
        of_day = [is_time_of_day(p) and isinstance(p, ir.Constant | ir.Parameter) for p in parts]
        spans = (None, SqlType.INTERVAL, SqlType.DURATION)
        if not all(is_time or p.type in spans for p, is_time in zip(parts, of_day, strict=True)):
            raise unknown(node)
        parts = [
            as_seconds_of_day(part)
            if is_time
            else as_seconds(typing_rules.settle_literal(part, SqlType.INTERVAL))
            for part, is_time in zip(parts, of_day, strict=True)
        ]
    elif any(map(is_time_of_day, parts)):
        if not all(part.type is None or is_time_of_day(part) for part in parts):
            raise unknown(node)
        parts = [
            as_seconds_of_day(typing_rules.settle_literal(part, SqlType.TIME_OF_DAY))
            for part in parts
        ]
    return together(_without_padding(parts, node), node)


def _without_padding(parts: list[Expression], node: exp.Expr) -> list[Expression]:
    """character(n) that meets character varying is compared without the blanks at its end, and as text with
    text. Printed SQL has that meeting for columns only: what is computed is text there."""
    sides = [node.this, *([node.expression] if len(parts) == 2 else [])]
    casts = [_cast_of_text(side, part) for side, part in zip(sides, parts, strict=False)]
    kinds = {part.type for part in parts[len(casts) :]}
    kinds |= {cast or part.type for cast, part in zip(casts, parts, strict=False)}
    kinds.discard(None)
    is_printed = not any(casts) and all(map(_is_printed_padded, parts))
    if kinds == {SqlType.BPCHAR, SqlType.VARCHAR} and not is_printed:
        return [_without_blanks(part) for part in parts]
    if kinds == {SqlType.BPCHAR, SqlType.TEXT} and any(casts):
        padded = SqlType.BPCHAR
        return [_without_blanks(part) if part.type is padded else part for part in parts]
    return parts


def _is_printed_padded(part: Expression) -> bool:
    """A column, and the elements of an array of character varying."""
    is_array = isinstance(part, ir.Parameter) and isinstance(part.source, ClientArray)
    return isinstance(part, ir.ColumnRef | ir.Choose) or (is_array and part.type is SqlType.VARCHAR)


def _cast_of_text(written: object, part: Expression) -> SqlType | None:
    """The type of a cast from text to character varying, or the other way: it is not kept."""
    inner = written.unnest() if isinstance(written, exp.Expr) else None
    if not isinstance(inner, exp.Cast) or part.type not in (SqlType.TEXT, SqlType.VARCHAR):
        return None
    found = {exp.DType.TEXT: SqlType.TEXT, exp.DType.VARCHAR: SqlType.VARCHAR}
    target = found.get(inner.args["to"].this)
    return None if target is part.type else target


def _without_blanks(part: Expression) -> Expression:
    """As a text that has no blanks at its end."""
    match part:
        case ir.Constant(value=str() as text):
            return ir.Constant(text.rstrip(" "), SqlType.TEXT, part.position)
        case ir.Constant():
            return ir.Constant(part.value, SqlType.TEXT, part.position)
        case ir.Parameter(source=ClientArray()) if part.type is SqlType.BPCHAR:
            return part  # the shadow's texts of them have none
        case _:
            return ir.TextCall(ir.TextFunction.RTRIM, part, (), SqlType.TEXT)


def repeated(expression: Expression) -> Expression:
    """An operand about to stand several times: nested ones would double the size at every level."""
    if size(expression) > limits.REPEATED_NODES:
        raise too_complex(
            f"of a BETWEEN or CASE on an expression of more than {limits.REPEATED_NODES} parts"
        )
    return expression


def no_condition_as_operand(node: exp.Expr, *operands: Expression) -> None:
    """NOT, IN and friends under a comparison are where parsers differ (docs/design/sql.md 3.2)."""
    for operand in operands:
        if operand.type is SqlType.BOOL and not isinstance(
            operand, ir.ColumnRef | ir.Constant | ir.Parameter
        ):
            raise Refusal(
                Code.UNSUPPORTED,
                "a condition cannot be an operand of another comparison",
                "Combine conditions with AND, OR and NOT.",
                position_of(node),
            )


def number_operands(
    node: exp.Expr, *parts: exp.Expr, scope: Scope
) -> tuple[list[Expression], SqlType]:
    """Numbers, and the type in which they meet."""
    return numbers_together(node, *(scope.read(part) for part in parts))


def numbers_together(node: exp.Expr, *parts: Expression) -> tuple[list[Expression], SqlType]:
    """Numbers, and the type in which they meet."""
    operands, meeting = together(list(parts), node)
    if not meeting.is_number:
        raise Refusal(
            Code.UNSUPPORTED,
            "arithmetic on a protected table is on numbers only",
            "Dates and times can be compared with constants, or taken apart by extract().",
            position_of(node),
        )
    return operands, meeting


def parameter_text(node: exp.Expr) -> str:
    """What stands after the dollar sign; "" for `@ x` (absolute value in PostgreSQL), which the parser takes
    for a parameter of something other than a number."""
    literal = node.this
    is_number = isinstance(literal, exp.Literal) and not literal.args.get("is_string")
    return str(literal.this) if is_number else ""


def text_operand(node: exp.Expr, scope: Scope) -> Expression:
    """A text, or a literal taken as one."""
    expression = typed(scope.read(node))
    if expression.type is None or not expression.type.is_text:
        raise unknown(node.parent or node)
    return expression


def reals_among(settled: Sequence[Expression]) -> tuple[ir.Constant | ir.Parameter, ...]:
    """The elements of a list, after what they are compared with. Beside a real all meet in one type before they
    are compared, exact numbers in real (PostgreSQL 17 documentation, section 10.5)."""
    items = tuple(item for item in settled[1:] if isinstance(item, ir.Constant | ir.Parameter))
    is_real = settled[0].type is SqlType.FLOAT4
    if not is_real or any(item.type is SqlType.FLOAT8 for item in items):
        return items
    return tuple(map(_as_real, items))


def _as_real(item: ir.Constant | ir.Parameter) -> ir.Constant | ir.Parameter:
    value = item.value if isinstance(item, ir.Constant) else None
    if not isinstance(value, Fraction) or not typing_rules.is_value_of(value, SqlType.FLOAT4):
        return item
    return ir.Constant(typing_rules.held(value, SqlType.FLOAT4), SqlType.FLOAT4, item.position)


def constant_or_given(
    node: exp.Expr, scope: Scope, wanted: SqlType
) -> ir.Constant | ClientParameter | WrittenText:
    """A constant, or what holds it until the statement is run."""
    read = typing_rules.settle_literal(read_constant(node, scope), wanted)
    if isinstance(read, ir.Parameter):
        if not isinstance(read.source, ClientParameter | WrittenText):
            raise unknown(node)
        return read.source
    assert isinstance(read, ir.Constant), "as read_constant gives it"
    return read


def number_or_given(node: exp.Expr, scope: Scope) -> Fraction | ClientParameter | WrittenText:
    """As constant_or_given, of a number.

    Refuses  as `unknown` of the node around, where it is none
    """
    read = constant_or_given(node, scope, SqlType.NUMERIC)
    if not isinstance(read, ir.Constant):
        return read
    if not isinstance(read.value, Fraction):
        raise unknown(node.parent or node)
    return read.value
