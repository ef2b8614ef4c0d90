"""The slot to which the present is rounded down in one statement (docs/design/reuse.md 5)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proxy.base.errors import Code, Refusal
from proxy.base.instants import DAY_SECONDS, iso_text, seconds_of
from proxy.base.sql_types import SqlType
from proxy.engine.policy_statements import ProtectedQuery
from proxy.planner.time_windows import Present, narrowest_window
from proxy.policy.policy_model import Bounds, BoundsKind, Policy, ProtectedTable
from proxy.query.bind.evaluated_constants import CLOCK, EXACT, INSTANT
from proxy.query.ir.binding import bind
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.expressions import Comparator, Comparison, Constant, Expression, Parameter
from proxy.query.ir.query import AggregateBlock, changed
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import scans
from proxy.query.ir.typing_rules import constant, held, is_value_of
from proxy.query.ir.written_numbers import NOT_FINITE, number
from proxy.query.syntax.placeholders import ClientParameter

Arguments = tuple[str | None, ...]

_LEAST_SLOTS = 20  # in the narrowest window
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))


def span_text(seconds: int) -> str:
    """Write whole seconds in the largest unit that they are whole of.

    >>> span_text(3600), span_text(900), span_text(1)
    ('1 h', '15 min', '1 s')
    """
    for unit, word in _UNITS:
        if seconds % unit == 0:
            return f"{seconds // unit} {word}"
    return f"{seconds} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledArguments:
    """Arguments of a run, the present settled.

    Attributes:
        arguments: One JSON text a parameter, as `constants` reads it.
        slot: Seconds to which the present is rounded down; None: it is not, or rounding changes nothing.
        is_exact: The present stands as it is, because its narrowest window is too narrow for a slot.
    """

    arguments: Arguments
    slot: int | None = None
    is_exact: bool = False

    def text(self) -> str | None:
        """Say it to the analyst."""
        if self.is_exact:
            return (
                "now() is exact, as a window of less than 20 minutes is asked for: the statement is charged"
                " again when it is run again"
            )
        if self.slot is None:
            return None
        word = span_text(self.slot)
        return f"now() is rounded down to {word}: until the next {word} the same statement costs nothing"


def settled_arguments(question: ProtectedQuery, arguments: Arguments) -> SettledArguments:
    """Choose the slot of a statement, and give each constant its value in that slot.

    The slot is the longest that is at most a twentieth of the narrowest window that the present bounds. All
    constants of a statement take the same slot, so that both ends of a window move together.

    Raises:
        Refusal: As `constants`.
    """
    first = len(question.parameter_types) + 1
    slotted = moving_texts(question, arguments)
    if not slotted:
        return SettledArguments(arguments=arguments)
    slots = question.constants[min(slotted) - first].slots
    moving = frozenset(n for n, texts in slotted.items() if texts[EXACT] != texts[str(slots[0])])
    slot: int | None = slots[0]
    if moving:
        width = _width(question, _with(arguments, slotted, EXACT), slotted, moving)
        slot = next((s for s in slots if width is None or s * _LEAST_SLOTS <= width), None)
    settled = _with(arguments, slotted, EXACT if slot is None else str(slot))
    is_moved = settled != _with(arguments, slotted, EXACT)
    return SettledArguments(
        arguments=settled, slot=slot if is_moved else None, is_exact=slot is None
    )


def moving_texts(
    question: ProtectedQuery, arguments: Arguments
) -> Mapping[int, Mapping[str, str | None]]:
    """The values in each slot of the constants that the present is part of, by number."""
    first = len(question.parameter_types) + 1
    return {
        number: texts
        for number, (constant, text) in enumerate(
            zip(question.constants, arguments[first - 1 :], strict=False), start=first
        )
        if constant.slots and (texts := _texts(text)) is not None
    }


def _texts(text: str | None) -> Mapping[str, str | None] | None:
    """None: what was evaluated before there were slots."""
    found = None if text is None else json.loads(text)
    return found if isinstance(found, dict) else None


def _with(
    arguments: Arguments, slotted: Mapping[int, Mapping[str, str | None]], name: str
) -> Arguments:
    return tuple(
        slotted[number][name] if number in slotted else text
        for number, text in enumerate(arguments, start=1)
    )


def _width(
    question: ProtectedQuery,
    exact: Arguments,
    slotted: Mapping[int, Mapping[str, str | None]],
    moving: frozenset[int],
) -> Fraction | None:
    """The narrowest window, as of `narrowest_window`."""
    values = constants(exact, question.argument_types())
    texts = slotted[min(slotted)]
    instant, clock = (seconds_of(texts[INSTANT] or ""), seconds_of(texts[CLOCK] or ""))
    assert instant is not None and clock is not None, "PostgreSQL prints times in ISO form"
    present = Present(
        instant=instant,
        clock=clock,
        values={
            n: value for n, value in values.items() if n in slotted and isinstance(value, Constant)
        },
        moving=moving,
    )
    others = {number: value for number, value in values.items() if number not in slotted}
    try:
        blocks = [bind(block, others) for block in question.reading.query.blocks]
    except Refusal:  # e.g. an interval that names the present
        blocks = list(question.reading.query.blocks)
    return narrowest_window(blocks, present)


# Windows up to the present, on columns whose bounds in the policy end before it: their last part is empty.


def ended_lines(question: ProtectedQuery, arguments: Arguments, policy: Policy) -> tuple[str, ...]:
    """Say which columns that are compared with the present end before it, a line each.

    Args:
        question: A statement.
        arguments: As of `settled_arguments`, before they are settled.
        policy: With the bounds.
    """
    texts = moving_texts(question, arguments)
    present = seconds_of(next(iter(texts.values()))[INSTANT] or "") if texts else None
    if present is None:
        return ()
    day = iso_text(Fraction(present // DAY_SECONDS), SqlType.DATE)
    lines = dict[str, None]()
    for block in question.reading.query.blocks:
        tables = {scan.alias: policy.tables.get(scan.table) for scan in scans(block.source)}
        for alias, name in _compared(block, frozenset(texts)):
            table = tables.get(alias)
            column = table.columns.get(name) if isinstance(table, ProtectedTable) else None
            bounds = None if column is None else column.bounds
            if not isinstance(bounds, Bounds) or bounds.kind is BoundsKind.NUMBER:
                continue
            last = bounds.high if bounds.kind is BoundsKind.DATE else bounds.high // DAY_SECONDS
            if (last + 1) * DAY_SECONDS <= present:
                lines[
                    f"{name} ends with {iso_text(Fraction(last), SqlType.DATE)} in the policy, and now() is"
                    f" {day}: a window up to now() has no days after that end"
                ] = None
    return tuple(lines)


def _compared(block: AggregateBlock, moving: frozenset[int]) -> Iterator[tuple[str, str]]:
    """The columns that are to be later than parameters of these numbers."""
    found = dict[tuple[str, str], None]()

    def visit(part: Expression) -> Expression:
        if isinstance(part, Comparison):
            side, other = part.left, part.right
            if part.comparator in (Comparator.LT, Comparator.LE):
                side, other = other, side
            is_above = part.comparator not in (Comparator.NE, Comparator.DISTINCT)
            if is_above and _has_parameter(other, moving):
                found.update(dict.fromkeys(sorted(columns(side))))
        return part

    changed(block, lambda one: rebuild(one, visit))
    yield from found


def _has_parameter(expression: Expression, numbers: frozenset[int]) -> bool:
    if isinstance(expression, Parameter):
        source = expression.source
        return isinstance(source, ClientParameter) and source.number in numbers
    return any(_has_parameter(part, numbers) for part in children(expression))


# Parameter values, as the shadow printed them in JSON, to typed constants.


# A time before the year 1 or after 9999, as PostgreSQL prints it in JSON.
_BEYOND = re.compile(
    r"[0-9]{5,7}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]{8,15}(?:[+-][0-9:]{2,8})?)?"
    r"|[0-9]{4,7}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]{8,15}(?:[+-][0-9:]{2,8})?)? BC"
)


def constants(
    arguments: Sequence[str | None], types: Sequence[SqlType]
) -> dict[int, Constant | tuple[Constant, ...]]:
    """Number -> constant, for every parameter of a type that questions can use; others stay unbound.

    Given    JSON text of each value (to_jsonb on the shadow), None for NULL; an array of them where the shadow
             has evaluated one
    Refuses  SYNTAX: not as many values as parameters; UNSUPPORTED, TOO_COMPLEX: values that cannot be used
    """
    if len(arguments) != len(types):
        raise Refusal(
            Code.SYNTAX,
            f"the statement has {len(types)} parameters, but {len(arguments)} values were given",
            "Pass one value for each of $1, $2, ...",
        )
    return {
        index: _read(text, kind)
        for index, (text, kind) in enumerate(zip(arguments, types, strict=True), start=1)
        if kind is not SqlType.OTHER
    }


def refuse_offsets(arguments: Sequence[str | None], offsets: Collection[int]) -> None:
    """Refuse an OFFSET below an aggregate that skips rows: which they are would be the data's.

    Args:
        arguments: As of `constants`.
        offsets: Numbers of the parameters.

    >>> refuse_offsets(("0", None, "5"), {1, 2})
    """
    if any(arguments[number - 1] not in (None, "null", "0") for number in offsets):
        raise Refusal(
            Code.UNSUPPORTED,
            "OFFSET is not available below an aggregate on a protected table",
            "Pass 0, which skips no row.",
        )


def _read(text: str | None, kind: SqlType) -> Constant | tuple[Constant, ...]:
    # Numbers are kept as their text: a JSON number of PostgreSQL is exact, a Python float is not.
    value: Any = None if text is None else json.loads(text, parse_float=str, parse_int=str)
    if isinstance(value, list):
        return tuple(_constant(element, kind) for element in value)
    return _constant(value, kind)


def _constant(value: Any, kind: SqlType) -> Constant:
    if value is None:
        return Constant(None, kind)
    if isinstance(value, bool) and kind is SqlType.BOOL:
        return Constant(value, kind)
    if not isinstance(value, str):
        raise Refusal(
            Code.UNSUPPORTED, "this parameter cannot be used here", "Pass a single value."
        )
    if (kind.is_number and value in NOT_FINITE) or (kind.is_time and _BEYOND.fullmatch(value)):
        return Constant(value, kind)
    if kind.is_number:
        exact = number(value)
        if exact is None or (kind.is_integer and not is_value_of(exact, kind)):
            raise Refusal(
                Code.UNSUPPORTED, "this parameter is not a number", "Pass a number in digits."
            )
        return Constant(held(exact, kind), kind)
    return constant(value, kind, None)
