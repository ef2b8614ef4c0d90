"""What a tool asks for to show a few rows of a table: SELECT ... LIMIT n.

Where a policy says so it is answered, without rows, on tables that have none (empty_twins). Which statement
may be is decided on tokens: one whose result has no row if the protected tables have none. Anything else, an
aggregate or an outer join that would give a row, would look like an answer.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import TokenType
from typing_extensions import assert_never

from proxy.base.errors import Refusal
from proxy.query.syntax.from_clause import Item, JoinItem, QueryItem, TableItem, read_from
from proxy.query.syntax.selects import (
    ANSWERED,
    OTHER_AGGREGATES,
    Select,
    is_call,
    is_window_call,
    own_lexemes,
    query_parts,
)
from proxy.query.syntax.statements import Statement, StatementKind
from proxy.query.syntax.with_clauses import Visible, visible_ctes, writes

_RANKS = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})  # with WITHIN GROUP


def is_preview(
    statement: Statement,
    result: Select | None,
    found: tuple[Select, ...],
    protected: Collection[int],
) -> bool:
    """Whether a statement is a query with a LIMIT that has no row where its protected tables have none.

    Given    result: the SELECT whose rows are the statement's, if it is one; protected: first lexemes of what
             names a protected table
    """
    if result is None or "group" in result.clauses:
        return False  # whoever groups wants groups, not a look at the columns
    first = statement.lexed.lexemes[0].word
    is_cursor = first == "declare"  # FETCH takes a few rows
    is_shown = statement.kind in (StatementKind.QUERY, StatementKind.COPY) or is_cursor
    if not is_shown or writes(statement.lexed, statement.first, statement.last):
        return False
    emptiness = _Emptiness(statement, found, protected)
    return (is_cursor or emptiness.has_limit(result)) and emptiness.of(result)


def may_aggregate(name: str) -> bool:
    """Whether a call of this name may make one row of none. Those of windows only are among them."""
    return name in ANSWERED | OTHER_AGGREGATES | _RANKS or "agg" in name


class _Emptiness:
    def __init__(
        self, statement: Statement, found: tuple[Select, ...], protected: Collection[int]
    ) -> None:
        self._lexed = statement.lexed
        self._found = found
        self._protected = protected
        self._ctes = visible_ctes(statement.lexed)
        self._open: set[Visible] = set()

    def of(self, select: Select) -> bool:
        """A SELECT gives a row for each of its FROM, or for each group that has one."""
        clauses = select.clauses
        if "from" not in clauses:
            return False
        if "group" in clauses:
            if self._has_empty_groups(select):
                return False
        elif "having" in clauses or self._aggregates(select):
            return False
        try:
            item = read_from(self._lexed, clauses["from"])
        except Refusal:
            return False
        return self._item(item)

    def has_limit(self, select: Select) -> bool:
        """A SELECT, or the one subquery whose rows it shows one by one."""
        if select.clauses.keys() & {"limit", "fetch"}:
            return True
        try:
            item = read_from(self._lexed, select.clauses.get("from", (0, 0)))
        except Refusal:
            return False
        parts = (
            query_parts(self._lexed, item.query, self._found)[0]
            if isinstance(item, QueryItem)
            else ()
        )
        return len(parts) == 1 and self.has_limit(parts[0])

    def _aggregates(self, select: Select) -> bool:
        """Windows have no row where there are none."""
        spans = [select.clauses[n] for n in ("items", "order") if n in select.clauses]
        return any(
            may_aggregate(self._lexed.lexemes[index].name)
            and is_call(self._lexed, index)
            and not is_window_call(self._lexed, index)
            for span in spans
            for index in own_lexemes(self._lexed, span)
        )

    def _has_empty_groups(self, select: Select) -> bool:
        """GROUPING SETS, ROLLUP and CUBE, and (): with a row for the total."""
        first, last = select.clauses["group"]
        words = {lexeme.word for lexeme in self._lexed.lexemes[first:last]}
        is_total = any(
            self._lexed.lexemes[index].kind is TokenType.L_PAREN
            and self._lexed.partner[index] == index + 1
            for index in range(first, last)
        )
        return is_total or bool(words & {"grouping", "rollup", "cube"})

    def _item(self, item: Item) -> bool:
        match item:
            case TableItem():
                cte = self._cte(item)
                if item.first in self._protected or cte is None:
                    return item.first in self._protected
                if cte in self._open:
                    return False  # it is recursive
                self._open.add(cte)
                is_empty = self._query(cte.body)
                self._open.discard(cte)
                return is_empty
            case QueryItem():
                return self._query(item.query)
            case JoinItem():
                is_empty = self._item(item.left)
                if item.full:
                    return is_empty and self._item(item.right)
                return is_empty or (not item.left_outer and self._item(item.right))
            case _:
                assert_never(item)

    def _query(self, span: tuple[int, int]) -> bool:
        parts, only_all = query_parts(self._lexed, span, self._found)
        return only_all and bool(parts) and all(self.of(part) for part in parts)

    def _cte(self, item: TableItem) -> Visible | None:
        if len(item.chain) > 1:
            return None
        hits = [
            cte
            for cte in self._ctes
            if cte.name == item.chain[0] and cte.span[0] <= item.first < cte.span[1]
        ]
        return hits[-1] if hits else None
