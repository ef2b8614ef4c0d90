"""Trees to typed expressions. An unknown node, function, operator or type is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.expression_reading import exact, shallow
from proxy.query.canonical import trees
from proxy.query.canonical.bins_of_numbers import written_bin
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.comparisons import (
    COMPARISONS,
    compare,
    compared,
    items_of,
    regular,
)
from proxy.query.canonical.json_operators import INSIDES, OF_KEYS
from proxy.query.canonical.number_functions import NUMBERS
from proxy.query.canonical.signatures import Signatures, build
from proxy.query.canonical.text_functions import TEXTS, concat, concat_ws
from proxy.query.canonical.time_functions import TIMES
from proxy.query.canonical.type_names import element_type, type_named, written_type
from proxy.query.canonical.values import TypedValue, value_of
from proxy.query.canonical.visible_names import VisibleNames
from proxy.query.canonical.walk import is_aggregate
from proxy.query.canonical.written_casts import cast, literal_of
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import size
from proxy.query.ir.time_differences import age_field
from proxy.query.ir.typing_rules import common, literal_type, number
from proxy.query.syntax.placeholders import ClientArray, ClientParameter
from proxy.query.syntax.tokens import too_complex

SIGNATURES: Signatures = {**COMPARISONS, **NUMBERS, **TEXTS, **TIMES, **INSIDES}
SCALARS = frozenset({key.partition("(")[0] for key in SIGNATURES}) | {
    *("COALESCE", "GREATEST", "LEAST", "NULLIF", "concat", "concat_ws", "like_escape"),
}
_OF_PATHS = ("jsonb_extract_path", "jsonb_extract_path_text")
_CHOICES = {
    "COALESCE": ir.Choice.COALESCE,
    "GREATEST": ir.Choice.GREATEST,
    "LEAST": ir.Choice.LEAST,
}
# Texts that are equal in one of these byte by byte are so in all.
_COLLATIONS = frozenset({"C", "POSIX", "default", "ucs_basic"})
_WITHOUT_ORDER = frozenset({"=", "<>", "~~", "!~~", "~~*", "!~~*", "IS DISTINCT FROM"})


def read(tree: trees.Tree, scope: VisibleNames) -> TypedValue:
    """
    Raises:
        Refusal: FUNCTION, UNSUPPORTED, COLUMN_NOT_USABLE, SYNTAX, TOO_COMPLEX.
    """
    known = scope.constants.of(tree)
    if known is not None and not known.is_list:
        return value_of(ir.Parameter(ClientParameter(known.number), known.type))
    match tree:
        case trees.ColumnName():
            return _column(tree, scope)
        case trees.Literal():
            return _literal(tree)
        case trees.ParameterName():
            return _parameter(tree, scope)
        case trees.OperatorTree():
            return _operation(tree, scope)
        case trees.Call():
            return _call(tree, scope)
        case trees.CastTo():
            return _cast(tree, scope)
        case trees.CaseOf():
            return _case(tree, scope)
        case trees.Junction():
            parts = tuple(condition(part, scope) for part in tree.operands)
            return value_of(ir.Connective(tree.word, parts))
        case trees.Negation():
            return value_of(_negation(tree, scope))
        case trees.TruthTest():
            return value_of(ir.Is(read(tree.operand, scope).expression, tree.truth))
        case trees.Quantified():
            return value_of(_quantified(tree, scope))
        case trees.InQuery() | trees.ExistsQuery() | trees.ScalarQuery():
            if scope.subquery is None:
                raise unread("a subquery in this place")
            return scope.subquery(tree, scope)
        case trees.ArrayOf() | trees.ArrayQuery() | trees.Subscript():
            raise unread("an array in this place")
        case trees.RowOf() | trees.FieldOf() | trees.WholeRow():
            raise unread("a row as a value")
        case trees.GroupingOf():
            raise unread("GROUPING() in this place")
        case trees.NamedArgument() | trees.RawSql():
            raise unread("a named argument")
        case trees.SpecialWord():
            raise Refusal(
                Code.FUNCTION,
                "the current date and time are not available on protected columns",
                "Write them as a constant, e.g. column >= '2026-01-31'.",
            )
        case trees.Collated():
            raise unread("COLLATE in this place")
        case _:
            assert_never(tree)


def condition(tree: trees.Tree, scope: VisibleNames) -> ir.Expression:
    """A WHERE, ON, HAVING or FILTER, or a part of one."""
    found = read(tree, scope)
    if found.type is not SqlType.BOOL:
        raise unread("a condition that is neither true nor false")
    return exact(shallow(found.expression))


def _column(tree: trees.ColumnName, scope: VisibleNames) -> TypedValue:
    if not tree.relation and tree.column in scope.merged:
        return value_of(scope.merged[tree.column])
    relation = scope.relations.get(tree.relation)
    found = None if relation is None else relation.columns.get(tree.column)
    if found is None:
        raise Refusal(
            Code.COLUMN_NOT_USABLE,
            f'there is no column "{tree.column}" in the policy of this table',
            "SELECT * FROM dp.columns lists the columns that can be asked about.",
            tree.start + 1,
        )
    return found


def _literal(tree: trees.Literal) -> TypedValue:
    if tree.value is None:
        return value_of(ir.Constant(None, None), SqlType.TEXT)
    if isinstance(tree.value, bool):
        return value_of(ir.Constant(tree.value, SqlType.BOOL))
    if tree.is_text:
        return value_of(ir.Constant(tree.value, None), SqlType.TEXT)
    kind = literal_type(tree.value)
    return value_of(ir.Constant(number(tree.value), kind))


def _parameter(tree: trees.ParameterName, scope: VisibleNames) -> TypedValue:
    kind = scope.parameters[tree.number - 1] if tree.number <= len(scope.parameters) else None
    if kind is None or kind is SqlType.OTHER:
        raise unread("a parameter of this type")
    return value_of(ir.Parameter(ClientParameter(tree.number), kind))


def _cast(tree: trees.CastTo, scope: VisibleNames) -> TypedValue:
    enumerations = dict(scope.enumerations)
    if isinstance(tree.operand, trees.Literal) and (
        tree.operand.is_text or tree.operand.value is None
    ):
        if tree.type.name == "jsonb":
            return value_of(ir.Constant(tree.operand.value, SqlType.JSONB))
        kind = type_named(replace(tree.type, fields=""), enumerations)
        found = literal_of(tree.operand.value, tree.type, kind)
        labels = enumerations.get(tree.type.name, ()) if kind is SqlType.ENUM else ()
        return TypedValue(found.expression, kind, found.name, labels)
    return cast(read(tree.operand, scope), tree.type, enumerations)


def _operation(tree: trees.OperatorTree, scope: VisibleNames) -> TypedValue:
    written = written_bin(tree, lambda part: read(part, scope))
    if written is not None:
        return written
    rows = [part.elements for part in tree.operands if isinstance(part, trees.RowOf)]
    if len(rows) == 2:
        return value_of(_compared_rows(tree.operator, rows[0], rows[1], scope))
    operands = tree.operands
    if tree.operator in _WITHOUT_ORDER:
        operands = tuple(map(_without_collation, operands))
    if tree.operator in ("~", "!~"):
        similar = _similar(tree, operands, scope)
        if similar is not None:
            return similar
    if tree.operator in OF_KEYS and isinstance(operands[1], trees.ArrayOf | trees.CastTo):
        keys = _texts_in(operands[1], scope)
        return OF_KEYS[tree.operator]([read(operands[0], scope), *keys])
    return build(SIGNATURES, tree.operator, [read(part, scope) for part in operands])


def _similar(
    tree: trees.OperatorTree, operands: Sequence[trees.Tree], scope: VisibleNames
) -> TypedValue | None:
    """SIMILAR TO; None: another regular expression."""
    match operands[1]:
        case trees.Call(name="similar_to_escape", arguments=(pattern,)):
            left, constant = read(operands[0], scope), read(pattern, scope).constant()
            if left.kind not in ("text", "bpchar"):
                raise unread("SIMILAR TO of this type")
            found = regular(_repeated(left).expression, constant, is_similar=True)
            return value_of(ir.Not(found) if tree.operator == "!~" else found, SqlType.BOOL)
        case _:
            return None


def _texts_in(tree: trees.Tree, scope: VisibleNames) -> Sequence[TypedValue]:
    """The elements of an array of texts."""
    if isinstance(tree, trees.CastTo) and tree.type.name == "text[]":
        tree = tree.operand
    if not isinstance(tree, trees.ArrayOf):
        from proxy.query.bind.nodes.array_texts import plain_elements

        written = tree.value if isinstance(tree, trees.Literal) else None
        elements = plain_elements(written) if isinstance(written, str) else None
        if elements is None:
            raise unread("this array of keys")
        return [value_of(ir.Constant(one, SqlType.TEXT)) for one in elements]
    return [read(one, scope) for one in tree.elements]


def _without_collation(tree: trees.Tree) -> trees.Tree:
    if not isinstance(tree, trees.Collated):
        return tree
    if tree.collation not in _COLLATIONS:
        raise unread(f"the collation {tree.collation}")
    return tree.operand


_STRICT = {"<": "<", "<=": "<", ">": ">", ">=": ">"}


def _compared_rows(
    operator: str, left: Sequence[trees.Tree], right: Sequence[trees.Tree], scope: VisibleNames
) -> ir.Expression:
    """Column by column (PostgreSQL 17 documentation, section 9.25.5)."""
    pairs = [
        tuple(_repeated(read(one, scope)) for one in pair) for pair in zip(left, right, strict=True)
    ]

    def one(sign: str, place: int) -> ir.Expression:
        a, b = pairs[place]
        return build(SIGNATURES, sign, (a, b)).expression

    places = range(len(pairs))
    if operator in ("=", "<>"):
        word = "AND" if operator == "=" else "OR"
        return ir.Connective(word, tuple(one(operator, place) for place in places))
    if operator not in _STRICT:
        raise unread(f"{operator} of rows")
    decides = []
    for place in places:
        sign = operator if place == len(pairs) - 1 else _STRICT[operator]
        parts = (*(one("=", before) for before in range(place)), one(sign, place))
        decides.append(parts[0] if len(parts) == 1 else ir.Connective("AND", parts))
    return ir.Connective("OR", tuple(decides))


def _repeated(value: TypedValue) -> TypedValue:
    """An operand about to stand several times: nested ones would double the size at every level."""
    if size(value.expression) > limits.REPEATED_NODES:
        raise too_complex(
            f"of a BETWEEN or CASE on an expression of more than {limits.REPEATED_NODES} parts"
        )
    return value


def _negation(tree: trees.Negation, scope: VisibleNames) -> ir.Expression:
    inner = tree.operand
    if isinstance(inner, trees.OperatorTree) and inner.operator == "IS DISTINCT FROM":
        left, right = (read(part, scope) for part in inner.operands)
        build(SIGNATURES, inner.operator, (left, right))  # which refuses what has no operator
        return compare(ir.Comparator.NOT_DISTINCT, left, right)
    return ir.Not(condition(inner, scope))


def _quantified(tree: trees.Quantified, scope: VisibleNames) -> ir.Expression:
    """= ANY (array) is IN, <> ALL (array) NOT IN; of LIKE a condition for each element."""
    operand = read(_without_collation(tree.operand), scope)
    is_list = (tree.operator, tree.is_all) in (("=", False), ("<>", True))
    array = tree.array
    known = scope.constants.of(array)
    if known is not None and known.is_list:
        return _in_array(tree, operand, known.number, known.type)
    of = element_type(array.type) if isinstance(array, trees.CastTo) else None
    if isinstance(array, trees.CastTo) and of is not None:
        inner = array.operand
        if isinstance(inner, trees.ArrayOf):  # each element is cast by itself
            array = trees.ArrayOf(tuple(trees.CastTo(one, of) for one in inner.elements))
        elif isinstance(inner, trees.CastTo):
            array = inner if of.name == "text" else array
    if isinstance(array, trees.ParameterName):
        return _in_parameter(tree, operand, array, scope)
    elements = _elements(array, scope)
    if not is_list:
        return _each(tree, operand, elements)
    if not elements:
        return ir.Constant(tree.is_all, SqlType.BOOL)
    build(SIGNATURES, "=", (operand, elements[0]))  # which refuses what has no operator
    found = ir.In(compared(operand), items_of(elements))
    return ir.Not(found) if tree.is_all else found


def _elements(array: trees.Tree, scope: VisibleNames) -> list[TypedValue]:
    """Of ARRAY[...] and of '{a,b}'::type[]."""
    if isinstance(array, trees.ArrayOf):
        if len(array.elements) > limits.LIST_ELEMENTS:
            raise too_complex(f"of a list of more than {limits.LIST_ELEMENTS} elements")
        return [read(one, scope) for one in array.elements]
    of = element_type(array.type) if isinstance(array, trees.CastTo) else None
    if (
        of is None
        or not isinstance(array, trees.CastTo)
        or not isinstance(array.operand, trees.Literal)
    ):
        raise unread("ANY or ALL of this expression")
    from proxy.query.bind.nodes.array_texts import plain_elements

    texts = plain_elements(str(array.operand.value))
    if texts is None:
        raise unread("this array")
    kind = type_named(of, scope.enumerations)
    labels = scope.enumerations.get(of.name, ())
    return [
        TypedValue(literal_of(text, of, kind).expression, kind, written_type(of), labels)
        for text in texts
    ]


def _in_parameter(
    tree: trees.Quantified, operand: TypedValue, array: trees.ParameterName, scope: VisibleNames
) -> ir.Expression:
    kind = scope.parameters[array.number - 1] if array.number <= len(scope.parameters) else None
    element = None if kind is None else kind.element
    if element is None:
        raise unread("a parameter of this type of arrays")
    return _in_array(tree, operand, array.number, element)


def _in_array(
    tree: trees.Quantified, operand: TypedValue, number_of: int, element: SqlType
) -> ir.Expression:
    """In an array that is known when the statement is run."""
    item = ir.Parameter(ClientArray(number_of, tree.is_all), element)
    if (tree.operator, tree.is_all) in (("=", False), ("<>", True)):
        found = ir.In(compared(operand), (item,))
        return ir.Not(found) if tree.is_all else found
    if tree.operator in ("~~", "~~*"):
        return ir.Like(operand.expression, item, tree.operator == "~~*")
    if tree.operator in ("!~~", "!~~*"):
        negated = ir.Parameter(ClientArray(number_of, not tree.is_all), element)
        return ir.Not(ir.Like(operand.expression, negated, tree.operator == "!~~*"))
    raise unread(f"{tree.operator} with ANY or ALL")


def _each(
    tree: trees.Quantified, operand: TypedValue, elements: Sequence[TypedValue]
) -> ir.Expression:
    if tree.operator not in ("~~", "!~~", "~~*", "!~~*"):
        raise unread(f"{tree.operator} with ANY or ALL of a list")
    _repeated(operand)
    found = [build(SIGNATURES, tree.operator, (operand, one)).expression for one in elements]
    if len(found) < 2:
        return found[0] if found else ir.Constant(tree.is_all, SqlType.BOOL)
    return ir.Connective("AND" if tree.is_all else "OR", tuple(found))


def _case(tree: trees.CaseOf, scope: VisibleNames) -> TypedValue:
    subject = None if tree.subject is None else _repeated(read(tree.subject, scope))
    whens = []
    for when, then in tree.whens:
        if subject is None:
            found = condition(when, scope)
        else:
            found = build(SIGNATURES, "=", (subject, read(when, scope))).expression
        whens.append((found, read(then, scope)))
    otherwise = value_of(ir.Constant(None, None))
    if tree.otherwise is not None:
        otherwise = read(tree.otherwise, scope)
    results = [*(then for _, then in whens), otherwise]
    kind = _meeting(results)
    branches = tuple((found, _settled(then, kind)) for found, then in whens)
    return _named(ir.Case(branches, _settled(otherwise, kind), kind), kind, results)


def _meeting(values: Sequence[TypedValue]) -> SqlType:
    """PostgreSQL has cast all of them to one type.

    Raises:
        Refusal: UNSUPPORTED: of values that are not compared as wholes.
    """
    common([one.type for one in values if not _is_null(one)] or [SqlType.TEXT], None)
    if any(one.labels for one in values):
        raise unread("one of several labels of an enumeration")
    kinds = [one.type for one in values if not _is_null(one)]
    own = {
        one.type if one.expression.type is None else one.expression.type
        for one in values
        if not isinstance(one.expression, ir.Constant)
    }
    if (
        len(own) == 1 and kinds[0].is_text
    ):  # of labels that are texts to analysts, or with a cast of no effect
        return own.pop()
    return kinds[0] if kinds else SqlType.TEXT


def _settled(value: TypedValue, kind: SqlType) -> ir.Expression:
    if _is_null(value):
        return ir.Constant(None, kind)
    return value.expression


def _is_null(value: TypedValue) -> bool:
    return isinstance(value.expression, ir.Constant) and value.expression.value is None


def _named(expression: ir.Expression, kind: SqlType, values: Sequence[TypedValue]) -> TypedValue:
    """A modifier stays where all have it, NULL has none."""
    names = {one.name for one in values}
    name = names.pop() if len(names) == 1 else kind.sql
    return TypedValue(expression, kind, name)


def _call(tree: trees.Call, scope: VisibleNames) -> TypedValue:
    if tree.over is not None:
        if scope.window is None:
            raise unread("a window function in this place")
        return scope.window(tree, scope)
    if is_aggregate(tree):
        if scope.aggregate is None:
            raise unread(f"the aggregate {tree.name} in this place")
        return scope.aggregate(tree, scope)
    if tree.name == "gen_random_uuid" and scope.window is not None:
        return scope.window(tree, scope)
    if tree.order or tree.within or tree.filter or tree.is_distinct or tree.is_star:
        raise unread(f"this form of {tree.name}")
    written = written_bin(tree, lambda part: read(part, scope))
    if written is not None:
        return written
    age = _age(tree, scope)
    if age is not None:
        return age
    written_out = tree.arguments
    match written_out:
        case (first, trees.NamedArgument(name="VARIADIC", value=trees.ArrayOf(elements=several))):
            if tree.name in _OF_PATHS:
                written_out = (first, *several)
    arguments = [read(one, scope) for one in written_out]
    if tree.name in _CHOICES:
        kind = _meeting(arguments)
        parts = tuple(_settled(one, kind) for one in arguments)
        return _named(ir.Choose(_CHOICES[tree.name], parts, kind), kind, arguments)
    match tree.name:
        case "NULLIF":
            left, right = arguments
            build(SIGNATURES, "=", arguments)  # which refuses what has no operator
            kind = _meeting(arguments)
            kind = kind if left.type.is_text else left.type
            return TypedValue(
                ir.NullIf(left.expression, right.expression, kind), left.type, left.name
            )
        case "concat":
            return concat(arguments)
        case "concat_ws":
            return concat_ws(arguments)
        case "jsonb_extract_path" | "jsonb_extract_path_text":
            return OF_KEYS["#>" if tree.name == "jsonb_extract_path" else "#>>"](arguments)
        case "like_escape":
            return value_of(_escaped(arguments))
        case _:
            return build(SIGNATURES, tree.name, arguments)


def _age(tree: trees.Call, scope: VisibleNames) -> TypedValue | None:
    """extract(year FROM age(current_date, born))"""
    match tree:
        case trees.Call(
            name="extract" | "date_part", arguments=(field, trees.Call(name="age") as call)
        ):
            if len(call.arguments) != 2:
                raise unread("age() of one time")
            name = read(field, scope).constant()
            # Of two dates as two dates, though there is no such function.
            both = [part.operand for part in call.arguments if isinstance(part, trees.CastTo)]
            values = [read(part, scope) for part in both] if len(both) == 2 else []
            if not values or any(one.type is not SqlType.DATE for one in values):
                values = [read(part, scope) for part in call.arguments]
            later, earlier = (_repeated(one).exact() for one in values)
            found = age_field(str(getattr(name, "value", "")), later, earlier)
            if found is None or later.type is not earlier.type:
                raise unread("other fields of age() than year and month, of two times,")
            result = SqlType.NUMERIC if tree.name == "extract" else SqlType.FLOAT8
            return value_of(found, result)
        case _:
            return None


def _escaped(arguments: Sequence[TypedValue]) -> ir.Expression:
    """A pattern with another escape character, in the usual one."""
    pattern, mark = (one.expression for one in arguments)
    text = pattern.value if isinstance(pattern, ir.Constant) else None
    escape = mark.value if isinstance(mark, ir.Constant) else None
    if not isinstance(text, str) or not isinstance(escape, str):
        raise unread("ESCAPE of what is no constant")
    found, at = "", 0
    while at < len(text):
        if escape and text[at] == escape:
            if at + 1 == len(text):
                raise unread("a pattern that ends with its escape character")
            found += f"\\{text[at + 1 : at + 2]}"
            at += 2
        else:
            found += "\\\\" if text[at] == "\\" else text[at]
            at += 1
    return ir.Constant(found, SqlType.TEXT)
