"""Where a statement has sub-expressions that the shadow can evaluate before any row is read.

A part is found on tokens, by allow-list: literals, parameters, operators, casts to listed types and calls of
listed functions, none of which is volatile or multiplies the length of a text. What is no such token (a name, a
subquery) ends the part. It is a whole sub-expression: what stands on both sides binds less than anything in it
does (PostgreSQL 17 documentation, section 4.1.6). What the reader of expressions reads itself is left to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from sqlglot import TokenType

from proxy.base.time_spans import TimeSpan
from proxy.base.written_spans import is_simple, span_of
from proxy.query.syntax.constant_types import NUMBERS, WHOLE_NUMBERS, own_type_at, type_at
from proxy.query.syntax.rounded_now import clock_step, names_present, utc_step, words_of
from proxy.query.syntax.selects import Span
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed

_TIMES = frozenset({"date", "timestamp", "timestamptz"})
_WORDS = re.compile(r"[A-Za-z]{2}")


def plain_span(lexed: Lexed, index: int) -> TimeSpan | None:
    """The interval in a text of one number and one unit, which the reader reads as PostgreSQL does."""
    lexeme = lexed.lexemes[index]
    written = lexed.text[lexeme.start : lexeme.end]
    is_plain = written[:1] == "'" and written[-1:] == "'" and is_simple(written[1:-1])
    following = lexed.lexemes[index + 1 : index + 2]
    is_split = bool(following) and following[0].kind is TokenType.STRING
    return span_of(written[1:-1]) if is_plain and not is_split else None


def has_words(lexed: Lexed, index: int, type_name: str) -> bool:
    """Whether a lexeme is the text of a time with words in it, as the name of a zone or 'today'."""
    lexeme = lexed.lexemes[index]
    is_text = lexeme.kind is TokenType.STRING
    written = lexed.text[lexeme.start : lexeme.end]
    return is_text and type_name in _TIMES and bool(_WORDS.search(written[1:]))


_NOW = frozenset(
    {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"}
)
FUNCTIONS = frozenset(
    {
        *("now", "transaction_timestamp", "statement_timestamp"),
        *("date_trunc", "date_part", "date_bin", "date", "age", "timezone", "isfinite"),
        *("justify_days", "justify_hours", "justify_interval"),
        *("make_date", "make_time", "make_timestamp", "make_timestamptz", "make_interval"),
        *("to_date", "to_timestamp", "to_number", "to_char"),
        *("abs", "round", "floor", "ceil", "ceiling", "trunc", "sign", "mod", "div"),
        *("lower", "upper", "initcap", "concat", "concat_ws", "left", "right", "substr"),
        *("btrim", "ltrim", "rtrim", "split_part", "length", "char_length", "string_to_array"),
        *("coalesce", "nullif", "greatest", "least"),
        *("ascii", "strpos", "reverse", "character_length", "octet_length"),
        *("sqrt", "power", "exp", "ln", "log", "gcd", "lcm"),
    }
)
_FIELDS = frozenset({"year", "month", "day", "hour", "minute", "second"})

# The level at which an operator binds; larger binds more.
_JOIN, _SUM, _PRODUCT, _POWER, _ZONE = range(1, 6)
_OPERATORS = {
    TokenType.DPIPE: _JOIN,
    TokenType.PLUS: _SUM,
    TokenType.DASH: _SUM,
    TokenType.STAR: _PRODUCT,
    TokenType.SLASH: _PRODUCT,
    TokenType.MOD: _PRODUCT,
    TokenType.CARET: _POWER,
}
_COMPARISONS = frozenset(
    {*(TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE), *(TokenType.GT, TokenType.GTE)}
)
_BEFORE_KINDS = _COMPARISONS | {
    *(TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.COMMA, TokenType.FROM)
}
_BEFORE_WORDS = frozenset(
    {
        *("select", "distinct", "where", "on", "having", "and", "or", "not", "between"),
        *("symmetric", "case", "when", "then", "else", "like", "ilike", "group by", "by"),
    }
)
_AFTER_KINDS = (
    _COMPARISONS
    | set(_OPERATORS)
    | {
        *(TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.COMMA),
        *(TokenType.SEMICOLON, TokenType.FROM),
    }
)
_AFTER_WORDS = frozenset(
    {
        *("and", "or", "then", "when", "else", "end", "between", "is", "in", "not", "as", "at"),
        *("like", "ilike", "group by", "group", "order by", "order", "having", "limit", "offset"),
        *("fetch", "for", "window", "union", "intersect", "except", "where", "on", "join"),
        *("escape", "operator", "isnull", "notnull"),
        *("left", "right", "inner", "cross", "full", "natural", "asc", "desc", "nulls"),
    }
)
_ENDS_OPERAND = frozenset(
    {
        *(TokenType.R_PAREN, TokenType.NUMBER, TokenType.STRING),
        *(TokenType.VAR, TokenType.IDENTIFIER),
    }
)
_ANY = frozenset({"any", "some", "all"})


class _Form(Enum):
    """NUMBER, LITERAL, SPAN (an interval of one number and one unit, or its seconds): which the reader of
    expressions reads itself; MADE: it has to be evaluated."""

    NUMBER = 0
    LITERAL = 1
    PARAMETER = 2
    MADE = 3
    SPAN = 4


_Found = tuple[int, _Form]  # the lexeme after it


@dataclass(frozen=True, slots=True)
class ConstantSpan:
    """A constant expression.

    Attributes:
        text: Of the expression, by itself.
        is_list: It is an array, in the brackets of ANY or ALL.
        slots: Seconds of a slot to the text with the present rounded down to it. Empty: the expression does not
            name the present, or nothing is to be chosen.
    """

    span: Span
    text: str
    is_list: bool = False
    slots: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Replaced:
    """A query of constants.

    Attributes:
        text: In brackets, with the CTEs that it names.
        is_list: It stands after IN, ANY, ALL or ARRAY.
    """

    text: str
    is_list: bool


NOTHING_REPLACED: Mapping[int, Replaced] = {}


@dataclass(frozen=True, slots=True)
class PresentRule:
    """How the words of the present are read.

    Attributes:
        step: Seconds to which the present is rounded down always; None: it is not.
        slots: Seconds of the slots of which one is chosen when the windows are known; none with a step.
    """

    step: int | None = None
    slots: tuple[int, ...] = ()


EXACT_PRESENT = PresentRule()


def constant_spans(
    lexed: Lexed,
    first: int,
    last: int,
    queries: frozenset[int] = frozenset(),
    present: PresentRule = EXACT_PRESENT,
    opaque: frozenset[int] = frozenset(),
    replaced: Mapping[int, Replaced] = NOTHING_REPLACED,
) -> Iterator[ConstantSpan]:
    """In the order of the text; none within another.

    Given    queries: opening brackets of scalar subqueries that are constant; opaque: the numbers of parameters
             whose values are read only when they are evaluated; replaced: by its opening bracket, each query
             of constants
    """
    scalars = frozenset(at for at, query in replaced.items() if not query.is_list)
    found = _Finder(lexed, last, queries | scalars, opaque, replaced)
    index = first
    while index < last:
        query = replaced.get(index)
        if query is not None and query.is_list and found.word(index - 1) != "array":
            end = lexed.partner[index] + 1
            yield ConstantSpan((index, end), f"ARRAY{query.text}", is_list=True)
            index = end
            continue
        listed = found.list_at(index) if index > first else None
        if listed is not None:
            span = _span(lexed, (index, listed), present, replaced, is_list=True)
            yield _of_patterns(span) if found.are_patterns(index, listed) else span
            index = listed
            continue
        pattern = found.pattern_at(index) if index > first else None
        if pattern is not None:
            yield _pattern(lexed, *pattern)
            index = pattern[1][1]
            continue
        least = found.binding_before(index, first)
        taken = None if least is None else found.expression(index, least)
        if taken is None or taken[1] is not _Form.MADE or not found.may_end(taken[0]):
            index += 1
            continue
        yield _span(lexed, (index, taken[0]), present, replaced)
        index = taken[0]


def _of_patterns(span: ConstantSpan) -> ConstantSpan:
    """LIKE ANY ('{a%,b%}'): of a text beside LIKE PostgreSQL makes an array of texts."""
    return replace(span, text=f"({span.text})::pg_catalog.text[]")


def _pattern(lexed: Lexed, pattern: Span, mark: Span) -> ConstantSpan:
    """LIKE pattern ESCAPE mark: the pattern as it is written with a backslash."""
    texts = ("".join(words_of(lexed, *span, None)).rstrip(" ") for span in (pattern, mark))
    given = ", ".join(f"({text})::pg_catalog.text" for text in texts)
    return ConstantSpan((pattern[0], mark[1]), f"pg_catalog.like_escape({given})")


def _span(
    lexed: Lexed,
    span: Span,
    present: PresentRule,
    replaced: Mapping[int, Replaced],
    *,
    is_list: bool = False,
) -> ConstantSpan:
    """Word by word, so that no comment is in it."""
    inside = sorted(at for at in replaced if span[0] <= at < span[1])

    def text(instant: str | None) -> str:
        parts, start = list[str](), span[0]
        for at in inside:
            if at >= start:
                parts += [*words_of(lexed, start, at, instant), replaced[at].text, " "]
                start = lexed.partner[at] + 1
        return "".join([*parts, *words_of(lexed, start, span[1], instant)]).rstrip(" ")

    always = None if present.step is None else utc_step(present.step)
    slots = present.slots if names_present(lexed, *span) else ()
    stepped = tuple((seconds, text(clock_step(seconds))) for seconds in slots)
    return ConstantSpan(span, text(always), is_list, stepped)


@dataclass(frozen=True, slots=True)
class _Finder:
    lexed: Lexed
    last: int
    queries: frozenset[int]
    opaque: frozenset[int]
    replaced: Mapping[int, Replaced]
    takes_own_types: bool = False

    def word(self, index: int) -> str:
        return self.lexed.lexemes[index].word if index < self.last else ""

    def kind(self, index: int) -> TokenType | None:
        return self.lexed.lexemes[index].kind if index < self.last else None

    def binding_before(self, index: int, first: int) -> int | None:
        """The least that operators of a part that begins here must bind; None: no part begins here."""
        if index == first:
            return 0
        kind = self.kind(index - 1)
        if kind in (TokenType.PLUS, TokenType.DASH) and self._ends_operand(index - 2, first):
            return _PRODUCT
        if kind in _OPERATORS:
            return _ZONE + 1  # none: it may be a sign
        if kind in _BEFORE_KINDS or self.word(index - 1) in _BEFORE_WORDS:
            return 0
        return _SUM if self._is_named_operator(index - 1) else None

    def _is_named_operator(self, close: int) -> bool:
        """OPERATOR(pg_catalog.=) ends here; + and what binds more bind more than it."""
        opened = self.lexed.partner[close]
        return self.kind(close) is TokenType.R_PAREN and self.word(opened - 1) == "operator"

    def _ends_operand(self, index: int, first: int) -> bool:
        """Whether what follows is an operator between two operands, not a sign, which binds most."""
        return index >= first and (self.kind(index) in _ENDS_OPERAND or self.word(index) == "end")

    def may_end(self, index: int) -> bool:
        kind = self.kind(index)
        return kind is None or kind in _AFTER_KINDS or self.word(index) in _AFTER_WORDS

    def list_at(self, index: int) -> int | None:
        """The end of what stands in the brackets of = ANY ( or LIKE ALL (, if it is a constant."""
        if self.kind(index - 1) is not TokenType.L_PAREN or self.word(index - 2) not in _ANY:
            return None
        before = index - 3
        is_compared = self.kind(before) in (TokenType.EQ, TokenType.NEQ)
        is_compared = is_compared or self._is_named_operator(before)
        if not is_compared and self.word(before) not in ("like", "ilike"):
            return None
        finder = replace(self, takes_own_types=True)
        found = finder.expression(index, 0, takes_arrays=True)
        is_whole = found is not None and found[0] == self.lexed.partner[index - 1]
        return found[0] if found is not None and is_whole else None

    def are_patterns(self, index: int, end: int) -> bool:
        """Whether a list is written as one text, after LIKE ANY (."""
        is_text = end == index + 1 and self.kind(index) in (TokenType.STRING, TokenType.BYTE_STRING)
        return is_text and self.word(index - 3) in ("like", "ilike")

    def pattern_at(self, index: int) -> tuple[Span, Span] | None:
        """What stands between LIKE and ESCAPE, and after it, if both are constants."""
        if self.word(index - 1) not in ("like", "ilike"):
            return None
        pattern = self.expression(index, 0)
        if pattern is None or self.word(pattern[0]) != "escape":
            return None
        mark = self.expression(pattern[0] + 1, 0)
        if mark is None or not self.may_end(mark[0]):
            return None
        return (index, pattern[0]), (pattern[0] + 1, mark[0])

    def expression(self, index: int, least: int, *, takes_arrays: bool = False) -> _Found | None:
        """Operators that bind at least so much, and their operands; as much of it as is constant."""
        left = self._operand(index, takes_arrays=takes_arrays)
        while left is not None:
            end = left[0]
            level, after = self._operator(end)
            if level is None or level < least:
                return left
            right = self.expression(after, level + 1)
            if right is None:
                return left
            beyond, _ = self._operator(right[0])
            if beyond is not None and beyond > level:
                return left  # the operand goes on, with something that is not constant
            left = right[0], _Form.MADE
        return None

    def _operator(self, index: int) -> tuple[int | None, int]:
        """Its level, and the lexeme after it."""
        words = tuple(self.word(index + at) for at in range(3))
        if words == ("at", "time", "zone"):
            return _ZONE, index + 3
        kind = self.kind(index)
        return (None if kind is None else _OPERATORS.get(kind)), index + 1

    def _operand(self, index: int, *, takes_arrays: bool) -> _Found | None:
        if self.kind(index) in (TokenType.DASH, TokenType.PLUS):
            signed = self._operand(index + 1, takes_arrays=False)
            if signed is None:
                return None
            return signed[0], _Form.NUMBER if signed[1] is _Form.NUMBER else _Form.MADE
        found = self._primary(index, takes_arrays=takes_arrays)
        while found is not None and self.kind(found[0]) is TokenType.DCOLON:
            found = self._cast(index, found, found[0] + 1, takes_arrays=takes_arrays)
        return found

    def _cast(
        self, start: int, found: _Found, index: int, *, takes_arrays: bool = False
    ) -> _Found | None:
        """found: what is cast, from `start` on; index: of the type's name."""
        named = type_at(self.lexed, index)
        if named is None and self.takes_own_types:
            named = own_type_at(self.lexed, index)
        if named is None or (named.is_array and not takes_arrays):
            return None
        is_bare = found[1] is _Form.NUMBER or (found[1] is _Form.LITERAL and found[0] == start + 1)
        is_read = named.is_plain and is_bare and not self._is_other_number(found, named.name)
        is_made = not is_read or has_words(self.lexed, start, named.name)
        return named.end, _Form.MADE if is_made else _Form.LITERAL

    def _is_other_number(self, found: _Found, name: str) -> bool:
        """A number cast to a type whose values it is not as it stands: 5.5::int, 1::boolean."""
        if found[1] is not _Form.NUMBER:
            return False
        number = self.lexed.lexemes[found[0] - 1].token.text
        return name not in NUMBERS or (name in WHOLE_NUMBERS and not number.isdigit())

    def _primary(self, index: int, *, takes_arrays: bool) -> _Found | None:
        word = self.word(index)
        match self.kind(index):
            case TokenType.NUMBER:
                return index + 1, _Form.NUMBER
            case TokenType.STRING:
                is_split = self.kind(index + 1) is TokenType.STRING
                return None if is_split else (index + 1, _Form.LITERAL)
            case TokenType.BYTE_STRING:  # E''
                return index + 1, _Form.LITERAL
            case TokenType.UNICODE_STRING | TokenType.NATIONAL_STRING:
                return index + (3 if self.word(index + 1) == "uescape" else 1), _Form.MADE
            case TokenType.PARAMETER:
                is_ours = self.lexed.lexemes[index].token.text == "$"
                if not is_ours or self.kind(index + 1) is not TokenType.NUMBER:
                    return None
                number = self.lexed.lexemes[index + 1].token.text
                is_opaque = number.isdigit() and int(number) in self.opaque
                return index + 2, _Form.MADE if is_opaque else _Form.PARAMETER
            case TokenType.L_PAREN if index in self.queries:
                return self.lexed.partner[index] + 1, _Form.MADE
            case TokenType.L_PAREN if self.word(index + 1) == "select":
                return self._select(index)
            case TokenType.L_PAREN:
                inner = self.expression(index + 1, 0, takes_arrays=takes_arrays)
                if inner is None or inner[0] != self.lexed.partner[index]:
                    return None
                return inner[0] + 1, inner[1]
        if word in ("true", "false", "null"):
            return index + 1, _Form.LITERAL
        if word == "interval":
            return self._interval(index)
        if word == "array" and takes_arrays:
            return self._array(index + 1)
        if word == "cast" and self.kind(index + 1) is TokenType.L_PAREN:
            return self._cast_call(index + 1, takes_arrays=takes_arrays)
        if self.kind(index + 1) is TokenType.L_PAREN or word in _NOW or word == "pg_catalog":
            called = self._call(index)
            if called is not None:
                return called
        return self._typed(index)

    def _interval(self, index: int) -> _Found | None:
        """INTERVAL '1' DAY TO SECOND."""
        if self.kind(index + 1) is not TokenType.STRING:
            return None
        end = index + 2
        if self.word(end) in _FIELDS:
            end += 3 if self.word(end + 1) == "to" and self.word(end + 2) in _FIELDS else 1
            return end, _Form.MADE
        return end, _Form.MADE if plain_span(self.lexed, index + 1) is None else _Form.SPAN

    def _typed(self, index: int) -> _Found | None:
        """date '2026-01-31'"""
        named = type_at(self.lexed, index)
        if named is None or named.is_array or self.kind(named.end) is not TokenType.STRING:
            return None
        is_read = named.is_plain and not has_words(self.lexed, named.end, named.name)
        return named.end + 1, _Form.LITERAL if is_read else _Form.MADE

    def _select(self, index: int) -> _Found | None:
        """(SELECT now() - interval '7 days') beside a comparison, where it is one value."""
        before = index - 1
        while self.kind(before) is TokenType.L_PAREN:
            before -= 1
        close = self.lexed.partner[index]
        is_value = self.kind(before) in _COMPARISONS or self.word(before) in ("between", "and")
        return (close + 1, _Form.MADE) if is_value and self._is_whole((index + 2, close)) else None

    def _array(self, index: int) -> _Found | None:
        if index in self.replaced:
            return self.lexed.partner[index] + 1, _Form.MADE
        if self.kind(index) is not TokenType.L_BRACKET:
            return None
        close = self.lexed.partner[index]
        return (close + 1, _Form.MADE) if self._are_constants((index + 1, close)) else None

    def _are_constants(self, span: Span) -> bool:
        return all(self._is_given(part) for part in split_commas(self.lexed, *span))

    def _is_given(self, span: Span) -> bool:
        """An argument, perhaps with its name: months => 2."""
        is_named = self.kind(span[0] + 1) is TokenType.FARROW and bool(self.word(span[0]))
        return self._is_whole((span[0] + (2 if is_named else 0), span[1]))

    def _is_whole(self, span: Span) -> bool:
        found = self.expression(span[0], 0, takes_arrays=False) if span[0] < span[1] else None
        return found is not None and found[0] == span[1]

    def _call(self, index: int) -> _Found | None:
        if self.word(index) == "pg_catalog":
            if self.kind(index + 1) is not TokenType.DOT or self.word(index + 2) not in FUNCTIONS:
                return None
            index += 2
        word, bracket = self.word(index), index + 1
        if self.kind(bracket) is not TokenType.L_PAREN:
            return (index + 1, _Form.MADE) if word in _NOW else None
        close = self.lexed.partner[bracket]
        is_constant = False
        if word == "extract":
            named = self.word(bracket + 1) or self.kind(bracket + 1) is TokenType.STRING
            is_from = self.word(bracket + 2) == "from"
            is_constant = bool(named) and is_from and self._is_whole((bracket + 3, close))
            if self._is_width(bracket, close):
                return close + 1, _Form.SPAN
        elif word in FUNCTIONS or word in _NOW:
            is_constant = self._are_constants((bracket + 1, close))
        return (close + 1, _Form.MADE) if is_constant else None

    def _is_width(self, bracket: int, close: int) -> bool:
        """extract(epoch FROM interval '2 weeks')"""
        words = (self.word(bracket + 1), self.word(bracket + 3))
        span = plain_span(self.lexed, bracket + 4) if words == ("epoch", "interval") else None
        return close == bracket + 5 and span is not None and not span.months

    def _cast_call(self, bracket: int, *, takes_arrays: bool) -> _Found | None:
        close = self.lexed.partner[bracket]
        inner = self.expression(bracket + 1, 0, takes_arrays=takes_arrays)
        if inner is None or self.word(inner[0]) != "as":
            return None
        found = self._cast(bracket + 1, inner, inner[0] + 1, takes_arrays=takes_arrays)
        return (close + 1, found[1]) if found is not None and found[0] == close else None
