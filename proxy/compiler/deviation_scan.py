"""Scans for means of deviations: rows by group and band of a unit's rows, and deviations by group and band of
a unit's deviation, each with the units that it counts (mechanisms.deviation_mean). For variances squares of
deviations as well (mechanisms.deviation_variance).

Each result row has the keys, then six numbers: place, band, total, share, mean, units. Of the i-th of the
block's m means, place 2 i is about rows, place 2 i + 1 about deviations and place 2 m + i about squares. `mean`
is of rows alone. `units` counts each
unit once, in one of its groups, so that it says something of all groups together only.

Rows are gathered by unit and group once. `centred_scan` is one statement for a cursor: what centres are
released by comes first, and deviations are taken from the same gathered rows once the centres are known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from proxy.base.slots import Slots
from proxy.base.sql_types import SqlType
from proxy.compiler.aggregate_sql import RowSource, values_sql
from proxy.compiler.backend_query import (
    BETWEEN_PARTS,
    CHOICES,
    EXTREMES,
    FIRST_PART,
    OTHERS,
    BackendQuery,
    StoredColumn,
)
from proxy.compiler.binds import Binds
from proxy.compiler.bound_scan import gathered_bands
from proxy.compiler.clamp_sql import smaller_sql
from proxy.compiler.extreme_scan import unit_places
from proxy.compiler.select_list import Output, finished
from proxy.compiler.statistic_sql import centred_sql, is_of_bigints, squared_sql
from proxy.compiler.unit_gathering import gathered_sql, rows_in_all_sql, rows_of_units
from proxy.compiler.unit_halves import unit_halves
from proxy.compiler.unit_scan import unit_sums
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, DeviationMean
from proxy.mechanisms.deviation_mean import PARTS, deviation_bounds, fineness, row_bounds
from proxy.mechanisms.deviation_variance import square_bounds

_MOST_ROWS = 2**40  # of a unit; a table has less than twice as many
_LARGEST = 2**60 // _MOST_ROWS  # fine steps of a value for which the sums of a unit fit in a bigint
_FITS = 2**62  # in a bigint, twice
_TIMES_PARTS = 2**42  # PARTS times this fits in a bigint
# What the setting has of each mean: centres, whether it is single, edges of its bands. Edges of bands of
# squares follow, for all means.
_OF_A_MEAN = 3
_NUMBERS = ("band", "total", "share", "mean", "units")  # of a place
# As unit_scan writes it: equal windows are computed together.
_OF_UNIT = "OVER (PARTITION BY unit)"
_UNITS = "pg_catalog.count(*) FILTER (WHERE g.one)"


def deviation_scan(plan: BlockPlan, binds: Binds) -> BackendQuery:
    """Print the scan of rows and deviations, about the centres of the plan, by itself.

    Before centres are released the middle of the range stands for them.
    """
    sql = _Columns(plan, _of_units(plan), binds, binds.add(centres_text(plan), "text")).all()
    return _finished(sql, plan, tuple(plan.deviation_means), binds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Releases that are read beside means, and where their numbers are, after the place."""

    releases: tuple[int, ...]
    slots: tuple[Slots, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CentredScan:
    """One statement for the means of a block, and for other releases that its rows serve.

    Attributes:
        query: Of two parts (`backend_query.FIRST_PART`). The first one has rows by group and band, by which
            centres are released. The setting between the parts takes the text of the centres (`centres_text`).
        beside: Other releases, by the place that their rows have: OTHERS, or EXTREMES.
        has_choices: Whether the first part has the rows of `bound_scan`. A row of its place n has the place
            CHOICES - n, and its number of units comes last.
    """

    query: BackendQuery
    beside: Mapping[int, Beside]
    has_choices: bool


def centred_scan(
    plan: BlockPlan,
    others: tuple[int, ...],
    extremes: tuple[int, ...] = (),
    *,
    has_choices: bool = False,
) -> CentredScan:
    """Print the scan of rows, deviations and other releases as one statement.

    Args:
        plan: The block.
        others: Releases that the scan of units takes together. They are left out if that reads other rows.
        extremes: Minima and maxima of units. They are left out by groups, of which a unit has one there.
        has_choices: Whether bounds are chosen by the totals of the same units.
    """
    unit, binds = _of_units(plan), Binds()
    setting = f"pg_catalog.current_setting({binds.add(BETWEEN_PARTS, 'text')})"
    shared = others if others and _reads_the_same(plan, unit) else ()
    placed = () if plan.keys else extremes
    columns = _Columns(
        plan, unit, binds, setting, shared, placed, has_choices=has_choices, is_halved=True
    )
    query = _finished(columns.in_two_parts(), plan, tuple(plan.deviation_means), binds)
    halved = replace(query, halved_by=columns.halved_by)
    return CentredScan(query=halved, beside=columns.beside(), has_choices=has_choices)


def _reads_the_same(plan: BlockPlan, unit: UnitNeighbours) -> bool:
    """Whether the scan of units has all rows of all listed groups, and no others."""
    if plan.sub_partitions or plan.selection is not None:
        return False
    if not plan.keys or plan.groups() == 1:
        return True
    combinations = math.prod(len(key.values or ()) for key in plan.keys)
    return unit.groups is None and len(plan.listed_groups) == combinations


def centres_text(plan: BlockPlan) -> str:
    """Write the centres of all means as scans take them.

    Before centres are released the middle of the range stands for them.
    """
    return "{" + ",".join(f'"{text}"' for text in _centre_texts(plan)) + "}"


def _centre_texts(plan: BlockPlan) -> Iterator[str]:
    for release in plan.deviation_means.values():
        centres = release.centres
        is_single = centres is not None and centres.is_single
        numbers = (0,) * len(plan.listed_groups) if centres is None else centres.centres
        low, high = _range(release)
        edges = _edges(deviation_bounds(low, high, is_single=is_single))
        yield _array(numbers)
        yield str(is_single).lower()
        yield _array(edges)
    if any(release.has_squares for release in plan.deviation_means.values()):
        yield from map(_square_edges, plan.deviation_means.values())


def _square_edges(release: DeviationMean) -> str:
    """Of the bands of squares; none of a mean alone."""
    if not release.has_squares:
        return _array(())
    is_single = release.centres is not None and release.centres.is_single
    return _array(_edges(square_bounds(*_range(release), is_single=is_single)))


def _array(numbers: Sequence[object]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def _of_units(plan: BlockPlan) -> UnitNeighbours:
    unit = plan.neighbours
    assert isinstance(unit, UnitNeighbours), "rows by themselves have no deviations of units"
    return unit


def _finished(sql: str, plan: BlockPlan, releases: tuple[int, ...], binds: Binds) -> BackendQuery:
    found = replace(plan, sub_partitions=0)
    return finished(sql, found, releases, binds, (), (Slots(),) * len(releases), None)


def _range(release: DeviationMean) -> tuple[int, int]:
    """One step at least: of a range of one value all deviations are 0."""
    return release.measured.low, max(release.measured.low + 1, release.measured.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mean:
    """One mean of the block.

    Attributes:
        release: The mean.
        kind: The type of its sums.
        values, total, squares: Columns of what is gathered; squares None: of a mean alone.
        is_cut: Whether sums are cut to what so many values can add up to. Sums that are bigints anyway are not.
        n, y, s: Of a unit and group: the column of its number of values (0 or NULL for none), that of their sum
            about the middle, and that of the sum of their squares.
        in_all: The column of the number of values of the unit in all groups.
        most_squares: What the squares of a unit in a group are cut to, as a bigint: above all bounds, and so
            low that those of all groups fit in one. None: they are numeric, and not cut.
    """

    release: DeviationMean
    kind: str
    values: int
    total: int
    squares: int | None
    is_cut: bool
    n: str
    y: str
    s: str
    in_all: str
    most_squares: int | None

    @property
    def columns(self) -> Iterator[int]:
        """Of what is gathered."""
        yield from (self.values, self.total)
        if self.squares is not None:
            yield self.squares

    @property
    def kind_of_squares(self) -> str:
        return "numeric" if self.most_squares is None else "bigint"

    @property
    def low(self) -> int:
        return _range(self.release)[0]

    @property
    def high(self) -> int:
        return _range(self.release)[1]


class _Columns:
    """What is made of the rows of each unit and group, one subquery around the other.

    Given    centres: the SQL of their text; others, extremes: releases that the rows are
             taken for as well; has_choices: whether bounds are chosen by them, too; is_halved: whether half
             of the units can be asked for
    """

    def __init__(
        self,
        plan: BlockPlan,
        unit: UnitNeighbours,
        binds: Binds,
        centres: str,
        others: tuple[int, ...] = (),
        extremes: tuple[int, ...] = (),
        *,
        has_choices: bool = False,
        is_halved: bool = False,
    ) -> None:
        self._plan, self._unit, self._binds, self._centres = plan, unit, binds, centres
        self._keys = [f"k{number}" for number in range(1, len(plan.keys) + 1)]
        self._is_spread = bool(plan.keys) and plan.groups() != 1
        self._halves = unit_halves(plan.source, unit, binds) if is_halved else None
        self._inner = Output()
        self._rows = rows = rows_of_units(plan, binds)
        self._means = [self._mean(release, rows) for release in plan.deviation_means.values()]
        self._others = unit_sums(plan, others, unit, self._inner, rows)
        self._places = unit_places(plan, extremes, self._inner, rows)
        self._beside = ((OTHERS, others, self._others), (EXTREMES, extremes, self._places))
        self._choices = gathered_bands(plan, unit, rows, self._inner) if has_choices else None
        if self._is_spread:
            known = {sql: name for name, sql in self._others.totals.items()}
            self._means = [
                replace(mean, in_all=known.get(rows_in_all_sql(mean.n), mean.in_all))
                for mean in self._means
            ]

    def beside(self) -> Mapping[int, Beside]:
        return {
            place: Beside(releases=releases, slots=found.slots)
            for place, releases, found in self._beside
            if releases
        }

    @property
    def halved_by(self) -> StoredColumn | None:
        return None if self._halves is None else self._halves.place

    def _mean(self, release: DeviationMean, rows: RowSource) -> _Mean:
        measured = release.measured
        low, high = _range(release)
        is_small = (high - low) * fineness(low, high) < _LARGEST
        add, has_squares = self._inner.add, release.has_squares
        values, total = add(values_sql(measured, rows)), add(centred_sql(measured, rows))
        squares = add(squared_sql(measured, rows)) if has_squares else None
        is_cut = not (is_small and is_of_bigints(measured, rows))
        n, y = (f"n{values}", f"y{total}") if is_cut else (f"v{values}", f"v{total}")
        return _Mean(
            release=release,
            kind="bigint" if is_small else "numeric",
            values=values,
            total=total,
            squares=squares,
            is_cut=is_cut,
            n=n,
            y=y,
            s=f"s{squares}" if is_cut else f"v{squares}",
            in_all=f"all_{n}" if self._is_spread else n,
            most_squares=None if is_cut else self._most_squares(low, high),
        )

    def _most_squares(self, low: int, high: int) -> int | None:
        most = _FITS // max(1, len(self._plan.listed_groups))
        last = max(square_bounds(low, high, is_single=single)[-1] for single in (False, True))
        return most if last < most else None

    def all(self) -> str:
        """Rows and deviations by group and band."""
        parts = [*self._counted_rows(), *self._counted_deviations()]
        return f"WITH {self._gathered()}{self._deviating()} {' UNION ALL '.join(parts)}"

    def in_two_parts(self) -> str:
        """The same, with the number of rows of the first part before it. Parts are run in their order, each
        as it is read: nothing of the second one is computed before its first row is wanted."""
        binds = self._binds
        first = " UNION ALL ".join([*self._counted_rows(), *self._counted_choices()])
        names = [*self._keys, "place", *_NUMBERS]
        place = binds.number(FIRST_PART, "integer")
        nothing = "NULL::integer, pg_catalog.count(*)::numeric, NULL::numeric, NULL::numeric, NULL::bigint"
        number = ", ".join([*("NULL::text" for _ in self._keys), place, nothing])
        parts = [f"SELECT {number} FROM f", "SELECT * FROM f", *self._counted_deviations()]
        others = []
        if self._others.slots:
            others.append(self._other_sums())
        if self._places.slots:
            others.append(self._counted_places())
        if others:
            parts = [*self._as_wide(parts), *others]
        return (
            f"WITH {self._gathered()}, f({', '.join(names)}) AS MATERIALIZED ({first})"
            f"{self._deviating()} {' UNION ALL '.join(parts)}"
        )

    def _as_wide(self, parts: Sequence[str]) -> Iterator[str]:
        """Each part with as many columns as other releases need."""
        more = ["NULL::numeric"] * (self._width() - len(_NUMBERS))
        for part in parts:
            yield f"SELECT {', '.join(['*', *more])} FROM ({part}) p" if more else part

    def _other_sums(self) -> str:
        """The sums of other releases by group, in the columns of their slots."""
        place = self._binds.number(OTHERS, "integer")
        sums = [f"({sql})::numeric" for sql in self._others.outer.expressions]
        sums += ["NULL::numeric"] * (self._width() - len(sums))
        keys, grouped = self._grouped("g.")
        by = f" GROUP BY {', '.join(grouped)}" if grouped else ""
        return f"SELECT {', '.join([*keys, place, *sums])} FROM g{by}"

    def _counted_places(self) -> str:
        """Units by the places of their minima and maxima, in the columns of their slots."""
        place = self._binds.number(EXTREMES, "integer")
        named = [f"p{number}" for number in range(len(self._places.places.expressions))]
        numbers = [f"c.{name}::numeric" for name in (*named, "count")]
        numbers += ["NULL::numeric"] * (self._width() - len(numbers))
        counted = self._places.sql("g", self._plan, self._binds)
        return f"SELECT {', '.join([place, *numbers])} FROM ({counted}) c"

    def _width(self) -> int:
        """How many numbers a row has after its place."""
        places = len(self._places.places.expressions) + 1
        return max(len(_NUMBERS), len(self._others.outer.expressions), places)

    def _gathered(self) -> str:
        """g, a row for each unit and group, with the place of the group. one: whether it is the first of its
        unit."""
        if not self._is_spread:
            return f"g AS MATERIALIZED ({self._with_sums()})"
        windows = {"one": f"pg_catalog.row_number() {_OF_UNIT} = 1"}
        windows |= {mean.in_all: rows_in_all_sql(mean.n) for mean in self._means}
        windows |= self._others.totals
        listed = ", ".join(f"{sql} AS {name}" for name, sql in windows.items())
        return f"g AS MATERIALIZED (SELECT *, {listed} FROM ({self._with_sums()}) t)"

    def _in_all(self, number: str, kind: str) -> str:
        """The sum over all groups of a unit."""
        return f"(pg_catalog.sum({number}) {_OF_UNIT})::{kind}"

    def _with_sums(self) -> str:
        """What is gathered, and what of it is cut."""
        of_units = () if self._halves is None else (self._halves.of_rows,)
        gathered = gathered_sql(self._plan, self._unit, self._inner, self._rows, of_units)
        # Narrow rows: of ten million what does not fit into work_mem is written to disk and read again.
        columns = dict.fromkeys(self._cut())
        columns |= dict.fromkeys(f"g.v{number}" for number in sorted(self._taken_whole()))
        if self._is_spread:
            listed = ["g.unit", "c.place::integer AS place", *columns]
            # LIMIT ALL keeps the planner from merging this with what stands around it, where each column is
            # named several times.
            return f"SELECT {', '.join(listed)} FROM ({gathered}) g{self._listed()} LIMIT ALL"
        listed = [*(f"g.{key}" for key in self._keys), *columns]
        return f"SELECT {', '.join(listed)} FROM ({gathered}) g LIMIT ALL"

    def _taken_whole(self) -> Iterable[int]:
        """Columns of what is gathered that are taken as they are."""
        if self._others.slots or self._places.slots or self._choices is not None:
            return self._inner.expressions.values()
        found = (one for mean in self._means if not mean.is_cut for one in mean.columns)
        return set(found)

    def _cut(self) -> Iterator[str]:
        """A number of values is NULL for none. A sum is within what so many values can add up to, so that no
        cast raises."""
        binds = self._binds
        for mean in self._means:
            if not mean.is_cut:
                continue
            rows = f"least(g.v{mean.values}, {binds.number(_MOST_ROWS, 'bigint')})"
            width = binds.number(mean.high - mean.low, mean.kind)
            least, most = f"-{rows} * {width}", f"{rows} * {width}"
            yield f"nullif({rows}, 0) AS {mean.n}"
            yield f"least(greatest(g.v{mean.total}, {least}), {most})::{mean.kind} AS {mean.y}"
            if mean.squares is not None:
                largest = f"{rows} * {binds.number((mean.high - mean.low) ** 2, 'numeric')}"
                yield f"least(g.v{mean.squares}, {largest})::numeric AS {mean.s}"

    def _listed(self) -> str:
        """Join the places of all groups. A group has one row there, so that no row of a unit is repeated; rows
        of other groups are left out."""
        groups, given, same = self._plan.listed_groups, [], []
        for position, key in enumerate(self._keys):
            texts = [keys[position] for keys in groups]
            own = f"g.{key}"
            if None in texts:
                texts = [_text_of(text) for text in texts]
                own = f"(CASE WHEN {own} IS NULL THEN '' ELSE 'v' || {own} END)"
            given.append(f"pg_catalog.unnest({self._binds.add(texts, 'text[]')})")
            same.append(f'{own} COLLATE pg_catalog."C" = c.{key}')
        names = ", ".join([*self._keys, "place"])
        return (
            f" JOIN ROWS FROM ({', '.join(given)}) WITH ORDINALITY AS c({names})"
            f" ON {' AND '.join(same)}"
        )

    def _deviating(self) -> str:
        """h, the rows of g with d: the sum of y - c, in fine steps, or of PARTS of it divided by the unit's
        number of values where single; and size, of a unit's deviations in all groups. q and extent are the
        same of squares."""
        spread = ["unit", "place", "one"]
        columns = [f"g.{name}" for name in (spread if self._is_spread else self._keys)]
        sizes = ["*"]
        for place, mean in enumerate(self._means):
            fine = self._binds.number(fineness(mean.low, mean.high), mean.kind)
            centre = self._centre(place, mean.kind)
            found = f"(g.{mean.y} * {fine} - {centre} * g.{mean.n})"
            shared = self._share(found, f"g.{mean.in_all}", mean.kind)
            single = self._taken(place, 1, "boolean")
            columns.append(f"(CASE WHEN {single} THEN {shared} ELSE {found} END) AS d{place}")
            size = f"pg_catalog.abs(d{place})"
            if self._is_spread:
                size = self._in_all(size, mean.kind)
            sizes.append(f"{size} AS size{place}")
            if mean.squares is not None:
                columns.append(f"{self._squared(mean, place)} AS q{place}")
                extent = f"pg_catalog.abs(q{place})"
                if self._is_spread:
                    extent = self._in_all(extent, mean.kind_of_squares)
                sizes.append(f"{extent} AS extent{place}")
        # g is in this order. Named, it spares the sort before the window of PostgreSQL from 17 on.
        order = " ORDER BY g.unit" if self._is_spread else ""
        deviating = f"SELECT {', '.join(columns)} FROM g{order} LIMIT ALL"
        return f", h AS (SELECT {', '.join(sizes)} FROM ({deviating}) t LIMIT ALL)"

    def _squared(self, mean: _Mean, place: int) -> str:
        """The sum of (y - c)^2 of a unit, from its sums of y^2 and y."""
        found = self._squares_of(mean, place, "numeric")
        if mean.most_squares is not None:
            # Of few values each of the products is a bigint, which costs a tenth.
            whole = (mean.high - mean.low) * fineness(mean.low, mean.high)
            few = self._binds.number(mean.most_squares // (4 * whole**2), "bigint")
            quick = self._squares_of(mean, place, "bigint")
            most = self._binds.number(mean.most_squares)
            cut = f"({smaller_sql(found, most, SqlType.NUMERIC)})::bigint"
            found = f"(CASE WHEN g.{mean.n} <= {few} THEN {quick} ELSE {cut} END)"
        shared = self._share(found, f"g.{mean.in_all}", mean.kind_of_squares)
        return f"(CASE WHEN {self._taken(place, 1, 'boolean')} THEN {shared} ELSE {found} END)"

    def _squares_of(self, mean: _Mean, place: int, kind: str) -> str:
        fine = self._binds.number(fineness(mean.low, mean.high), kind)
        centre = self._centre(place, kind)
        linear = f"(2 * {fine} * g.{mean.y} - {centre} * g.{mean.n})"
        return f"({fine} * {fine} * g.{mean.s}::{kind} - {centre} * {linear})"

    def _centre(self, place: int, kind: str) -> str:
        """Of the group of a row. Bigints are all as long: among numerics each row would pass those before."""
        group = "g.place" if self._is_spread else self._binds.number(1, "integer")
        centre = f"({self._taken(place, 0, 'bigint[]')})[{group}]"
        return centre if kind == "bigint" else f"{centre}::{kind}"

    def _taken(self, place: int, number: int, kind: str) -> str:
        """What the setting has of a mean."""
        return self._text(_OF_A_MEAN * place + number, kind)

    def _text(self, number: int, kind: str) -> str:
        """Part of the text of the centres. A subquery: it is read once, not for each row."""
        counted = self._binds.number(number + 1, "integer")
        return f"(SELECT ({self._centres}::text[])[{counted}]::{kind})"

    def _share(self, value: str, of: str, kind: str) -> str:
        """PARTS times a value, divided by a number, towards 0. Its size is at most PARTS times the range."""
        parts = self._binds.number(PARTS)
        exact = f"pg_catalog.div({value} * {parts}, {of})"
        if kind == "numeric":
            return exact
        low, high = (self._binds.number(side * _TIMES_PARTS, "bigint") for side in (-1, 1))
        quick = f"{value} * {self._binds.number(PARTS, 'bigint')} / {of}"
        return f"(CASE WHEN {value} BETWEEN {low} AND {high} THEN {quick} ELSE {exact}::bigint END)"

    def _counted_rows(self) -> Iterator[str]:
        parts = self._binds.number(PARTS, "bigint")
        for place, mean in enumerate(self._means):
            edges = self._binds.add(_edges(row_bounds(mean.release.declared)), "bigint[]")
            n, in_all = f"g.{mean.n}", f"g.{mean.in_all}"
            sums = [n, f"{parts} * {n} / {in_all}", self._share(f"g.{mean.y}", in_all, mean.kind)]
            # A unit without a value is in no band, and nothing is divided by its number.
            yield self._counted("g", 2 * place, in_all, f"{in_all} > 0", edges, sums)

    def _counted_choices(self) -> Iterator[str]:
        if self._choices is None:
            return
        place = f"({self._binds.number(CHOICES, 'integer')} - c.place)::integer"
        numbers = "c.total::numeric, c.added::numeric, c.mean::numeric, c.units::bigint"
        yield f"SELECT {place}, c.band::integer, {numbers} FROM {self._choices.sql('g', self._binds)} c"

    def _counted_deviations(self) -> Iterator[str]:
        for place, mean in enumerate(self._means):
            edges = self._taken(place, 2, f"{mean.kind}[]")
            d, size = f"g.d{place}", f"g.size{place}"
            sums = [d, self._share(d, f"nullif({size}, 0)", mean.kind)]
            yield self._counted("h", 2 * place + 1, size, f"{size} IS NOT NULL", edges, sums)
        yield from self._counted_squares()

    def _counted_squares(self) -> Iterator[str]:
        means = len(self._means)
        for place, mean in enumerate(self._means):
            if mean.squares is None:
                continue
            kind = mean.kind_of_squares
            edges = self._text(_OF_A_MEAN * means + place, f"{kind}[]")
            q, extent = f"g.q{place}", f"g.extent{place}"
            sums = [q, self._share(q, f"nullif({extent}, 0)", kind)]
            yield self._counted(
                "h", 2 * means + place, extent, f"{extent} IS NOT NULL", edges, sums
            )

    def _counted(
        self, source: str, place: int, by: str, condition: str, edges: str, sums: Sequence[str]
    ) -> str:
        """Sums by group and band of a unit's total, with the number of units."""
        keys, grouped = self._grouped("g.")
        band = f"pg_catalog.width_bucket({by}, {edges})"
        listed = [*keys, f"{self._binds.number(place, 'integer')} AS place", f"{band} AS band"]
        grouped = [*grouped, str(len(listed))]
        listed += [f"pg_catalog.sum({one})::numeric" for one in sums]
        listed += ["NULL::numeric"] * (3 - len(sums))
        listed.append(_UNITS if self._is_spread else "pg_catalog.count(*)")
        by_these = ", ".join(grouped)
        return f"SELECT {', '.join(listed)} FROM {source} g WHERE {condition} GROUP BY {by_these}"

    def _grouped(self, of: str) -> tuple[Sequence[str], Sequence[str]]:
        """The keys of a group, and what rows are grouped by for that: the place of the group, an integer, where
        there are several."""
        own = [f"{of}{key}" for key in self._keys]
        if not self._is_spread:
            return own, own
        place = f"{of}place"
        texts = enumerate(map(self._of_groups, range(len(own))), 1)
        return [f"{given} ->> ({place} - 1) AS k{n}" for n, given in texts], [place]

    def _of_groups(self, position: int) -> str:
        """The texts of one key in all groups. In text[] each look-up would pass those before; not in jsonb."""
        texts = [keys[position] for keys in self._plan.listed_groups]
        return self._binds.add(json.dumps(texts, ensure_ascii=False), "jsonb")


def _edges(bounds: Sequence[int]) -> list[str]:
    """Of bands for pg_catalog.width_bucket: a value is above as many bounds as its band says."""
    return [str(bound + 1) for bound in bounds]


def _text_of(key: str | None) -> str:
    """A key as it is compared: the texts of NULL and of '' differ."""
    return "" if key is None else f"v{key}"
