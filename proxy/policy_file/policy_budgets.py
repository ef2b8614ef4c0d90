"""The `budgets` of a policy file: of everybody together, of analysts, groups of them, and tables."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from proxy.catalog.catalog_model import TableName
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Budget, Budgets, Period, ProtectedTable, PublicTable
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
    "groups": NamedBy(_BUDGET),
    "tables": NamedBy(_BUDGET),
}
BUDGETS = Keyed(BUDGETS_KEYS, ("total", "default"), "budgets")

_LIFETIME = (Period.NONE,)


def read_budgets(
    entry: Entry,
    tables: Mapping[TableName, ProtectedTable | PublicTable],
    problems: ProblemList,
) -> Budgets | None:
    """tables: of the policy, as far as they could be read."""
    found = fields(entry.value, "budgets", entry.key_at, BUDGETS_KEYS, BUDGETS.required, problems)
    if found is None:
        return None
    total = default = None
    if "total" in found:
        total = _budget(found["total"], "the total", _LIFETIME, problems)
    if "default" in found:
        default = _budget(found["default"], "the default", tuple(Period), problems)
    analysts = _named(found.get("analysts"), "analysts", "analyst", problems)
    groups = _named(found.get("groups"), "groups", "group", problems)
    of_tables = _of_tables(found.get("tables"), tables, problems)
    if total is None or default is None:
        return None
    return Budgets(total, default, analysts, groups, of_tables)


def _named(entry: Entry | None, key: str, one: str, problems: ProblemList) -> Mapping[str, Budget]:
    budgets: dict[str, Budget] = {}
    named = None if entry is None else named_entries(entry.value, key, problems)
    for each in (named or {}).values():
        article = "an" if one == "analyst" else "a"
        if not is_identifier(each.key, f"{article} {one}", each.key_at, problems):
            continue
        budget = _budget(each, f"{one} {quoted_text(each.key)}", tuple(Period), problems)
        if budget is not None:
            budgets[each.key] = budget
    return budgets


def _of_tables(
    entry: Entry | None,
    tables: Mapping[TableName, ProtectedTable | PublicTable],
    problems: ProblemList,
) -> Mapping[TableName, Budget]:
    budgets: dict[TableName, Budget] = {}
    named = None if entry is None else named_entries(entry.value, "tables", problems)
    by_text = {str(name): table for name, table in tables.items()}
    for each in (named or {}).values():
        table = by_text.get(each.key)
        if not isinstance(table, ProtectedTable):
            what = "is not in 'tables'" if table is None else "is public: nothing is spent on it"
            protected = [n for n, one in by_text.items() if isinstance(one, ProtectedTable)]
            hint = problems.nearest(each.key, protected)
            hint = hint or f"protected tables: {', '.join(protected) or 'none'}"
            problems.add(each.key_at, f"the table {quoted_text(each.key)} {what}", hint)
            continue
        budget = _budget(each, f"table {quoted_text(each.key)}", _LIFETIME, problems)
        if budget is not None:
            budgets[table.name] = budget
    return budgets


def _check_never(where: str, node: Node, problems: ProblemList) -> None:
    """`per` of a budget for good, which has one meaning only."""
    if not isinstance(node, ScalarNode | RefusedNode) or (
        isinstance(node, ScalarNode) and node.text != Period.NONE.value
    ):
        problems.add(
            node.at,
            "the total budget does not renew"
            if where == "the total"
            else f"the budget of {where} does not renew",
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
        if periods == _LIFETIME:
            _check_never(where, found["per"].value, problems)
        else:
            period = member(found["per"].value, "per", Period, problems)
    if epsilon is None or delta is None or period is None:
        return None
    return Budget(Loss(epsilon, delta), period)
