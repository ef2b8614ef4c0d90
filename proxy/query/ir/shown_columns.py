"""What a statement shows of the answers: its columns, and which groups or rows it leaves out."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from proxy.base.result_columns import IntervalEnd
from proxy.query.ir.noisy_expressions import NoisyExpression

OF_A_RANK = "a place in an order of noisy numbers: rows that differ by less than their errors may change places"
COMPUTED_AROUND = "a query around the SELECT that aggregates computes it: its error is not known"


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """An output column of the statement. expression: over the answers, of which its error is known; None where
    nothing noisy is in it, or, with a reason, where it is not known. written: SQL of a bare aggregate, in the
    words of the statement. is_order: all rows are shown, in its order."""

    name: str
    expression: NoisyExpression | None
    reason: str = ""
    written: str = field(default="", compare=False, repr=False)
    is_order: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyComparison:
    """comparator: < <= > >= = or <>, between an expression over noisy answers and a number. end: it is that end
    of its interval, or the half width, that is compared; None: the expression itself."""

    left: NoisyExpression
    comparator: str
    number: Fraction
    end: IntervalEnd | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChoice:
    """A clause that leaves out some groups.

    clause: Its name. is_noisy: Whether noise has a part in which groups pass.
    comparisons: A group passes if all hold. None: only the run knows which pass.
    """

    clause: str
    is_noisy: bool = True
    comparisons: tuple[NoisyComparison, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopList:
    """A list that LIMIT cuts in a noisy order.

    output: The output column in whose order it is, from 1. rows: How many are shown. Both are None if only the
        run decides that: HAVING, OFFSET, a parameter, a query around it.
    is_descending: None if it is not known. has_nulls_first: NULLS FIRST or LAST is written. None:
        PostgreSQL's default, where NULL is larger than all numbers.
    """

    output: int | None = None
    is_descending: bool | None = None
    rows: int | None = None
    has_nulls_first: bool | None = None

    @property
    def nulls_first(self) -> bool:
        """Whether NULL comes before all numbers."""
        return bool(self.is_descending if self.has_nulls_first is None else self.has_nulls_first)
