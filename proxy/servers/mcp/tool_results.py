"""Results of the tools, made of what /v1 gives."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Literal

from proxy.base.shown_numbers import shown_number
from proxy.policy.publication import Publication
from proxy.servers.mcp.tool_models import (
    SHOWN_ROWS,
    AgentAmount,
    AgentAnswer,
    AgentBudgetLeft,
    AgentColumn,
    AgentError,
    AgentPrice,
    PublishedEntry,
)

Document = Mapping[str, Any]

_FORMULAS = (
    ("floor_95", "at least ± {}"),
    ("error_times_rows", "± {} divided by the number of rows"),
    ("error_in_rank", "± {} ranks"),
    ("error_times_bound", "± {} times the bound that is chosen"),
)


def price_of(plan: Document | None) -> AgentPrice:
    """Of EXPLAIN, None where nothing protected is asked."""
    if plan is None:
        return AgentPrice(
            epsilon=0, delta=0, left=None, groups=None, outputs=[], free=None, notes=[]
        )
    left = plan["remaining"]
    groups = [one["groups"] for one in plan["blocks"] if one["keys"]]
    free = [one.get("free_source") for one in plan["blocks"]]
    is_free = bool(free) and None not in free
    cost = plan["charge"]
    return AgentPrice(
        epsilon=cost["epsilon"],
        delta=cost["delta"],
        left=None if left is None else left["epsilon"],
        groups=groups[0] if len(groups) == 1 else None,
        outputs=expected_errors(plan),
        free=_least_new(free) if is_free else None,
        notes=plan.get("unlisted", []),
    )


def _least_new(sources: list[Any]) -> Literal["cached", "derived", "published"]:
    """As of a whole answer (engine.answer_origin)."""
    for source in ("derived", "cached"):
        if source in sources:
            return source
    return "published"


def expected_errors(plan: Document) -> list[AgentError]:
    return [
        AgentError(
            name=one["name"],
            error_95=one["error_95"],
            error_formula=_formula(one),
            note=one["note"] or one["no_interval"] or "",
        )
        for one in plan["aggregates"]
    ]


def _formula(one: Document) -> str | None:
    for member, text in _FORMULAS:
        if one[member] is not None:
            return text.format(shown_number(one[member]))
    return None


def answer_of(body: bytes, budget: str | None, analyst: str) -> AgentAnswer:
    """
    Args:
        body: Of /v1/query.
        budget: Of /v1/budget, for when it renews. None: there is no limit, or nothing protected was asked.
        analyst: Whose budget it is.
    """
    document = json.loads(body)
    privacy, errors = document["privacy"], document["errors"] or {}
    noisy = errors.get("columns") or [None] * len(document["columns"])
    rows = document["rows"]
    own = errors.get("rows") or _same_errors(noisy, len(rows))
    return AgentAnswer(
        columns=[
            AgentColumn(
                name=one["name"],
                type=one["type"],
                at_least=error is not None and error["at_least"],
                at_most=error is not None and error["at_most"],
            )
            for one, error in zip(document["columns"], noisy, strict=True)
        ],
        rows=rows[:SHOWN_ROWS],
        errors=None if own is None else own[:SHOWN_ROWS],
        notes=[note.replace("+-", "±") for note in document["notices"]],
        charged=AgentAmount(epsilon=privacy["epsilon"], delta=privacy["delta"]),
        left=_left(privacy["remaining"], budget, analyst),
        source=privacy["source"],
        as_of=privacy["as_of"],
        receipt=privacy["receipt"],
        truncated=len(rows) > SHOWN_ROWS,
    )


def _same_errors(columns: list[Any], rows: int) -> list[list[Any]] | None:
    """Of a statement that computes with its answers: the largest error of each column, for all of its rows."""
    widths = [_largest_error(one) for one in columns]
    return None if not any(widths) else [widths] * rows


def _largest_error(column: Document | None) -> float | None:
    """None where there is none, or none that is an interval."""
    if column is None or column["unit"] is not None or column["no_interval"] is not None:
        return None
    most = column["most"]
    return most if isinstance(most, int | float) else None


# As engine.publishing.comment_of writes it.
_RELEASED = re.compile(
    r"Published (?P<drawn>\S+ \S+) UTC, due \S+ \S+ UTC, next (?P<next>\S+ \S+) UTC\."
)


def published_entry(
    name: str, comment: str, columns: bytes | None, publications: Mapping[str, Publication]
) -> PublishedEntry:
    """
    Args:
        name: Of a table of the schema `published`.
        comment: Of the table.
        columns: Their names, as a JSON array.
        publications: Of the policy in force, by name.
    """
    released = _RELEASED.search(comment)
    known = publications.get(name)
    return PublishedEntry(
        name=name,
        about=comment,
        columns=json.loads(columns or b"[]"),
        sql="" if known is None else known.sql,
        epsilon=None if known is None else float(known.loss.epsilon),
        drawn_at=None if released is None else _utc(released["drawn"]),
        next_at=None if released is None else _utc(released["next"]),
    )


def _utc(moment: str) -> str:
    """
    >>> _utc("2026-11-27 12:00")
    '2026-11-27T12:00:00+00:00'
    """
    return datetime.fromisoformat(moment).replace(tzinfo=timezone.utc).isoformat()


def _left(remaining: Document | None, budget: str | None, analyst: str) -> AgentBudgetLeft | None:
    if remaining is None or budget is None:
        return None
    own = (one for one in json.loads(budget) if one["analyst"] == analyst)
    renews = next((one["renews_at"] for one in own), None)
    return AgentBudgetLeft(epsilon=remaining["epsilon"], delta=remaining["delta"], renews_at=renews)
