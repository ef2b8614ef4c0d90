"""Plans of questions that are asked again: whoever asks the same in the same settings gets the same plan.

A plan is a function of what `_request_of` holds, the day among it, and of the policy, the catalogue and public
values (PlanningContext, with which all that is remembered ends): of no chance and no protected row. What else
may change is asked at each run: budget, session, tables that have changed, the server's rules of time
zones, lists of public tables. Seeds and noise are drawn when it runs.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from typing_extensions import assert_never

from proxy.catalog.catalog_model import TableName
from proxy.compiler.compiling import CompiledQuery
from proxy.drawing.compiled_blocks import CompiledBlock, compiled_block
from proxy.engine.advice import Advice
from proxy.engine.noisy_answers import BoundsOfBlocks
from proxy.engine.policy_limits import PolicyRules
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.session_zone import ZonesUsed
from proxy.engine.settings import Settings
from proxy.kernel.checked_plan import CheckedPlan
from proxy.kernel.plan import BlockPlan, PrivatePlan
from proxy.planner.lifting import Lift, with_lifts
from proxy.query.ir.expression_walk import size
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query import Scalar
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll
from proxy.query.statement_reading import Reading

_CACHED = 64
_ARGUMENTS = 4_096  # characters, beyond which a plan is large and hardly asked for twice
# What other sessions may wait for: a statement that takes about as long whatever its arguments are. So these
# have few characters; there are no keys and no columns of subqueries, whose labels are looked for among the
# arguments (NULL spares what thirty constants make a tenth of a second: planner/narrowing.py, WORK); and
# conditions have few nodes, as the first false one spares the others.
_SQL = 128 * 1024  # characters, as for arguments; a plan takes about ten times as much memory
_QUICK_SECONDS = 0.002
_QUICK_ARGUMENTS = 64
_QUICK_NODES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedQuery:
    """A question that could be run now. plan: as it was asked; drawn: what is drawn for it, and charged as a
    whole; bounded: a block planned again, its private bounds chosen. tables: that it reads, of both kinds.
    lifts: what is drawn instead of a block; none at all: as it is planned. rules: what it leaves out, in words.
    compiled: the statements of what is drawn, queries: all of them; has_lists: whether any takes lists of
    public tables. seconds: of a processor, that planning and compiling took. scalars: answers of earlier blocks
    that stand in later ones. times: how times of the statement were rounded, a line each. unlisted:
    constants that are not among the values that the policy lists for their column, or beyond its bounds, and
    texts that are compared by bytes.
    advice: what helps, where an answer is inexact. copied: its protected tables, if the policy names copies of
    them; offered: those of the copies that could be read."""

    settings: Settings
    plan: CheckedPlan
    drawn: CheckedPlan
    bounded: BoundsOfBlocks
    zones: ZonesUsed
    tables: frozenset[str]
    rules: PolicyRules
    advice: Advice
    lifts: tuple[Lift | None, ...] = ()
    compiled: tuple[CompiledBlock, ...] = ()
    queries: tuple[CompiledQuery, ...] = ()
    has_lists: bool = False
    seconds: float = math.inf
    times: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    scalars: tuple[Scalar, ...] = ()
    copied: frozenset[TableName] = frozenset()
    offered: Mapping[TableName, str] = field(default_factory=dict)

    @property
    def private(self) -> PrivatePlan:
        return self.plan.private

    def compiled_with(
        self, lifts: tuple[Lift | None, ...], seconds: Callable[[], float] = lambda: math.inf
    ) -> PreparedQuery:
        """seconds: what all of it took, asked for at the end"""
        drawn = with_lifts(self.plan, lifts)
        compiled = tuple(map(compiled_block, drawn.blocks))
        queries = tuple(query for block in compiled for query in block.all)
        has_lists = any(query.lists for query in queries)
        return replace(
            self,
            drawn=drawn,
            lifts=lifts,
            compiled=compiled,
            queries=queries,
            has_lists=has_lists,
            seconds=seconds(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remembered:
    """reading: of which the plan is; held, so that no other object can have its identity."""

    reading: Reading
    prepared: PreparedQuery


class RememberedPlans:
    """The plans that were asked for last, each for its analyst: how long another waits tells nobody what they
    asked. Refusals are not kept."""

    def __init__(self) -> None:
        self._cached: OrderedDict[object, _Remembered] = OrderedDict()
        self._quick: OrderedDict[int, Reading] = OrderedDict()  # by identity

    def take_quick(self, question: ProtectedQuery, arguments: tuple[str | None, ...]) -> bool:
        """Whether it was planned before, with whatever arguments, and so quickly that a thread takes longer.
        Until `keep` says so again it is not: what is refused may have taken long."""
        if _characters(arguments) > _QUICK_ARGUMENTS:
            return False
        return self._quick.pop(id(question.reading), None) is not None

    def find(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        day: int | None,
        analyst: str,
    ) -> PreparedQuery | None:
        request = _request_of(question, arguments, settings, day, analyst)
        found = self._cached.get(request)
        if found is None:
            return None
        assert found.reading is question.reading
        self._cached.move_to_end(request)
        return found.prepared

    def keep(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        day: int | None,
        analyst: str,
        prepared: PreparedQuery,
    ) -> None:
        self._note(question.reading, prepared)
        if _characters(arguments) > _ARGUMENTS or _sql_characters(prepared) > _SQL:
            return
        request = _request_of(question, arguments, settings, day, analyst)
        self._cached[request] = _Remembered(reading=question.reading, prepared=prepared)
        self._cached.move_to_end(request)
        while len(self._cached) > _CACHED:
            self._cached.popitem(last=False)

    def _note(self, reading: Reading, prepared: PreparedQuery) -> None:
        self._quick.pop(id(reading), None)
        is_quick = prepared.seconds <= _QUICK_SECONDS
        if is_quick and all(map(_takes_alike, prepared.private.blocks)):
            self._quick[id(reading)] = reading
            while len(self._quick) > _CACHED:
                self._quick.popitem(last=False)


def _takes_alike(block: BlockPlan) -> bool:
    """Whether planning it takes about as long with other arguments."""
    nodes = _nodes(block.source)
    if block.keys or nodes is None:
        return False
    return nodes + _size(block.where) <= _QUICK_NODES


def _nodes(source: Relation) -> int | None:
    """Of the conditions in a FROM clause; None: it has columns of its own."""
    match source:
        case Scan():
            return 0
        case Join():
            left, right = _nodes(source.left), _nodes(source.right)
            return None if left is None or right is None else left + right + _size(source.rest)
        case Truncate():
            below = _nodes(source.source)
            return None if below is None else below + _size(source.where)
        case Subquery() | GroupByUnit() | UnionAll():
            return None
        case _:
            assert_never(source)


def _size(condition: Expression | None) -> int:
    return 0 if condition is None else size(condition)


def _characters(arguments: tuple[str | None, ...]) -> int:
    return sum(len(value) for value in arguments if value is not None)


def _sql_characters(prepared: PreparedQuery) -> int:
    return sum(len(query.sql) for block in prepared.compiled for query in block.all)


def _request_of(
    question: ProtectedQuery,
    arguments: tuple[str | None, ...],
    settings: Mapping[str, str],
    day: int | None,
    analyst: str,
) -> object:
    """A reading is one object for each statement as it was read (PolicyStatements): comparing two by value
    would take as long as planning. Beside it, all that planning is given."""
    return (
        analyst,
        id(question.reading),
        question.parameter_oids,
        question.constants,
        question.with_errors,
        arguments,
        frozenset(settings.items()),
        day,
    )
