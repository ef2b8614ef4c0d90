"""What the tools for agents take and give, as models: their JSON schemas are what a client is shown."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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
