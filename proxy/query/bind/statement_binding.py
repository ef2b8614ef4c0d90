"""A statement on protected tables, bound: its aggregate subqueries as typed forms, and what stands where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NoReturn

from sqlglot import TokenType

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.base.written_names import written_name
from proxy.query.bind.aggregate_subquery import read_scalar, read_subquery
from proxy.query.bind.evaluated_constants import NOTHING_EVALUATED, Evaluated
from proxy.query.bind.group_keys import refuse_first_rows
from proxy.query.bind.output_columns import result_select
from proxy.query.bind.retained_conditions import retained_spans
from proxy.query.bind.source_reading import nature_of, read_public_column
from proxy.query.bind.sources import Asked, Nature, Sources, Words
from proxy.query.bind.span_reading import is_interval
from proxy.query.ir.bound_statement import AggregateSubquery, BoundStatement, blocks_of
from proxy.query.ir.exposed import Exposed
from proxy.query.ir.query import Scalar
from proxy.query.syntax.from_clause import TableItem, leaves
from proxy.query.syntax.probes import unused_ctes
from proxy.query.syntax.selects import (
    ANSWERED,
    Select,
    Span,
    is_call,
    is_relation,
    opens_query,
    selects,
)
from proxy.query.syntax.statements import Statement
from proxy.query.syntax.tokens import Lexed, on_one_line
from proxy.query.syntax.with_clauses import Visible, visible_ctes


def bind_statement(
    statement: Statement,
    found: tuple[Select, ...],
    occurrences: Mapping[int, Exposed],
    parameters: tuple[SqlType, ...],
    evaluated: Evaluated = NOTHING_EVALUATED,
) -> BoundStatement:
    """
    Given    found: its SELECTs; occurrences: first lexeme of what names a table of the policy -> table, of
             which one at least is protected; parameters: types of $1, $2, ...; evaluated: what the shadow does
    Refuses  as read_statement
    """
    protected = {i: t for i, t in occurrences.items() if t.protected}
    ctes = visible_ctes(statement.lexed)
    idle = [cte.body for cte in unused_ctes(statement.lexed, ctes)]
    result = result_select(statement, found)
    sources = Sources(
        statement.lexed,
        found,
        ctes,
        occurrences,
        parameters,
        None if result is None else result.keyword,
        dict(evaluated.placeholders),
        evaluated.types,
    )
    find_public_lists(sources)
    find_row_subqueries(sources)
    find_public_lists(sources)  # in what has been found
    of_rows = [select.keyword for select in sources.of_rows]
    # Those that are asked of rows are read with what stands around them; of what is left nothing was asked.
    for select in sorted(found, key=lambda one: one.keyword in of_rows):
        if select.keyword in sources.consumed:
            continue
        if any(first <= select.keyword < last for first, last in idle):
            continue  # PostgreSQL does not run it
        nature = nature_of(sources, select)
        if nature is Nature.AGGREGATES:
            refuse_in_function(statement.lexed, select, found)
            bind_subquery(sources, select)
        elif nature is Nature.ROWS and not _is_cte_body(select, ctes):
            _refuse_rows(statement, select, protected)
    _refuse_misplaced(statement, sources.subqueries, idle)
    subqueries = _with_names_of_union(statement, found, sources.subqueries)
    return BoundStatement(tuple(subqueries), tuple(sources.scalars), frozenset(sources.offsets))


def _with_names_of_union(
    statement: Statement, found: Sequence[Select], subqueries: Sequence[AggregateSubquery]
) -> Iterator[AggregateSubquery]:
    """The columns of SELECTs that UNION and its kin connect, with the names that the result has: those of the
    first SELECT (PostgreSQL 17 documentation, section 7.4)."""
    depth = statement.lexed.lexemes[statement.first].depth
    outermost = sorted(select.keyword for select in found if select.depth == depth)
    listed = {one.select.keyword: one.block.inner_outputs for one in subqueries}
    first = listed.get(outermost[0], ()) if outermost else ()
    for subquery in subqueries:
        own = subquery.block.inner_outputs
        if subquery.select.keyword not in outermost or len(own) != len(first):
            yield subquery
            continue
        named = tuple(replace(one, name=other.name) for one, other in zip(own, first, strict=True))
        yield replace(subquery, block=replace(subquery.block, inner_outputs=named))


def _refuse_misplaced(
    statement: Statement, subqueries: Sequence[AggregateSubquery], idle: Sequence[Span]
) -> None:
    """dp.low() and its kin of anything but aggregates, which would fail on the shadow: after the charge. idle:
    what PostgreSQL does not run."""
    lexed = statement.lexed
    read = {index for subquery in subqueries for span in subquery.spans for index in range(*span)}
    for index in range(statement.first, statement.last) if subqueries else ():
        is_run = not any(first <= index < last for first, last in idle)
        if is_run and index not in read and is_interval(lexed, index):
            name = lexed.lexemes[index + 2].name
            raise Refusal(
                Code.UNSUPPORTED,
                f"dp.{name}() applies to aggregates in the SELECT that makes them of a protected table",
                f"Take dp.{name}(count(*)) there, with a name, and use the name.",
                lexed.lexemes[index].position,
            )


def _is_cte_body(select: Select, ctes: tuple[Visible, ...]) -> bool:
    """A CTE that no aggregate subquery uses is never run."""
    return any(cte.body[0] <= select.keyword < cte.body[1] for cte in ctes)


def _refuse_rows(
    statement: Statement, select: Select, protected: Mapping[int, Exposed]
) -> NoReturn:
    within = [i for i in protected if select.keyword < i < select.end]
    index = within[0] if within else next(iter(protected))
    if select.is_distinct_on:
        refuse_first_rows(statement.lexed.lexemes[select.keyword].position)
    if "group" in select.clauses or select.distinct:  # without the unit an aggregate subquery
        name = written_name(*protected[index].name)
        unit = written_name(protected[index].unit or "unit")
        aggregated = (
            f"SELECT avg(n) FROM (SELECT {unit}, count(*) AS n FROM {name} GROUP BY {unit}) q"  # noqa: S608
        )
        raise Refusal(
            Code.RAW_ROWS,
            f"the privacy unit cannot be a GROUP BY key of the result, but of a subquery: {aggregated}",
            f"GROUP BY it in a subquery and aggregate that: {aggregated}.",
            statement.lexed.lexemes[select.clauses.get("group", select.items)[0]].position,
        )
    probe = _probe(statement, select)
    if probe is None:
        refuse_table(statement, index, protected[index])
    raise Refusal(
        Code.RAW_ROWS,
        f"whether rows of the protected table {protected[index].name} exist cannot be told: ask how many,"
        f" {probe}",
        "If dp.low(count(*)) is above 0, there are some.",
        statement.lexed.lexemes[index].position,
    )


_PROBE_TEXT = 200  # characters of a message, which quotes the statement


def _probe(statement: Statement, select: Select) -> str | None:
    """The count to ask instead of EXISTS or SELECT 1 ... LIMIT 1. None: it is no such question, or one about
    the rows around it."""
    lexed, clauses = statement.lexed, select.clauses
    lexemes = lexed.lexemes
    is_exists = select.keyword > 1 and lexemes[select.keyword - 2].word == "exists"
    items = lexemes[slice(*select.items)]
    is_constant = bool(items) and items[0].kind in (TokenType.NUMBER, TokenType.STRING)
    if "from" not in clauses or not (is_exists or (is_constant and "limit" in clauses)):
        return None
    around = [one for one in selects(statement) if one.keyword < select.keyword < one.end]
    if any("from" in one.clauses for one in around):
        return None
    text = f"SELECT count(*) FROM {on_one_line(lexed, *clauses['from'])}"  # noqa: S608
    if "where" in clauses:
        text += f" WHERE {on_one_line(lexed, *clauses['where'])}"
    return text if len(text) <= _PROBE_TEXT and "group" not in clauses else None


def refuse_table(statement: Statement, index: int, table: Exposed) -> NoReturn:
    """
    Given    the lexeme that names a protected table whose rows would be read
    Refuses  RAW_ROWS
    """
    name = written_name(*table.name)
    raise Refusal(
        Code.RAW_ROWS,
        f"rows of the protected table {table.name} cannot be returned, only aggregates of them,"  # noqa: S608
        f" e.g. SELECT count(*) FROM {name}",
        f"Use aggregates, e.g. SELECT count(*) FROM {name}. SELECT * FROM dp.columns says what each column"  # noqa: S608
        " can be used for.",
        statement.lexed.lexemes[index].position,
    )


# Which subqueries are asked of each row: found before anything is read, and known by a placeholder then.
#
# EXISTS and IN of rows of a protected table, and aggregates of one that name a relation of a SELECT around
# them; EXISTS of a public table.


_NO_EXPRESSION = frozenset(
    {"exists", "in", "as", "materialized", "array", "any", "some", "all", "lateral"}
)


def find_row_subqueries(sources: Sources) -> None:
    """The inner ones first: whoever asks what an outer one gives reads what stands in its FROM clause."""
    lexed = sources.lexed
    for select in reversed(sources.selects):
        index = select.keyword - 1
        if index < 1 or not opens_query(lexed, index) or select.end != lexed.partner[index]:
            continue
        if sources.is_replaced(index) or _is_in_from(sources, index):
            continue
        before = lexed.lexemes[index - 1].word
        with suppress(Refusal):  # which is raised where the subquery is looked at
            nature = nature_of(sources, select)
            if before == "exists" and (nature is Nature.ROWS or _is_public(sources, select)):
                sources.add_of_rows(index - 1, select)
            elif (before == "in" and nature is Nature.ROWS) or (
                nature is Nature.AGGREGATES
                and before not in _NO_EXPRESSION
                and _names_others(sources, select)
            ):
                sources.add_of_rows(index, select)


def _is_in_from(sources: Sources, index: int) -> bool:
    """Whether a bracket is a relation of the FROM clause that it stands in."""
    around = [s for s in sources.selects if s.keyword < index < s.end and "from" in s.clauses]
    within = [s.clauses["from"] for s in around if s.keyword == max(one.keyword for one in around)]
    return any(first <= index < last for first, last in within) and is_relation(
        sources.lexed, index
    )


def _is_public(sources: Sources, select: Select) -> bool:
    """Whether FROM is one public table."""
    item = sources.from_item(select) if "from" in select.clauses else None
    if not isinstance(item, TableItem) or sources.cte(item) is not None:
        return False
    table = sources.tables.get(item.first)
    return table is not None and not table.protected


def _names_others(sources: Sources, select: Select) -> bool:
    """Whether a name has a qualifier that no FROM clause in it has."""
    lexemes = sources.lexed.lexemes
    known: set[str] = set()
    for inner in sources.selects:
        if select.keyword <= inner.keyword < select.end and "from" in inner.clauses:
            for item in leaves(sources.from_item(inner)):
                if item.alias is not None:
                    known.add(item.alias)
                elif isinstance(item, TableItem):
                    known.add(item.chain[-1])
                    known.add(item.chain[0])
    clauses = [span for name, span in select.clauses.items() if name != "from"]
    for first, last in clauses:
        for index in range(first + 1, last - 1):
            is_dot = lexemes[index].kind is TokenType.DOT
            starts = index < 2 or lexemes[index - 2].kind is not TokenType.DOT
            if (
                is_dot
                and starts
                and lexemes[index - 1].name
                and lexemes[index - 1].name not in known
            ):
                return True
    return False


# Functions in FROM: what they give may be as many rows as their arguments say.


def refuse_in_function(lexed: Lexed, select: Select, found: tuple[Select, ...]) -> None:
    """
    Given    select: a SELECT on protected rows; found: all of the statement
    Refuses  UNSUPPORTED: generate_series(1, (SELECT count(*) ...)), of as many rows as the noise says
    """
    for outer in found:
        first, last = outer.clauses.get("from", (0, 0))
        for index in range(first, min(last, select.keyword)):
            within = lexed.partner[index] > select.keyword
            if within and _is_function(lexed, index) and lexed.lexemes[index].depth == outer.depth:
                raise Refusal(
                    Code.UNSUPPORTED,
                    "a question cannot be an argument of a function in FROM",
                    "Run the subquery by itself and write its result as a constant.",
                    lexed.lexemes[select.keyword].position,
                )


def _is_function(lexed: Lexed, bracket: int) -> bool:
    """Whether a bracket holds the arguments of a function in FROM, or those of ROWS FROM."""
    lexemes = lexed.lexemes
    if lexemes[bracket - 2].word == "rows" and lexemes[bracket - 1].word == "from":
        return True
    name = bracket - 1
    if not lexemes[name].name or not is_call(lexed, name) or opens_query(lexed, bracket):
        return False
    while lexemes[name - 1].kind is TokenType.DOT:
        name -= 2
    return is_relation(lexed, name)


# --- Subqueries whose values are constants to the SELECT around them: scalar aggregates, lists of public
# tables.
#
# Each is read on its own and known by a placeholder from then on, which stands in the expressions around
# it.


def bind_subquery(sources: Sources, select: Select, *, is_constant: bool = False) -> int:
    """Reads an aggregate subquery, before it those that stand in its conditions.

    Gives    the index of its first block in the statement
    Refuses  what reading it refuses
    """
    retained = tuple(retained_spans(sources, select))
    for name in ("from", "where", "items", "having", "order"):
        if name in select.clauses:
            _bind_scalars(sources, select.clauses[name], name, retained)
    sources.consumed.add(select.keyword)
    before = sources.subqueries
    read = read_subquery(sources, select, len(blocks_of(before)) + 1, is_constant)
    read = numbered_as_before(sources.lexed, sources.asked, sources.scalars, read)
    before.append(read)
    return read.number - 1


def _bind_scalars(sources: Sources, span: Span, clause: str, retained: Sequence[Span]) -> None:
    """Scalar subqueries that aggregate: in conditions and inside aggregates their answers are constants;
    outside aggregates, and in what is retained, they stay where they are, as aggregate subqueries."""
    lexed = sources.lexed
    for index in range(*span):
        if not opens_query(lexed, index) or sources.is_replaced(index):
            continue
        if any(first <= index < last for first, last in retained):
            continue
        inside = [s for s in sources.selects if index < s.keyword < lexed.partner[index]]
        if clause in ("items", "having", "order") and not _inside_call(lexed, span, index):
            continue
        if is_relation(lexed, index) and (clause == "from" or _below_rows(sources, index)):
            continue
        if any(cte.body[0] == index + 1 for cte in sources.ctes):
            continue  # which is read where its name stands
        nested = next((s for s in inside if s.depth == lexed.lexemes[index].depth + 1), None)
        if nested is not None and len(inside) == 1 and _is_public_list(sources, nested, index):
            continue
        if nested is None or nature_of(sources, nested) is not Nature.AGGREGATES:
            raise Refusal(
                Code.UNSUPPORTED,
                "this subquery inside a condition on a protected table is not available",
                "A subquery in a condition is one aggregate, (SELECT avg(column) FROM table), "  # noqa: S608
                "or after IN a column of a public table. Values of a table of your own are a list:"
                f" column IN (1, 2), column = ANY ($1).{_joined_instead(sources, index)}",
                lexed.lexemes[index].position,
            )
        aggregate = read_scalar(sources, nested)
        sources.add_scalar(index, aggregate.type, bind_subquery(sources, nested, is_constant=True))


def _below_rows(sources: Sources, index: int) -> bool:
    """Whether a bracket stands in FROM of a subquery that is asked of each row."""
    spans = (s.clauses["from"] for s in sources.of_rows if "from" in s.clauses)
    return any(first <= index < last for first, last in spans)


def _joined_instead(sources: Sources, index: int) -> str:
    """What can be written in the place of a subquery of one table in a condition on another: a join of the
    two on the people that both are about."""
    inside = range(index, sources.lexed.partner[index])
    inner = [table for at, table in sources.tables.items() if at in inside and table.identifier]
    outer = [table for at, table in sources.tables.items() if at < index and table.identifier]
    pair = next(
        ((a, b) for a in reversed(outer) for b in inner if a.identifier == b.identifier), None
    )
    if pair is None or pair[0].unit is None or pair[1].unit is None:
        return ""
    (left, on), (right, equal) = (
        (written_name(*table.name), written_name(table.unit or "")) for table in pair
    )
    return (
        f" Where people are to have a row there, join it: SELECT count(DISTINCT a.{on})"  # noqa: S608
        f" FROM {left} a JOIN {right} b ON b.{equal} = a.{on}."
    )


def find_public_lists(sources: Sources) -> None:
    """Those below FROM, in CTEs and in what is asked of rows, before the SELECTs around them are looked at."""
    spans = [s.clauses["from"] for s in sources.selects if "from" in s.clauses]
    spans += [cte.body for cte in sources.ctes]
    spans += [(select.keyword, select.end) for select in sources.of_rows]
    for select in sources.selects:
        index = select.keyword - 1
        among_rows = any(first <= index < last for first, last in spans)
        if among_rows and opens_query(sources.lexed, index) and not sources.is_replaced(index):
            with suppress(Refusal):  # which is raised where the list is looked at
                _is_public_list(sources, select, index)


def _is_public_list(sources: Sources, select: Select, index: int) -> bool:
    """x IN (SELECT column FROM public table ...): read, and known by a placeholder from now on."""
    lexed = sources.lexed
    if index == 0 or lexed.lexemes[index - 1].word != "in":
        return False
    if (select.keyword, select.end) != (index + 1, lexed.partner[index]):
        return False  # a part of something larger: WITH, UNION
    if nature_of(sources, select) is not Nature.CLEAN:
        return False
    try:
        found = read_public_column(sources, select)
    except Refusal as refusal:
        _refuse_list_of_row(sources, select, refusal)
        raise
    if found is None:
        return False
    sources.add_public(index, found)
    return True


def _refuse_list_of_row(sources: Sources, select: Select, refusal: Refusal) -> None:
    """Where it is refused for a column of the row around it."""
    if refusal.code is not Code.COLUMN_NOT_USABLE:
        return
    lexemes = sources.lexed.lexemes
    around = [t for at, t in sources.tables.items() if not select.keyword < at < select.end]
    for index in range(select.keyword, select.end):
        name = lexemes[index].name
        if lexemes[index].position == refusal.position and any(name in t.columns for t in around):
            raise Refusal(
                Code.UNSUPPORTED,
                f'a list from a public table cannot depend on the row around it, as by "{name}"',
                "Join the public table on its key, and compare in WHERE: SELECT count(*) FROM t"
                " JOIN public_table p ON p.id = t.public_id WHERE p.column = t.column.",
                refusal.position,
            )


def _inside_call(lexed: Lexed, span: Span, index: int) -> bool:
    """Whether a bracket stands inside the brackets of an aggregate, or of its FILTER."""
    return any(
        (lexed.lexemes[at].name in ANSWERED or lexed.lexemes[at].word == "filter")
        and is_call(lexed, at)
        and at < index < lexed.partner[at + 1]
        for at in range(span[0], index)
    )


# Subqueries that ask the same as an earlier one of the statement: one answer serves both.
#
# PostgreSQL gives both the same value, so two numbers with noise of their own would contradict each other,
# and would be paid twice.


_POSITION = re.compile(r"position=(?:\d+|None)")
_ALIAS = re.compile(r"'r\d+'")  # base.result_columns.relation_alias
_ANSWER = re.compile(r"ScalarAnswer\(index=(\d+)\)")


def numbered_as_before(
    lexed: Lexed, asked: Asked, scalars: Sequence[Scalar], found: AggregateSubquery
) -> AggregateSubquery:
    """The subquery with the number of an earlier one that asks the same, if there is one.

    Its words are the same, so its constants are, and it has the same block, so its names mean the same. Levels
    are named by their places: those of GROUPING SETS are left apart.

    Args:
        lexed: Of the statement.
        asked: What has been read, to which this one is added: a statement may have hundreds.
        scalars: The answers that stand in conditions.
        found: A further subquery.
    """
    if len(found.levels) > 1 or found.joined is not None:
        return found
    alike = asked.setdefault(_words(lexed, found.select), [])
    meaning = _meaning(found, scalars) if alike else ""
    for one in alike:
        if _meaning(one, scalars) == meaning:
            return replace(found, number=one.number)
    alike.append(found)
    return found


def _words(lexed: Lexed, select: Select) -> Words:
    lexemes = lexed.lexemes[select.keyword : select.end]
    return tuple((one.kind, one.token.text) for one in lexemes)


def _meaning(subquery: AggregateSubquery, scalars: Sequence[Scalar]) -> str:
    """The block, its relations and the answers in it called by their places. A constant that looks like such a
    name is in both texts, and makes two blocks of different names differ."""
    text = repr(replace(subquery.block, inner_outputs=(), outer_outputs=()))
    text = _POSITION.sub("", text)
    text = _ANSWER.sub(lambda answer: f"answer of {scalars[int(answer[1])].block}", text)
    places: dict[str, int] = {}
    return _ALIAS.sub(lambda name: f"#{places.setdefault(name[0], len(places))}", text)
