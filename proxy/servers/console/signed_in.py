"""Who is signed in to the console: a cookie of 256 random bits, of which a digest is kept in memory.

A session ends after half an hour without use, after ten hours, when its analyst signs out, and as soon as the
ledger has another person or another password under the name. Nobody's password is kept.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

_IDLE_SECONDS = 30 * 60
_MOST_SECONDS = 10 * 3600
_EACH = 10  # sessions of one analyst
_ALL = 10_000
_FORMS = 64  # that have been sent, of one session

# What has to stay as it is: the number of a person, and a digest of the password's verifier.
Identity = tuple[int, bytes]


@dataclass(slots=True, kw_only=True)
class SignedIn:
    """One session. token: what its forms carry, which another site cannot know; began, used: in seconds."""

    analyst: str
    identity: Identity
    token: str
    began: float
    used: float
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
    """All sessions of this process.

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
            del self._sessions[digest]
        while len(self._sessions) >= _ALL:
            self._sessions.popitem(last=False)
        cookie, now = os.urandom(32).hex(), self._clock()
        session = SignedIn(
            analyst=analyst,
            identity=identity,
            token=os.urandom(24).hex(),
            began=now,
            used=now,
        )
        self._sessions[_digest(cookie)] = session
        return cookie, session

    def of(self, cookie: str) -> SignedIn | None:
        """Find the session of a cookie; None if it has ended or there is none."""
        digest = _digest(cookie)
        session, now = self._sessions.get(digest), self._clock()
        if session is None:
            return None
        is_old = now - session.used > _IDLE_SECONDS or now - session.began > _MOST_SECONDS
        if is_old or self._identity(session.analyst) != session.identity:
            del self._sessions[digest]
            return None
        session.used = now
        return session

    def end(self, cookie: str) -> None:
        self._sessions.pop(_digest(cookie), None)


def new_form() -> str:
    """A name for a form, which is sent once."""
    return os.urandom(12).hex()


def _digest(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).digest()
