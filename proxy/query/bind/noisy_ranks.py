"""Places in an order of noisy numbers: rank(), row_number() and their kin."""

from __future__ import annotations

from sqlglot import exp

_RANKS = (
    exp.Rank,
    exp.DenseRank,
    exp.PercentRank,
    exp.CumeDist,
    exp.Ntile,
    exp.RowNumber,
)


def has_rank(node: exp.Expr) -> bool:
    """Whether an expression has one in it."""
    return any(isinstance(one.this, _RANKS) for one in node.find_all(exp.Window))
