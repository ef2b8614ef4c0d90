"""What names a statement in the ledger: a digest under a key that is beside it."""

from __future__ import annotations

import hmac
from functools import lru_cache

_REMEMBERED = 64
_REMEMBERED_CHARACTERS = 8_192


def fingerprint(text: str, key: bytes) -> str:
    """Name a statement, in hexadecimal. Without the key nobody can test a guess of its literals."""
    return _remembered(text, key) if len(text) <= _REMEMBERED_CHARACTERS else _digest(text, key)


def _digest(text: str, key: bytes) -> str:
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()[:32]


_remembered = lru_cache(maxsize=_REMEMBERED)(_digest)
