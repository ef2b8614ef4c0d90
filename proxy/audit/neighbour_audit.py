"""The neighbour audit: compiled SQL on synthetic databases and their neighbours, against the plan.

What it finds is a lower bound of the true sensitivity: the largest change among the databases tried. It can
refute a plan, never prove one; the idea is Garrido et al.'s empirical global sensitivity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol

from proxy.audit.movement import Measure, allowed, bounded_tables, movements
from proxy.audit.synthetic_copies import CopiedRows, mixed_units
from proxy.base.errors import Fault
from proxy.catalog.catalog_model import TableName
from proxy.compiler.compiling import CompiledQuery, compile_block, compile_choices
from proxy.exact.table import ExactTable
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan
from proxy.kernel.plan import NoisyStatistic, PrivatePlan, SampleAggregate
from proxy.mechanisms.bits import RandomBits
from proxy.planner.planning import ChosenBounds
from proxy.query.ir.query import Scalar
from proxy.query.ir.relations import tables_of_rows
from proxy.query.syntax.placeholders import ScalarAnswer
from proxy.release.adding_noise import drawn_block
from proxy.release.presenting import group_values

_SEED_BITS = 63
_LOW = 3  # place of a bound, from 0: a total of 4


@dataclass(frozen=True, slots=True)
class AuditedChange:
    """From the synthetic database to another one: so many units out, so many in, of these tables."""

    number: int
    tables: frozenset[TableName]
    removed: int
    added: int

    @property
    def distance(self) -> int:
        """In units added or removed: a replaced unit counts as two."""
        return self.removed + self.added

    @property
    def is_replacement(self) -> bool:
        """A neighbour in the bounded sense."""
        return self.removed == self.added


class StatementData(Protocol):
    async def run(self, query: CompiledQuery, values: Mapping[str, int | str | None]) -> ExactTable:
        """The exact results of one compiled statement, whose transaction has ended when this returns.

        Refuses  Fault
        """
        ...


class SyntheticData(Protocol):
    def changes(self) -> Iterator[AuditedChange]: ...

    def applied(self, change: AuditedChange) -> AbstractContextManager[None]: ...

    def copied(self) -> Mapping[str, CopiedRows]:
        """By prepared copy, what each unit has in it now."""
        ...


@dataclass(frozen=True, slots=True)
class AuditedQuery:
    """One question that is audited."""

    sql: str
    checked: CheckedPlan
    scalars: tuple[Scalar, ...]

    @property
    def plan(self) -> PrivatePlan:
        return self.checked.private


@dataclass(slots=True)
class AuditFinding:
    """One measure of one release of one question. observed: the largest by distance, over additions and
    removals; replaced: the largest where one unit was replaced."""

    sql: str
    release: str
    measure: Measure
    planned: Fraction
    observed: dict[int, Fraction] = field(default_factory=dict)
    replaced: Fraction | None = None
    violations: int = 0

    def allowed(self, distance: int) -> Fraction:
        return allowed(self.measure, self.planned, distance)


@dataclass(slots=True)
class Audit:
    """failed: questions whose SQL raised on some database, which a person's row can cause, and how often;
    mixed: prepared copies in which rows of units change by those of others, and how often."""

    findings: list[AuditFinding] = field(default_factory=list)
    failed: dict[str, int] = field(default_factory=dict)
    mixed: dict[str, int] = field(default_factory=dict)
    compared: int = 0  # pairs of databases, over all questions
    neighbours: int = 0

    @property
    def violations(self) -> int:
        raised_or_mixed = sum(self.failed.values()) + sum(self.mixed.values())
        return sum(finding.violations for finding in self.findings) + raised_or_mixed


_Exact = list[list[ExactTable]]  # per block, per statement


class Auditor:
    """
    Given    data: of the synthetic database; bits: for the seeds of hashes, the same on every database
    """

    def __init__(self, data: StatementData, bits: RandomBits) -> None:
        self._data, self._bits = data, bits

    async def audit(self, questions: Sequence[AuditedQuery], synthetic: SyntheticData) -> Audit:
        """Every question on every database one change away from the synthetic one."""
        audit = Audit()
        runs = [_Run(audited_query, self._bits) for audited_query in questions]
        for run in runs:
            run.base = await self._exact(run, audit, is_first=True)
        live = [run for run in runs if run.base is not None]
        copied = synthetic.copied()
        for change in synthetic.changes():
            audit.neighbours += 1
            with synthetic.applied(change):
                for name, there in synthetic.copied().items():
                    mixed = mixed_units(copied[name], there)
                    if mixed:
                        audit.mixed[name] = audit.mixed.get(name, 0) + mixed
                for run in live:
                    if run.tables & change.tables:
                        await self._compare(run, change, audit)
        audit.findings = [finding for run in runs for finding in run.findings.values()]
        return audit

    async def _compare(self, run: _Run, change: AuditedChange, audit: Audit) -> None:
        there = await self._exact(run, audit, is_first=False)
        if there is None or run.base is None:
            return
        audit.compared += 1
        for number, block in enumerate(run.audited_query.plan.blocks):
            for movement in movements(block, run.base[number], there[number]):
                key = (number, movement.release, movement.measure)
                finding = run.findings.get(key)
                if finding is None:
                    name = _name(run.audited_query.plan, number, movement.release)
                    finding = AuditFinding(
                        run.audited_query.sql, name, movement.measure, movement.planned
                    )
                    run.findings[key] = finding
                finding.violations += movement.observed > finding.allowed(change.distance)
                if change.is_replacement:
                    finding.replaced = max(finding.replaced or Fraction(0), movement.observed)
                else:
                    before = finding.observed.get(change.distance, Fraction(0))
                    finding.observed[change.distance] = max(before, movement.observed)

    async def _exact(self, run: _Run, audit: Audit, *, is_first: bool) -> _Exact | None:
        found: _Exact = []
        try:
            for number, (block, queries) in enumerate(
                zip(run.audited_query.checked.blocks, run.queries, strict=True)
            ):
                tables = [
                    await self._data.run(query, run.values(number, i))
                    for i, query in enumerate(queries)
                ]
                found.append(tables)
                if is_first:
                    run.answer(number, block, tables, self._bits)
        except Fault:
            audit.failed[run.audited_query.sql] = audit.failed.get(run.audited_query.sql, 0) + 1
            return None
        return found


class _Run:
    """A question with everything that must be the same on every database: seeds and the (noisy, so public)
    answers of earlier blocks."""

    def __init__(self, audited_query: AuditedQuery, bits: RandomBits) -> None:
        self.audited_query = audited_query
        self.queries = [compiled(block) for block in audited_query.checked.blocks]
        self.tables = frozenset(
            table for block in audited_query.plan.blocks for table in tables_of_rows(block.source)
        )
        self.base: _Exact | None = None
        self.findings: dict[tuple[int, int | None, Measure], AuditFinding] = {}
        self._answers: dict[ScalarAnswer, str | None] = {}
        self._seeds = [
            [{name: bits.below(2**_SEED_BITS) for name in query.seeds} for query in queries]
            for queries in self.queries
        ]

    def values(self, block: int, number: int) -> Mapping[str, int | str | None]:
        query: CompiledQuery = self.queries[block][number]
        answers = {name: self._answers[scalar] for name, scalar in query.scalars}
        return {**self._seeds[block][number], **answers}

    def answer(
        self, number: int, checked: CheckedBlock, tables: list[ExactTable], bits: RandomBits
    ) -> None:
        block = checked.block
        for scalar in self.audited_query.scalars:
            if scalar.block == number:
                tables = list(bounded_tables(block, tables))
                # As it is drawn: of NULL the next block would have no rows to compare.
                value = next(group_values(block, drawn_block(checked, tables, bits).groups[0]))
                release = block.releases[block.answers[0].releases[0]]
                if value.is_missing and isinstance(release, SampleAggregate):
                    # Any answer will do.
                    value = replace(value, index=release.fill, is_missing=False)
                self._answers[scalar.answer] = value.text()


def compiled(block: CheckedBlock) -> tuple[CompiledQuery, ...]:
    """All statements of a block; the first is what bounds are chosen by, where they are. Names of rows are of
    what is in them, so that neighbours have the same."""
    choosing = compile_choices(block, repeats_names=True)
    queries = compile_block(block, repeats_names=True)
    return (*(() if choosing is None else (choosing,)), *queries)


def audited_bounds(plan: PrivatePlan, place: int = _LOW) -> ChosenBounds:
    """Bounds so low that some units of a synthetic database are above them: those of this place, from 0."""
    return {
        number: {
            choice: found.bounds[min(place, len(found.bounds) - 1)]
            for choice, found in block.choices.items()
        }
        for number, block in enumerate(plan.blocks)
        if block.choices
    }


def _name(plan: PrivatePlan, block: int, release: int | None) -> str:
    head = f"block {block + 1}: " if len(plan.blocks) > 1 else ""
    if release is None:
        return f"{head}groups"
    found, answers = plan.blocks[block].releases[release], plan.blocks[block].answers
    kind = found.aggregate.kind.value
    is_answer = any(a.calculated is None and release in a.releases for a in answers)
    if isinstance(found, NoisyStatistic) and not is_answer:
        return f"{head}{found.statistic.value} for {kind}"
    return head + kind
