"""What the administrators' listener takes and gives, as models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from proxy.ledger.users import LEAST_CHARACTERS
from proxy.servers.http.json_models import Moment, Number, RequestModel, ResponseModel, Text


def _long_enough(value: str) -> str:
    if len(value) < LEAST_CHARACTERS:
        message = f"the password is shorter than {LEAST_CHARACTERS} characters"
        raise PydanticCustomError("value", message)
    return value


def _decimal_text(value: Decimal) -> str:
    return f"{value.normalize():f}"


Password = Annotated[
    Text,
    AfterValidator(_long_enough),
    Field(json_schema_extra={"minLength": LEAST_CHARACTERS}),
]
Amount = Annotated[Decimal, PlainSerializer(_decimal_text, return_type=str)]


class NewUserRequest(RequestModel):
    """An analyst. Without a password, tokens and certificates alone let them in."""

    name: Text
    password: Password | None = Field(None, repr=False)


class PasswordRequest(RequestModel):
    password: Password = Field(repr=False)


class NewTokenRequest(RequestModel):
    hints: ClassVar[Mapping[str, str]] = {"days": "How long the token is valid."}

    name: Text = Field(description="The analyst whose token it is.")
    days: Number = Field(description="How long the token is valid.")
    database: Text | None = Field(None, description="The only database that it is for.")
    epsilon: Number | None = Field(None, description="A limit of its own, below the analyst's.")
    per: Literal["hour", "day"] | None = Field(
        None, description="How often the limit renews. Left out: never."
    )
    note: Text | None = None


class Done(ResponseModel):
    done: Literal[True] = True


class ListedUser(ResponseModel):
    name: str
    groups: list[str]


class UserList(ResponseModel):
    users: list[ListedUser]


class GroupList(ResponseModel):
    groups: dict[str, list[str]] = Field(description="The members of each group.")


class DatabaseAccess(ResponseModel):
    """If a database is not restricted, every analyst can query it, and both lists are empty."""

    source: str
    is_restricted: bool
    analysts: list[str]
    groups: list[str]


class AccessList(ResponseModel):
    databases: list[DatabaseAccess]


class TokenEntry(ResponseModel):
    number: int
    analyst: str
    source: str | None
    note: str
    epsilon: Amount | None
    spent: Amount = Field(description="In this hour or day, where the limit renews.")
    per: str | None
    renews_at: Moment | None
    created_at: Moment
    expires_at: Moment
    state: str


class TokenList(ResponseModel):
    tokens: list[TokenEntry]


class BudgetEntry(ResponseModel):
    """Amounts are exact decimals as text; `-` where there is no limit."""

    source: str
    budget: str
    per: str
    epsilon: str
    epsilon_limit: str
    delta: str
    delta_limit: str
    rho: str
    rho_limit: str
    used: str
    receipts: str


class BudgetList(ResponseModel):
    budgets: list[BudgetEntry]


class WaitingAdjustment(ResponseModel):
    """Amounts below 0 are given back, once another administrator confirms it."""

    number: int
    database: str
    kind: str = Field(description="total, analyst, group or table.")
    name: str
    epsilon: Amount
    delta: Amount
    rho: Amount | None
    reason: str
    made_by: str
    at: Moment
    until: Moment = Field(description="When it ends without effect.")


class AdjustmentList(ResponseModel):
    waiting: list[WaitingAdjustment]


class SessionEntry(ResponseModel):
    number: int
    analyst: str
    database: str
    address: str = Field(description="The network of the client.")
    since: Moment


class StuckSessionEntry(ResponseModel):
    analyst: str
    process: int = Field(description="Of the session, on the shadow's server.")
    seconds: float = Field(description="Since it was told to end.")


class SessionList(ResponseModel):
    sessions: list[SessionEntry]
    stuck: list[StuckSessionEntry] = Field(
        description="Sessions of the shadow that were told to end seconds ago and have not."
    )

    @classmethod
    def listing(cls, sessions: Sequence[object], stuck: Sequence[object]) -> SessionList:
        """Those of one process."""
        return cls(
            sessions=[SessionEntry.of(one) for one in sessions],
            stuck=[StuckSessionEntry.of(one) for one in stuck],
        )

    @classmethod
    def joined(cls, lists: Sequence[SessionList]) -> SessionList:
        return cls(
            sessions=[one for each in lists for one in each.sessions],
            stuck=[one for each in lists for one in each.stuck],
        )


class LogEntry(ResponseModel):
    at: Moment
    who: str
    what: str
    detail: dict[str, Any]


class AdminLog(ResponseModel):
    events: list[LogEntry]


class PolicyInForce(ResponseModel):
    database: str
    digest: str
    not_taken: str | None = Field(
        description="Why the file that is there now was not taken, with places."
    )


class PoliciesInForce(ResponseModel):
    policies: list[PolicyInForce]
