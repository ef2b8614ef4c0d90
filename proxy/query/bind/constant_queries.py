"""Queries that read no table of the policy: VALUES, unnest(), CTEs of constants, tables of one's own.

The shadow evaluates them in the analyst's session, who can run them there by themselves: after IN, ANY and ALL
they are lists of constants, beside a comparison one constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import TokenType

from proxy.base.written_names import quoted
from proxy.query.ir.exposed import Exposed
from proxy.query.syntax.constant_spans import FUNCTIONS, Replaced
from proxy.query.syntax.from_clause import is_closed
from proxy.query.syntax.rounded_now import words_of
from proxy.query.syntax.selects import AGGREGATES, is_call, is_relation, opens_query
from proxy.query.syntax.statements import Statement, split_commas
from proxy.query.syntax.tokens import Lexed
from proxy.query.syntax.with_clauses import WRITES, Visible, visible_ctes

_AFTER_LIST = frozenset({"in", "any", "some", "all", "array"})
_COMPARED = (TokenType.EQ, TokenType.NEQ)


def constant_queries(statement: Statement, tables: Iterable[int]) -> Mapping[int, Replaced]:
    """
    Args:
        tables: First lexemes of what names tables of the policy.

    Returns:
        By the opening bracket of each such query, its text in brackets, the CTEs that it names before it.
    """
    lexed, named = statement.lexed, frozenset(tables)
    ctes = visible_ctes(lexed)
    constant = _constant_ctes(lexed, ctes, named)
    found: dict[int, Replaced] = {}
    for index in range(statement.first, statement.last):
        if not opens_query(lexed, index):
            continue
        span = (index + 1, lexed.partner[index])
        used = _used(lexed, span, ctes)
        if not _is_constant(lexed, span, named) or not all(cte in constant for cte in used):
            continue
        is_list = lexed.lexemes[index - 1].word in _AFTER_LIST
        if is_list and _is_row(lexed, index - 2):
            continue
        word = lexed.lexemes[index + 1].word
        is_read = bool(used) or word == "values" or _reads_from(lexed, span)
        if not is_list and not (is_read and is_one_value(lexed, index)):
            continue
        if is_list or word in ("select", "values", "table"):
            found[index] = Replaced(_text(lexed, span, _needed(lexed, used, ctes)), is_list)
    return found


def _is_row(lexed: Lexed, index: int) -> bool:
    """Whether what is compared with a list, before IN or = ANY, is a row of several columns."""
    lexemes = lexed.lexemes
    while lexemes[index].word == "not" or lexemes[index].kind in _COMPARED:
        index -= 1
    opening = lexed.partner[index]
    if lexemes[index].kind is not TokenType.R_PAREN:
        return False
    before = lexemes[opening - 1]
    is_call = bool(before.name) and before.word not in ("where", "and", "or", "not", "when", "row")
    return not is_call and len(split_commas(lexed, opening + 1, index)) > 1


def _constant_ctes(
    lexed: Lexed, ctes: Iterable[Visible], tables: frozenset[int]
) -> tuple[Visible, ...]:
    """Those of constants, and of others before them that are."""
    found: list[Visible] = []
    for cte in ctes:
        is_recursive = cte.span[0] <= cte.body[0]
        used = _used(lexed, cte.body, ctes)
        if (
            not is_recursive
            and all(one in found for one in used)
            and _is_constant(lexed, cte.body, tables)
        ):
            found.append(cte)
    return tuple(found)


def _used(lexed: Lexed, span: tuple[int, int], ctes: Iterable[Visible]) -> list[Visible]:
    """CTEs of the query around that are named in a span."""
    names = {lexed.lexemes[index].name for index in range(*span)}
    return [
        cte
        for cte in ctes
        if cte.name in names
        and cte.span[0] <= span[0] < cte.span[1]
        and not span[0] <= cte.body[0] < span[1]
    ]


def _needed(lexed: Lexed, used: list[Visible], ctes: Iterable[Visible]) -> list[Visible]:
    """With those that they name, in order."""
    found = list(used)
    for cte in found:
        found += [one for one in _used(lexed, cte.body, ctes) if one not in found]
    return sorted(found, key=lambda cte: cte.body)


def _text(lexed: Lexed, span: tuple[int, int], ctes: list[Visible]) -> str:
    def text(of: tuple[int, int]) -> str:
        return "".join(words_of(lexed, *of, None)).rstrip(" ")

    heads = [f"{quoted(cte.name)}{_columns(cte)} AS ({text(cte.body)})" for cte in ctes]
    query = f"({text(span)})"
    return f"(WITH {', '.join(heads)} {query})" if heads else query


def _columns(cte: Visible) -> str:
    return f"({', '.join(map(quoted, cte.columns))})" if cte.columns else ""


def _is_constant(lexed: Lexed, span: tuple[int, int], tables: frozenset[int]) -> bool:
    if any(span[0] <= index < span[1] for index in tables):
        return False
    words = {lexed.lexemes[index].word for index in range(*span)}
    if words & WRITES or "into" in words:
        return False
    if _reads_from(lexed, span):
        return not (set(_qualifiers(lexed, span)) - set(_declared(lexed, span)))
    return is_closed(lexed, span)


def _reads_from(lexed: Lexed, span: tuple[int, int]) -> bool:
    """Whether there is a FROM clause, as against that of extract()."""
    lexemes = lexed.lexemes
    if lexemes[span[0]].word == "table":
        return True
    depths = {lexemes[at].depth for at in range(*span) if lexemes[at].word == "select"}
    return any(
        lexemes[index].word == "from" and lexemes[index].depth in depths for index in range(*span)
    )


def _qualifiers(lexed: Lexed, span: tuple[int, int]) -> Iterator[str]:
    """What stands before the name of a column, and in front of no relation."""
    for index in range(span[0], span[1] - 1):
        name = lexed.lexemes[index].name
        before = lexed.lexemes[index - 1]
        is_first = (
            name
            and lexed.lexemes[index + 1].kind is TokenType.DOT
            and lexed.lexemes[index - 1].kind is not TokenType.DOT
        )
        of_relation = before.word in ("from", "join") or before.kind is TokenType.DCOLON
        if is_first and not of_relation and lexed.lexemes[index].word != "pg_catalog":
            yield name


def _declared(lexed: Lexed, span: tuple[int, int]) -> Iterator[str]:
    """Names of relations and aliases: all that are before no dot."""
    for index in range(*span):
        is_last = index + 1 >= span[1] or lexed.lexemes[index + 1].kind is not TokenType.DOT
        if lexed.lexemes[index].name and is_last:
            yield lexed.lexemes[index].name


# --- Scalar subqueries of one public table: the shadow has its rows, so they are constants like others.
#
# By allow-list of words: each name is a column of that table or the table itself, so that nothing in them
# can mean a column of a query around.


_WORDS = frozenset(
    {
        *("select", "from", "where", "and", "or", "not", "is", "null", "true", "false", "as"),
        *("like", "ilike", "in", "between", "order by", "order", "by", "asc", "desc", "limit"),
        *("case", "when", "then", "else", "end", "distinct"),
    }
)
_CALLED = FUNCTIONS | (AGGREGATES & {"count", "sum", "avg", "min", "max"})
# In whose brackets a subquery is no single value, however many there are.
_OF_ROWS = frozenset({"in", "any", "some", "all", "exists", "array", "lateral"})


def public_scalars(statement: Statement, tables: Mapping[int, Exposed]) -> frozenset[int]:
    """
    Given    tables: first lexeme of what names a table of the policy -> table
    Gives    the opening brackets of those that are constant
    """
    return frozenset(_found(statement, tables))


def _found(statement: Statement, tables: Mapping[int, Exposed]) -> Iterator[int]:
    lexed = statement.lexed
    for index in range(statement.first, statement.last):
        lexeme = lexed.lexemes[index]
        opens = lexeme.kind is TokenType.L_PAREN and index > statement.first
        if not opens or lexed.lexemes[index + 1].word != "select":
            continue
        close = lexed.partner[index]
        inside = [at for at in tables if index < at < close]
        if len(inside) != 1 or tables[inside[0]].protected or not is_one_value(lexed, index):
            continue
        if _is_of(lexed, index, inside[0], tables[inside[0]]):
            yield index


def is_one_value(lexed: Lexed, index: int) -> bool:
    """Whether a subquery in this bracket stands where one value is meant."""
    if is_relation(lexed, index) and not _is_listed(lexed, index):
        return False
    while index > 0 and lexed.lexemes[index - 1].kind is TokenType.L_PAREN:
        index -= 1
    return index > 0 and lexed.lexemes[index - 1].word not in _OF_ROWS


def _is_listed(lexed: Lexed, index: int) -> bool:
    """Whether what stands behind a comma is in the brackets of IN or of a call, not in FROM."""
    around = [at for at in range(index) if lexed.partner[at] > index]
    return lexed.lexemes[index - 1].kind is TokenType.COMMA and (
        bool(around) and (lexed.lexemes[around[-1] - 1].word in (*_CALLED, "in"))
    )


def _is_of(lexed: Lexed, index: int, chain: int, table: Exposed) -> bool:
    """Whether a bracket holds SELECT ... FROM table [alias] ..., with no name of anything else."""
    lexemes, close = lexed.lexemes, lexed.partner[index]
    if lexemes[chain - 1].word != "from":
        return False
    end = chain + 1
    while lexemes[end].kind is TokenType.DOT:
        end += 2
    named = {lexemes[end - 1].name}
    alias = end + 1 if lexemes[end].word == "as" else end
    if lexemes[alias].name and lexemes[alias].word not in _WORDS:
        named, end = {lexemes[alias].name}, alias + 1
    own = {*table.columns, *named}
    for at in (*range(index + 1, chain), *range(end, close)):
        name, word = lexemes[at].name, lexemes[at].word
        if word == "select" and at > index + 1:
            return False
        if word in _WORDS:
            continue
        if is_call(lexed, at) and name:
            if word not in _CALLED or lexemes[at - 1].kind is TokenType.DOT:
                return False
        elif name and name not in own:
            return False
    return True
