"""Base classes and field types of the JSON that the HTTP listeners take and give.

The strict JSON reader reads a request first, and a pydantic model validates it then: numbers keep their digits,
nothing is converted, unknown keys are refused. The OpenAPI document has the schemas of the same models.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from fastapi import Request
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic import ValidationError as InvalidModel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError
from typing_extensions import Self

from proxy.base.errors import Code
from proxy.servers.http.http_problem import HttpProblem
from proxy.servers.http.request_reading import JsonNumber, read_body

_UNSTORABLE = "22021"  # character_not_in_repertoire
_TYPE_NAMES = {
    "string": "a string",
    "number": "a number",
    "array": "a list",
    "boolean": "true or false",
}


def _text(value: object) -> str:
    if not isinstance(value, str) or isinstance(value, JsonNumber):
        raise PydanticCustomError("type", "must be a string")
    return storable(value)


def _number(value: object) -> JsonNumber:
    if not isinstance(value, JsonNumber):
        raise PydanticCustomError("type", "must be a number")
    return value


def storable(value: str) -> str:
    """Check that PostgreSQL's text can hold the value: no NUL, no half of a surrogate pair."""
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise PydanticCustomError(
            _UNSTORABLE, "a text holds a character that UTF-8 text of PostgreSQL cannot hold"
        )
    return value


Text = Annotated[str, BeforeValidator(_text)]
Number = Annotated[JsonNumber, PlainValidator(_number), WithJsonSchema({"type": "number"})]
Moment = Annotated[
    datetime,
    PlainSerializer(datetime.isoformat, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class _JsonModel(BaseModel):
    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Leave defaults out: some generators of clients require each member that has one."""
        schema = handler(core_schema)
        for member in handler.resolve_ref_schema(schema).get("properties", {}).values():
            member.pop("default", None)
        return schema


class RequestModel(_JsonModel):
    """The body of a request. `hints`: what the sender can do about a wrong field."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)
    hints: ClassVar[Mapping[str, str]] = {}

    @classmethod
    async def read(cls, request: Request) -> Self:
        """Read and validate the body. A dependency that stands behind the login: no stranger's body is read.

        Raises:
            HttpProblem: 415, 413, 408, or 400 for a body that does not fit the model.
        """
        return cls.validated(await read_body(request))

    @classmethod
    def validated(cls, body: object) -> Self:
        """Make it of what the strict reader gives.

        Raises:
            HttpProblem: 400 for a body that does not fit the model.
        """
        try:
            return cls.model_validate(body)
        except InvalidModel as error:
            details = error.errors(include_url=False, include_context=False, include_input=False)
            raise cls._problem(details) from None

    @classmethod
    def _problem(cls, details: list[ErrorDetails]) -> HttpProblem:
        unknown = [detail for detail in details if detail["type"] == "extra_forbidden"]
        first = (unknown or details)[0]
        keys = ", ".join(cls.model_fields)
        if unknown:
            return _invalid("the body has an unknown key", f"The keys are {keys}.")
        if not first["loc"]:
            return _invalid("the body must be an object", f"Its keys are {keys}.")
        field = str(first["loc"][0])
        match first["type"]:
            case "type" | "length":
                return _invalid(f"{field} {first['msg']}", cls.hints.get(field))
            case "value":
                return _invalid(first["msg"], cls.hints.get(first["type"]))
            case _ if first["type"] == _UNSTORABLE:
                return HttpProblem(400, first["msg"], sqlstate=_UNSTORABLE)
            case _:
                return _invalid(f"{field} must be {cls._type_name(field)}", cls.hints.get(field))

    @classmethod
    def _type_name(cls, field: str) -> str:
        schema = cls.model_json_schema()["properties"][field]
        types = [one.get("type") for one in schema.get("anyOf", [schema])]
        return _TYPE_NAMES[types[0]]


class ResponseModel(_JsonModel):
    """The body of a response."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    @classmethod
    def of(cls, entry: object) -> Self:
        """Take the fields from the attributes of an entry of the ledger, or of a session."""
        return cls.model_validate(entry)


class ProblemDocument(ResponseModel):
    """An error (RFC 9457). `sqlstate`, `hint` and `position` are those that a PostgreSQL client gets.

    `instead` is a statement that you can send in the place of the refused one. It has been planned for you.
    """

    type: str
    title: str
    status: int
    sqlstate: str | None
    detail: str
    hint: str | None
    position: int | None
    postgres_detail: str | None = None
    receipt: str | None = None
    instead: str | None = None


def parameter_problem(details: list[Any]) -> HttpProblem:
    """Give the problem of a parameter, in our words. Those of the framework quote the value."""
    first = details[0]
    if first["type"] == _UNSTORABLE:
        return HttpProblem(400, first["msg"], sqlstate=_UNSTORABLE)
    return _invalid(f"the parameter {first['loc'][-1]} is missing or wrong", None)


def _invalid(message: str, hint: str | None) -> HttpProblem:
    return HttpProblem(400, message, hint=hint, sqlstate=Code.SETTING.sqlstate)


# How a serving process is, for its operators. Fields are added, never renamed: programs read them.

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
