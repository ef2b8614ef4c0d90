"""Scans for means of deviations: rows by group and band of a unit's rows, deviations by group and band of a
unit's deviation, and units by both bands (mechanisms.deviation_mean).

Each result row has the keys, then five numbers: place, band, total, share, mean. Of the block's i-th mean,
place 4 i is about rows in groups, 4 i + 1 about deviations in groups; the next two are about units by their
rows and by their deviations: `total` is a number of units there, and keys are NULL. `mean` is of rows alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from proxy.base.slots import Slots
from proxy.compiler.aggregate_sql import RowSource, values_sql
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.select_list import Output, finished, key_sql
from proxy.compiler.statistic_sql import centred_sql
from proxy.compiler.unit_gathering import gathered_sql
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, DeviationMean
from proxy.mechanisms.deviation_mean import PARTS, deviation_bounds, fineness, row_bounds

_MOST_ROWS = 2**40  # of a unit; a table has less than twice as many
_LARGEST = 2**60 // _MOST_ROWS  # fine steps of a value for which the sums of a unit fit in a bigint
_TIMES_PARTS = 2**42  # PARTS times this fits in a bigint


def centre_scan(plan: BlockPlan) -> BackendQuery:
    """Print the scan by which the centres of all means of a block are released."""
    return _scan(plan, has_deviations=False)


def deviation_scan(plan: BlockPlan) -> BackendQuery:
    """Print the scan of rows and deviations, about the centres of the plan.

    Before centres are released the middle of the range stands for them.
    """
    return _scan(plan, has_deviations=True)


def _scan(plan: BlockPlan, *, has_deviations: bool) -> BackendQuery:
    unit, binds = plan.neighbours, Binds()
    assert isinstance(unit, UnitNeighbours), "rows by themselves have no deviations of units"
    numbers = tuple(plan.deviation_means)
    sql = _Columns(plan, unit, binds, has_deviations).sql()
    found = replace(plan, sub_partitions=0)
    releases = numbers if has_deviations else ()
    return finished(sql, found, releases, binds, (), (Slots(),) * len(releases), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mean:
    """One mean of the block. kind: the type of its sums; values, total: columns of what is gathered."""

    release: DeviationMean
    kind: str
    values: int
    total: int

    @property
    def low(self) -> int:
        return self.release.measured.low

    @property
    def high(self) -> int:
        """One step above the low end at least: of a range of one value all deviations are 0."""
        return max(self.low + 1, self.release.measured.high)

    @property
    def is_single(self) -> bool:
        centres = self.release.centres
        return centres is not None and centres.is_single


class _Columns:
    """What is made of the rows of each unit and group, one subquery around the other."""

    def __init__(
        self, plan: BlockPlan, unit: UnitNeighbours, binds: Binds, has_deviations: bool
    ) -> None:
        self._plan, self._unit, self._binds = plan, unit, binds
        self._has_deviations = has_deviations
        self._keys = [f"k{number}" for number in range(1, len(plan.keys) + 1)]
        self._is_spread = bool(plan.keys) and plan.groups() != 1
        self._inner = Output()
        rows = RowSource(binds, inner=False)
        self._means = [self._mean(release, rows) for release in plan.deviation_means.values()]

    def _mean(self, release: DeviationMean, rows: RowSource) -> _Mean:
        measured = release.measured
        low, high = measured.low, max(measured.low + 1, measured.high)
        is_small = (high - low) * fineness(low, high) < _LARGEST
        return _Mean(
            release=release,
            kind="bigint" if is_small else "numeric",
            values=self._inner.add(values_sql(measured, rows)),
            total=self._inner.add(centred_sql(measured, rows)),
        )

    def sql(self) -> str:
        """One statement: rows by unit and group, totals of each unit over all groups, both counted by bands."""
        parts = {"g": self._with_deviations()}
        rows, units = "g", "g"
        if self._is_spread:
            parts["a"] = f"SELECT unit, {', '.join(self._in_all())} FROM g GROUP BY unit"
            units = "a"
            if any(mean.is_single for mean in self._means):
                divided, sizes = ", ".join(self._divided()), ", ".join(self._sizes())
                parts["r"] = f"SELECT g.unit, {divided} FROM g JOIN a ON a.unit = g.unit"
                joined = "a JOIN r ON r.unit = a.unit"
                parts["s"] = f"SELECT a.unit, {sizes} FROM {joined} GROUP BY a.unit"
                rows, units = "r", "s"
        parts["b"] = f"SELECT *, {', '.join(self._bands())} FROM {units}"
        source = f"{rows} g JOIN b ON b.unit = g.unit" if self._is_spread else "b g"
        counted = [
            part for place in range(len(self._means)) for part in self._counted(place, source)
        ]
        named = ", ".join(f"{name} AS MATERIALIZED ({sql})" for name, sql in parts.items())
        return f"WITH {named} {' UNION ALL '.join(counted)}"

    def _with_sums(self) -> str:
        """n: number of values, NULL for none; y: their sum about the middle; c: the centre."""
        plan, binds = self._plan, self._binds
        head = [f"{key_sql(key, binds)} AS k{n}" for n, key in enumerate(plan.keys, 1)]
        gathered = gathered_sql(plan, self._unit, head, len(head), self._inner, binds)
        columns = ["g.unit", *(f"g.{key}" for key in self._keys)]
        for place, mean in enumerate(self._means):
            rows = f"least(g.v{mean.values}, {binds.number(_MOST_ROWS, 'bigint')})"
            width = binds.number(mean.high - mean.low, mean.kind)
            least, most = f"-{rows} * {width}", f"{rows} * {width}"
            columns.append(f"nullif({rows}, 0) AS n{place}")
            # A sum is within what so many values can add up to, so that no cast raises.
            total = f"least(greatest(g.v{mean.total}, {least}), {most})::{mean.kind}"
            columns.append(f"{total} AS y{place}")
        joined = ""
        if self._has_deviations:
            columns += [f"{self._centre(place)} AS c{place}" for place in range(len(self._means))]
            joined = self._centres() if self._is_spread else ""
        # LIMIT ALL keeps the planner from merging this with what stands around it, where each column is named
        # several times.
        return f"SELECT {', '.join(columns)} FROM ({gathered}) g{joined} LIMIT ALL"

    def _centre(self, place: int) -> str:
        mean = self._means[place]
        centres = mean.release.centres
        if centres is None:
            return self._binds.number(0, mean.kind)
        if self._is_spread:
            return f"c.c{place}"
        return self._binds.number(centres.centres[0] if centres.centres else 0, mean.kind)

    def _centres(self) -> str:
        """Join the centres of all groups. A group has one row there, so that no row of a unit is repeated; rows
        of other groups are left out."""
        binds, groups = self._binds, self._plan.listed_groups
        given = []
        for position in range(len(self._keys)):
            texts = [_text_of(keys[position]) for keys in groups]
            given.append(f"pg_catalog.unnest({binds.add(texts, 'text[]')})")
        for mean in self._means:
            centres = mean.release.centres
            numbers = [0] * len(groups) if centres is None else centres.centres
            given.append(
                f"pg_catalog.unnest({binds.add([str(n) for n in numbers], mean.kind + '[]')})"
            )
        names = [*self._keys, *(f"c{place}" for place in range(len(self._means)))]
        own = ", ".join(
            f"(CASE WHEN g.{key} IS NULL THEN '' ELSE 'v' || g.{key} END) COLLATE pg_catalog.\"C\""
            for key in self._keys
        )
        other = ", ".join(f"c.{key}" for key in self._keys)
        return (
            f" JOIN ROWS FROM ({', '.join(given)}) AS c({', '.join(names)})"
            f" ON ARRAY[{own}] = ARRAY[{other}]"
        )

    def _with_deviations(self) -> str:
        """With d: the sum of y - c, in fine steps. Without groups a unit has all of it in one row."""
        columns = ["*"]
        for place, mean in enumerate(self._means):
            fine = self._binds.number(fineness(mean.low, mean.high), mean.kind)
            found = f"(y{place} * {fine} - c{place} * n{place})"
            if not self._is_spread:
                columns.append(f"n{place} AS all{place}")
                if mean.is_single:
                    found = self._share(found, f"n{place}", mean.kind)
            if self._has_deviations:
                columns.append(f"{found} AS d{place}")
                if not self._is_spread:
                    columns.append(f"pg_catalog.abs({found}) AS size{place}")
        return f"SELECT {', '.join(columns)} FROM ({self._with_sums()}) t"

    def _in_all(self) -> Iterator[str]:
        """all, size: values of a unit in all groups, and of its deviations there."""
        for place, mean in enumerate(self._means):
            yield f"pg_catalog.sum(n{place})::bigint AS all{place}"
            if self._has_deviations and not mean.is_single:
                yield f"pg_catalog.sum(pg_catalog.abs(d{place}))::{mean.kind} AS size{place}"

    def _divided(self) -> Iterator[str]:
        """Rows again; deviations of single rows are divided by their number, in PARTS."""
        yield from (f"g.{key}" for key in self._keys)
        for place, mean in enumerate(self._means):
            found = f"g.d{place}"
            if mean.is_single:
                found = f"{self._share(found, f'a.all{place}', mean.kind)}"
            yield f"g.n{place}, g.y{place}, {found} AS d{place}"

    def _sizes(self) -> Iterator[str]:
        """Units again, with the sizes of deviations that were divided."""
        for place, mean in enumerate(self._means):
            yield f"pg_catalog.min(a.all{place}) AS all{place}"
            size = f"pg_catalog.sum(pg_catalog.abs(r.d{place}))::{mean.kind}"
            yield f"{size} AS size{place}"

    def _bands(self) -> Iterator[str]:
        binds = self._binds
        for place, mean in enumerate(self._means):
            edges = binds.add(_edges(row_bounds(mean.release.declared)), "bigint[]")
            yield f"pg_catalog.width_bucket(all{place}, {edges}) AS band{place}"
            if self._has_deviations:
                bounds = deviation_bounds(mean.low, mean.high, is_single=mean.is_single)
                edges = binds.add(_edges(bounds), f"{mean.kind}[]")
                yield f"pg_catalog.width_bucket(size{place}, {edges}) AS size_band{place}"

    def _share(self, value: str, of: str, kind: str) -> str:
        """PARTS times a value, divided by a number, towards 0. Its size is at most PARTS times the range."""
        parts = self._binds.number(PARTS)
        exact = f"pg_catalog.div({value} * {parts}, {of})"
        if kind == "numeric":
            return exact
        low, high = (self._binds.number(side * _TIMES_PARTS, "bigint") for side in (-1, 1))
        quick = f"{value} * {self._binds.number(PARTS, 'bigint')} / {of}"
        return f"(CASE WHEN {value} BETWEEN {low} AND {high} THEN {quick} ELSE {exact}::bigint END)"

    def _counted(self, place: int, source: str) -> Iterator[str]:
        """Rows and deviations in groups, first by both bands of a mean together, then by each; and units."""
        mean, keys, first = self._means[place], self._keys, 4 * place
        n, in_all, size = f"g.n{place}", f"b.all{place}", f"b.size{place}"
        if not self._is_spread:
            in_all, size = f"g.all{place}", f"g.size{place}"
        parts = self._binds.number(PARTS, "bigint")
        band = in_all.replace("all", "band")
        bands, rows = [f"{band} AS b0"], [(first, "b0", "total0", "share0", "mean0")]
        sums = {
            "total0": n,
            "share0": f"{parts} * {n} / {in_all}",
            "mean0": self._share(f"g.y{place}", in_all, mean.kind),
        }
        if self._has_deviations:
            d = f"g.d{place}"
            bands.append(f"{size.replace('size', 'size_band')} AS b1")
            sums |= {"total1": d, "share1": self._share(d, f"nullif({size}, 0)", mean.kind)}
            rows.append((first + 1, "b1", "total1", "share1", "NULL::numeric"))
        listed = [f"g.{key}" for key in keys] + bands
        listed += [f"pg_catalog.sum({sql}) AS {name}" for name, sql in sums.items()]
        by = ", ".join(str(number) for number in range(1, len(keys) + len(bands) + 1))
        together = f"SELECT {', '.join(listed)} FROM {source} WHERE {n} IS NOT NULL GROUP BY {by}"
        head = [*(f"t.{key}" for key in keys), "c.place", "c.band"]
        summed = [f"pg_catalog.sum(c.{column})" for column in ("total", "share", "mean")]
        values = ", ".join(
            f"({self._binds.number(number, 'integer')}, {', '.join(named)})"
            for number, *named in rows
        )
        by = ", ".join(str(number) for number in range(1, len(head) + 1))
        yield (
            f"SELECT {', '.join([*head, *summed])} FROM ({together}) t,"
            f" LATERAL (VALUES {values}) c(place, band, total, share, mean) GROUP BY {by}"
        )
        names = [f"band{place}", *([f"size_band{place}"] if self._has_deviations else [])]
        for number, name in enumerate(names, first + 2):
            nothing = ["NULL::text"] * len(keys)
            columns = [*nothing, self._binds.number(number, "integer"), name]
            columns += ["pg_catalog.count(*)", "NULL::numeric", "NULL::numeric"]
            yield (
                f"SELECT {', '.join(columns)} FROM b WHERE all{place} IS NOT NULL GROUP BY {name}"
            )


def _edges(bounds: Sequence[int]) -> list[str]:
    """Of bands for pg_catalog.width_bucket: a value is above as many bounds as its band says."""
    return [str(bound + 1) for bound in bounds]


def _text_of(key: str | None) -> str:
    """A key as it is compared: the texts of NULL and of '' differ."""
    return "" if key is None else f"v{key}"
