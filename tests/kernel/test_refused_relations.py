"""Each of these conditions of a relation or a block refuses what breaks it alone, in its own words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.node_parts import nodes
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel.attribution import relation_of
from proxy.kernel.block_price import check_answers, check_rows, price_of_block
from proxy.kernel.bound_choices import UnitTotal
from proxy.kernel.key_plans import Selection
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.owners import Rows
from proxy.kernel.plan import BlockPlan
from proxy.kernel.price import Price
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.well_formed import check_well_formed
from proxy.kernel.world import World
from proxy.mechanisms.loss import Loss
from proxy.planner.neighbours import choice_of
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable, UnitPath
from proxy.query.ir.expressions import (
    ColumnRef,
    Connective,
    DateTrunc,
    Expression,
    InPublic,
    Is,
    Parameter,
    TextCall,
    TextFunction,
)
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import (
    GroupByUnit,
    OrderTerm,
    Relation,
    Scan,
    Subquery,
    UnionAll,
    WindowFunction,
)
from tests.kernel.examples import (
    WORLD,
    block_with_an_answer,
    column,
    columns_of,
    cut_visits,
    joined,
    joined_cuts,
    measured,
    numbered_visits,
    of_table,
    scan,
    value_choice,
    weight_choice,
)
from tests.pipeline_world import CATALOG, POLICIES, walk

_UID, _I4 = of_table("r1", "visits", "uid"), of_table("r1", "visits", "i4")
_NOTHING = column("r1", "nothing", SqlType.INT4)
_OTHER = Is(_NOTHING, None)
_CHOICE = choice_of(Loss(Fraction(1), Fraction(0)), 100)
_OF_VISITS = replace(measured(0, 100), operand=_I4)
_OF_NOTHING = replace(measured(0, 100), operand=_NOTHING)
_BY_PRIVATE_KEY = "SELECT i4, count(*) FROM visits GROUP BY i4"
_FREE = Loss(Fraction(0), Fraction(0))
_TWICE = (replace(value_choice(Fraction(1)), measured=_OF_VISITS),) * 2


def _grouped(*keys: str, kind: AggregateKind = AggregateKind.MAX) -> GroupByUnit:
    aggregate = Aggregate(kind, _I4, None, SqlType.INT4)
    by = tuple(of_table("r1", "visits", key) for key in keys)
    return GroupByUnit("g", scan("r1", "visits"), None, _UID, (aggregate,), keys=by)


def _of_lines(policy: Policy) -> World:
    """The lines refer to the calls, whose own unit is in another column than the policy says."""
    name = TableName("w", "lines")
    lines = policy.tables[name]
    assert isinstance(lines, ProtectedTable)
    unit = IdentifierUnit("person", "order_id", UnitPath(TableName("w", "calls"), "i4"))
    return World(
        replace(policy, tables={**policy.tables, name: replace(lines, unit=unit)}), CATALOG
    )


def _of_callers(policy: Policy, column: str = "uid") -> World:
    """The units of the calls are others than those of the orders."""
    name = TableName("w", "calls")
    calls = policy.tables[name]
    assert isinstance(calls, ProtectedTable)
    of_callers = replace(calls, unit=IdentifierUnit("caller", column))
    return World(replace(policy, tables={**policy.tables, name: of_callers}), CATALOG)


def _filtered(condition: Expression) -> Subquery:
    return Subquery("q", scan("r1", "visits"), condition, (("i4", _I4),))


def _relation(relation: Relation, world: World = WORLD) -> Callable[[], object]:
    return lambda: relation_of(relation, world)


def _block(
    text: str, change: Callable[[BlockPlan], BlockPlan], policy: str = "best"
) -> Callable[[], object]:
    def priced() -> object:
        found = walk(text, POLICIES[policy])
        assert found is not None
        return price_of_block(change(found.plan.blocks[0]), World(POLICIES[policy], CATALOG))

    return priced


def _with_neighbours(**other: object) -> Callable[[BlockPlan], BlockPlan]:
    return lambda block: replace(block, neighbours=replace(block.neighbours, **other))  # type: ignore[arg-type]


def _with_release(**other: object) -> Callable[[BlockPlan], BlockPlan]:
    """The first release is another one."""

    def changed(block: BlockPlan) -> BlockPlan:
        first, *others = block.releases
        return replace(block, releases=(replace(first, **other), *others))  # type: ignore[arg-type]

    return changed


def _without_gate(block: BlockPlan) -> BlockPlan:
    assert block.fewest is not None
    return replace(block, fewest=None)


def _with_another_key(block: BlockPlan) -> BlockPlan:
    return replace(block, keys=(replace(block.keys[0], expression=_OTHER),))


def _with_a_total_by_choice(block: BlockPlan) -> BlockPlan:
    total = UnitTotal(low=0, high=100, parts=1, choice=_CHOICE)
    return replace(_with_release(total=total)(block), value_choices=_TWICE[:1])


def _windows_of_rows() -> Subquery:
    window = numbered_visits("uid").windows[0]
    column = of_table("r1", "people", "i4")
    moved = replace(window, partition=(column,), order=(), ties=())
    return Subquery("q", scan("r1", "people"), None, (("i4", column),), windows=(moved,))


def _of_tables(*names: str) -> World:
    """The policy of these tables alone."""
    policy = WORLD.policy
    tables = {name: table for name, table in policy.tables.items() if name.name in names}
    return World(replace(policy, tables=tables), CATALOG)


def _window(table: str = "visits", shown: tuple[str, ...] = ("i4",), **other: object) -> Subquery:
    """A table with a window over the rows of each person, or of a public one."""
    window = replace(numbered_visits("uid").windows[0], **other)  # type: ignore[arg-type]
    outputs = tuple((name, of_table("r1", table, name)) for name in shown)
    return Subquery("q", scan("r1", table), None, outputs, windows=(window,))


def _ordered_by(expression: Expression) -> tuple[OrderTerm, ...]:
    return (OrderTerm(expression, False, False),)


def _rows_of_nobody() -> None:
    rows = RowNeighbours(rows=1, hashed_by=(), not_null=None)
    found = walk("SELECT count(*) FROM people")
    assert found is not None
    check_rows(found.plan.blocks[0], rows, relation_of(scan("r1", "rates"), WORLD))


def _rows_of_a_join(*hashed_by: ColumnRef) -> Callable[[], object]:
    """Of the 10 rows that change no more than 4 values of the column of the join change."""
    rows = RowNeighbours(rows=10, hashed_by=hashed_by, not_null=None, partitions=4)
    found = walk("SELECT count(*) FROM people")
    assert found is not None
    block = found.plan.blocks[0]
    return lambda: check_rows(block, rows, relation_of(joined_cuts(3, 2), WORLD))


_PEOPLE = scan("r1", "people")
_LISTED = InPublic(_I4, TableName("w", "rates"), "l", ColumnRef("k", SqlType.INT8, None, "l"), None)
_PADDED = TextCall(TextFunction.UPPER, of_table("r1", "visits", "t"), (), SqlType.BPCHAR)
_TRUNCATED = DateTrunc("year", of_table("r1", "visits", "tz"), SqlType.TIMESTAMP)
_REFUSED: tuple[tuple[str, Callable[[], object]], ...] = (
    ("a table without a policy", _relation(Scan("r1", TableName("w", "nothing")))),
    ("a table without a policy", _relation(scan("r1", "visits"), _of_tables("people"))),
    ("a reference that leads to no unit", _relation(scan("r1", "lines"), _of_lines(WORLD.policy))),
    ("a window over rows of different units", _relation(_windows_of_rows())),
    (
        "the first column of PARTITION BY does not hold the unit",
        _relation(_window(partition=())),
    ),
    (
        "an order that does not tell rows apart",  # of public rows: the server's choice as well
        _relation(
            _window(
                "places",
                ("code",),
                partition=(),
                order=_ordered_by(of_table("r1", "places", "zone")),
            )
        ),
    ),
    (
        "an order that does not tell rows apart",  # arrays that are too large are tied
        _relation(_window(shown=("ta",), order=_ordered_by(of_table("r1", "visits", "ta")))),
    ),
    (
        "an aggregate that is not in the list",
        _relation(
            _window(
                function=WindowFunction.AGGREGATE,
                aggregate=Aggregate(AggregateKind.CORR, _I4, None, SqlType.INT4),
            )
        ),
    ),
    ("an aggregate that is not in the list", _relation(_grouped(kind=AggregateKind.CORR))),
    ("a column that is not there", _relation(replace(_grouped("t"), where=_OTHER))),
    (
        "a column that is not there",
        _relation(Subquery("q", scan("r1", "visits"), None, (("z", _NOTHING),))),
    ),
    (
        "grouped by a column that does not hold the unit",
        _relation(replace(_grouped("t"), source=scan("r1", "people"), unit=_I4)),
    ),
    ("a key of which equal values are several", _relation(_grouped("iv"))),
    (
        "grouped by a column that does not hold the unit",
        _relation(replace(_grouped("t"), unit=_I4)),
    ),
    (
        "two columns of one name",
        _relation(Subquery("q", scan("r1", "visits"), None, (("z", _I4), ("z", _UID)))),
    ),
    (
        "a unit in a column that is not there",
        _relation(scan("r1", "calls"), _of_callers(WORLD.policy, "nothing")),
    ),
    (
        "a column of several types",
        _relation(
            UnionAll("u", (columns_of("orders", "uid", "t"), columns_of("calls", "uid", "i4")))
        ),
    ),
    (
        "a column of several types",
        _relation(UnionAll("u", (columns_of("orders", "i4"), columns_of("calls", "f8")))),
    ),
    (
        "parts of different widths",
        _relation(UnionAll("u", (columns_of("orders", "uid", "i4"), columns_of("calls", "uid")))),
    ),
    (
        "parts of different units",
        _relation(UnionAll("u", (columns_of("people", "i4"), columns_of("orders", "i4")))),
    ),
    (
        "parts of different units",
        _relation(UnionAll("u", (columns_of("notes", "i4"), columns_of("orders", "i4")))),
    ),
    (
        "one alias on both sides",
        _relation(replace(joined("orders", "uid", "calls", "uid"), right=scan("a", "calls"))),
    ),
    ("a cut that keeps nothing", _relation(cut_visits("uid", 0))),
    (
        "columns that are not there",
        _relation(replace(cut_visits("uid", 1), columns=("id", "i4"), with_null=True)),
    ),
    (
        "the place of a row",
        _relation(replace(cut_visits("i4", 1), ordered_by=(column("r1", "ctid", SqlType.TID),))),
    ),
    (
        "rows of different units meet without a bound",
        _relation(joined("orders", "uid", "calls", "uid"), _of_callers(WORLD.policy)),
    ),
    (
        "a computed value of another kind",
        _relation(_filtered(replace(_LISTED, type=SqlType.TEXT))),
    ),
    (
        "a word that joins no conditions",
        _relation(_filtered(Connective("AND", (_LISTED, _LISTED), SqlType.TEXT))),
    ),
    (
        "a function that gives text, of another type",
        _relation(Subquery("q", scan("r1", "visits"), None, (("z", _PADDED),))),
    ),
    (
        "a time of another type",
        _relation(Subquery("q", scan("r1", "visits"), None, (("z", _TRUNCATED),))),
    ),
    (
        "rows by themselves have no bound to choose",
        _block("SELECT count(*) FROM people", lambda block: replace(block, rows_choice=_CHOICE)),
    ),
    (
        "a bound that is none of those to choose from",
        _block(
            "SELECT count(*) FROM visits",
            lambda block: replace(_with_neighbours(rows=101)(block), rows_choice=_CHOICE),
        ),
    ),
    (
        "groups without a number of units",
        _block("SELECT i2, count(*) FROM people GROUP BY i2", _without_gate, "smallest"),
    ),
    (
        "gathered by a column that does not hold the unit",
        _block("SELECT count(*) FROM visits", lambda block: replace(block, source=_PEOPLE)),
    ),
    (
        "a mean that is withheld and read with the others",
        _block("SELECT avg(i4) FROM visits", lambda block: replace(block, withheld=frozenset({0}))),
    ),
    ("a bound below 1", _block("SELECT count(*) FROM people", _with_neighbours(rows=0))),
    ("a bound below 1", _block("SELECT count(*) FROM visits", _with_neighbours(rows=0))),
    (
        "partitions by another column than the unit",
        _block(
            "SELECT count(*) FROM members",
            _with_neighbours(hashed_by=(of_table("r1", "members", "i4"),)),
        ),
    ),
    (
        "a bound below 1",
        _block("SELECT count(*) FROM visits", _with_neighbours(rows_per_group=0)),
    ),
    ("rows of nobody", _block("SELECT count(*) FROM members", _with_neighbours(not_null=None))),
    (
        "rows of nobody",
        _block(
            "SELECT count(*) FROM members",
            _with_neighbours(not_null=of_table("r1", "members", "i4")),
        ),
    ),
    (
        "a column of another type",
        _block(
            "SELECT count(*) FROM members",
            _with_neighbours(not_null=column("r1", "uid", SqlType.TEXT)),
        ),
    ),
    (
        "a column of another type",
        _block(
            "SELECT count(*) FROM visits",
            _with_neighbours(column=column("r1", "uid", SqlType.TEXT)),
        ),
    ),
    ("rows of nobody", _rows_of_nobody),
    (
        "a column that is not there",
        _block("SELECT count(*) FROM visits", lambda block: replace(block, where=_OTHER)),
    ),
    (
        "a column that is not there",
        _block("SELECT b, count(*) FROM visits GROUP BY b", _with_another_key),
    ),
    (
        "a column that is not there",
        _block(
            "SELECT count(*) FROM visits",
            lambda block: replace(block, value_choices=(replace(_TWICE[0], measured=_OF_NOTHING),)),
        ),
    ),
    (
        "a column that is not there",
        _block("SELECT sum(i4) FROM visits", _with_release(of=(_OF_NOTHING,))),
    ),
    (
        "a column that is not there",
        _block(
            "SELECT sum(i4) FROM visits",
            _with_release(aggregate=Aggregate(AggregateKind.SUM, _NOTHING, None, SqlType.INT8)),
        ),
    ),
    (
        "two bounds of one name",
        _block("SELECT count(*) FROM visits", lambda block: replace(block, value_choices=_TWICE)),
    ),
    (
        "two bounds of one name",
        _block(
            "SELECT count(*) FROM visits",
            lambda block: replace(
                block, value_choices=_TWICE[:1], weight_choice=weight_choice(Fraction(10))
            ),
        ),
    ),
    ("two bounds of one name", _block("SELECT sum(i4) FROM visits", _with_a_total_by_choice)),
    ("rows that change are in more partitions", _rows_of_a_join()),
    ("rows that change are in more partitions", _rows_of_a_join(of_table("a", "people", "id"))),
    (
        "a column that is not there",
        _block("SELECT count(DISTINCT i4) FROM visits", _with_release(condition=_OTHER)),
    ),
    (
        "a unit may be in more groups than the plan says",
        _block("SELECT b, count(*) FROM visits GROUP BY b", lambda block: replace(block, reach=1)),
    ),
    (
        "partitions by a column that may be NULL",
        _block(
            "SELECT count(*) FROM people",
            _with_neighbours(hashed_by=(of_table("r1", "people", "i4"),)),
        ),
    ),
    (
        "several rows of a unit",
        _block(
            "SELECT count(*) FROM visits",
            lambda block: replace(
                block, neighbours=RowNeighbours(rows=1, hashed_by=(), not_null=_UID)
            ),
        ),
    ),
    (
        "private keys without a selection, or one of listed groups",
        _block(_BY_PRIVATE_KEY, lambda block: replace(block, selection=None)),
    ),
    (
        "private keys without a selection, or one of listed groups",
        _block(
            "SELECT b, count(*) FROM visits GROUP BY b",
            lambda block: replace(block, selection=Selection(loss=_FREE, each=_FREE)),
        ),
    ),
    (
        "no partitions",
        _block(
            "SELECT avg(i4) FROM visits", lambda block: replace(block, sub_partitions=0), "world"
        ),
    ),
    (
        "a scale below what the results move by",
        _block(
            "SELECT count(*) FROM visits",
            lambda block: replace(block, weight_choice=weight_choice(Fraction(9))),
        ),
    ),
    (
        "a bound below 1, or too many bounds",
        _block(
            "SELECT count(*) FROM visits",
            lambda block: replace(
                _with_neighbours(rows=6)(block), rows_choice=replace(_CHOICE, bounds=(0, 6))
            ),
        ),
    ),
    (
        "a decision that no curve makes",
        _block(
            _BY_PRIVATE_KEY,
            lambda block: replace(block, selection=Selection(loss=_FREE, each=_FREE)),
        ),
    ),
    (
        "nothing is walked",
        _block(
            "SELECT count(*) FROM visits",
            lambda block: replace(
                block,
                value_choices=(replace(_TWICE[0], choice=replace(_CHOICE, is_given=True)),),
            ),
        ),
    ),
)


@pytest.mark.parametrize(
    ("where", "judged"), _REFUSED, ids=[f"{n} {one}" for n, (one, _) in enumerate(_REFUSED)]
)
def test_one_condition_refuses(where: str, judged: Callable[[], object]) -> None:
    with pytest.raises(NotPrivate) as refused:
        judged()
    assert refused.value.where == where


def test_what_they_are_made_of_passes() -> None:
    text = Subquery("q", scan("r1", "visits"), None, (("z", replace(_PADDED, type=SqlType.TEXT)),))
    listed = _filtered(Connective("AND", (_LISTED, _LISTED)))
    calls = joined("orders", "uid", "calls", "uid")
    for relation in (_grouped("t"), cut_visits("uid", 1), calls, text, listed):
        relation_of(relation, WORLD)
    _rows_of_a_join(of_table("a", "people", "i2"))()
    for table, kind in (("people", RowNeighbours), ("visits", UnitNeighbours)):
        found = walk(f"SELECT count(*) FROM {table}", POLICIES["best"])
        assert found is not None and isinstance(found.plan.blocks[0].neighbours, kind)


def _priced(text: str, policy: str = "best", **other: object) -> Callable[[bool], Price]:
    """The price of a block with something else, before and after bounds are chosen."""
    found = walk(text, POLICIES[policy])
    assert found is not None
    block = replace(found.plan.blocks[0], **other)  # type: ignore[arg-type]
    world = World(POLICIES[policy], CATALOG)
    return lambda is_bounded: price_of_block(block, world, is_bounded)


@pytest.mark.parametrize(
    "chosen",
    [
        {"rows_choice": replace(_CHOICE, bounds=(1, 5))},
        {"value_choices": (replace(value_choice(Fraction(1)), measured=_OF_VISITS),)},
    ],
)
def test_a_bound_that_is_open_hides_the_rho_of_the_noise(chosen: dict[str, object]) -> None:
    """It hangs on the bound, also of what the bound is not for. Once it is chosen it is what it is."""
    text = "SELECT count(*) FROM visits"
    plain, price = _priced(text), _priced(text, "best", **chosen)
    assert plain(False) == plain(True)
    assert price(False).rho > price(True).rho
    assert price(False).epsilon == price(True).epsilon


def test_listed_groups_of_private_keys_need_no_selection() -> None:
    found = walk(_BY_PRIVATE_KEY, POLICIES["best"])
    assert found is not None
    block = replace(found.plan.blocks[0], selection=None, combinations=(("1",), ("2",)))
    price_of_block(block, World(POLICIES["best"], CATALOG))


def test_rows_of_a_bound_that_is_given_are_any() -> None:
    given = replace(_CHOICE, is_given=True, bounds=(100,))
    _priced("SELECT count(*) FROM visits", rows_choice=given)(False)


def test_what_is_shown_may_be_compared_with_any_answer() -> None:
    found = walk("SELECT count(*) FROM people")
    assert found is not None
    answer = next(
        node for node in nodes(block_with_an_answer().where) if isinstance(node, Parameter)
    )
    shown = replace(found.plan.blocks[0], expressions=(answer,))  # type: ignore[arg-type]
    check_answers(shown, check_well_formed(shown, BlockPlan))


def test_each_row_that_changes_in_a_partition_of_its_own_is_hashed_anyhow() -> None:
    """A duration has several hashes, but no more than the one row that changes."""
    known, hashed = relation_of(_PEOPLE, WORLD), of_table("r1", "people", "iv")
    assert isinstance(known.owner, Rows)
    filled = replace(known, owner=replace(known.owner, filled=frozenset({("r1", "iv")})))
    found = walk("SELECT count(*) FROM people")
    assert found is not None
    rows = RowNeighbours(rows=1, hashed_by=(hashed,), not_null=None, partitions=1)
    check_rows(found.plan.blocks[0], rows, filled)
