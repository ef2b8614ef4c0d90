"""What provably reads nothing: probes for names and types, and CTEs that nobody uses.

BI tools send probes before each question. They are answered on tables without rows (empty_twins), so
a wrong "reads nothing" would be a silent wrong answer: whatever is not certain is not a probe.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from sqlglot import TokenType

from proxy.query.syntax.selects import Select, Span, conjuncts, joins_selects, opens_query
from proxy.query.syntax.statements import Statement
from proxy.query.syntax.tokens import Lexed, Lexeme
from proxy.query.syntax.with_clauses import WRITES, Visible, visible_ctes, writes

_COMPARED: Mapping[TokenType, Callable[[int, int], bool]] = {
    TokenType.EQ: lambda a, b: a == b,
    TokenType.NEQ: lambda a, b: a != b,
    TokenType.GT: lambda a, b: a > b,
    TokenType.GTE: lambda a, b: a >= b,
    TokenType.LT: lambda a, b: a < b,
    TokenType.LTE: lambda a, b: a <= b,
}


def reads_nothing(
    statement: Statement, found: tuple[Select, ...], protected: Collection[int]
) -> bool:
    """Whether the result of a statement is the same whatever stands in the protected tables: its
    outermost query has LIMIT 0 or FETCH FIRST 0 ROWS, or each of its branches has a condition of
    constants that is never true, or reads a subquery of which that holds. A negative LIMIT is an
    error wherever it is run.
    """
    if writes(statement.lexed, statement.first, statement.last):
        return False
    lexed = statement.lexed
    names = {cte.name for cte in visible_ctes(lexed)}
    # What a CTE reads is read where its name stands.
    by_name = {index for index, lexeme in enumerate(lexed.lexemes) if lexeme.name in names}
    return _Probe(lexed, found, by_name.union(protected)).query((statement.first, statement.last))


class _Probe:
    def __init__(self, lexed: Lexed, found: tuple[Select, ...], protected: Collection[int]) -> None:
        self._lexed = lexed
        self._lexemes = lexed.lexemes
        self._selects = {select.keyword: select for select in found}
        self._protected = protected

    def query(self, span: Span) -> bool:
        """[WITH ...] branch [UNION branch ...] [LIMIT n], of lexemes first to last exclusive."""
        first, last = span
        if first >= last:
            return False
        depth = self._lexemes[first].depth
        own = [i for i in range(first, last) if self._lexemes[i].depth == depth]
        if any(self._limits_to_nothing(i, last) for i in own):
            return True
        starts = [self._after_with(first, last, depth)]
        for index in own:
            if joins_selects(self._lexed, index):
                start = index + 1
                while start < last and self._lexemes[start].word in ("all", "distinct"):
                    start += 1
                starts.append(start)
        return all(self._branch(start, last) for start in starts)

    def _after_with(self, first: int, last: int, depth: int) -> int:
        if self._lexemes[first].word != "with":
            return first
        for index in range(first, last):
            lexeme = self._lexemes[index]
            if lexeme.depth == depth and lexeme.word in ("select", "values"):
                return index
        return last

    def _branch(self, start: int, last: int) -> bool:
        if start >= last:
            return False
        if self._lexemes[start].kind is TokenType.L_PAREN:
            return self.query((start + 1, self._lexed.partner[start]))
        select = self._selects.get(start)
        return select is not None and self._select(select)

    def _select(self, select: Select) -> bool:
        clauses = select.clauses
        if "having" in clauses and self._never_true(clauses["having"]):
            return True
        if not self._has_no_source_rows(select):
            return False
        # Aggregates of no rows are a row: what else stands in it must not read either.
        return not any(
            self._reads_in_subquery(span) for name, span in clauses.items() if name != "from"
        )

    def _has_no_source_rows(self, select: Select) -> bool:
        where, source = select.clauses.get("where"), select.clauses.get("from")
        if where is not None and self._never_true(where):
            return True
        if source is None or source[0] >= source[1]:
            return False
        opening = source[0]
        if not opens_query(self._lexed, opening):
            return False
        close = self._lexed.partner[opening]
        rest = self._lexemes[close + 1 : source[1]]
        # One subquery and its alias, nothing joined to it.
        is_only = all(
            x.name
            or x.kind in (TokenType.L_PAREN, TokenType.R_PAREN)
            or (x.kind is TokenType.COMMA and x.depth > select.depth)
            for x in rest
        ) and not any(x.word == "join" for x in rest)
        return is_only and self.query((opening + 1, close))

    def _reads_in_subquery(self, span: Span) -> bool:
        return any(
            opens_query(self._lexed, index)
            and any(index < at < self._lexed.partner[index] for at in self._protected)
            for index in range(*span)
        )

    def _limits_to_nothing(self, index: int, last: int) -> bool:
        """LIMIT 0, OFFSET or LIMIT of a negative number, FETCH FIRST 0 ROWS."""
        kind = self._lexemes[index].kind
        if kind is TokenType.FETCH:
            index += 1  # FIRST or NEXT
        elif kind not in (TokenType.LIMIT, TokenType.OFFSET):
            return False
        at = index + 1
        opened = 0
        while at < last and self._lexemes[at].kind is TokenType.L_PAREN:
            at, opened = at + 1, opened + 1
        is_negative = at < last and self._lexemes[at].kind is TokenType.DASH
        at += is_negative
        number = _number(self._lexemes[at]) if at < last else None
        if number is None or not self._ends(at + 1, last, opened, kind):
            return False
        if is_negative:
            return number > 0
        return number == 0 and kind is not TokenType.OFFSET

    def _ends(self, at: int, last: int, opened: int, kind: TokenType) -> bool:
        """Whether nothing more belongs to the number of a LIMIT."""
        for _ in range(opened):
            if at >= last or self._lexemes[at].kind is not TokenType.R_PAREN:
                return False
            at += 1
        if at >= last:
            return True
        lexeme = self._lexemes[at]
        if kind is TokenType.FETCH:
            return lexeme.word in ("row", "rows")
        ends = (TokenType.LIMIT, TokenType.OFFSET, TokenType.FETCH, TokenType.FOR)
        return lexeme.kind in (*ends, TokenType.SEMICOLON) or (
            kind is TokenType.OFFSET and lexeme.word in ("row", "rows")
        )

    def _never_true(self, span: Span) -> bool:
        """Whether one of the conditions that AND joins is false or null by its constants."""
        return any(
            _is_never_true(self._lexemes[slice(*part)]) for part in conjuncts(self._lexed, span)
        )


def _is_never_true(lexemes: tuple[Lexeme, ...]) -> bool:
    """
    false, null, not true, 1 = 0, 1 = null, null::boolean
    """
    if len(lexemes) > 2 and lexemes[-2].kind is TokenType.DCOLON:
        return lexemes[-1].word in ("boolean", "bool") and _is_never_true(lexemes[:-2])
    words = [lexeme.word for lexeme in lexemes]
    if words in (["false"], ["null"], ["not", "true"], ["not", "null"]):
        return True
    if len(lexemes) != 3:
        return False
    rule = _COMPARED.get(lexemes[1].kind)
    if rule is None:
        return False
    left, right = _number(lexemes[0]), _number(lexemes[2])
    if left is not None and right is not None:
        return not rule(left, right)
    # transform_null_equals makes IS NULL of = NULL, which a number is not.
    return (words[0] == "null" and right is not None) or (words[2] == "null" and left is not None)


def _number(lexeme: Lexeme) -> int | None:
    text = lexeme.token.text
    if lexeme.kind is not TokenType.NUMBER or not (text.isascii() and text.isdigit()):
        return None
    return int(text)


def unused_ctes(
    lexed: Lexed, ctes: tuple[Visible, ...], gone: Collection[int] = ()
) -> tuple[Visible, ...]:
    """CTEs that PostgreSQL does not run: no name of theirs occurs where it means them, except inside CTEs
    that are not run either. A name that may mean something else counts as a use. gone: lexemes that a rewriting
    has replaced."""
    used: set[Visible] = {cte for cte in ctes if _may_write(lexed, cte)}
    # Of each use, the CTEs that it stands in.
    uses = {
        cte: [
            tuple(other for other in ctes if other.body[0] <= index < other.body[1])
            for index in found
            if index not in gone
        ]
        for cte, found in names_of(lexed, ctes).items()
    }
    while True:
        before = len(used)
        for cte in reversed(ctes):  # mostly a later one names an earlier one
            if cte not in used and any(used.issuperset(around) for around in uses[cte]):
                used.add(cte)
        if len(used) == before:
            return tuple(cte for cte in ctes if cte not in used)


def _may_write(lexed: Lexed, cte: Visible) -> bool:
    """Whether a CTE may be run though nobody names it: WITH may stand before an INSERT, too."""
    first = lexed.lexemes[cte.body[0]].word
    return first in WRITES or (
        first == "with" and any(lexed.lexemes[index].word in WRITES for index in range(*cte.body))
    )


def names_of(lexed: Lexed, ctes: tuple[Visible, ...]) -> Mapping[Visible, list[int]]:
    """Where the name of each CTE may mean it, outside of its own body."""
    names: dict[str, list[int]] = {cte.name: [] for cte in ctes}
    for index, lexeme in enumerate(lexed.lexemes):
        if lexeme.name in names and not _defines(lexed, index):
            names[lexeme.name].append(index)
    return {
        cte: [
            index
            for index in names[cte.name]
            if cte.span[0] <= index < cte.span[1] and not cte.body[0] <= index < cte.body[1]
        ]
        for cte in ctes
    }


def _defines(lexed: Lexed, index: int) -> bool:
    """`name [(columns)] AS (`, after WITH, RECURSIVE or a comma."""
    lexemes = lexed.lexemes
    before = lexemes[index - 1] if index else None
    if before is None or not (
        before.word in ("with", "recursive") or before.kind is TokenType.COMMA
    ):
        return False
    at = index + 1
    if at < len(lexemes) and lexemes[at].kind is TokenType.L_PAREN:
        at = lexed.partner[at] + 1
    if at >= len(lexemes) or lexemes[at].word != "as":
        return False
    at += 1
    while at < len(lexemes) and lexemes[at].word in ("not", "materialized"):
        at += 1
    return at < len(lexemes) and lexemes[at].kind is TokenType.L_PAREN
