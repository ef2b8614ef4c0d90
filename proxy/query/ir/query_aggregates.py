"""Aggregates of a question, with the expressions they are taken over."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import Expression
from proxy.query.syntax.placeholders import ClientParameter


class AggregateKind(Enum):
    COUNT_ROWS = "count(*)"
    COUNT = "count"
    COUNT_DISTINCT = "count(distinct)"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    VAR_POP = "var_pop"
    VAR_SAMP = "var_samp"
    STDDEV_POP = "stddev_pop"
    STDDEV_SAMP = "stddev_samp"
    COVAR_POP = "covar_pop"
    COVAR_SAMP = "covar_samp"
    CORR = "corr"
    REGR_SLOPE = "regr_slope"
    REGR_INTERCEPT = "regr_intercept"
    REGR_R2 = "regr_r2"
    QUANTILE_CONT = "percentile_cont"
    QUANTILE_DISC = "percentile_disc"


SPREADS = frozenset(
    {
        *(AggregateKind.VAR_POP, AggregateKind.VAR_SAMP),
        *(AggregateKind.STDDEV_POP, AggregateKind.STDDEV_SAMP),
    }
)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One distinct noisy release; equal aggregates of a subquery are one. operand is None for count(*).

    second: of aggregates over pairs, of which only rows count where both are not NULL; the first argument is
    `operand`. fraction: of percentile_cont and percentile_disc; fraction_given: what holds it until it is
    bound, from the other end with is_descending.
    """

    kind: AggregateKind
    operand: Expression | None
    condition: Expression | None  # FILTER (WHERE ...)
    type: SqlType  # of the result, as PostgreSQL gives it
    fraction: Fraction | None = None
    fraction_given: ClientParameter | None = None
    is_descending: bool = False
    second: Expression | None = None
    position: int | None = field(default=None, compare=False)

    @property
    def operands(self) -> tuple[Expression, ...]:
        return tuple(part for part in (self.operand, self.second) if part is not None)

    @property
    def rank(self) -> Fraction:
        """Of an order statistic: which part of the values are below it."""
        if self.kind is AggregateKind.MIN:
            return Fraction(0)
        return Fraction(1) if self.fraction is None else self.fraction
