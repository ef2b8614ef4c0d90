"""The administrators' pages of people: who is there, who may query what, and the forms that change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from decimal import Decimal
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from fastapi import Response

from proxy.servers.console.admin_changes import CHANGES, AdminChange
from proxy.servers.console.admin_frame import AdminFrame, Visit, told
from proxy.servers.console.charts import ShownLine, amount_text, shown_line
from proxy.servers.console.page_responses import to
from proxy.servers.http import admin_routes as api
from proxy.servers.http.admin_models import DatabaseAccess, ListedUser, TokenEntry
from proxy.servers.http.analyst_models import CreatedToken
from proxy.servers.http.http_problem import HttpProblem

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
