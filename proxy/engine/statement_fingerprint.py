"""What names a statement in the ledger."""

from __future__ import annotations

import hashlib
from functools import lru_cache

_REMEMBERED = 64
_REMEMBERED_CHARACTERS = 8_192


def fingerprint(text: str) -> str:
    """Its literals are not readable there."""
    return _remembered(text) if len(text) <= _REMEMBERED_CHARACTERS else _digest(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


_remembered = lru_cache(maxsize=_REMEMBERED)(_digest)
