"""Who may administer over HTTP: names and secrets of a file that nobody else can read."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import structlog

_log = structlog.get_logger("dpproxy.admission")

LEAST_CHARACTERS = 32
_FILE_BYTES = 64 * 1024
_KEY_USE = b"sessions of the administrators' console"


class CredentialsError(ValueError):
    """The file cannot be used; the text says why, and holds nothing of a secret."""


class AdminCredentials:
    """Of each administrator the SHA-256 of the secret: `name_of` compares in time that tells nothing."""

    def __init__(self, digests: Mapping[str, bytes]) -> None:
        self._digests = dict(digests)

    def __repr__(self) -> str:
        return f"AdminCredentials({self.names})"

    @property
    def names(self) -> list[str]:
        return sorted(self._digests)

    def name_of(self, presented: str) -> str | None:
        digest = hashlib.sha256(presented.encode()).digest()
        found = None
        for name, right in self._digests.items():  # all of them, always
            if hmac.compare_digest(digest, right):
                found = name
        return found

    def key_of(self, name: str) -> bytes | None:
        """Of the secret, so that what is signed with it ends with the secret."""
        digest = self._digests.get(name)
        return None if digest is None else hmac.digest(digest, _KEY_USE, "sha256")


class CredentialsFile:
    """The credentials of a file, read again when it has changed. A file that cannot be read lets nobody in.

    Raises:
        CredentialsError: At the start.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen = self._look()
        self._credentials = read_admin_credentials(file)

    def name_of(self, presented: str) -> str | None:
        return self._now().name_of(presented)

    def key_of(self, name: str) -> bytes | None:
        return self._now().key_of(name)

    def _now(self) -> AdminCredentials:
        seen = self._look()
        if seen != self._seen:
            self._seen = seen  # of before it is read: a change meanwhile is another one
            self._take_up()
        return self._credentials

    def _take_up(self) -> None:
        try:
            self._credentials = read_admin_credentials(self._file)
        except CredentialsError as error:
            self._credentials = AdminCredentials({})
            _log.error("administrators_not_read", reason=str(error))
        else:
            _log.info("administrators_changed", names=self._credentials.names)

    def _look(self) -> tuple[int, ...] | None:
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def read_admin_credentials(file: Path) -> AdminCredentials:
    """
    Given    a file of lines NAME SECRET, for its owner alone
    Refuses  CredentialsError
    """
    try:
        number = os.open(file, os.O_RDONLY)
        with os.fdopen(number, "rb") as opened:
            status = os.fstat(number)  # of what is read, not of what the name means a moment later
            text = opened.read(_FILE_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not in UTF-8"
        raise CredentialsError(f"{file}: {reason}") from None
    if not stat.S_ISREG(status.st_mode) or stat.S_IMODE(status.st_mode) & 0o077:
        raise CredentialsError(f"{file}: others than its owner can open it: chmod 600")
    if status.st_uid not in (0, os.getuid()):
        raise CredentialsError(f"{file}: another user owns it")
    digests: dict[str, bytes] = {}
    for place, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or not words[0].isprintable():
            raise CredentialsError(f"{file}, line {place}: a line is NAME SECRET")
        name, secret = words
        if name in digests:
            raise CredentialsError(f"{file}, line {place}: the name is there twice")
        if len(secret) < LEAST_CHARACTERS:
            raise CredentialsError(
                f"{file}, line {place}: a secret has at least {LEAST_CHARACTERS} characters:"
                " openssl rand -hex 32"
            )
        digests[name] = hashlib.sha256(secret.encode()).digest()
    if not digests:
        raise CredentialsError(f"{file}: it has no line NAME SECRET")
    return AdminCredentials(digests)
