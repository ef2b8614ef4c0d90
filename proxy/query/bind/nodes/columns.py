"""Columns, literals and parameters."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.base.written_names import written_name
from proxy.query.bind.nodes.operands import parameter_text
from proxy.query.bind.scope import Readers, Scope, identifier, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir import typing_rules, written_numbers
from proxy.query.ir.expressions import Expression
from proxy.query.syntax.placeholder_tokens import EvaluatedConstant, RowSubquery, of_token
from proxy.query.syntax.placeholders import ClientParameter, ScalarAnswer


def _column(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "table", "db", "catalog")
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
        fixed = scope.constant_at(qualifier, name)
        if fixed is not None:
            return fixed
        if not qualifier:
            _refuse_whole_row(node, name, scope)
        elif not _is_relation(qualifier, scope):
            written = written_name(*qualifier, name)
            raise Refusal(
                Code.COLUMN_NOT_USABLE,
                f"{written} is of the query around, and a query on a protected table is answered once, not for"
                " each row around it",
                "GROUP BY the column that is compared with it instead: one query has all groups. Or JOIN that"
                f" relation here, and GROUP BY {written}.",
                position_of(node),
            )
        raise Refusal(
            Code.COLUMN_NOT_USABLE,
            f'there is no column "{name}" in the policy of this table',
            "SELECT * FROM dp.columns lists the columns that can be asked about.",
            position_of(node),
        )
    return replace(known, position=position_of(node))


def _is_relation(qualifier: tuple[str, ...], scope: Scope) -> bool:
    """Whether it names a relation whose columns can be read here."""
    around: Scope | None = scope
    while around is not None:
        if any(qualifier in relation.qualifiers for relation in around.relations):
            return True
        around = around.outer
    return False


def _refuse_whole_row(node: exp.Expr, name: str, scope: Scope) -> None:
    """The name of a relation, where no column has it (PostgreSQL 17 documentation, section 8.16.5)."""
    around: Scope | None = scope
    while around is not None:
        for relation in around.relations:
            if (name,) in relation.qualifiers:
                column = written_name(name, *list(relation.columns)[:1])
                raise Refusal(
                    Code.COLUMN_NOT_USABLE,
                    f'"{name}" is a whole row here, and rows are read by their columns only',
                    f"Count rows by count(*), and those with a value by count({column}).",
                    position_of(node),
                )
        around = around.outer


def _literal(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "is_string")
    text = str(node.this)
    if node.args.get("is_string"):
        return ir.Constant(text, None, position_of(node))
    try:
        value = written_numbers.number(text)
    except Refusal as refusal:
        raise refusal.at(position_of(node)) from None
    if value is None:
        raise unknown(node)
    kind = typing_rules.literal_type(text)
    if kind is SqlType.NUMERIC and text.isdigit():  # which some read as an integer
        raise Refusal(
            Code.UNSUPPORTED,
            "a whole number this large is not available in a question on a protected table",
            "Write it with a decimal point, if it is meant as a numeric.",
            position_of(node),
        )
    return ir.Constant(value, kind, position_of(node))


def _boolean(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    return ir.Constant(bool(node.this), SqlType.BOOL)


def _null(node: exp.Expr, scope: Scope) -> Expression:
    only(node)
    return ir.Constant(None, None)


def _raw_string(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    return ir.Constant(str(node.this), None)


def _parameter(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    text = parameter_text(node)
    placeholder = of_token(text)
    if isinstance(placeholder, ScalarAnswer) and placeholder in scope.scalars:
        return ir.Parameter(placeholder, scope.scalars[placeholder])
    if isinstance(placeholder, EvaluatedConstant):
        known = scope.constants.get(placeholder.index)
        if known is None or known.is_list:
            raise unknown(node)
        return ir.Parameter(ClientParameter(placeholder.index), known.type, position_of(node))
    if isinstance(placeholder, RowSubquery):
        return scope.look_up(placeholder)
    number = typing_rules.ordinal(text)
    if number is None or not 1 <= number <= len(scope.parameters):
        raise unknown(node)
    if scope.parameters[number - 1] is SqlType.OTHER:
        raise unknown(node)
    return ir.Parameter(ClientParameter(number), scope.parameters[number - 1])


def _paren(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    return scope.read(node.this)


READERS: Readers = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.RawString: _raw_string,
    exp.Parameter: _parameter,
    exp.Paren: _paren,
}
