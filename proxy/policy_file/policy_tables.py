"""The `tables` of a policy file: units, contribution bounds, columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proxy.catalog.catalog_model import TableName
from proxy.policy.policy_model import (
    JOIN_ROWS_AT_MOST,
    ROWS_AT_MOST,
    BlockLength,
    ColumnPolicy,
    IdentifierUnit,
    JoinKey,
    Mechanism,
    ProtectedTable,
    PublicTable,
    RowUnit,
    TimeBlocks,
    Unit,
    UnitPath,
)
from proxy.policy_file.policy_accept import SAID_KEYS, read_said
from proxy.policy_file.policy_columns import (
    CHOSEN_PRIVATELY,
    COLUMN,
    PUBLIC_COLUMNS,
    UNBOUNDED,
    column_of_table,
    read_column,
    read_public_columns,
)
from proxy.policy_file.policy_errors import ProblemList, quoted_text
from proxy.policy_file.policy_nodes import (
    EXAMPLES,
    fields,
    identifier,
    is_identifier,
    member,
    named_entries,
    switch,
    text,
    whole,
)
from proxy.policy_file.policy_prepared import PREPARED, check_copies, read_prepared
from proxy.policy_file.policy_shapes import (
    SWITCH,
    TEXT,
    Either,
    Keyed,
    NamedBy,
    OneOf,
    one_of,
    whole_number,
)
from proxy.policy_file.yaml_positions import (
    Entry,
    MappingNode,
    Node,
    Position,
    RefusedNode,
    ScalarNode,
    SequenceNode,
)

_UNIQUE = "unique"
_KEPT_ROWS = whole_number(1, 10_000)
_JOIN_KEY = Keyed({"keep": Either((OneOf((_UNIQUE,)), _KEPT_ROWS))}, required=("keep",))
JOIN_KEYS = NamedBy(_JOIN_KEY)


def read_join_keys(entry: Entry | None, problems: ProblemList) -> Mapping[str, JoinKey]:
    """By column: `{keep: 3}`, at most three rows of one value, or `{keep: unique}`, rows alone with theirs."""
    keys: dict[str, JoinKey] = {}
    if entry is None:
        return keys
    for key in (named_entries(entry.value, "join_keys", problems) or {}).values():
        where = f"join key {quoted_text(key.key)}"
        found = fields(key.value, where, key.key_at, _JOIN_KEY, problems) or {}
        if not is_identifier(key.key, "a column", key.key_at, problems) or "keep" not in found:
            continue
        bound = found["keep"].value
        if isinstance(bound, ScalarNode) and bound.text == _UNIQUE:
            keys[key.key] = JoinKey(None)
            continue
        if isinstance(bound, ScalarNode) and bound.text.isalpha():
            hint = "write a number of rows, or unique"
            problems.add(bound.at, f"keep cannot be {quoted_text(bound.text)}", hint)
            continue
        most = whole(found["keep"], _KEPT_ROWS, problems)
        if most is not None:
            keys[key.key] = JoinKey(most)
    return keys


_RESERVED_SCHEMAS = ("dp", "information_schema")
_ROW, _PUBLIC = OneOf(("row",)), OneOf(("public",))
_COUNT = whole_number(1, 1_000_000_000)
_UNIT_ROWS = whole_number(1, 1_000_000)
_IDENTIFIER_UNIT = NamedBy(TEXT, least=1, most=1)
_PER, _TIME, _APPEND_ONLY = "per", "of", "append_only"
# And the identifier, whose name the owner chooses: {person: id, per: month, of: ordered_at}.
_UNIT_IN_TIME = NamedBy(TEXT, least=3, most=3)

_ROWS_KEY = "max_rows_per_unit"
_COUNT_KEYS = (_ROWS_KEY, "max_groups_per_unit", "max_rows_per_group_per_unit")
_CHOSEN_KEYS = ("rows_at_most", "join_rows_at_most")
FEWEST_UNITS = "min_units_per_group"
FEWEST = whole_number(1, 1_000_000)
_TABLE = Keyed(
    {
        "unit": Either(
            (_ROW, Keyed({"rows": _UNIT_ROWS}, ("rows",)), _IDENTIFIER_UNIT, _UNIT_IN_TIME)
        ),
        _APPEND_ONLY: SWITCH,
        **dict.fromkeys(_COUNT_KEYS, _COUNT),
        _ROWS_KEY: Either((OneOf((CHOSEN_PRIVATELY, UNBOUNDED)), _COUNT)),
        FEWEST_UNITS: FEWEST,
        "mechanism": one_of(Mechanism),
        "join_keys": JOIN_KEYS,
        "columns": NamedBy(COLUMN),
        **dict.fromkeys(_CHOSEN_KEYS, _COUNT),
        "prepared": PREPARED,
    },
    required=("unit",),
    about="tables.T",
)
_PUBLIC_TABLE = Keyed(
    {"unit": _PUBLIC, "join_keys": JOIN_KEYS, "columns": PUBLIC_COLUMNS, **SAID_KEYS},
    required=("unit",),
    about="tables.T",
)
TABLES = NamedBy(Either((_PUBLIC, _PUBLIC_TABLE, _TABLE)), least=1)


def read_tables(
    entry: Entry, problems: ProblemList
) -> Mapping[TableName, ProtectedTable | PublicTable]:
    """Every table that could be read; the problems say which could not."""
    tables: dict[TableName, ProtectedTable | PublicTable] = {}
    entries = named_entries(entry.value, "tables", problems) or {}
    if not entries and isinstance(entry.value, MappingNode):
        hint = f"such as {EXAMPLES['tables']}; dpproxy policy init writes a first policy"
        problems.add(entry.key_at, "tables names no table", hint)
    places: dict[TableName, Position] = {}
    for table_entry in entries.values():
        name = _table_name(table_entry.key, table_entry.key_at, problems)
        table = _table(table_entry, name or TableName("", table_entry.key), problems)
        if name is not None and table is not None:
            tables[name], places[name] = table, table_entry.key_at
    check_copies(tables, places, problems)
    return tables


def _table_name(key: str, at: Position, problems: ProblemList) -> TableName | None:
    schema, dot, name = key.partition(".")
    if not dot or "." in name or not schema or not name:
        hint = (
            f"write schema.table, such as public.{key}" if "." not in key else "write schema.table"
        )
        problems.add(
            at,
            f"{quoted_text(key)} is not a table name",
            hint if key.isprintable() else "schema.table",
        )
        return None
    if not is_identifier(schema, "a schema", at, problems):
        return None
    if not is_identifier(name, "a table", at, problems):
        return None
    if schema in _RESERVED_SCHEMAS or schema.startswith("pg_"):
        hint = "no table of PostgreSQL's own, or of dpproxy's, can be in a policy: take it out"
        problems.add(at, f"the schema {quoted_text(schema)} is reserved", hint)
        return None
    return TableName(schema, name)


def _table(
    entry: Entry, name: TableName, problems: ProblemList
) -> ProtectedTable | PublicTable | None:
    if isinstance(entry.value, ScalarNode):
        if entry.value.text == "public":
            return PublicTable(name)
        problems.add(
            entry.value.at,
            f"a table is public or a mapping with its unit, not {quoted_text(entry.value.text)}",
            "write public only for a table that holds nothing about people",
        )
        return None
    where = f"table {quoted_text(str(name))}"
    if _is_public(entry.value):
        public = fields(entry.value, f"public {where}", entry.key_at, _PUBLIC_TABLE, problems) or {}
        join_keys = read_join_keys(public.get("join_keys"), problems)
        shown = read_public_columns(public.get("columns"), problems)
        return PublicTable(name, join_keys, shown, read_said(public, f"public {where}", problems))
    found = fields(entry.value, where, entry.key_at, _TABLE, problems)
    if found is None:
        return None
    mechanism = member(found.get("mechanism"), Mechanism, problems)
    unit = _unit(found["unit"], problems) if "unit" in found else None
    _check_append_only(found, unit, problems)
    of_people, bound_on_rows = isinstance(unit, IdentifierUnit), found.get(_ROWS_KEY)
    is_unbounded = of_people and _is_unbounded(bound_on_rows)
    chooses_rows = of_people and (is_unbounded or _is_chosen(bound_on_rows))
    stated = dict(found)
    if chooses_rows:
        stated.pop(_ROWS_KEY, None)
    rows, groups, rows_in_group = (whole(stated.get(key), _COUNT, problems) for key in _COUNT_KEYS)
    at_most, joined = (whole(found.get(key), _COUNT, problems) for key in _CHOSEN_KEYS)
    if chooses_rows:
        rows = at_most or ROWS_AT_MOST
    _check_contributions(found, unit, problems)
    for key, value in ((_COUNT_KEYS[1], groups), (_COUNT_KEYS[2], rows_in_group)):
        if value is not None and rows is not None and value > rows:
            bound = _CHOSEN_KEYS[0] if chooses_rows else _ROWS_KEY
            problems.add(
                found[key].value.at,
                f"{key} cannot be above {bound} ({rows})",
                f"write {rows} or less, or leave {key} out",
            )
    fewest = whole(found.get(FEWEST_UNITS), FEWEST, problems)
    columns: dict[str, ColumnPolicy] = {}
    if "columns" in found:
        for column in (named_entries(found["columns"].value, "columns", problems) or {}).values():
            of_unit = isinstance(unit, IdentifierUnit) and unit.path is None
            if isinstance(unit, IdentifierUnit) and of_unit and column.key == unit.column:
                problems.add(
                    column.key_at,
                    f"{quoted_text(column.key)} is the unit column",
                    "it is included by itself, and never in a result: remove it from the list",
                )
            read = read_column(column, problems)
            if read is not None and read.bounds is not None and read.mechanism is None:
                read = replace(read, mechanism=mechanism)
            if read is not None:
                columns[read.name] = read
            is_of_rows = isinstance(unit, RowUnit)
            if is_of_rows and read is not None and (read.per_unit or read.chooses_per_unit):
                problems.add(
                    column.key_at,
                    "per_unit is for a unit with an identifier, not for rows",
                    "bounds are what a row adds",
                )
    if unit is None:
        return None
    join_keys = read_join_keys(found.get("join_keys"), problems)
    return ProtectedTable(
        name,
        unit,
        columns,
        rows,
        groups,
        rows_in_group,
        join_keys,
        chooses_rows=chooses_rows,
        join_rows_at_most=joined or JOIN_ROWS_AT_MOST,
        is_unbounded=is_unbounded,
        min_units_per_group=fewest,
        prepared=read_prepared(found.get("prepared"), unit, problems),
    )


def _is_chosen(entry: Entry | None) -> bool:
    """Whether the bound on rows is chosen privately, as it is where nothing is said."""
    return entry is None or (
        isinstance(entry.value, ScalarNode) and entry.value.text == CHOSEN_PRIVATELY
    )


def _is_unbounded(entry: Entry | None) -> bool:
    """Whether the rows of a unit are declared unbounded."""
    return (
        entry is not None and isinstance(entry.value, ScalarNode) and entry.value.text == UNBOUNDED
    )


def _is_public(node: Node) -> bool:
    unit = node.entries.get("unit") if isinstance(node, MappingNode) else None
    return unit is not None and isinstance(unit.value, ScalarNode) and unit.value.text == "public"


def _unit(entry: Entry, problems: ProblemList) -> Unit | None:
    how = "write row, {rows: 3} or {person: column}"
    match entry.value:
        case ScalarNode(text="row"):
            return RowUnit()
        case ScalarNode(text=""):
            problems.add(entry.value.at, "unit has no value", how)
        case ScalarNode(text=value):
            problems.add(entry.value.at, f"unit cannot be {quoted_text(value)}", how)
        case MappingNode(entries=entries) if len(entries) == 1:
            (only_entry,) = entries.values()
            return _unit_of(only_entry, problems)
        case MappingNode(entries=entries) if len(entries) == 3 and {_PER, _TIME} <= entries.keys():
            (name,) = entries.keys() - {_PER, _TIME}
            return _unit_in_time(entries[name], entries[_PER], entries[_TIME], problems)
        case MappingNode(entries=entries) if _PER in entries:
            problems.add(
                entry.value.at,
                "a unit in blocks of time names a person, the length of a block and the column with the time",
                "such as {person: customer_id, per: month, of: ordered_at}",
            )
        case MappingNode() | SequenceNode():
            problems.add(entry.value.at, "unit names exactly one identifier", how)
        case RefusedNode():
            pass
    return None


def _unit_of(entry: Entry, problems: ProblemList) -> Unit | None:
    if entry.key == "rows":
        rows = whole(entry, _UNIT_ROWS, problems)
        return None if rows is None else RowUnit(rows)
    if not is_identifier(entry.key, "the name of the unit", entry.key_at, problems):
        return None
    column = text(entry.value, f"the column of unit {quoted_text(entry.key)}", problems)
    if column is None:
        return None
    if "->" in column:
        return _through(entry, column, problems)
    name = identifier(entry.value, f"the column of unit {quoted_text(entry.key)}", problems)
    return None if name is None else IdentifierUnit(entry.key, name)


def _unit_in_time(entry: Entry, per: Entry, of: Entry, problems: ProblemList) -> Unit | None:
    """`{person: id, per: month, of: ordered_at}`: the rows of one person in one month."""
    unit = _unit_of(entry, problems)
    length = member(per, BlockLength, problems)
    time = identifier(of.value, "the column of the time", problems)
    if unit is None or length is None or time is None:
        return None
    if not isinstance(unit, IdentifierUnit) or unit.path is not None or "." in unit.identifier:
        problems.add(
            entry.key_at,
            "a unit in blocks of time is a person who is in a column of the table itself",
            "such as {person: customer_id, per: month, of: ordered_at}; without per the reference is followed",
        )
        return None
    return replace(unit, blocks=TimeBlocks(per=length, time=time))


def _check_append_only(
    found: Mapping[str, Entry], unit: Unit | None, problems: ProblemList
) -> None:
    only = found.get(_APPEND_ONLY)
    is_promised = switch(only, problems, default=False)
    is_timed = isinstance(unit, IdentifierUnit) and unit.blocks is not None
    if is_timed and is_promised is False:
        at = found["unit"].key_at if only is None else only.key_at
        problems.add(
            at,
            "per needs the promise that rows are added, and never changed or deleted",
            "add append_only: on if that is so: a row that moves to another block is paid for twice; else leave"
            " per and of out",
        )
    if only is not None and unit is not None and not is_timed:
        problems.add(
            only.key_at,
            "append_only says something of a unit in blocks of time, and there is no per",
            "add per and of to the unit, or leave it out",
        )


def _through(entry: Entry, written: str, problems: ProblemList) -> IdentifierUnit | None:
    """`column -> schema.table.column`: the identifier is in the row that a reference leads to."""
    column, _, target = (part.strip() for part in written.partition("->"))
    if not column or "->" in target or target.count(".") != 2 or not all(target.split(".")):
        problems.add(
            entry.value.at,
            f"the column of unit {quoted_text(entry.key)} cannot be {quoted_text(written)}",
            "write column -> schema.table.column, such as order_id -> shop.orders.customer_id",
        )
        return None
    if not is_identifier(column, "a column", entry.value.at, problems):
        return None
    found = column_of_table(target, entry.value.at, problems)
    return None if found is None else IdentifierUnit(entry.key, column, UnitPath(*found))


def _check_contributions(
    found: Mapping[str, Entry], unit: Unit | None, problems: ProblemList
) -> None:
    match unit:
        case IdentifierUnit():
            bound = found.get(_ROWS_KEY)
            useless: tuple[str, ...] = () if _is_chosen(bound) else _CHOSEN_KEYS
            how = f"a fixed {_ROWS_KEY}"
            if _is_unbounded(
                bound
            ):  # a join that multiplies rows truncates them first all the same
                useless, how = _CHOSEN_KEYS[:1], f"{_ROWS_KEY}: {UNBOUNDED}"
            for key in useless:
                if key in found:
                    problems.add(
                        found[key].key_at,
                        f"{key} has no effect with {how}",
                        f"write {_ROWS_KEY}: {CHOSEN_PRIVATELY}, or leave it out",
                    )
        case RowUnit():
            for key in (*_COUNT_KEYS, *_CHOSEN_KEYS):
                if key in found:
                    problems.add(
                        found[key].key_at,
                        f"{key} is for a unit with an identifier, not for rows",
                        "write unit: {rows: k} to protect k rows",
                    )
        case None:
            pass
