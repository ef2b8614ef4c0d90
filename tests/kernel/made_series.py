"""Series at random, and rows that come while their steps are read, one after the other or all at once.

A step is a group: rows with a small whole number. So a row that comes late, or early, is one whose number is
that of another step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.exact.table import ExactTable, added_up, by_keys, places
from proxy.kernel.attribution import relation_of
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.neighbour_kinds import Neighbours, UnitNeighbours
from proxy.kernel.plan import BlockPlan, ContinualNoise, DistinctCount, NoisyStatistic
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.sensitivities import of_series, of_step
from proxy.kernel.shape import Shape, shape_of
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.mechanisms import zcdp
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Join, Relation, Subquery, Truncate, tables_of_rows
from tests.kernel.made_blocks import _LOSS, TEMPLATE, BlockMaker, _measured
from tests.kernel.made_relations import COUNT, USED, shown_by
from tests.kernel.tiny_database import TinyDatabase

_STEPS = ("1", "2", "3", "4")
_PERSONS = ("visits", "orders", "calls", "members")
_SUMS = (Statistic.STEPS, Statistic.CENTRED, Statistic.SQUARES, Statistic.PRODUCTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A row that comes before a step is read. unit: whose it is."""

    step: int
    table: str
    values: str
    unit: str

    @property
    def sql(self) -> str:
        return f"INSERT INTO w.{self.table} ({', '.join(USED[self.table])}) VALUES ({self.values})"


class SeriesMaker(BlockMaker):
    """Given    maker: of relations; what it draws from draws here, too."""

    def block(self) -> BlockPlan | None:
        random = self.maker.random
        relation = self._source()
        try:
            neighbours = self._neighbours(relation_of(relation, self.world))
        except NotPrivate:
            return None
        numbers = [column for column in shown_by(relation) if column.type.is_integer]
        if neighbours is None or not numbers:
            return None
        listed = tuple(sorted(random.sample(_STEPS, random.choice((2, 3, 3, 4)))))
        column = random.choice([c for c in numbers if c.column in ("i2", "i4")] or numbers)
        key = KeyPlan(
            expression=column,
            type=column.type,
            type_name=column.type.sql,
            values=listed,
            is_long=False,
        )
        plan = replace(
            TEMPLATE,
            source=relation,
            neighbours=self._in_order(neighbours),
            where=self.maker.condition(relation) if random.random() < 0.2 else None,
            keys=(key,),
            grouped=True,
            answers=(),
            releases=(),
            combinations=None,
            rows_choice=None,
            sub_partitions=0,
        )
        try:
            return replace(plan, releases=tuple(self._steps(shape_of(plan), numbers, len(listed))))
        except NotPrivate:
            return None

    def _source(self) -> Relation:
        """Mostly one of which rows only become more."""
        random, chance = self.maker.random, self.maker.random.random()
        if chance < 0.1:
            cut, _ = self.maker._cut_table()  # by the unit alone, if it has one
            if isinstance(cut, Truncate) and isinstance(cut.source, Truncate):
                return cut.source
            return cut
        if chance < 0.3:
            return self.maker.relation(random.choice((1, 1, 2)))
        left = self.maker.scan()
        if chance < 0.6:
            return left
        if chance < 0.7:
            shown = tuple((column.column, column) for column in shown_by(left))
            return Subquery(self.maker._alias(), left, self.maker.condition(left), shown)
        left, right = self.maker.scan(_PERSONS), self.maker.scan(_PERSONS)
        x, y = (next(c for c in shown_by(one) if c.column == "uid") for one in (left, right))
        return Join(left, right, random.random() < 0.1, ((x, y),), None)

    def _in_order(self, neighbours: Neighbours) -> Neighbours:
        if not isinstance(neighbours, UnitNeighbours):
            return neighbours
        random = self.maker.random
        return replace(
            neighbours, groups=random.choice((1, 1, 2, 3)), is_in_order=random.random() < 0.8
        )

    def _steps(
        self, shape: Shape, numbers: Sequence[ColumnRef], steps: int
    ) -> Iterator[NoisyStatistic | DistinctCount]:
        random, is_at_once = self.maker.random, self.maker.random.random() < 0.4
        is_unit = isinstance(shape.neighbours, UnitNeighbours)
        column = random.choice(numbers)
        low, high = sorted(random.sample((-2, -1, 0, 1, 3), 2))
        measured = _measured(column, low, high, shape.neighbours.rows)
        measured = replace(measured, is_of_mean=random.random() < 0.3)
        operand = random.choice((None, column))
        found: list[NoisyStatistic | DistinctCount] = [
            self._counted(Counted(operand=operand, condition=None, never_null=False)),
            self._summed(measured),
            replace(self._distinct(shape, column, is_unit), of_unit=True),
        ]
        for release in random.sample(found, random.randint(1, 3)):
            yield self._with_noise(release, shape, steps, is_at_once)

    def _counted(self, counted: Counted) -> NoisyStatistic:
        noise = self._noise(1, Fraction(1))
        return NoisyStatistic(
            aggregate=COUNT, statistic=Statistic.ROWS, of=counted, noise=noise, loss=_LOSS
        )

    def _summed(self, measured: Measured) -> NoisyStatistic:
        statistic = self.maker.random.choice(_SUMS)
        of = (measured, measured) if statistic is Statistic.PRODUCTS else (measured,)
        noise = self._noise(1, Fraction(1))
        return NoisyStatistic(aggregate=COUNT, statistic=statistic, of=of, noise=noise, loss=_LOSS)

    def _with_noise(
        self, release: NoisyStatistic | DistinctCount, shape: Shape, steps: int, is_at_once: bool
    ) -> NoisyStatistic | DistinctCount:
        """With as much as the kernel asks for, and no more."""
        falling = sorted(
            (self.maker.random.choice((0, 1, 1, 2)) for _ in range(1, steps)), reverse=True
        )
        factor = (max(1, 2, *falling), *falling)
        squared = of_series(shape, factor, of_step(release, shape), is_at_once=is_at_once)
        rho = zcdp.rho_of_loss(_LOSS.epsilon, _LOSS.delta)
        noise = ContinualNoise(factor=factor, sigma2=squared / (2 * rho), is_at_once=is_at_once)
        return replace(release, noise=noise)

    def arrivals(self, steps: int) -> list[Arrival]:
        """Rows of all tables, of few units. People come again in other steps."""
        random = self.maker.random
        found: list[Arrival] = []
        members: set[str] = set()
        for step in range(steps):
            for table in USED:
                for _ in range(random.choice((0, 0, 1, 2, 5))):
                    one = self._arrival(step, table, len(found) + 1)
                    if table not in ("rates", "places") and one.unit not in members:
                        found.append(one)
                    if table == "members":
                        members.add(one.unit)
        return found

    def _arrival(self, step: int, table: str, number: int) -> Arrival:
        random = self.maker.random
        here = _STEPS[min(3, max(0, step + random.choice((0, 0, 0, -1, 1))))]
        i4, i2 = (random.choice(("NULL", *_STEPS, here, here, here)) for _ in range(2))
        person = 1 + number % 3
        values, unit = f"{number}, {i4}, {i2}", f"{table} {number}"
        match table:
            case "trips":
                values = f"{number}, '{number}', {i4}, {i2}"
            case "notes":
                author = random.choice("ab")
                values, unit = f"{number}, '{author}', 'x'", f"author {author}"
            case "lines":
                order = random.randint(1, number + 5)
                values, unit = f"{number}, {order}, {i4}", f"order {order}"
            case "members":
                values, unit = f"{number}, {person}, {i4}", f"member {person}"
            case "calls":
                values, unit = f"{number}, {person}, {i2}, {i4}", f"person {person}"
            case "visits" | "orders":
                values, unit = f"{number}, {person}, {i4}, {i2}", f"person {person}"
        return Arrival(step=step, table=table, values=values, unit=unit)


def without_a_unit(block: BlockPlan, arrivals: Sequence[Arrival]) -> Iterator[list[Arrival]]:
    """All rows of the tables that a block reads, and after these all but those of a unit, for some units."""
    read = {table.name for table in tables_of_rows(block.source)}
    orders = {int(one.values.split(",")[0]) for one in arrivals if one.table == "orders"}
    whole = [one for one in arrivals if one.table in read]
    yield whole
    gone: list[list[Arrival]] = []
    for person in (1, 2, 3):
        theirs = {f"person {person}", f"member {person}"}
        theirs |= {f"order {order}" for order in orders if 1 + order % 3 == person}
        gone.append([one for one in whole if one.unit in theirs])
    gone += [[one for one in whole if one.unit == f"author {author}"] for author in "ab"]
    for table, rows in (("people", 1), ("trips", 3)):
        of_table = [one for one in whole if one.table == table]
        gone += [of_table[first : first + rows] for first in (0, 2, 5)]
    for rows_of_unit in filter(None, gone):
        yield [one for one in whole if one not in rows_of_unit]


def read_steps(
    database: TinyDatabase, block: BlockPlan, arrivals: Sequence[Arrival], seed: int
) -> list[list[int]]:
    """The exact number of each release, for each step: read when it is due, or all of them in the end.

    The tables are empty before. Between two steps seeds are others.
    """
    steps = [text for (text,) in block.listed_groups]
    last, found = len(steps) - 1, []
    with database.without("SELECT 1"):
        if not block.is_stepwise:
            database.run("; ".join(one.sql for one in arrivals))
            tables = database.tables(block, seed)
            return [_of_step(text, tables) for text in steps]
        for step, text in enumerate(steps):
            database.run("; ".join(one.sql for one in arrivals if min(one.step, last) == step))
            found.append(_of_step(text, database.tables(block, seed + step)))
    return found


def _of_step(text: str | None, tables: Sequence[ExactTable]) -> list[int]:
    numbers = []
    for _, table, slots in sorted(places(tables), key=lambda one: one[0]):
        slot = slots.total if slots.total is not None else slots.count
        numbers.append(added_up(by_keys(tables[table]).get((text,), []), slot))
    return numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamMovement:
    """How far R x moved, squared, and how far it may. release: by its number."""

    release: int
    observed: int
    paid: Fraction


def stream_movements(
    block: BlockPlan, here: Sequence[Sequence[int]], there: Sequence[Sequence[int]]
) -> Iterator[StreamMovement]:
    """What one unit moves, over all steps (PROOFS.md 33 C2, C4)."""
    for number, noise in block.continual.items():
        moved = [mine[number] - theirs[number] for mine, theirs in zip(here, there, strict=True)]
        rows = (
            sum(noise.factor[row - at] * moved[at] for at in range(row + 1))
            for row in range(len(moved))
        )
        loss = block.releases[number].loss
        yield StreamMovement(
            release=number,
            observed=sum(row**2 for row in rows),
            paid=2 * zcdp.rho_of_loss(loss.epsilon, loss.delta) * noise.sigma2,
        )
