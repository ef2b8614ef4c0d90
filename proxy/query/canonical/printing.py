"""Trees as SQL: in the form of canonical text, in which every operator stands in brackets."""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import assert_never

from proxy.query.canonical import trees
from proxy.query.canonical.trees import FromItem, GroupItem, QueryTree, Tree

_SIDES = {"btrim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}


def quoted(name: str) -> str:
    """
    >>> quoted('a "b"')
    '"a ""b\"""'
    """
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """
    >>> text_literal("it's"), text_literal("a\\\\b")
    ("'it''s'", " E'a\\\\\\\\b'")
    """
    doubled = text.replace("'", "''")
    if "\\" not in text:
        return f"'{doubled}'"
    return (
        " E'" + doubled.replace("\\", "\\\\") + "'"
    )  # the same whatever standard_conforming_strings is


def type_sql(name: trees.TypeTree) -> str:
    modifier = f"({', '.join(name.modifier)})" if name.modifier else ""
    for zone in (" with time zone", " without time zone"):
        if modifier and zone in name.name:
            return name.name.replace(zone, f"{modifier}{zone}")
    if name.name.endswith("[]"):
        return f"{name.name.removesuffix('[]')}{modifier}[]"
    return f"{name.name} {name.fields}".rstrip() + modifier


def _list(parts: Iterable[Tree]) -> str:
    return ", ".join(map(expression_sql, parts))


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))


def expression_sql(tree: Tree) -> str:
    """SQL of an expression."""
    match tree:
        case trees.ColumnName(relation=relation, column=column):
            return f"{quoted(relation)}.{quoted(column)}" if relation else quoted(column)
        case trees.Literal(value=None):
            return "NULL"
        case trees.Literal(value=bool() as truth):
            return "true" if truth else "false"
        case trees.Literal(value=text, is_text=is_text):
            return text_literal(str(text)) if is_text else str(text)
        case trees.ParameterName(number=number):
            return f"${number}"
        case trees.OperatorTree(operator=operator, operands=(operand,)):
            return f"({operator} {expression_sql(operand)})"
        case trees.OperatorTree(operator=operator, operands=operands):
            return f"({f' {operator} '.join(map(expression_sql, operands))})"
        case trees.Call():
            return _call(tree)
        case trees.CastTo(operand=operand, type=kind):
            written = expression_sql(operand)
            is_plain = isinstance(operand, trees.Literal) and operand.is_text
            return f"{written if is_plain else f'({written})'}::{type_sql(kind)}"
        case trees.CaseOf(subject=subject, whens=whens, otherwise=otherwise):
            head = "" if subject is None else f" {expression_sql(subject)}"
            branches = "".join(
                f" WHEN {expression_sql(when)} THEN {expression_sql(then)}" for when, then in whens
            )
            last = "" if otherwise is None else f" ELSE {expression_sql(otherwise)}"
            return f"CASE{head}{branches}{last} END"
        case trees.Junction(word=word, operands=operands):
            return f"({f' {word} '.join(map(expression_sql, operands))})"
        case trees.Negation(operand=operand):
            return f"(NOT {expression_sql(operand)})"
        case trees.TruthTest(operand=operand, truth=truth):
            word = "NULL" if truth is None else str(truth).upper()
            return f"({expression_sql(operand)} IS {word})"
        case trees.Quantified(operator=operator, operand=operand, array=array, is_all=is_all):
            word = "ALL" if is_all else "ANY"
            is_query = isinstance(array, trees.ScalarQuery)
            inner = query_sql(array.query) if is_query else expression_sql(array)  # type: ignore[union-attr]
            return f"({expression_sql(operand)} {operator} {word} ({inner}))"
        case trees.InQuery(operand=operand, query=query):
            return f"({expression_sql(operand)} IN ({query_sql(query)}))"
        case trees.ExistsQuery(query=query):
            return f"EXISTS ({query_sql(query)})"
        case trees.ScalarQuery(query=query):
            return f"({query_sql(query)})"
        case trees.ArrayQuery(query=query):
            return f"ARRAY({query_sql(query)})"
        case trees.ArrayOf(elements=elements):
            return f"ARRAY[{_list(elements)}]"
        case trees.RowOf(elements=elements, is_explicit=is_explicit):
            is_list = len(elements) > 1 and not is_explicit
            return f"{'' if is_list else 'ROW'}({_list(elements)})"
        case trees.Subscript(operand=operand, place=place):
            return f"({expression_sql(operand)})[{expression_sql(place)}]"
        case trees.FieldOf(operand=operand, name=name):
            return f"({expression_sql(operand)}).{quoted(name)}"
        case trees.WholeRow(relation=relation):
            return f"{quoted(relation)}.*"
        case trees.GroupingOf(keys=keys):
            return f"GROUPING({_list(keys)})"
        case trees.SpecialWord(word=word):
            return word
        case trees.RawSql(text=text):
            return text
        case trees.NamedArgument(name=name, value=value):
            word = name if name == "VARIADIC" else f"{quoted(name)} =>"
            return f"{word} {expression_sql(value)}"
        case trees.Collated(operand=operand, collation=collation):
            return f"({expression_sql(operand)} COLLATE {quoted(collation)})"
        case _:
            assert_never(tree)


def _call(tree: trees.Call) -> str:
    match tree.name:
        case "extract":
            field, operand = tree.arguments
            return f"EXTRACT({expression_sql(field)} FROM {expression_sql(operand)})"
        case "timezone" if len(tree.arguments) == 2:
            zone, operand = tree.arguments
            return f"({expression_sql(operand)} AT TIME ZONE {expression_sql(zone)})"
        case "substring":
            of, *ends = map(expression_sql, tree.arguments)
            words = zip(("FROM", "FOR"), ends, strict=False)
            return f"SUBSTRING({of}{''.join(f' {word} {end}' for word, end in words)})"
        case "strpos":
            text, part = map(expression_sql, tree.arguments)
            return f"POSITION({part} IN {text})"
        case "btrim" | "ltrim" | "rtrim":
            of, *characters = map(expression_sql, tree.arguments)
            return f"TRIM({_SIDES[tree.name]} {''.join(characters)} FROM {of})"
        case "COALESCE" | "NULLIF" | "GREATEST" | "LEAST":
            return f"{tree.name}({_list(tree.arguments)})"
    name = ".".join(map(quoted, tree.name.split(".")))
    inner = "*" if tree.is_star else _list(tree.arguments)
    inner = f"DISTINCT {inner}" if tree.is_distinct else inner
    found = f"{name}({inner}{_order(tree.order)})"
    if tree.within:
        found += f" WITHIN GROUP ({_order(tree.within).strip()})"
    if tree.filter is not None:
        found += f" FILTER (WHERE {expression_sql(tree.filter)})"
    if tree.over is not None:
        is_name = isinstance(tree.over, str)
        found += f" OVER {quoted(tree.over) if is_name else _window(tree.over)}"  # type: ignore[arg-type]
    return found


def _order(order: Iterable[trees.OrderBy]) -> str:
    written = []
    for one in order:
        nulls = {None: "", True: " NULLS FIRST", False: " NULLS LAST"}[one.nulls_first]
        descending = " DESC" if one.is_descending else ""
        written.append(f"{expression_sql(one.operand)}{descending}{nulls}")
    return f" ORDER BY {', '.join(written)}" if written else ""


def _window(window: trees.WindowOf) -> str:
    parts = [quoted(window.name)] if window.name else []
    if window.partition:
        parts.append(f"PARTITION BY {_list(window.partition)}")
    parts += [part for part in (_order(window.order).strip(), window.frame) if part]
    return f"({' '.join(parts)})"


def query_sql(query: QueryTree) -> str:
    """SQL of a query, without brackets."""
    found = f"{_ctes(query.ctes)}{_body(query)}{_order(query.ending.order)}"
    ending = query.ending
    if ending.offset is not None:
        found += f" OFFSET {expression_sql(ending.offset)}"
    if ending.limit is not None and ending.has_ties:
        found += f" FETCH FIRST {expression_sql(ending.limit)} ROWS WITH TIES"
    elif ending.limit is not None:
        found += f" LIMIT {expression_sql(ending.limit)}"
    return found


def _ctes(ctes: Iterable[trees.CteTree]) -> str:
    written, is_recursive = [], False
    for cte in ctes:
        columns = f"({_names(cte.columns)})" if cte.columns else ""
        written.append(f"{quoted(cte.name)}{columns} AS ({query_sql(cte.query)})")
        is_recursive |= cte.is_recursive
    word = "RECURSIVE " if is_recursive else ""
    return f"WITH {word}{', '.join(written)} " if written else ""


def _body(query: QueryTree) -> str:
    match query:
        case trees.SetTree(operator=operator, parts=parts):
            return f" {operator} ".join(f"({query_sql(part)})" for part in parts)
        case trees.ValuesTree(rows=rows):
            return f"VALUES {', '.join(f'({_list(row)})' for row in rows)}"
        case trees.SelectTree():
            return _select(query)
        case _:
            assert_never(query)


def _select(select: trees.SelectTree) -> str:
    found = "SELECT"
    if select.is_distinct:
        on = f" ON ({_list(select.distinct_on)})" if select.distinct_on else ""
        found += f" DISTINCT{on}"
    found = f"{found} {', '.join(_selected(tree, name) for tree, name in select.items)}"
    if select.source:
        found += f" FROM {', '.join(map(_item, select.source))}"
    if select.where is not None:
        found += f" WHERE {expression_sql(select.where)}"
    if select.group:
        word = "DISTINCT " if select.is_group_distinct else ""
        found += f" GROUP BY {word}{', '.join(map(_group, select.group))}"
    if select.having is not None:
        found += f" HAVING {expression_sql(select.having)}"
    if select.windows:
        named = (f"{quoted(name)} AS {_window(one)}" for name, one in select.windows)
        found += f" WINDOW {', '.join(named)}"
    return found


def _selected(tree: Tree, name: str) -> str:
    """PostgreSQL leaves a name out that a column has anyway, and that of a column without a name."""
    is_column = isinstance(tree, trees.ColumnName)
    shown = name or ("" if is_column else "?column?")
    return f"{expression_sql(tree)} AS {quoted(shown)}" if shown else expression_sql(tree)


def _group(item: GroupItem) -> str:
    if isinstance(item, trees.GroupingSets):
        return f"{item.word} ({', '.join(map(_group, item.parts))})"
    if isinstance(item, trees.RowOf) and not item.elements:
        return "()"
    return expression_sql(item)


def _item(item: FromItem) -> str:
    match item:
        case trees.TableInFrom(schema=schema, name=name):
            chain = f"{quoted(schema)}.{quoted(name)}" if schema else quoted(name)
            return f"{chain}{_alias(item.alias, item.columns)}"
        case trees.QueryInFrom(query=query):
            word = "LATERAL " if item.is_lateral else ""
            return f"{word}({query_sql(query)}){_alias(item.alias, item.columns)}"
        case trees.RawSql(text=text):
            return text
        case trees.FunctionInFrom(call=call):
            return f"{expression_sql(call)}{_alias(item.alias, item.columns)}"
        case trees.JoinInFrom():
            kind = "" if item.kind == "INNER" else f"{item.kind} "
            found = f"{_item(item.left)} {kind}JOIN {_item(item.right)}"
            if item.on is not None:
                found += f" ON {expression_sql(item.on)}"
            elif item.using:
                found += f" USING ({_names(item.using)})"
                found += f" AS {quoted(item.alias)}" if item.alias else ""
            return f"({found})"
        case _:
            assert_never(item)


def _alias(alias: str, columns: Iterable[str]) -> str:
    names = _names(columns)
    written = f" {quoted(alias)}" if alias else ""
    return f"{written}({names})" if names else written
