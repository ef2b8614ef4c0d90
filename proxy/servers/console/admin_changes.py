"""What administrators change in the console, each a row of one table: the form, and the operation of the API.

A form is a page of its own: it says what happens, takes the fields, and where something is taken away it wants
the name typed. Then it calls the function that the API's route calls, which notes it in the ledger's log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.ledger.data_access import check_members
from proxy.servers.console.admin_frame import Visit
from proxy.servers.http import admin_routes as api
from proxy.servers.http.admin_access import AdminDoor
from proxy.servers.http.admin_models import NewTokenRequest, NewUserRequest, PasswordRequest
from proxy.servers.http.http_problem import HttpProblem
from proxy.servers.http.request_reading import JsonNumber

Form = Mapping[str, str]
Run = Callable[[AdminDoor, Visit, Form], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """why: what stands below it; choices: the list that is proposed; is_fixed: it comes with the link."""

    name: str
    label: str
    why: str = ""
    kind: str = "text"
    choices: str = ""
    is_fixed: bool = False
    usual: str = ""
    is_required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminChange:
    """text: what happens; typed: the field that has to be typed again, "" where nothing is taken away;
    done: what is said afterwards, with the fields; restricts: it restricts a database that is open,
    and then the database has to be typed."""

    title: str
    text: str
    button: str
    fields: Sequence[FormField]
    done: str
    run: Run
    typed: str = ""
    restricts: bool = False


def _number(form: Form, name: str) -> JsonNumber:
    text = form[name].strip()
    if not text.replace(".", "", 1).isdecimal() or not text.isascii() or len(text) > 30:
        raise HttpProblem(400, f"{name} is a number such as 30 or 0.5")
    return JsonNumber(text)


def _row(form: Form) -> int:
    """The number of a token or session. It comes with a link of ours."""
    text = form.get("number", "")
    if not (text.isascii() and text.isdecimal() and len(text) <= 100):
        raise HttpProblem(400, "the number is none")
    return int(text)


def _given(form: Form, *names: str) -> dict[str, Any]:
    """Fields that are filled in."""
    return {name: form[name] for name in names if form.get(name, "")}


async def _add_user(door: AdminDoor, visit: Visit, form: Form) -> Any:
    new = NewUserRequest.validated({"name": form["name"], **_given(form, "password")})
    return await api.add_user(visit.administrator, new)


async def _remove_user(door: AdminDoor, visit: Visit, form: Form) -> Any:
    return await api.remove_user(visit.administrator, form["name"])


async def _set_password(door: AdminDoor, visit: Visit, form: Form) -> Any:
    new = PasswordRequest.validated({"password": form["password"]})
    return await api.set_password(visit.administrator, form["name"], new)


async def _add_to_group(door: AdminDoor, visit: Visit, form: Form) -> Any:
    return await api.add_to_group(visit.administrator, form["group"], form["name"])


async def _remove_from_group(door: AdminDoor, visit: Visit, form: Form) -> Any:
    return await api.remove_from_group(visit.administrator, form["group"], form["name"])


async def _restrict(door: AdminDoor, visit: Visit, form: Form) -> Any:
    return await api.restrict_database(visit.administrator, form["database"])


async def _open(door: AdminDoor, visit: Visit, form: Form) -> Any:
    return await api.open_database(visit.administrator, form["database"])


async def _allow_user(door: AdminDoor, visit: Visit, form: Form) -> Any:
    return await api.allow_user(visit.administrator, form["database"], form["name"])


async def _withdraw_user(door: AdminDoor, visit: Visit, form: Form) -> Any:
    return await api.withdraw_user(visit.administrator, form["database"], form["name"])


async def _allow_group(door: AdminDoor, visit: Visit, form: Form) -> Any:
    group = form["group"]
    await visit.administrator.read(lambda ledger_dsn: check_members(ledger_dsn, group))
    return await api.allow_group(visit.administrator, form["database"], group)


async def _withdraw_group(door: AdminDoor, visit: Visit, form: Form) -> Any:
    return await api.withdraw_group(visit.administrator, form["database"], form["group"])


async def _create_token(door: AdminDoor, visit: Visit, form: Form) -> Any:
    body = {
        "name": form["name"],
        "days": _number(form, "days"),
        **_given(form, "database", "per", "note"),
    }
    if form.get("epsilon", ""):
        body["epsilon"] = _number(form, "epsilon")
    return await api.create_token(visit.administrator, NewTokenRequest.validated(body))


async def _revoke_token(door: AdminDoor, visit: Visit, form: Form) -> Any:
    return await api.revoke_token(visit.administrator, _row(form))


async def _end_session(door: AdminDoor, visit: Visit, form: Form) -> Any:
    return await api.end_session(door, visit.administrator, _row(form))


async def _confirm_adjustment(door: AdminDoor, visit: Visit, form: Form) -> Any:
    return await api.confirm_adjustment(visit.administrator, _row(form))


_NAME = FormField(name="name", label="Analyst", is_fixed=True)
_ANY_NAME = FormField(name="name", label="Analyst", choices="analysts")
_DATABASE = FormField(name="database", label="Database", is_fixed=True)
_GROUP = FormField(name="group", label="Group", is_fixed=True)
_NUMBER = FormField(name="number", label="Number", is_fixed=True)
_PASSWORD = FormField(
    name="password", label="Password", kind="password", why="8 characters or more."
)

CHANGES: Mapping[str, AdminChange] = {
    "add-user": AdminChange(
        title="Add an analyst",
        text="The analyst may query every database that is open to everybody, with the budget that the policy"
        " gives each analyst. Who was removed and comes back under the same name keeps what was spent.",
        button="Add the analyst",
        fields=(
            FormField(name="name", label="Name", why="A PostgreSQL role gets this name."),
            FormField(
                name="password",
                label="Password",
                kind="password",
                why="8 characters or more. Empty: tokens and certificates alone let the analyst in.",
                is_required=False,
            ),
        ),
        done="{name} is added, and can log in within a second.",
        run=_add_user,
    ),
    "set-password": AdminChange(
        title="Set a password",
        text="The password of before stops working. Sessions of the console end; PostgreSQL sessions that are"
        " open go on.",
        button="Set the password",
        fields=(_NAME, _PASSWORD),
        done="The password of {name} is set.",
        run=_set_password,
    ),
    "remove-user": AdminChange(
        title="Remove an analyst",
        text="Sessions end within seconds, and tokens stop working. What was spent stays in the ledger, under"
        " this name.",
        button="Remove the analyst",
        fields=(_NAME,),
        done="{name} is removed.",
        run=_remove_user,
        typed="name",
    ),
    "add-to-group": AdminChange(
        title="Add an analyst to a group",
        text="A group is there as soon as somebody is in it. It can be let into databases here, and have a"
        " budget of its own in the policy (budgets.groups).",
        button="Add to the group",
        fields=(_ANY_NAME, FormField(name="group", label="Group", choices="groups")),
        done="{name} is in the group {group}.",
        run=_add_to_group,
    ),
    "remove-from-group": AdminChange(
        title="Take an analyst from a group",
        text="What the group alone may query, the analyst may not query any more.",
        button="Take from the group",
        fields=(_NAME, _GROUP),
        done="{name} is not in the group {group} any more.",
        run=_remove_from_group,
        typed="name",
    ),
    "restrict": AdminChange(
        title="Restrict a database",
        text="Nobody may query it until you let somebody in. Sessions of it end within seconds.",
        button="Restrict it",
        fields=(_DATABASE,),
        done="{database} is restricted. Let analysts or groups in below.",
        run=_restrict,
        typed="database",
    ),
    "open": AdminChange(
        title="Open a database to everybody",
        text="Every analyst may query it, within their budgets. The list of who could is forgotten.",
        button="Open it",
        fields=(_DATABASE,),
        done="Every analyst may query {database}.",
        run=_open,
        typed="database",
    ),
    "allow-user": AdminChange(
        title="Let an analyst query a database",
        text="The analyst may query it within a second.",
        button="Let in",
        fields=(_DATABASE, _ANY_NAME),
        done="{name} may query {database}.",
        run=_allow_user,
        restricts=True,
    ),
    "allow-group": AdminChange(
        title="Let a group query a database",
        text="All in the group may query it within a second.",
        button="Let in",
        fields=(_DATABASE, FormField(name="group", label="Group", choices="groups")),
        done="The group {group} may query {database}.",
        run=_allow_group,
        restricts=True,
    ),
    "withdraw-user": AdminChange(
        title="Take an analyst's access away",
        text="The analyst's sessions of this database end within seconds.",
        button="Take it away",
        fields=(_DATABASE, _NAME),
        done="{name} may not query {database} any more.",
        run=_withdraw_user,
        typed="name",
    ),
    "withdraw-group": AdminChange(
        title="Take a group's access away",
        text="Sessions of those who may query this database by the group alone end within seconds.",
        button="Take it away",
        fields=(_DATABASE, _GROUP),
        done="The group {group} may not query {database} any more.",
        run=_withdraw_group,
        typed="group",
    ),
    "create-token": AdminChange(
        title="Create a token",
        text="A program logs in with it over HTTP, in the place of a password. What it asks is charged to the"
        " analyst. The token is shown once, on the next page.",
        button="Create the token",
        fields=(
            _ANY_NAME,
            FormField(
                name="days",
                label="Days until it expires",
                kind="decimal",
                why="366 at most.",
                usual="90",
            ),
            FormField(
                name="database",
                label="For one database alone",
                choices="databases",
                is_required=False,
                why="Empty: all that the analyst may query.",
            ),
            FormField(
                name="epsilon",
                label="Limit of epsilon",
                kind="decimal",
                is_required=False,
                why="What all its statements may cost together. Empty: the analyst's budget alone.",
            ),
            FormField(
                name="per",
                label="Renews per",
                is_required=False,
                why="hour or day. Empty: the limit does not renew.",
            ),
            FormField(name="note", label="Note", is_required=False, why="What it is for."),
        ),
        done="The token is created.",
        run=_create_token,
    ),
    "revoke-token": AdminChange(
        title="Revoke a token",
        text="Nothing is charged through it any more. A statement that runs through it ends within seconds.",
        button="Revoke the token",
        fields=(_NUMBER,),
        done="Token {number} is revoked.",
        run=_revoke_token,
        typed="number",
    ),
    "end-session": AdminChange(
        title="End a session",
        text="The client's connection is closed. What its statement was charged stays charged. The analyst can"
        " log in again.",
        button="End the session",
        fields=(_NUMBER,),
        done="Session {number} is ended.",
        run=_end_session,
        typed="number",
    ),
    "confirm-adjustment": AdminChange(
        title="Confirm that budget is given back",
        text="What is spent of the budget becomes less, although its answers stay shown: the policy's promise"
        " does not cover them any more. Who asks and why stands under Budgets. That you confirm it is noted.",
        button="Give it back",
        fields=(_NUMBER,),
        done="Request {number} is confirmed: the budget is given back.",
        run=_confirm_adjustment,
        typed="number",
    ),
}
