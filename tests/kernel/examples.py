"""Small relations over the tables of tests.pipeline_world, for doctests and tests of the kernel."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.compiler.copy_view import made_copy
from proxy.kernel.bound_choices import ValueChoice, WeightChoice
from proxy.kernel.checked_plan import CheckedBlock, check_plan
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    ClippedMean,
    DeviationMean,
    DistinctCount,
    Gate,
    GroupSize,
    KeptUnits,
    LaplaceNoise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.proposal_plan import Proposed, ProposedBound, TableProposals
from proxy.kernel.sensitivities import sensitivity_of
from proxy.kernel.shape import Shape, shape_of
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.kernel.units_in_time import in_time
from proxy.kernel.world import World
from proxy.mechanisms.deviation_mean import NoisyCentres
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.row_weights import PARTS, WeightedRows
from proxy.planner.neighbours import choice_of
from proxy.planner.series import SeriesTerms
from proxy.policy.policy_model import Bounds, Policy, PreparedCopy, ProtectedTable
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import (
    CopyRead,
    Frame,
    Join,
    OrderTerm,
    Relation,
    Scan,
    Subquery,
    Truncate,
    WindowColumn,
    WindowFunction,
)
from tests.pipeline_world import CATALOG, IN_BLOCKS, POLICIES, walk

WORLD = World(POLICIES["world"], CATALOG)


def _prepared() -> World:
    """The visits, and the lines of orders, have copies with at most three of each person."""
    policies, tables = dict(WORLD.policy.tables), dict(CATALOG.tables)
    for of in ("visits", "lines"):
        name, copy = TableName("w", of), TableName("w", f"{of}_copy")
        table = policies[name]
        assert isinstance(table, ProtectedTable)
        policies[name] = table = replace(table, prepared=PreparedCopy(table=copy, max_age=3600))
        made = made_copy(table, CATALOG, 3)
        assert made is not None
        tables[copy] = made
    policy = replace(WORLD.policy, tables=policies)
    return World(policy, replace(CATALOG, tables=tables))


PREPARED = _prepared()
TIMED = World(IN_BLOCKS, CATALOG)


def scan(alias: str, table: str) -> Scan:
    return Scan(alias, TableName("w", table))


def scan_of_copy(table: str, copy: str, alias: str = "r1", through: str | None = None) -> Scan:
    read = CopyRead(
        table=TableName("w", copy),
        as_of="2026-11-28 01:00:00+00",
        through=None if through is None else TableName("w", through),
    )
    return replace(scan(alias, table), copy=read)


def joined_copies() -> Join:
    """The copy of the visits with itself, on the person."""
    pair = (of_table("a", "visits", "uid"), of_table("b", "visits", "uid"))
    left, right = (scan_of_copy("visits", "visits_copy", alias) for alias in ("a", "b"))
    return Join(left, right, False, (pair,), None)


def column(alias: str, name: str, kind: SqlType) -> ColumnRef:
    return ColumnRef(name, kind, None, alias)


def of_table(alias: str, table: str, name: str) -> ColumnRef:
    """A column of a table, with the type that it has."""
    there = CATALOG.tables[TableName("w", table)].column(name)
    assert there is not None
    return column(alias, name, there.type)


def columns_of(table: str, *names: str) -> Subquery:
    """A projection of a table, its alias made of the names."""
    alias = f"s_{table}"
    outputs = tuple((name, of_table(alias, table, name)) for name in names)
    return Subquery(f"p_{table}_{'_'.join(names)}", scan(alias, table), None, outputs)


def cut(table: str, by: str, most: int | None, present: bool = True, alias: str = "r1") -> Truncate:
    """A table of which few rows of one value stay, in the order of its primary key."""
    key = of_table(alias, table, by)
    columns = tuple(dict.fromkeys(("id", by, "i4")))
    order = (of_table(alias, table, "id"),)
    filled = (key,) if present else ()
    return Truncate(scan(alias, table), key, most, order, filled, columns, "place")


def cut_visits(by: str, most: int | None) -> Truncate:
    return cut("visits", by, most)


def cut_people(by: str, most: int | None) -> Truncate:
    return cut("people", by, most)


def joined(left: str, x: str, right: str, y: str) -> Join:
    """Two tables on one pair of columns, as `a` and `b`."""
    pair = (of_table("a", left, x), of_table("b", right, y))
    return Join(scan("a", left), scan("b", right), False, (pair,), None)


def joined_cuts(left_most: int, right_most: int) -> Join:
    """Two tables of rows by themselves, each cut by the column on which they are joined."""
    left = cut("people", "i2", left_most, alias="a")
    right = cut("people", "i2", right_most, alias="b")
    pair = (of_table("a", "people", "i2"), of_table("b", "people", "i2"))
    return Join(left, right, False, (pair,), None)


def numbered_visits(*partition: str) -> Subquery:
    """The visits with row_number() OVER (PARTITION BY ... ORDER BY id)."""
    window = WindowColumn(
        name="rn",
        function=WindowFunction.ROW_NUMBER,
        type=SqlType.INT8,
        partition=tuple(of_table("r1", "visits", column) for column in partition),
        order=(OrderTerm(of_table("r1", "visits", "id"), False, False),),
        frame=Frame.DEFAULT,
    )
    outputs = tuple((name, of_table("r1", "visits", name)) for name in ("uid", "i4"))
    return Subquery("q", scan("r1", "visits"), None, outputs, windows=(window,))


def visits_of(blocks: range, *columns: str) -> Subquery:
    """The visits of some months, read as tables of units in blocks of time are."""
    known = in_time(scan("r1b", "visits"), TIMED)
    assert known is not None
    outputs = [(name, of_table("r1b", "visits", name)) for name in columns]
    return Subquery(
        "r1", scan("r1b", "visits"), known.within(blocks), (*outputs, ("unit", known.name))
    )


def shape(
    count: int | None,
    groups: int | None,
    rows: int = 6,
    rows_per_group: int | None = None,
    reach: int | None = None,
) -> Shape:
    """Of units, whose rows are counted over all groups."""
    units = UnitNeighbours(
        column=column("r1", "uid", SqlType.INT4),
        rows=rows,
        groups=groups,
        rows_per_group=rows_per_group,
        is_summed=True,
    )
    return Shape(neighbours=units, count=count, is_spread=count != 1, reach=reach)


def key_plan(name: str, values: tuple[str, ...] | None) -> KeyPlan:
    """A column of the visits as a key."""
    expression = of_table("r1", "visits", name)
    kind = expression.type
    return KeyPlan(
        expression=expression, type=kind, type_name=kind.sql, values=values, is_long=False
    )


def block_of(
    source: Relation,
    release: Release | None = None,
    keys: tuple[KeyPlan, ...] = (),
    unit: ColumnRef | None = None,
) -> BlockPlan:
    """COUNT(*), or another release, of rows of units as `r1`, one of each, by keys."""
    units = UnitNeighbours(
        column=unit or of_table("r1", "visits", "uid"),
        rows=1,
        groups=None,
        rows_per_group=None,
        is_summed=True,
    )
    return BlockPlan(
        source=source,
        neighbours=units,
        where=None,
        keys=keys,
        grouped=bool(keys),
        releases=(release or counted(noise=Fraction(1)),),
        answers=(),
        sub_partitions=0,
        intervals=frozenset(),
        selection=None,
    )


def checked_block(block: BlockPlan, world: World) -> CheckedBlock:
    """The block, let through."""
    return check_plan([block], Loss(Fraction(10), Fraction(0)), world).blocks[0]


def centres(*of_groups: int) -> NoisyCentres:
    """Of a mean of such groups, of units with two rows at most."""
    nothing = (0,) * len(of_groups)
    return NoisyCentres(
        units=10,
        is_few=True,
        is_single=False,
        rows=2,
        lost_rows=0,
        weights=nothing,
        sums=nothing,
        centres=of_groups,
    )


def proposed_rows(relation: Relation, alias: str, table: str) -> TableProposals:
    """A bound on the rows of a unit, of any relation with the column uid."""
    unit = replace(of_table("r", "orders", "uid"), relation=alias)
    choice = choice_of(Loss(Fraction(1), Fraction(0)), 100)
    return TableProposals(
        table=TableName("w", table),
        relation=relation,
        unit=unit,
        not_null=unit,
        keys=(),
        bounds=(ProposedBound(what=Proposed.ROWS, choice=choice, times=1),),
    )


def row_shape(changed: int) -> Shape:
    """Of people, of whom so many change."""
    rows = RowNeighbours(rows=changed, hashed_by=(), not_null=None)
    return Shape(neighbours=rows, count=1, is_spread=False)


def value_choice(epsilon: Fraction) -> ValueChoice:
    """A bound up to 100 on a whole number of the people."""
    return ValueChoice(
        number=0,
        releases=frozenset({0}),
        measured=measured(0, 100),
        choice=choice_of(Loss(epsilon, Fraction(0)), 100),
    )


def counted(noise: Fraction) -> NoisyStatistic:
    """COUNT(*) with noise of this scale, for an epsilon of 1."""
    return NoisyStatistic(
        aggregate=Aggregate(AggregateKind.COUNT_ROWS, None, None, SqlType.INT8),
        statistic=Statistic.ROWS,
        of=Counted(operand=None, condition=None, never_null=True),
        noise=LaplaceNoise(scale=noise),
        loss=Loss(Fraction(1), Fraction(0)),
    )


def deviation_mean(low: int, high: int, epsilon: Fraction) -> DeviationMean:
    """AVG of a whole number of the people, before its centres are released."""
    one = measured(low, high)
    aggregate = Aggregate(AggregateKind.AVG, one.operand, None, SqlType.NUMERIC)
    return DeviationMean(
        aggregate=aggregate,
        measured=one,
        output_grid=Fraction(1, 1000),
        declared=None,
        loss=Loss(epsilon, Fraction(0)),
    )


def recentred_mean(rows: int) -> RecentredMean:
    """AVG of a whole number of the people, drawn as for so many rows of a unit."""
    aggregate = replace(_largest(), kind=AggregateKind.AVG)
    many = replace(measured(0, 10), rows=rows)
    return RecentredMean(aggregate=aggregate, measured=many, output_grid=Fraction(1), loss=_ONE)


def partition_means(changed: int) -> SampleAggregate:
    """AVG in three partitions, of which so many are said to change, for an epsilon of 2."""
    return SampleAggregate(
        aggregate=replace(_largest(), kind=AggregateKind.AVG),
        measured=measured(0, 10),
        output_grid=Fraction(1),
        low=0,
        high=10,
        fill=5,
        partitions=3,
        mechanism=ClippedMean(changed=changed, loss=_ONE),
        gate=Gate(noise=LaplaceNoise(scale=Fraction(2)), least=1, loss=_ONE),
        loss=_ONE + _ONE,
    )


def measured(low: Fraction | int, high: Fraction | int) -> Measured:
    """A whole number of the people, clamped."""
    clamp = Bounds(Fraction(low), Fraction(high))
    operand = of_table("r1", "people", "i4")
    return Measured(operand=operand, condition=None, clamp=clamp, grid=Fraction(1), rows=1)


_ONE = Loss(Fraction(1), Fraction(0))


def _largest() -> Aggregate:
    return Aggregate(AggregateKind.MAX, of_table("r1", "people", "i4"), None, SqlType.INT4)


def maximum(keeps_one_group: bool) -> UnitExtreme:
    """The largest whole number of the people, of one value for each unit and group."""
    return UnitExtreme(
        aggregate=_largest(),
        measured=measured(0, 10),
        keeps_one_group=keeps_one_group,
        loss=_ONE,
    )


def quantile(rows: int, weights: bool) -> OrderStatistic:
    """The median of a whole number of the people, of which so many rows of a unit count."""
    loss = Loss(Fraction(1, 10), Fraction(0))
    moved = PARTS if weights else rows
    aggregate = replace(_largest(), kind=AggregateKind.QUANTILE_DISC, fraction=Fraction(1, 2))
    return OrderStatistic(
        aggregate=aggregate,
        measured=replace(measured(0, 10), rows=rows),
        needed=None,
        loss=_ONE,
        size=GroupSize(noise=LaplaceNoise(scale=moved / loss.epsilon), loss=loss),
        weights=WeightedRows(bound=rows, units=0, rows=0, lost=0) if weights else None,
    )


def weight_choice(scale: Fraction) -> WeightChoice:
    """A histogram for a tenth of epsilon."""
    return WeightChoice(
        number=0,
        releases=frozenset({0}),
        bounds=(1, 2, 3, 4),
        cells=Loss(Fraction(1, 10), Fraction(0)),
        scale=scale,
    )


def kept_units(keeps_one_group: bool) -> KeptUnits:
    """The number of units that have such a value, with the noise of one group."""
    return KeptUnits(
        aggregate=_largest(),
        measured=measured(0, 10),
        keeps_one_group=keeps_one_group,
        noise=LaplaceNoise(scale=Fraction(1)),
        loss=_ONE,
    )


def distinct_count(of_unit: bool) -> DistinctCount:
    """Of a whole number of the people, with the noise of one of them."""
    return DistinctCount(
        aggregate=replace(_largest(), kind=AggregateKind.COUNT_DISTINCT),
        operand=of_table("r1", "people", "i4"),
        condition=None,
        of_unit=of_unit,
        noise=LaplaceNoise(scale=Fraction(1)),
        loss=_ONE,
        is_long=False,
    )


def l1(block: BlockPlan, number: int = 0) -> int:
    """How far one unit moves a release, over all groups."""
    release = block.releases[number]
    assert isinstance(release, NoisyStatistic | DistinctCount | KeptUnits)
    return sensitivity_of(release, shape_of(block)).l1


def block_with_an_answer() -> BlockPlan:
    """A block of which rows are compared with the answer of another one."""
    found = walk("SELECT count(*) FROM people WHERE i4 > (SELECT avg(i4) FROM people)")
    assert found is not None
    (block,) = (one for one in found.plan.blocks if one.uses_answers)
    return block


def policy_of_fewest(units: int) -> Policy:
    """The world's, whose groups have at least so many units."""
    return replace(POLICIES["world"], min_units_per_group=units)


def block_of_fewest(units: int) -> BlockPlan:
    """COUNT(*) of people by a public key, planned for groups of so many."""
    found = walk("SELECT t, count(*) FROM people GROUP BY t", policy_of_fewest(units))
    assert found is not None
    return found.plan.blocks[0]


def series_shape(most_steps: int) -> Shape:
    """Of three steps, of so many of which a unit is."""
    return replace(shape(count=3, groups=most_steps), neighbours=_in_order(most_steps))


def _in_order(most_steps: int) -> UnitNeighbours:
    units = shape(count=3, groups=most_steps).neighbours
    assert isinstance(units, UnitNeighbours)
    return replace(units, is_in_order=True)


def series_block(
    days: int = 3, most_days: int = 2, *, is_at_once: bool = False, table: str = "visits"
) -> BlockPlan:
    """Counts and a sum of visits by the day, on so many of which one person is."""
    found = walk(
        f"SELECT d, count(*), sum(i4), count(DISTINCT uid) FROM {table}"
        f" WHERE d >= '2010-01-01' AND d < '2010-01-{days + 1:02}' GROUP BY d",
        series=SeriesTerms(steps=None if is_at_once else days, most_steps=most_days),
    )
    assert found is not None
    return found.plan.blocks[0]
