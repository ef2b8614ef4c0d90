"""What the kernel raises where a plan is not private: the rule that refuses, and the condition that does
not hold.

Both are constant texts of this package, so they may be logged: nothing of a statement, a policy or the data
is in them. The client sees the neutral text of every other Fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from proxy.base.errors import Fault


class Rule(Enum):
    """The rules of the kernel, by the names that stand in the log."""

    MALFORMED = "malformed"
    EXPRESSION = "expression"
    SCAN = "scan"
    PREPARED_COPY = "prepared copy"
    SUBQUERY = "subquery"
    WINDOW = "window"
    GROUP_BY_UNIT = "group by the unit"
    UNION_ALL = "union all"
    TRUNCATION = "truncation"
    JOIN = "join"
    NEIGHBOURS = "neighbours"
    GROUPS = "groups"
    NOISE = "noise"
    NOISY_SUM = "noisy sum"
    TOTAL = "total of a unit"
    MEAN = "mean about a noisy centre"
    DEVIATION_MEAN = "mean of deviations"
    ORDER_STATISTIC = "order statistic"
    UNIT_EXTREME = "minimum or maximum of units"
    SAMPLE_AGGREGATE = "sample and aggregate"
    SELECTION = "selection of groups"
    UNIT_IN_TIME = "unit in a block of time"
    CONTINUAL = "series of releases"
    FEWEST_UNITS = "fewest units of a group"
    CHOSEN_BOUND = "chosen bound"
    CHOSEN_VALUE = "chosen bound on values"
    CHOSEN_WEIGHTS = "chosen weights of rows"
    PRICE = "price"
    PROPOSAL = "proposal of bounds"
    TOTALITY = "totality"


class NotPrivate(Fault):
    """A plan that the kernel does not let through: a mistake of whatever made it, so a Fault.

    rule: which rule refuses; where: the condition that does not hold, a constant text; digest: of the plan,
    put by who knows the whole plan (`kernel.checked_plan`), hexadecimal.
    """

    def __init__(self, rule: Rule, where: str) -> None:
        super().__init__()
        self.rule = rule
        self.where = where
        self.digest = ""

    @property
    def details(self) -> Mapping[str, str]:
        return {"rule": self.rule.value, "condition": self.where, "plan": self.digest}


class NotCovered(NotPrivate):
    """A node that no rule of the kernel knows."""
