"""How far an answer may be from the exact value, as the proxy itself reports it: HTTP's `accuracy`, dp.low
and dp.high.

It reports 95 %; wider levels follow from the tail of the Laplace law, e^(-t/scale).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.cases import Case

LEVEL = 1e-3  # missed so often by a proxy that is right
NEVER = 1e-9
_CLAMP = re.compile(r"values clamped to (\S+) \.\. (\S+), grid (\S+?)(?:;|$)")


def wider(miss: float) -> float:
    """Of an interval that misses 5 %, one that misses so much."""
    return math.log(miss) / math.log(0.05)


@dataclass(frozen=True)
class Release:
    """One entry of `accuracy`."""

    epsilon: float
    rows: int
    error: float | None
    low: Decimal
    high: Decimal
    grid: Decimal

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Release:
        found = _CLAMP.search(entry["note"])
        low, high, grid = map(Decimal, found.groups() if found else (0, 0, 1))
        rows = re.match(r"(\d+) (?:row|unit)", entry["sensitivity"])
        error = None if entry["error_95"] is None else float(entry["error_95"])
        return cls(float(entry["epsilon"]), int(rows[1]) if rows else 0, error, low, high, grid)

    def half_width(self, miss: float) -> float:
        """A step more on either end of the calculation: the noise is discrete."""
        assert self.error is not None
        return (self.error + float(self.grid)) * wider(miss) + float(self.grid)

    def ranks(self, miss: float) -> float:
        """Of an order statistic: the exponential mechanism over s steps is off by more than
        (2 rows / epsilon) (ln s + t) with probability e^-t; MIN and MAX aim as many ranks inside.

        Source   McSherry and Talwar 2007, theorem 6; proxy/mechanisms/order_statistic.py
        """
        steps = math.log(max(2.0, float((self.high - self.low) / self.grid)))
        each = 2 * self.rows / self.epsilon
        return math.ceil(each * steps) + each * (steps - math.log(miss))


@dataclass(frozen=True)
class Interval:
    """dp.low and dp.high of one aggregate; the wider of both sides, as the answer may be cut to bounds."""

    answer: Decimal
    low: Decimal
    high: Decimal

    def half_width(self, miss: float) -> float:
        return float(max(self.answer - self.low, self.high - self.answer)) * wider(miss)


def columns_of(case: Case) -> list[str]:
    return re.split(r", (?=(?:key|\d+)(?:,|$)|[\[~?=])", case.headers["columns"])
