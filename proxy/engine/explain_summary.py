"""EXPLAIN for an analyst: in a dozen lines what each output costs and how exact it will be. No data.

EXPLAIN (VERBOSE) has all of these lines, then those of explain_text.py.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain

from proxy.engine.accuracy import Accuracy, text_of
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.answer_conditions import conditions
from proxy.engine.expected_errors import ExpectedError, expected_error, short_number
from proxy.engine.explain_text import (
    AnswerName,
    FreeBlock,
    answer_names,
    budget_text,
    charge_of,
    explain_lines,
    lifted_text,
    unit_text,
    units_of,
)
from proxy.engine.group_threshold import threshold_text, units_needed
from proxy.engine.unit_words import one_unit, units_word
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan, PrivatePlan
from proxy.mechanisms.loss import Loss
from proxy.planner.lifting import Lift
from proxy.policy.odds_words import odds_json
from proxy.query.ir.query import AggregateBlock

MOST_LINES = 12
_COLUMNS = 110  # psql draws a result as wide as its longest line
_EVEN = Fraction(11, 10)
_LAST = "Nothing was read or charged. EXPLAIN (VERBOSE) shows mechanisms and SQL."
_NO_FREE: Mapping[int, FreeBlock] = {}


def summary_lines(
    plan: PrivatePlan,
    remaining: Loss | None,
    free: Mapping[int, FreeBlock] = _NO_FREE,
    lifts: Sequence[Lift | None] = (),
    times: Sequence[str] = (),
    mechanism: str | None = None,
    asked: Sequence[AggregateBlock] = (),
    about: int | None = None,
) -> list[str]:
    """Write the plan in at most a dozen lines.

    Args:
        plan: Before any bound is chosen.
        remaining: None if no ledger is known.
        free: Blocks, by number, that cost nothing or less.
        lifts: What each block is drawn as a part of, if of anything.
        times: How times were rounded.
        mechanism: What the session has SET as dp.mechanism.
        asked: The blocks as they were read, for the names of their columns.
        about: So many units there are, by public knowledge.
    """
    first, parts = _first_and_parts(plan, remaining, free, lifts, times, mechanism, asked, about)
    last = list(_wrapped(_LAST))
    return [*first, *_fitting(parts, MOST_LINES - len(first) - len(last)), *last]


def verbose_lines(
    plan: PrivatePlan,
    remaining: Loss | None,
    sql: Sequence[str],
    free: Mapping[int, FreeBlock] = _NO_FREE,
    lifts: Sequence[Lift | None] = (),
    times: Sequence[str] = (),
    mechanism: str | None = None,
    asked: Sequence[AggregateBlock] = (),
    about: int | None = None,
) -> list[str]:
    """Write all that `summary_lines` may leave out, then mechanisms and SQL.

    Args:
        plan: As of `summary_lines`, as are the others.
        sql: The backend statements, parameters unnamed.
    """
    first, parts = _first_and_parts(plan, remaining, free, lifts, times, mechanism, asked, about)
    return [*first, *chain.from_iterable(parts), *explain_lines(plan, sql, free, lifts, asked)]


def _first_and_parts(
    plan: PrivatePlan,
    remaining: Loss | None,
    free: Mapping[int, FreeBlock],
    lifts: Sequence[Lift | None],
    times: Sequence[str],
    mechanism: str | None,
    asked: Sequence[AggregateBlock],
    about: int | None,
) -> tuple[list[str], list[list[str]]]:
    """What the statement costs, and the other lines, each broken where it is long."""
    expectations = list(answer_expectations(plan, asked, about))
    entries = [entry for entry, _, _ in expectations]
    first = [line for text in _cost(plan, entries, remaining, free) for line in _wrapped(text)]
    if mechanism is not None:
        first += _wrapped(f"  dp.mechanism = {mechanism}: AVG, MIN and MAX are made with it")
    lines = dict.fromkeys(_lines(plan, expectations, free, lifts, times))
    return first, [list(_wrapped(line)) for line in lines]


def answer_expectations(
    plan: PrivatePlan, asked: Sequence[AggregateBlock] = (), about: int | None = None
) -> Iterator[tuple[Accuracy, AnswerName, ExpectedError]]:
    """Name each answer and say how exact it will be, in the order of `accuracies`."""
    entries = iter(accuracies(plan))
    for block, names in zip(plan.blocks, answer_names(plan, asked), strict=True):
        for place, name in enumerate(names):
            entry = next(entries)
            yield entry, name, expected_error(block, place, entry, about)


def _fitting(parts: Sequence[Sequence[str]], room: int) -> Iterator[str]:
    """As many parts as there is room for, and how many others there are."""
    used = 0
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        if used + len(part) + (0 if is_last else 1) > room:
            yield f"  and {len(parts) - number} lines more: EXPLAIN (VERBOSE)"
            return
        used += len(part)
        yield from part


def _lines(
    plan: PrivatePlan,
    expectations: Sequence[tuple[Accuracy, AnswerName, ExpectedError]],
    free: Mapping[int, FreeBlock],
    lifts: Sequence[Lift | None],
    times: Sequence[str],
) -> Iterator[str]:
    """The answers of all blocks first: they are what is asked for."""
    is_even = _is_even([entry for entry, _, _ in expectations])
    for number, block in enumerate(plan.blocks, start=1):
        yield f"  {_protected(block)}{_groups(block)}"
        if number - 1 in free:
            yield f"  {free[number - 1].text()}"
        for entry, name, expected in expectations:
            if entry.block == number:
                yield f"    {name.text}: {expected.text()}{_share(entry, is_even)}"
    for number in range(len(plan.blocks)):
        yield from (f"  {text}" for text in lifted_text(number, free, lifts).values())
    for _, _, expected in expectations:
        yield from (f"  {text}" for text in expected.assumptions)
    for block in plan.blocks:
        yield from (f"  {text}" for text in conditions(block))
    yield from (f"  Times: {text}" for text in times)


def _share(entry: Accuracy, is_even: bool) -> str:
    if is_even:
        return ""
    return f"; epsilon {short_number(entry.epsilon)}" if entry.epsilon else "; free beside these"


def _cost(
    plan: PrivatePlan,
    entries: Sequence[Accuracy],
    remaining: Loss | None,
    free: Mapping[int, FreeBlock],
) -> Iterator[str]:
    delta = f", delta {text_of(plan.loss.delta)}" if plan.loss.delta else ""
    each = ""
    if len(entries) > 1 and _is_even(entries):
        each = f", about {short_number(entries[0].epsilon)} for each output"
    errors = "; errors in 95 of 100 answers" if entries else ""
    if not plan.loss.epsilon:
        yield "Answered from the policy, for epsilon 0: no aggregate, and all groups are public"
    else:
        epsilon = text_of(plan.loss.epsilon)
        yield f"Differentially private answer for epsilon {epsilon}{delta}{each}{errors}"
    if remaining is not None:
        yield f"  Budget: {budget_text(plan, remaining, free)}"


def _is_even(entries: Sequence[Accuracy]) -> bool:
    """Whether all outputs cost about the same. A statement of keys alone has none."""
    amounts = [entry.epsilon for entry in entries]
    return not amounts or max(amounts) <= _EVEN * min(amounts)


def _protected(block: BlockPlan) -> str:
    tables = ", ".join(dict.fromkeys(block.tables()))
    neighbours = block.neighbours
    if isinstance(neighbours, RowNeighbours) and neighbours.not_null is None:
        rows = "one row" if neighbours.rows == 1 else f"any {neighbours.rows} rows"
        return f"On {tables}; protected: {rows}"
    return f"On {tables}; protected: {one_unit(block)} with all rows"


def _groups(block: BlockPlan) -> str:
    if not block.keys:
        return ""
    if block.selection is None:
        return f"; {block.groups():,} groups, empty ones too"
    loss = text_of(block.selection.loss.epsilon)
    appear = threshold_text(block.selection)
    return f"; groups that appear, for epsilon {loss}: {appear} {units_word(block)}"


def _wrapped(line: str) -> Iterator[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    yield from textwrap.wrap(
        line, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


# EXPLAIN (FORMAT JSON): what a statement would cost and how exact it would be. No data.


def explain_json(
    plan: PrivatePlan,
    remaining: Loss | None,
    sql: Sequence[str],
    free: Mapping[int, FreeBlock] = _NO_FREE,
    lifts: Sequence[Lift | None] = (),
    times: Sequence[str] = (),
    mechanism: str | None = None,
    asked: Sequence[AggregateBlock] = (),
    about: int | None = None,
) -> dict[str, object]:
    """Write the facts of EXPLAIN and EXPLAIN (VERBOSE) as fields. Arguments: as of both."""
    left = (
        None
        if remaining is None
        else {"epsilon": float(remaining.epsilon), "delta": float(remaining.delta)}
    )
    charge = charge_of(plan, free)
    return {
        "privacy": {"epsilon": float(plan.loss.epsilon), "delta": float(plan.loss.delta)},
        "charge": {"epsilon": float(charge.epsilon), "delta": float(charge.delta)},
        "odds": odds_json(plan.loss, units_of(plan)),
        "remaining": left,
        "blocks": [
            {
                "tables": list(block.tables()),
                "unit": unit_text(block),
                "keys": len(block.keys),
                "groups": block.groups(),
                "units_needed": None if block.selection is None else units_needed(block.selection),
                "sql": statement,
                **lifted_text(number, free, lifts),
                **(free[number].as_json() if number in free else {}),
            }
            for number, (block, statement) in enumerate(zip(plan.blocks, sql, strict=True))
        ],
        "aggregates": [
            {**entry.as_json(), **name.as_json(), "expected": expected.as_json()}
            for entry, name, expected in answer_expectations(plan, asked, about)
        ],
        **({} if mechanism is None else {"mechanism": mechanism}),
        **({"times": list(times)} if times else {}),
    }
