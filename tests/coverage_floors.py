"""Branch coverage by package, from `coverage json`, and the floors below which `make coverage` fails.

    python -m tests.coverage_floors coverage.json

A floor is what was measured, rounded down. What lowers it comes with tests, or with the reason in its commit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Percent of the branches that the tests of `make coverage` take.
FLOORS: Mapping[str, float] = {
    "mechanisms": 94.5,
    "planner": 90.5,
    "compiler": 95,
    "release": 85.5,
    "accounting": 83,
    "ledger": 84,
}


@dataclass(frozen=True, slots=True)
class Branches:
    taken: int
    all: int

    def __add__(self, other: Branches) -> Branches:
        return Branches(self.taken + other.taken, self.all + other.all)

    @property
    def percent(self) -> float:
        return 100 * self.taken / self.all if self.all else 100.0


def by_package(report: Mapping[str, Any]) -> dict[str, Branches]:
    """
    Given    what `coverage json` wrote
    Gives    the branches of each package that has a floor
    """
    found = dict.fromkeys(FLOORS, Branches(0, 0))
    for file, about in report["files"].items():
        match Path(file).parts:
            case ["proxy", package, *_] if package in found:
                summary = about["summary"]
                found[package] += Branches(summary["covered_branches"], summary["num_branches"])
            case _:
                pass
    return found


def too_low(found: Mapping[str, Branches]) -> Iterator[str]:
    """A package without branches was not measured at all."""
    for package, floor in FLOORS.items():
        branches = found[package]
        if not branches.all or branches.percent < floor:
            yield f"{package}: {branches.percent:.1f} % of {branches.all} branches, floor {floor} %"


def main(path: str) -> int:
    found = by_package(json.loads(Path(path).read_text(encoding="utf-8")))
    for package, branches in found.items():
        floor = FLOORS[package]
        print(
            f"{package:12} {branches.taken:5} of {branches.all:5} branches {branches.percent:6.1f} %"
            f"   floor {floor:5.1f} %"
        )
    failures = list(too_low(found))
    for failure in failures:
        print(f"TOO LOW  {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
