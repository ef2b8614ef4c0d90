"""Parameters $1, $2, ..., comments and string constants in a text, by PostgreSQL's own rules (scan.l).

sqlglot takes what is between two dollar signs for the tag of a dollar-quoted string, digits and commas
too: `IN ($1,$2)` would be a string that never ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import Token, TokenType

_LETTER = r"A-Za-z_\x80-\U0010ffff"
_PARAMETER = re.compile(r"\$[0-9]")
_PIECE = re.compile(
    rf"""(?P<parameter>\$[0-9]+)
    |(?P<dollar>\$(?:[{_LETTER}][{_LETTER}0-9]*)?\$)
    |(?P<comment>/\*)
    |(?P<line>--[^\r\n]*)
    |[eE]'(?:[^'\\]|\\.|'')*'
    |(?P<plain>'(?:[^']|'')*')
    |"(?:[^"]|"")*"
    |[{_LETTER}][{_LETTER}0-9$]*
    |[^$/\-'"{_LETTER}]+
    |.""",
    re.DOTALL | re.VERBOSE,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")


def parameters(text: str) -> Iterator[tuple[int, int]]:
    """
    Gives    where each parameter starts and ends, 0-based characters, in order

    >>> text = "$1,$2 '$3' a$4 $x$ $5 $x$ /* /* */ $6 */ <$7"
    >>> [text[start:end] for start, end in parameters(text)]
    ['$1', '$2', '$7']
    """
    if _PARAMETER.search(text) is not None:
        yield from ((start, end) for kind, start, end in pieces(text) if kind == "parameter")


def without_comments(text: str) -> str:
    """With blanks for its comments in /* */, which nest: the parser ends some of them too early.

    >>> without_comments("a/*/**/*/b '/*' --/*")
    "a        b '/*' --/*"
    """
    if "/*" not in text:
        return text
    parts: list[str] = []
    for kind, start, end in pieces(text):
        is_closed = kind == "comment" and text.endswith("*/", start, end)
        parts.append(" " * (end - start) if is_closed else text[start:end])
    return "".join(parts)


def pieces(text: str) -> Iterator[tuple[str | None, int, int]]:
    """What a text is made of, each with its start and end.

    Gives    kind: parameter, dollar, comment, line (a comment), plain (a constant in plain quotes), or None
    """
    at = 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        assert piece is not None  # any character is a piece
        start, at = piece.span()
        if piece["dollar"]:
            end = text.find(piece["dollar"], at)
            at = len(text) if end < 0 else end + len(piece["dollar"])
        elif piece["comment"]:
            at = after_comment(text, at)
        yield piece.lastgroup, start, at


def after_comment(text: str, at: int) -> int:
    """Where a comment ends that begins before `at`. They nest (PostgreSQL 17 documentation, section 4.1.5)."""
    depth = 1
    for mark in _COMMENT_MARK.finditer(text, at):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


# A text that means the same whatever `standard_conforming_strings` is.
#
# What is made of a statement is sent in several texts, and what an analyst has written can change the setting
# between two of them. A backslash in a plain constant would then be an escape, and what follows it another
# statement. So such constants are written as E'' strings, in which it always is one.


_Piece = tuple[str | None, int, int]

_BLANK = " \t\n\r\f\v"


def settled(text: str) -> str:
    r"""
    Given    a text as PostgreSQL reads it with standard_conforming_strings on

    >>> print(settled(r"SELECT 'a\b', 'c', E'\n', $$\$$ -- '\'"))
    SELECT  E'a\\b', 'c', E'\n', $$\$$ -- '\'
    """
    if "\\" not in text:
        return text
    found = list(pieces(text))
    made = [text[start:end] for _, start, end in found]
    at = 0
    while at < len(found):
        parts = _parts(text, found, at)
        if any("\\" in made[part] for part in parts) and not _is_other(made, at):
            for part in parts:
                made[part] = made[part].replace("\\", "\\\\")
            made[at] = f" E{made[at]}"
            if at and made[at - 1].lower() == "n":
                made[at - 1] = "nchar"  # which N'' stands for
        at = parts[-1] + 1 if parts else at + 1
    return "".join(made)


def _parts(text: str, found: Sequence[_Piece], at: int) -> list[int]:
    """The pieces of a plain constant, which goes on after a line break; none where no such constant begins."""
    if found[at][0] != "plain":
        return []
    parts = [at]
    has_break = False
    for number in range(at + 1, len(found)):
        kind, start, end = found[number]
        piece = text[start:end]
        if kind == "plain" and has_break:
            parts.append(number)
            has_break = False
        elif kind is None and not piece.strip(_BLANK):
            has_break = has_break or "\n" in piece or "\r" in piece
        elif kind != "line":
            break
    return parts


def _is_other(made: Sequence[str], at: int) -> bool:
    """B'', X'' or U&'', in which the setting changes nothing."""
    before = [piece.lower() for piece in made[max(at - 2, 0) : at]]
    return before[-1:] in (["b"], ["x"]) or before == ["u", "&"]


# --- String constants as PostgreSQL reads them, as far as the parser does not (PostgreSQL 17 documentation,
# section 4.1.2.1, 4.1.2.2): constants that go on after a line break, and E'' strings.


_ESCAPE = re.compile(
    r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|(.))|''|\\",
    re.DOTALL,
)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_BYTES_FROM = (
    0x80  # \x and octal escapes are bytes: those of a longer character are not put together here
)


def plain_strings(text: str, tokens: Sequence[Token]) -> list[Token]:
    """The same tokens, E'' strings as plain ones and each continued constant as one.

    What it is not sure of stays as it is, which the reader of expressions refuses.

    Given    text: what the tokens' places refer to
    """
    made: list[Token] = []
    for token in tokens:
        if made and _goes_on(text, made[-1], token):
            last = made.pop()
            made.append(_string(last.text + token.text, last, token.end))
            continue
        kind = token.token_type
        value = escaped(text[token.start : token.end + 1]) if kind is _E_STRING else None
        made.append(token if value is None else _string(value, token, token.end))
    return made


_E_STRING = TokenType.BYTE_STRING  # what the parser takes it for


def _string(value: str, first: Token, end: int) -> Token:
    return Token(TokenType.STRING, value, first.line, first.col, first.start, end)


def _goes_on(text: str, last: Token, token: Token) -> bool:
    """Only white space with a line break stands between two plain constants, comments being white space.
    The parts after an E'' string would be read as E'' too."""
    if not (last.token_type is token.token_type is TokenType.STRING):
        return False
    between = text[last.end + 1 : token.start]
    return bool({"\n", "\r"} & set(between)) and text[last.start : last.start + 1] == "'"


def escaped(literal: str) -> str | None:
    """The value of an E'' string; None where this does not know it.

    >>> escaped(r"E'a\\' or 1=1 --'")
    "a' or 1=1 --"
    >>> escaped(r"E'\\xc3\\xa9'") is None
    True
    """
    if literal[:2].lower() != "e'" or literal[-1:] != "'":
        return None
    parts: list[str] = []
    end = 2
    for found in _ESCAPE.finditer(literal, 2, len(literal) - 1):
        value = _escape(found)
        if value is None:
            return None
        parts += [literal[end : found.start()], value]
        end = found.end()
    return "".join([*parts, literal[end:-1]])


def _escape(found: re.Match[str]) -> str | None:
    four, eight, hexadecimal, octal, letter = found.groups()
    if letter is not None:
        return None if letter in "uU" else _LETTERS.get(letter, letter)
    if found.group() == "''":
        return "'"
    if hexadecimal or octal:
        code = int(hexadecimal, 16) if hexadecimal else int(octal, 8)
        return chr(code) if 0 < code < _BYTES_FROM else None
    if not (four or eight):
        return None
    code = int(four or eight, 16)
    is_surrogate = 0xD800 <= code < 0xE000
    return None if code == 0 or code > 0x10FFFF or is_surrogate else chr(code)
