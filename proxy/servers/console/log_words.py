"""Details of the administrators' log as labels and texts for people."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from proxy.servers.console.spending_charts import amount_text, delta_text

_FIRST_DIGITS = 12
_DIGEST = re.compile(r"[0-9a-f]{32,}")
_LABELS = {
    "source": "database",
    "grp": "group",
    "digest": "after",
    "in_force": "in force",
    "weaker": "points with less protection",
    "points": "keys",
    "per": "renews each",
    "distance": "people taken out",
}
_BUDGETS = {"analysts": "analyst", "groups": "group", "tables": "table"}


def detail_words(detail: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give each entry that says something. Digests are cut to their first digits.

    >>> list(detail_words({"name": "ann", "password": True, "note": None, "epsilon": "2E+1"}))
    [('name', 'ann'), ('password', 'yes'), ('epsilon', '20')]
    >>> list(detail_words({"source": 1, "budgets": {"total": ["", "", "2E+1", "0.00001", "none"]}}))
    [('total', 'ε 20, δ 10⁻⁵ for ever')]
    """
    budgets = detail.get("budgets")
    if isinstance(budgets, Mapping):
        yield from _budgets(budgets)
    for name, value in detail.items():
        is_number_of_source = name == "source" and isinstance(value, int)
        if value in (None, "", []) or name == "budgets" or is_number_of_source:
            continue
        yield _LABELS.get(name, name.replace("_", " ")), _text(name, value)


def _text(name: str, value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_text(name, one) for one in value)
        case str() if name in ("epsilon", "delta", "rho"):
            return _amount(value, is_delta=name == "delta")
        case str():
            return value[:_FIRST_DIGITS] if _DIGEST.fullmatch(value) else value
        case _:
            return json.dumps(value)


def _amount(text: str, *, is_delta: bool = False) -> str:
    try:
        return delta_text(text) if is_delta else amount_text(Decimal(text))
    except (InvalidOperation, ValueError):
        return text


def _budgets(budgets: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """As `budgets_text` of the ledger writes them."""
    for name in ("total", "default"):
        if name in budgets:
            yield name, _limit(budgets[name])
    for kind, word in _BUDGETS.items():
        for name, limit in budgets.get(kind, {}).items():
            yield f"{word} {name}", _limit(limit)


def _limit(limit: Sequence[Any]) -> str:
    _, _, epsilon, delta, per, *_ = limit
    window = "for ever" if per == "none" else f"a {per}"
    return f"ε {_amount(epsilon)}, δ {_amount(delta, is_delta=True)} {window}"
