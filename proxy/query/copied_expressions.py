"""CHECK constraints and defaults of public tables, as far as they mean the same on the shadow and run no code.

What the source has written is never run here. It is parsed, held against an allow-list, and printed anew:
columns of the table, constants, comparisons, AND, OR, NOT, IS NULL, sums and products, length(). Texts are
compared by equality only, which is that of their bytes on both servers, whatever their collations. Anything
else (functions, patterns, times in a zone, types of one's own) is left out: the table has one constraint less.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from proxy.base.sql_types import SqlType
from proxy.base.written_names import quoted
from proxy.catalog.catalog_model import Enumeration

_CHARACTERS = 4_000
# As PostgreSQL prints them: what an INSERT would put in, which nobody can do here.
_COMPUTED_DEFAULTS = frozenset(
    {
        *("now()", "CURRENT_TIMESTAMP", "CURRENT_DATE", "LOCALTIMESTAMP", "gen_random_uuid()"),
        *("timezone('utc'::text, now())", "(now() AT TIME ZONE 'utc'::text)"),
    }
)


class _Kind(Enum):
    """NUMBER, TIME: ordered alike on all servers; TEXT: equal alike; CONDITION: true, false or NULL."""

    NUMBER = 0
    TIME = 1
    TEXT = 2
    CONDITION = 3


_TYPES: Mapping[exp.DType, tuple[str, _Kind]] = {
    exp.DType.BOOLEAN: ("boolean", _Kind.CONDITION),
    exp.DType.SMALLINT: ("smallint", _Kind.NUMBER),
    exp.DType.INT: ("integer", _Kind.NUMBER),
    exp.DType.BIGINT: ("bigint", _Kind.NUMBER),
    exp.DType.DECIMAL: ("numeric", _Kind.NUMBER),
    exp.DType.FLOAT: ("real", _Kind.NUMBER),
    exp.DType.DOUBLE: ("double precision", _Kind.NUMBER),
    exp.DType.TEXT: ("text", _Kind.TEXT),
    exp.DType.VARCHAR: ("character varying", _Kind.TEXT),
    exp.DType.BPCHAR: ("bpchar", _Kind.TEXT),
    exp.DType.UUID: ("uuid", _Kind.TEXT),
    exp.DType.DATE: ("date", _Kind.TIME),
}
# Constants of these, in the session's settings; comparing them is another matter.
_CONSTANT_TYPES: Mapping[exp.DType, str] = {
    **{kind: name for kind, (name, _) in _TYPES.items()},
    exp.DType.JSON: "json",
    exp.DType.JSONB: "jsonb",
}
_MODIFIED = (exp.DType.DECIMAL, exp.DType.VARCHAR)
_EQUALITIES: Mapping[type[exp.Expr], str] = {exp.EQ: "=", exp.NEQ: "<>"}
_ORDERS: Mapping[type[exp.Expr], str] = {exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
_SUMS: Mapping[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
_JOINS: Mapping[type[exp.Expr], str] = {exp.And: "AND", exp.Or: "OR"}

_Printed = tuple[str, _Kind | None]  # None: NULL


class _NotCopied(Exception):
    """It is none of those that are known to mean the same."""


def copied_check(text: str, columns: Mapping[str, SqlType]) -> str | None:
    """
    Given    a condition as pg_get_expr prints it on an empty search_path, with ISO dates; columns of the
             shadow's table that have the types that they have in the database
    Gives    it in words of our own; None: it is left out
    """
    found = _parsed(text)
    try:
        return None if found is None else _condition(found, columns)
    except _NotCopied:
        return None


def copied_default(text: str, enumeration: Enumeration | None = None) -> str | None:
    """
    Given    an expression as of copied_check; enumeration: of which the column is
    Gives    a constant, or the time of now as it is printed; None: it is left out
    """
    if text in _COMPUTED_DEFAULTS:
        return text
    found = _parsed(text)
    try:
        if enumeration is not None:
            return None if found is None else _label(found, enumeration)
        return None if found is None else _constant(found)
    except _NotCopied:
        return None


def _parsed(text: str) -> exp.Expr | None:
    if len(text) > _CHARACTERS:
        return None
    try:
        return parse_one(text, dialect="postgres")
    except (SqlglotError, RecursionError):
        return None


def _only(node: exp.Expr, *allowed: str) -> None:
    known = (*allowed, "_type", "nested", "is_string", "quoted")
    if any(
        value not in (None, False, []) for name, value in node.args.items() if name not in known
    ):
        raise _NotCopied


def _condition(node: exp.Expr, columns: Mapping[str, SqlType]) -> str:
    printed, kind = _value(node, columns)
    if kind not in (_Kind.CONDITION, None):
        raise _NotCopied
    return printed


def _value(node: exp.Expr, columns: Mapping[str, SqlType]) -> _Printed:
    """By exact type; each part in brackets, so that no precedence is relied on."""
    match node:
        case exp.Paren():
            _only(node, "this")
            return _value(node.this, columns)
        case exp.Column():
            _only(node, "this")
            name = node.this.name if isinstance(node.this, exp.Identifier) else ""
            if name not in columns:
                raise _NotCopied
            return quoted(name), _kind_of(columns[name])
        case exp.Cast():
            return _cast(node, columns)
        case exp.Literal() | exp.Boolean() | exp.Null() | exp.Neg():
            return _plain_constant(node)
        case exp.Not():
            _only(node, "this")
            return _bracketed("NOT {}", _condition(node.this, columns)), _Kind.CONDITION
        case exp.Is():
            _only(node, "this", "expression", "negate")
            if not isinstance(node.expression, exp.Null | exp.Boolean):
                raise _NotCopied
            operand, truth = _value(node.this, columns)[0], _plain_constant(node.expression)[0]
            form = "{} IS NOT {}" if node.args.get("negate") else "{} IS {}"
            return _bracketed(form, operand, truth), _Kind.CONDITION
        case exp.Length():
            _only(node, "this")
            operand, kind = _value(node.this, columns)
            if kind is not _Kind.TEXT:
                raise _NotCopied
            return f"pg_catalog.length(({operand})::text)", _Kind.NUMBER
        case exp.EQ() if isinstance(node.expression, exp.Any):
            return _in_array(node, columns)
        case _:
            return _binary(node, columns)


def _binary(node: exp.Expr, columns: Mapping[str, SqlType]) -> _Printed:
    kind = type(node)
    if kind in _JOINS:
        _only(node, "this", "expression")
        sides = (_condition(node.this, columns), _condition(node.expression, columns))
        return _bracketed("{} " + _JOINS[kind] + " {}", *sides), _Kind.CONDITION
    operator = _EQUALITIES.get(kind) or _ORDERS.get(kind) or _SUMS.get(kind)
    if operator is None:
        raise _NotCopied
    _only(node, "this", "expression")
    (left, a), (right, b) = (_value(part, columns) for part in (node.this, node.expression))
    is_sum = kind in _SUMS
    ordered = (_Kind.NUMBER,) if is_sum else (_Kind.NUMBER, _Kind.TIME)
    if a is not b or a is None or (kind not in _EQUALITIES and a not in ordered):
        raise _NotCopied
    return _bracketed("{} " + operator + " {}", left, right), a if is_sum else _Kind.CONDITION


def _in_array(node: exp.EQ, columns: Mapping[str, SqlType]) -> _Printed:
    """x = ANY (ARRAY[...]), which is how IN is printed."""
    _only(node, "this", "expression")
    operand, kind = _value(node.this, columns)
    listed = node.expression.this.unnest()
    while isinstance(listed, exp.Cast) and listed.to.this is exp.DType.ARRAY:
        listed = listed.this.unnest()  # of the elements' type, to that which they meet
    if not isinstance(listed, exp.Array) or kind is None:
        raise _NotCopied
    items = [_value(item, {}) for item in listed.expressions]
    if not items or any(of not in (kind, None) for _, of in items):
        raise _NotCopied
    return f"({operand} IN ({', '.join(text for text, _ in items)}))", _Kind.CONDITION


def _cast(node: exp.Cast, columns: Mapping[str, SqlType]) -> _Printed:
    _only(node, "this", "to")
    known = _TYPES.get(node.to.this)
    if known is None:
        raise _NotCopied
    inner = node.this.unnest()
    operand, kind = _value(inner, columns)
    is_literal = isinstance(inner, exp.Literal) and inner.is_string
    if not is_literal and kind not in (known[1], None):
        raise _NotCopied  # of texts to numbers, or of times to texts
    return _as_type(operand, known[0], node.to), known[1]


def _as_type(operand: str, name: str, to: exp.DataType) -> str:
    numbers = []
    for part in to.expressions:
        inner = part.this if isinstance(part, exp.DataTypeParam) else part
        if to.this not in _MODIFIED or not isinstance(inner, exp.Literal) or inner.is_string:
            raise _NotCopied
        numbers.append(_digits(str(inner.this)))
    modifier = f"({', '.join(numbers)})" if numbers else ""
    return f"({operand})::{name}{modifier}"


def _plain_constant(node: exp.Expr) -> _Printed:
    match node:
        case exp.Null():
            return "NULL", None
        case exp.Boolean():
            return "true" if node.this else "false", _Kind.CONDITION
        case exp.Literal() if node.is_string:
            return _text(str(node.this)), _Kind.TEXT
        case exp.Literal():
            return _digits(str(node.this)), _Kind.NUMBER
        case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return _bracketed("- {}", _digits(str(node.this.this))), _Kind.NUMBER
        case _:
            raise _NotCopied


def _constant(node: exp.Expr) -> str:
    """A literal, with a cast or without."""
    inner = node.unnest()
    if not isinstance(inner, exp.Cast):
        return _plain_constant(inner)[0]
    _only(inner, "this", "to")
    operand = _plain_constant(inner.this.unnest())[0]
    to = inner.to
    if to.this is exp.DType.ARRAY and len(to.expressions) == 1:
        name = _CONSTANT_TYPES.get(to.expressions[0].this)
        if name is None or to.expressions[0].expressions:
            raise _NotCopied
        return f"({operand})::{name}[]"
    name = _CONSTANT_TYPES.get(to.this)
    if name is None:
        raise _NotCopied
    return _as_type(operand, name, to)


def _label(node: exp.Expr, enumeration: Enumeration) -> str:
    literal = node.this if isinstance(node, exp.Cast) else node
    label = str(literal.this) if isinstance(literal, exp.Literal) else None
    if label not in enumeration.labels:
        raise _NotCopied
    return _text(label)


def _text(text: str) -> str:
    if "\\" in text:  # which a setting gives another meaning
        raise _NotCopied
    return "'" + text.replace("'", "''") + "'"


def _digits(text: str) -> str:
    if not text.isascii() or not text.replace(".", "", 1).isdigit():
        raise _NotCopied
    return text


def _bracketed(form: str, *parts: str) -> str:
    return "(" + form.format(*parts) + ")"


def _kind_of(kind: SqlType) -> _Kind:
    if kind.is_number:
        return _Kind.NUMBER
    if kind is SqlType.BOOL:
        return _Kind.CONDITION
    if kind in (SqlType.DATE, SqlType.TIMESTAMP):
        return _Kind.TIME
    if kind in (SqlType.TEXT, SqlType.VARCHAR, SqlType.BPCHAR, SqlType.UUID):
        return _Kind.TEXT
    raise _NotCopied
