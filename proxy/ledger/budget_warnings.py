"""Who is told that a budget is nearly spent: each analyst once in a window, and the log once.

What was told is known to this process alone: after a restart it is told once more.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

import structlog

from proxy.accounting.amounts import text
from proxy.accounting.budget_lines import STEPS, WARNED_FROM, BudgetLine, LineKind, as_reported
from proxy.accounting.refusal import nearly_spent

_REMEMBERED = 100_000

_FAR = float(WARNED_FROM) - 2 / STEPS
_log = structlog.get_logger("dpproxy.ledger")


class BudgetWarnings:
    """Of the budgets of one source."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._reported: OrderedDict[Hashable, None] = OrderedDict()

    def of(
        self, analyst: str, lines: tuple[BudgetLine, ...], *, is_cached: bool = False
    ) -> tuple[str, ...]:
        """
        Given    what a statement of the analyst was charged to; is_cached: as of as_reported
        Gives    what to tell them; the log is told here
        """
        if not any(_may_be_nearly_spent(line) for line in lines):
            return ()
        near = [line for line in lines if line.used >= WARNED_FROM]
        for line in near:
            if self._is_new((line.kind, line.name, line.window, line.limit)):
                _log.warning(
                    "budget_nearly_spent",
                    source=self._source,
                    budget=line.kind.value,
                    **({} if line.kind is LineKind.TOTAL else {"name": line.name}),
                    percent=int(line.used * 100),
                    epsilon_left=text(line.left.epsilon),
                    delta_left=text(line.left.delta),
                )
        reported = as_reported(without_other_blocks(lines), is_cached=is_cached)
        return tuple(
            nearly_spent(line)
            for line in reported
            if line.used >= WARNED_FROM
            and self._is_new((analyst, line.kind, line.name, line.window, line.limit))
        )

    def _is_new(self, known: Hashable) -> bool:
        if known in self._reported:
            self._reported.move_to_end(known)
            return False
        self._reported[known] = None
        while len(self._reported) > _REMEMBERED:
            self._reported.popitem(last=False)
        return True


def without_other_blocks(lines: tuple[BudgetLine, ...]) -> tuple[BudgetLine, ...]:
    """Of blocks of time, of which a statement may read very many, the one of which most is spent."""
    blocks = [one for one in lines if one.is_block]
    most = max(blocks, key=lambda one: one.used, default=None)
    return tuple(one for one in lines if one is most or not one.is_block)


def _may_be_nearly_spent(line: BudgetLine) -> bool:
    """False where even a step less (as_reported) is far from what is warned from: in floats, soon."""
    return line.rho_limit is not None or any(
        float(of) > _FAR * float(most) for of, most in zip(line.spent, line.limit, strict=True)
    )
