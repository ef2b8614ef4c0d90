"""Texts cut to what a function can take, and regular expressions."""

from __future__ import annotations

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds
from proxy.query.ir.expressions import Constant, Expression, Like
from proxy.query.ir.pattern_checks import text_pattern


def trimmed(operand: str, expression: Expression) -> str:
    """At most base.limits.TEXT_CHARACTERS of a text. character(n) has 10,485,760 characters at most, constants
    are bounded."""
    if isinstance(expression, Constant) or expression.type in (SqlType.BPCHAR, SqlType.ENUM):
        return operand
    return first_characters(operand, limits.TEXT_CHARACTERS)


def first_characters(text: str, most: int) -> str:
    """An explicit cast cuts without a word, takes its operand once, and only compares a length where there is
    nothing to cut (varchar.c, varchar)."""
    return f"({text})::varchar({most})"


def matches_sql(like: Like, operand: str, binds: Binds) -> str:
    """A regular expression as it was read, in the collation in which nothing depends on a locale. PostgreSQL
    makes four bytes of each character of the text (regexp.c, RE_execute)."""
    found = text_pattern(like)
    pattern = "NULL::text" if found is None else binds.add(found.text, "text")
    return f'(({trimmed(operand, like.operand)}) COLLATE "C" ~ {pattern})'
