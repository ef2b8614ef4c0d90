"""Series of releases: tampered plans, and people who come day by day beside the same without one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random  # noqa: TID251  the same people for the same seed

import pytest

from proxy.base.sql_types import SqlType
from proxy.exact.table import ExactTable, added_up, by_keys, places
from proxy.kernel.block_price import price_of_block
from proxy.kernel.checked_plan import check_plan
from proxy.kernel.continual_rules import check_series, only_grows
from proxy.kernel.key_plans import FewestUnits, Selection
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import (
    BlockPlan,
    ContinualNoise,
    DistinctCount,
    LaplaceNoise,
    NoisyStatistic,
    Release,
)
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.sensitivities import of_series, of_step, series, steps_of
from proxy.kernel.shape import shape_of
from proxy.mechanisms import zcdp
from proxy.mechanisms.loss import Loss
from proxy.planner.neighbours import choice_of
from proxy.planner.series import SeriesTerms
from proxy.query.ir.expressions import (
    Case,
    ColumnRef,
    Comparator,
    Comparison,
    Constant,
    InPublic,
)
from proxy.query.ir.relations import Join, Relation, Subquery, Truncate, UnionAll
from tests.kernel.examples import (
    WORLD,
    columns_of,
    cut_visits,
    key_plan,
    numbered_visits,
    of_table,
    row_shape,
    scan,
    scan_of_copy,
    series_block,
)
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import walk
from tests.unchecked_blocks import stated_loss

_DAYS, _MOST = 6, 2
_PEOPLE = range(1, 5)
_LOSS = Loss(Fraction(1, 2), Fraction(1, 10**6))
_SELECTION = Selection(loss=_LOSS, each=_LOSS)
_CHOICE = choice_of(Loss(Fraction(1, 2), Fraction(0)), 100)


def _units(block: BlockPlan) -> UnitNeighbours:
    assert isinstance(block.neighbours, UnitNeighbours)
    return block.neighbours


def _noise(block: BlockPlan, change: Callable[[ContinualNoise], object]) -> BlockPlan:
    """With another noise of the first release."""
    first, *others = block.releases
    assert isinstance(first, NoisyStatistic) and isinstance(first.noise, ContinualNoise)
    changed = replace(first, noise=change(first.noise))  # type: ignore[arg-type]
    return replace(block, releases=(changed, *others))


def _keys(block: BlockPlan, values: Sequence[str | None] | None) -> BlockPlan:
    (key,) = block.keys
    return replace(block, keys=(replace(key, values=None if values is None else tuple(values)),))


def _listed(block: BlockPlan) -> list[str | None]:
    return [value for (value,) in block.listed_groups]


def _joined(block: BlockPlan, table: str, left_outer: bool = False) -> BlockPlan:
    unit = ColumnRef("uid", SqlType.INT8, None, "r1")
    other = of_table("r2", table, "k" if table == "rates" else "uid")
    return replace(
        block, source=Join(block.source, scan("r2", table), left_outer, ((unit, other),), None)
    )


_TAMPERED: dict[str, Callable[[BlockPlan], BlockPlan]] = {
    "less noise": lambda b: _noise(b, lambda n: replace(n, sigma2=n.sigma2 * Fraction(99, 100))),
    "no noise": lambda b: _noise(b, lambda n: replace(n, sigma2=Fraction(0))),
    "a factor that rises": lambda b: _noise(b, lambda n: replace(n, factor=n.factor[::-1])),
    "a factor below 0": lambda b: _noise(b, lambda n: replace(n, factor=(*n.factor[:-1], -1))),
    "a larger factor": lambda b: _noise(
        b, lambda n: replace(n, factor=tuple(2 * c for c in n.factor))
    ),
    "fewer steps": lambda b: _noise(b, lambda n: replace(n, factor=n.factor[:-1])),
    "no steps": lambda b: _noise(b, lambda n: replace(n, factor=())),
    "one release at once": lambda b: _noise(b, lambda _: LaplaceNoise(scale=Fraction(10**6))),
    "more days of a unit": lambda b: replace(b, neighbours=replace(_units(b), groups=_MOST + 1)),
    "all days of a unit": lambda b: replace(b, neighbours=replace(_units(b), groups=None)),
    "days by a hash": lambda b: replace(b, neighbours=replace(_units(b), is_in_order=False)),
    "more rows": lambda b: replace(b, neighbours=replace(_units(b), rows=6)),
    "rows that no SQL bounds": lambda b: replace(
        b, neighbours=replace(_units(b), rows_per_group=None, is_summed=False)
    ),
    "days in another order": lambda b: _keys(b, _listed(b)[::-1]),
    "a day twice": lambda b: _keys(b, [*_listed(b)[:-1], _listed(b)[0]]),
    "no day": lambda b: _keys(b, [*_listed(b)[:-1], None]),
    "private days": lambda b: _keys(b, None),
    "listed combinations": lambda b: replace(b, combinations=b.listed_groups),
    "a withheld release": lambda b: replace(b, withheld=frozenset({0})),
    "partitions": lambda b: replace(b, sub_partitions=5),
    "a cut below": lambda b: replace(b, source=_with_cut(b)),
    "numbered rows": lambda b: replace(b, source=_numbered()),
    "public rows": lambda b: _joined(b, "rates"),
    "an outer join": lambda b: _joined(b, "members", left_outer=True),
    "different values": lambda b: replace(b, releases=tuple(map(_of_values, b.releases))),
    "a selection of days": lambda b: replace(b, selection=_SELECTION),
    "a bound that is chosen": lambda b: replace(
        b, rows_choice=_CHOICE, neighbours=replace(_units(b), rows=_CHOICE.bounds[0])
    ),
    "days of many people alone": lambda b: replace(
        b, fewest=FewestUnits(units=11, counted=11, release=2)
    ),
    "rows beside an earlier answer": lambda b: replace(b, compared=frozenset({1})),
    "a second key": lambda b: replace(b, keys=(*b.keys, key_plan("i2", ("1",)))),
    "one day": lambda b: _of_one_day(b),
    "some of it at once": lambda b: _noise(b, lambda n: replace(n, is_at_once=True)),
}
_ROWS = "SELECT d, count(*) FROM {} WHERE d >= '2010-01-01' AND d < '2010-01-04' GROUP BY d"
# What holds of days that are read one after the other alone.
_ONE_BY_ONE = {
    "days by a hash",
    "a cut below",
    "numbered rows",
    "public rows",
    "an outer join",
    "some of it at once",
}
_AT_ONCE = {
    "some of it one by one": lambda b: _noise(b, lambda n: replace(n, is_at_once=False)),
    **{name: change for name, change in _TAMPERED.items() if name not in _ONE_BY_ONE},
}


def _of_one_day(block: BlockPlan) -> BlockPlan:
    """Where there is one group no SQL has bounds on the rows of a group."""
    few = replace(_units(block), rows=6, rows_per_group=1)
    releases = tuple(
        replace(one, noise=replace(one.noise, factor=one.noise.factor[:1]))
        for one in block.releases
        if isinstance(one, NoisyStatistic | DistinctCount) and isinstance(one.noise, ContinualNoise)
    )
    return replace(_keys(block, _listed(block)[:1]), releases=releases, neighbours=few)


def _numbered() -> Subquery:
    shown = tuple((name, of_table("r1", "visits", name)) for name in ("uid", "i4", "d"))
    return replace(numbered_visits("uid"), alias="r1", outputs=shown)


def _with_cut(block: BlockPlan) -> Truncate:
    cut = cut_visits("uid", 5)
    return replace(cut, columns=("id", "uid", "i4", "d"))


def _of_values(release: Release) -> Release:
    return replace(release, of_unit=False) if isinstance(release, DistinctCount) else release


def _checked(block: BlockPlan) -> None:
    check_plan([block], stated_loss(block), WORLD)


def test_a_series_passes() -> None:
    for most in (1, _MOST, _DAYS):
        _checked(series_block(_DAYS, most))
    _checked(series_block(2, 1))
    for table in ("people", "members"):  # whose units are one row
        for steps in (3, None):
            found = walk(_ROWS.format(table), series=SeriesTerms(steps=steps, most_steps=1))
            assert found is not None
            _checked(found.plan.blocks[0])


def test_days_that_are_drawn_at_once_pass() -> None:
    """Also without the promise that rows are only added."""
    for most in (1, _MOST, _DAYS):
        block = series_block(_DAYS, most, is_at_once=True)
        assert not block.is_stepwise
        _checked(block)
    _checked(_joined(block, "rates"))


@pytest.mark.every(2)
@pytest.mark.parametrize("name", _AT_ONCE)
def test_tampered_days_at_once_do_not(name: str) -> None:
    with pytest.raises(NotPrivate) as refused:
        _checked(_AT_ONCE[name](series_block(_DAYS, _MOST, is_at_once=True)))
    assert refused.value.rule is not Rule.MALFORMED


@pytest.mark.every(2)
@pytest.mark.parametrize("name", _TAMPERED)
def test_a_tampered_series_does_not(name: str) -> None:
    tampered = _TAMPERED[name](series_block(_DAYS, _MOST))
    with pytest.raises(NotPrivate) as refused:
        _checked(tampered)
    assert refused.value.rule in (Rule.CONTINUAL, Rule.NOISE, Rule.GROUPS)


def test_private_days_are_no_steps() -> None:
    with pytest.raises(NotPrivate) as refused:
        check_series(_keys(series_block(_DAYS, _MOST), None), WORLD.policy)
    assert refused.value.where == "steps that are not listed in their order"


def test_rows_that_change_may_all_be_in_one_step() -> None:
    count = series_block(_DAYS, _MOST).releases[0]
    assert isinstance(count, NoisyStatistic)
    assert of_step(count, row_shape(changed=3)).each == 3


def _listed_in_public() -> InPublic:
    """visits.i4 IN (SELECT k FROM rates)."""
    found = walk("SELECT count(*) FROM visits WHERE i4 IN (SELECT k FROM rates)")
    assert found is not None
    where = found.plan.blocks[0].where
    assert isinstance(where, InPublic)
    where = replace(where, operand=of_table("r1", "visits", "i4"), alias="p")
    return replace(where, output=replace(where.output, relation="p"))


def _days_by_public_rows(block: BlockPlan) -> BlockPlan:
    """A visit is on another day while its number is in a public list."""
    (key,) = block.keys
    first = ((_listed_in_public(), key.expression),)
    moved = Case(first, of_table("r1", "visits", "d"), SqlType.DATE)
    return replace(block, keys=(replace(key, expression=moved),))


@pytest.mark.parametrize(
    "change", [lambda b: replace(b, where=_listed_in_public()), _days_by_public_rows]
)
def test_a_list_of_public_rows_is_refused(change: Callable[[BlockPlan], BlockPlan]) -> None:
    """They may change, and with them which days of a person count, or on which day a row is."""
    _checked(change(series_block(_DAYS, _MOST, is_at_once=True)))
    with pytest.raises(NotPrivate) as refused:
        _checked(change(series_block(_DAYS, _MOST)))
    assert refused.value.where == "rows that may go when others come"


_VISITS, _ORDERS = columns_of("visits", "uid"), columns_of("orders", "uid")
_PAIRED = Join(_VISITS, _ORDERS, False, (), None)


@pytest.mark.parametrize(
    ("source", "is_so"),
    [
        (scan("r1", "visits"), True),
        (scan("r1", "rates"), False),
        (scan_of_copy("visits", "visits_copy"), False),
        (_VISITS, True),
        (replace(_VISITS, source=scan_of_copy("visits", "visits_copy")), False),
        (_numbered(), False),
        (_PAIRED, True),
        (replace(_PAIRED, left_outer=True), False),
        (replace(_PAIRED, is_lookup=True), False),
        (replace(_PAIRED, right=columns_of("rates", "k")), False),
        (cut_visits("uid", 5), False),
        (UnionAll("u", (_VISITS, _ORDERS)), False),
    ],
)
def test_rows_only_become_more(source: Relation, is_so: bool) -> None:
    assert only_grows(replace(series_block(), source=source), WORLD.policy) == is_so


def _days_read(blocks: BlockPlan, rows: Sequence[str]) -> list[list[int]]:
    """What each release is of each day, read when the day has ended, of rows that come day by day."""
    database, found = tiny_database(), []
    database.fill("SELECT 1")
    for step, (text,) in enumerate(blocks.listed_groups):
        if rows[step]:
            database._execute(f"INSERT INTO visits (id, uid, i4, d) VALUES {rows[step]}")
        found.append(_of_day(text, database.tables(blocks)))
    return found


def _of_day(text: str | None, tables: Sequence[ExactTable]) -> list[int]:
    day = []
    for _, table, slots in sorted(places(tables), key=lambda one: one[0]):
        slot = slots.total if slots.total is not None else slots.count
        day.append(added_up(by_keys(tables[table]).get((text,), []), slot))
    return day


def _arriving(random: Random, without: int | None, texts: Sequence[str]) -> list[str]:
    """The rows of each day, also of days before, which come late."""
    number, found = 0, []
    for step in range(_DAYS):
        rows = []
        for person in _PEOPLE:
            for _ in range(random.choice((0, 1, 1, 4))):
                number += 1
                late, value = random.choice((0, 0, 0, 1)), random.choice((-300, 5, 300))
                day = texts[max(0, step - late)]
                if person != without:
                    rows.append(f"({number}, {person}, {value}, '{day}')")
        found.append(", ".join(rows))
    return found


@pytest.mark.parametrize(("table", "most", "steps"), [("visits", 2, 1), ("orders", 4, 3)])
def test_nobody_moves_days_at_once_further(table: str, most: int, steps: int) -> None:
    """The audit on neighbours, where all days are read together: whichever days of a person are kept.

    Of five rows all may be on one day; of six, two are on each day, and three days are full.
    """
    block = series_block(_DAYS, most, is_at_once=True, table=table)
    moved = of_step(block.releases[0], shape_of(block))  # type: ignore[arg-type]
    assert steps_of(shape_of(block), moved, is_at_once=True) == steps
    texts, database = [text or "" for text in _listed(block)], tiny_database()

    def read(without: int | None) -> list[list[int]]:
        rows = ", ".join(filter(None, _arriving(Random(1), without, texts)))
        database.fill(f"INSERT INTO {table} (id, uid, i4, d) VALUES {rows}")
        tables = database.tables(block)
        return [_of_day(text, tables) for (text,) in block.listed_groups]

    here = read(None)
    found = [one for person in _PEOPLE for one in _movements(block, here, read(person))]
    assert all(length <= allowed for _, length, allowed in found)
    assert max(days for days, _, _ in found) == most


def _streams(block: BlockPlan, seeds: range) -> list[tuple[int, Fraction, Fraction]]:
    """Of each release and person: on how many days they counted, how far R x moved, and how far it may."""
    texts = [text or "" for text in _listed(block)]
    found: list[tuple[int, Fraction, Fraction]] = []
    for seed in seeds:
        here = _days_read(block, _arriving(Random(seed), None, texts))
        for person in _PEOPLE:
            there = _days_read(block, _arriving(Random(seed), person, texts))
            found += _movements(block, here, there)
    return found


def _movements(
    block: BlockPlan, here: Sequence[Sequence[int]], there: Sequence[Sequence[int]]
) -> Iterator[tuple[int, Fraction, Fraction]]:
    for number, noise in block.continual.items():
        moved = [mine[number] - theirs[number] for mine, theirs in zip(here, there, strict=True)]
        length = sum(
            sum(noise.factor[row - at] * moved[at] for at in range(row + 1)) ** 2
            for row in range(_DAYS)
        )
        loss = block.releases[number].loss
        allowed = 2 * zcdp.rho_of_loss(loss.epsilon, loss.delta) * noise.sigma2
        yield sum(map(bool, moved)), Fraction(length), allowed


def test_nobody_moves_a_stream_further() -> None:
    """The audit on neighbours: each day is read once, by what is there then, late rows as well."""
    block = series_block(_DAYS, _MOST)
    price_of_block(block, WORLD)
    found = _streams(block, range(2))
    assert all(days <= _MOST and length <= allowed for days, length, allowed in found)
    assert any(days == _MOST for days, _, _ in found)


def test_days_by_a_hash_are_found() -> None:
    """A mutant: a person who comes again moves out of the days that are kept, which have been shown."""
    block = series_block(_DAYS, _MOST)
    hashed = replace(block, neighbours=replace(_units(block), is_in_order=False))
    assert any(days > _MOST for days, _, _ in _streams(hashed, range(2)))


def _with_just_enough(block: BlockPlan, release: Release) -> BlockPlan:
    """The release alone, with as much noise as the kernel asks for."""
    assert isinstance(release, NoisyStatistic | DistinctCount)
    assert isinstance(release.noise, ContinualNoise)
    shape, factor, is_at_once = shape_of(block), release.noise.factor, release.noise.is_at_once
    moved = of_series(shape, factor, of_step(release, shape), is_at_once=is_at_once)
    noise = series(moved, factor, release.loss, is_at_once=is_at_once)
    return replace(block, releases=(replace(release, noise=noise),))


@pytest.mark.parametrize("is_at_once", [False, True])
@pytest.mark.parametrize("is_summed", [False, True])
@pytest.mark.parametrize("per_group", [None, 2, 9])
def test_rows_that_are_paid_are_those_that_sql_keeps(
    is_at_once: bool, is_summed: bool, per_group: int | None
) -> None:
    """Of each release by itself: a flag, and other bounds, say whether SQL keeps to the bound on rows."""
    block, database = series_block(_DAYS, _MOST, is_at_once=is_at_once), tiny_database()
    units = replace(_units(block), rows=3, rows_per_group=per_group, is_summed=is_summed)
    texts = [text or "" for text in _listed(block)]
    many = ", ".join(f"({n}, 1, 300, '{texts[n % 2]}')" for n in range(40))
    database.fill(f"INSERT INTO visits (id, uid, i4, d) VALUES {many}")
    let_through = 0
    for release in block.releases:
        try:
            one = _with_just_enough(replace(block, neighbours=units), release)
            _checked(one)
        except NotPrivate:
            continue
        let_through += 1
        here = database.tables(one)
        with database.without("DELETE FROM visits"):
            there = database.tables(one)
        days = [[_of_day(text, tables) for text in texts] for tables in (here, there)]
        assert all(length <= allowed for _, length, allowed in _movements(one, *days))
    assert let_through  # units are counted once, whatever rows they have


@pytest.mark.parametrize("word", ["now", "Today", "tomorrow 10:00", "yesterday", "epoch"])
def test_no_constant_is_another_time_at_each_run(word: str) -> None:
    """Rows of a person that were in a step would be gone when the next one is read."""
    assert tiny_database().asked(f"SELECT '{word}'::timestamptz IS NULL") == [(False,)]
    for kind, name in ((SqlType.TIMESTAMP, "ts"), (SqlType.TIMESTAMPTZ, "tz"), (SqlType.DATE, "d")):
        later = Comparison(Comparator.GT, of_table("r1", "visits", name), Constant(word, kind))
        block = replace(series_block(), where=later)
        with pytest.raises(NotPrivate) as refused:
            price_of_block(block, WORLD)
        assert refused.value.rule is Rule.EXPRESSION
