"""How a serving process is, for its operators. Fields are added, never renamed: programs read them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from proxy.servers.http.json_models import Moment, ResponseModel

WorkerState = Literal["ready", "not ready", "draining", "starting", "silent", "down"]


class WorkerStatus(ResponseModel):
    worker: int
    pid: int
    sessions: int = Field(description="Of PostgreSQL clients that have logged in.")
    active: int = Field(description="Those with a statement that runs.")
    statements: int = Field(description="On protected tables that ended, since the start.")
    restarts: int
    is_serving: bool = Field(default=True, description="Not while it is started again.")
    state: WorkerState = Field(
        description="As `/readyz` of this worker says. `starting`: it is not there yet, or again; `silent`: it"
        " does not say; `down`: it did not start five times."
    )


class PoolStatus(ResponseModel):
    idle: int
    used: int
    limit: int


class PublicationStatus(ResponseModel):
    table: str
    released_at: Moment | None
    next_due: Moment
    is_due: bool
    is_stopped: bool


class DatabaseStatus(ResponseModel):
    database: str
    protected: bool = Field(description="Whether it answers, as of a second ago.")
    ledger: bool
    shadow: bool
    postgresql: str | None = Field(description="Version of the protected server, as it last said.")
    policy: str = Field(description="The digest of the policy in force.")
    policy_since: Moment
    is_policy_taken: bool = Field(description="Whether it is the one that is in its file.")
    protected_pool: PoolStatus
    ledger_pool: PoolStatus
    catalogue_age_seconds: int = Field(description="Since the catalogue was compared.")
    tables_changed: list[str] = Field(description="They are not asked, as they have changed.")
    budgets_nearly_spent: list[str] = Field(
        description="Budgets of everybody, of tables and of what is published, spent to 80 % or more."
    )
    analysts_nearly_spent: int = Field(description="So many budgets of analysts, and of groups.")
    groups_nearly_spent: int
    publications: list[PublicationStatus]


class LedgerStatus(ResponseModel):
    answers: bool
    postgresql: str | None
    last_receipt: int | None
    charge_milliseconds: float | None = Field(
        description="Median of the last 100 transactions that charge. null: there was none."
    )


class ShadowStatus(ResponseModel):
    postgresql: str


class StatusReport(ResponseModel):
    state: Literal["ready", "not ready", "draining"]
    version: str
    started_at: Moment
    up_seconds: int
    sessions: dict[str, dict[str, int]] = Field(description="By listener and state.")
    stuck_sessions: int
    workers: list[WorkerStatus]
    databases: list[DatabaseStatus]
    ledger: LedgerStatus
    shadow: ShadowStatus
