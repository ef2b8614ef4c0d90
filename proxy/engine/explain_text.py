"""EXPLAIN in its three forms: a dozen lines, VERBOSE with mechanisms and SQL, and JSON. No data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from typing_extensions import assert_never

from proxy.engine.accuracy import Accuracy, text_of
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.answer_conditions import conditions
from proxy.engine.answer_origin import AnswerSource
from proxy.engine.expected_errors import ExpectedError, expected_error, short_number
from proxy.engine.policy_limits import threshold_text, units_needed
from proxy.engine.unit_words import aggregate_word, counted, one_unit, units_word
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import BlockPlan, PrivatePlan
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.lifting import Lift
from proxy.policy.odds_words import odds_json, odds_text
from proxy.query.ir.noisy_expressions import AnswerOf, answers_in
from proxy.query.ir.query import AggregateBlock, OutputColumn
from proxy.query.ir.relations import scans
from proxy.release.cached_block import CachedBlock, as_shown

# How EXPLAIN names the answers of a plan: as the output columns that show them.


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerName:
    """The aggregate and the columns that the client reads it from.

    Attributes:
        written: The aggregate with its column, "sum(total)".
        columns: Output columns of the result with this answer in them.
        shown: Names of columns that are the answer itself, of the result or of the query inside. Empty if none
            is, or if other columns have the same names.
    """

    written: str
    columns: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the column; of a column that is computed of the answer, both.

        >>> AnswerName(written="sum(total)", columns=("revenue",), shown=("revenue",)).name
        'revenue'
        >>> AnswerName(written="sum(total)", columns=("ratio",)).name
        'sum(total) in ratio'
        """
        if self.shown:
            return ", ".join(self.shown)
        if not self.columns or self._is_said(self.columns):
            return self.written
        return f"{self.written} in {', '.join(self.columns)}"

    @property
    def text(self) -> str:
        """The name and what it is of. PostgreSQL's own name of an aggregate says no more than the aggregate.

        >>> AnswerName(written="sum(total)", columns=("revenue",), shown=("revenue",)).text
        'revenue = sum(total)'
        >>> AnswerName(written="sum(total)", columns=("sum",), shown=("sum",)).text
        'sum(total)'
        """
        if self._is_said(self.shown):
            return self.written
        return f"{self.name} = {self.written}" if self.shown else self.name

    def _is_said(self, columns: Sequence[str]) -> bool:
        """Whether the aggregate begins with the name."""
        return columns == (self.written.partition("(")[0],)

    def as_json(self) -> dict[str, object]:
        return {"name": self.name, "written": self.written, "columns": list(self.columns)}


def answer_names(
    plan: PrivatePlan, asked: Sequence[AggregateBlock] = ()
) -> Iterator[Sequence[AnswerName]]:
    """Name the answers of each block.

    Args:
        plan: Of a statement.
        asked: The blocks as they were read. Without them only the statement's own SELECT has columns.
    """
    read = [one.outputs or one.outer_outputs for one in asked]
    results = read or [block.outputs for block in plan.blocks]
    inner = [one.inner_outputs for one in asked] or [()] * len(results)
    for block, result, inside in zip(plan.blocks, results, inner, strict=True):
        yield [
            _named(aggregate_word(answer.aggregate), number, result, inside)
            for number, answer in enumerate(block.answers, start=1)
        ]


def _named(
    written: str, number: int, result: Sequence[OutputColumn], inside: Sequence[OutputColumn]
) -> AnswerName:
    columns = tuple(dict.fromkeys(one.name for one in _with(number, result)))
    for outputs in (result, () if columns else inside):
        names = [one.name for one in outputs]
        found = [one.name for one in outputs if _is(number, one)]
        shown = tuple(name for name in found if names.count(name) == 1)
        if found:
            return AnswerName(written=written, columns=columns, shown=shown)
    return AnswerName(written=written, columns=columns)


def _is(number: int, column: OutputColumn) -> bool:
    return isinstance(column.expression, AnswerOf) and column.expression.number == number


def _with(number: int, outputs: Sequence[OutputColumn]) -> Sequence[OutputColumn]:
    """The columns with an answer in them. A form whose error is not known has the answers that no other column
    has, if there is one such column only."""
    found = [one for one in outputs if one.expression and number in answers_in(one.expression)]
    hidden = [one for one in outputs if one.expression is None and one.reason]
    return found or (hidden if len(hidden) == 1 else [])


_COLUMNS = 110  # psql draws a result as wide as its longest line


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeBlock:
    """made_of: what it is answered from; setting: without which it is drawn, "" if it never is; source: of an
    answer that is made of it alone, None: nothing is read for it; shown: its numbers, where they are known."""

    made_of: str
    setting: str = ""
    source: AnswerSource | None = None
    shown: CachedBlock | None = None

    def text(self) -> str:
        anew = f" ({self.setting} asks anew)" if self.setting else ""
        return f"Not read, at no cost: {self.made_of}{anew}"

    def as_json(self) -> dict[str, object]:
        source = {} if self.source is None else {"free_source": self.source.value}
        return {"free": self.made_of, **source}


SHOWN = FreeBlock(
    made_of="an answer that you have been shown", setting="dp.fresh", source=AnswerSource.CACHED
)
_FREE: Mapping[int, FreeBlock] = {}


def explain_lines(
    plan: PrivatePlan,
    sql: Sequence[str],
    free: Mapping[int, FreeBlock] = _FREE,
    lifts: Sequence[Lift | None] = (),
    asked: Sequence[AggregateBlock] = (),
) -> Iterator[str]:
    """sql: the backend statements, parameters unnamed; free: blocks, by number, that cost nothing or less, and
    what they are answered from; lifts: of each block, if of any; asked: the blocks as they were read."""
    for line in _lines(plan, sql, free, lifts, asked):
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        yield from textwrap.wrap(
            line,
            _COLUMNS,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )


def _lines(
    plan: PrivatePlan,
    sql: Sequence[str],
    free: Mapping[int, FreeBlock],
    lifts: Sequence[Lift | None],
    asked: Sequence[AggregateBlock],
) -> Iterator[str]:
    cost = f"epsilon {text_of(plan.loss.epsilon)}, delta {text_of(plan.loss.delta)}"
    yield f"Mechanisms and SQL  ({cost})"
    if plan.loss.epsilon:
        yield f"  As odds: {odds_text(plan.loss, units_of(plan))}"
    found = accuracies(plan)
    words = [name.text for block in answer_names(plan, asked) for name in block]
    for number, (block, statement) in enumerate(zip(plan.blocks, sql, strict=True), start=1):
        yield f"  Block {number} on {', '.join(block.tables())}: {unit_text(block)}"
        if block.keys:
            yield f"    Groups: {_groups(block)}"
        if block.rows_choice is not None:
            spent = text_of(block.rows_choice.loss.epsilon)
            what = "Bound on the rows of a unit: chosen privately when it runs"
            if block.rows_choice.is_given:
                what = "Units that the policy's bounds cut: counted when it runs"
            yield f"    {what}, for {spent} of epsilon"
        if block.weight_choice is not None:
            spent = text_of(block.weight_choice.loss.epsilon)
            yield (
                "    Bound on the rows of a unit that quantiles weigh: chosen privately when it runs, for"
                f" {spent} of epsilon"
            )
        for chosen in block.value_choices:
            named = dict.fromkeys(_users(block, chosen.releases))
            spent = text_of(chosen.choice.loss.epsilon)
            yield (
                f"    Bound on the values of {', '.join(named)}: chosen privately when it runs, for"
                f" {spent} of epsilon"
            )
        for entry, word in zip(found, words, strict=True):
            if entry.block == number:
                yield "    " + _line(entry, word)
        yield f"    Backend SQL: {statement}"
        for text in lifted_text(number - 1, free, lifts).values():
            yield f"    {text}"
        if number - 1 in free:
            yield f"    {free[number - 1].text()}"
    yield "Nothing was read or charged."


def units_of(plan: PrivatePlan) -> str:
    """Name one unit, or one of each kind, of what a plan reads."""
    return " or ".join(
        dict.fromkeys("a unit" if is_of_copy(block) else one_unit(block) for block in plan.blocks)
    )


def plan_as_shown(plan: PrivatePlan, free: Mapping[int, FreeBlock]) -> PrivatePlan:
    """The plan as exact as its answer will be, which is perhaps made of another one."""
    shown = {number: one.shown for number, one in free.items()}
    blocks = (
        block if (cached := shown.get(number)) is None else as_shown(block, cached)
        for number, block in enumerate(plan.blocks)
    )
    return replace(plan, blocks=tuple(blocks))


def charge_of(plan: PrivatePlan, free: Mapping[int, FreeBlock]) -> Loss:
    """Add up what the blocks cost that are not free."""
    return sum((one for number, one in enumerate(plan.losses) if number not in free), NOTHING)


def budget_text(plan: PrivatePlan, remaining: Loss, free: Mapping[int, FreeBlock]) -> str:
    """Say what is left of the budget, now and after this statement.

    Where rho adds up (ADR 0062) it is more after, and a statement may fit though its epsilon is larger.
    """
    now = remaining.epsilon
    after = now - charge_of(plan, free).epsilon
    then = (
        f"at least {text_of(after)} after this statement"
        if after >= 0
        else f"{text_of(-after)} less than this statement's"
    )
    return f"{text_of(now)} epsilon remains now, {then}"


def lifted_text(
    number: int, free: Mapping[int, FreeBlock], lifts: Sequence[Lift | None]
) -> Mapping[str, str]:
    """That more is drawn than what is asked for (docs/design/reuse.md 3), unless it is of what is published."""
    lift = lifts[number] if lifts else None
    if lift is None or (number in free and free[number].setting != "dp.fresh"):
        return {}
    text = f"Drawn as one of {lift.block.groups()} groups, of which the others are free then"
    return {"lifted": text + beyond_bound(lift.block, "by itself")}


def beyond_bound(block: BlockPlan, than: str) -> str:
    """Where rows of a unit are left out before a slice is taken, or by other groups (docs/design/reuse.md
    3)."""
    unit = block.neighbours
    if not isinstance(unit, UnitNeighbours) or unit.is_unbounded:
        return ""
    return f"; of a unit with more than {counted(unit.rows, 'row')} fewer may count than {than}"


def _groups(block: BlockPlan) -> str:
    if block.selection is None:
        return f"{block.groups()} public groups; every group is returned, including empty ones"
    each, loss = block.selection.each, block.selection.loss
    return (
        f"private, for {text_of(loss.epsilon)} of epsilon; each is returned with the optimal probability for "
        f"its number of units, epsilon {text_of(each.epsilon)}, delta {text_of(each.delta)} each: "
        f"{threshold_text(block.selection)}"
    )


def _line(entry: Accuracy, word: str) -> str:
    described = entry.described
    parts = [f"{word}: {described.mechanism}"]
    if described.sensitivity:
        parts.append(f"sensitivity {described.sensitivity}")
    parts.append(f"epsilon {text_of(entry.epsilon)} ({_percent(entry.share)})")
    parts.append(f"delta {text_of(entry.delta)}")
    if entry.error is not None:
        parts.append(f"95 % error {entry.error.text()}")
    text = ", ".join(parts)
    note = "; ".join(filter(None, (described.note, entry.condition)))
    return f"{text} ({note})" if note else text


def _users(block: BlockPlan, releases: frozenset[int]) -> Iterator[str]:
    for answer in block.answers:
        if releases & set(answer.releases):
            yield answer.aggregate.kind.value


def is_of_copy(block: BlockPlan) -> bool:
    """Whether rows of a prepared copy are read, of which one unit has several."""
    return any(scan.copy is not None for scan in scans(block.source))


def unit_text(block: BlockPlan) -> str:
    match block.neighbours:
        case RowNeighbours(rows=rows) if is_of_copy(block):
            return f"one unit has up to {counted(rows, 'row')} of the prepared copy"
        case RowNeighbours(rows=1, not_null=None):
            return "one row is protected"
        case RowNeighbours(not_null=None, partitions=int()):
            rows = block.neighbours.rows
            return f"one unit changes up to {counted(rows, 'row')} of the join, whose tables are truncated"
        case RowNeighbours(not_null=None):
            return f"any {block.neighbours.rows} rows are protected"
        case RowNeighbours(not_null=column):
            assert column is not None
            return f"the unit in {column.column} is protected, one row each (unique)"
        case UnitNeighbours():
            return _bounded_unit(block.neighbours, block.groups(), block.chooses)
        case _:
            assert_never(block.neighbours)


def _bounded_unit(unit: UnitNeighbours, answered: int | None, is_chosen: bool) -> str:
    """answered: so many groups; None where that is private; is_chosen: the policy does not bound its rows."""
    rows = "all its rows count" if unit.is_unbounded else f"{counted(unit.rows, 'row')} of it count"
    if is_chosen:
        rows = "what it adds is bounded by choice when the statement runs"
    text = f"the unit in {unit.column.column} is protected, {rows}"
    groups = answered if unit.groups is None else unit.groups
    if unit.groups is not None:
        text += f", {counted(unit.groups, 'group')}"
    if unit.rows_per_group is None or groups is None or is_chosen or unit.is_unbounded:
        return text
    in_all = min(unit.rows, groups * unit.rows_per_group)
    return f"{text}, {unit.rows_per_group} rows in each: {in_all} in all"


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.3g} %"


# EXPLAIN for an analyst: in a dozen lines what each output costs and how exact it will be. No data.
#
# EXPLAIN (VERBOSE) has all of these lines, then those of `explain_lines`.

MOST_LINES = 12
_EVEN = Fraction(11, 10)
_LAST = "Nothing was read or charged. EXPLAIN (VERBOSE) shows mechanisms and SQL."


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What EXPLAIN tells of a statement.

    Attributes:
        plan: Before any bound is chosen.
        sql: The backend statements, parameters unnamed.
        remaining: None if no ledger is known.
        free: Blocks, by number, that cost nothing or less.
        lifts: What each block is drawn as a part of, if of anything.
        times: How times were rounded.
        mechanism: What the session has SET as dp.mechanism.
        asked: The blocks as they were read, for the names of their columns.
        about: So many units there are, by public knowledge.
    """

    plan: PrivatePlan
    sql: Sequence[str]
    remaining: Loss | None
    free: Mapping[int, FreeBlock]
    lifts: Sequence[Lift | None]
    times: Sequence[str]
    mechanism: str | None
    asked: Sequence[AggregateBlock]
    about: int | None


def summary_lines(of: Explained) -> list[str]:
    """Write the plan in at most a dozen lines."""
    first, parts = _first_and_parts(of)
    last = list(_wrapped(_LAST))
    return [*first, *_fitting(parts, MOST_LINES - len(first) - len(last)), *last]


def verbose_lines(of: Explained) -> list[str]:
    """Write all that `summary_lines` may leave out, then mechanisms and SQL."""
    first, parts = _first_and_parts(of)
    detail = explain_lines(of.plan, of.sql, of.free, of.lifts, of.asked)
    return [*first, *chain.from_iterable(parts), *detail]


def _first_and_parts(of: Explained) -> tuple[list[str], list[list[str]]]:
    """What the statement costs, and the other lines, each broken where it is long."""
    expectations = list(answer_expectations(of.plan, of.asked, of.about))
    entries = [entry for entry, _, _ in expectations]
    first = [line for text in _cost(of, entries) for line in _wrapped(text)]
    if of.mechanism is not None:
        first += _wrapped(f"  dp.mechanism = {of.mechanism}: AVG, MIN and MAX are made with it")
    sections = dict.fromkeys(
        _section(of, number, expectations) for number in range(len(of.plan.blocks))
    )
    lines = (*chain.from_iterable(sections), *dict.fromkeys(_assumptions(of, expectations)))
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


_Expectations = Sequence[tuple[Accuracy, AnswerName, ExpectedError]]


def _section(of: Explained, number: int, expectations: _Expectations) -> tuple[str, ...]:
    """The answers of one block. Sections come first: they are what is asked for."""
    is_even, block = _is_even([entry for entry, _, _ in expectations]), of.plan.blocks[number]
    return (
        f"  {_protected(block)}{_group_clause(block)}",
        *((f"  {of.free[number].text()}",) if number in of.free else ()),
        *(
            f"    {name.text}: {expected.text()}{_share(entry, is_even)}"
            for entry, name, expected in expectations
            if entry.block == number + 1
        ),
    )


def _assumptions(of: Explained, expectations: _Expectations) -> Iterator[str]:
    for number in range(len(of.plan.blocks)):
        yield from (f"  {text}" for text in lifted_text(number, of.free, of.lifts).values())
    for _, _, expected in expectations:
        yield from (f"  {text}" for text in expected.assumptions)
    for block in of.plan.blocks:
        yield from (f"  {text}" for text in conditions(block))
    yield from (f"  Times: {text}" for text in of.times)


def _share(entry: Accuracy, is_even: bool) -> str:
    if is_even:
        return ""
    return f"; epsilon {short_number(entry.epsilon)}" if entry.epsilon else "; free beside these"


def _cost(of: Explained, entries: Sequence[Accuracy]) -> Iterator[str]:
    plan = of.plan
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
    if of.remaining is not None:
        yield f"  Budget: {budget_text(plan, of.remaining, of.free)}"


def _is_even(entries: Sequence[Accuracy]) -> bool:
    """Whether all outputs cost about the same. A statement of keys alone has none."""
    amounts = [entry.epsilon for entry in entries]
    return not amounts or max(amounts) <= _EVEN * min(amounts)


def _protected(block: BlockPlan) -> str:
    tables = ", ".join(dict.fromkeys(block.tables()))
    neighbours = block.neighbours
    if is_of_copy(block):
        rows = counted(block.neighbours.rows, "row")
        return f"On {tables}; protected: one unit, with up to {rows} of the copy"
    if isinstance(neighbours, RowNeighbours) and neighbours.not_null is None:
        rows = "one row" if neighbours.rows == 1 else f"any {neighbours.rows} rows"
        return f"On {tables}; protected: {rows}"
    return f"On {tables}; protected: {one_unit(block)} with all rows"


def _group_clause(block: BlockPlan) -> str:
    if not block.keys:
        return ""
    if block.selection is None:
        return f"; {counted(block.groups() or 0, 'group')}, empty ones too"
    loss = text_of(block.selection.loss.epsilon)
    appear = threshold_text(block.selection)
    return f"; groups that appear, for epsilon {loss}: {appear} {units_word(block)}"


def _wrapped(line: str) -> Iterator[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    yield from textwrap.wrap(
        line, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


# EXPLAIN (FORMAT JSON): what a statement would cost and how exact it would be. No data.


def explain_json(of: Explained) -> dict[str, object]:
    """Write the facts of EXPLAIN and EXPLAIN (VERBOSE) as fields."""
    plan, remaining, free = of.plan, of.remaining, of.free
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
                **lifted_text(number, free, of.lifts),
                **(free[number].as_json() if number in free else {}),
            }
            for number, (block, statement) in enumerate(zip(plan.blocks, of.sql, strict=True))
        ],
        "aggregates": [
            {**entry.as_json(), **name.as_json(), "expected": expected.as_json()}
            for entry, name, expected in answer_expectations(plan, of.asked, of.about)
        ],
        **({} if of.mechanism is None else {"mechanism": of.mechanism}),
        **({"times": list(of.times)} if of.times else {}),
    }
