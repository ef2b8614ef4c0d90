"""The keys of GROUP BY in a plan, and how groups of private keys are selected. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

from proxy.base.sql_types import SqlType
from proxy.mechanisms.loss import Loss
from proxy.query.ir.expressions import Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPlan:
    """A GROUP BY key. values: public ones, all of which are answered, also empty ones, others are in no
    group; None: private keys, which appear only if the selection keeps their group. is_long: a text that can
    have more than limits.KEY_CHARACTERS characters, or a private number that can be printed with more.
    left_out: which rows are in no group, or in another than PostgreSQL has them in, a rule for the analyst. It
    is of the statement, the catalogue and the policy alone, and nothing is drawn by it."""

    expression: Expression
    type: SqlType
    type_name: str
    values: tuple[str | None, ...] | None
    is_long: bool
    left_out: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Private keys: a group appears with the optimal probability for its number of units.

    loss: of the selection as a whole; each: what one group's decision may spend of it; fewest: no group is
    shown in which fewer are counted: units, or rows where neighbours differ in rows.
    """

    loss: Loss
    each: Loss
    fewest: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FewestUnits:
    """Public keys, or none: a group is shown only if a noisy number says that enough units are in it.

    units: as the policy says; counted: so many of what the release counts are of as many units; release: that
    number, by its place in the block.
    """

    units: int
    counted: int
    release: int
