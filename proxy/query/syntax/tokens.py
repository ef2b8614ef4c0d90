"""A statement as tokens: folded as PostgreSQL folds, limited before anything is parsed.

sqlglot's tokenizer finds the tokens; what they mean to PostgreSQL (folding to lower case in ASCII only,
truncation to 63 bytes, quoted or not) is decided here (PostgreSQL 17 documentation, section 4.1.1).
"""

from __future__ import annotations

import re
import string
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import Token, TokenType
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.query.syntax.parameters import parameters, without_comments


class _Tokens(Postgres):
    """PostgreSQL's tokens, but every statement whole: sqlglot keeps EXPLAIN, DECLARE, EXECUTE and others as
    one opaque command."""

    class Tokenizer(Postgres.Tokenizer):
        COMMANDS: typing.ClassVar[set[TokenType]] = set()


_POSTGRES = _Tokens()
_FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_WORD_START = frozenset(string.ascii_letters + "_")
_LITERALS = frozenset(
    {
        TokenType.STRING,
        TokenType.NUMBER,
        TokenType.BIT_STRING,
        TokenType.HEX_STRING,
        TokenType.BYTE_STRING,
        TokenType.NATIONAL_STRING,
        TokenType.RAW_STRING,
        TokenType.HEREDOC_STRING,
        TokenType.UNICODE_STRING,
    }
)
_SPACE = frozenset(" \t\n\r\f")
_COMMENT = re.compile(r"--[^\n\r]*")
_OPEN = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSE = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})


@dataclass(frozen=True, slots=True)
class Lexeme:
    """One token. `name` is the identifier it can be to PostgreSQL ("" where it cannot be one), `word` the
    lower-case keyword it can be ("" for quoted identifiers and literals); `depth` of open brackets."""

    token: Token
    kind: TokenType
    name: str
    word: str
    start: int  # 0-based characters
    end: int  # exclusive
    depth: int

    @property
    def position(self) -> int:
        """1-based, as PostgreSQL counts."""
        return self.start + 1


@dataclass(frozen=True, slots=True, eq=False)
class Lexed:
    """A whole text; compared by identity, so that it can be a cheap key of caches."""

    text: str
    lexemes: tuple[Lexeme, ...]
    partner: tuple[int, ...]  # index of the matching bracket, -1 for other tokens

    def name_end(self, index: int) -> int:
        """The last lexeme of the dotted name that begins at a lexeme: in `a.b.c` that of `c`."""
        lexemes, last = self.lexemes, index
        while last + 2 < len(lexemes) and lexemes[last + 1].kind is TokenType.DOT:
            if not lexemes[last + 2].name:
                break
            last += 2
        return last


def on_one_line(lexed: Lexed, first: int, last: int) -> str:
    """The text of some lexemes without line breaks and comments between them. Texts in it stay as they are.

    >>> lexed = lex("SELECT 'a  b', -- ten\\n  10")
    >>> lexed and on_one_line(lexed, 0, len(lexed.lexemes))
    "SELECT 'a  b', 10"
    """
    lexemes = lexed.lexemes[first:last]
    gaps = ["" if one.end == other.start else " " for one, other in pairwise(lexemes)]
    written = (lexed.text[one.start : one.end] for one in lexemes)
    return "".join(f"{text}{gap}" for text, gap in zip(written, [*gaps, ""], strict=False))


def fold(identifier: str) -> str:
    """An unquoted identifier as PostgreSQL stores it.

    >>> fold("Orders")
    'orders'
    """
    return truncate(identifier.translate(_FOLD))


def truncate(identifier: str) -> str:
    """NAMEDATALEN - 1 bytes, at a character boundary (PostgreSQL 17 documentation, section 4.1.1)."""
    encoded = identifier.encode("utf-8", "surrogatepass")
    if len(encoded) <= limits.IDENTIFIER_BYTES:
        return identifier
    return encoded[: limits.IDENTIFIER_BYTES].decode("utf-8", "ignore")


def lex(text: str) -> Lexed | None:
    """The tokens of a text.

    Gives    None where it cannot be tokenised: such a text is PostgreSQL's to judge
    Refuses  TOO_COMPLEX: longer, deeper or of more tokens than base.limits allows; SYNTAX: odd white space
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limits.STATEMENT_TEXT_BYTES:
        raise too_complex(f"longer than {limits.STATEMENT_TEXT_BYTES} bytes")
    try:
        # What stands in a comment is nobody's text.
        tokens = _tokens(bare := without_comments(text))
    except (SqlglotError, RecursionError):
        return None
    of_parameters, their_bytes = _of_parameters(tokens)
    if size - their_bytes > limits.STATEMENT_BYTES:
        raise too_complex(f"longer than {limits.STATEMENT_BYTES} bytes beside its parameters")
    if len(tokens) - of_parameters > limits.STATEMENT_TOKENS:
        raise too_complex(f"of more than {limits.STATEMENT_TOKENS} words and symbols")
    return _bracketed(text, bare, tokens)


_PARAMETER_BYTES = 32  # of one that does not count: `$12345::double precision` has two words more


def _of_parameters(tokens: Sequence[Token]) -> tuple[int, int]:
    """Tokens that do not count, as a parameter and its type are one word of the client's, and bytes of both.

    >>> _of_parameters(_tokens("a IN ($1, $12::INTEGER)"))
    (4, 14)
    """
    more = size = 0
    for at, token in enumerate(tokens):
        if token.token_type is not TokenType.PARAMETER or token.text != "$":
            continue  # sqlglot has others, `@`
        if at + 1 == len(tokens) or tokens[at + 1].start != token.start + 1:
            continue  # a $ by itself, which is PostgreSQL's to refuse
        end, more = at + 1, more + 1
        if end + 2 < len(tokens) and tokens[end + 1].token_type is TokenType.DCOLON:
            end, more = end + 2, more + 2
        size += min(tokens[end].end + 1 - token.start, _PARAMETER_BYTES)
    return more, size


def _tokens(text: str) -> list[Token]:
    """sqlglot's tokens of what is between the parameters, and theirs."""
    tokens: list[Token] = []
    done = 0
    for start, end in parameters(text):
        tokens += _shifted(_POSTGRES.tokenize(text[done:start]), done)
        tokens.append(Token(TokenType.PARAMETER, "$", 1, start, start, start))
        tokens.append(Token(TokenType.NUMBER, text[start + 1 : end], 1, end, start + 1, end - 1))
        done = end
    return plain_numbers(text, tokens + _shifted(_POSTGRES.tokenize(text[done:]), done))


def _shifted(tokens: list[Token], by: int) -> list[Token]:
    if by == 0:
        return tokens
    return [
        Token(x.token_type, x.text, x.line, x.col, x.start + by, x.end + by, x.comments)
        for x in tokens
    ]


def _bracketed(text: str, bare: str, tokens: list[Token]) -> Lexed | None:
    lexemes: list[Lexeme] = []
    partner = [-1] * len(tokens)
    open_at: list[int] = []
    negations = squares = end = 0
    for index, token in enumerate(tokens):
        kind = token.token_type
        if not _is_plain_space(bare[end : token.start]):
            raise Refusal(
                Code.SYNTAX,
                "there is white space other than blanks, tabs and line breaks between the words",
                "Write blanks instead.",
                token.start + 1,
            )
        end = token.end + 1
        if kind in _CLOSE:
            if not open_at:
                return None
            partner[index] = open_at.pop()
            partner[partner[index]] = index
        lexeme = _lexeme(token, len(open_at))
        lexemes.append(lexeme)
        if kind in _OPEN:
            open_at.append(index)
            squares += kind is TokenType.L_BRACKET
            if squares > limits.SQUARE_BRACKETS:
                raise too_complex(f"of more than {limits.SQUARE_BRACKETS} square brackets")
            if len(open_at) > limits.NESTING_DEPTH:
                raise too_complex(f"nested deeper than {limits.NESTING_DEPTH} brackets")
        negations = negations + 1 if lexeme.word == "not" or kind in _UNARY else 0
        if negations > limits.NOT_CHAIN:
            raise too_complex(f"a chain of more than {limits.NOT_CHAIN} NOT or sign operators")
    return None if open_at else Lexed(text, tuple(lexemes), tuple(partner))


_UNARY = frozenset({TokenType.DASH, TokenType.PLUS, TokenType.TILDE})


def _is_plain_space(between: str) -> bool:
    """What every PostgreSQL takes for white space, as against the parser (a vertical tab since 16; a no-break
    space is a letter)."""
    if between.isspace() or not between:
        return set(between) <= _SPACE
    bare = _COMMENT.sub(" ", between)
    return not any(c.isspace() and c not in _SPACE for c in bare)


def _lexeme(token: Token, depth: int) -> Lexeme:
    name = word = ""
    if token.token_type is TokenType.IDENTIFIER:
        name = truncate(token.text)
    elif token.token_type not in _LITERALS and token.text[:1] in _WORD_START:
        word = token.text.translate(_FOLD)
        name = truncate(word)
    elif token.token_type is TokenType.VAR:  # a word that begins with a letter beyond ASCII
        name = fold(token.text)
    return Lexeme(token, token.token_type, name, word, token.start, token.end + 1, depth)


def too_complex(what: str) -> Refusal:
    """A refusal of a statement that is too much of something."""
    return Refusal(
        Code.TOO_COMPLEX,
        f"a statement on protected tables may not be {what}",
        "Use a shorter statement, or several.",
    )


# Numbers that the tokenizer takes for several tokens or for bits: 0x1F, 0o17, 0b11, 1_000.


_DIGITS = r"[0-9](?:_?[0-9])*"
# PostgreSQL 17 documentation, section 4.1.2.6.
_NUMBER = re.compile(
    rf"0[xX](?:_?[0-9A-Fa-f])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+"
    rf"|(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?"
)
_WHOLE = {"x": 16, "o": 8, "b": 2}
_MOST_CHARACTERS = 100  # of a number in another base than ten
_STARTS = frozenset({TokenType.NUMBER, TokenType.HEX_STRING, TokenType.BIT_STRING})


def plain_numbers(text: str, tokens: Sequence[Token]) -> list[Token]:
    """The same tokens, with each number as one in plain digits.

    Args:
        text: What the tokens' places refer to.
    """
    if not any(token.token_type in _STARTS for token in tokens):
        return list(tokens)
    made: list[Token] = []
    after = -1  # of the number that ate the tokens before it
    for at, token in enumerate(tokens):
        if token.start < after:
            continue
        found = _NUMBER.match(text, token.start) if token.token_type in _STARTS else None
        value = None if found is None else _plain(found[0])
        is_same = token.token_type is TokenType.NUMBER and value == token.text
        if found is None or value is None or is_same or not _is_whole(tokens, at, found.end()):
            made.append(token)
            continue
        after = found.end()
        place = (token.line, token.col, token.start, after - 1)
        made.append(Token(TokenType.NUMBER, value, *place))
    return made


def _is_whole(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Whether a token ends where the number does, and nothing goes on with it."""
    for number in range(at, len(tokens)):
        if tokens[number].end + 1 >= end:
            follows = tokens[number + 1].start if number + 1 < len(tokens) else end + 1
            goes_on = follows == end and tokens[number + 1].token_type in (*_STARTS, TokenType.VAR)
            return tokens[number].end + 1 == end and not goes_on
    return False


def _plain(written: str) -> str | None:
    """In plain digits; None: it is too long.

    >>> _plain("0x1F"), _plain("1_000.5"), _plain("0b1_1"), _plain("1e5")
    ('31', '1000.5', '3', '1e5')
    """
    bare = written.replace("_", "")
    base = _WHOLE.get(bare[1:2].lower())
    if base is None:
        return bare
    return str(int(bare[2:], base)) if len(bare) <= _MOST_CHARACTERS else None
