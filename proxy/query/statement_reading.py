"""A whole statement, read: what it asks of protected tables, and the rewritten statement.

Reading comes first (bind), rewriting after it, from what was read (rewrite).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import TokenType

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.query.bind.constant_queries import constant_queries, public_scalars
from proxy.query.bind.evaluated_constants import NOTHING_EVALUATED, Evaluated
from proxy.query.bind.output_columns import result_select
from proxy.query.bind.statement_binding import bind_statement, refuse_table
from proxy.query.ir.bound_statement import AggregateSubquery, GroupingValue, KeyValue
from proxy.query.ir.exposed import Exposed
from proxy.query.ir.query import Query
from proxy.query.rewrite.account_relations import ACCOUNT_RELATIONS, account_edits
from proxy.query.rewrite.ctes_left import settle_ctes
from proxy.query.rewrite.edits import Edit, apply, with_relation
from proxy.query.rewrite.empty_twins import on_twins, whole_on_twin
from proxy.query.rewrite.replacing_aggregates import error_columns, replace_aggregates
from proxy.query.syntax.constant_spans import (
    EXACT_PRESENT,
    ConstantSpan,
    PresentRule,
    constant_spans,
)
from proxy.query.syntax.divisor_spans import divisors
from proxy.query.syntax.explain_options import check_options
from proxy.query.syntax.previews import is_preview
from proxy.query.syntax.probes import reads_nothing
from proxy.query.syntax.selects import Select, Span, selects
from proxy.query.syntax.statements import Statement, StatementKind
from proxy.query.syntax.tokens import too_complex
from proxy.query.syntax.with_clauses import Visible, refuse_unicode_names, visible_ctes

_NOTHING = Query((), ())
_WRITES = frozenset({"insert", "update", "delete", "merge"})


@dataclass(frozen=True, slots=True)
class Preview:
    """A few rows of a protected table. refusal: where they are not shown as none."""

    table: TableName
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Reading:
    """query: what is asked, no blocks where the statement reads nothing (it is then not charged);
    accounts: dp.budget, dp.history and dp.status, where they are named; error_columns: the places of the output
    columns whose errors follow the result's own columns; preview: the protected table whose rows were asked
    for, and the refusal, where the session does not want to see none of them;
    offsets: as of BoundStatement."""

    query: Query
    rewritten: RewrittenStatement
    accounts: frozenset[TableName] = frozenset()
    error_columns: tuple[int, ...] = ()
    preview: Preview | None = None
    offsets: frozenset[int] = frozenset()

    @property
    def text(self) -> str:
        return self.rewritten.text

    @property
    def relation_parameter(self) -> int:
        return self.rewritten.relation_parameter

    def inlined(self, relation: str) -> str:
        """As RewrittenStatement.inlined."""
        return self.rewritten.inlined(relation)


def evaluated_parts(
    statement: Statement,
    resolved: tuple[TableName | None, ...],
    tables: Mapping[TableName, Exposed],
    parameters: tuple[SqlType, ...],
    present: PresentRule = EXACT_PRESENT,
) -> tuple[ConstantSpan, ...]:
    """What the shadow can evaluate of a statement that cannot be read as it stands.

    Given    as of `read_statement`; present: how its words are read
    Gives    none of one whose WITH is not understood: it is refused for that
    """
    try:
        named = _occurrences(statement, resolved, tables)
    except Refusal:
        return ()
    queries = public_scalars(statement, named)
    lexed, first, last = statement.lexed, statement.first, statement.last
    constant = constant_queries(statement, named)
    opaque = frozenset(n for n, kind in enumerate(parameters, 1) if kind is SqlType.OTHER)
    return tuple(constant_spans(lexed, first, last, queries, present, opaque, constant))


def read_statement(
    statement: Statement,
    resolved: tuple[TableName | None, ...],
    tables: Mapping[TableName, Exposed],
    parameters: tuple[SqlType, ...],
    with_errors: bool = False,
    evaluated: Evaluated = NOTHING_EVALUATED,
) -> Reading | None:
    """What a statement asks of protected tables.

    Structure bounds the time of parsing (base.limits); recursion that gets too deep is a refusal.

    Given    resolved: for each of statement.relations the protected table it names in the session, or None;
             with_errors: the result gets columns of errors behind its own, where that changes nothing else;
             evaluated: what the shadow evaluates, none of it where the statement can be read without
    Gives    None where nothing protected is asked for: relay it as it is
    Refuses  RAW_ROWS, UNSUPPORTED, FUNCTION, COLUMN_NOT_USABLE, SYNTAX, each with its position
    """
    try:
        return _read(statement, resolved, tables, parameters, with_errors, evaluated)
    except RecursionError:
        raise too_complex("nested this deeply") from None
    except (ValueError, OverflowError):
        # Python's limits of numbers, wherever the parser meets them
        raise too_complex("with numbers this long") from None


def _read(
    statement: Statement,
    resolved: tuple[TableName | None, ...],
    tables: Mapping[TableName, Exposed],
    parameters: tuple[SqlType, ...],
    with_errors: bool,
    evaluated: Evaluated,
) -> Reading | None:
    if any(table is not None and tables[table].protected for table in resolved):
        refuse_unicode_names(statement.lexed)
    named = _occurrences(statement, resolved, tables)
    accounts = {i: t.name for i, t in named.items() if t.name in ACCOUNT_RELATIONS}
    occurrences = {i: t for i, t in named.items() if i not in accounts}
    protected = {i: t for i, t in occurrences.items() if t.protected}
    if accounts:
        return _with_accounts(statement, accounts, occurrences, parameters, evaluated)
    if not protected:
        return None
    return _of_protected(statement, occurrences, parameters, evaluated, with_errors)


def _with_accounts(
    statement: Statement,
    accounts: Mapping[int, TableName],
    occurrences: Mapping[int, Exposed],
    parameters: tuple[SqlType, ...],
    evaluated: Evaluated,
) -> Reading:
    """dp.budget, dp.history or dp.status, alone or beside aggregates of protected tables."""
    parameter = len(parameters) + 1
    edits = account_edits(statement.lexed, selects(statement), accounts, parameter)
    beside = None
    if any(table.protected for table in occurrences.values()):
        beside = _of_protected(statement, occurrences, parameters, evaluated)
    query, taken = _NOTHING, tuple[Edit, ...]()
    if beside is not None:
        query, taken = beside.query, beside.rewritten.edits
    free = [e for e in edits if not any(t.start <= e.start < t.end for t in taken)]
    rewritten = rewrite_statement(statement.text, (*taken, *free), len(parameters))
    return Reading(query, rewritten, frozenset(accounts.values()))


def _of_protected(
    statement: Statement,
    occurrences: Mapping[int, Exposed],
    parameters: tuple[SqlType, ...],
    evaluated: Evaluated,
    with_errors: bool = False,
) -> Reading | None:
    protected = {i: t for i, t in occurrences.items() if t.protected}
    if statement.kind is StatementKind.VIEW:
        raise _no_view(statement, protected)
    if statement.kind is StatementKind.TABLE:
        whole = _preview_of_whole_table(statement, protected)
        if whole is None:
            return None
        edits = whole_on_twin(statement.lexed, protected)
        rewritten = rewrite_statement(statement.text, edits, len(parameters))
        return Reading(_NOTHING, rewritten, preview=whole)
    lexemes = statement.lexed.lexemes
    for index, table in protected.items():
        if index > statement.first and lexemes[index - 1].word == "table":
            refuse_table(statement, index, table)
    found = selects(statement)
    bound, errors = None, tuple[int, ...]()
    preview: Preview | None = None
    if not reads_nothing(statement, found, protected):
        try:
            bound = bind_statement(statement, found, occurrences, parameters, evaluated)
        except Refusal as refusal:
            result = result_select(statement, found)
            is_shown = is_preview(statement, result, found, protected)
            if refusal.code is not Code.RAW_ROWS or not is_shown:
                raise
            preview = Preview(next(iter(protected.values())).name, refusal)
    if bound is None:  # nothing is asked of the data: the statement itself, on tables without rows
        query, edits = _NOTHING, on_twins(statement.lexed, found, protected)
    elif not bound.subqueries:
        query, edits = _NOTHING, settle_ctes(statement, found, protected, ())
        if not edits:
            return None  # e.g. the target of an INSERT: the shadow grants no writes
    elif statement.kind is StatementKind.EXPLAIN:
        check_options(statement)
        query, edits = bound.query, ()
    else:
        parameter = len(parameters) + 1
        query = bound.query
        if with_errors and _is_select(statement):
            errors = error_columns(bound.subqueries)
        replaced = replace_aggregates(statement.lexed, bound.subqueries, parameter, bool(errors))
        settled = (*replaced, *settle_ctes(statement, found, protected, replaced))
        edits = (*zero_divisor_edits(statement, bound.subqueries, settled), *settled)
    rewritten = rewrite_statement(statement.text, edits, len(parameters))
    offsets = frozenset[int]() if bound is None else bound.offsets
    return Reading(query, rewritten, error_columns=errors, preview=preview, offsets=offsets)


def _is_select(statement: Statement) -> bool:
    """Whether its rows go to the client: WITH may stand before an INSERT."""
    lexemes = statement.lexed.lexemes[statement.first : statement.last]
    return statement.kind is StatementKind.QUERY and not any(
        lexeme.word in _WRITES and lexeme.depth == lexemes[0].depth for lexeme in lexemes
    )


def _occurrences(
    statement: Statement,
    resolved: tuple[TableName | None, ...],
    tables: Mapping[TableName, Exposed],
) -> dict[int, Exposed]:
    """First lexeme -> table of the policy, for chains that no CTE hides."""
    hidden = visible_ctes(statement.lexed)
    found: dict[int, Exposed] = {}
    for index, relation in statement.chains:
        table = resolved[relation]
        if table is not None and not _is_cte(statement, index, hidden):
            found[index] = tables[table]
    return found


def _is_cte(statement: Statement, index: int, hidden: tuple[Visible, ...]) -> bool:
    lexemes = statement.lexed.lexemes
    qualified = index + 1 < len(lexemes) and lexemes[index + 1].kind is TokenType.DOT
    return not qualified and any(
        cte.name == lexemes[index].name and cte.span[0] <= index < cte.span[1] for cte in hidden
    )


def _no_view(statement: Statement, protected: Mapping[int, Exposed]) -> Refusal:
    index, table = next(iter(protected.items()))
    return Refusal(
        Code.RAW_ROWS,
        f"a view over the protected table {table.name} could not be read: each of its answers is charged",
        "Keep the answers, CREATE TEMPORARY TABLE t AS SELECT count(*) FROM ..., or write the query into WITH"
        " where it is used.",
        statement.lexed.lexemes[index].position,
    )


def _preview_of_whole_table(
    statement: Statement, occurrences: Mapping[int, Exposed]
) -> Preview | None:
    """TABLE t and COPY t TO read rows; COPY t FROM is a write, which the shadow refuses: None.

    Raises:
        Refusal: RAW_ROWS, but for TABLE t LIMIT n.
    """
    index = next(iter(occurrences))
    words = [lexeme.word for lexeme in statement.lexed.lexemes]
    if index > statement.first + 2 or "from" in words:
        return None
    try:
        refuse_table(statement, index, occurrences[index])
    except Refusal as refusal:
        if words[0] != "table" or not {"limit", "fetch"} & set(words):
            raise
        return Preview(occurrences[index].name, refusal)


# The rewritten statement: the client's own text with noisy relations in the place of protected data.


@dataclass(frozen=True, slots=True, kw_only=True)
class RewrittenStatement:
    """text: of `source`, the client's, with all edits made; relation_parameter: the number of its jsonb
    parameter, {"b1": [rows of the first aggregate subquery], ...}."""

    source: str
    edits: tuple[Edit, ...]
    relation_parameter: int
    text: str

    def inlined(self, relation: str) -> str:
        """With the relation as a literal, for COPY, which takes no parameters."""
        # E'' means the same whatever standard_conforming_strings is in the session.
        escaped = relation.replace("\\", "\\\\").replace("'", "''")
        literal = f"E'{escaped}'::pg_catalog.jsonb"
        return apply(self.source, with_relation(self.edits, literal))


def rewrite_statement(source: str, edits: tuple[Edit, ...], parameters: int) -> RewrittenStatement:
    """
    Given    parameters: how many the client's statement has
    Refuses  SYNTAX: edits that overlap
    """
    return RewrittenStatement(
        source=source, edits=edits, relation_parameter=parameters + 1, text=apply(source, edits)
    )


# A division by a noisy 0 gives NULL: its divisor is wrapped in nullif(..., 0).
#
# PostgreSQL raises an error for a division by 0. A noisy count can be 0 by its noise alone, and then one
# group would cost the analyst the whole answer. Constants, and divisors in a SELECT that reads public rows
# only, stay as they are.


def zero_divisor_edits(
    statement: Statement, subqueries: Sequence[AggregateSubquery], replaced: Sequence[Edit]
) -> tuple[Edit, ...]:
    """Wrap the divisors of a rewritten statement that can be noisy.

    Args:
        statement: The client's statement.
        subqueries: Its SELECTs that noisy relations replace.
        replaced: The edits that do so. Text that they replace is left alone.

    Returns:
        Two insertions for each divisor. They come before `replaced` where both are at one place.
    """
    lexed = statement.lexed
    spans = sorted((edit.start, edit.end) for edit in replaced if edit.end > edit.start)
    answers = _AnswerSpans.of(statement, subqueries)
    found: list[Edit] = []
    for divisor in divisors(lexed, statement.first, statement.last):
        start, stop = lexed.lexemes[divisor[0]].start, lexed.lexemes[divisor[1] - 1].end
        operator = lexed.lexemes[divisor[0] - 1].start
        if not _is_replaced(spans, operator) and answers.may_be_in(divisor):
            found.append(Edit(start, start, "nullif("))
            found.append(Edit(stop, stop, ", 0)"))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _AnswerSpans:
    """Where answers are in a statement.

    spans: Answers in the text, and whole SELECTs that give them.
    aggregating: The SELECTs that noisy relations replace, by their keyword.
    selects: All SELECTs, and for each whether it reads answers in FROM.
    """

    spans: frozenset[Span]
    aggregating: frozenset[int]
    selects: tuple[tuple[Select, bool], ...]

    @classmethod
    def of(cls, statement: Statement, subqueries: Sequence[AggregateSubquery]) -> _AnswerSpans:
        keywords = frozenset(subquery.select.keyword for subquery in subqueries)
        names = {cte.name for cte in visible_ctes(statement.lexed)}
        lexemes = statement.lexed.lexemes

        def reads_answers(select: Select) -> bool:
            first, last = select.clauses.get("from", (0, 0))
            is_named = any(lexeme.name in names for lexeme in lexemes[first:last])
            return is_named or any(first <= keyword < last for keyword in keywords)

        spans = {
            span
            for subquery in subqueries
            for span, meaning in subquery.spans.items()
            if not isinstance(meaning, KeyValue | GroupingValue)
        }
        spans |= {(one.select.keyword, one.select.end) for one in subqueries}
        return cls(
            frozenset(spans),
            keywords,
            tuple((select, reads_answers(select)) for select in selects(statement)),
        )

    def may_be_in(self, part: Span) -> bool:
        """Whether a part of the text can be made of answers."""
        if any(part[0] <= first and last <= part[1] for first, last in self.spans):
            return True
        around = [one for one in self.selects if one[0].keyword < part[0] and part[1] <= one[0].end]
        if not around:
            return False
        select, reads_answers = max(around, key=lambda one: one[0].keyword)
        return reads_answers and select.keyword not in self.aggregating


def _is_replaced(spans: Sequence[tuple[int, int]], place: int) -> bool:
    """Whether an edit covers the place. Edits do not overlap."""
    number = bisect_right(spans, place, key=lambda span: span[0])
    return number > 0 and place < spans[number - 1][1]
