"""sqlglot trees to typed expressions, by allow-list: an unknown node, argument or function is a refusal.

A node is taken by its exact type and its exact set of arguments, so that nothing that the parser understood
and we did not can get lost (design/SQL.md 3, 7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ErrorLevel

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query import expressions as ir
from proxy.query import typing_rules
from proxy.query.expressions import Expression
from proxy.query.query_aggregates import Aggregate, AggregateKind
from proxy.query.tokens import fold, too_complex, truncate

_POSTGRES = Postgres()


class ColumnType(NamedTuple):
    type: SqlType
    type_name: str  # as PostgreSQL prints it, modifier included


@dataclass(frozen=True, slots=True)
class Named:
    """A relation as names can reach it: ours (alias), the client's prefixes, its columns."""

    alias: str
    qualifiers: frozenset[tuple[str, ...]]
    columns: Mapping[str, ColumnType]


@dataclass(frozen=True, slots=True)
class Inner:
    """Where aggregates may stand inside an expression (GROUP BY the unit): they become columns a1, a2, ..."""

    alias: str
    aggregates: list[Aggregate]


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean inside one SELECT.

    merged: columns that JOIN ... USING has made one; parameters: types of $1, $2, ...;
    scalars: types of answers of other blocks, by the number under which they stand as parameters.
    """

    relations: tuple[Named, ...]
    parameters: tuple[SqlType, ...]
    merged: Mapping[str, ir.ColumnRef] = field(default_factory=dict)
    scalars: Mapping[int, SqlType] = field(default_factory=dict)
    inner: Inner | None = None

    def find(self, qualifier: tuple[str, ...], name: str) -> ir.ColumnRef | None:
        """The one column of this name, or None."""
        if not qualifier and name in self.merged:
            return self.merged[name]
        found = [
            relation
            for relation in self.relations
            if name in relation.columns and (not qualifier or qualifier in relation.qualifiers)
        ]
        if len(found) != 1:
            return None
        return ir.ColumnRef(name, found[0].columns[name].type, None, found[0].alias)


def read_expression(node: exp.Expr, scope: Scope) -> Expression:
    """One scalar expression.

    Refuses  FUNCTION, UNSUPPORTED, COLUMN_NOT_USABLE, SYNTAX, TOO_COMPLEX
    """
    return _shallow(read(node, scope))


def _shallow(expression: Expression) -> Expression:
    if ir.depth(expression) > limits.EXPRESSION_DEPTH:
        raise too_complex(f"of expressions deeper than {limits.EXPRESSION_DEPTH} operations")
    return expression


def read(node: exp.Expr, scope: Scope) -> Expression:
    """A part of an expression."""
    reader = _READERS.get(type(node))
    if reader is not None:
        return reader(node, scope)
    if scope.inner is not None and is_aggregate(node):
        return _inner_aggregate(node, scope, scope.inner)
    raise _unknown(node)


def position_of(node: exp.Expr) -> int | None:
    """1-based position of the first word below a node that kept its place."""
    for part in node.walk():
        if "start" in part.meta:
            return int(part.meta["start"]) + 1
    return None


def identifier(node: object) -> str:
    """An identifier as PostgreSQL folds it."""
    assert isinstance(node, exp.Identifier)
    return truncate(node.name) if node.args.get("quoted") else fold(node.name)


def _unknown(node: exp.Expr) -> Refusal:
    if isinstance(node, exp.Func):
        name = _function_name(node)
        return Refusal(
            Code.FUNCTION,
            f"function {name} is not allowed on protected columns",
            "Allowed are comparisons, + - * and division by a constant, abs, round, floor, ceil, coalesce, "
            "nullif, greatest, least, CASE, LIKE, extract, lower, upper, length, left, right and substr.",
            position_of(node),
        )
    return Refusal(
        Code.UNSUPPORTED,
        f"{type(node).__name__} is not allowed in a question on a protected table",
        "Use plain comparisons, arithmetic and CASE on the columns of the table.",
        position_of(node),
    )


def _function_name(node: exp.Expr) -> str:
    """As PostgreSQL calls it; the parser has names of its own (Rand, TimeToStr)."""
    if type(node) is exp.Anonymous:
        return str(node.name)
    written = _POSTGRES.generate(node, unsupported_level=ErrorLevel.IGNORE)
    name = written.partition("(")[0].lower()
    return name if name.isidentifier() else type(node).__name__.lower()


def _only(node: exp.Expr, *allowed: str) -> None:
    """Every argument that is set must be one that the reader looks at."""
    for name, value in node.args.items():
        if name not in allowed and value not in (None, False, []):
            raise _unknown(node)


def _column(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "table", "db", "catalog")
    if isinstance(node.this, exp.Star):
        raise Refusal(
            Code.RAW_ROWS,
            "all columns of a protected table cannot be read at once",
            "Name one column inside an aggregate, e.g. count(*) or avg(column).",
            position_of(node),
        )
    name = identifier(node.this)
    parts = (node.args.get(key) for key in ("catalog", "db", "table"))
    qualifier = tuple(identifier(part) for part in parts if part is not None)
    known = scope.find(qualifier, name)
    if known is None:
        raise Refusal(
            Code.COLUMN_NOT_USABLE,
            f'there is no column "{name}" in the policy of this table',
            "SELECT * FROM dp.columns lists the columns that can be asked about.",
            position_of(node),
        )
    return replace(known, position=position_of(node))


def _literal(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "is_string")
    text = str(node.this)
    if node.args.get("is_string"):
        return ir.Constant(text, None, position_of(node))
    value = typing_rules.number(text)
    if value is None:
        raise _unknown(node)
    return ir.Constant(value, typing_rules.literal_type(text), position_of(node))


def _boolean(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this")
    return ir.Constant(bool(node.this), SqlType.BOOL)


def _null(node: exp.Expr, scope: Scope) -> Expression:
    _only(node)
    return ir.Constant(None, None)


def _raw_string(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this")
    return ir.Constant(str(node.this), None)


def _parameter(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this")
    # `@ x` (absolute value in PostgreSQL) also parses as a Parameter, of something other than a number.
    if not isinstance(node.this, exp.Literal) or not str(node.this.this).isdigit():
        raise _unknown(node)
    number = int(str(node.this.this))
    if number in scope.scalars:
        return ir.Parameter(number, scope.scalars[number])
    if not 1 <= number <= len(scope.parameters):
        raise _unknown(node)
    if scope.parameters[number - 1] is SqlType.OTHER:
        raise _unknown(node)
    return ir.Parameter(number, scope.parameters[number - 1])


def _paren(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this")
    return read(node.this, scope)


def _typed(expression: Expression, fallback: SqlType = SqlType.TEXT) -> Expression:
    return typing_rules.settle(expression, fallback)


def _together(
    parts: list[Expression],
    node: exp.Expr,
    common: Callable[[Sequence[SqlType], int | None], SqlType] = typing_rules.common,
) -> tuple[list[Expression], SqlType]:
    """Operands brought to settled types that can meet, and the type in which they do."""
    known = [part.type for part in parts if part.type is not None]
    meeting = common(known or [SqlType.TEXT], position_of(node))
    settled = [typing_rules.settle(part, meeting) for part in parts]
    return settled, meeting


_COMPARATORS: Mapping[type[exp.Expr], ir.Comparator] = {
    exp.EQ: ir.Comparator.EQ,
    exp.NEQ: ir.Comparator.NE,
    exp.LT: ir.Comparator.LT,
    exp.LTE: ir.Comparator.LE,
    exp.GT: ir.Comparator.GT,
    exp.GTE: ir.Comparator.GE,
    exp.NullSafeNEQ: ir.Comparator.DISTINCT,
    exp.NullSafeEQ: ir.Comparator.NOT_DISTINCT,
}


def _comparison(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "expression")
    operands = [read(node.this, scope), read(node.expression, scope)]
    (left, right), meeting = _together(operands, node)
    _no_condition_as_operand(node, left, right)
    if meeting is SqlType.OTHER:
        raise _unknown(node)
    return ir.Comparison(_COMPARATORS[type(node)], left, right)


def _no_condition_as_operand(node: exp.Expr, *operands: Expression) -> None:
    """NOT, IN and friends under a comparison are where parsers differ (design/SQL.md 3, 1 and 2)."""
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


def _condition(node: exp.Expr, scope: Scope) -> Expression:
    expression = _typed(read(node, scope), SqlType.BOOL)
    if expression.type is not SqlType.BOOL:
        raise Refusal(
            Code.SYNTAX,
            "a condition must be true or false",
            "Compare the value with something.",
            position_of(node),
        )
    return expression


def _connective(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "expression")
    word = "AND" if isinstance(node, exp.And) else "OR"
    operands: list[Expression] = []
    for part in node.flatten():
        operands.append(_condition(part, scope))
    return ir.Connective(word, tuple(operands))


def _not(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this")
    return ir.Not(_condition(node.this, scope))


def _negated(node: exp.Expr, expression: Expression) -> Expression:
    return ir.Not(expression) if node.args.get("negate") else expression


def _is(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "expression", "negate")
    operand = _typed(read(node.this, scope))
    match node.expression:
        case exp.Null():
            return _negated(node, ir.Is(operand, None))
        case exp.Boolean() as truth if operand.type is SqlType.BOOL:
            return _negated(node, ir.Is(operand, bool(truth.this)))
        case _:
            raise _unknown(node)


def _constant(node: exp.Expr, scope: Scope) -> ir.Constant | ir.Parameter:
    """A constant, possibly with a sign, a cast or parentheses."""
    expression = read(node, scope)
    if isinstance(expression, ir.Rounded) and expression.function is ir.Rounding.NEGATE:
        inner = expression.operand
        if isinstance(inner, ir.Constant) and isinstance(inner.value, Fraction):
            expression = ir.Constant(-inner.value, inner.type, inner.position)
    if not isinstance(expression, ir.Constant | ir.Parameter):
        raise Refusal(
            Code.UNSUPPORTED,
            "only a constant can stand here",
            "Write a literal or a parameter, not an expression on columns.",
            position_of(node),
        )
    return expression


def _in(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "expressions")
    items = [_constant(item, scope) for item in node.expressions]
    settled, _ = _together([read(node.this, scope), *items], node)
    constants = [item for item in settled[1:] if isinstance(item, ir.Constant | ir.Parameter)]
    return ir.In(settled[0], tuple(constants))


def _repeated(expression: Expression) -> Expression:
    """An operand about to stand several times: nested ones would double the size at every level."""
    if ir.size(expression) > limits.REPEATED_NODES:
        raise too_complex(
            f"of a BETWEEN or CASE on an expression of more than {limits.REPEATED_NODES} parts"
        )
    return expression


def _between(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "low", "high")
    operand = _repeated(read(node.this, scope))
    parts = [operand, read(node.args["low"], scope), read(node.args["high"], scope)]
    (operand, low, high), _ = _together(parts, node)
    _no_condition_as_operand(node, operand, low, high)
    at_least = ir.Comparison(ir.Comparator.GE, operand, low)
    at_most = ir.Comparison(ir.Comparator.LE, operand, high)
    return ir.Connective("AND", (at_least, at_most))


def _text(node: exp.Expr, scope: Scope) -> Expression:
    expression = _typed(read(node, scope))
    if expression.type is None or not expression.type.is_text:
        raise _unknown(node.parent or node)
    return expression


def _like(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "expression", "negate")
    pattern = _typed(_constant(node.expression, scope))
    assert isinstance(pattern, ir.Constant | ir.Parameter)
    where = position_of(node)
    like = ir.Like(_text(node.this, scope), pattern, isinstance(node, exp.ILike), where)
    return _negated(node, like)


_OPERATORS: Mapping[type[exp.Expr], ir.Operator] = {
    exp.Add: ir.Operator.ADD,
    exp.Sub: ir.Operator.SUBTRACT,
    exp.Mul: ir.Operator.MULTIPLY,
}


def _numbers(node: exp.Expr, *parts: exp.Expr, scope: Scope) -> tuple[list[Expression], SqlType]:
    operands, meeting = _together([read(part, scope) for part in parts], node)
    if not meeting.is_number:
        raise Refusal(
            Code.UNSUPPORTED,
            "arithmetic on a protected table is on numbers only",
            "Dates and times can be compared with constants, or taken apart by extract().",
            position_of(node),
        )
    return operands, meeting


def _arithmetic(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "expression")
    (left, right), meeting = _numbers(node, node.this, node.expression, scope=scope)
    return ir.Arithmetic(_OPERATORS[type(node)], left, right, meeting)


def _quotient(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "expression", "typed", "safe")
    divisor = _constant(node.expression, scope)
    operand = read(node.this, scope)
    (operand, settled), meeting = _together([operand, divisor], node)
    if not meeting.is_number or not isinstance(settled, ir.Constant | ir.Parameter):
        raise _unknown(node)
    remainder = isinstance(node, exp.Mod)
    if remainder and not meeting.is_integer:
        raise _unknown(node)
    return ir.Quotient(operand, settled, remainder, meeting, position_of(node))


_ROUNDINGS: Mapping[type[exp.Expr], ir.Rounding] = {
    exp.Abs: ir.Rounding.ABS,
    exp.Neg: ir.Rounding.NEGATE,
    exp.Floor: ir.Rounding.FLOOR,
    exp.Ceil: ir.Rounding.CEIL,
    exp.Sign: ir.Rounding.SIGN,
    exp.Trunc: ir.Rounding.TRUNC,
    exp.Round: ir.Rounding.ROUND,
}


def _rounded(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "decimals")
    (operand,), meeting = _numbers(node, node.this, scope=scope)
    function = _ROUNDINGS[type(node)]
    digits = 0
    if node.args.get("decimals") is not None:
        given = _constant(node.args["decimals"], scope)
        if (
            not isinstance(given, ir.Constant)
            or not isinstance(given.value, Fraction)
            or given.value.denominator != 1
            or not 0 <= given.value <= 20
        ):
            raise _unknown(node)
        digits = int(given.value)
    keeps_type = function in (ir.Rounding.ABS, ir.Rounding.NEGATE) or not meeting.is_integer
    # floor(int) and friends resolve to the float8 functions (manual 9.3); round(x, n) to numeric's.
    result = meeting if keeps_type else SqlType.FLOAT8
    if node.args.get("decimals") is not None:
        result = SqlType.NUMERIC
    if meeting is SqlType.FLOAT4 and function not in (ir.Rounding.ABS, ir.Rounding.NEGATE):
        result = SqlType.FLOAT8
    return ir.Rounded(function, operand, digits, result)


_TEXT_FUNCTIONS: Mapping[type[exp.Expr], tuple[ir.TextFunction, tuple[str, ...], SqlType]] = {
    exp.Lower: (ir.TextFunction.LOWER, (), SqlType.TEXT),
    exp.Upper: (ir.TextFunction.UPPER, (), SqlType.TEXT),
    exp.Length: (ir.TextFunction.LENGTH, (), SqlType.INT4),
    exp.Left: (ir.TextFunction.LEFT, ("expression",), SqlType.TEXT),
    exp.Right: (ir.TextFunction.RIGHT, ("expression",), SqlType.TEXT),
    exp.Substring: (ir.TextFunction.SUBSTR, ("start", "length"), SqlType.TEXT),
    exp.StrPosition: (ir.TextFunction.STRPOS, ("substr",), SqlType.INT4),
    exp.StartsWith: (ir.TextFunction.STARTS_WITH, ("expression",), SqlType.BOOL),
    exp.Trim: (ir.TextFunction.BTRIM, (), SqlType.TEXT),
}


_COUNTING = frozenset({ir.TextFunction.LEFT, ir.TextFunction.RIGHT, ir.TextFunction.SUBSTR})


def _text_call(node: exp.Expr, scope: Scope) -> Expression:
    function, argument_names, result = _TEXT_FUNCTIONS[type(node)]
    _only(node, "this", *argument_names)
    given: list[ir.Constant | ir.Parameter] = []
    wanted = SqlType.INT4 if function in _COUNTING else SqlType.TEXT
    for name in argument_names:
        if node.args.get(name) is not None:
            settled = _typed(_constant(node.args[name], scope), wanted)
            assert isinstance(settled, ir.Constant | ir.Parameter) and settled.type is not None
            # substring(x FROM 'pattern') is a regular expression, which may raise.
            if not (settled.type.is_text if wanted is SqlType.TEXT else settled.type.is_integer):
                raise _unknown(node)
            given.append(settled)
    operand = _text(node.this, scope)
    return ir.TextCall(function, operand, tuple(given), result, position_of(node))


_FIELDS = frozenset(
    [
        "year",
        "month",
        "day",
        "quarter",
        "dow",
        "doy",
        "isodow",
        "week",
        "isoyear",
        "epoch",
        "hour",
        "minute",
        "second",
    ]
)
_CLOCK_FIELDS = frozenset({"hour", "minute", "second"})


def _extract(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "expression")
    operand = read(node.expression, scope)
    name = str(node.this.name).lower()
    on_clock = name in _CLOCK_FIELDS and operand.type is SqlType.DATE
    if name not in _FIELDS or operand.type is None or not operand.type.is_time or on_clock:
        raise _unknown(node)
    return ir.Extract(name, operand)


def _at_utc(node: exp.Expr, scope: Scope) -> Expression:
    """AT TIME ZONE 'UTC', which is a plain cast in the backend's time zone."""
    _only(node, "this", "zone")
    zone = node.args["zone"]
    operand = read(node.this, scope)
    if not isinstance(zone, exp.Literal) or zone.name.upper() != "UTC":
        raise _unknown(node)
    if operand.type is SqlType.TIMESTAMPTZ:
        return ir.Cast(operand, SqlType.TIMESTAMP)
    if operand.type is SqlType.TIMESTAMP:
        return ir.Cast(operand, SqlType.TIMESTAMPTZ)
    raise _unknown(node)


_TRUNCATIONS = frozenset(["minute", "hour", "day", "week", "month", "quarter", "year"])


def _truncated(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "unit")
    operand = read(node.this, scope)
    unit = str(node.args["unit"].name).lower()
    if unit not in _TRUNCATIONS or operand.type is None or not operand.type.is_time:
        raise _unknown(node)
    # date_trunc(date) is that of timestamptz (manual 9.9.2)
    result = SqlType.TIMESTAMPTZ if operand.type is SqlType.DATE else operand.type
    return ir.Truncated(unit, operand, result)


def _bucket(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "min_value", "max_value", "num_buckets")
    operand = read(node.this, scope)
    ends = [node.args.get(name) for name in ("min_value", "max_value", "num_buckets")]
    values = [
        getattr(_constant(end, scope), "value", None) if end is not None else None for end in ends
    ]
    low, high, count = values
    numbers = all(isinstance(value, Fraction) for value in values)
    if operand.type is None or not operand.type.is_number or not numbers:
        raise _unknown(node)
    assert isinstance(low, Fraction) and isinstance(high, Fraction) and isinstance(count, Fraction)
    if low >= high or count.denominator != 1 or not 1 <= count <= 10_000:
        raise _unknown(node)
    return ir.Bucket(operand, low, high, int(count))


def _case(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "ifs", "default")
    conditions: list[Expression] = []
    results: list[Expression] = []
    for branch in node.args["ifs"]:
        _only(branch, "this", "true")
        if node.this is None:
            conditions.append(_condition(branch.this, scope))
        else:
            conditions.append(_comparison(exp.EQ(this=node.this, expression=branch.this), scope))
        results.append(read(branch.args["true"], scope))
    if node.this is not None:
        _repeated(read(node.this, scope))
    default = node.args.get("default")
    results.append(read(default, scope) if default is not None else ir.Constant(None, None))
    settled, meeting = _together(results, node, typing_rules.common_result)
    whens = tuple(zip(conditions, settled[:-1], strict=True))
    return ir.Case(whens, settled[-1], meeting)


_CHOICES: Mapping[type[exp.Expr], ir.Choice] = {
    exp.Coalesce: ir.Choice.COALESCE,
    exp.Greatest: ir.Choice.GREATEST,
    exp.Least: ir.Choice.LEAST,
}


def _choose(node: exp.Expr, scope: Scope) -> Expression:
    # ignore_nulls is how the parser notes that PostgreSQL's greatest and least skip NULLs, which ours do.
    _only(node, "this", "expressions", "ignore_nulls")
    parts = [read(part, scope) for part in (node.this, *node.expressions)]
    settled, meeting = _together(parts, node, typing_rules.common_result)
    return ir.Choose(_CHOICES[type(node)], tuple(settled), meeting)


def _nullif(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "expression")
    operands = [read(node.this, scope), read(node.expression, scope)]
    (operand, other), meeting = _together(operands, node)
    return ir.NullIf(operand, other, _nullif_type(operand.type, other.type, meeting))


def _nullif_type(left: SqlType | None, right: SqlType | None, meeting: SqlType) -> SqlType:
    """That of the left operand, as the operator = takes it: integers, floats and times have
    operators across types, all else in the type in which both meet (manual 9.18.3)."""
    if left is None or right is None:
        return left or meeting
    own = (
        (left.is_integer and right.is_integer)
        or (left.is_float and right.is_number)
        or left.is_time
    )
    return left if own else meeting


_TYPES: Mapping[exp.DType, SqlType] = {
    exp.DType.BOOLEAN: SqlType.BOOL,
    exp.DType.SMALLINT: SqlType.INT2,
    exp.DType.INT: SqlType.INT4,
    exp.DType.BIGINT: SqlType.INT8,
    exp.DType.DECIMAL: SqlType.NUMERIC,
    exp.DType.FLOAT: SqlType.FLOAT4,
    exp.DType.DOUBLE: SqlType.FLOAT8,
    exp.DType.TEXT: SqlType.TEXT,
    exp.DType.VARCHAR: SqlType.VARCHAR,
    exp.DType.DATE: SqlType.DATE,
    exp.DType.TIMESTAMP: SqlType.TIMESTAMP,
    exp.DType.TIMESTAMPTZ: SqlType.TIMESTAMPTZ,
}


def _cast(node: exp.Expr, scope: Scope) -> Expression:
    _only(node, "this", "to", "_type")
    wanted = node.args["to"]
    target = _TYPES.get(wanted.this)
    if target is None or wanted.expressions:
        raise _unknown(node)
    operand = read(node.this, scope)
    source = operand.type
    if source is None or isinstance(operand, ir.Constant):
        value = operand.value if isinstance(operand, ir.Constant) else None
        if isinstance(value, Fraction):
            return _cast_number(value, target, node)
        return typing_rules.settle(ir.Constant(value, None, position_of(node)), target)
    if source is target or (source.is_text and target.is_text):
        return operand
    if source.is_number and target.is_number:
        if target.is_integer and not source.is_integer:
            return ir.Rounded(ir.Rounding.ROUND, operand, 0, target)
        return ir.Cast(operand, target)
    if source is SqlType.BOOL and target is SqlType.INT4:
        return ir.Cast(operand, target)
    if source in (SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ) and target is SqlType.DATE:
        return ir.Cast(operand, target)
    raise Refusal(
        Code.UNSUPPORTED,
        f"a cast from {source.sql} to {target.sql} may fail on some rows and is not allowed",
        "Compare the column in its own type.",
        position_of(node),
    )


def _cast_number(value: Fraction, target: SqlType, node: exp.Expr) -> Expression:
    if not target.is_number:
        raise _unknown(node)
    if target.is_integer and value.denominator != 1:
        raise _unknown(node)
    return ir.Constant(value, target, position_of(node))


_READERS: Mapping[type[exp.Expr], Callable[[exp.Expr, Scope], Expression]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.RawString: _raw_string,
    exp.Parameter: _parameter,
    exp.Paren: _paren,
    **dict.fromkeys(_COMPARATORS, _comparison),
    exp.And: _connective,
    exp.Or: _connective,
    exp.Not: _not,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Like: _like,
    exp.ILike: _like,
    **dict.fromkeys(_OPERATORS, _arithmetic),
    exp.Div: _quotient,
    exp.Mod: _quotient,
    **dict.fromkeys(_ROUNDINGS, _rounded),
    **dict.fromkeys(_TEXT_FUNCTIONS, _text_call),
    exp.Extract: _extract,
    exp.TimestampTrunc: _truncated,
    exp.AtTimeZone: _at_utc,
    exp.WidthBucket: _bucket,
    exp.Case: _case,
    **dict.fromkeys(_CHOICES, _choose),
    exp.Nullif: _nullif,
    exp.Cast: _cast,
}


def read_condition(node: exp.Expr, scope: Scope) -> Expression:
    """A WHERE or FILTER condition."""
    return _shallow(_condition(node, scope))


_AGGREGATES: Mapping[type[exp.Expr], AggregateKind] = {
    exp.Count: AggregateKind.COUNT,
    exp.Sum: AggregateKind.SUM,
    exp.Avg: AggregateKind.AVG,
    exp.Min: AggregateKind.MIN,
    exp.Max: AggregateKind.MAX,
    exp.Variance: AggregateKind.VAR_SAMP,
    exp.VariancePop: AggregateKind.VAR_POP,
    exp.Stddev: AggregateKind.STDDEV_SAMP,
    exp.StddevSamp: AggregateKind.STDDEV_SAMP,
    exp.StddevPop: AggregateKind.STDDEV_POP,
}
_QUANTILES: Mapping[type[exp.Expr], AggregateKind] = {
    exp.PercentileCont: AggregateKind.QUANTILE_CONT,
    exp.PercentileDisc: AggregateKind.QUANTILE_DISC,
}


def is_aggregate(node: exp.Expr) -> bool:
    while isinstance(node, exp.Filter | exp.WithinGroup):
        node = node.this
    return type(node) in _AGGREGATES or type(node) in _QUANTILES


def _inner_aggregate(node: exp.Expr, scope: Scope, inner: Inner) -> Expression:
    aggregate = read_aggregate(node, replace(scope, inner=None))
    if aggregate not in inner.aggregates:
        inner.aggregates.append(aggregate)
    name = f"a{inner.aggregates.index(aggregate) + 1}"
    return ir.ColumnRef(name, aggregate.type, position_of(node), inner.alias)


def read_aggregate(node: exp.Expr, scope: Scope) -> Aggregate:
    """An aggregate call with its FILTER.

    Refuses  UNSUPPORTED: other forms (DISTINCT but for count, ORDER BY inside, several arguments)
    """
    condition = None
    if isinstance(node, exp.Filter):
        _only(node, "this", "expression")
        condition = read_condition(node.expression.this, scope)
        node = node.this
    if isinstance(node, exp.WithinGroup):
        return _quantile(node, scope, condition)
    kind = _AGGREGATES.get(type(node))
    extra = {k for k, v in node.args.items() if v and k not in ("this", "big_int")}
    operand = node.this
    distinct = isinstance(operand, exp.Distinct) and not operand.args.get("on")
    if kind is AggregateKind.COUNT and distinct and len(operand.expressions) == 1:
        kind, operand = AggregateKind.COUNT_DISTINCT, operand.expressions[0]
    if kind is None or extra or isinstance(operand, exp.Distinct | exp.Order | exp.Tuple):
        raise Refusal(
            Code.UNSUPPORTED,
            f"this form of {_function_name(node)} is not available on a protected table",
            "Use the plain aggregate of one expression, with FILTER (WHERE ...) if need be.",
            position_of(node),
        )
    if isinstance(operand, exp.Star):
        return Aggregate(AggregateKind.COUNT_ROWS, None, condition, SqlType.INT8)
    return _aggregate_of(kind, read_expression(operand, scope), condition, position_of(node))


def _quantile(node: exp.Expr, scope: Scope, condition: Expression | None) -> Aggregate:
    kind = _QUANTILES.get(type(node.this))
    ordered = node.expression.expressions
    if kind is None or len(ordered) != 1 or not isinstance(ordered[0], exp.Ordered):
        raise _unknown(node)
    fraction = _constant(node.this.this, scope)
    value = fraction.value if isinstance(fraction, ir.Constant) else None
    if not isinstance(value, Fraction) or not 0 <= value <= 1:
        raise _unknown(node)
    if ordered[0].args.get("desc"):
        value = 1 - value
    found = _aggregate_of(
        kind, read_expression(ordered[0].this, scope), condition, position_of(node)
    )
    return replace(found, fraction=value)


_ORDERED = (
    AggregateKind.MIN,
    AggregateKind.MAX,
    AggregateKind.QUANTILE_CONT,
    AggregateKind.QUANTILE_DISC,
)


def _aggregate_of(
    kind: AggregateKind, operand: Expression, condition: Expression | None, position: int | None
) -> Aggregate:
    if kind in (AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT):
        if isinstance(operand, ir.Constant) and operand.value is not None:
            if kind is AggregateKind.COUNT:
                return Aggregate(AggregateKind.COUNT_ROWS, None, condition, SqlType.INT8)
            raise Refusal(
                Code.UNSUPPORTED,
                "count(distinct) of a constant is 0 or 1",
                "Use count(*).",
                position,
            )
        return Aggregate(kind, operand, condition, SqlType.INT8)
    of = operand.type
    times = kind in _ORDERED and kind is not AggregateKind.QUANTILE_CONT
    if of is None or not (of.is_number or (times and of.is_time)):
        raise Refusal(
            Code.UNSUPPORTED,
            f"{kind.value} of {of.sql if of else 'this'} is not available on a protected table",
            "It takes a number" + (", a date or a timestamp." if times else "."),
            position,
        )
    return Aggregate(kind, operand, condition, _result_type(kind, of))


def _result_type(kind: AggregateKind, of: SqlType) -> SqlType:
    match kind:
        case AggregateKind.SUM:
            return typing_rules.sum_type(of)
        case AggregateKind.MIN | AggregateKind.MAX | AggregateKind.QUANTILE_DISC:
            return of
        case AggregateKind.QUANTILE_CONT:
            return SqlType.FLOAT8  # percentile_cont(double precision), manual 9.21
        case _:
            return typing_rules.avg_type(of)
