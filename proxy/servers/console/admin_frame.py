"""What each page of the administrators' console has: who looks at it, its frame, and its errors as pages."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from http import HTTPStatus
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from proxy.ledger.admin_log import append_event, append_event_once, has_event
from proxy.servers.console.page_responses import (
    HEADERS,
    SessionCookie,
    html,
    problem_page,
    read_form,
    to,
)
from proxy.servers.console.templates import rendered
from proxy.servers.http.admin_access import AdminDoor, Administrator
from proxy.servers.http.admin_routes import REFUSALS
from proxy.servers.http.guard import mark_under_way
from proxy.servers.http.http_problem import HttpProblem, problem_of
from proxy.turns.fair_share import Busy

# Who is signed in to the administrators' console: a cookie that is signed with the administrator's own secret.
#
# No process keeps anything, so that each one knows each session. A session ends after half an hour without use,
# after ten hours, when its administrator signs out (the ledger's log has it), and with the secret.
#
#     NAME.BEGAN.USED.NUMBER.SIGNATURE     name in base64, times in seconds, number of 128 random bits
#
# The signature is HMAC-SHA-256 by a key that is made of the secret, which has 32 characters or more.

IDLE_SECONDS = 30 * 60
MOST_SECONDS = 10 * 3600
_RENEWED_SECONDS = 60  # a cookie says this exactly when it was used
_LONGEST = 1024
_FORM = re.compile(
    r"([A-Za-z0-9_-]{1,512})\.([0-9]{1,12})\.([0-9]{1,12})\.([0-9a-f]{32})\.([0-9a-f]{64})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInAdmin:
    """One session. number: what the ledger's log names it by; began, used: in seconds."""

    name: str
    began: int
    used: int
    number: str
    key: bytes = field(repr=False)

    @property
    def cookie(self) -> str:
        return f"{self._text}.{_signed(self.key, 'session', self._text)}"

    @property
    def token(self) -> str:
        """What its forms carry, which another site cannot know."""
        return _signed(self.key, "form", self.number)

    def has_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    @property
    def _text(self) -> str:
        return f"{_encoded(self.name)}.{self.began}.{self.used}.{self.number}"


class SignedInAdmins:
    """
    Args:
        key_of: As of Administrators.
        clock: In seconds, the same in each process.
    """

    def __init__(
        self, key_of: Callable[[str], bytes | None], clock: Callable[[], float] = time.time
    ) -> None:
        self._key_of, self._clock = key_of, clock

    def begin(self, name: str) -> SignedInAdmin | None:
        """None: the secret was taken out of the file since it was recognised."""
        key, now = self._key_of(name), int(self._clock())
        if key is None:
            return None
        return SignedInAdmin(name=name, began=now, used=now, number=os.urandom(16).hex(), key=key)

    def of(self, cookie: str) -> SignedInAdmin | None:
        """Read a cookie. None: it is of no session, or of one that has ended by time or with its secret.

        Whether the administrator has signed out is in the ledger.
        """
        found = _FORM.fullmatch(cookie) if len(cookie) <= _LONGEST else None
        name = None if found is None else _decoded(found[1])
        if found is None or name is None:
            return None
        key, now = self._key_of(name), int(self._clock())
        if key is None:
            return None
        session = SignedInAdmin(
            name=name, began=int(found[2]), used=int(found[3]), number=found[4], key=key
        )
        if not hmac.compare_digest(session.cookie.encode(), cookie.encode()):
            return None
        is_old = now - session.used > IDLE_SECONDS or now - session.began > MOST_SECONDS
        return None if is_old else session

    def renewed(self, session: SignedInAdmin) -> SignedInAdmin | None:
        """The session as it is used now. None: its cookie says so well enough."""
        now = int(self._clock())
        return replace(session, used=now) if now - session.used >= _RENEWED_SECONDS else None


def _signed(key: bytes, use: str, text: str) -> str:
    return hmac.digest(key, f"{use} {text}".encode(), "sha256").hex()


def _encoded(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).rstrip(b"=").decode()


def _decoded(text: str) -> str | None:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (ValueError, binascii.Error):
        return None


SIGNED_OUT = "console sign-out"
_SIGNED_IN = "console sign-in"
_REFUSED = "console sign-in refused"
_NOBODY = "(unknown secret)"
_COOKIE = SessionCookie("dp-admin")
_WRONG = "This secret lets nobody in."
_BUSY = "Too many attempts from your network. Try again in a few seconds."
_OWN_PAGE = re.compile(r"/(?!/)[A-Za-z0-9/_.~%?=&:+-]{0,2000}")
_SKEW_SECONDS = 3600  # of the ledger's clock from ours


class _NotSignedIn(Exception):
    """Nobody is signed in, or the session has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request of somebody who is signed in."""

    request: Request
    session: SignedInAdmin
    administrator: Administrator

    def asked(self, name: str, most: int = 200) -> str:
        """A parameter of the address; "" if it is not there."""
        return self.request.query_params.get(name, "")[:most]

    async def form(self) -> Mapping[str, str]:
        """Read the form that was sent. Refuses  HttpProblem 403 of one that is not of this session"""
        form = await read_form(self.request)
        if not self.session.has_token(form.get("token", "")):
            raise HttpProblem(
                HTTPStatus.FORBIDDEN, "the form is not of this session", hint="Reload the page."
            )
        return form


Page = Callable[[Visit], Awaitable[Response]]


class AdminFrame:
    """
    Args:
        door: Of the administrators' listener.
    """

    def __init__(self, door: AdminDoor) -> None:
        self.door = door
        self._admins = SignedInAdmins(door.credentials.key_of)

    def page(self, page: Page) -> Callable[[Request], Awaitable[Response]]:
        """Send who is not signed in to do so first, and show any other problem as a page."""

        async def answered(request: Request) -> Response:
            visit = None
            try:
                visit = await self._visit(request)
                response = await page(visit)
            except _NotSignedIn:
                return to(f"/sign-in{_way_back(request)}")
            except Exception as error:
                problem = problem_of(_told(error))
                if problem is None:
                    raise
                if visit is None:
                    return problem_page(problem)
                response = await self.html(
                    visit,
                    "admin_problem",
                    page="",
                    title=problem.message,
                    status=problem.status,
                    problem=problem,
                )
                response.headers.update(problem.headers)
                return response
            renewed = self._admins.renewed(visit.session)
            if renewed is not None and "set-cookie" not in response.headers:
                _COOKIE.set(request, response, renewed.cookie)
            return response

        return answered

    async def sign_in_page(self, request: Request) -> Response:
        return html("admin_sign_in", wrong="", to=request.query_params.get("to", "")[:2000])

    async def sign_in(self, request: Request) -> Response:
        """Late, if the secret is wrong: as the API."""
        try:
            form = await read_form(request, is_stranger=True)
        except HttpProblem as problem:
            return problem_page(problem)
        there = form.get("to", "")
        try:
            name = await self.door.signed_in(request, form.get("secret", "").strip())
        except HttpProblem as problem:
            # One line in half a minute for each network: strangers fill no log.
            stranger = self.door.administrator(request, _NOBODY, "console")
            await stranger.change(append_event_once, what=_REFUSED, detail={})
            return html("admin_sign_in", status=problem.status, wrong=_WRONG, to=there)
        except Busy:
            status = HTTPStatus.SERVICE_UNAVAILABLE
            return html("admin_sign_in", status=status, wrong=_BUSY, to=there)
        session = self._admins.begin(name)
        if session is None:
            status = HTTPStatus.UNAUTHORIZED
            return html("admin_sign_in", status=status, wrong=_WRONG, to=there)
        mark_under_way(request)
        administrator = self.door.administrator(request, name, "console")
        await administrator.change(
            append_event, what=_SIGNED_IN, detail={"session": session.number}
        )
        response = to(there if _OWN_PAGE.fullmatch(there) else "/")
        _COOKIE.set(request, response, session.cookie)
        return response

    async def sign_out(self, visit: Visit) -> Response:
        await visit.form()
        detail = {"session": visit.session.number}
        await visit.administrator.change(append_event, what=SIGNED_OUT, detail=detail)
        response = to("/sign-in")
        _COOKIE.delete(visit.request, response)
        return response

    async def html(
        self,
        visit: Visit,
        template: str,
        *,
        page: str,
        title: str,
        status: int = HTTPStatus.OK,
        **values: Any,
    ) -> Response:
        """page: which of the tabs it is."""
        names = self.databases
        shown = {
            "page": page,
            "title": title,
            "status": status,
            "administrator": visit.session.name,
            "token": visit.session.token,
            "version": version("dpproxy"),
            "home": names[0] if names else "",
            "database": "",
            "databases": names,
            **values,
        }
        body = await asyncio.to_thread(lambda: rendered(template, **shown))
        return HTMLResponse(body, status, HEADERS)

    @property
    def databases(self) -> list[str]:
        """Those that this process serves and whose policies it watches."""
        return [] if self.door.policies is None else sorted(self.door.policies.names)

    async def _visit(self, request: Request) -> Visit:
        session = self._admins.of(_COOKIE.of(request))
        if session is None:
            raise _NotSignedIn
        administrator = self.door.administrator(request, session.name, "console")
        since = datetime.fromtimestamp(
            min(session.began, session.used) - _SKEW_SECONDS - MOST_SECONDS, timezone.utc
        )
        detail = {"session": session.number}
        if await administrator.read(lambda dsn: has_event(dsn, SIGNED_OUT, detail, since)):
            raise _NotSignedIn
        mark_under_way(request)
        return Visit(request=request, session=session, administrator=administrator)


def _told(error: Exception) -> Exception:
    """What the ledger refuses, as the API tells it."""
    if isinstance(error, REFUSALS):
        return HttpProblem(HTTPStatus.CONFLICT, str(error))
    return error


def told(error: Exception) -> HttpProblem:
    """The problem that a form tells of. Raises the error again where nobody has thought of its kind."""
    problem = problem_of(_told(error))
    if problem is None:
        raise error
    return problem


def _way_back(request: Request) -> str:
    """The page that was asked for, to be shown after signing in."""
    there = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    if request.method != "GET" or there == "/" or not _OWN_PAGE.fullmatch(there):
        return ""
    return f"?to={quote(there, safe='')}"
