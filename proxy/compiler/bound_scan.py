"""How many units have a total of about which size: what bounds on a unit are chosen by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from proxy.compiler.aggregate_sql import RowSource, index_sql
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.relation_sql import source_sql
from proxy.compiler.select_list import Output, finished, named_by, row_conditions
from proxy.compiler.statistic_sql import RowSum, row_sum, statistic_sql
from proxy.compiler.unit_gathering import gathered_sql, in_group_sql, rows_of_units, select_groups
from proxy.kernel.bound_choices import BoundChoice, ValueChoice, WeightChoice
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import BlockPlan, NoisyStatistic
from proxy.kernel.statistics import Statistic
from proxy.mechanisms.unit_means import PARTS

# Units counted by the bands of their totals.
#
# One process does it for all units, so what each costs matters. Measured on a million units: a list of VALUES
# for each takes 4.5 microseconds per row of it, as PostgreSQL prepares its expressions anew; width_bucket on
# numeric[], which walks the array, takes 1.5; on bigint[] 0.2.


FITS = 2**62  # in a bigint, twice
# So many bands of a unit at once: of more there are too many combinations, as many as units at last.
_TOGETHER = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Banded:
    """What is counted at one place, from columns of a unit. band: 0 or NULL for nothing; added, mean: of sums
    that follow."""

    band: str
    total: str
    added: str = ""
    mean: str = ""


def is_small(choice: BoundChoice | WeightChoice) -> bool:
    """Whether all its bounds, and what is above them, fit in a bigint."""
    return choice.bounds[-1] + 1 < FITS


def total_sql(value: str, choice: BoundChoice | WeightChoice, is_signed: bool, binds: Binds) -> str:
    """A total as a bigint where the bounds are. What is above all of them is in the last band however large
    it is, so it is clamped to that, and the cast raises for no unit. NULL stays NULL, which least and greatest
    skip."""
    if not is_small(choice):
        return f"({value})::numeric"
    high, low = (binds.number(side * (choice.bounds[-1] + 1), "bigint") for side in (1, -1))
    below = f" WHEN {value} < {low} THEN {low}" if is_signed else ""
    return f"(CASE WHEN {value} > {high} THEN {high}{below} ELSE {value} END)::bigint"


def band_sql(total: str, choice: BoundChoice | WeightChoice, is_signed: bool, binds: Binds) -> str:
    """0 for a total of 0, else the number of the bound that it is within, from 1; negated below 0."""
    edges = [1, *(bound + 1 for bound in choice.bounds)]
    if is_signed:
        edges = [*(-bound for bound in reversed(choice.bounds)), 0, *edges]
    kind = "bigint[]" if is_small(choice) else "numeric[]"
    band = f"pg_catalog.width_bucket({total}, {binds.add([str(edge) for edge in edges], kind)})"
    return f"({band} - {binds.number(len(choice.bounds) + 1, 'integer')})" if is_signed else band


def counted_by_bands(units: str, places: Sequence[Banded], binds: Binds) -> str:
    """Rows of place, band, how many units, the sum of their totals; with means, of what is added and of means.

    Given    units: one row per unit, with the columns that the places name
    """
    bands = list(dict.fromkeys(place.band for place in places))
    parts = [bands[first : first + _TOGETHER] for first in range(0, len(bands), _TOGETHER)]
    has_means = any(place.mean for place in places)
    source = f"({units}) u" if len(parts) == 1 else "u"
    counted = " UNION ALL ".join(
        _part(
            source,
            part,
            [(n, place) for n, place in enumerate(places) if place.band in part],
            has_means,
            binds,
        )
        for part in parts
    )
    return counted if len(parts) == 1 else f"WITH u AS MATERIALIZED ({units}) {counted}"


def _part(
    source: str,
    bands: Sequence[str],
    places: Sequence[tuple[int, Banded]],
    has_means: bool,
    binds: Binds,
) -> str:
    """First by all its bands together, then each by itself: units are gone through once."""
    head = [f"{band} AS b{n}" for n, band in enumerate(bands)]
    sums: dict[str, str] = {}
    rows = []
    for number, place in places:
        added = [place.total, *([place.added, place.mean] if has_means else [])]
        named = [
            sums.setdefault(f"pg_catalog.sum({one})", f"s{len(sums)}") if one else "NULL::numeric"
            for one in added
        ]
        row = [binds.number(number, "integer"), f"b{bands.index(place.band)}", *named]
        rows.append(f"({', '.join(row)})")
    listed = ", ".join(
        [*head, "pg_catalog.count(*) AS n", *(f"{s} AS {n}" for s, n in sums.items())]
    )
    by = ", ".join(str(n) for n in range(1, len(bands) + 1))
    together = f"SELECT {listed} FROM {source} GROUP BY {by}"
    columns = ["total", *(["added", "mean"] if has_means else [])]
    summed = ", ".join(f"pg_catalog.sum(c.{column})" for column in columns)
    return (
        f"SELECT c.place, c.band, pg_catalog.sum(w.n), {summed} FROM ({together}) w,"
        f" LATERAL (VALUES {', '.join(rows)}) c(place, band, {', '.join(columns)})"
        " WHERE c.band <> 0 GROUP BY c.place, c.band"
    )


_MOST_ROWS = 2**40  # of a unit, of which its mean is taken; a table has less than twice as many
_LARGEST = FITS // (2 * _MOST_ROWS)  # value of a row for which a unit's sum fits in a bigint


def bound_scan(plan: BlockPlan, binds: Binds) -> BackendQuery:
    """One row per bound that is to be chosen, and band of totals (mechanisms.private_bound.UnitTotals).

    Gives    rows of four numbers: the place of the choice in plan.choices, the band, how many units are in it,
             the sum of their totals. With sums that follow (mechanisms.unit_means.UnitMeans) of six, and their
             places after those of the choices: the total is how many values they have, then come the sum of
             these and that of the units' means
    """
    unit = plan.neighbours
    if isinstance(unit, RowNeighbours):
        return _row_scan(plan, unit, binds)
    units = _Units(plan, unit, rows_of_units(plan, binds), Output())
    source, seeds = units.gathered()
    return _counted(plan, units.columns, source, units.places, seeds, binds)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredBands:
    """The rows of `bound_scan` from units that are gathered for something else, without keys.

    Attributes:
        columns: What is made of v0, v1, ... of the gathered rows.
        places: What is counted of them.
    """

    columns: Mapping[str, str]
    places: Sequence[Banded]

    def sql(self, source: str, binds: Binds) -> str:
        """Rows of place, band, units, total, added and mean; NULL for what there is not."""
        names, nothing = (
            ["place", "band", "units", "total"],
            "NULL::numeric AS added, NULL::numeric AS mean",
        )
        if any(place.mean for place in self.places):
            names, nothing = [*names, "added", "mean"], ""
        counted = _counted_sql(self.columns, source, self.places, binds)
        return f"(SELECT {', '.join(filter(None, ('*', nothing)))} FROM ({counted}) c({', '.join(names)}))"


def gathered_bands(
    plan: BlockPlan, unit: UnitNeighbours, rows: RowSource, inner: Output
) -> GatheredBands:
    """Print what bounds are chosen by, over units that are gathered anyway.

    Args:
        plan, unit: A block without keys, and its neighbours.
        rows: Of the scan.
        inner: What is gathered; what the bands need is added.
    """
    assert not plan.keys, "units are gathered without keys"
    units = _Units(plan, unit, rows, inner)
    return GatheredBands(columns=units.columns, places=units.places)


def _row_scan(plan: BlockPlan, unit: RowNeighbours, binds: Binds) -> BackendQuery:
    """Bands of values of units that have one row each."""
    assert not plan.total_choices, "rows by themselves have no totals"
    rows, columns = RowSource(binds, inner=False), dict[str, str]()
    places = [
        _banded_value(one, index_sql(one.measured, rows), columns, binds)
        for one in plan.value_choices
    ]
    conditions = row_conditions(plan, unit.not_null, binds)
    source = source_sql(plan.source, conditions, binds, *named_by(plan))
    return _counted(plan, columns, source, places, (), binds)


def _counted(
    plan: BlockPlan,
    columns: Mapping[str, str],
    source: str,
    places: Sequence[Banded],
    seeds: tuple[str, ...],
    binds: Binds,
) -> BackendQuery:
    sql = _counted_sql(columns, source, places, binds)
    compiled = finished(sql, plan, (), binds, seeds, (), None)
    return replace(compiled, keys=0, has_sub_partition=False)


def _counted_sql(
    columns: Mapping[str, str], source: str, places: Sequence[Banded], binds: Binds
) -> str:
    # LIMIT ALL keeps the planner from merging the two, so that a column that is named twice is computed once.
    listed = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    return counted_by_bands(f"SELECT {listed} FROM {source} LIMIT ALL", places, binds)


def _banded_value(chosen: ValueChoice, value: str, columns: dict[str, str], binds: Binds) -> Banded:
    """Count a unit by the size of its value, which is NULL where it has none."""
    size = f"pg_catalog.abs(({value})::bigint)"  # within the largest bound, far below the end of bigint
    total = _named(total_sql(size, chosen.choice, False, binds), columns)
    return Banded(band=band_sql(total, chosen.choice, False, binds), total=total)


def _named(sql: str, columns: dict[str, str]) -> str:
    for name, known in columns.items():
        if known == sql:
            return name
    name = f"t{len(columns)}"
    columns[name] = sql
    return name


class _Units:
    """What is made of the rows of each unit: its totals, as columns, and where they are counted."""

    def __init__(
        self, plan: BlockPlan, unit: UnitNeighbours, rows: RowSource, inner: Output
    ) -> None:
        self.columns: dict[str, str] = {}
        self.places: list[Banded] = []
        self._plan, self._unit, self._binds = plan, unit, rows.binds
        self._rows, self._inner = rows, inner
        selects_groups = bool(plan.keys) and plan.groups() != 1 and unit.groups is not None
        self._selected = unit.groups if selects_groups else None
        self._in_all = ""
        # The sizes of a unit's sums in its groups add up to the size of one sum where none is below 0 and
        # groups have no bounds of their own: then its rows are gathered once, without keys.
        own = [plan.releases[number] for number in plan.total_choices if number is not None]
        self._by_group = bool(plan.keys) and (
            selects_groups
            or (None in plan.total_choices and unit.rows_per_group is not None)
            or any(release.is_signed for release in own if isinstance(release, NoisyStatistic))
        )
        for number, choice in plan.total_choices.items():
            self._add_choice(number, choice)
        for chosen in plan.value_choices:
            self._add_value(chosen)
        if plan.weight_choice is not None:
            self._add_weights(plan.weight_choice)
        for number in plan.sums_of_totals:
            self._add_sum(number)

    def _add_choice(self, number: int | None, choice: BoundChoice) -> None:
        if number is None:
            counted = self._inner.add("pg_catalog.count(*)")
            value, is_signed = in_group_sql(counted, self._unit, self._binds), False
        else:
            release = self._plan.releases[number]
            assert isinstance(release, NoisyStatistic)
            value = f"v{self._inner.add(statistic_sql(release, self._rows))}"
            is_signed = release.is_signed
        if self._by_group:
            size = f"pg_catalog.abs({value}::numeric)" if is_signed else value
            value, is_signed = f"pg_catalog.sum({size})", False
        total = self._column(total_sql(value, choice, is_signed, self._binds))
        band = band_sql(total, choice, is_signed, self._binds)
        self.places.append(Banded(band=band, total=total))

    def _add_value(self, chosen: ValueChoice) -> None:
        """By the largest size of its values."""
        index = f"pg_catalog.abs(({index_sql(chosen.measured, self._rows)})::bigint)"
        value = f"v{self._inner.add(f'pg_catalog.max({index})')}"
        if self._by_group:
            value = f"pg_catalog.max({value})"
        self.places.append(_banded_value(chosen, value, self.columns, self._binds))

    def _add_weights(self, chosen: WeightChoice) -> None:
        """By how many rows it has in all groups, those that other aggregates leave out among them."""
        value = f"v{self._inner.add('pg_catalog.count(*)')}"
        if self._selected is not None:
            self._in_all = f"pg_catalog.sum({value}) OVER (PARTITION BY unit) AS in_all"
            value = "pg_catalog.max(in_all)"
        elif self._by_group:
            value = f"pg_catalog.sum({value})"
        total = self._column(total_sql(value, chosen, False, self._binds))
        self.places.append(Banded(band=band_sql(total, chosen, False, self._binds), total=total))

    def _add_sum(self, number: int) -> None:
        """Of a block without keys, by how many values a unit has, which may be fewer than its rows."""
        binds, choice = self._binds, self._plan.rows_choice
        assert choice is not None
        found = _row_sum(self._plan, number, self._rows)
        count = f"v{self._inner.add(found.count)}"
        values = self._column(total_sql(count, choice, False, binds))
        band = band_sql(values, choice, False, binds)
        if _is_count(self._plan, number):
            self.places.append(Banded(band=band, total=values))
            return
        total, largest = f"v{self._inner.add(found.sql)}", max(-found.low, found.high)
        # A sum is NULL where there is no value: that unit is in no band.
        if largest > _LARGEST:
            low, high = binds.number(-largest), binds.number(largest)
            within = f"least(greatest({total}::numeric, {count} * {low}), {count} * {high})"
            added, counted = self._column(within), self._column(f"nullif({count}, 0)::numeric")
            mean = f"pg_catalog.div({added} * {binds.number(PARTS)}, {counted})"
        else:
            added, counted = self._bigint_sum(total, count, largest)
            parts = binds.number(PARTS, "bigint")
            left = f"pg_catalog.mod({added}, {counted})"
            # What div(added * parts, counted) is, towards 0, of which added * parts need not fit.
            mean = f"{parts} * ({added} / {counted}) + {parts} * {left} / {counted}"
        self.places.append(Banded(band=band, total=values, added=added, mean=mean))

    def _bigint_sum(self, total: str, count: str, largest: int) -> tuple[str, str]:
        """At most `largest` for each of so many rows that everything fits."""
        binds = self._binds
        ends = (binds.number(side * _MOST_ROWS * largest, "bigint") for side in (1, -1))
        high, low = ends
        clamped = f"(CASE WHEN {total} > {high} THEN {high} WHEN {total} < {low} THEN {low} ELSE {total} END)"
        rows = f"least({count}, {binds.number(_MOST_ROWS, 'bigint')})"
        each = [f"{rows} * {binds.number(side * largest, 'bigint')}" for side in (-1, 1)]
        added = self._column(f"least(greatest({clamped}::bigint, {each[0]}), {each[1]})")
        return added, self._column(f"nullif({rows}, 0)")

    def gathered(self) -> tuple[str, tuple[str, ...]]:
        """What the columns are taken from, and its seeds."""
        plan, unit, binds = self._plan, self._unit, self._binds
        source = gathered_sql(plan, unit, self._inner, self._rows, by_keys=self._by_group)
        if not self._by_group:
            return f"({source}) g", ()
        seeds: tuple[str, ...] = ()
        if self._in_all:
            source = f"SELECT *, {self._in_all} FROM ({source}) w"
        if self._selected is not None:
            source, seed = select_groups(source, plan, unit, self._selected, binds)
            seeds = (seed,)
        return f"({source}) g GROUP BY unit", seeds

    def _column(self, sql: str) -> str:
        return _named(sql, self.columns)


def _is_count(plan: BlockPlan, number: int) -> bool:
    release = plan.releases[number]
    return isinstance(release, NoisyStatistic) and release.statistic is Statistic.ROWS


def _row_sum(plan: BlockPlan, number: int, rows: RowSource) -> RowSum:
    release = plan.releases[number]
    assert isinstance(release, NoisyStatistic)
    return row_sum(release, rows)
