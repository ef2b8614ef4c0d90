"""Windows up to the present, on columns whose bounds in the policy end before it: their last part is empty."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from proxy.base.instants import DAY_SECONDS, iso_text, seconds_of
from proxy.base.sql_types import SqlType
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.present_slots import Arguments, moving_texts
from proxy.policy.policy_model import Bounds, BoundsKind, Policy, ProtectedTable
from proxy.query.bind.evaluated_constants import INSTANT
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.expressions import Comparator, Comparison, Expression, Parameter
from proxy.query.ir.query import AggregateBlock, changed
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import scans
from proxy.query.syntax.placeholders import ClientParameter


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
