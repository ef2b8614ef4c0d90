"""What stands where a subquery or a constant expression stood, until it is answered.

A subquery in a condition is answered on its own, a constant expression evaluated by the shadow; where it stood,
the parser of the expression meets a parameter. Its token holds the tag in words, which no client can write: a
client's parameter is digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proxy.query.syntax.placeholders import ScalarAnswer


@dataclass(frozen=True, slots=True)
class EvaluatedConstant:
    """What the shadow evaluates when the statement is run. index: its number, after those of the client's
    parameters; end: the lexeme after it."""

    index: int
    end: int = 0


@dataclass(frozen=True, slots=True)
class PublicSubquery:
    """What IN (SELECT ...) of a public table looks up. index: among those of the statement."""

    index: int


@dataclass(frozen=True, slots=True)
class RowSubquery:
    """A subquery of protected rows that is asked of each row: EXISTS, IN or a scalar one. index: among those of
    the statement; end: the lexeme after it."""

    index: int
    end: int = 0


SubqueryPlaceholder = ScalarAnswer | PublicSubquery | RowSubquery


Placeholder = SubqueryPlaceholder | EvaluatedConstant


# By the first lexeme: the opening bracket of a subquery, or EXISTS before it.
Placeholders = Mapping[int, Placeholder]


_WORDS: Mapping[str, type[Placeholder]] = {
    "answer": ScalarAnswer,
    "list": PublicSubquery,
    "constant": EvaluatedConstant,
    "row": RowSubquery,
}


def token_text(placeholder: Placeholder) -> str:
    """
    >>> token_text(ScalarAnswer(0)), token_text(PublicSubquery(2)), token_text(EvaluatedConstant(3, 9))
    ('answer 0', 'list 2', 'constant 3')
    """
    word = next(word for word, tag in _WORDS.items() if isinstance(placeholder, tag))
    return f"{word} {placeholder.index}"


def of_token(text: str) -> Placeholder | None:
    """None: a parameter of the client's.

    >>> of_token("list 2"), of_token("2")
    (PublicSubquery(index=2), None)
    """
    word, _, index = text.partition(" ")
    tag = _WORDS.get(word)
    return None if tag is None else tag(int(index))
