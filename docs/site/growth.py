"""Curves of how time grows. `python -m tests.bench.growth` measures what they show."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("growth.json")
Line = list[tuple[int, float]]  # a place of the axis, and seconds
Figures = dict[str, Mapping[str, Line]]


class Axis(NamedTuple):
    """What grows; `title` is of the picture."""

    unit: str
    title: str


AXES: Mapping[str, Axis] = {
    "rows": Axis(
        "rows", "Seconds of five aggregates in one statement against the rows of the table"
    ),
    "aggregates": Axis("aggregates", "Seconds of a statement against its number of aggregates"),
    "groups": Axis("groups", "Seconds of a COUNT against the number of its private groups"),
    "rows_a_unit": Axis("rows a unit", "Seconds of COUNT and SUM against the rows of each unit"),
    "tables": Axis("tables", "Processor seconds against the tables of a policy"),
}


def read_figures() -> Figures:
    """By axis and line."""
    found: Figures = json.loads(_FILE.read_text(encoding="utf-8")) if _FILE.exists() else {}
    return found


def write_figures(figures: Figures) -> None:
    axes = {axis: figures[axis] for axis in AXES if axis in figures}
    lines = (
        f'  "{axis}": {{\n'
        + ",\n".join(f'    "{name}": {json.dumps(line)}' for name, line in axes[axis].items())
        + "\n  }"
        for axis in axes
    )
    _FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def exponent(line: Line) -> float:
    """By which power the time grows at the end: 1 where it is linear.

    >>> exponent([(1, 1.0), (10, 2.0), (100, 20.0)])
    1.0
    """
    (x, before), (y, after) = line[-2:]
    return math.log(after / before) / math.log(y / x)
