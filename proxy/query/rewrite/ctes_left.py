"""The CTEs of a rewritten statement that still name protected tables, since their text stays.

PostgreSQL plans a CTE that is named twice or MATERIALIZED, and what it names, even where only CTEs that it does
not run name it, and checks the rights on its tables. It gets tables without rows, and nobody reads it.
"""

from __future__ import annotations

from collections.abc import Mapping

from proxy.base.errors import Code, Refusal
from proxy.query.ir.exposed import Exposed
from proxy.query.rewrite.edits import Edit
from proxy.query.rewrite.empty_twins import on_twins
from proxy.query.syntax.probes import names_of, unused_ctes
from proxy.query.syntax.selects import Select
from proxy.query.syntax.statements import Statement
from proxy.query.syntax.tokens import Lexed
from proxy.query.syntax.with_clauses import Visible, visible_ctes

_READS = frozenset({"from", "join", "lateral", "using", "table", "only"})


def settle_ctes(
    statement: Statement,
    found: tuple[Select, ...],
    protected: Mapping[int, Exposed],
    edits: tuple[Edit, ...],
) -> tuple[Edit, ...]:
    """
    Given    protected: first lexeme of what names a protected table -> table; edits: those of its aggregates
    Gives    further edits: empty twins in CTEs that PostgreSQL would plan and not run
    Refuses  UNSUPPORTED: a CTE with rows of protected tables is read where no reader looks
    """
    lexed = statement.lexed
    ctes = visible_ctes(lexed)
    if not ctes:
        return ()
    gone = {
        index
        for index, lexeme in enumerate(lexed.lexemes)
        if any(edit.start <= lexeme.start < edit.end for edit in edits)
    }
    left = {
        index: table
        for index, table in protected.items()
        if index not in gone and not _is_column(lexed, found, index)
    }
    names = {
        cte: [index for index in named if index not in gone]
        for cte, named in names_of(lexed, ctes).items()
    }
    unused = unused_ctes(lexed, ctes, gone)
    not_run = [cte.body for cte in unused]  # of which some stand in a CTE that is run
    run = [i for i in left if not any(first <= i < last for first, last in not_run)]
    for cte in ctes:
        if cte not in unused and any(cte.body[0] <= index < cte.body[1] for index in run):
            _refuse_reader(statement, names[cte], left)
    spans = [
        (lexed.lexemes[cte.body[0]].start, lexed.lexemes[cte.body[1]].start)
        for cte in _planned(statement, {cte: names[cte] for cte in unused})
    ]
    return tuple(
        edit
        for edit in on_twins(lexed, found, left)
        if any(first <= edit.start < last for first, last in spans)
    )


def _planned(statement: Statement, names: Mapping[Visible, list[int]]) -> list[Visible]:
    """Those that PostgreSQL plans of the CTEs that it does not run. names: where each is named."""
    lexemes = statement.lexed.lexemes
    planned = [
        cte
        for cte, found in names.items()
        if len(found) > 1 or (found and lexemes[cte.body[0] - 2].word == "materialized")
    ]
    for cte in planned:  # which grows
        for named, found in names.items():
            if named not in planned and any(cte.body[0] <= at < cte.body[1] for at in found):
                planned.append(named)
    return planned


def _is_column(lexed: Lexed, found: tuple[Select, ...], index: int) -> bool:
    """Whether a name that could be a table's stands where none does: in the list or a condition of a SELECT, as
    in `sum(amount) AS sales` where a table has that name, too."""
    around = [select for select in found if select.keyword < index < select.end]
    if not around or lexed.lexemes[index - 1].word == "table":
        return False
    first, last = max(around, key=lambda one: one.keyword).clauses.get("from", (0, 0))
    return not first <= index < last


def _refuse_reader(
    statement: Statement, names: list[int], protected: Mapping[int, Exposed]
) -> None:
    lexemes = statement.lexed.lexemes
    for index in names:
        if index and lexemes[index - 1].word in _READS:
            tables = ", ".join(dict.fromkeys(str(table.name) for table in protected.values()))
            raise Refusal(
                Code.UNSUPPORTED,
                f'"{lexemes[index].name}" holds rows of {tables}, and cannot be read here',
                "Read it in the FROM of a SELECT with aggregates, without TABLE, LATERAL or a function.",
                lexemes[index].position,
            )
