"""Who is signed in to the administrators' console: a cookie that is signed with the administrator's own secret.

No process keeps anything, so that each one knows each session. A session ends after half an hour without use,
after ten hours, when its administrator signs out (the ledger's log has it), and with the secret.

    NAME.BEGAN.USED.NUMBER.SIGNATURE     name in base64, times in seconds, number of 128 random bits

The signature is HMAC-SHA-256 by a key that is made of the secret, which has 32 characters or more.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

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
