"""`python -m tests.workload`: what a thousand questions spend; writes its table in explanation/budgets.md."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.servers_fixture import servers
from tests.workload.questions import ANALYSTS, questions
from tests.workload.spending import SETTINGS, Spending, Workload

QUESTIONS = 1000
DOCUMENT = Path(__file__).parents[2] / "docs" / "explanation" / "budgets.md"
HEADS = (
    *("what is reused", "epsilon of the total", "times less", "statements drawn"),
    *("of the busiest analyst", "noise beside a fresh answer's: mean", "largest"),
)
TABLE = re.compile(rf"^\| {HEADS[0]} \|.*\n(?:\|.*\n)+", re.MULTILINE)


def lines(found: Mapping[str, Spending]) -> Iterator[str]:
    yield f"| {' | '.join(HEADS)} |"
    yield f"|{'---|' * len(HEADS)}"
    first = next(iter(found.values())).total
    for name, spent in found.items():
        mean = sum(spent.noise) / len(spent.noise)
        figures = (
            f"{spent.total:,.1f}",
            f"{first / spent.total:.1f}",
            f"{spent.drawn:,}",
            f"{spent.own[ANALYSTS[0]]:,.1f}",
            f"{mean:.2f}",
            f"{max(spent.noise):.2f}",
        )
        yield f"| {name} | {' | '.join(figures)} |"


def main() -> None:
    workload, wanted = Workload(servers()), questions(QUESTIONS)
    found: dict[str, Spending] = {}
    for setting in SETTINGS:
        found[setting.name] = asyncio.run(workload.spending(setting, wanted))
        *_, line = lines(found)
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    text = DOCUMENT.read_text(encoding="utf-8")
    table = "\n".join(lines(found)) + "\n"
    DOCUMENT.write_text(TABLE.sub(lambda _: table, text), encoding="utf-8")


if __name__ == "__main__":
    main()
