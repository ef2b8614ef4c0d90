"""What is in columns of jsonb and arrays: operators, their functions, and `= ANY (column)`.

PostgreSQL's own reading comes first, so that a statement that reaches this has operators that exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.operands import read_constant
from proxy.query.bind.scope import Readers, Scope, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir import typing_rules
from proxy.query.ir.expressions import Expression, InsideLook
from proxy.query.ir.json_constants import json_constant
from proxy.query.syntax.placeholders import ScalarAnswer

_Given = tuple[ir.Constant | ir.Parameter, ...]
_INSTEAD = (
    "Write a constant, and a column beside it: column ->> 'key', column @> '{\"a\": 1}',"
    " 'a' = ANY(column)."
)


def compound(node: exp.Expr, scope: Scope) -> Expression | None:
    """A column of jsonb or an array, perhaps in brackets; None: something else."""
    inner = node.unnest()
    if not isinstance(inner, exp.Column | exp.JSONExtract | exp.Lambda):
        return None
    read = scope.read(inner)
    return read if read.type is not None and read.type.is_container else None


def _member(node: exp.Expr, scope: Scope) -> Expression:
    """-> and ->>"""
    only(node, "this", "expression", "only_json_types")
    operand, path = _json(node.this, node, scope)
    step = _step(node.expression, scope)
    if isinstance(node, exp.JSONExtract):
        return ir.Inside(
            InsideLook.MEMBER, operand, (*path, step), (), SqlType.JSONB, position_of(node)
        )
    return ir.Inside(InsideLook.TEXT, operand, (*path, step), (), SqlType.TEXT, position_of(node))


def _in_call(node: exp.Expr, scope: Scope) -> Expression:
    """f(column -> 'a' ->> 'b'), which the parser takes for a function of the parameter `column`."""
    only(node, "this", "expressions")
    if len(node.expressions) != 1 or not isinstance(node.expressions[0], exp.Identifier):
        raise unknown(node)
    return scope.read(_put_before(node.this, exp.Column(this=node.expressions[0])))


def _put_before(body: exp.Expr, column: exp.Expr) -> exp.Expr:
    """column -> the first operand of this chain of arrows; any other operator might bind more."""
    if isinstance(body, exp.JSONExtract | exp.JSONExtractScalar):
        only(body, "this", "expression", "only_json_types")
        before = _put_before(body.this, column)
        return type(body)(this=before, expression=body.expression)
    if not isinstance(body, exp.Literal | exp.Neg | exp.Parameter | exp.Paren | exp.RawString):
        raise _refused(body)
    return exp.JSONExtract(this=column, expression=body)


def _extracted(node: exp.Expr, scope: Scope) -> Expression:
    """#> and #>>, of a path in an array."""
    only(node, "this", "expression", "only_json_types")
    keys = tuple(_elements(node.expression, scope, SqlType.TEXT))
    return _at_keys(node.this, keys, isinstance(node, exp.JSONBExtractScalar), node, scope)


def _at_keys(of: exp.Expr, keys: _Given, is_text: bool, node: exp.Expr, scope: Scope) -> Expression:
    """As with arrows, where no key is a number, which is a place where there is an array and a key else."""
    texts = [key.value for key in keys if isinstance(key, ir.Constant)]
    if len(texts) < len(keys) or not keys or not all(_is_name(text) for text in texts):
        raise Refusal(
            Code.UNSUPPORTED,
            "this path is not available on a protected table",
            "Write column -> 'a' ->> 'b', and column -> 'a' ->> 0 for what is in an array.",
            position_of(node),
        )
    operand, path = _json(of, node, scope)
    look, kind = (InsideLook.TEXT, SqlType.TEXT) if is_text else (InsideLook.MEMBER, SqlType.JSONB)
    return ir.Inside(look, operand, (*path, *keys), (), kind, position_of(node))


def _is_name(text: object) -> bool:
    """What no reading of numbers takes for one: with a letter in front."""
    return isinstance(text, str) and (text[:1].isalpha() or text[:1] == "_")


def extracted_text(node: exp.Expr, scope: Scope) -> Expression:
    """jsonb_extract_path_text(column, 'a', 'b')"""
    return _called_path(node, scope, is_text=True)


def extracted(node: exp.Expr, scope: Scope) -> Expression:
    """jsonb_extract_path(column, 'a', 'b')"""
    return _called_path(node, scope, is_text=False)


def _called_path(node: exp.Expr, scope: Scope, *, is_text: bool) -> Expression:
    only(node, "this", "expressions")
    of, *steps = node.expressions
    keys = tuple(_settled(step, scope, SqlType.TEXT) for step in steps)
    return _at_keys(of, keys, is_text, node, scope)


def _json(node: exp.Expr, of: exp.Expr, scope: Scope) -> tuple[Expression, _Given]:
    """The column and the path to a value of jsonb."""
    read = compound(node, scope)
    match read:
        case ir.Inside(look=InsideLook.MEMBER):
            return read.operand, read.path
        case ir.ColumnRef(type=SqlType.JSONB):
            return read, ()
        case _:
            raise _refused(of)


def _step(node: exp.Expr, scope: Scope) -> ir.Constant | ir.Parameter:
    """A key or a place. The parser has made a path of a literal, of one step in PostgreSQL's dialect."""
    if isinstance(node, exp.JSONPath):
        match node.expressions:
            case [exp.JSONPathRoot(), exp.JSONPathKey(this=str() as key)]:
                return ir.Constant(key, SqlType.TEXT)
            case [exp.JSONPathRoot(), exp.JSONPathSubscript(this=int() as place)]:
                return ir.Constant(Fraction(place), SqlType.INT4)
        raise _refused(node)
    return _settled(node, scope, SqlType.TEXT, (SqlType.INT4,))


def _settled(
    node: exp.Expr, scope: Scope, wanted: SqlType, others: tuple[SqlType, ...] = ()
) -> ir.Constant | ir.Parameter:
    given = typing_rules.settle(read_constant(node, scope, _INSTEAD), wanted)
    assert isinstance(given, ir.Constant | ir.Parameter)
    is_answer = isinstance(given, ir.Parameter) and isinstance(given.source, ScalarAnswer)
    kind = given.type
    is_wanted = kind is not None and (kind.is_text if wanted is SqlType.TEXT else kind is wanted)
    if is_answer or not (is_wanted or kind in others):
        raise _refused(node)
    return given


def _has_key(node: exp.Expr, scope: Scope) -> Expression:
    """?, and ?| and ?& of several keys."""
    only(node, "this", "expression")
    operand, path = _json(node.this, node, scope)
    if isinstance(node, exp.JSONBContainsTopKey):
        keys: _Given = (_settled(node.expression, scope, SqlType.TEXT),)
    else:
        keys = tuple(_elements(node.expression, scope, SqlType.TEXT))
    found = [
        ir.Inside(InsideLook.HAS_KEY, operand, path, (key,), SqlType.BOOL, position_of(node))
        for key in keys
    ]
    if len(found) == 1:
        return found[0]
    if not found or any(isinstance(key, ir.Constant) and key.value is None for key in keys):
        raise _refused(node)  # to the operators a NULL is no key, to ? it is NULL
    return ir.Connective(
        "AND" if isinstance(node, exp.JSONBContainsAllTopKeys) else "OR", tuple(found)
    )


def _holds(node: exp.Expr, scope: Scope) -> Expression:
    """@> and <@, of which the column is the larger; && of arrays."""
    only(node, "this", "expression")
    whole, part = node.this, node.expression
    if isinstance(node, exp.ArrayContainedBy) or (
        isinstance(node, exp.ArrayOverlaps) and compound(whole, scope) is None
    ):
        whole, part = part, whole
    read = compound(whole, scope)
    if read is None or read.type is None:
        raise _refused(node)
    kind = read.type.element
    if kind is None:
        if isinstance(node, exp.ArrayOverlaps):
            raise _refused(node)
        operand, path = _json(whole, node, scope)
        given = (_json_text(part),)
        return ir.Inside(InsideLook.HOLDS, operand, path, given, SqlType.BOOL, position_of(node))
    elements = tuple(_elements(part, scope, kind))
    look = InsideLook.SOME_OF if isinstance(node, exp.ArrayOverlaps) else InsideLook.ALL_OF
    return ir.Inside(look, read, (), elements, SqlType.BOOL, position_of(node))


def _json_text(node: exp.Expr) -> ir.Constant:
    """'{}', '{}'::jsonb and jsonb '{}'"""
    inner = node.unnest()
    if isinstance(inner, exp.Cast) and inner.args["to"].this is exp.DType.JSONB:
        only(inner, "this", "to", "_type")
        inner = inner.this.unnest()
    match inner:
        case exp.Literal(is_string=True):
            return json_constant(str(inner.this), position_of(inner))
        case exp.RawString():
            return json_constant(str(inner.this), None)
        case _:
            raise _refused(node)


def _elements(node: exp.Expr, scope: Scope, kind: SqlType) -> Iterator[ir.Constant | ir.Parameter]:
    """Of ARRAY[...], or '{a, b}' without quotes inside."""
    inner = node.unnest()
    if isinstance(inner, exp.Cast) and inner.args["to"].this is exp.DType.ARRAY:
        inner = inner.this.unnest()
    others = (SqlType.INT2, SqlType.INT4, SqlType.INT8) if kind.is_integer else ()
    if isinstance(inner, exp.Array):
        for part in inner.expressions:
            yield _settled(part, scope, kind, others)
        return
    texts = plain_elements(str(inner.this)) if isinstance(inner, exp.Literal) else None
    if texts is None or not inner.args.get("is_string"):
        raise _refused(node)
    for text in texts:
        constant = ir.Constant(text, None, position_of(node))
        settled = typing_rules.settle(constant, kind)
        assert isinstance(settled, ir.Constant)
        yield settled


def among_elements(node: exp.Expr, array: Expression, scope: Scope) -> Expression:
    """x = ANY (column), x <> ALL (column)

    Given    node: the comparison; array: what stands in the brackets
    """
    kind = None if array.type is None else array.type.element
    if kind is None:
        raise _refused(node)
    others = (SqlType.INT2, SqlType.INT4, SqlType.INT8) if kind.is_integer else ()
    item = _settled(node.this, scope, kind, others)
    found = ir.Inside(InsideLook.ANY, array, (), (item,), SqlType.BOOL, position_of(node))
    return ir.Not(found) if isinstance(node, exp.NEQ) else found


def _element(node: exp.Expr, scope: Scope) -> Expression:
    """column[1], which the parser counts from 0."""
    only(node, "this", "expressions", "offset", "safe", "returns_list_for_maps", "_type")
    read = compound(node.this, scope)
    kind = None if read is None or read.type is None else read.type.element
    places = node.expressions
    if read is None or kind is None or len(places) != 1 or not isinstance(places[0], exp.Literal):
        raise _refused(node)
    place = typing_rules.ordinal(str(places[0].this))
    if place is None or places[0].is_string:
        raise _refused(node)
    at = ir.Constant(Fraction(place + 1), SqlType.INT4)
    return ir.Inside(InsideLook.ELEMENT, read, (at,), (), kind, position_of(node))


def _length(node: exp.Expr, scope: Scope) -> Expression:
    """array_length(column, 1)"""
    only(node, "this", "expression")
    dimension = node.expression
    if not isinstance(dimension, exp.Literal) or dimension.is_string or dimension.this != "1":
        raise unknown(node)
    return _measured(InsideLook.LENGTH, node.this, node, scope)


def _measured(look: InsideLook, of: exp.Expr, node: exp.Expr, scope: Scope) -> Expression:
    read = compound(of, scope)
    if read is None or read.type is None or read.type.element is None:
        raise unknown(node) if look is InsideLook.LENGTH else _refused(node)
    return ir.Inside(look, read, (), (), SqlType.INT4, position_of(node))


def cardinality(node: exp.Expr, scope: Scope) -> Expression:
    return _measured(InsideLook.CARDINALITY, _argument(node), node, scope)


def json_kind(node: exp.Expr, scope: Scope) -> Expression:
    """jsonb_typeof()"""
    operand, path = _json(_argument(node), node, scope)
    return ir.Inside(InsideLook.KIND, operand, path, (), SqlType.TEXT, position_of(node))


def _argument(node: exp.Expr) -> exp.Expr:
    only(node, "this", "expressions")
    if len(node.expressions) != 1:
        raise unknown(node)
    argument: exp.Expr = node.expressions[0]
    return argument


def _refused(node: exp.Expr) -> Refusal:
    return Refusal(
        Code.UNSUPPORTED,
        "this operation on jsonb or an array is not available on a protected table",
        _INSTEAD,
        position_of(node),
    )


READERS: Readers = {
    exp.JSONExtract: _member,
    exp.JSONExtractScalar: _member,
    exp.Lambda: _in_call,
    exp.JSONBExtract: _extracted,
    exp.JSONBExtractScalar: _extracted,
    exp.JSONBContainsTopKey: _has_key,
    exp.JSONBContainsAnyTopKeys: _has_key,
    exp.JSONBContainsAllTopKeys: _has_key,
    exp.ArrayContainsAll: _holds,
    exp.ArrayContainedBy: _holds,
    exp.ArrayOverlaps: _holds,
    exp.ArraySize: _length,
    exp.Bracket: _element,
}


# Arrays written as texts.


# As PostgreSQL reads it (PostgreSQL 17 documentation, section 8.15.2).
_ARRAY = re.compile(r"[ \t\n\r\f\v]*\{(.*)\}[ \t\n\r\f\v]*", re.DOTALL)
_ELEMENT = re.compile(
    r"""[ \t\n\r\f\v]*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^{}"\\,]*))[ \t\n\r\f\v]*(?:,|\Z)""",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SPACE = " \t\n\r\f\v"


def plain_elements(text: str) -> list[str | None] | None:
    """Of '{a, "b, c", NULL}', where no element is an array; None: it is something else.

    >>> plain_elements("{a, b c,null}"), plain_elements("{}"), plain_elements('{"a, b", "NULL"}')
    (['a', 'b c', None], [], ['a, b', 'NULL'])
    >>> plain_elements("{a,}"), plain_elements('{"a" b}'), plain_elements("{{a}}")
    (None, None, None)
    """
    whole = _ARRAY.fullmatch(text)
    if whole is None:
        return None
    inner, at, found = whole[1], 0, list[str | None]()
    if not inner.strip(_SPACE):
        return []
    while at < len(inner) or inner[at - 1] == ",":
        part = _ELEMENT.match(inner, at)
        if part is None or (part["quoted"] is None and not part["plain"].strip(_SPACE)):
            return None
        plain = (part["plain"] or "").strip(_SPACE)
        if part["quoted"] is not None:
            found.append(_ESCAPED.sub(r"\1", part["quoted"]))
        else:
            found.append(None if plain.lower() == "null" else plain)
        at = part.end()
        if at >= len(inner) and not part[0].endswith(","):
            break
    return found
