"""By which of its columns the rows of a subquery differ, told from its text: then one at most joins a group.

By allow-list: where a select list calls a function that is not listed, it may give several rows for one.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import TokenType

from proxy.base.errors import Refusal
from proxy.query.bind.sources import Sources
from proxy.query.syntax.from_clause import JoinItem, QueryItem, TableItem
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import (
    ANSWERED,
    Select,
    Span,
    is_call,
    is_window_call,
    opens_query,
    own_lexemes,
    query_parts,
)
from proxy.query.syntax.statements import split_commas

# Of one row they give one value.
_ONE_VALUE = ANSWERED | {
    *("abs", "cast", "ceil", "ceiling", "coalesce", "concat", "date", "date_part", "date_trunc"),
    *("extract", "filter", "floor", "greatest", "least", "lower", "make_date", "make_interval"),
    *("mod", "nullif", "numeric", "decimal", "round", "sign", "to_char", "trunc", "upper", "over"),
    *("rank", "dense_rank", "row_number", "varchar", "in", "and", "or", "not", "when", "then"),
    *("else", "case", "between", "is", "like", "by"),
}


def unique_by(sources: Sources, item: TableItem | QueryItem | JoinItem) -> frozenset[str] | None:
    """
    Given    a side of a join that gives answers
    Gives    names of its columns; no two of its rows are equal in all of them: of none, it has one row at most;
             None where that is not known
    """
    if isinstance(item, JoinItem) or item.columns:
        return None
    span = item.query if isinstance(item, QueryItem) else None
    if isinstance(item, TableItem):
        cte = sources.cte(item)
        if cte is None or cte.columns or cte.span[0] <= cte.body[0]:  # RECURSIVE may name itself
            return None
        span = cte.body
    return None if span is None else _of_query(sources, span)


def _of_query(sources: Sources, span: Span) -> frozenset[str] | None:
    parts, _ = query_parts(sources.lexed, span, sources.selects)
    if len(parts) != 1 or not _is_whole_query(sources, span, parts[0]):
        return None
    select = parts[0]
    if _has_one_row(sources, select):
        return frozenset()
    items = dict(_items(sources, select))
    if select.distinct:
        return (
            None
            if select.is_distinct_on or None in items.values()
            else frozenset(filter(None, items.values()))
        )
    if not all(_gives_one_value(sources, inner) for inner in items):
        return None
    if "group" in select.clauses:
        return _of_groups(sources, select, items)
    if _is_one_group(sources, select):
        return frozenset()
    return _passed_on(sources, select, items)


def _is_one_group(sources: Sources, select: Select) -> bool:
    """Whether it aggregates, without GROUP BY: window functions do not."""
    lexed = sources.lexed
    spans = [select.clauses[name] for name in ("items", "having") if name in select.clauses]
    for index in (i for span in spans for i in own_lexemes(lexed, span)):
        if lexed.lexemes[index].name not in ANSWERED or not is_call(lexed, index):
            continue
        if not is_window_call(lexed, index):
            return True
    return False


def _is_whole_query(sources: Sources, span: Span, select: Select) -> bool:
    """Whether the query is this SELECT, behind a WITH or in brackets perhaps: no set operation, no VALUES."""
    lexed = sources.lexed
    first = lexed.lexemes[span[0]]
    if first.word == "select":
        return (select.keyword, select.end) == span
    if first.token.token_type is TokenType.L_PAREN:
        close = lexed.partner[span[0]]
        return close + 1 == span[1] and _is_whole_query(sources, (span[0] + 1, close), select)
    return first.word == "with" and select.end == span[1]


def _has_one_row(sources: Sources, select: Select) -> bool:
    """LIMIT 1, FETCH FIRST ROW ONLY."""
    lexed = sources.lexed
    if "limit" in select.clauses:
        first, last = select.clauses["limit"]
        return last - first == 1 and lexed.lexemes[first].token.text == "1"
    if "fetch" in select.clauses:
        words = [lexed.lexemes[i].token.text.lower() for i in range(*select.clauses["fetch"])]
        left = [word for word in words if word not in ("first", "next", "1", "row", "rows")]
        return left == ["only"]
    return False


def _items(sources: Sources, select: Select) -> Iterator[tuple[Span, str | None]]:
    """The expression of each item of the list, and its name; None where that is not known."""
    lexemes = sources.lexed.lexemes
    for first, last in split_commas(sources.lexed, *select.items):
        if last - first > 2 and lexemes[last - 2].word == "as":
            yield (first, last - 2), lexemes[last - 1].name or None
            continue
        implied = output_name(sources.lexed, (first, last))
        if implied is None and last - first > 1 and lexemes[last - 1].name:
            yield (first, last - 1), lexemes[last - 1].name  # an alias without AS
        else:
            yield (first, last), None if implied is None else implied.name


def _gives_one_value(sources: Sources, span: Span) -> bool:
    lexed = sources.lexed
    index = span[0]
    while index < span[1]:
        if opens_query(lexed, index):
            index = lexed.partner[index]
        lexeme = lexed.lexemes[index]
        if lexeme.name and is_call(lexed, index) and lexeme.name not in _ONE_VALUE:
            return False
        index += 1
    return True


def _of_groups(
    sources: Sources, select: Select, items: dict[Span, str | None]
) -> frozenset[str] | None:
    """Every key has to be among the columns."""
    lexemes = sources.lexed.lexemes
    spans = list(items)
    found = set()
    for key in split_commas(sources.lexed, *select.clauses["group"]):
        text = lexemes[key[0]].token.text
        if key[1] - key[0] == 1 and text.isascii() and text.isdigit():
            place = int(text) - 1
            name = items[spans[place]] if 0 <= place < len(spans) else None
        else:
            words = _words(sources, key)
            named = [items[span] for span in spans if _words(sources, span) == words]
            name = named[0] if named else None
        if name is None:
            return None
        found.add(name)
    return frozenset(found)


def _passed_on(
    sources: Sources, select: Select, items: dict[Span, str | None]
) -> frozenset[str] | None:
    """SELECT a, b AS c FROM (...) q: as the rows below, under the names of this list."""
    if "from" not in select.clauses:
        return frozenset()
    try:
        below = unique_by(sources, sources.from_item(select))
    except Refusal:
        return None
    words = {_words(sources, span): name for span, name in items.items()}
    if below is None or words.keys() == {("*",)}:
        return below
    names = {
        chain[-1]: name
        for chain, name in words.items()
        if len(chain) == 1 or (len(chain) == 3 and chain[1] == ".")
    }
    displayed = [names.get(name) for name in below]
    return None if None in displayed else frozenset(filter(None, displayed))


def _words(sources: Sources, span: Span) -> tuple[str, ...]:
    lexemes = sources.lexed.lexemes[span[0] : span[1]]
    return tuple(x.name or sources.lexed.text[x.start : x.end] for x in lexemes)
