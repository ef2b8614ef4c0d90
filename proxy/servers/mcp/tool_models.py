"""What the tools for agents take and give, as models: their JSON schemas are what a client is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from proxy.base.shown_numbers import shown_number
from proxy.policy.publication import Publication

STATEMENT_CHARACTERS = 16_384
SHOWN_ROWS, TOLD_ROWS = 1_000, 200  # of an answer, as data and in its text

Database = Annotated[
    str, Field(max_length=63, description="May be left out if you can query one database only.")
]
Statement = Annotated[
    str,
    Field(max_length=STATEMENT_CHARACTERS, description="One SELECT, in the SQL of PostgreSQL."),
]
Epsilon = Annotated[
    float,
    Field(
        gt=0,
        le=1e9,
        description="What the statement may use. A smaller one costs less and has a larger error. Hints call it"
        " dp.epsilon: give it here, not in the statement.",
    ),
]
Source = Literal["fresh", "cached", "derived", "published"]


class _ToolArguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class DatabaseArguments(_ToolArguments):
    database: Database = ""


class TableArguments(DatabaseArguments):
    table: str = Field(max_length=200, description="A name of list_tables, with its schema.")


class ExplainArguments(DatabaseArguments):
    sql: Statement
    epsilon: Epsilon | None = None


class QueryArguments(ExplainArguments):
    max_epsilon: float = Field(
        gt=0, le=1e9, description="Refused, free of charge, if it would cost more than this."
    )
    max_error: float | None = Field(
        default=None,
        gt=0,
        description="Refused, free of charge, if the 95 % error of any aggregate is expected to be larger.",
    )


class PublishedArguments(DatabaseArguments):
    name: str | None = Field(default=None, max_length=63, description="Of a table: its rows.")


class _ToolResult(BaseModel):
    model_config = ConfigDict(frozen=True)


class AgentAmount(_ToolResult):
    epsilon: float
    delta: float


class AgentBudgetLeft(AgentAmount):
    """What you can still spend."""

    renews_at: str | None


class TableEntry(_ToolResult):
    name: str
    protects: str = Field(description="Whose privacy, or `public`.")
    columns: list[str]
    published: bool


class TableList(_ToolResult):
    database: str
    tables: list[TableEntry]


class ColumnEntry(_ToolResult):
    name: str
    type: str
    counts: str = Field(description="Which values count.")
    use: str
    low: str | None
    high: str | None
    values: list[str | None] | None


class AgentError(_ToolResult):
    """Half width of the 95 % interval: a number, or how it depends on what is not known beforehand."""

    name: str
    error_95: float | None
    error_formula: str | None
    note: str


class ExampleStatement(_ToolResult):
    sql: str
    epsilon: float
    errors: list[AgentError]


class TableDetails(_ToolResult):
    name: str
    protects: str
    columns: list[ColumnEntry]
    examples: list[ExampleStatement]


class AgentPrice(_ToolResult):
    """free: where the answer would come from, if it costs nothing. notes: what to look at before it is run."""

    epsilon: float
    delta: float
    left: float | None = Field(description="Epsilon. Null: no limit.")
    groups: int | None
    outputs: list[AgentError]
    free: Literal["cached", "derived", "published"] | None
    notes: list[str]


class AgentColumn(_ToolResult):
    """at_least, at_most: the interval has one end, the error below or above the value."""

    name: str
    type: str
    at_least: bool = False
    at_most: bool = False


class AgentAnswer(_ToolResult):
    columns: list[AgentColumn]
    rows: list[list[Any]]
    errors: list[list[float | str | None]] | None = Field(
        description="Half width of the 95 % interval of each value in `rows`, where it has noise."
    )
    notes: list[str]
    charged: AgentAmount
    left: AgentBudgetLeft | None
    source: Source | None = Field(description="`fresh` is new to you. Null: nothing protected.")
    as_of: str | None
    receipt: str | None
    truncated: bool


class AgentBudgetLine(_ToolResult):
    name: str
    limit: float | None
    spent: float
    left: float | None
    renews_at: str | None


class TokenLine(_ToolResult):
    """per: how often the limit renews, and with it what is spent."""

    limit: float | None
    spent: float
    per: str | None
    renews_at: str | None
    expires_at: str


class BudgetLines(_ToolResult):
    lines: list[AgentBudgetLine]
    token: TokenLine | None


class PublishedEntry(_ToolResult):
    name: str
    about: str
    columns: list[str]
    sql: str = Field(description="What it is released by, at each time that it is due.")
    epsilon: float | None = Field(description="Of each release. Reading it costs nothing.")
    drawn_at: str | None
    next_at: str | None


class PublishedList(_ToolResult):
    """tables: without a name; answer: the rows of the one that was named."""

    tables: list[PublishedEntry]
    answer: AgentAnswer | None


class RefusedCharge(_ToolResult):
    epsilon: float


class ToolProblem(_ToolResult):
    """Of a result that is an error. `instead` is a statement that was planned for you."""

    sqlstate: str | None
    code: str | None
    detail: str
    hint: str | None
    instead: str | None
    position: int | None
    charged: RefusedCharge | None = Field(
        description="Null: it stays charged if there is a receipt, else the history of receipts says it."
    )
    receipt: str | None
    retry_after: int | None


# Results of the tools, made of what /v1 gives.

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
