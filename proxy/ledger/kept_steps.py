"""The steps of a series in the ledger: what is drawn for each, once, under the receipt that paid for all.

Noise is written, durably and encrypted, before its step is read. So a process that is killed at any point is
followed by one that draws the same numbers.

Source  ledger_schema/published.sql, PROOFS.md 33
"""

from __future__ import annotations

import json

from proxy.base.errors import Fault
from proxy.drawing.series_steps import StepNumbers, StepsSoFar
from proxy.ledger.ledger_tables import LedgerTables

_NOISE, _DRAWN = "noise of a step", "drawn step"
_STEPS = """\
SELECT s.number, s.noise, s.drawn FROM ledger.series_step s WHERE s.receipt = %s AND s.number < %s
ORDER BY s.number"""
# All of them or none: of two who read the same steps one stores, so that all are of one snapshot. The first
# step is locked, so that whoever comes second sees that it has been drawn.
_STORE = """\
UPDATE ledger.series_step s SET drawn = g.drawn
FROM (SELECT f.receipt, f.number FROM ledger.series_step f
      WHERE f.receipt = %s AND f.number = %s AND f.drawn IS NULL FOR UPDATE) first,
     jsonb_array_elements_text(%s::jsonb) WITH ORDINALITY AS g(drawn, place)
WHERE s.receipt = first.receipt AND s.number = first.number + g.place - 1 RETURNING s.number"""


class LedgerSteps:
    """Of one receipt. due: so many steps have ended; steps: so many there will be."""

    def __init__(self, tables: LedgerTables, receipt: int, due: int, steps: int) -> None:
        self._tables = tables
        self._receipt = receipt
        self._steps = steps
        self.due = due

    async def begun(self) -> StepsSoFar:
        """
        Refuses  Fault: what stands there cannot be read
        """
        rows = await self._tables.rows(_STEPS, (self._receipt, self.due))
        if [row["number"] for row in rows] != list(range(len(rows))):
            raise Fault("a series lacks a step")
        drawn = [row["drawn"] for row in rows if row["drawn"] is not None]
        if any(row["drawn"] is None for row in rows[: len(drawn)]):
            raise Fault("a series lacks a step")
        has_noise = all(row["noise"] is not None for row in rows)
        return StepsSoFar(
            noise=[self._opened(row["noise"], _NOISE, at) for at, row in enumerate(rows)]
            if has_noise
            else [],
            drawn=[self._opened(one, _DRAWN, at) for at, one in enumerate(drawn)],
        )

    async def begin(self, first: int, noise: StepNumbers) -> StepsSoFar:
        await self._tables.first(
            "SELECT ledger.begin_steps(%s, %s, %s::jsonb)",
            (self._receipt, first, self._sealed(first, noise, _NOISE)),
        )
        return await self.begun()

    async def store(self, first: int, drawn: StepNumbers) -> StepsSoFar:
        sealed = self._sealed(first, drawn, _DRAWN)
        await self._tables.rows(_STORE, (self._receipt, first, sealed))
        found = await self.begun()
        if len(found.drawn) < first + len(drawn):
            raise Fault("another has drawn a part of the steps of a series")
        if len(found.drawn) >= self._steps:
            await self._tables.first(
                "SELECT ledger.end_steps(%s, %s)", (self._receipt, self._steps)
            )
        return found

    def _sealed(self, first: int, numbers: StepNumbers, what: str) -> str:
        texts = self._tables.texts
        return json.dumps(
            [
                texts.sealed(json.dumps(list(row)), (what, str(self._receipt), str(first + place)))
                for place, row in enumerate(numbers)
            ]
        )

    def _opened(self, sealed: str, what: str, number: int) -> list[int]:
        text = self._tables.texts.opened(sealed, (what, str(self._receipt), str(number)))
        if text is None:
            raise Fault("the key that a step of a series was encrypted with is not here")
        return [int(one) for one in json.loads(text)]
