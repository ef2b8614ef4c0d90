"""Corrected statements for those that are refused: candidates, made of the statement's own words.

A candidate is a proposal. Whoever offers it plans it first, as it may be refused, too. The candidates depend on
the text, on the refusal and on the columns that the analyst can use, never on a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice

from sqlglot import TokenType

from proxy.base.errors import Code, Refusal
from proxy.base.written_names import written_name
from proxy.query.bind.function_forms import forms_instead, functions_alike
from proxy.query.refused_parts import (
    ReadRefusal,
    RefusedStatement,
    UsableTables,
    aggregate_around,
    aggregates,
    asking,
    before,
    call_named,
    column_of,
    has_all_columns,
    is_column,
    items_of,
    operand_end,
    operand_of,
    query_start,
    read_refusal,
    replaced,
    text_of,
    unnamed,
    with_keys,
)
from proxy.query.syntax.divisor_spans import divisors
from proxy.query.syntax.from_clause import Item, JoinItem, TableItem, leaves, read_from
from proxy.query.syntax.selects import Span, aggregates_rows, is_call, own_lexemes, select_at
from proxy.query.syntax.tokens import Lexed

CANDIDATES = 8  # that are made of one statement
_KEYS = 3  # of a statement that asked for rows
_ALIKE = 0.6  # of a name that is not there, by difflib


_Correction = Callable[[ReadRefusal], Iterator[str]]


def corrections(refused: RefusedStatement) -> Iterator[str]:
    """Statements to ask instead, the closest first.

    >>> from proxy.query.refused_parts import UsableColumn
    >>> columns = (UsableColumn(name="status", is_listed=True), UsableColumn(name="total", is_number=True))
    >>> refused = RefusedStatement(
    ...     text="SELECT status, total FROM orders WHERE total > 5 LIMIT 9", reason="RAW_ROWS", hint="",
    ...     position=1, tables={"shop.orders": columns})
    >>> for one in corrections(refused):
    ...     print(one)
    SELECT status, count(*), avg(total) FROM orders WHERE total > 5 GROUP BY status
    SELECT status, count(*) FROM orders WHERE total > 5 GROUP BY status
    SELECT count(*) FROM orders WHERE total > 5
    """
    read = read_refusal(refused)
    if read is None:
        return
    found = (
        _without_unit_filters(one, refused.tables)
        for correct in CORRECTIONS.get(refused.reason, ())
        for one in correct(read)
    )
    written = " ".join(refused.text.split()).rstrip("; ")
    begin = text_of(read.lexed, (0, query_start(read.lexed)))
    asked = (one if not one or one.startswith(begin) else f"{begin} {one}" for one in found)
    yield from islice((one for one in dict.fromkeys(asked) if one not in ("", written)), CANDIDATES)


def _without_unit_filters(text: str, tables: UsableTables) -> str:
    """Without conditions that leave the rows of one unit: noise hides those, so the answer says nothing.

    Empty if there are too many of them.
    """
    units = {one.name for columns in tables.values() for one in columns if one.is_unit}
    if not any(unit in text for unit in units):
        return text
    for _ in range(_UNIT_FILTERS):
        read = read_refusal(
            RefusedStatement(text=text, reason="", hint="", position=None, tables=tables)
        )
        span = None if read is None else next(_unit_filters(read.lexed, units), None)
        if read is None or span is None:
            return text
        text = replaced(read, span, "").rstrip()
    return ""


def _unit_filters(lexed: Lexed, units: Collection[str]) -> Iterator[Span]:
    """Parts of a WHERE, joined by AND, that compare a unit with constants, with the AND or WHERE before or
    behind."""
    for n, one in enumerate(lexed.lexemes):
        if one.word != "select":
            continue
        span = select_at(lexed, n, len(lexed.lexemes)).clauses.get("where")
        parts = [] if span is None else list(_conjuncts(lexed, span))
        for place, (first, last) in enumerate(parts):
            words = [lexed.lexemes[i] for i in range(first, last)]
            names = [word.name for word in words if word.name not in ("", "in")]
            has_constant = any(
                word.kind in _CONSTANTS or word.token.text.startswith("$") for word in words
            )
            if not names or names[-1] not in units or not has_constant:
                continue
            if not {word.token.text.lower() for word in words} & {"=", "in"}:
                continue
            behind = place + 1 < len(parts)
            yield (first, parts[place + 1][0]) if behind else (first - 1, last)


_UNIT_FILTERS = 4  # each is looked for in the whole text
_CONSTANTS = frozenset({TokenType.NUMBER, TokenType.STRING, TokenType.PARAMETER})


def _conjuncts(lexed: Lexed, span: Span) -> Iterator[Span]:
    """What AND connects; nothing, if OR does: a part of that says less than the whole."""
    depth = min(one.depth for one in lexed.lexemes[slice(*span)])
    own = [n for n in range(*span) if lexed.lexemes[n].depth == depth]
    if any(lexed.lexemes[n].word == "or" for n in own):
        return
    first, is_between = span[0], False
    for n in own:
        word = lexed.lexemes[n].word
        if word == "and" and not is_between:
            yield first, n
            first = n + 1
        is_between = word == "between" or (is_between and word != "and")
    yield first, span[1]


def _as_extreme(refused: ReadRefusal) -> Iterator[str]:
    """The first row in the order of a number: the largest or the smallest one."""
    select, lexed = refused.outer, refused.lexed
    if select is None or not {"from", "order", "limit"} <= select.clauses.keys():
        return
    first, last = select.clauses["order"]
    if text_of(lexed, select.clauses["limit"]) != "1" or len(items_of(lexed, (first, last))) != 1:
        return
    is_descending = lexed.lexemes[last - 1].word == "desc"
    if lexed.lexemes[last - 1].word in ("desc", "asc"):
        last -= 1
    column = column_of(refused, (first, last))
    if column is not None and column.is_number:
        end = "max" if is_descending else "min"
        yield asking(refused, select, [f"{end}({text_of(lexed, (first, last))})"], [])


def _as_groups(refused: ReadRefusal) -> Iterator[str]:
    """Rows with some listed columns: one row for each of their values."""
    select = refused.outer
    if select is None or "from" not in select.clauses:
        return
    lexed = refused.lexed
    if aggregates_rows(lexed, select) and not (select.distinct or select.is_distinct_on):
        return
    spans = items_of(lexed, select.items) + items_of(lexed, select.clauses.get("on", (0, 0)))
    keys: list[str] = []
    means: list[str] = []
    for span in spans:
        column, written = column_of(refused, span), text_of(lexed, unnamed(lexed, span))
        if column is None:
            continue
        if column.is_listed:
            keys.append(written)
        elif column.is_number:
            means.append(f"avg({written})")
    keys = list(dict.fromkeys(keys))[:_KEYS]
    if means:
        yield asking(refused, select, [*keys, "count(*)", *means[:_KEYS]], keys)
    if keys:
        yield asking(refused, select, [*keys, "count(*)"], keys)


def _as_count(refused: ReadRefusal) -> Iterator[str]:
    """How many rows it would have been."""
    for select in (refused.outer, refused.own):
        if select is not None and "from" in select.clauses:
            yield asking(refused, select, ["count(*)"], [])


def _without_unit_key(refused: ReadRefusal) -> Iterator[str]:
    """Groups by people: the average of what they have, or how many there are."""
    select = refused.own
    if select is None or "group" not in select.clauses or "from" not in select.clauses:
        return
    lexed = refused.lexed
    items = items_of(lexed, select.items)
    plain = [one for one in items if not aggregates(lexed, one)]
    if len(plain) == 1 and column_of(refused, plain[0]) is not None:
        unit = text_of(lexed, unnamed(lexed, plain[0]))
        first = next((text_of(lexed, unnamed(lexed, one)) for one in items if one not in plain), "")
        if first and select is refused.outer and not before(lexed, select):
            inner = asking(refused, select, [unit, f"{first} AS n"], [unit])
            yield f"SELECT avg(n) FROM ({inner}) q"  # noqa: S608
        yield asking(refused, select, [f"count(DISTINCT {unit})"], [])


def _with_group_by(refused: ReadRefusal) -> Iterator[str]:
    """Columns beside aggregates: as keys, or as aggregates themselves, or not at all."""
    select, lexed = refused.own, refused.lexed
    if select is None or "from" not in select.clauses:
        return
    items = items_of(lexed, select.items)
    plain = [one for one in items if not aggregates(lexed, one)]
    if not plain or len(plain) == len(items) or has_all_columns(lexed, select):
        return
    written = [text_of(lexed, unnamed(lexed, one)) for one in plain]
    columns = [column_of(refused, one) for one in plain]
    is_outside = select is refused.outer or select.depth == lexed.lexemes[0].depth
    if all(column is None or column.is_listed for column in columns) and is_outside:
        yield with_keys(refused, select, written)
    given = select.clauses.get("group")
    keys = [] if given is None else [text_of(lexed, one) for one in items_of(lexed, given)]
    kept: list[str] = []
    for one in items:
        text = text_of(lexed, one)
        if one not in plain or text_of(lexed, unnamed(lexed, one)) in keys:
            kept.append(text)
            continue
        column = columns[plain.index(one)]
        if column is None or column.is_listed:
            keys.append(written[plain.index(one)])
            kept.append(text)
        elif column.is_number:
            kept.append(f"avg({written[plain.index(one)]})")
    if is_outside:
        yield asking(refused, select, kept, keys)
        only = [text_of(lexed, one) for one in items if one not in plain]
        yield asking(refused, select, only, [])


def _counted(refused: ReadRefusal) -> Iterator[str]:
    """What cannot be added up can be counted."""
    lexed, call = refused.lexed, aggregate_around(refused.lexed, refused.at)
    if call is None:
        return
    span, operand = (call, operand_end(lexed, call)), operand_of(lexed, call)
    if operand != "*":
        yield replaced(refused, span, f"count({operand})")
    yield replaced(refused, span, "count(*)")


def _key_in_steps(refused: ReadRefusal) -> Iterator[str]:
    """A key with too many values: by month, by hour, in round numbers. Aggregates stay as they are."""
    lexed, at, select = refused.lexed, refused.at, refused.own
    if select is None or aggregate_around(refused.lexed, refused.at) is not None:
        return
    length = operand_end(lexed, at) - at
    written = column = text_of(lexed, (at, at + length))
    forms: tuple[str, ...] = _STEPS
    if lexed.lexemes[at].name == "date_trunc" and is_call(lexed, at):
        column = text_of(lexed, items_of(lexed, (at + 2, lexed.partner[at + 1]))[-1])
        forms = ("date_trunc('day', {})", *_STEPS)
    starts = [
        n
        for name in ("items", "group", "order")
        if name in select.clauses
        for n in own_lexemes(lexed, select.clauses[name])
        if text_of(lexed, (n, n + length)) == written and aggregate_around(lexed, n) is None
    ]
    for form in forms:
        yield _in_each_place(refused, starts, length, form.format(column))


_STEPS = ("date_trunc('month', {})", "extract(hour FROM {})", "floor({})")


def _in_each_place(refused: ReadRefusal, starts: Sequence[int], length: int, text: str) -> str:
    lexed = refused.lexed
    parts, done = [], 0
    for start in starts:
        parts += [lexed.text[done : lexed.lexemes[start].start], text]
        done = lexed.lexemes[start + length - 1].end
    return "".join((*parts, lexed.text[done:])).rstrip("; \n")


def _without_keys(refused: ReadRefusal) -> Iterator[str]:
    """The aggregates of all groups together."""
    select = refused.outer
    if select is None or "group" not in select.clauses:
        return
    lexed = refused.lexed
    kept = [text_of(lexed, one) for one in items_of(lexed, select.items) if aggregates(lexed, one)]
    if kept:
        yield asking(refused, select, kept, [])


def _of_fewer_aggregates(refused: ReadRefusal) -> Iterator[str]:
    """The keys with all aggregates but one, with half of them, with one, which has all of the epsilon."""
    select = refused.outer
    if select is None or "from" not in select.clauses:
        return
    lexed = refused.lexed
    items = items_of(lexed, select.items)
    keys = [text_of(lexed, one) for one in items if not aggregates(lexed, one)]
    several = [text_of(lexed, one) for one in items if aggregates(lexed, one)]
    grouped = [text_of(lexed, one) for one in items_of(lexed, select.clauses.get("group", (0, 0)))]
    for number in (len(several) - 1, len(several) // 2, 1):
        if 0 < number < len(several):
            yield asking(refused, select, [*keys, *several[:number]], grouped)


_WRITTEN = re.compile(r"(?<!\w)(?:column|other|later|earlier)(?!\w)")


def _substituted(refused: ReadRefusal) -> Iterator[str]:
    """A function that is not available in the form that is."""
    lexed = refused.lexed
    at = lexed.name_end(refused.at)
    name = lexed.lexemes[at].name
    if not name or not is_call(lexed, at):
        return
    given = [text_of(lexed, one) for one in items_of(lexed, (at + 2, lexed.partner[at + 1]))]
    span = refused.at, operand_end(lexed, at)
    for form in forms_instead(name):
        first, second = (*given, "", "")[:2]
        values = {"column": first, "other": second, "later": first, "earlier": second}
        if name == "age" and not second:  # of today (PostgreSQL 17 documentation, section 9.9)
            values |= {"later": "current_date", "earlier": first}
        if any(not values[one] for one in _WRITTEN.findall(form)):
            continue
        yield replaced(refused, span, _filled(form, values))


def _filled(form: str, values: Mapping[str, str]) -> str:
    """
    >>> _filled("coalesce(column, other)", {"column": "total", "other": "0"})
    'coalesce(total, 0)'
    """
    return _WRITTEN.sub(lambda one: values[one[0]], form)


def _function_alike(refused: ReadRefusal) -> Iterator[str]:
    """A function that is spelled otherwise."""
    lexed, at = refused.lexed, refused.at
    for found in functions_alike(lexed.lexemes[at].name) if is_call(lexed, at) else ():
        yield replaced(refused, (at, at + 1), found)


def _text_in_quotes(refused: ReadRefusal) -> Iterator[str]:
    """A text in the quotes of a name, beside a comparison."""
    lexed, at = refused.lexed, refused.at
    word = lexed.lexemes[at]
    if at and lexed.text[word.start] == '"' and lexed.lexemes[at - 1].token.text in ("=", "<>"):
        yield replaced(refused, (at, at + 1), f"'{word.name}'")


def _listed_apart(refused: ReadRefusal) -> Iterator[str]:
    """Values in a list, or one of them: a row for each."""
    lexed, select = refused.lexed, refused.own
    if select is None or "group" in select.clauses or "from" not in select.clauses:
        return
    at = refused.at
    if lexed.lexemes[at].name in _OF_VALUES and is_call(lexed, at):
        key = operand_of(lexed, at)
        column = refused.columns.get(key.rpartition(".")[2])
        if column is not None and column.is_listed:
            yield asking(refused, select, [key, "count(*)"], [key])


_OF_VALUES = frozenset({"array_agg", "string_agg", "json_agg", "jsonb_agg", "mode", "min", "max"})


def _without_distinct(refused: ReadRefusal) -> Iterator[str]:
    """SUM and AVG of different values: of all, or their number."""
    lexed, call = refused.lexed, aggregate_around(refused.lexed, refused.at)
    if call is None or lexed.lexemes[call + 2].word != "distinct":
        return
    yield replaced(refused, (call + 2, call + 3), "")


def _without_window(refused: ReadRefusal) -> Iterator[str]:
    """An aggregate OVER rows of people: of all rows, once."""
    lexed, call = refused.lexed, aggregate_around(refused.lexed, refused.at)
    end = None if call is None else lexed.partner[call + 1] + 1
    if (
        call is None
        or end is None
        or end >= len(lexed.lexemes)
        or lexed.lexemes[end].word != "over"
    ):
        return
    select, written = refused.own, text_of(lexed, (call, end))
    if select is not None and select == refused.outer:
        yield asking(refused, select, [written], [])


def _joined_otherwise(refused: ReadRefusal) -> Iterator[str]:
    """FULL and RIGHT joins as LEFT joins, those as joins, and what is not looked up left out."""
    lexed = refused.lexed
    for n, one in enumerate(lexed.lexemes[:-1]):
        if one.word in ("full", "right", "left") and lexed.lexemes[n + 1].word in ("join", "outer"):
            end = n + 1 + (lexed.lexemes[n + 1].word == "outer")
            if one.word != "left" and "LEFT JOIN" in refused.hint:
                yield replaced(refused, (n, end), "LEFT")
            if "write JOIN" in refused.hint:
                yield replaced(refused, (n, end + 1), "JOIN")
        if one.word == "tablesample" and lexed.partner[min(n + 2, len(lexed.lexemes) - 1)] > 0:
            yield replaced(refused, (n, lexed.partner[n + 2] + 1), "").rstrip()


def _joined_on_unit(refused: ReadRefusal) -> Iterator[str]:
    """Two tables ON the unit that the hint names; a table with itself was meant to be joined otherwise."""
    lexed, select, units = refused.lexed, refused.own, _UNITS.search(refused.hint)
    if units is None or select is None or units[2] == units[4] or "from" not in select.clauses:
        return
    try:
        item = read_from(lexed, select.clauses["from"])
    except Refusal:
        return
    while isinstance(item, JoinItem):
        left, right = _called(item.left, units[2]), _called(item.right, units[4])
        if left and right and item.on is not None:
            yield replaced(refused, item.on, f"{left}.{units[1]} = {right}.{units[3]}")
        item = item.left


_UNITS = re.compile(r"privacy unit [(](\w+) of ([\w.]+) = (\w+) of ([\w.]+)[)]")


def _called(item: Item, table: str) -> str | None:
    """By which name the first of the tables has one that is joined."""
    found = (one for one in leaves(item) if isinstance(one, TableItem))
    names = [one.alias or one.chain[-1] for one in found if table.endswith(one.chain[-1])]
    return written_name(names[0]) if names else None


def _inner_query(refused: ReadRefusal) -> Iterator[str]:
    """The SELECT of a statement that keeps, copies or declares what it finds."""
    select = refused.outer
    if select is not None and select.keyword and refused.lexed.lexemes[0].word in _KEEPING:
        yield text_of(refused.lexed, (select.keyword, select.end))


_KEEPING = frozenset({"create", "insert", "copy", "declare", "prepare", "select"})


def _column_joined(refused: ReadRefusal) -> Iterator[str]:
    """A column of another table that the statement's one can be joined with."""
    lexed, select = refused.lexed, refused.own
    if select is None or "from" not in select.clauses:
        return
    first, last = select.clauses["from"]
    wanted = lexed.lexemes[operand_end(lexed, refused.at) - 1].name
    if any(lexed.lexemes[n].depth > select.depth for n in range(first, last)):
        return
    words = text_of(lexed, (first, last)).split()
    own = next((one for one in refused.tables if words and one.endswith(words[0])), None)
    if own is None or len(words) > 3 or "," in words[0]:
        return
    name = words[-1] if len(words) > 1 else own.rpartition(".")[2]
    for column in refused.tables[own]:
        for table, key in column.joins:
            if any(one.name == wanted for one in refused.tables.get(table, ())):
                other = table.rpartition(".")[2]
                join = f"JOIN {table} ON {other}.{key} = {name}.{column.name}"
                yield replaced(refused, (first, last), f"{' '.join(words)} {join}")


def _column_alike(refused: ReadRefusal) -> Iterator[str]:
    """A column that is spelled otherwise."""
    lexed, at = refused.lexed, refused.at
    end = operand_end(lexed, at)
    last = end - 1
    name = lexed.lexemes[last].name
    for found in get_close_matches(name.lower(), list(refused.columns), n=3, cutoff=_ALIKE):
        yield replaced(refused, (last, end), written_name(found))


def _table_alike(refused: ReadRefusal) -> Iterator[str]:
    """A table that is in another schema, or spelled otherwise."""
    lexed, at = refused.lexed, refused.at
    end = lexed.name_end(at) + 1
    name = lexed.lexemes[end - 1].name
    by_name = {one.rpartition(".")[2]: one for one in refused.tables}
    for found in get_close_matches(name.lower(), list(by_name), n=2, cutoff=_ALIKE):
        yield replaced(refused, (at, end), by_name[found])


def _not_divided_by_zero(refused: ReadRefusal) -> Iterator[str]:
    """Divisors that may be 0 as NULL there."""
    lexed = refused.lexed
    select = refused.own
    if select is None:
        return
    for span in divisors(lexed, select.keyword, select.end):
        divisor = text_of(lexed, span)
        is_of_rows = any(is_column(refused, n) for n in range(*span))
        if is_of_rows and span[1] > refused.at and not divisor.startswith("nullif"):
            inner = divisor[1:-1] if lexed.partner[span[0]] == span[1] - 1 else divisor
            yield replaced(refused, span, f"nullif({inner}, 0)")


def _bounded(refused: ReadRefusal) -> Iterator[str]:
    """Operands of functions that fail on some numbers, bounded to where they do not."""
    lexed = refused.lexed
    for name, form in _BOUNDED.items():
        call = call_named(refused, name)
        if call is not None:
            for item in items_of(lexed, (call + 2, lexed.partner[call + 1])):
                yield replaced(refused, item, form.format(text_of(lexed, item)))


_BOUNDED = {
    **dict.fromkeys(("ln", "log", "sqrt"), "greatest({}, 1)"),
    **dict.fromkeys(("exp", "power", "pow"), "least({}, 10)"),
}


def _with_further_key(refused: ReadRefusal) -> Iterator[str]:
    """The keys, and what the hint says to add to them."""
    found, select = _FURTHER_KEY.search(refused.hint), refused.outer
    if found is not None and select is not None and "group" in select.clauses:
        keys = [
            text_of(refused.lexed, one) for one in items_of(refused.lexed, select.clauses["group"])
        ]
        yield with_keys(refused, select, [*keys, found[1]])


# What hints show: a further key, a form of a function, a statement.
_FURTHER_KEY = re.compile(r'to the keys: GROUP BY [.]{3}, ([\w."]*[\w"])')
_FORM = re.compile(
    r"(?:Write|by|or|one by one:) ((\w+)\([^()]*(?:\([^()]*\)[^()]*)*\)(?: WITHIN GROUP \([^()]*\))?)"
)
_STATEMENT = re.compile(r"(?:WITH \w+ AS \(|SELECT )[^;]*")


def _hinted_form(refused: ReadRefusal) -> Iterator[str]:
    """The call as the hint writes it, with this one's column."""
    lexed = refused.lexed
    for form, name in _FORM.findall(refused.hint):
        call = call_named(refused, name)
        if call is None:
            continue
        span = call, operand_end(lexed, call)
        columns = (text_of(lexed, (n, n + 1)) for n in range(*span) if is_column(refused, n))
        column = next(columns, "")
        words = {*_WRITTEN.findall(form)}
        if not words or (column and len(words) == 1):
            yield replaced(refused, span, _filled(form, dict.fromkeys(words, column)))


def _hinted_statement(refused: ReadRefusal) -> Iterator[str]:
    """The statement that the hint shows with the names of this one."""
    for found in _STATEMENT.findall(refused.hint):
        text = found.split(". ")[0].rstrip(". ")
        if " dp.columns" not in text and "..." not in text:
            yield text


# By the name of an error's code, or by PostgreSQL's SQLSTATE.
CORRECTIONS: Mapping[str, tuple[_Correction, ...]] = {
    Code.RAW_ROWS.name: (
        *(_with_further_key, _without_unit_key, _with_group_by, _as_extreme, _as_groups, _as_count),
        _hinted_statement,
    ),
    Code.COLUMN_NOT_USABLE.name: (_hinted_form, _column_alike),
    Code.NO_BOUNDS.name: (_key_in_steps, _hinted_form, _counted, _without_keys),
    Code.NO_VALUES.name: (_key_in_steps, _without_keys),
    Code.INFEASIBLE.name: (_of_fewer_aggregates, _without_keys, _counted),
    Code.FUNCTION.name: (_listed_apart, _substituted, _hinted_form, _without_window),
    Code.UNSUPPORTED.name: (
        *(_inner_query, _without_window, _without_distinct, _listed_apart, _substituted),
        *(_hinted_form, _bounded, _not_divided_by_zero, _joined_otherwise, _hinted_statement),
        _joined_on_unit,
    ),
    # Of PostgreSQL: grouping_error, undefined_table, undefined_column, undefined_function (PostgreSQL 17
    # documentation, appendix A).
    "42803": (_with_group_by,),
    "42P01": (_table_alike,),
    "42703": (_column_joined, _column_alike, _text_in_quotes),
    "42883": (_substituted, _function_alike),
}
# After these a second reason may show itself: the statement was not understood before.
OF_NAMES = frozenset({"42703", "42P01", "42883", Code.COLUMN_NOT_USABLE.name})
