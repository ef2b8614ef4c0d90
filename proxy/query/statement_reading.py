"""A whole statement, read: all its blocks on protected tables, and the residual text around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from sqlglot import TokenType

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import subquery_name
from proxy.base.sql_types import SqlType
from proxy.catalog.model import TableName
from proxy.query.bind.block_reading import read_block, read_scalar
from proxy.query.bind.source_reading import nature_of, read_public_column
from proxy.query.bind.sources import Nature, Sources
from proxy.query.ir.exposed import Exposed
from proxy.query.ir.query import Block, Query, Scalar
from proxy.query.rewrite.account_relations import ACCOUNT_RELATIONS, account_edits
from proxy.query.rewrite.empty_twins import on_twins
from proxy.query.syntax import residual
from proxy.query.syntax.blocks import (
    AGGREGATES,
    Select,
    Span,
    is_call,
    is_relation,
    opens_query,
    selects,
)
from proxy.query.syntax.from_functions import refuse_in_function
from proxy.query.syntax.probes import reads_nothing, unused_ctes
from proxy.query.syntax.residual import Edit
from proxy.query.syntax.slices import PUBLIC_LISTS
from proxy.query.syntax.statements import Kind, Statement
from proxy.query.syntax.tokens import Lexed, Lexeme, too_complex
from proxy.query.syntax.with_clauses import Visible, refuse_unicode_names, visible_ctes

_HINT = "Ask for aggregates, e.g. SELECT count(*) FROM table WHERE ... GROUP BY column."


@dataclass(frozen=True, slots=True)
class Reading:
    """query: what is asked, no blocks where the statement reads nothing (it is then not charged);
    text: the residual statement; relation_parameter: the number of its jsonb parameter,
    {"b1": [rows of the first block], ...}; accounts: dp.budget and dp.history, where they are named;
    edits: what was changed in the client's text, but for those; source and changes: that text, and all that
    was changed in it."""

    query: Query
    text: str
    relation_parameter: int
    accounts: frozenset[TableName] = frozenset()
    edits: tuple[Edit, ...] = ()
    source: str = ""
    changes: tuple[Edit, ...] = ()

    def inlined(self, relation: str) -> str:
        """The residual with the relation as a literal, for COPY, which takes no parameters."""
        # E'' means the same whatever standard_conforming_strings is in the session.
        escaped = relation.replace("\\", "\\\\").replace("'", "''")
        literal = f"E'{escaped}'::pg_catalog.jsonb"
        return residual.apply(self.source, residual.with_relation(self.changes, literal))


def read_statement(
    statement: Statement,
    resolved: tuple[TableName | None, ...],
    tables: Mapping[TableName, Exposed],
    parameters: tuple[SqlType, ...],
) -> Reading | None:
    """What a statement asks of protected tables.

    Structure bounds the time of parsing (base.limits); recursion that gets too deep is a refusal.

    Given    resolved: for each of statement.relations the protected table it names in the session, or None
    Gives    None where nothing protected is asked for: relay it as it is
    Refuses  RAW_ROWS, UNSUPPORTED, FUNCTION, COLUMN_NOT_USABLE, SYNTAX, each with its position
    """
    try:
        return _read(statement, resolved, tables, parameters)
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
) -> Reading | None:
    if any(table is not None and tables[table].protected for table in resolved):
        refuse_unicode_names(statement.lexed)
    named = _occurrences(statement, resolved, tables)
    accounts = {i: t.name for i, t in named.items() if t.name in ACCOUNT_RELATIONS}
    occurrences = {i: t for i, t in named.items() if i not in accounts}
    protected = {i: t for i, t in occurrences.items() if t.protected}
    if accounts:
        return _with_accounts(statement, accounts, occurrences, parameters)
    if not protected:
        return None
    return _of_protected(statement, occurrences, parameters)


def _with_accounts(
    statement: Statement,
    accounts: Mapping[int, TableName],
    occurrences: Mapping[int, Exposed],
    parameters: tuple[SqlType, ...],
) -> Reading:
    """dp.budget or dp.history, alone or beside aggregates of protected tables."""
    parameter = len(parameters) + 1
    edits = account_edits(statement.lexed, selects(statement), accounts, parameter)
    names = frozenset(accounts.values())
    beside = None
    if any(table.protected for table in occurrences.values()):
        beside = _of_protected(statement, occurrences, parameters)
    if beside is None:
        return _rewritten(statement, Query((), ()), parameter, (), names, edits)
    taken = [(edit.start, edit.end) for edit in beside.edits]
    free = [e for e in edits if not any(a <= e.start < b for a, b in taken)]
    return _rewritten(statement, beside.query, parameter, beside.edits, names, free)


def _rewritten(
    statement: Statement,
    query: Query,
    parameter: int,
    edits: tuple[Edit, ...],
    accounts: frozenset[TableName] = frozenset(),
    of_accounts: Iterable[Edit] = (),
) -> Reading:
    changes = (*edits, *of_accounts)
    text = residual.apply(statement.text, changes)
    return Reading(query, text, parameter, accounts, edits, statement.text, changes)


def _of_protected(
    statement: Statement, occurrences: Mapping[int, Exposed], parameters: tuple[SqlType, ...]
) -> Reading | None:
    protected = {i: t for i, t in occurrences.items() if t.protected}
    if statement.kind is Kind.TABLE:
        _refuse_whole_table(statement, protected)
        return None
    for index, table in protected.items():
        if index > statement.first and _place(statement, index - 1).word == "table":
            _refuse_table(statement, index, table)
    found = selects(statement)
    if reads_nothing(statement, found, protected):
        return _on_twins(statement, found, protected, parameters)
    ctes = visible_ctes(statement.lexed)
    idle = [cte.body for cte in unused_ctes(statement.lexed, ctes)]
    sources = Sources(statement.lexed, found, ctes, occurrences, parameters)
    parameter = len(parameters) + 1
    _find_public_lists(sources)
    collected = _Collected([], [], [])
    for select in found:
        if select.keyword in sources.consumed:
            continue
        if any(first <= select.keyword < last for first, last in idle):
            continue  # PostgreSQL does not run it
        nature = nature_of(sources, select)
        if nature is Nature.BLOCK:
            refuse_in_function(statement.lexed, select, found)
            _collect(sources, select, parameter, collected, exchanged=True)
        elif nature is Nature.ROWS and not _is_cte_body(select, ctes):
            if statement.kind is Kind.EXPLAIN and not _is_run(statement):
                return _on_twins(statement, found, protected, parameters)
            _refuse_rows(statement, select, protected)
    if not collected.blocks:
        return None  # e.g. the target of an INSERT: the shadow grants no writes
    query = Query(tuple(collected.blocks), tuple(collected.scalars))
    if statement.kind is Kind.EXPLAIN:
        return Reading(query, statement.text, parameter)
    edits = tuple(collected.edits)
    return _rewritten(statement, query, parameter, edits)


def _on_twins(
    statement: Statement,
    found: tuple[Select, ...],
    protected: Mapping[int, Exposed],
    parameters: tuple[SqlType, ...],
) -> Reading:
    """Nothing is asked of the data: the statement itself, on tables without rows."""
    edits = on_twins(statement.lexed, found, protected)
    return _rewritten(statement, Query((), ()), len(parameters) + 1, edits)


def _is_run(statement: Statement) -> bool:
    """EXPLAIN ANALYZE."""
    options = statement.lexed.lexemes[: statement.first]
    return any(lexeme.word in ("analyze", "analyse") for lexeme in options)


@dataclass(slots=True)
class _Collected:
    blocks: list[Block]
    scalars: list[Scalar]
    edits: list[Edit]


def _collect(
    sources: Sources, select: Select, parameter: int, collected: _Collected, exchanged: bool
) -> int:
    """Reads a block, those before it that stand in its conditions, and gives its number."""
    for name in ("from", "where", "items", "having", "order"):
        if name in select.clauses:
            _collect_scalars(sources, select.clauses[name], name, parameter, collected)
    sources.consumed.add(select.keyword)
    read = read_block(sources, select, parameter, subquery_name(len(collected.blocks) + 1))
    collected.blocks.append(read.block)
    if exchanged:
        collected.edits += read.edits
    return len(collected.blocks) - 1


def _collect_scalars(
    sources: Sources,
    span: Span,
    clause: str,
    parameter: int,
    collected: _Collected,
) -> None:
    """Scalar subqueries that are blocks: in conditions and inside aggregates their answers are constants;
    outside aggregates they stay where they are and are blocks of their own."""
    lexed = sources.lexed
    for index in range(*span):
        if not opens_query(lexed, index) or index in sources.scalars:
            continue
        inside = [s for s in sources.selects if index < s.keyword < lexed.partner[index]]
        if clause in ("items", "having", "order") and not _inside_call(lexed, span, index):
            continue
        if clause == "from" and is_relation(lexed, index):
            continue
        nested = next((s for s in inside if s.depth == lexed.lexemes[index].depth + 1), None)
        if nested is not None and len(inside) == 1 and _is_public_list(sources, nested, index):
            continue
        if nested is None or nature_of(sources, nested) is not Nature.BLOCK:
            raise Refusal(
                Code.UNSUPPORTED,
                "this subquery inside a condition on a protected table is not available",
                "A subquery in a condition is one aggregate, (SELECT avg(column) FROM table), "
                "or after IN a column of a public table.",
                lexed.lexemes[index].position,
            )
        aggregate = read_scalar(sources, nested)
        number = _collect(sources, nested, parameter, collected, exchanged=False)
        scalar = limits.PARAMETERS + 1 + len(collected.scalars)
        sources.scalars[index] = scalar
        sources.scalar_types[scalar] = aggregate.type
        collected.scalars.append(Scalar(scalar, number))


def _find_public_lists(sources: Sources) -> None:
    """Those below FROM and in CTEs, before anything is asked of the SELECTs that stand around them."""
    spans = [s.clauses["from"] for s in sources.selects if "from" in s.clauses]
    spans += [cte.body for cte in sources.ctes]
    for select in sources.selects:
        index = select.keyword - 1
        among_rows = any(first <= index < last for first, last in spans)
        if among_rows and opens_query(sources.lexed, index):
            with suppress(Refusal):  # which is raised where the list is looked at
                _is_public_list(sources, select, index)


def _is_public_list(sources: Sources, select: Select, index: int) -> bool:
    """x IN (SELECT column FROM public table ...): read, and known by a number from now on."""
    lexed = sources.lexed
    if index == 0 or lexed.lexemes[index - 1].word != "in":
        return False
    if (select.keyword, select.end) != (index + 1, lexed.partner[index]):
        return False  # a part of something larger: WITH, UNION
    if nature_of(sources, select) is not Nature.CLEAN:
        return False
    found = read_public_column(sources, select)
    if found is None:
        return False
    number = PUBLIC_LISTS + len(sources.public)
    sources.scalars[index] = number
    sources.public[number] = found
    return True


def _inside_call(lexed: Lexed, span: Span, index: int) -> bool:
    """Whether a bracket stands inside the brackets of an aggregate, or of its FILTER."""
    return any(
        (lexed.lexemes[at].name in AGGREGATES or lexed.lexemes[at].word == "filter")
        and is_call(lexed, at)
        and at < index < lexed.partner[at + 1]
        for at in range(span[0], index)
    )


def _is_cte_body(select: Select, ctes: tuple[Visible, ...]) -> bool:
    """A CTE that no block uses is never run."""
    return any(cte.body[0] <= select.keyword < cte.body[1] for cte in ctes)


def _refuse_rows(
    statement: Statement, select: Select, protected: Mapping[int, Exposed]
) -> NoReturn:
    within = [i for i in protected if select.keyword < i < select.end]
    index = within[0] if within else next(iter(protected))
    if "group" in select.clauses:  # by anything but the unit it would be a block
        raise Refusal(
            Code.RAW_ROWS,
            "the privacy unit cannot be a key of the result",
            "GROUP BY it in a subquery and aggregate that: SELECT avg(n) FROM (SELECT unit, count(*) n ...).",
            statement.lexed.lexemes[select.clauses["group"][0]].position,
        )
    _refuse_table(statement, index, protected[index])


def _refuse_table(statement: Statement, index: int, table: Exposed) -> NoReturn:
    raise Refusal(
        Code.RAW_ROWS,
        f"rows of the protected table {table.name} cannot be read",
        _HINT,
        _place(statement, index).position,
    )


def _place(statement: Statement, index: int) -> Lexeme:
    return statement.lexed.lexemes[index]


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
    qualified = index + 1 < len(lexemes) and lexemes[index + 1].token.token_type is TokenType.DOT
    return not qualified and any(
        cte.name == lexemes[index].name and cte.span[0] <= index < cte.span[1] for cte in hidden
    )


def _refuse_whole_table(statement: Statement, occurrences: Mapping[int, Exposed]) -> None:
    """TABLE t and COPY t TO read rows; COPY t FROM is a write, which the shadow refuses."""
    index = next(iter(occurrences))
    if index > 2 or any(lexeme.word == "from" for lexeme in statement.lexed.lexemes):
        return
    _refuse_table(statement, index, occurrences[index])
