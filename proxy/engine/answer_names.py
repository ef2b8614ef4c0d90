"""How EXPLAIN names the answers of a plan: as the output columns that show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proxy.engine.unit_words import aggregate_word
from proxy.kernel.plan import PrivatePlan
from proxy.query.ir.noisy_expressions import AnswerOf, answers_in
from proxy.query.ir.query import AggregateBlock, OutputColumn


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
