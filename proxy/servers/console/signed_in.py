"""Who is signed in to the console: a cookie of 256 random bits, of which a digest is kept in memory.

A session ends after half an hour without use, after ten hours, when its analyst signs out, and as soon as the
ledger has another person or another password under the name. Nobody's password is kept.

Several workers know the same sessions: each tells the others what becomes of one (`share`), by the digest.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_IDLE_SECONDS = 30 * 60
_MOST_SECONDS = 10 * 3600
_EACH = 10  # sessions of one analyst
_ALL = 10_000
_FORMS = 64  # that have been sent, of one session
_READ_SECONDS = 3.0  # until every worker has read of a new password
_TOLD_SECONDS = 60.0  # between two times that others are told of a session's use

# What has to stay as it is: the number of a person, and a digest of the password's verifier.
Identity = tuple[int, bytes]
# By the digest of a cookie, what others have to know of its session. None: it has ended.
Share = Callable[[str, Mapping[str, Any] | None], None]
# Whether a form, of the session with this digest, is new to every worker. It is noted.
IsNew = Callable[[str, str], Awaitable[bool]]


async def _is_new(digest: str, form: str) -> bool:
    return True


@dataclass(slots=True, kw_only=True)
class SignedIn:
    """One session. token: what its forms carry, which another site cannot know; began, used: in seconds."""

    analyst: str
    identity: Identity
    token: str
    began: float
    used: float
    told: float = 0.0  # when others were told of it last
    digest: bytes = b""
    is_of_another: bool = False  # worker
    sent: deque[str] = field(default_factory=lambda: deque(maxlen=_FORMS))

    def __repr__(self) -> str:
        return f"SignedIn({self.analyst!r})"

    def has_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def is_sent_again(self, form: str) -> bool:
        """Say whether this form was sent before, and note it."""
        if form in self.sent:
            return True
        self.sent.append(form)
        return False


class SignedInAnalysts:
    """All sessions of this process, and of the other workers.

    Args:
        identity: Of the analyst whom the ledger has under a name now. None: it has nobody.
        clock: In seconds.
    """

    def __init__(
        self,
        identity: Callable[[str], Identity | None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._identity, self._clock = identity, clock
        self._sessions: OrderedDict[bytes, SignedIn] = OrderedDict()
        self.share: Share = lambda digest, told: None
        self.is_new: IsNew = _is_new

    def begin(self, analyst: str) -> tuple[str, SignedIn] | None:
        """Begin a session, and give its cookie. The oldest ones of an analyst end where these are too many.

        Returns:
            None if the ledger does not have the analyst. Then nobody could say when the session ends.
        """
        identity = self._identity(analyst)
        if identity is None:
            return None
        own = [digest for digest, one in self._sessions.items() if one.analyst == analyst]
        for digest in own[: max(0, len(own) - _EACH + 1)]:
            self._end(digest)
        while len(self._sessions) >= _ALL:
            self._end(next(iter(self._sessions)))
        cookie, now = os.urandom(32).hex(), self._clock()
        session = SignedIn(
            analyst=analyst,
            identity=identity,
            token=os.urandom(24).hex(),
            began=now,
            used=now,
            digest=_digest(cookie),
        )
        self._sessions[session.digest] = session
        self._tell(session)
        return cookie, session

    def of(self, cookie: str) -> SignedIn | None:
        """Find the session of a cookie; None if it has ended or there is none."""
        digest = _digest(cookie)
        session, now = self._sessions.get(digest), self._clock()
        if session is None:
            return None
        is_old = now - session.used > _IDLE_SECONDS or now - session.began > _MOST_SECONDS
        if is_old:
            self._end(digest)
            return None
        if self._identity(session.analyst) != session.identity:
            # Another worker may have read of a new password before this one.
            if not session.is_of_another or now - session.began > _READ_SECONDS:
                self._end(digest)
            return None
        session.used = now
        if now - session.told > _TOLD_SECONDS:
            self._tell(session)
        return session

    def end(self, cookie: str) -> None:
        self._end(_digest(cookie))

    async def is_sent_again(self, session: SignedIn, form: str) -> bool:
        """Say whether this form was sent before, to whichever worker, and note it."""
        return session.is_sent_again(form) or not await self.is_new(session.digest.hex(), form)

    def take(self, digest: str, told: Mapping[str, Any] | None) -> None:
        """Note what another worker says of a session."""
        number = bytes.fromhex(digest)
        if told is None:
            self._sessions.pop(number, None)
            return
        known = self._sessions.get(number)
        if known is not None:
            known.used = max(known.used, told["used"])
            return
        person, verifier = told["identity"]
        self._sessions[number] = SignedIn(
            analyst=told["analyst"],
            identity=(person, bytes.fromhex(verifier)),
            token=told["token"],
            began=told["began"],
            used=told["used"],
            told=self._clock(),
            digest=number,
            is_of_another=True,
        )

    def _end(self, digest: bytes) -> None:
        if self._sessions.pop(digest, None) is not None:
            self.share(digest.hex(), None)

    def _tell(self, session: SignedIn) -> None:
        session.told = self._clock()
        person, verifier = session.identity
        told = {
            "analyst": session.analyst,
            "identity": [person, verifier.hex()],
            "token": session.token,
            "began": session.began,
            "used": session.used,
        }
        self.share(session.digest.hex(), told)


def new_form() -> str:
    """A name for a form, which is sent once."""
    return os.urandom(12).hex()


def _digest(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).digest()
