"""Prepared copies of a policy: why one is not read, and which tables would gain by one."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

from proxy.catalog.catalog_model import Catalog
from proxy.compiler.copy_view import (
    FoundCopy,
    WantedCopy,
    copied_columns,
    copy_select,
    wanted_copies,
)
from proxy.doctor.diagnosis_session import Connection, table_text
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.policy_model import (
    UNIT_OF_COPY,
    IdentifierUnit,
    Policy,
    PreparedCopy,
    ProtectedTable,
)
from proxy.protected.found_copies import copy_statement, different_columns, found_copy
from proxy.protected.reading_settings import IS_DISTRIBUTED

_LARGE_BYTES = 100 * 2**20  # of a smaller table every answer is there within a second
_REMOVE = "remove `prepared` from the table in the policy"
_BYTES = "SELECT pg_catalog.pg_table_size(%s::pg_catalog.regclass)"


def copies_findings(connection: Connection, policy: Policy, catalog: Catalog) -> Iterator[Finding]:
    """Look at what the catalogue and the owner's times say. No row of a table or copy is read."""
    row = connection.execute(IS_DISTRIBUTED.encode()).fetchone()
    is_distributed = row is not None and bool(row[0])
    wanted = wanted_copies(policy, catalog)
    for table in policy.protected():
        stored = catalog.tables.get(table.name)
        if stored is None or not isinstance(table.unit, IdentifierUnit):
            continue
        if table.prepared is not None:
            yield from _never(connection, policy, table, is_distributed=is_distributed) or _why_not(
                connection, table, catalog, wanted[table.name]
            )
        elif not (is_distributed or _has_smallest_groups(policy, table)) and _would_pay(
            connection, table, catalog
        ):
            yield _found(
                FindingName.COPY_WOULD_PAY,
                table,
                f"{table_text(connection, table.name)} is large, and a unit has several rows in it: a prepared"
                " copy makes its answers several times faster",
                "add to the table in the policy: prepared: {table: dp."
                f"{table.name.name}, max_age: 24h}}; then {_print_and_run(table)}",
            )


def _print_and_run(table: ProtectedTable) -> str:
    """What to do where the script helps. Without a fixed bound it has to be told one."""
    rows = " --rows K" if table.chooses_rows else ""
    return (
        "run as the owner of the table what this prints:"
        f" dpproxy prepare --policy FILE --table {table.name}{rows}"
    )


def _has_smallest_groups(policy: Policy, table: ProtectedTable) -> bool:
    unit = table.unit
    path = unit.path if isinstance(unit, IdentifierUnit) else None
    read = {table.name} if path is None else {table.name, path.table}
    return policy.fewest_units(frozenset(read)) > 1


def _never(
    connection: Connection, policy: Policy, table: ProtectedTable, *, is_distributed: bool
) -> list[Finding]:
    """Why no copy of the table is read, whoever makes it."""
    assert table.prepared is not None
    if is_distributed:
        what, fix = "the nodes of its server share no snapshot", _REMOVE
    elif _has_smallest_groups(policy, table):
        what = "the policy asks for a smallest group (min_units_per_group), and a copy counts rows, not units"
        fix = f"{_REMOVE}, or min_units_per_group"
    else:
        return []
    said = f"the prepared copy {table_text(connection, table.prepared.table)} is not read: {what}"
    return [_found(FindingName.COPY_IS_NOT_USED, table, said, fix)]


def _why_not(
    connection: Connection, table: ProtectedTable, catalog: Catalog, wanted: WantedCopy
) -> Iterator[Finding]:
    text = table_text(connection, wanted.table)
    if not copied_columns(table, catalog):
        what = f"the table has no unit that a copy can hold, or a column called {UNIT_OF_COPY}"
        said = f"the prepared copy {text} is not read: {what}"
        yield _found(FindingName.COPY_IS_NOT_USED, table, said, f"{_REMOVE}, or rename the column")
        return
    found = _found_copy(connection, table, wanted)
    reason = _not_usable(connection, table, catalog, wanted, found)
    if reason is not None:
        said = f"the prepared copy {text} is not read: {reason}"
        yield _found(FindingName.COPY_IS_NOT_USED, table, said, _print_and_run(table))
    elif found is not None and not found.is_as_printed:
        yield _found(
            FindingName.COPY_IS_NOT_AS_PRINTED,
            table,
            f"the view of the prepared copy {text} is not what `dpproxy prepare` prints for this policy:"
            " people may not be kept apart, so the copy is not read",
            _print_and_run(table),
        )


def _not_usable(
    connection: Connection,
    table: ProtectedTable,
    catalog: Catalog,
    wanted: WantedCopy,
    found: FoundCopy | None,
) -> str | None:
    """Why the copy is not read, whatever its view says. None: it is."""
    copy, made, columns = (
        table.prepared,
        catalog.tables.get(wanted.table),
        copied_columns(table, catalog),
    )
    assert copy is not None
    if made is None:
        return "it is not there, or the role of source may not read it"
    there, *others = columns
    bound, person = made.row_bound, made.column(there.name)
    if bound is None or bound.column != there.name:
        return (
            "it has to be an ordinary table of another owner, which the role of source may not write, with"
            f" CHECK (slot >= 1 AND slot <= k) and PRIMARY KEY ({there.name}, slot)"
        )
    if person is None or person.type_name != there.type_name:
        return f"its column {there.name} has another type than {wanted.held} in {wanted.holder}"
    missing = [
        column.name
        for column in others
        if (known := made.column(column.name)) is None or known.type_name != column.type_name
    ]
    if missing:
        return f"it has no column {', '.join(missing)} of the same type, which statements may name"
    if found is None:
        rows = connection.execute(*different_columns(table.name, wanted)).fetchall()
        if rows:
            names = ", ".join(name for (name,) in rows)
            return f"its column {names} has another type or collation than in the table"
        return f"the table {copy.table.schema}.prepared does not say as of when it is"
    if not 0 <= found.age < copy.max_age:
        return "it is older than max_age: refresh it"
    return None


def _found_copy(
    connection: Connection, table: ProtectedTable, wanted: WantedCopy
) -> FoundCopy | None:
    try:
        row = connection.execute(*copy_statement(table.name, wanted)).fetchone()
    except psycopg.Error as error:
        if isinstance(error, psycopg.OperationalError):
            raise
        return None
    return None if row is None else found_copy(row)


def _would_pay(connection: Connection, table: ProtectedTable, catalog: Catalog) -> bool:
    unit = table.unit
    assert isinstance(unit, IdentifierUnit)
    is_alone = unit.is_in_column and catalog.tables[table.name].is_unique(unit.column)
    if is_alone or table.is_unbounded:
        return False
    named = PreparedCopy(table=table.name, max_age=1)
    if copy_select(_with_copy(table, named), catalog, 1) is None:
        return False
    row = connection.execute(_BYTES, (table_text(connection, table.name),)).fetchone()
    return row is not None and row[0] is not None and row[0] >= _LARGE_BYTES


def _with_copy(table: ProtectedTable, copy: PreparedCopy) -> ProtectedTable:
    return ProtectedTable(table.name, table.unit, table.columns, prepared=copy)


def _found(name: FindingName, table: ProtectedTable, what: str, fix: str) -> Finding:
    path = ("tables", str(table.name))
    return Finding(name=name, where=str(table.name), what=what, fix=fix, path=path)
