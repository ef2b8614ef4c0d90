"""Rows of a prepared copy: by themselves, of which the server keeps to so many of each unit (PROOFS.md 35)."""

from __future__ import annotations

from collections.abc import Iterable

from proxy.catalog.catalog_model import RowBound, Table
from proxy.kernel.owners import holder_of_units
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.world import World
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from proxy.query.ir.relations import Relation, Scan, scans


def stored_table(scan: Scan, world: World) -> Table | None:
    """What the catalogue says of the rows that are read: those of the copy, where there is one."""
    return world.catalog.tables.get(scan.table if scan.copy is None else scan.copy.table)


def bound_of_copy(scan: Scan, world: World) -> RowBound:
    """How many rows of one unit a prepared copy has at most.

    Claim: Neighbours differ in the rows of one unit, so their copies differ in rows with one value of the
        bound's column, of which either has at most `rows`.
    Argument: The policy names the copy of this table, and its owner fills it unit by unit (35 P2). The server
        keeps to the bound, whoever fills it (35 P1). Units are told apart there as they are in the table: the
        column has the same type. Of a unit behind a reference the copy holds the unit itself, in a column that
        the table does not have, of the type that it has where the reference leads. The plan names that table,
        too, so that its rows are charged (35 P8).

    Raises:
        NotPrivate: The policy names no such copy, or the server does not keep to a bound on rows of a unit.

    >>> from tests.kernel.examples import PREPARED, scan_of_copy
    >>> bound_of_copy(scan_of_copy("visits", "visits_copy"), PREPARED)
    RowBound(column='uid', rows=3)
    >>> bound_of_copy(scan_of_copy("lines", "lines_copy", through="orders"), PREPARED)
    RowBound(column='dp_unit', rows=3)
    >>> bound_of_copy(scan_of_copy("visits", "visits"), PREPARED)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    policy, source = world.policy.tables.get(scan.table), world.catalog.tables.get(scan.table)
    if scan.copy is None or not isinstance(policy, ProtectedTable) or policy.prepared is None:
        raise NotPrivate(Rule.PREPARED_COPY, "a copy that the policy does not name")
    if scan.copy.table != policy.prepared.table:
        raise NotPrivate(Rule.PREPARED_COPY, "a copy that the policy does not name")
    unit, copy = policy.unit, stored_table(scan, world)
    if not isinstance(unit, IdentifierUnit) or unit.blocks is not None:
        raise NotPrivate(Rule.PREPARED_COPY, "a copy of rows whose unit is in no column")
    named = unit.column_in_copy
    bound = None if copy is None else copy.row_bound
    if copy is None or bound is None or bound.column != named or bound.rows < 1:
        raise NotPrivate(Rule.PREPARED_COPY, "a copy without a bound on rows of a unit")
    there = None if source is None else source.column(unit.column)
    column = copy.column(named)
    if source is None or there is None or column is None:
        raise NotPrivate(Rule.PREPARED_COPY, "a unit in a column that is not there")
    if scan.copy.through != (None if unit.path is None else unit.path.table):
        raise NotPrivate(Rule.PREPARED_COPY, "a copy of rows of other tables")
    if unit.path is not None:
        if source.column(named) is not None:
            raise NotPrivate(
                Rule.PREPARED_COPY, "a copy in which the unit has another column's name"
            )
        there = holder_of_units(unit, world).column(unit.path.column)
        if there is None:
            raise NotPrivate(Rule.PREPARED_COPY, "a reference that leads to no unit")
    if (column.type, column.type_name) != (there.type, there.type_name) or column.nullable:
        raise NotPrivate(Rule.PREPARED_COPY, "a unit of another type than in the table")
    return bound


def check_copies(relations: Iterable[Relation], world: World) -> None:
    """Let relations pass that read a prepared copy once, and no other protected rows with it.

    Claim: What changes between neighbours are the rows of one unit in one copy.
    Argument: A unit that is in two tables changes both at once, and rules of rows by themselves know of none
        that do (PROOFS.md 35 P4). So the kernel lets no such relation pass, whatever it is made of.

    Raises:
        NotPrivate: A copy is read twice, or beside another protected table.

    >>> from tests.kernel.examples import PREPARED, joined_copies, scan_of_copy
    >>> check_copies([scan_of_copy("visits", "visits_copy")], PREPARED)
    >>> check_copies([joined_copies()], PREPARED)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    tables = world.policy.tables
    for relation in relations:
        found = [s for s in scans(relation) if isinstance(tables.get(s.table), ProtectedTable)]
        if len(found) > 1 and any(scan.copy is not None for scan in found):
            raise NotPrivate(Rule.PREPARED_COPY, "a copy beside other protected rows")
