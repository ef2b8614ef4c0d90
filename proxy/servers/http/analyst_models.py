"""What the analysts' listener takes and gives, as models. rendering.py writes the answers themselves."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, JsonValue, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from proxy.servers.http.json_models import (
    Moment,
    Number,
    RequestModel,
    ResponseModel,
    Text,
    storable,
)

PARAMETERS = 2_100  # a list of base.limits.LIST_ELEMENTS, and some beside it
_EXAMPLE: JsonValue = {
    "database": "shop",
    "sql": "SELECT status, count(*) FROM shop.orders WHERE total > $1 GROUP BY status",
    "params": [20],
    "epsilon": 0.5,
}
_STRING_HINT = 'For example {"database": "shop", "sql": "SELECT 1"}.'
_POLICY_HINT = "Leave it out for the policy's value."


def _parameters(value: object) -> tuple[str | None, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > PARAMETERS:
        raise PydanticCustomError("type", "must be a list")
    return tuple(map(_parameter, value))


def _parameter(value: object) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case str():
            return storable(value)
        case _:
            message = "a parameter must be a string, a number, true, false or null"
            raise PydanticCustomError("value", message)


_PARAMETERS_SCHEMA = {
    "type": ["array", "null"],
    "items": {"type": ["string", "number", "boolean", "null"]},
    "maxItems": PARAMETERS,
}
_CELL_SCHEMA = {
    "type": ["string", "number", "boolean", "object", "array", "null"],
    "items": {},
    "description": 'Of numeric types a number with all of PostgreSQL\'s digits, or "NaN", "Infinity", '
    '"-Infinity"; of boolean true or false; of json and jsonb the document; of other types PostgreSQL\'s text.',
}
Cell = Annotated[Any, WithJsonSchema(_CELL_SCHEMA)]
NotFinite = Literal["NaN", "Infinity", "-Infinity"]


class QueryRequest(RequestModel):
    """One statement, in a transaction of its own."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})
    hints: ClassVar[Mapping[str, str]] = {
        "database": _STRING_HINT,
        "sql": _STRING_HINT,
        "params": f"Of at most {PARAMETERS} values, for $1, $2, ...",
        "value": "Send arrays and JSON as text: PostgreSQL reads it as the parameter's type.",
        "epsilon": _POLICY_HINT,
        "delta": _POLICY_HINT,
        "max_epsilon": "Leave it out, or write a number.",
        "trial": "Write true or false.",
        "mechanism": _POLICY_HINT,
        "fresh": "Write true or false.",
        "large_as_text": "Write true or false.",
        "error_columns": "Write true or false.",
    }

    database: Text = Field("", description="May be left out if you can query one database only.")
    sql: Text = Field(description="One statement.")
    params: Annotated[
        tuple[str | None, ...], PlainValidator(_parameters), WithJsonSchema(_PARAMETERS_SCHEMA)
    ] = Field(
        (), description="The values of the parameters, in their order, as PostgreSQL reads them."
    )
    epsilon: Number | None = Field(None, description="At most the policy's max_epsilon.")
    delta: Number | None = Field(None, description="At most the policy's delta.")
    max_epsilon: Number | None = Field(
        None, description="Refuse the statement, free of charge, if it would cost more."
    )
    trial: bool | None = Field(
        None,
        description="False: the statement is charged without a trial run with made-up answers.",
    )

    mechanism: Text | None = Field(
        None,
        description="Of AVG, MIN and MAX: `smooth_median`, or another one that the policy has.",
    )
    fresh: bool | None = Field(
        None,
        description="True: noise is drawn anew and charged, where an earlier or published answer would serve.",
    )

    large_as_text: bool | None = Field(
        None, description="True: numbers beyond 2^53 are strings in JSON and in JSON lines."
    )
    error_columns: bool | None = Field(
        None,
        description="True: in CSV, JSON lines and Arrow each noisy column `NAME` is followed by `NAME_error`,"
        " half of the width of its 95 % interval. JSON has `errors` always.",
    )

    @property
    def most_epsilon(self) -> Fraction | None:
        return None if self.max_epsilon is None else Fraction(self.max_epsilon)

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings dp.* of this statement, with the digits that were sent."""
        given = {"dp.epsilon": self.epsilon, "dp.delta": self.delta}
        settings = {name: str(value) for name, value in given.items() if value is not None}
        if self.trial is not None:
            settings["dp.trial"] = "on" if self.trial else "off"
        if self.mechanism is not None:
            settings["dp.mechanism"] = self.mechanism
        if self.fresh is not None:
            settings["dp.fresh"] = "on" if self.fresh else "off"
        return settings


class PrivacyAmount(ResponseModel):
    epsilon: float
    delta: float


class OddsBound(ResponseModel):
    """Somebody who guesses that a unit is in the data: how sure the answer can make them."""

    guess: float
    at_most: float
    but_for: float = Field(description="The chance (delta) in which nothing is promised.")
    text: str
    judged: str = Field(description="The same, and whether that is little or much.")


class PrivacyCharge(PrivacyAmount):
    """What a statement was charged. `receipt` is null if nothing was charged."""

    remaining: PrivacyAmount | None
    source: Literal["fresh", "cached", "derived", "published"] | None = Field(
        description="Where the answer comes from: `fresh`, new to you; `cached`, as it was shown to you before;"
        " `derived`, made of answers that were shown to you before; `published`, made of a published release."
        " Null if nothing protected was queried."
    )
    as_of: datetime | None = Field(
        description="When you were first shown what it is made of, or when it was published."
        " Of a fresh answer: now."
    )
    receipt: str | None


class AnswerColumn(ResponseModel):
    name: str
    type: str = Field(description="The PostgreSQL type, e.g. `numeric(8,2)`.")


class AggregateAccuracy(ResponseModel):
    """How one aggregate becomes private. At most one of the five errors is known in advance."""

    block: int
    aggregate: str
    mechanism: str
    sensitivity: str
    scale: float | None
    error_95: float | None
    floor_95: float | None
    error_times_rows: float | None
    error_in_rank: int | None
    error_times_bound: float | None
    partitions: int | None
    units_needed: int | None
    note: str
    no_interval: str | None
    condition: str | None
    epsilon: float
    delta: float
    share: float = Field(description="Of the statement's epsilon.")


class ClippedShare(ResponseModel):
    """How many units the bounds of a block cut, about."""

    block: int
    aggregates: list[str]
    columns: list[str] = Field(description="Output columns with such an aggregate in them.")
    bound: float | None
    bounds: Literal["rows", "total"]
    chosen: bool
    units: int
    clipped: int
    error_95: int
    at_least: bool = Field(
        description="Errors leave out what the bound cuts, which would only make the answers larger."
    )
    share: float


class ErrorRange(ResponseModel):
    """Half widths of the 95 % intervals of one result column, over all groups."""

    least: float | None
    most: float | None
    unit: str | None = Field(description="Of times: days or seconds. Null: that of the column.")
    no_interval: str | None = Field(description="Why some group has no interval.")
    note: str
    at_least: bool = Field(
        description="What a bound cuts may be more than the error, and would only make the numbers larger:"
        " the interval has no upper end."
    )
    at_most: bool = Field(
        description="As `at_least`, of numbers that it would only make smaller: no lower end."
    )


class InnerErrorRange(ErrorRange):
    """Of one column of a query inside, of which a query around makes the result."""

    name: str


class AnswerErrors(ResponseModel):
    columns: list[ErrorRange | None] = Field(description="Null of a column without noise.")
    rows: list[list[float | NotFinite | None]] | None = Field(
        description="The half width of each value in `rows`, where it is known."
    )
    inner: list[InnerErrorRange] = Field(
        description="Of columns of inner queries, if a query around makes the result of them."
    )


class QueryResponse(ResponseModel):
    columns: list[AnswerColumn]
    rows: list[list[Cell]]
    privacy: PrivacyCharge
    accuracy: list[AggregateAccuracy]
    clipped: list[ClippedShare]
    notices: list[str]
    errors: AnswerErrors | None = Field(description="Null if nothing protected was queried.")


class GroupThreshold(ResponseModel):
    """How many units a private key needs to appear: half of the time, and in 95 of 100 answers."""

    half: int
    most: int


class ExplainedBlock(ResponseModel):
    tables: list[str]
    unit: str
    keys: int
    groups: int | None
    units_needed: GroupThreshold | None
    sql: str = Field(description="The backend statement, with parameters instead of values.")
    lifted: str | None = None
    free: str | None = None
    free_source: Literal["cached", "derived", "published"] | None = Field(
        None, description="As `source` of an answer, if the block costs nothing."
    )


class StatedExample(ResponseModel):
    """The 95 % error for a round number of rows or units, or for a round bound on what one unit adds."""

    number: int | None
    counted: str | None = Field(description="What `number` or `bound` counts.")
    bound: float | None
    error_95: float | None = Field(description="Null if the answer is NULL.")


class StatedExpectation(ResponseModel):
    text: str = Field(description="All examples and remarks in words.")
    usual: str = Field(description="One example in words, with what it takes for granted.")
    unit: str | None = Field(description="Of the errors. Null: that of the column.")
    at_least: bool
    bound_of: str | None
    examples: list[StatedExample]
    remarks: list[str]
    assumptions: list[str]


class ExplainedAggregate(AggregateAccuracy):
    name: str = Field(
        description="Of the output column that is this aggregate; where columns are computed of it, the"
        " aggregate and their names."
    )
    written: str = Field(description="The aggregate with its column.")
    columns: list[str] = Field(description="Output columns of the result with it in them.")
    expected: StatedExpectation


class ExplainResponse(ResponseModel):
    privacy: PrivacyAmount
    charge: PrivacyAmount = Field(
        description="At most, if it ran now. `privacy` less what of it is free, such as a cached answer."
    )
    odds: OddsBound | None = Field(
        description="What epsilon and delta mean. Null if nothing protected is asked."
    )
    remaining: PrivacyAmount | None
    blocks: list[ExplainedBlock]
    aggregates: list[ExplainedAggregate]
    mechanism: str | None = Field(None, description="The mechanism that was chosen.")
    times: list[str] | None = Field(None, description="How times were rounded.")
    unlisted: list[str] | None = Field(
        None,
        description="Constants that the policy does not list for their column, or beyond its bounds.",
    )
    limits: list[str] | None = Field(
        None, description="What limits of the policy leave out, which no error covers."
    )


class DatabaseList(ResponseModel):
    databases: list[str]


class TokenSpending(ResponseModel):
    """The budget of the bearer token that the request came with. Amounts are exact decimals."""

    number: int
    epsilon_limit: str | None
    epsilon_spent: str
    per: str | None = Field(description="How often its limit renews: `hour` or `day`.")
    renews_at: Moment | None
    expires_at: Moment


class OwnTokenRequest(RequestModel):
    """A token for an agent or a conversation of yours, with a smaller budget."""

    hints: ClassVar[Mapping[str, str]] = {
        "database": _STRING_HINT,
        "epsilon": 'For example {"database": "shop", "epsilon": 0.5}.',
        "hours": "A number above 0, and 24 at most.",
    }

    database: Text = Field("", description="May be left out if you can query one database only.")
    epsilon: Number = Field(
        description="What all statements through it may cost. It is charged to your budget, too: at most what"
        " is left of that."
    )
    hours: Number | None = Field(None, description="Until it expires. Left out: 24, the most.")
    note: Text | None = Field(None, description="What it is for.")


class CreatedToken(ResponseModel):
    number: int
    token: str = Field(repr=False, description="Shown once, and kept nowhere.")
    expires_at: Moment


class OfDatabase(ResponseModel):
    database: str
    token: TokenSpending | None = None


class QueryableColumn(ResponseModel):
    name: str
    type: str
    low: str | None
    high: str | None
    values: list[str | None] | None
    usable_for: str


class QueryableTable(ResponseModel):
    name: str
    columns: list[QueryableColumn]


class SchemaResponse(OfDatabase):
    tables: list[QueryableTable]


class BudgetRow(ResponseModel):
    analyst: str
    epsilon_limit: float | None
    epsilon_spent: float
    epsilon_remaining: float | None
    delta_limit: float | None
    delta_spent: float
    delta_remaining: float | None
    period: str
    renews_at: datetime | None
    rho_limit: float | None
    rho_spent: float | None


class BudgetResponse(OfDatabase):
    budget: list[BudgetRow]


class HistoryRow(ResponseModel):
    receipt: int
    at: datetime
    epsilon: float
    delta: float
    outcome: str
    statement: str = Field(description="The fingerprint of the statement.")
    policy: str = Field(description="The digest of the policy.")
    text: str | None = Field(description="The statement, if the ledger keeps it.")


class HistoryResponse(OfDatabase):
    history: list[HistoryRow]


class HealthResponse(ResponseModel):
    status: Literal["ok", "not ok"]
    down: list[str] | None = None


class ReadinessResponse(ResponseModel):
    status: Literal["ready", "not ready", "draining"]
    checks: dict[str, bool] = Field(description="Whether each part answers, of all databases.")
    away: dict[str, list[str]] = Field(description="By database, the parts that do not answer.")
    stuck_sessions: int = Field(
        description="How many sessions of the shadow were told to end seconds ago and have not. The log names"
        " them (session_does_not_end). This does not change the status."
    )
    policies: Literal["in force", "not taken"] = Field(
        description="Whether each policy in force is the one in its file. The log says what is wrong."
        " Statements are answered under the policy in force, so this does not change the status."
    )
