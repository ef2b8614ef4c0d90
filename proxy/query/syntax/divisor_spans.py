"""The right operands of divisions, as spans of tokens.

PostgreSQL has analysed the statement before, so this needs to find an operand's end, not to judge grammar
(PostgreSQL 17 documentation, section 4.1.6, operator precedence).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import TokenType

from proxy.query.syntax.tokens import Lexed, Lexeme

_DIVISIONS = frozenset({TokenType.SLASH, TokenType.MOD})
_SIGNS = frozenset({TokenType.DASH, TokenType.PLUS})
_AFTER_A_CALL = frozenset({"filter", "over", "within"})
_SECOND_WORDS = {"double": "precision"}


def divisors(lexed: Lexed, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Find the divisors in `first` to `last` that have a name in them. Forms that are not known are left out.

    Yields:
        The first lexeme of a divisor and the one after its last.
    """
    for index in range(first, last):
        if lexed.lexemes[index].kind not in _DIVISIONS:
            continue
        end = _operand_end(lexed, index + 1, last)
        if end is not None and _is_named(lexed.lexemes[index + 1 : end]):
            yield index + 1, end


def _is_named(operand: Sequence[Lexeme]) -> bool:
    """Whether anything but constants is in it: a column, a function or a subquery."""
    after_cast = False
    for lexeme in operand:
        if lexeme.name and not after_cast:
            return True
        after_cast = lexeme.kind is TokenType.DCOLON
    return False


def _operand_end(lexed: Lexed, start: int, last: int) -> int | None:
    """Find where the right operand of a division ends, exclusive; None of a form that is not known."""
    index = start
    while index < last and lexed.lexemes[index].kind in _SIGNS:
        index += 1
    end = _primary_end(lexed, index, last)
    while end is not None and end < last:
        after = _suffix_end(lexed, end, last)
        if after == end:
            return end
        end = after
    return end


def _primary_end(lexed: Lexed, index: int, last: int) -> int | None:
    """The end of a literal, a bracket, CASE, or a name with what follows a function's name."""
    if index >= last:
        return None
    lexeme = lexed.lexemes[index]
    if lexeme.kind is TokenType.L_PAREN:
        return lexed.partner[index] + 1
    if lexeme.word == "case":
        return _case_end(lexed, index, last)
    if lexeme.kind is TokenType.PARAMETER:
        return index + 2
    if lexeme.kind is TokenType.NUMBER:
        return index + 1
    if not lexeme.name:
        return None
    return _call_end(lexed, index + 1, last)


def _case_end(lexed: Lexed, index: int, last: int) -> int | None:
    depth = 0
    for place in range(index, last):
        depth += {"case": 1, "end": -1}.get(lexed.lexemes[place].word, 0)
        if depth == 0:
            return place + 1
    return None


def _call_end(lexed: Lexed, index: int, last: int) -> int:
    """After a name: dotted parts, arguments, and FILTER, OVER and WITHIN GROUP."""
    lexemes = lexed.lexemes
    while index + 1 < last and lexemes[index].kind is TokenType.DOT:
        index += 2
    if index < last and lexemes[index].kind is TokenType.L_PAREN:
        index = lexed.partner[index] + 1
        while index + 1 < last and lexemes[index].word in _AFTER_A_CALL:
            index += 2 if lexemes[index].word == "within" else 1
            is_open = lexemes[index].kind is TokenType.L_PAREN
            index = lexed.partner[index] + 1 if is_open else index + 1
    return index


def _suffix_end(lexed: Lexed, index: int, last: int) -> int | None:
    """The end of a cast, a subscript or a power that follows; `index` where nothing does."""
    lexemes = lexed.lexemes
    match lexemes[index].kind:
        case TokenType.DCOLON:
            return _type_end(lexed, index + 1, last)
        case TokenType.L_BRACKET:
            return lexed.partner[index] + 1
        case TokenType.DOT:
            return index + 2
        case TokenType.CARET:
            return _operand_end(lexed, index + 1, last)
        case _:
            return index


def _type_end(lexed: Lexed, index: int, last: int) -> int | None:
    """The end of a type's name, with its modifiers."""
    lexemes = lexed.lexemes
    if index >= last or not lexemes[index].name:
        return None
    second = _SECOND_WORDS.get(lexemes[index].word)
    index += 1
    if second is not None and index < last and lexemes[index].word == second:
        index += 1
    while index + 1 < last and lexemes[index].kind is TokenType.DOT:
        index += 2
    if index < last and lexemes[index].kind is TokenType.L_PAREN:
        index = lexed.partner[index] + 1
    return index
