"""Names of types as they stand after `::`, in CAST(... AS ...) and in front of a string.

Only those that are listed: a type of an analyst's own could be anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import TokenType

from proxy.query.syntax.tokens import Lexed

# By its words, most of which the tokenizer takes for one.
WHOLE_NUMBERS = frozenset({"smallint", "int2", "integer", "int", "int4", "bigint", "int8"})
NUMBERS = WHOLE_NUMBERS | {
    *("numeric", "decimal", "dec", "real", "float4", "float", "float8", "double precision")
}
_NAMES = NUMBERS | {
    *("boolean", "bool", "text", "varchar", "character varying", "uuid"),
    *("char", "character", "bpchar", "name"),
    *("date", "timestamp", "timestamptz", "time", "timetz", "interval"),
}
# To which the reader of expressions casts nothing.
_EVALUATED = frozenset({"time", "timetz", "interval", "char", "character", "bpchar", "name"})
_CLOCKS = frozenset({"timestamp", "time"})
_WITH_ZONE = (("with", "time", "zone"), ("without", "time", "zone"))
_WITHOUT_TYPE: Mapping[str, str] = {"double": "precision", "character": "varying"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeName:
    """end: the lexeme after it. is_plain: one that the reader of expressions casts to, without a modifier."""

    end: int
    name: str
    is_plain: bool
    is_array: bool


def own_type_at(lexed: Lexed, index: int) -> TypeName | None:
    """The name of any type that begins at a lexeme, such as an enumeration's: what it is, the shadow says."""
    end = index
    while end < len(lexed.lexemes) and lexed.lexemes[end].name:
        if _kind(lexed, end + 1) is not TokenType.DOT:
            return _with_brackets(lexed, end + 1, "", is_plain=False)
        end += 2
    return None


def type_at(lexed: Lexed, index: int) -> TypeName | None:
    """The name of a listed type that begins at a lexeme."""
    lexemes = lexed.lexemes
    if index >= len(lexemes):
        return None
    name = lexemes[index].word
    end = index + 1
    following = _WITHOUT_TYPE.get(name)
    if following is not None and _word(lexed, end) == following:
        name, end = f"{name} {following}", end + 1
    if name not in _NAMES:
        return None
    is_plain = name not in _EVALUATED
    if _kind(lexed, end) is TokenType.L_PAREN:
        close = lexed.partner[end]
        numbers = (TokenType.NUMBER, TokenType.COMMA)
        if close == end + 1 or any(_kind(lexed, at) not in numbers for at in range(end + 1, close)):
            return None
        is_plain, end = False, close + 1
    if name in _CLOCKS and tuple(_word(lexed, end + at) for at in range(3)) in _WITH_ZONE:
        end += 3
    return _with_brackets(lexed, end, name, is_plain=is_plain)


def _with_brackets(lexed: Lexed, end: int, name: str, *, is_plain: bool) -> TypeName | None:
    is_array = False
    while _kind(lexed, end) is TokenType.L_BRACKET:
        if lexed.partner[end] != end + 1:
            return None
        is_array, end = True, end + 2
    return TypeName(end=end, name=name, is_plain=is_plain and not is_array, is_array=is_array)


def _word(lexed: Lexed, index: int) -> str:
    return lexed.lexemes[index].word if index < len(lexed.lexemes) else ""


def _kind(lexed: Lexed, index: int) -> TokenType | None:
    return lexed.lexemes[index].kind if index < len(lexed.lexemes) else None
