"""The name PostgreSQL gives an output column without AS, found on the words as they are written.

sqlglot's tree does not do: it has one name for ceil and ceiling, for extract and date_part, and no plus sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import TokenType

from proxy.query.syntax.selects import Span, is_call, opens_query
from proxy.query.syntax.tokens import Lexed

NO_NAME = "?column?"

_OPERATOR_WORDS = frozenset(
    (
        *("and", "or", "not", "is", "in", "like", "ilike", "similar", "between"),
        *("isnull", "notnull", "operator"),
    )
)
_NO_COLUMNS = frozenset(("null", "true", "false"))
# How the grammar spells its own types (gram.y, SimpleTypename); others are named as they are written.
_TYPES: Mapping[str, str] = {
    "int": "int4",
    "integer": "int4",
    "smallint": "int2",
    "bigint": "int8",
    "real": "float4",
    "float": "float8",
    "double precision": "float8",
    "decimal": "numeric",
    "dec": "numeric",
    "boolean": "bool",
    "char": "bpchar",
    "character": "bpchar",
    "char varying": "varchar",
    "character varying": "varchar",
    "bit varying": "varbit",
}


@dataclass(frozen=True, slots=True)
class OutputName:
    """decided_at: the lexeme that decides it: if that is replaced, PostgreSQL would find another name.
    weak: of no name, a type or CASE, which a cast around it replaces."""

    name: str
    decided_at: int
    weak: bool = False


def output_name(lexed: Lexed, span: Span) -> OutputName | None:
    """
    Given    the lexemes of an expression, without an alias
    Gives    None where it is written in a way that is not known here
    Source   FigureColnameInternal, src/backend/parser/parse_target.c
    """
    first, last = span
    if first >= last:
        return None
    lexeme = lexed.lexemes[first]
    if (not lexeme.name and lexeme.kind in _SIGNS) or lexeme.word == "not":
        return OutputName(NO_NAME, first, weak=True)
    found = _operand(lexed, first, last)
    while found is not None:
        name, at = found
        if at >= last:
            return name
        word = lexed.lexemes[at].word
        if word == "at":  # AT TIME ZONE x, AT LOCAL
            local = at + 1 < last and lexed.lexemes[at + 1].word == "local"
            zone = None if local else _operand(lexed, at + 3, last)
            end = at + 2 if zone is None else zone[1]
            found = (OutputName("timezone", at), end) if local or zone is not None else None
        elif not lexed.lexemes[at].name or word in _OPERATOR_WORDS:
            return OutputName(NO_NAME, at, weak=True)
        else:
            return None
    return None


_SIGNS = frozenset((TokenType.DASH, TokenType.PLUS, TokenType.TILDE))


def _operand(lexed: Lexed, first: int, last: int) -> tuple[OutputName, int] | None:
    """What stands before the first operator, its casts, subscripts, fields and collations; where it ends."""
    found = _primary(lexed, first, last) if first < last else None
    while found is not None and found[1] < last:
        name, at = found
        lexeme = lexed.lexemes[at]
        match lexeme.kind:
            case TokenType.DCOLON:
                found = _cast(lexed, name, at + 1, last)
            case TokenType.L_BRACKET:
                found = name, lexed.partner[at] + 1
            case TokenType.DOT if at + 1 < last and lexed.lexemes[at + 1].name:
                found = OutputName(lexed.lexemes[at + 1].name, at + 1), at + 2
            case _ if lexeme.word == "collate":
                found = name, _end_of_chain(lexed, at + 1, last)
            case _:
                return found
    return found


def _primary(lexed: Lexed, first: int, last: int) -> tuple[OutputName, int] | None:
    lexemes = lexed.lexemes
    lexeme = lexemes[first]
    following = lexemes[first + 1].kind if first + 1 < last else None
    if opens_query(lexed, first):
        return None
    if lexeme.kind is TokenType.L_PAREN:
        close = lexed.partner[first]
        inside = range(first + 1, close)
        if any(
            lexemes[i].kind is TokenType.COMMA and lexemes[i].depth == lexeme.depth + 1
            for i in inside
        ):
            return OutputName("row", first), close + 1
        name = output_name(lexed, (first + 1, close))
        return None if name is None else (name, close + 1)
    if lexeme.word == "case":
        return _case(lexed, first, last)
    if lexeme.word == "cast" and following is TokenType.L_PAREN:
        return _cast_call(lexed, first)
    if lexeme.word == "array" and following is TokenType.L_BRACKET:
        return OutputName("array", first), lexed.partner[first + 1] + 1
    if not lexeme.name or lexeme.word in _NO_COLUMNS:
        two = lexeme.kind in (TokenType.PARAMETER, TokenType.DOLLAR)
        return OutputName(NO_NAME, first, weak=True), first + (2 if two else 1)
    end = _end_of_chain(lexed, first, last)
    if is_call(lexed, end - 1):
        return _call(lexed, end - 1, last)
    typed = _type_name(lexed, first, last)
    if typed is not None and typed[1] < last:
        token_type = lexemes[typed[1]].kind
        if token_type is TokenType.STRING:  # date '2026-01-31'
            return OutputName(typed[0], first, weak=True), typed[1] + 1
    return OutputName(lexemes[end - 1].name, end - 1), end


def _call(lexed: Lexed, at: int, last: int) -> tuple[OutputName, int]:
    lexemes = lexed.lexemes
    name = lexemes[at].name
    if lexemes[at].word == "trim":
        inside = lexemes[at + 2].word
        name = {"leading": "ltrim", "trailing": "rtrim"}.get(inside, "btrim")
    end = lexed.partner[at + 1] + 1
    if end + 2 < last and lexemes[end].word == "within":
        end = lexed.partner[end + 2] + 1
    if end + 1 < last and lexemes[end].word == "filter" and is_call(lexed, end):
        end = lexed.partner[end + 1] + 1
    if end + 1 < last and lexemes[end].word == "over":
        end = lexed.partner[end + 1] + 1 if is_call(lexed, end) else end + 2
    return OutputName(name, at), end


def _case(lexed: Lexed, first: int, last: int) -> tuple[OutputName, int] | None:
    """CASE is named after its ELSE, where that has a name of its own."""
    lexemes = lexed.lexemes
    depth, nested, default = lexemes[first].depth, 0, None
    for at in range(first, last):
        word = lexemes[at].word if lexemes[at].depth == depth else ""
        nested += (word == "case") - (word == "end")
        if word == "else" and nested == 1:
            default = at + 1
        if nested == 0 and word == "end":
            named = None if default is None else output_name(lexed, (default, at))
            if default is not None and named is None:
                return None
            if named is not None and not named.weak:
                return named, at + 1
            decided = first if named is None else named.decided_at
            return OutputName("case", decided, weak=True), at + 1
    return None


def _cast_call(lexed: Lexed, first: int) -> tuple[OutputName, int] | None:
    """CAST(x AS type)."""
    close, depth = lexed.partner[first + 1], lexed.lexemes[first].depth + 1
    for at in range(first + 2, close):
        if lexed.lexemes[at].word == "as" and lexed.lexemes[at].depth == depth:
            name = output_name(lexed, (first + 2, at))
            cast = None if name is None else _cast(lexed, name, at + 1, close)
            return None if cast is None else (cast[0], close + 1)
    return None


def _cast(lexed: Lexed, name: OutputName, first: int, last: int) -> tuple[OutputName, int] | None:
    found = _type_name(lexed, first, last)
    if found is None:
        return None
    type_name, end = found
    return (replace(name, name=type_name, weak=True) if name.weak else name), end


def _type_name(lexed: Lexed, first: int, last: int) -> tuple[str, int] | None:
    """The name of a type in the catalogue, without its schema; where it ends."""
    lexemes = lexed.lexemes
    if first >= last or not lexemes[first].name:
        return None
    end = _end_of_chain(lexed, first, last)
    name = lexemes[end - 1].name
    if end == first + 1 and lexemes[first].word:
        words = " ".join(lexemes[first].word.split())
        if end < last and lexemes[end].word in ("precision", "varying"):
            words, end = f"{words} {lexemes[end].word}", end + 1
        name = _TYPES.get(words, words)
    if end < last and lexemes[end].kind is TokenType.L_PAREN:
        end = lexed.partner[end] + 1
    if name in ("time", "timestamp") and end < last and lexemes[end].word in ("with", "without"):
        name += "tz" if lexemes[end].word == "with" else ""
        end += 3  # WITH TIME ZONE
    while end < last and lexemes[end].kind is TokenType.L_BRACKET:
        end = lexed.partner[end] + 1
    return name, end


def _end_of_chain(lexed: Lexed, first: int, last: int) -> int:
    """After name.name.name."""
    end = first + 1
    while (
        end + 1 < last and lexed.lexemes[end].kind is TokenType.DOT and lexed.lexemes[end + 1].name
    ):
        end += 2
    return end
