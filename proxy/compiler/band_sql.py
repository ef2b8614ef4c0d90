"""Units counted by the bands of their totals.

One process does it for all units, so what each costs matters. Measured on a million units: a list of VALUES
for each takes 4.5 microseconds per row of it, as PostgreSQL prepares its expressions anew; width_bucket on
numeric[], which walks the array, takes 1.5; on bigint[] 0.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proxy.compiler.binds import Binds
from proxy.kernel.bound_choices import BoundChoice, WeightChoice

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
