"""Bounds proposed to an owner are chosen privately, at the price that is charged (PROOFS.md 23 B8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass

from typing_extensions import assert_never

from proxy.base.errors import Fault
from proxy.catalog.catalog_model import TableName
from proxy.kernel.attribution import relation_of
from proxy.kernel.boundary import judging
from proxy.kernel.column_types import check_column
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.measurements import price_of_choice
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.owners import Known, OfUnit, Public, Rows, name
from proxy.kernel.plan import BlockPlan
from proxy.kernel.plan_digest import canonical_text, named
from proxy.kernel.price import NOTHING_PAID, Price, laplace_price, pure_price
from proxy.kernel.proposal_plan import Proposed, ProposedBound, TableProposals
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.text_totality import check_printed
from proxy.kernel.totality import check_relation
from proxy.kernel.well_formed import check_well_formed
from proxy.kernel.work import check_work
from proxy.kernel.world import World
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from proxy.query.ir.relations import scans

_HERE = object()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CheckedProposals:
    """Proposals that may be read, charged and drawn. Only `check_proposals` makes it.

    Attributes:
        proposed: Of each table the bounds.
        price: Of all of them.
        tables: What of it is drawn of each table that is read.
        world: Policy and catalogue that they were checked against.
    """

    proposed: tuple[TableProposals, ...]
    price: Price
    tables: Mapping[str, Loss]
    world: World
    made: InitVar[object]

    def __post_init__(self, made: object) -> None:
        if made is not _HERE:
            raise Fault("proposals that were not checked")

    @property
    def loss(self) -> Loss:
        return self.price.loss


def check_proposals(tables: Sequence[TableProposals], world: World) -> CheckedProposals:
    """Let proposals pass that are private at their price.

    Privacy: walks and reports of all columns and tables add up (basic composition, PROOFS.md 23 B8).

    Raises:
        NotPrivate: With the digest of the proposals.
        TooMuchWork: The rows of one unit take too long, or too much room.

    >>> from tests.kernel.examples import WORLD, proposed_rows, scan
    >>> orders = proposed_rows(scan("r1", "orders"), "r1", "orders")
    >>> check_proposals([orders], WORLD).tables == {"w.orders": orders.bounds[0].choice.loss}
    True
    >>> check_proposals([orders, orders], WORLD)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    with judging(lambda: named(canonical_text(tuple(tables)), world.naming_key)):
        for one in tables:
            check_well_formed(one, TableProposals)
        names = [table.table for table in tables]
        if len(set(names)) < len(names):
            raise NotPrivate(Rule.PROPOSAL, "a table that is charged once and read twice")
        read = [check_scans(table, world) for table in tables]
        prices = [price_of_table(table, world) for table in tables]
        check_work(map(_rows_of, tables), world)
    charged: dict[str, Loss] = {}
    for of_one, price in zip(read, prices, strict=True):
        for table_name in map(str, of_one):
            charged[table_name] = charged.get(table_name, NOTHING) + price.loss
    return CheckedProposals(
        proposed=tuple(tables),
        price=sum(prices, NOTHING_PAID),
        tables=charged,
        world=world,
        made=_HERE,
    )


def _rows_of(table: TableProposals) -> BlockPlan:
    """A block that reads the same rows, by which their work is priced.

    Time: the search among the edges of bands is not in the price: 1.3 µs for each bound with 250 of them, 6 µs
    with the most that there may be (`measurements`), of columns of the table alone, whatever is in a row.
    """
    keys = tuple(
        KeyPlan(expression=one, type=one.type, type_name=one.type.sql, values=None, is_long=True)
        for one in table.keys
    )
    return BlockPlan(
        source=table.relation,
        neighbours=RowNeighbours(rows=1, hashed_by=(), not_null=None),
        where=None,
        keys=keys,
        grouped=bool(keys),
        releases=(),
        answers=(),
        sub_partitions=0,
        intervals=frozenset(),
        selection=None,
    )


def price_of_table(table: TableProposals, world: World) -> Price:
    """Price the proposals of one table.

    Privacy: one scan gives each unit one band of each bound, a function of its own rows, on a public grid.
    So one unit more raises each count of units by 0 or 1, however many rows it has (PROOFS.md 23 B1, B8).
    Where each row is a unit, or k rows are protected together, each row has its band, and k of them change.

    Raises:
        NotPrivate: Rows that are not gathered by their unit.

    >>> from dataclasses import replace
    >>> from tests.kernel.examples import WORLD, proposed_rows, scan
    >>> orders = proposed_rows(scan("r1", "orders"), "r1", "orders")
    >>> price_of_table(orders, WORLD).loss == orders.bounds[0].choice.loss
    True
    >>> price_of_table(replace(orders, unit=None), WORLD)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    source = relation_of(table.relation, world)
    if not table.bounds:
        raise NotPrivate(Rule.PROPOSAL, "a table that is read for nothing")
    check_relation(table.relation, world)
    changed = _rows_that_change(table, source)
    for column in table.keys:
        check_column(column, source.types)
        check_printed(column)
    prices = [_price_of_bound(bound, table, source, changed) for bound in table.bounds]
    return sum(prices, NOTHING_PAID)


def check_scans(table: TableProposals, world: World) -> tuple[TableName, ...]:
    """Let proposals pass that read the table which they name, once, and nothing else but where its unit stands.

    Privacy: the same tables are charged, so no table is read that is not (PROOFS.md 23 B8).

    Returns:
        The tables that are read: the named one, and the one that its references lead to for the unit, if any.

    Raises:
        NotPrivate: Another table is read, or one of these is read twice or not at all.

    >>> from tests.kernel.examples import WORLD, joined, proposed_rows, scan
    >>> [str(one) for one in check_scans(proposed_rows(scan("r1", "orders"), "r1", "orders"), WORLD)]
    ['w.orders']
    >>> check_scans(proposed_rows(joined("orders", "uid", "calls", "uid"), "a", "orders"), WORLD)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    named_one = world.policy.tables.get(table.table)
    if not isinstance(named_one, ProtectedTable):
        raise NotPrivate(Rule.PROPOSAL, "a table that is not protected")
    unit = named_one.unit
    if isinstance(unit, IdentifierUnit) and unit.blocks is not None:
        raise NotPrivate(Rule.PROPOSAL, "a table that budgets of blocks of time pay for")
    path = unit.path if isinstance(unit, IdentifierUnit) else None
    charged = (table.table,) if path is None else (table.table, path.table)
    read = Counter((scan.table, scan.copy) for scan in scans(table.relation))
    if read != Counter((one, None) for one in charged):
        raise NotPrivate(Rule.PROPOSAL, "other tables than are charged")
    return charged


def _rows_that_change(table: TableProposals, source: Known) -> int:
    """So many bands change with one unit."""
    for column in (table.unit, table.not_null):
        if column is not None:
            check_column(column, source.types)
    match source.owner:
        case OfUnit() as owner:
            if table.not_null is None or name(table.not_null) not in owner.columns:
                raise NotPrivate(Rule.PROPOSAL, "rows of nobody")
            if table.unit is None and not owner.alone:
                raise NotPrivate(Rule.PROPOSAL, "rows that are not gathered by their unit")
            if table.unit is not None and name(table.unit) not in owner.columns:
                raise NotPrivate(Rule.PROPOSAL, "gathered by a column that does not hold the unit")
            return 1
        case Rows() as owner:
            if table.unit is not None:
                raise NotPrivate(Rule.PROPOSAL, "rows by themselves that are gathered")
            return owner.changed
        case Public():  # never of a table that is protected
            raise NotPrivate(Rule.PROPOSAL, "rows of nobody")
        case _:
            assert_never(source.owner)


def _price_of_bound(
    bound: ProposedBound, table: TableProposals, source: Known, changed: int
) -> Price:
    """Price one walk and its report, k times where k rows change: the chain of PROOFS.md 16."""
    if bound.times < changed:  # which is 1 at least
        raise NotPrivate(Rule.PROPOSAL, "more rows change")
    if bound.choice.is_given:
        raise NotPrivate(Rule.PROPOSAL, "a bound that is given")
    _check_bound(bound, table, source)
    price_of_choice(bound.choice)
    walk = Loss(bound.choice.walk.epsilon * bound.times, bound.choice.walk.delta)
    if walk.delta:
        raise NotPrivate(Rule.PROPOSAL, "a walk that may fail")
    report = Loss(bound.choice.report.epsilon * bound.times, bound.choice.report.delta)
    return pure_price(walk) + laplace_price(report, 2 * bound.times, bound.choice.report_scale)


def _check_bound(bound: ProposedBound, table: TableProposals, source: Known) -> None:
    """A value is compared with constants of its type; rows and groups are counted of a unit."""
    if bound.step <= 0:
        raise NotPrivate(Rule.PROPOSAL, "a grid without steps")
    match bound.what:
        case Proposed.LOW | Proposed.HIGH:
            if bound.column is None:
                raise NotPrivate(Rule.PROPOSAL, "a bound on the values of no column")
            check_column(bound.column, source.types)
            kind = source.types[name(bound.column)]
            if not kind.is_number and not kind.is_time:
                raise NotPrivate(Rule.PROPOSAL, "a bound on values that have no order")
        case Proposed.ROWS:
            if table.unit is None:
                raise NotPrivate(Rule.PROPOSAL, "rows that are not gathered by their unit")
        case Proposed.GROUPS:
            if table.unit is None or not table.keys:
                raise NotPrivate(Rule.PROPOSAL, "rows that are not gathered by their unit")
        case _:
            assert_never(bound.what)
