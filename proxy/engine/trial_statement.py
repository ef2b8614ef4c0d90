"""The text of a rewritten statement, for a trial run with made-up answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.base.session_settings import how_to_set
from proxy.engine.policy_statements import ProtectedQuery
from proxy.pgwire.calls import Trial, TrialResult
from proxy.query.rewrite.edits import Edit, apply
from proxy.query.statement_reading import Reading
from proxy.query.syntax.computed_results import writes_rows
from proxy.query.syntax.made_by_statement import copy_encoding, inner_query, is_binary, made
from proxy.query.syntax.parameters import parameters
from proxy.query.syntax.selects import selects
from proxy.query.syntax.settled_literals import settled
from proxy.query.syntax.statements import Statement, StatementKind
from proxy.query.syntax.tokens import Lexed

_WORD = re.compile(r"[A-Za-z0-9_]+")
_HINT = (
    f"If it succeeds with the real answer, {how_to_set('dp.trial', 'off')} runs it without made-up answers."
    " It is charged then, also if it fails."
)


def trial_of(question: ProtectedQuery, relations: tuple[str, ...], day: int | None = None) -> Trial:
    """
    Given    day: of the present that it was planned with
    Gives    the query alone of what makes a table or a cursor, and of COPY: the rest is rehearsed without rows
    """
    statement = question.statement
    text = settled(_query(statement, question.reading))
    pieces, numbers, done = [], [], 0
    for start, end in parameters(text):
        pieces.append(text[done:start])
        numbers.append(int(text[start + 1 : end]))
        done = end
    pieces.append(text[done:])
    return Trial(
        pieces=tuple(pieces),
        numbers=tuple(numbers),
        called=tuple(sorted(set(_called(statement.lexed)))),
        words=tuple(sorted(_words(statement.text))),
        relations=relations,
        result=_result(statement),
        encoding=copy_encoding(statement) or "",
        hint=_HINT,
        day=day,
    )


def _result(statement: Statement) -> TrialResult:
    """What becomes of the rows, as far as the statement says it. A Bind has formats besides."""
    if writes_rows(statement):
        return TrialResult.NONE
    if is_binary(statement):
        return TrialResult.BINARY
    makes = made(statement)
    is_stored = makes is not None and not makes.is_cursor
    return TrialResult.STORED if is_stored else TrialResult.TEXT


def _called(lexed: Lexed) -> Iterator[str]:
    """Names that a bracket follows. Names after a dot, too: row.name can be a call. The rewritten text calls
    nothing volatile besides these."""
    lexemes = lexed.lexemes
    texts = [one.token.text for one in lexemes]
    for number, lexeme in enumerate(lexemes):
        is_before_bracket = texts[number + 1 : number + 2] == ["("]
        is_after_dot = number > 0 and texts[number - 1] == "."
        if lexeme.name and (is_before_bracket or is_after_dot):
            yield lexeme.name


def _words(text: str) -> set[str]:
    """All that may name a relation. Literals can, too: `'t'::regclass`."""
    words = _WORD.findall(text)
    return {*words, *(word.lower() for word in words)}


def _query(statement: Statement, reading: Reading) -> str:
    if statement.kind is StatementKind.QUERY:
        into = _into(statement)
        edits = reading.rewritten.edits
        return reading.text if into is None else apply(statement.text, (*edits, into))
    is_insert = statement.lexed.lexemes[0].word == "insert"
    return reading.text if is_insert else inner_query(statement, reading.text)


def _into(statement: Statement) -> Edit | None:
    """Takes INTO out: the table is rehearsed apart."""
    lexemes = statement.lexed.lexemes
    for select in selects(statement):
        if "into" in select.clauses:
            first, last = select.clauses["into"]
            return Edit(lexemes[first - 1].start, lexemes[last - 1].end, "")
    return None
