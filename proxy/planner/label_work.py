"""How much is computed to find out which groups a statement's rows can be in, by all of its queries together,
and who is asked what their keys are.

What is left out for want of it is a condition that does not narrow keys: groups are answered that no row is in.
So the time of planning is bounded, and depends on the statement alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from proxy.planner.facts import Values
from proxy.planner.label_evaluation import EvaluatingKeys, asked
from proxy.query.ir.expressions import Expression

WORK = 300_000  # of nodes evaluated for one condition: some tenths of a second
WORK_TOGETHER = 1_000_000  # of one statement: it may have 64 queries, and each of them 16 keys


@dataclass(slots=True)
class _Left:
    evaluating: EvaluatingKeys | None
    nodes: int = WORK_TOGETHER
    made: dict[Hashable, Values | None] = field(default_factory=dict)


_OF_STATEMENT: ContextVar[_Left | None] = ContextVar(
    "work on the labels of a statement", default=None
)


@contextmanager
def one_statement(evaluating: EvaluatingKeys | None = None) -> Iterator[None]:
    """Within it all work is of one statement. evaluating: who is asked what keys are; None: nobody."""
    before = _OF_STATEMENT.set(_Left(evaluating))
    try:
        yield
    finally:
        _OF_STATEMENT.reset(before)


def allowed(nodes: int) -> bool:
    """Whether so many nodes may be evaluated, which they then are."""
    left = _OF_STATEMENT.get()
    if nodes > WORK or (left is not None and nodes > left.nodes):
        return False
    if left is not None:
        left.nodes -= nodes
    return True


def evaluated(
    expressions: Sequence[Expression], parts: Sequence[Expression], rows: Sequence[Values]
) -> list[Values] | None:
    """As label_evaluation.asked, of the one who is asked for the statement."""
    left = _OF_STATEMENT.get()
    if left is None or left.evaluating is None:
        return None
    return asked(expressions, parts, rows, left.evaluating)


def made_once(of: Hashable, make: Callable[[], Values | None]) -> Values | None:
    """Values that depend on something alone, made once for the statement."""
    left = _OF_STATEMENT.get()
    if left is None:
        return make()
    if of not in left.made:
        left.made[of] = make()
    return left.made[of]


def work_done() -> int:
    """Nodes evaluated for the statement until now."""
    left = _OF_STATEMENT.get()
    return 0 if left is None else WORK_TOGETHER - left.nodes
