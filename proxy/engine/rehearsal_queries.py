"""What PostgreSQL can say of a rewritten statement before its query is charged.

Nothing of the statement is executed here, so nothing that it does can happen twice. It is planned (EXPLAIN,
which checks rights on tables and functions). Its LIMIT and OFFSET are evaluated where they are made of
constants and parameters alone. What it would make (a table, a cursor, a
COPY) is made of NULLs, and undone. A statement that computes with its answers has a trial run after that
(`trial_of`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from proxy.base.session_settings import how_to_set
from proxy.base.written_names import quoted
from proxy.engine.policy_statements import ProtectedQuery
from proxy.pgwire.calls import (
    NO_RELATION,
    DescribedColumn,
    MadeOfNulls,
    Rehearsal,
    Trial,
    TrialResult,
)
from proxy.query.rewrite.edits import Edit, apply
from proxy.query.statement_reading import Reading
from proxy.query.syntax.made_by_statement import (
    computes,
    copy_around,
    copy_encoding,
    inner_query,
    is_binary,
    is_copy_to_client,
    limits,
    made,
    writes_rows,
)
from proxy.query.syntax.parameters import parameters, settled
from proxy.query.syntax.selects import selects
from proxy.query.syntax.statements import Statement, StatementKind
from proxy.query.syntax.tokens import Lexed

_A_CURSOR = ('DECLARE "_dpproxy cursor" CURSOR FOR SELECT', 'CLOSE "_dpproxy cursor"')


def rehearsal(
    statement: Statement, reading: Reading, columns: Sequence[DescribedColumn]
) -> Rehearsal | None:
    """
    Given    columns: of the analysed query
    Gives    None for an EXPLAIN, which runs nothing and costs nothing, and for a preview, which costs nothing
             and whose notice comes when it is run
    """
    if statement.kind is StatementKind.EXPLAIN or reading.preview is not None:
        return None
    is_insert = statement.lexed.lexemes[0].word == "insert"
    whole = statement.kind is StatementKind.QUERY or is_insert
    query = reading.text if whole else inner_query(statement, reading.text)
    clauses = tuple(limits(statement))
    what = made(statement)
    return Rehearsal(
        plan=f"EXPLAIN (COSTS OFF) {query}",
        limits=_limits([text for text, _ in clauses]),
        lets_nothing_through=tuple(number for number, (_, ends) in enumerate(clauses) if ends),
        made=None
        if what is None
        else MadeOfNulls(
            what.head,
            tuple(columns),
            "" if what.head.lower().startswith("declare") else " WHERE false",
            what.if_not_exists,
            what.tag,
        ),
        same_kind=_same_kind(statement, columns),
        result_oids=tuple(column.type_oid for column in columns) if whole else (),
        is_computed=computes(
            statement, ((edit.start, edit.end) for edit in reading.rewritten.edits)
        ),
        encoding=copy_encoding(statement),
        without_rows=reading.inlined(NO_RELATION) if statement.kind is StatementKind.COPY else None,
    )


def goes_to_the_server(statement: Statement) -> bool:
    """COPY TO a file or a program: PostgreSQL refuses it to every analyst, before it runs anything."""
    return statement.kind is StatementKind.COPY and not is_copy_to_client(statement)


def _limits(clauses: Sequence[str]) -> str | None:
    """How many of one row each clause lets through."""
    values = [
        f"(SELECT pg_catalog.count(*) FROM (SELECT {clause}) AS one)"  # noqa: S608
        for clause in clauses
    ]
    return "SELECT " + ", ".join(values) if values else None


def _same_kind(statement: Statement, columns: Sequence[DescribedColumn]) -> tuple[str, ...]:
    if statement.kind is StatementKind.COPY:
        return (_copy(statement, columns),)
    # Before PostgreSQL 18 the first statement of a string that the relay runs one by one is in no block.
    return _A_CURSOR if statement.needs_transaction else ()


def _copy(statement: Statement, columns: Sequence[DescribedColumn]) -> str:
    """Its options may name columns."""
    items = ", ".join(f"NULL::pg_catalog.text AS {quoted(column.name)}" for column in columns)
    return copy_around(statement, f"SELECT {items} WHERE false")


# The text of a rewritten statement, for a trial run with made-up answers.


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


# The text that is sent to the shadow in a question's place; its last parameter is the noisy relation.


_PLAN_TEXT = (
    "SELECT * FROM pg_catalog.jsonb_array_elements_text(${0}->'explain') AS plan(\"QUERY PLAN\")"
)
_PLAN_JSON = "SELECT (${0}->'explain')::pg_catalog.json AS \"QUERY PLAN\""


def rewritten_text(question: ProtectedQuery) -> str:
    """Of an EXPLAIN: rows of text as PostgreSQL's own, or one JSON value."""
    reading = question.reading
    if question.statement.kind is not StatementKind.EXPLAIN or question.reads_nothing:
        return reading.text
    shape = _PLAN_JSON if question.statement.explain_json else _PLAN_TEXT
    return shape.format(reading.relation_parameter)
