"""Plans that are not private, each by one condition of the kernel: tiny rows show how far they move.

Each is a plan that the product makes, altered. `rows` fill the tiny database, `deletion` takes one unit out
of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import TypeVar

from proxy.base.node_parts import nodes
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel import block_price
from proxy.kernel.bound_choices import UnitTotal, ValueChoice
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    ClippedMean,
    DeviationMean,
    DistinctCount,
    KeptUnits,
    LaplaceNoise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    SmoothedMedian,
    UnitExtreme,
)
from proxy.kernel.refusals import Rule
from proxy.kernel.sensitivities import Sensitivity, gaussian
from proxy.kernel.statistics import Measured
from proxy.kernel.well_formed import check_well_formed
from proxy.kernel.world import World
from proxy.mechanisms import split
from proxy.mechanisms.loss import Loss
from proxy.planner.neighbours import choice_of
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import (
    Arithmetic,
    Cast,
    Clamped,
    ColumnRef,
    Comparator,
    Comparison,
    Connective,
    Constant,
    Expression,
    InPublic,
    Like,
    Operator,
    Parameter,
)
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import (
    Frame,
    Join,
    OrderTerm,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    WindowColumn,
    WindowFunction,
)
from tests.kernel.examples import block_with_an_answer, column, of_table, scan
from tests.pipeline_world import POLICIES, SCHEMA, walk


class Shown(Enum):
    """How a tiny database shows that a plan is not private."""

    MOVEMENT = "exact results move further than the plan says"
    ERROR = "one row raises an error, and its neighbour none"
    BESIDE_MEANS = "they do so where they are read with means of deviations"
    LONG_KEY = "a group is sorted by more characters than any may have"
    TWO_ANSWERS = "a row is in two answers that are paid as one"
    AN_ANSWER = "it is computed of an answer that it does not name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hole:
    """policy: of tests.pipeline_world; tries: so many numbers in the place of `{}`, and as many seeds.

    is_unseeded: only where keys of a join have no seeded hash, by which PostgreSQL would tell them apart.
    """

    name: str
    make: Callable[[], BlockPlan]
    rule: Rule
    policy: str
    rows: str
    deletion: str
    shown: Shown
    tries: int
    is_unseeded: bool

    def shown_by(self) -> BlockPlan:
        """The plan that is run."""
        block = self.make()
        if not self.is_unseeded:
            return block
        assert isinstance(block.source, Join)
        return replace(block, source=replace(block.source, is_seeded=False))


def judge(block: BlockPlan, world: World) -> None:
    """By all rules of privacy, in their order, whatever it may cost."""
    block_price.check_answers(block, check_well_formed(block, BlockPlan))
    block_price.price_of_block(block, world)


HOLES: list[Hole] = []


def hole(
    rule: Rule,
    rows: str,
    deletion: str,
    policy: str = "best",
    shown: Shown = Shown.MOVEMENT,
    tries: int = 1,
    is_unseeded: bool = False,
) -> Callable[[Callable[[], BlockPlan]], Callable[[], BlockPlan]]:
    def put(make: Callable[[], BlockPlan]) -> Callable[[], BlockPlan]:
        HOLES.append(
            Hole(
                name=make.__name__,
                make=make,
                rule=rule,
                policy=policy,
                rows=rows,
                deletion=deletion,
                shown=shown,
                tries=tries,
                is_unseeded=is_unseeded,
            )
        )
        return make

    return put


def block_of(sql: str, policy: str = "best") -> BlockPlan:
    found = walk(sql, POLICIES[policy])
    assert found is not None
    return found.plan.blocks[0]


def with_first(block: BlockPlan, release: Release) -> BlockPlan:
    return replace(block, releases=(release, *block.releases[1:]))


def noise_for(block: BlockPlan, l1: int) -> BlockPlan:
    """The first release with the noise that so small a sensitivity would ask for."""
    release = block.releases[0]
    assert isinstance(release, NoisyStatistic | DistinctCount)
    noise = LaplaceNoise(scale=Fraction(l1) / release.loss.epsilon)
    return with_first(block, replace(release, noise=noise))


def median_for(block: BlockPlan, rows: int, partitions: int) -> BlockPlan:
    """A smoothed median for neighbours of so many rows, which are in so many partitions."""
    release = block.releases[0]
    assert isinstance(release, SampleAggregate) and isinstance(release.mechanism, SmoothedMedian)
    gate = replace(
        release.gate,
        noise=LaplaceNoise(scale=Fraction(rows) / release.gate.loss.epsilon),
    )
    left = Loss(release.loss.epsilon - gate.loss.epsilon, release.loss.delta)
    mechanism = replace(release.mechanism, each=split.per_unit(left, partitions))
    assert isinstance(block.neighbours, RowNeighbours)
    return replace(
        block,
        releases=(replace(release, gate=gate, mechanism=mechanism),),
        neighbours=replace(block.neighbours, rows=rows, partitions=partitions),
    )


def units_by(unit: ColumnRef, rows: int = 1) -> UnitNeighbours:
    return UnitNeighbours(column=unit, rows=rows, groups=None, rows_per_group=None, is_summed=True)


def rows_that_change(rows: int) -> RowNeighbours:
    return RowNeighbours(rows=rows, hashed_by=(), not_null=None)


def units_of(block: BlockPlan) -> UnitNeighbours:
    assert isinstance(block.neighbours, UnitNeighbours)
    return block.neighbours


_VISITS = (
    "INSERT INTO visits(id, uid, i4, i2, t)"
    " SELECT g, g % 7, g % 11, g % 3, 'x' FROM generate_series(1, 60) g"
)
_VISITOR = "DELETE FROM visits WHERE uid = 3"
_PEOPLE = "INSERT INTO people(id, i4, i2, t) SELECT g, 1 + g % 4, g % 3, 'x' FROM generate_series(1, 30) g"
_PERSON = "DELETE FROM people WHERE id = 7"


@hole(Rule.NOISE, _VISITS, _VISITOR)
def rows_per_group_without_groups() -> BlockPlan:
    """Without GROUP BY no SQL has `rows_per_group`."""
    block = block_of("SELECT count(*) FROM visits")
    return noise_for(replace(block, neighbours=replace(units_of(block), rows_per_group=1)), 1)


@hole(
    Rule.NOISE,
    "INSERT INTO trips(id, leg, i4) SELECT g, 'a', g FROM generate_series(1, 9) g",
    "DELETE FROM trips WHERE id < 4",
)
def units_counted_where_rows_change() -> BlockPlan:
    """`of_unit` is said of values of rows, of which three change."""
    block = block_of("SELECT count(DISTINCT i4) FROM trips")
    release = block.releases[0]
    assert isinstance(release, DistinctCount)
    return noise_for(with_first(block, replace(release, of_unit=True)), 1)


@hole(Rule.NOISY_SUM, _PEOPLE, _PERSON)
def clamp_between_steps() -> BlockPlan:
    """0 .. 1.9 in steps of 1: the plan's whole steps end at 1, a value is rounded to 2."""
    block = block_of("SELECT sum(n) FROM people")
    release = block.releases[0]
    assert isinstance(release, NoisyStatistic) and isinstance(release.of, tuple)
    high = Fraction(19, 10)
    operand = Clamped(of_table("r1", "people", "i4"), Fraction(0), high, SqlType.INT4)
    clamp = Bounds(Fraction(0), high)
    measured = replace(release.of[0], clamp=clamp, grid=Fraction(1), operand=operand)
    return noise_for(with_first(block, replace(release, of=(measured,))), 1)


def _of_another_factor(block: BlockPlan) -> BlockPlan:
    """Operands that say of one more column that they are computed of it."""
    column = of_table("r1", block.tables()[0].removeprefix(f"{SCHEMA}."), "i8")
    clamp = Bounds(Fraction(0), Fraction(1))
    operand = Clamped(column, clamp.low, clamp.high, column.type)

    def changed(of: Measured) -> Measured:
        other = replace(of.factors[0], operand=operand, clamp=clamp, grid=Fraction(1))
        return replace(of, factors=(*of.factors, other))

    releases: list[Release] = []
    for one in block.releases:
        match one:
            case RecentredMean():
                releases.append(replace(one, measured=changed(one.measured)))
            case NoisyStatistic(of=tuple() as of):
                releases.append(replace(one, of=tuple(map(changed, of))))
            case _:
                raise AssertionError("a mean of what is computed of factors")
    return replace(block, releases=tuple(releases))


@hole(
    Rule.TOTALITY,
    "INSERT INTO people(id, i4, i2) SELECT g, 100, 10 FROM generate_series(1, 9) g",
    _PERSON,
)
def factor_of_no_operand() -> BlockPlan:
    """Rows without that column are added up, and not counted: about the middle of bounds that is too far."""
    return _of_another_factor(block_of("SELECT avg(i4 * i2) FROM people"))


@hole(
    Rule.TOTALITY,
    "INSERT INTO visits(id, uid, i4, i2) SELECT g, g % 7, 100, 10 FROM generate_series(1, 700) g",
    _VISITOR,
    policy="ratio",
)
def factor_that_hides_rows() -> BlockPlan:
    """Of a unit none of these rows is counted, so that its sum of a hundred is not cut."""
    return _of_another_factor(block_of("SELECT avg(i4 * i2) FROM visits", "ratio"))


@hole(Rule.TOTALITY, _PEOPLE, "DELETE FROM people", shown=Shown.ERROR)
def factor_in_no_steps_of_a_stored_index() -> BlockPlan:
    """A factor that is read of another column, in a 0th part of its steps: a row is divided by 0."""
    block = block_of("SELECT avg(i4 * i2) FROM people")
    release = block.releases[0]
    assert isinstance(release, RecentredMean)
    first, *others = release.measured.factors
    stored = replace(first, index=of_table("r1", "people", "i4"), index_steps=0)
    measured = replace(release.measured, factors=(stored, *others))
    return with_first(block, replace(release, measured=measured))


@hole(Rule.TOTALITY, _VISITS, "DELETE FROM visits", policy="chosen", shown=Shown.ERROR)
def withheld_sum_of_no_steps() -> BlockPlan:
    """A sum that is not drawn, but read by the totals of units: of an index in a 0th part of its steps."""
    block = block_of("SELECT sum(i4) FROM visits", "chosen")
    release = block.releases[0]
    assert isinstance(release, NoisyStatistic) and isinstance(release.of, tuple)
    stored = replace(release.of[0], index=of_table("r1", "visits", "i4"), index_steps=0)
    return replace(with_first(block, replace(release, of=(stored,))), withheld=frozenset({0}))


@hole(Rule.GROUPS, _PEOPLE, _PERSON, shown=Shown.TWO_ANSWERS)
def group_answered_twice() -> BlockPlan:
    """A listed key twice: two answers about one group, with noise of their own."""
    block = block_of("SELECT t, count(*) FROM people GROUP BY t")
    return replace(block, keys=(replace(block.keys[0], values=("x", "x")),), combinations=None)


@hole(Rule.GROUPS, _PEOPLE, _PERSON, shown=Shown.TWO_ANSWERS)
def combination_answered_twice() -> BlockPlan:
    block = block_of("SELECT t, count(*) FROM people GROUP BY t")
    return replace(block, combinations=(("x",), ("x",)))


def _key_of_type(kind: SqlType) -> BlockPlan:
    """Groups by a computed number with as many digits as are stored, which is called another kind of number."""
    block = block_of("SELECT n, count(*) FROM people GROUP BY n")
    (key,) = block.keys
    assert isinstance(key.expression, ColumnRef)
    clamped = Clamped(key.expression, Fraction(-9), Fraction(9), SqlType.NUMERIC)
    total = Arithmetic(Operator.ADD, clamped, Constant(Fraction(0), SqlType.INT4), kind)
    return replace(block, keys=(replace(key, expression=total, type=kind, is_long=False),))


_DIGITS = "INSERT INTO people(id, n) VALUES (7, ('0.' || pg_catalog.repeat('3', 16000))::numeric)"


@hole(Rule.TOTALITY, _DIGITS, _PERSON, shown=Shown.LONG_KEY)
def computed_float_that_is_a_short_key() -> BlockPlan:
    return _key_of_type(SqlType.FLOAT8)


@hole(Rule.TOTALITY, _DIGITS, _PERSON, shown=Shown.LONG_KEY)
def computed_integer_that_is_a_short_key() -> BlockPlan:
    return _key_of_type(SqlType.INT8)


@hole(Rule.GROUPS, _VISITS, _VISITOR, shown=Shown.BESIDE_MEANS)
def combination_of_more_keys() -> BlockPlan:
    """A group under two names is found twice, as the second one begins like the first: a unit counts twice in
    one group, which Gaussian noise for one unit in each of two groups does not hide."""
    block = block_of("SELECT t, count(DISTINCT uid), avg(i4) FROM visits GROUP BY t")
    counted, mean = block.releases
    assert isinstance(counted, DistinctCount) and isinstance(mean, DeviationMean)
    loss = Loss(Fraction(1), Fraction(1, 1000))
    noise = gaussian(Sensitivity(l1=2, squared=Fraction(2)), loss)
    return replace(
        block,
        keys=(replace(block.keys[0], values=("x", "y")),),
        combinations=(("x",), ("x", "y")),
        releases=(replace(counted, noise=noise, loss=loss), mean),
        reach=None,
    )


@hole(
    Rule.NEIGHBOURS,
    "INSERT INTO members(id, uid, i4) SELECT g, g, 90 FROM generate_series(1, 30) g",
    "DELETE FROM members WHERE uid = 7",
    policy="clipped",
)
def no_partition_changes() -> BlockPlan:
    """A clipped mean with noise for no output that changes."""
    block = block_of("SELECT avg(i4) FROM members", "clipped")
    release = block.releases[0]
    assert isinstance(release, SampleAggregate) and isinstance(release.mechanism, ClippedMean)
    assert isinstance(block.neighbours, RowNeighbours)
    return replace(
        block,
        neighbours=replace(block.neighbours, partitions=0),
        releases=(replace(release, mechanism=replace(release.mechanism, changed=0)),),
    )


@hole(
    Rule.NEIGHBOURS,
    "INSERT INTO rates SELECT g, 1 FROM generate_series(1, 5) g;"
    " INSERT INTO people(id, i2, i4) SELECT g, 1, 90 FROM generate_series(1, 2) g",
    "DELETE FROM people WHERE id = 1",
    policy="world",
)
def partition_of_more_columns() -> BlockPlan:
    """Rows with one id have many values of (id, k)."""
    block = median_for(block_of("SELECT avg(i4) FROM people", "world"), 5, 1)
    fee = of_table("r2", "rates", "fee")
    k = of_table("r2", "rates", "k")
    rates = Truncate(scan("r2", "rates"), fee, 5, (k,), (), ("k", "fee"), "place")
    i2 = of_table("r1", "people", "i2")
    source = Join(scan("r1", "people"), rates, False, ((i2, fee),), None)
    assert isinstance(block.neighbours, RowNeighbours)
    hashed = (of_table("r1", "people", "id"), k)
    return replace(block, source=source, neighbours=replace(block.neighbours, hashed_by=hashed))


@hole(
    Rule.NEIGHBOURS,
    "INSERT INTO people(id, i2, i4) SELECT g, 1, 50 + g * 9 FROM generate_series(1, 2) g",
    "DELETE FROM people WHERE id = 1 + {} % 2",
    policy="world",
    tries=8,
)
def partition_after_a_cut() -> BlockPlan:
    """After a cut one row takes the place of another: two ids change, not one."""
    block = median_for(block_of("SELECT avg(i4) FROM people", "world"), 2, 1)
    assert isinstance(block.source, Scan)
    by, order = of_table("r1", "people", "i2"), of_table("r1", "people", "id")
    cut = Truncate(block.source, by, 1, (order,), (), ("id", "i2", "i4"), "place")
    return replace(block, source=cut)


@hole(
    Rule.SUBQUERY,
    "INSERT INTO visits(id, uid, i4) SELECT g, 1 + g % 5, CASE WHEN 1 + g % 5 = 3 THEN g ELSE 2 END"
    " FROM generate_series(1, 40) g",
    _VISITOR,
)
def union_of_a_name_twice() -> BlockPlan:
    """Two outputs of one name in a later part: the unit of the union is another column there."""
    block = block_of("SELECT count(*) FROM visits")
    one = tuple((f"c{n}", of_table("s1", "visits", c)) for n, c in ((1, "uid"), (2, "i4")))
    first = Subquery("a1", scan("s1", "visits"), None, one)
    other = Cast(of_table("s2", "visits", "i4"), SqlType.INT8)
    two = (("c1", other), ("c1", of_table("s2", "visits", "uid")))
    second = Subquery("a2", scan("s2", "visits"), None, two)
    union = UnionAll("u", (first, second))
    unit = units_by(column("u", "c1", SqlType.INT8))
    return noise_for(replace(block, source=union, neighbours=unit), 1)


@hole(
    Rule.JOIN,
    "INSERT INTO orders(id, uid, i4) SELECT g, g, g FROM generate_series(1, 9) g;"
    " INSERT INTO calls(id, uid, i2) SELECT g, 50 + g, 3 FROM generate_series(1, 9) g",
    "DELETE FROM orders WHERE uid = 3",
)
def very_row_of_a_left_join() -> BlockPlan:
    """A reference is looked up beside a LEFT JOIN that found no partner: calls meet orders of others."""
    block = block_of("SELECT count(*) FROM calls")
    reference = of_table("c", "calls", "i2")
    own = (of_table("c", "calls", "uid"), of_table("o", "orders", "uid"))
    inner = Join(
        scan("c", "calls"),
        scan("o", "orders"),
        True,
        (own, (reference, of_table("o", "orders", "id"))),
        None,
    )
    again = ((reference, of_table("p", "orders", "id")),)
    source = Join(inner, scan("p", "orders"), False, again, None)
    return noise_for(replace(block, source=source, neighbours=units_by(own[0])), 1)


@hole(
    Rule.JOIN,
    "INSERT INTO orders(id, uid, i4) SELECT g, 1 + g % 9, 1 FROM generate_series(1, 90) g;"
    " INSERT INTO lines(id, order_id) SELECT g, 1 FROM generate_series(1, 9) g",
    "DELETE FROM lines WHERE order_id IN (SELECT id FROM orders WHERE uid = 2);"
    " DELETE FROM orders WHERE uid = 2",
)
def alias_of_an_inner_scan() -> BlockPlan:
    """A subquery is named as the table below it, and its `id` is another column."""
    block = block_of("SELECT count(*) FROM lines")
    outputs = (("id", of_table("o", "orders", "i4")), ("uid", of_table("o", "orders", "uid")))
    named = Subquery("o", scan("o", "orders"), None, outputs)
    pair = (of_table("r1", "lines", "order_id"), of_table("o", "orders", "id"))
    source = Join(scan("r1", "lines"), named, False, (pair,), None)
    unit = units_by(of_table("o", "orders", "uid"))
    return noise_for(replace(block, source=source, neighbours=unit), 1)


@hole(
    Rule.NEIGHBOURS,
    "INSERT INTO visits(id, uid, i4) SELECT g, CASE WHEN g < 6 THEN 3 ELSE g END, g"
    " FROM generate_series(1, 45) g",
    _VISITOR,
)
def number_over_the_unit() -> BlockPlan:
    """The number of a row in a cut is called as the unit is: units are then numbers."""
    block = block_of("SELECT count(*) FROM visits")
    assert isinstance(block.source, Scan)
    unit = of_table("r1", "visits", "uid")
    order = (of_table("r1", "visits", "id"),)
    cut = Truncate(block.source, unit, 5, order, (unit,), ("id", "i4"), "uid", below_join=True)
    return noise_for(replace(block, source=cut, neighbours=units_by(unit)), 1)


@hole(
    Rule.TRUNCATION,
    "INSERT INTO people(id, i4, i2, t) SELECT g, (g * 37) % 101, (g * 7919) % 500, 'x'"
    " FROM generate_series(1, 3000) g",
    "DELETE FROM people WHERE id = {}",
    policy="joins best",
    tries=12,
)
def cut_in_order_of_arrival() -> BlockPlan:
    """Of rows that the order leaves tied the sort chooses, and one row more changes many."""
    block = block_of("SELECT sum(i4) FROM people", "joins best")
    assert isinstance(block.source, Scan)
    by = of_table("r1", "people", "i2")
    cut = Truncate(block.source, by, 3, (by,), (), ("id", "i2", "i4"), "place")
    return noise_for(replace(block, source=cut, neighbours=rows_that_change(2)), 200)


def windows_changed(relation: Relation, change: Callable[[WindowColumn], WindowColumn]) -> Relation:
    if not isinstance(relation, Subquery):
        return relation
    below = windows_changed(relation.source, change)
    return replace(relation, windows=tuple(map(change, relation.windows)), source=below)


@hole(
    Rule.WINDOW,
    "INSERT INTO visits(id, uid, i4, i2) SELECT g, g % 40, (g * 37) % 100, 1 FROM generate_series(1, 400) g",
    "DELETE FROM visits WHERE uid = {}",
    tries=24,
)
def window_with_ties() -> BlockPlan:
    """Rows of another unit decide which of tied rows of a unit is the first."""
    block = block_of(
        "SELECT sum(i4) FROM (SELECT uid, i4, row_number() OVER (PARTITION BY uid ORDER BY i2) AS rn"
        " FROM visits) s WHERE rn = 1"
    )
    return replace(block, source=windows_changed(block.source, lambda w: replace(w, ties=())))


@hole(
    Rule.WINDOW,
    "INSERT INTO visits(id, uid, t) SELECT g, g % 40, repeat('x', 1100) || (g * 7919) % 11 % 2"
    " FROM generate_series(1, 400) g",
    "DELETE FROM visits WHERE uid = {}",
    tries=12,
)
def window_by_long_texts() -> BlockPlan:
    """ORDER BY prints the first characters of a text: longer ones are tied."""
    block = block_of(
        "SELECT count(*) FROM (SELECT uid, t, row_number() OVER (PARTITION BY uid ORDER BY i2) AS rn"
        " FROM visits) s WHERE rn = 1"
    )
    text = of_table("r1", "visits", "t")
    unit = of_table("r1", "visits", "uid")
    number = WindowColumn(
        name="rn",
        function=WindowFunction.ROW_NUMBER,
        type=SqlType.INT8,
        partition=(unit,),
        order=(OrderTerm(text, False, False),),
        frame=Frame.DEFAULT,
    )
    outputs = (("uid", unit), ("t", text))
    numbered = Subquery("q", scan("r1", "visits"), None, outputs, windows=(number,))
    first = Like(column("q", "t", SqlType.TEXT), Constant("%1", SqlType.TEXT), False)
    by_number = _first_row(column("q", "rn", SqlType.INT8))
    chosen = Subquery(
        "p", numbered, by_number, tuple((n, column("q", n, e.type)) for n, e in outputs)
    )
    unit_above = column("p", "uid", SqlType.INT8)
    moved = replace(first, operand=column("p", "t", SqlType.TEXT))
    neighbours = RowNeighbours(rows=1, hashed_by=(unit_above,), not_null=unit_above)
    return noise_for(replace(block, source=chosen, where=moved, neighbours=neighbours), 1)


@hole(
    Rule.WINDOW,
    "INSERT INTO visits(id, uid, i4, i2) SELECT g, g % 4, 1, g FROM generate_series(1, 40) g",
    "DELETE FROM visits WHERE uid = 3",
)
def number_that_is_an_aggregate() -> BlockPlan:
    """What is called the number of a row is a count, of which all rows of a unit have the same."""
    block = block_of(
        "SELECT count(*) FROM (SELECT uid, i4, row_number() OVER (PARTITION BY uid ORDER BY i2) AS rn"
        " FROM visits) s WHERE rn = 1"
    )
    count = Aggregate(AggregateKind.COUNT_ROWS, None, None, SqlType.INT8)
    return replace(
        block,
        source=windows_changed(block.source, lambda w: replace(w, aggregate=count, rows=1)),
    )


@hole(
    Rule.WINDOW,
    "INSERT INTO visits(id, uid, i4, i2) SELECT g, g % 40, CASE WHEN g % 11 > 4 THEN 1 END, 1"
    " FROM generate_series(1, 400) g",
    "DELETE FROM visits WHERE uid = {}",
    tries=24,
)
def number_that_only_some_rows_have() -> BlockPlan:
    """Whether the row that the sort puts first has a number depends on a column by which it does not sort."""
    block = block_of(
        "SELECT count(*) FROM (SELECT uid, row_number() OVER (PARTITION BY uid ORDER BY i2) AS rn"
        " FROM visits) s WHERE rn = 1"
    )
    some = of_table("r1", "visits", "i4")
    return replace(
        block,
        source=windows_changed(block.source, lambda w: replace(w, ties=(), present=some)),
    )


@hole(
    Rule.EXPRESSION,
    "INSERT INTO people(id, i4) SELECT g, g FROM generate_series(1, 20) g",
    "DELETE FROM people WHERE id = 20",
)
def condition_on_other_rows() -> BlockPlan:
    """The word between two conditions is printed as it is."""
    block = block_of("SELECT count(*) FROM people WHERE i4 > 1000 OR i4 > 2000")
    assert isinstance(block.where, Connective)
    others = f"OR (SELECT count(*) FROM {SCHEMA}.people) > 19 OR"
    return replace(block, where=replace(block.where, word=others))


@hole(
    Rule.EXPRESSION,
    "INSERT INTO people(id, i4) SELECT g, g FROM generate_series(1, 20) g",
    "DELETE FROM people WHERE id = 20",
)
def alias_with_further_rows() -> BlockPlan:
    """So are the names of relations."""
    block = block_of("SELECT count(*) FROM people")
    assert isinstance(block.source, Scan)
    many = replace(block.source, alias="r1 CROSS JOIN generate_series(1, 9) AS r2")
    return replace(block, source=many, neighbours=rows_that_change(1))


def _first_row(number: ColumnRef) -> Expression:
    return Comparison(Comparator.EQ, number, Constant(Fraction(1), SqlType.INT8))


@hole(
    Rule.JOIN,
    "INSERT INTO members(id, uid, i4) SELECT g, NULL, 50 FROM generate_series(1, 9) g;"
    " INSERT INTO people(id, i4) SELECT g, 1 FROM generate_series(1, 9) g",
    "DELETE FROM members WHERE uid IS NULL",
)
def rows_of_nobody_count() -> BlockPlan:
    """Rows without a unit stay and are counted, with anybody's noise."""
    block = block_of("SELECT count(*) FROM people")
    pair = (of_table("r2", "members", "uid"), of_table("r1", "people", "id"))
    source = Join(scan("r2", "members"), scan("r1", "people"), True, (pair,), None)
    return noise_for(replace(block, source=source, neighbours=rows_that_change(3)), 3)


@hole(
    Rule.JOIN,
    "INSERT INTO people(id, i4) SELECT g, 1 FROM generate_series(1, 9) g;"
    " INSERT INTO trips(id, leg, i4) SELECT 1, g::text, 1 FROM generate_series(1, 9) g",
    "DELETE FROM trips WHERE leg IN ('1', '2', '3')",
)
def alias_with_random_names() -> BlockPlan:
    """A subquery with names of rows is called as the table below: its `id` is no key."""
    block = block_of("SELECT count(*) FROM people")
    name = WindowColumn(
        name="u",
        function=WindowFunction.ROW_NAME,
        type=SqlType.UUID,
        partition=(),
        order=(),
        frame=Frame.DEFAULT,
    )
    renamed = (("id", of_table("r1", "people", "i4")),)
    people = Subquery("r1", scan("r1", "people"), None, renamed, windows=(name,))
    trip, leg = of_table("r2", "trips", "id"), of_table("r2", "trips", "leg")
    trips = Truncate(scan("r2", "trips"), trip, 9, (trip, leg), (), ("id", "leg", "i4"), "place")
    source = Join(people, trips, False, ((column("r1", "id", SqlType.INT4), trip),), None)
    return noise_for(replace(block, source=source, neighbours=rows_that_change(15)), 15)


ONE_PADDED = (
    "INSERT INTO people(id, c, s, i4) VALUES (1, 'a', 'a', 1);"
    " INSERT INTO events(s, i4) SELECT 'a' || repeat(' ', g), 1 FROM generate_series(0, 19) g"
)


def joined_to_texts(people: Subquery | UnionAll, kind: SqlType, changed: int) -> BlockPlan:
    """Rows of people, one for each text, that meet one row of each text of events."""
    text, number = column("q", "x", kind), column("q", "id", SqlType.INT4)
    left = Truncate(people, text, 1, (text, number), (text,), ("x", "id"), "place")
    shown = tuple((n, of_table("r2", "events", n)) for n in ("s", "i4"))
    events = Subquery("e", scan("r2", "events"), None, shown)
    other, count = column("e", "s", SqlType.VARCHAR), column("e", "i4", SqlType.INT4)
    right = Truncate(events, other, 1, (other, count), (other,), ("s", "i4"), "place")
    source = Join(left, right, False, ((text, other),), None)
    block = block_of("SELECT count(*) FROM people")
    neighbours = rows_that_change(changed)
    return noise_for(replace(block, source=source, neighbours=neighbours), changed)


@hole(Rule.UNION_ALL, ONE_PADDED, "DELETE FROM people WHERE id = 1", is_unseeded=True)
def union_with_padded_texts() -> BlockPlan:
    """PostgreSQL makes character(n) of a union whose first part is that."""

    def part(alias: str, table: str, text: str, where: Expression | None) -> Subquery:
        outputs = tuple((n, of_table(table, "people", c)) for n, c in (("x", text), ("id", "id")))
        return Subquery(alias, scan(table, "people"), where, outputs)

    never = Comparison(
        Comparator.LT, of_table("r3", "people", "id"), Constant(Fraction(-5), SqlType.INT4)
    )
    parts = (part("u1", "r1", "c", None), part("u2", "r3", "s", never))
    return joined_to_texts(UnionAll("q", parts), SqlType.TEXT, 6)


@hole(
    Rule.TRUNCATION,
    "INSERT INTO events(i2, i4, j) SELECT g % 500, 1,"
    """ CASE WHEN (g * 37) % 101 < 40 THEN '{"a":1.0}' ELSE '{"a":1.00}' END::jsonb"""
    " FROM generate_series(1, 4000) g ORDER BY md5(g::text)",
    "DELETE FROM events WHERE ctid = (SELECT ctid FROM events OFFSET {} * 97 LIMIT 1)",
    tries=6,
)
def cut_in_the_order_of_jsonb() -> BlockPlan:
    """1.0 and 1.00 are tied, but `->>` tells them apart."""
    block = block_of("SELECT count(*) FROM events WHERE j->>'a' = '1.00'")
    names = ("i2", "i4", "j")
    key, number, inside = (of_table("r1", "events", name) for name in names)
    source = Truncate(scan("r1", "events"), key, 1, (key, number, inside), (key,), names, "place")
    return noise_for(replace(block, source=source, neighbours=rows_that_change(2)), 2)


@hole(
    Rule.NEIGHBOURS,
    "INSERT INTO people(id, j, i4) SELECT g, CASE g WHEN 1 THEN '1.0' ELSE '1.00' END::jsonb, 50 + g * 9"
    " FROM generate_series(1, 2) g",
    "DELETE FROM people WHERE id = 1 + {} % 2",
    policy="world",
    tries=12,
)
def partitions_by_forms_of_jsonb() -> BlockPlan:
    """A cut keeps 1.0 or 1.00, which are equal, in partitions by their texts."""
    block = median_for(block_of("SELECT avg(i4) FROM people", "world"), 2, 1)
    by, order = of_table("r1", "people", "j"), of_table("r1", "people", "id")
    source = Truncate(scan("r1", "people"), by, 1, (order,), (by,), ("id", "j", "i4"), "place")
    assert isinstance(block.neighbours, RowNeighbours)
    return replace(block, source=source, neighbours=replace(block.neighbours, hashed_by=(by,)))


@hole(
    Rule.EXPRESSION,
    "INSERT INTO visits(id, uid, i4) VALUES (1, 7, 1);"
    " INSERT INTO people(id, i4) SELECT g, 1 FROM generate_series(1, 9) g",
    "DELETE FROM visits WHERE uid = 7",
)
def list_of_a_protected_table() -> BlockPlan:
    """A list that is read of a protected table, exactly and before the charge."""
    block = block_of("SELECT count(*) FROM people WHERE i4 IN (SELECT k FROM rates)")
    assert isinstance(block.where, InPublic)
    listed = replace(
        block.where,
        table=TableName("w", "visits"),
        alias="l",
        output=of_table("l", "visits", "i4"),
        condition=None,
    )
    return replace(block, where=listed)


@hole(
    Rule.ORDER_STATISTIC,
    "INSERT INTO people(id, i4)"
    " SELECT g, CASE g WHEN 3 THEN 1 WHEN 4 THEN 50 ELSE 90 END FROM generate_series(1, 900) g",
    "DELETE FROM people WHERE id = 3",
)
def few_values_fetched() -> BlockPlan:
    """Fewer values than the caps look at: a row more at the end brings 900 rows from one value to another."""
    block = block_of("SELECT min(i4) FROM people")
    release = block.releases[0]
    assert isinstance(release, OrderStatistic)
    return with_first(block, replace(release, needed=1))


@hole(
    Rule.ORDER_STATISTIC,
    "INSERT INTO people(id, i4) SELECT g, g FROM generate_series(1, 90) g",
    "DELETE FROM people WHERE id = 1",
)
def extreme_of_a_fraction() -> BlockPlan:
    """MIN that says a fraction as quantiles do: fewer values are fetched then than its law looks at."""
    block = block_of("SELECT min(i4) FROM people")
    release = block.releases[0]
    assert isinstance(release, OrderStatistic)
    aggregate = replace(release.aggregate, fraction=Fraction(1, 2))
    return with_first(block, replace(release, aggregate=aggregate, needed=12))


# A person in all groups.
_EVERYWHERE = (
    "INSERT INTO visits(id, uid, i4, i2, t)"
    " SELECT g, g % 7, g % 11, g % 3, (ARRAY['x', 'y', 'z'])[1 + g % 3] FROM generate_series(1, 60) g"
)
_BY_TEXT = "SELECT t, min(i4) FROM visits GROUP BY t"


@hole(Rule.UNIT_EXTREME, _EVERYWHERE, _VISITOR)
def extreme_of_all_groups() -> BlockPlan:
    """A unit has a value in each of its groups, of which one is paid."""
    block = block_of(_BY_TEXT)
    release = block.releases[0]
    assert isinstance(release, UnitExtreme) and release.keeps_one_group
    return replace(block, releases=(replace(release, keeps_one_group=False),))


@hole(Rule.NOISE, _EVERYWHERE, _VISITOR)
def units_counted_in_all_groups() -> BlockPlan:
    """A unit is counted in each of its groups, of which the noise hides one."""
    block = block_of(_BY_TEXT)
    release = block.releases[1]
    assert isinstance(release, KeptUnits) and release.keeps_one_group
    return replace(block, releases=(replace(release, keeps_one_group=False),))


@hole(Rule.NEIGHBOURS, _VISITS, _VISITOR)
def extreme_of_rows() -> BlockPlan:
    """Rows that nobody gathers by unit, each of which is a value."""
    block = block_of("SELECT min(i4) FROM visits")
    unit = units_of(block).column
    return replace(block, neighbours=RowNeighbours(rows=1, hashed_by=(unit,), not_null=unit))


@hole(
    Rule.CHOSEN_VALUE,
    "INSERT INTO trips(id, leg, i4) SELECT g % 10, g, 3 FROM generate_series(1, 30) g",
    "DELETE FROM trips WHERE id = 7",
)
def values_of_several_rows() -> BlockPlan:
    """Each of three rows that change together is counted by its value."""
    block = block_of("SELECT avg(i4) FROM trips")
    release = block.releases[0]
    assert isinstance(release, RecentredMean)
    chosen = ValueChoice(
        number=0,
        releases=frozenset({0}),
        measured=release.measured,
        choice=choice_of(Loss(Fraction(1), Fraction(0)), 100),
    )
    return replace(block, value_choices=(chosen,))


@hole(Rule.EXPRESSION, _PEOPLE, _PERSON, shown=Shown.AN_ANSWER)
def values_beside_an_answer() -> BlockPlan:
    """A bound is chosen of values to which one analyst's answer is added, and the block is kept for all."""
    block = block_of("SELECT avg(i4) FROM people")
    release = block.releases[0]
    assert isinstance(release, RecentredMean)
    (answer,) = (p for p in nodes(block_with_an_answer().where) if isinstance(p, Parameter))
    ends = Fraction(-1000), Fraction(1000), SqlType.NUMERIC
    value = Clamped(of_table("r1", "people", "i4"), *ends)
    operand = Arithmetic(Operator.ADD, value, Clamped(answer, *ends), SqlType.NUMERIC)
    chosen = ValueChoice(
        number=0,
        releases=frozenset({0}),
        measured=replace(release.measured, operand=operand, on_grid=False, least=None),
        choice=choice_of(Loss(Fraction(1), Fraction(0)), 100),
    )
    return replace(block, value_choices=(chosen,))


@hole(Rule.TOTAL, _VISITS, _VISITOR)
def total_above_its_low_end() -> BlockPlan:
    """A cut of which the ends are the wrong way round: the outer one wins."""
    block = block_of("SELECT count(*) FROM visits")
    release = block.releases[0]
    assert isinstance(release, NoisyStatistic)
    total = UnitTotal(low=-1, high=-5, parts=1, choice=None)
    return noise_for(with_first(block, replace(release, total=total)), 1)


@hole(
    Rule.NEIGHBOURS,
    "INSERT INTO people(id, t, i4) SELECT g, CASE WHEN g = 7 THEN 'x' ELSE 'y' END, g"
    " FROM generate_series(1, 30) g;"
    " INSERT INTO trips(id, leg, t, i4) SELECT g, 'a', 'y', 1 FROM generate_series(1, 2) g",
    _PERSON,
    policy="joins",
    shown=Shown.ERROR,
)
def partitions_by_null() -> BlockPlan:
    """Partitions by a key of the right side of a LEFT JOIN: rows without partner have none."""
    block = block_of("SELECT avg(a.i4) FROM people a JOIN trips b ON a.t = b.t", "joins")
    assert isinstance(block.source, Join) and isinstance(block.neighbours, RowNeighbours)
    hashed = (block.source.equal[0][1],)
    outer = replace(block.source, left_outer=True)
    block = median_for(block, 99, 99)
    assert isinstance(block.neighbours, RowNeighbours)
    rows = replace(block.neighbours, hashed_by=hashed, partitions=None)
    return replace(block, source=outer, neighbours=rows)


@hole(Rule.NEIGHBOURS, _VISITS, _VISITOR)
def no_group_of_a_unit() -> BlockPlan:
    """No group of a unit is answered, so that nothing would move."""
    block = block_of("SELECT count(DISTINCT uid) FROM visits")
    release = block.releases[0]
    assert isinstance(release, DistinctCount)
    quiet = replace(release, noise=LaplaceNoise(scale=Fraction(1, 10**6)))
    return with_first(replace(block, neighbours=replace(units_of(block), groups=0)), quiet)


@hole(
    Rule.EXPRESSION,
    "INSERT INTO people(id, i4, t) SELECT g, 1, CASE WHEN g = 7 THEN 'word' END FROM generate_series(1, 9) g",
    _PERSON,
    policy="world",
    shown=Shown.ERROR,
)
def partitions_by_another_type() -> BlockPlan:
    """A text is hashed as a number, and one row's text is an error."""
    block = block_of("SELECT avg(i4) FROM people", "world")
    assert isinstance(block.neighbours, RowNeighbours)
    hashed = (column("r1", "t", SqlType.INT4),)
    return replace(block, neighbours=replace(block.neighbours, hashed_by=hashed))


@hole(
    Rule.NEIGHBOURS,
    "INSERT INTO members(id, uid, i4) SELECT g, g, 1 FROM generate_series(1, 9) g;"
    " INSERT INTO visits(id, uid, t) SELECT g, 3, 'k' || g FROM generate_series(1, 9) g",
    "DELETE FROM members WHERE uid = 3; DELETE FROM visits WHERE uid = 3",
)
def lookup_on_the_unit_alone() -> BlockPlan:
    """One row for each unit and kind, of which the unit alone is compared: said to be one row of a unit."""
    block = block_of(
        "SELECT count(*) FROM members m WHERE EXISTS"
        " (SELECT 1 FROM visits v WHERE v.uid = m.uid AND v.t = m.t)"
    )
    return replace(block, source=_without_rest(block.source))


def _without_rest(relation: Relation) -> Relation:
    """The first join on the way compares the unit alone."""
    if isinstance(relation, Join):
        return replace(relation, equal=relation.equal[:1], rest=None)
    assert isinstance(relation, Subquery)
    return replace(relation, source=_without_rest(relation.source))


_LARGE = (
    "INSERT INTO visits(id, uid, n) SELECT g, g, ('9' || repeat('0', 131071))::numeric"
    " FROM generate_series(1, 3) g; UPDATE visits SET uid = 2 WHERE id = 3"
)
_ONE_OF_THREE = "DELETE FROM visits WHERE id = 3"


@hole(Rule.TOTALITY, _LARGE, _ONE_OF_THREE, shown=Shown.ERROR)
def units_kept_by_a_sum() -> BlockPlan:
    """Units that are counted by the sum of their values, which is computed before it is clamped."""
    block = block_of("SELECT max(n) FROM visits")
    kept = block.releases[1]
    assert isinstance(kept, KeptUnits)
    return replace(block, releases=(block.releases[0], _as_sum(kept)))


@hole(Rule.TOTALITY, _LARGE, _ONE_OF_THREE, shown=Shown.ERROR)
def extreme_that_is_a_sum() -> BlockPlan:
    block = block_of("SELECT max(n) FROM visits")
    extreme = block.releases[0]
    assert isinstance(extreme, UnitExtreme)
    return with_first(block, _as_sum(extreme))


@hole(Rule.TOTALITY, _LARGE, _ONE_OF_THREE, policy="world", shown=Shown.ERROR)
def partitions_with_sums() -> BlockPlan:
    block = block_of("SELECT min(n) FROM visits", "world")
    release = block.releases[0]
    assert isinstance(release, SampleAggregate)
    return with_first(block, _as_sum(release))


Summed = TypeVar("Summed", UnitExtreme, KeptUnits, SampleAggregate)


def _as_sum(release: Summed) -> Summed:
    aggregate = replace(release.aggregate, kind=AggregateKind.SUM)
    return replace(release, aggregate=aggregate)
