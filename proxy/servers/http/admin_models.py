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


# What administrators are shown of receipts, budgets over time, policies and audits, as models.


class SpentDayEntry(ResponseModel):
    day: str = Field(description="In UTC.", json_schema_extra={"format": "date"})
    epsilon: Amount
    delta: Amount
    rho: Amount
    receipts: int


class BudgetSpent(ResponseModel):
    source: str
    budget: str = Field(description="As in /budgets.")
    days: list[SpentDayEntry] = Field(description="Those on which something was paid.")


class SpendingOverTime(ResponseModel):
    budgets: list[BudgetSpent]


class ReceiptEntry(ResponseModel):
    receipt: int | None = Field(description="null: an adjustment.")
    place: int = Field(description="In the chain of the source.")
    at: Moment
    analyst: str
    also: list[str] = Field(description="Other budgets that were charged.")
    epsilon: Amount
    delta: Amount
    drawn_epsilon: Amount = Field(description="What everybody together paid.")
    outcome: str
    statement: str | None = Field(description="A fingerprint: the same one is the same statement.")
    policy: str | None = Field(description="The digest of the policy.")
    reason: str | None = Field(description="Of an adjustment.")


class ReceiptPage(ResponseModel):
    receipts: list[ReceiptEntry] = Field(description="The newest first.")
    next: str | None = Field(description="`after` of the next page; null: this is the last.")


class ChainReport(ResponseModel):
    problems: list[str] = Field(description="As `dpproxy ledger verify` tells them; none is good.")


class FindingEntry(ResponseModel):
    name: str
    meaning: str = Field(description="What a finding of this name says, in one sentence.")
    severity: str
    where: str
    what: str
    fix: str | None = Field(description="SQL for the protected database, or YAML for the policy.")
    to_do: str = Field(description="`fix`, or what to do where nothing is to be run or written.")
    accepted: str | None = Field(description="The owner's reason; null: it is open.")


class PolicyProblemEntry(ResponseModel):
    line: int
    column: int
    message: str
    hint: str | None


class PolicyChangeEntry(ResponseModel):
    topic: str
    direction: str = Field(description="For analysts: gains, loses, exposes or changes.")
    people: str = Field(
        description="What becomes of the protection of people: weaker, stronger, same or look at it."
    )
    where: str
    what: str


class PolicyFileReport(ResponseModel):
    """The file as it is now, held against the live database."""

    file: str
    text: str | None = Field(description="Without its connection string. null: it cannot be read.")
    digest: str | None
    is_in_force: bool
    problems: list[PolicyProblemEntry] = Field(description="What keeps it from being served.")
    findings: list[FindingEntry]
    changes: list[PolicyChangeEntry] = Field(
        description="What it changes about the policy in force."
    )
    people: list[str] = Field(
        description="The changes summed up for people, with the odds of a statement."
    )


class PolicyBefore(ResponseModel):
    """What was in force before the last change, since this process started."""

    digest: str
    text: str
    changes: list[PolicyChangeEntry] = Field(description="What the last change did.")
    people: list[str] = Field(
        description="The changes summed up for people, with the odds of a statement."
    )


class PromiseEntry(ResponseModel):
    about: str
    text: str


class PolicyReport(ResponseModel):
    database: str
    digest: str
    since: Moment
    text: str = Field(description="In force, without its connection string.")
    not_taken: str | None = Field(description="Why the file was not taken.")
    promise: list[PromiseEntry] = Field(
        description="Of the policy in force: who is protected, what analysts can learn, and the odds."
    )
    before: PolicyBefore | None
    findings: list[FindingEntry] | None = Field(
        description="About the policy in force, when it was looked at last. null: nothing looked for them."
    )
    file: PolicyFileReport


class CheckPolicyRequest(RequestModel):
    text: Text = Field(
        description="A whole policy in YAML, with the source of the one in force, or with the line by which"
        " `text` of a policy hides it."
    )


class NewAuditRequest(RequestModel):
    database: Text
    rows: Number | None = Field(None, description="Invented rows per table, 1 to 2000.")
    distance: Number | None = Field(None, description="Units taken out at once, at most 50.")


class AuditedStatement(ResponseModel):
    sql: str
    release: str
    measure: str
    planned: float
    observed: float = Field(description="The largest change that one unit made.")
    shares: list[float] = Field(
        description="By distance from 1: the largest change, in units of what is planned for one."
    )
    is_above: bool = Field(description="Whether it is above the plan, which is a defect.")


class AuditRun(ResponseModel):
    number: int
    database: str
    rows: int
    distance: int
    state: Literal["running", "done", "failed"]
    at: Moment
    seconds: float | None
    failure: str | None
    neighbours: int | None
    statements: list[AuditedStatement]
    refused: int | None = Field(description="Statements that the policy does not answer.")


class AuditList(ResponseModel):
    audits: list[AuditRun] = Field(description="The newest first.")


class StartedAudit(ResponseModel):
    number: int
