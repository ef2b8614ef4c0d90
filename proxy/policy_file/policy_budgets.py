"""The `budgets` of a policy file: of everybody together and of each analyst."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Budget, Budgets, Period
from proxy.policy_file.policy_errors import ProblemList, quoted_text
from proxy.policy_file.policy_nodes import fields, is_identifier, member, named_entries, number
from proxy.policy_file.policy_shapes import Keyed, NamedBy, Number, Shape, one_of
from proxy.policy_file.yaml_positions import Entry, Node, RefusedNode, ScalarNode

BUDGET_KEYS: Mapping[str, Shape] = {
    "epsilon": Number(Fraction(0)),
    "delta": Number(Fraction(0), below=Fraction(1)),
    "per": one_of(Period),
}
_REQUIRED = ("epsilon", "delta")
_BUDGET = Keyed(BUDGET_KEYS, _REQUIRED, "of a budget")
BUDGETS_KEYS: Mapping[str, Shape] = {
    "total": _BUDGET,
    "default": _BUDGET,
    "analysts": NamedBy(_BUDGET),
}
BUDGETS = Keyed(BUDGETS_KEYS, ("total", "default"), "budgets")


def read_budgets(entry: Entry, problems: ProblemList) -> Budgets | None:
    found = fields(entry.value, "budgets", entry.key_at, BUDGETS_KEYS, BUDGETS.required, problems)
    if found is None:
        return None
    total = default = None
    if "total" in found:
        total = _budget(found["total"], "the total", (Period.NONE,), problems)
    if "default" in found:
        default = _budget(found["default"], "the default", tuple(Period), problems)
    analysts: dict[str, Budget] = {}
    if "analysts" in found:
        named = named_entries(found["analysts"].value, "analysts", problems) or {}
        for analyst in named.values():
            if not is_identifier(analyst.key, "an analyst", analyst.key_at, problems):
                continue
            budget = _budget(
                analyst, f"analyst {quoted_text(analyst.key)}", tuple(Period), problems
            )
            if budget is not None:
                analysts[analyst.key] = budget
    if total is None or default is None:
        return None
    return Budgets(total, default, analysts)


def _check_never(node: Node, problems: ProblemList) -> None:
    """`per` of the total, which has one meaning only."""
    if not isinstance(node, ScalarNode | RefusedNode) or (
        isinstance(node, ScalarNode) and node.text != Period.NONE.value
    ):
        problems.add(
            node.at,
            "the total budget does not renew",
            "it bounds what all analysts together ever learn: remove 'per'",
        )


def _budget(
    entry: Entry, where: str, periods: tuple[Period, ...], problems: ProblemList
) -> Budget | None:
    found = fields(entry.value, where, entry.key_at, BUDGET_KEYS, _REQUIRED, problems)
    if found is None:
        return None
    epsilon = number(found["epsilon"].value, "epsilon", problems) if "epsilon" in found else None
    delta = number(found["delta"].value, "delta", problems) if "delta" in found else None
    if epsilon is not None and epsilon < 0:
        problems.add(
            found["epsilon"].value.at, "epsilon of a budget cannot be below 0", "0 allows nothing"
        )
        epsilon = None
    if delta is not None and not 0 <= delta < 1:
        hint = "such as 1e-4: a hundred statements of delta 1e-6"
        problems.add(found["delta"].value.at, "delta of a budget must be from 0 to below 1", hint)
        delta = None
    period: Period | None = Period.NONE
    if "per" in found:
        if periods == (Period.NONE,):
            _check_never(found["per"].value, problems)
        else:
            period = member(found["per"].value, "per", Period, problems)
    if epsilon is None or delta is None or period is None:
        return None
    return Budget(Loss(epsilon, delta), period)
