"""The administrators' pages of people: who is there, who may query what, and the forms that change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from fastapi import Response

from proxy.ledger.users import check_members
from proxy.servers.console.admin_frame import AdminFrame, Visit, told
from proxy.servers.console.charts import ShownLine, amount_text, shown_line
from proxy.servers.console.page_responses import to
from proxy.servers.http import admin_routes as api
from proxy.servers.http.admin_access import AdminDoor
from proxy.servers.http.admin_models import (
    DatabaseAccess,
    ListedUser,
    NewTokenRequest,
    NewUserRequest,
    PasswordRequest,
    TokenEntry,
)
from proxy.servers.http.analyst_models import CreatedToken
from proxy.servers.http.http_problem import HttpProblem
from proxy.servers.http.request_reading import JsonNumber

# What administrators change in the console, each a row of one table: the form, and the operation of the API.
#
# A form is a page of its own: it says what happens, takes the fields, and where something is taken away it
# wants the name typed. Then it calls the function that the API's route calls, which notes it in the ledger's
# log.

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


_SHOWN = 200  # analysts on a page
_NAMED = 10  # analysts in a sentence
_TOLD = {"name", "group", "database", "number"}  # fields that the message afterwards has


class AdminPeople:
    def __init__(self, frame: AdminFrame) -> None:
        self._frame, self._door = frame, frame.door

    async def people(self, visit: Visit) -> Response:
        by = visit.administrator
        users = (await api.list_users(by)).users
        access = (await api.list_access(by)).databases
        tokens = (await api.list_tokens(by)).tokens
        budgets = await self._budgets(visit)
        sessions = await api.list_sessions(self._door, by)
        wanted = visit.asked("q").strip()
        found = [one for one in users if wanted.lower() in one.name.lower()]
        valid = Counter(one.analyst for one in tokens if one.state == "valid")
        shown = [
            {
                "name": one.name,
                "groups": one.groups,
                "databases": [each.source for each in access if _may(each, one.name, one.groups)],
                "tokens": valid[one.name],
                "left": "; ".join(
                    f"{source}: {_left(budgets[source, one.name])}"
                    for source in (each.source for each in access)
                    if (source, one.name) in budgets
                ),
            }
            for one in found[:_SHOWN]
        ]
        return await self._frame.html(
            visit,
            "admin_people",
            page="People",
            title="People and groups",
            done=_done(visit, access, users),
            people=shown,
            hidden=len(users) - len(shown),
            q=wanted,
            access=access,
            groups=(await api.list_groups(by)).groups,
            tokens=[_token(one) for one in tokens],
            sessions=[
                {
                    "number": one.number,
                    "analyst": one.analyst,
                    "database": one.database,
                    "address": one.address,
                    "at": _minute(one.since),
                }
                for one in sessions.sessions
            ],
            stuck=sessions.stuck,
        )

    async def person(self, visit: Visit) -> Response:
        by, name = visit.administrator, visit.asked("name", 1000)
        users = {one.name: one for one in (await api.list_users(by)).users}
        if name not in users:
            raise HttpProblem(HTTPStatus.NOT_FOUND, "there is no such analyst")
        access = (await api.list_access(by)).databases
        budgets = await self._budgets(visit)
        tokens = (await api.list_tokens(by)).tokens
        return await self._frame.html(
            visit,
            "admin_person",
            page="People",
            title=name,
            name=name,
            groups=users[name].groups,
            lines=[
                (one.source, _may(one, name, users[name].groups), budgets[one.source, budget])
                for one in access
                for budget in (name, *(f"(group {group})" for group in users[name].groups))
                if (one.source, budget) in budgets
            ],
            tokens=[_token(one) for one in tokens if one.analyst == name],
            addresses=self._door.addresses,
            databases_of=[one.source for one in access if _may(one, name, users[name].groups)],
        )

    async def form(self, visit: Visit) -> Response:
        action, change = _of(visit)
        values = {one.name: visit.asked(one.name, 1000) or one.usual for one in change.fields}
        return await self._form(visit, action, change, values)

    async def change(self, visit: Visit) -> Response:
        action, change = _of(visit)
        form = await visit.form()
        values = {one.name: form.get(one.name, "") for one in change.fields}
        closes = await self._closes(visit, change, values)
        try:
            _check(change, form, "database" if closes else change.typed)
            made = await change.run(self._door, visit, values)
        except Exception as error:
            problem = told(error)
            values.pop("password", None)
            return await self._form(visit, action, change, values, problem)
        if isinstance(made, CreatedToken):
            return await self._frame.html(
                visit,
                "admin_token",
                page="People",
                title="Token",
                made=made,
                expires=_minute(made.expires_at),
            )
        kept = {name: one for name, one in values.items() if name in _TOLD and one}
        place = {"done": action, **kept, **({"closed": "1"} if closes else {})}
        return to(f"/people?{urlencode(place)}")

    async def _closes(self, visit: Visit, change: AdminChange, values: Mapping[str, str]) -> bool:
        """Whether it takes the database from everybody else."""
        if not change.restricts:
            return False
        access = (await api.list_access(visit.administrator)).databases
        return any(one.source == values.get("database") and not one.is_restricted for one in access)

    async def _form(
        self,
        visit: Visit,
        action: str,
        change: AdminChange,
        values: Mapping[str, str],
        problem: HttpProblem | None = None,
    ) -> Response:
        by = visit.administrator
        names = [one.name for one in (await api.list_users(by)).users]
        closes = await self._closes(visit, change, values)
        choices = {
            "analysts": names[:1000],
            "groups": list((await api.list_groups(by)).groups),
            "databases": [one.source for one in (await api.list_access(by)).databases],
        }
        return await self._frame.html(
            visit,
            "admin_change",
            status=HTTPStatus.OK if problem is None else problem.status,
            page="People",
            title=change.title,
            action=action,
            change=change,
            values=values,
            choices=choices,
            problem=problem,
            typed="database" if closes else change.typed,
            button=f"Restrict {values['database']}, and let in" if closes else change.button,
            losing=_names(names) if closes else "",
        )

    async def _budgets(self, visit: Visit) -> Mapping[tuple[str, str], ShownLine]:
        """By source and name of the budget: an analyst's is called as the analyst."""
        today = datetime.now(timezone.utc).date()
        found = (await api.budgets_of(visit.administrator, uncharged=True)).budgets
        return {(one.source, one.budget): shown_line(one, {}, today) for one in found}


def _of(visit: Visit) -> tuple[str, AdminChange]:
    action = str(visit.request.path_params["action"])
    if action not in CHANGES:
        raise HttpProblem(HTTPStatus.NOT_FOUND, "there is no such page")
    return action, CHANGES[action]


def _done(visit: Visit, access: Sequence[DatabaseAccess], users: Sequence[ListedUser]) -> str:
    """What is said of the change before, and of who lost access by it."""
    change = CHANGES.get(visit.asked("done"))
    if change is None:
        return ""
    values = {one.name: visit.asked(one.name, 1000) for one in change.fields}
    said = change.done.format_map({name: one or f"the {name}" for name, one in values.items()})
    here = [one for one in access if one.source == values.get("database") and one.is_restricted]
    if not (visit.asked("closed") and here):
        return said
    lost = [one.name for one in users if not _may(here[0], one.name, one.groups)]
    return f"{said} It was open to everybody before. Access lost: {_names(lost) or 'nobody'}."


def _names(names: Sequence[str]) -> str:
    """
    >>> _names(["ann", "bob"]), _names([str(one) for one in range(12)])
    ('ann, bob', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more')
    """
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _check(change: AdminChange, form: Mapping[str, str], typed: str) -> None:
    missing = [one.label for one in change.fields if one.is_required and not form.get(one.name)]
    if missing:
        raise HttpProblem(HTTPStatus.BAD_REQUEST, f"{missing[0]} is empty")
    if typed and form.get("typed", "").strip() != form[typed].strip():
        what = f"type {form[typed]} into the last field to confirm"
        raise HttpProblem(HTTPStatus.BAD_REQUEST, what)


def _may(one: DatabaseAccess, name: str, groups: list[str]) -> bool:
    return not one.is_restricted or name in one.analysts or bool(set(groups) & set(one.groups))


def _left(line: ShownLine) -> str:
    return "no limit" if line.left == "–" else f"{line.unit} {line.left} of {line.limit}"


def _token(one: TokenEntry) -> Mapping[str, Any]:
    return {
        "number": one.number,
        "analyst": one.analyst,
        "source": one.source or "all databases",
        "note": one.note,
        "expires": _minute(one.expires_at),
        "spent": amount_text(one.spent),
        "limit": "–" if one.epsilon is None else _limit(one.epsilon, one.per),
        "state": one.state,
    }


def _limit(epsilon: Decimal, per: str | None) -> str:
    return f"{amount_text(epsilon)}{'' if per is None else f' per {per}'}"


def _minute(at: datetime) -> str:
    return f"{at.astimezone(timezone.utc):%Y-%m-%d %H:%M}"
