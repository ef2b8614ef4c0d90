"""The hint for a name that the shadow does not have: columns that can be used, the nearest table or function.

PostgreSQL's own hint names a column that is spelled alike, of any table of the statement. What it says hangs on
the columns of the shadow alone, and so does this one: a column that the policy leaves out is as one that is
nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import islice

from proxy.base.errors import Refusal
from proxy.base.written_names import written_name
from proxy.catalog.catalog_model import TableName
from proxy.query.bind.function_forms import forms_instead, functions_alike
from proxy.query.ir.exposed import Exposed
from proxy.query.syntax.from_clause import Item, JoinItem, TableItem, leaves, read_from
from proxy.query.syntax.selects import selects
from proxy.query.syntax.statements import Statement
from proxy.query.syntax.tokens import Lexed

_LISTED = 30  # columns of a table in a hint
_TABLES = 10  # in a hint
_ALL = "SELECT * FROM dp.columns lists what each can be used for."


def unknown_name_hint(
    statement: Statement, exposed: Mapping[TableName, Exposed], message: str
) -> str | None:
    """Name what can be used in the place of a column or function that is not there.

    Args:
        message: PostgreSQL's own, of undefined_column or undefined_function.

    Returns:
        None: nothing is known of where it was looked for.
    """
    if message.startswith("function "):
        return _instead_of(message.removeprefix("function ").partition("(")[0])
    tables = dict(_named_tables(statement, exposed))
    for alias in sorted(tables, key=len, reverse=True):
        if message.startswith(f"column {alias}."):
            return " ".join((_columns(alias, tables[alias]), *_joined_by(statement, alias), _ALL))
    if message.startswith('column "') and tables:
        named = islice(tables.items(), _TABLES)
        written = message.removeprefix("column ").removesuffix(" does not exist")
        text = written[1:-1].replace("'", "''")
        meant = [f"Write a text in single quotes: '{text}'."] if written in statement.text else []
        return " ".join((*meant, *(_columns(*one) for one in named), _ALL))
    return None


def _instead_of(function: str) -> str | None:
    if written := forms_instead(function):
        return f"Write {' or '.join(written)}."
    return next((f"The nearest is {name}()." for name in functions_alike(function)), None)


def unknown_table_hint(exposed: Iterable[TableName], message: str) -> str | None:
    """Name the nearest table, in the place of one that is not there.

    Args:
        message: PostgreSQL's own, of undefined_table.
    """
    if not message.startswith('relation "'):
        return None
    schema, _, word = message[len('relation "') : -len('" does not exist')].rpartition(".")
    # Of tables with one name that of the schema stands last.
    names = {name.name: name for name in sorted(exposed, key=lambda one: one.schema == schema)}
    close = get_close_matches(word.lower(), names, n=1)
    return f"The nearest is {written_name(*names[close[0]])}. {_ALL}" if close else None


def _columns(alias: str, table: Exposed) -> str:
    names = [written_name(name) for name in table.columns]
    more = ", ..." if len(names) > _LISTED else ""
    written = written_name(*table.name)
    named = written if alias == table.name.name else f"{written} ({alias})"
    return f"Columns of {named} that can be used: {', '.join(names[:_LISTED])}{more}."


def _named_tables(
    statement: Statement, exposed: Mapping[TableName, Exposed]
) -> Iterator[tuple[str, Exposed]]:
    """The tables in FROM by the names that they have there, if a name means one of them."""
    for item in _items(statement):
        for leaf in leaves(item):
            if not isinstance(leaf, TableItem):
                continue
            found = [one for name, one in exposed.items() if _is_named(name, leaf.chain)]
            if len(found) == 1:
                yield leaf.alias or leaf.chain[-1], found[0]


def _is_named(name: TableName, chain: tuple[str, ...]) -> bool:
    """Whether a name as it is written can be that of a table."""
    return (name.schema, name.name)[-len(chain) :] == chain[-2:]


def _items(statement: Statement) -> Iterator[Item]:
    for select in selects(statement):
        span = select.clauses.get("from")
        if span is None:
            continue
        try:
            yield read_from(statement.lexed, span)
        except Refusal:
            continue


def _joined_by(statement: Statement, alias: str) -> Iterator[str]:
    """Say by which column rows without a partner are found, and others counted."""
    for item in _items(statement):
        for join in _joins(item):
            side = join.right if join.left_outer or join.full else None
            if side is None or alias not in _names(leaves(side)):
                continue
            column = next(iter((*_equal(statement.lexed, join, alias), *join.using)), None)
            if column is not None:
                name = f"{written_name(alias)}.{written_name(column)}"
                yield f"Rows without a partner are those WHERE {name} IS NULL; count({name}) counts the others."
                return


def _joins(item: Item) -> Iterator[JoinItem]:
    """Outer ones first, the left side before the right one."""
    waiting = [item]
    while waiting:
        one = waiting.pop()
        if isinstance(one, JoinItem):
            yield one
            waiting += (one.right, one.left)


def _names(items: Iterable[Item]) -> frozenset[str]:
    return frozenset(one.alias or one.chain[-1] for one in items if isinstance(one, TableItem))


def _equal(lexed: Lexed, join: JoinItem, alias: str) -> Iterator[str]:
    """Columns of a relation that ON names."""
    first, last = join.on or (0, 0)
    for index in range(first, last - 2):
        here, dot, column = lexed.lexemes[index : index + 3]
        if here.name == alias and dot.token.text == "." and column.name:
            yield column.name
