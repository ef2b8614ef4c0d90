"""Comparisons and what joins them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.insides import among_elements, compound, plain_elements
from proxy.query.bind.nodes.labels import by_label, refuse_choice
from proxy.query.bind.nodes.operands import (
    compared,
    no_condition_as_operand,
    parameter_text,
    read_constant,
    reals_among,
    repeated,
    text_operand,
    together,
    typed,
)
from proxy.query.bind.nodes.regular_expressions import like_patterns
from proxy.query.bind.scope import PublicColumn, Readers, Scope, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir import typing_rules
from proxy.query.ir.expressions import Expression
from proxy.query.syntax.placeholder_tokens import (
    EvaluatedConstant,
    PublicSubquery,
    RowSubquery,
    of_token,
)
from proxy.query.syntax.placeholders import ClientArray
from proxy.query.syntax.tokens import too_complex

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


def condition(node: exp.Expr, scope: Scope) -> Expression:
    expression = typing_rules.settle_literal(scope.read(node), SqlType.BOOL)
    if expression.type is not SqlType.BOOL:
        raise Refusal(
            Code.SYNTAX,
            "a condition must be true or false",
            "Compare the value with something.",
            position_of(node),
        )
    return expression


def comparison(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    if (found := quantified_comparison(node, scope)) is not None:
        return found
    rows = written_out(node, scope)
    if rows is not None:
        return scope.read(rows)
    _refuse_wholes(node, scope)
    operands = [scope.read(node.this), scope.read(node.expression)]
    if (
        isinstance(node, exp.EQ)
        and isinstance(node.this, exp.Paren)
        and operands[0].type is SqlType.BOOL
    ):
        truth = operands[1]
        if isinstance(truth, ir.Constant) and truth.value is True:
            return operands[0]  # (condition) = true, as tools write it; NULL stays NULL
    (left, right), meeting = compared(operands, node)
    no_condition_as_operand(node, *_not_in_brackets((node.this, left), (node.expression, right)))
    if meeting is SqlType.OTHER:
        raise unknown(node)
    comparator = _COMPARATORS[type(node)]
    ordered = by_label(comparator, left, right, node, scope)
    return _of_truth(comparator, left, right) if ordered is None else ordered


def _refuse_wholes(node: exp.Expr, scope: Scope) -> None:
    """Before what a jsonb or an array is compared with, which may be something that is read nowhere."""
    for side in (node.this, node.expression):
        whole = compound(side, scope)
        if whole is not None and whole.type is not None:
            typing_rules.common([whole.type], position_of(node))


def _not_in_brackets(*operands: tuple[exp.Expr, Expression]) -> list[Expression]:
    """In brackets a condition is one operand, however a parser binds what is beside it."""
    return [operand for node, operand in operands if not isinstance(node, exp.Paren | exp.Case)]


def _of_truth(comparator: ir.Comparator, left: Expression, right: Expression) -> Expression:
    """(condition) = true is the condition, = false its opposite: NULL where it is NULL, all of them."""
    is_left = isinstance(left, ir.Constant)
    truth, operand = (left, right) if is_left else (right, left)
    value = truth.value if isinstance(truth, ir.Constant) else None
    if isinstance(operand, ir.ColumnRef) or not isinstance(value, bool):
        return ir.Comparison(comparator, left, right)
    match comparator:
        case ir.Comparator.EQ | ir.Comparator.NE:
            return operand if value is (comparator is ir.Comparator.EQ) else ir.Not(operand)
        case ir.Comparator.DISTINCT:
            return ir.Not(ir.Is(operand, value))
        case ir.Comparator.NOT_DISTINCT:
            return ir.Is(operand, value)
        case _:
            return ir.Comparison(comparator, left, right)


def _connective(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    word = "AND" if isinstance(node, exp.And) else "OR"
    operands: list[Expression] = []
    for part in node.flatten():
        operands.append(condition(part, scope))
    return ir.Connective(word, tuple(operands))


def _not(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    return ir.Not(condition(node.this, scope))


def _negated(node: exp.Expr, expression: Expression) -> Expression:
    return ir.Not(expression) if node.args.get("negate") else expression


def _is(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression", "negate")
    operand = typed(scope.read(node.this))
    match node.expression:
        case exp.Null():
            return _negated(node, ir.Is(operand, None))
        case exp.Boolean() as truth if operand.type is SqlType.BOOL:
            return _negated(node, ir.Is(operand, bool(truth.this)))
        case _:
            raise unknown(node)


def _in(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expressions")
    of_row = _row_subquery(node)
    if of_row is not None:
        return scope.look_up(of_row, scope.read(node.this))
    public = _public_column(node, scope)
    if public is not None:
        (operand, output), _ = together([scope.read(node.this), public.output], node)
        if not isinstance(output, ir.ColumnRef):
            raise unknown(node)
        no_condition_as_operand(node, operand)
        return ir.InPublic(operand, public.table, public.alias, output, public.condition)
    if len(node.expressions) == 1 and (array := constant_array(node.expressions[0], scope)):
        return in_list(node, ClientArray(array[0]), array[1], scope)
    row = row_parts(node.this)
    if row is not None:
        return _in_rows(node.this, row, node.expressions, scope)
    items = [read_constant(item, scope) for item in node.expressions]
    first = scope.read(node.this)
    settled, _ = compared([first, *items], node)
    is_stripped = isinstance(settled[0], ir.TextCall) and settled[0].operand is first
    if is_stripped and len(items) > 1 and first.type is not SqlType.BPCHAR:
        settled[0] = first  # a list has one type, that of its first: character(n) becomes another
    if any(isinstance(item, ir.TextCall) for item in settled[1:]):  # a parameter without its blanks
        operand = repeated(settled[0])
        each = [ir.Comparison(ir.Comparator.EQ, operand, item) for item in settled[1:]]
        return ir.Connective("OR", tuple(each)) if len(each) > 1 else each[0]
    return ir.In(settled[0], reals_among(settled))


def _in_rows(
    operands: exp.Expr, row: Sequence[exp.Expr], rows: Sequence[exp.Expr], scope: Scope
) -> Expression:
    """(a, b) IN ((1, 2), (3, 4)): a = 1 AND b = 2 OR a = 3 AND b = 4, as PostgreSQL compares rows."""
    if len(rows) > limits.LIST_ELEMENTS:
        raise too_complex(f"of a list of more than {limits.LIST_ELEMENTS} elements")
    read = [repeated(scope.read(part)) for part in row]
    columns: list[list[Expression]] = [[] for _ in read]
    for listed in rows:
        written = row_parts(listed)
        if written is None or len(written) != len(read):
            raise unknown(listed)
        for column, item in zip(columns, written, strict=True):
            column.append(read_constant(item, scope))
    settled = []
    for operand, items in zip(read, columns, strict=True):
        parts, meeting = compared([operand, *items], operands)
        no_condition_as_operand(operands, parts[0])
        if meeting is SqlType.OTHER:
            raise unknown(operands)
        equal = ir.Comparator.EQ
        settled.append([ir.Comparison(equal, parts[0], item) for item in parts[1:]])
    found: list[Expression] = [ir.Connective("AND", each) for each in zip(*settled, strict=True)]
    return found[0] if len(found) == 1 else ir.Connective("OR", tuple(found))


def _row_subquery(node: exp.Expr) -> RowSubquery | None:
    items = node.expressions
    if len(items) != 1 or not isinstance(items[0], exp.Parameter):
        return None
    placeholder = of_token(parameter_text(items[0]))
    return placeholder if isinstance(placeholder, RowSubquery) else None


def _public_column(node: exp.Expr, scope: Scope) -> PublicColumn | None:
    items = node.expressions
    if len(items) != 1 or not isinstance(items[0], exp.Parameter):
        return None
    placeholder = of_token(parameter_text(items[0]))
    return scope.public.get(placeholder) if isinstance(placeholder, PublicSubquery) else None


def _between(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "low", "high", "symmetric")
    operand = repeated(scope.read(node.this))
    parts = [operand, scope.read(node.args["low"]), scope.read(node.args["high"])]
    (operand, low, high), _ = compared(parts, node)
    no_condition_as_operand(node, operand, low, high)

    def between(first: Expression, last: Expression) -> Expression:
        ends = ((ir.Comparator.GE, first), (ir.Comparator.LE, last))
        within = tuple(
            by_label(how, operand, end, node, scope) or ir.Comparison(how, operand, end)
            for how, end in ends
        )
        return ir.Connective("AND", within)

    if not node.args.get("symmetric"):
        return between(low, high)
    low, high = repeated(low), repeated(high)
    return ir.Connective("OR", (between(low, high), between(high, low)))


def _like(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression", "negate")
    where, operand = position_of(node), text_operand(node.this, scope)
    listed = list_of(node.expression, scope)
    if listed is None:
        pattern = typed(read_constant(node.expression, scope))
    else:
        array, kind = listed
        if not kind.is_text:
            raise unknown(node)
        # NOT LIKE ANY: some pattern is not met, so that not all of them are.
        is_all = array.is_all != bool(node.args.get("negate"))
        pattern, operand = ir.Parameter(replace(array, is_all=is_all), kind), repeated(operand)
    if not isinstance(pattern, ir.Constant | ir.Parameter):
        raise unknown(node)
    like = ir.Like(operand, pattern, isinstance(node, exp.ILike), where)
    return _negated(node, like)


def _matches(node: exp.Expr, scope: Scope) -> Expression:
    """~, ~*, regexp_like() and SIMILAR TO."""
    only(node, "this", "expression", "flag")
    flag = node.args.get("flag")
    flags = "" if flag is None else flag.name if isinstance(flag, exp.Literal) else "?"
    operand, pattern = text_operand(node.this, scope), typed(read_constant(node.expression, scope))
    if flags not in ("", "i", "c"):
        raise unknown(node)
    if not isinstance(pattern, ir.Constant):
        raise _expression_refused("a regular expression on a protected table is a literal", node)
    ignore_case = isinstance(node, exp.RegexpILike) or flags == "i"
    if pattern.value is None:
        return ir.Like(operand, pattern, ignore_case, position_of(node))
    text = str(pattern.value)
    found = like_patterns(text, is_similar=isinstance(node, exp.SimilarTo))
    if found is None or (ignore_case and not text.isascii()):  # case of others is a locale's
        raise _expression_refused(
            "this regular expression is not available on a protected table", node
        )
    if len(found) > 1:
        operand = repeated(operand)
    each = tuple(
        ir.Like(operand, replace(pattern, value=one), ignore_case, position_of(node))
        for one in found
    )
    return each[0] if len(each) == 1 else ir.Connective("OR", each)


def _expression_refused(message: str, node: exp.Expr) -> Refusal:
    return Refusal(
        Code.UNSUPPORTED,
        message,
        "Use letters, ., .*, ( ), |, ?, ^ and $ at the outside, and a backslash before other marks:"
        " column ~ '^(a|b).*c$'; or LIKE: column LIKE 'a%' OR column LIKE 'b%'.",
        position_of(node),
    )


READERS: Readers = {
    **dict.fromkeys(_COMPARATORS, comparison),
    exp.And: _connective,
    exp.Or: _connective,
    exp.Not: _not,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Like: _like,
    exp.ILike: _like,
    exp.RegexpLike: _matches,
    exp.RegexpILike: _matches,
    exp.SimilarTo: _matches,
}


# Comparisons of rows: (a, b) = (1, 2), ROW(a, b) < ROW(1, 2), as PostgreSQL compares them, column by column
# (PostgreSQL 17 documentation, section 9.25.5).


# Of an order: what decides before the last column, and at it.
_STRICT: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.LT,
    exp.LTE: exp.LT,
    exp.GT: exp.GT,
    exp.GTE: exp.GT,
}


def row_parts(node: exp.Expr) -> Sequence[exp.Expr] | None:
    """The columns of (a, b) or ROW(a, b); None: it is no row."""
    if isinstance(node, exp.Tuple):
        only(node, "expressions")
        return list(node.expressions)
    if isinstance(node, exp.Anonymous) and str(node.this).lower() == "row":
        return list(node.expressions)
    return None


def written_out(node: exp.Expr, scope: Scope) -> exp.Expr | None:
    """A comparison of rows as comparisons of their columns; None: it compares no rows."""
    left, right = row_parts(node.this), row_parts(node.expression)
    if left is None or right is None:
        return None
    if len(left) != len(right) or not left:
        raise unknown(node)
    for part in (*left, *right):
        repeated(scope.read(part))
    pairs = list(zip(left, right, strict=True))
    match node:
        case exp.EQ() | exp.NullSafeEQ():
            return _all(exp.And, [_compare(type(node), *pair) for pair in pairs])
        case exp.NEQ() | exp.NullSafeNEQ():
            return _all(exp.Or, [_compare(type(node), *pair) for pair in pairs])
        case exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return _ordered(type(node), pairs)
        case _:
            raise unknown(node)


def _ordered(kind: type[exp.Expr], pairs: Sequence[tuple[exp.Expr, exp.Expr]]) -> exp.Expr:
    """The first columns that differ decide."""
    decides = [
        _all(
            exp.And,
            [
                *(_compare(exp.EQ, *pair) for pair in pairs[:place]),
                _compare(kind if place == len(pairs) - 1 else _STRICT[kind], *pairs[place]),
            ],
        )
        for place in range(len(pairs))
    ]
    return _all(exp.Or, decides)


def _compare(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return kind(this=left.copy(), expression=right.copy())


def _all(word: type[exp.Expr], parts: Sequence[exp.Expr]) -> exp.Expr:
    found = parts[0]
    for part in parts[1:]:
        found = word(this=found, expression=part)
    return found


# = ANY (...) and <> ALL (...): of a list that is evaluated, of one that is written, of a column of arrays.


_WORDS = (("any", exp.EQ), ("some", exp.EQ), ("all", exp.NEQ))


def quantified_comparison(node: exp.Expr, scope: Scope) -> Expression | None:
    """None: a comparison without a list."""
    listed = list_of(node.expression, scope)
    if listed is not None:
        return _in_list(node, listed, scope)
    found = _quantified(node.expression)
    if found is None or not any(found[0] == word and type(node) is kind for word, kind in _WORDS):
        return None
    is_text = isinstance(found[1], exp.Literal) and found[1].is_string
    elements = plain_elements(str(found[1].name)) if is_text else None
    if elements is not None:
        return _in_written(node, elements, scope)
    array = compound(found[1], scope)
    return None if array is None else among_elements(node, array, scope)


def _quantified(node: exp.Expr) -> tuple[str, exp.Expr] | None:
    """any, some or all, and what stands in its brackets."""
    if isinstance(node, exp.Any | exp.All):
        return type(node).__name__.lower(), node.this.unnest()
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        return str(node.this).lower(), node.expressions[0]
    return None


def _in_written(node: exp.Expr, elements: list[str | None], scope: Scope) -> Expression:
    items: list[Expression] = [ir.Constant(text, None, position_of(node)) for text in elements]
    (operand, *settled), _ = compared([scope.read(node.this), *items], node)
    no_condition_as_operand(node, operand)
    constants = tuple(item for item in settled if isinstance(item, ir.Constant | ir.Parameter))
    is_negated = isinstance(node, exp.NEQ)
    if not constants:
        return ir.Constant(is_negated, SqlType.BOOL)
    found = ir.In(operand, constants)
    return ir.Not(found) if is_negated else found


def list_of(node: exp.Expr, scope: Scope) -> tuple[ClientArray, SqlType] | None:
    """The array that the shadow evaluates, in ANY or ALL, and the type of its elements."""
    found = _quantified(node)
    if found is None:
        return None
    word, inner = found
    known = constant_array(inner, scope)
    if known is None or word not in ("any", "some", "all"):
        return None
    return ClientArray(known[0], word == "all"), known[1]


def constant_array(node: exp.Expr, scope: Scope) -> tuple[int, SqlType] | None:
    """The number of an array that the shadow evaluates, and the type of its elements."""
    placeholder = of_token(parameter_text(node)) if isinstance(node, exp.Parameter) else None
    if not isinstance(placeholder, EvaluatedConstant):
        return None
    known = scope.constants.get(placeholder.index)
    return (placeholder.index, known.type) if known is not None and known.is_list else None


def _in_list(node: exp.Expr, listed: tuple[ClientArray, SqlType], scope: Scope) -> Expression:
    """= ANY(array) is IN, <> ALL(array) NOT IN."""
    array, kind = listed
    if not isinstance(node, exp.NEQ if array.is_all else exp.EQ):
        raise unknown(node.expression)
    found = in_list(node, array, kind, scope)
    return ir.Not(found) if array.is_all else found


def in_list(node: exp.Expr, array: ClientArray, kind: SqlType, scope: Scope) -> Expression:
    """Whether what stands on the left is an element of the array."""
    (operand, items), _ = compared([scope.read(node.this), ir.Parameter(array, kind)], node)
    no_condition_as_operand(node, operand)
    if not isinstance(items, ir.Parameter):
        raise unknown(node)
    return ir.In(operand, (items,))


# CASE, COALESCE and their like: one of several values.


def _case(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "ifs", "default")
    conditions: list[Expression] = []
    results: list[Expression] = []
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        if node.this is None:
            conditions.append(condition(branch.this, scope))
        else:
            conditions.append(comparison(exp.EQ(this=node.this, expression=branch.this), scope))
        results.append(scope.read(branch.args["true"]))
    if node.this is not None:
        repeated(scope.read(node.this))
    default = node.args.get("default")
    results.append(scope.read(default) if default is not None else ir.Constant(None, None))
    refuse_choice(results, node, scope)
    settled, meeting = together(results, node, typing_rules.common_result)
    whens = tuple(zip(conditions, settled[:-1], strict=True))
    return ir.Case(whens, settled[-1], meeting)


_CHOICES: Mapping[type[exp.Expr], ir.Choice] = {
    exp.Coalesce: ir.Choice.COALESCE,
    exp.Greatest: ir.Choice.GREATEST,
    exp.Least: ir.Choice.LEAST,
}


def _choose(node: exp.Expr, scope: Scope) -> Expression:
    # ignore_nulls is how the parser notes that PostgreSQL's greatest and least skip NULLs, which ours do.
    only(node, "this", "expressions", "ignore_nulls")
    parts = [scope.read(part) for part in (node.this, *node.expressions)]
    refuse_choice(parts, node, scope)
    settled, meeting = together(parts, node, typing_rules.common_result)
    return ir.Choose(_CHOICES[type(node)], tuple(settled), meeting)


def _nullif(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    operands = [scope.read(node.this), scope.read(node.expression)]
    refuse_choice(operands, node, scope)
    (operand, other), meeting = together(operands, node)
    return ir.NullIf(operand, other, _nullif_type(operand.type, other.type, meeting))


def _nullif_type(left: SqlType | None, right: SqlType | None, meeting: SqlType) -> SqlType:
    """That of the left operand, as the operator = takes it: integers, floats and times have
    operators across types, all else in the type in which both meet (PostgreSQL 17 documentation, section
    9.18.3)."""
    if left is None or right is None:
        return left or meeting
    own = (
        (left.is_integer and right.is_integer)
        or (left.is_float and right.is_number)
        or left.is_time
    )
    return left if own else meeting


CHOICE_READERS: Readers = {exp.Case: _case, **dict.fromkeys(_CHOICES, _choose), exp.Nullif: _nullif}
