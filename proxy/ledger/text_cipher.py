"""Texts of statements as receipts keep them: encrypted, each bound to its analyst and fingerprint.

AES-256-GCM of the library `cryptography`, with a random nonce for each (NIST SP 800-38D, section 8.2.2: a key
is good for 2^32 of them). What a text is bound to is authenticated beside it, so that a receipt that is changed
to be another analyst's shows nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
TEXT_CHARACTERS = 4000  # of a statement; the rest is left out
_VERSION = b"\x01"
_ID_BYTES, _NONCE_BYTES = 8, 12
_HEAD = len(_VERSION) + _ID_BYTES


class TextCipher:
    """keys: any number, with the newest, which encrypts, last."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        assert keys and all(len(key) == KEY_BYTES for key in keys), "a key has 32 bytes"
        self._keys = {_short(key): AESGCM(key) for key in keys}
        self._newest = _short(keys[-1])

    def __repr__(self) -> str:
        return "TextCipher()"

    def encrypted(self, text: str, bound: tuple[str, ...]) -> bytes:
        if len(text) > TEXT_CHARACTERS:
            text = f"{text[:TEXT_CHARACTERS]} ..."
        nonce = os.urandom(_NONCE_BYTES)
        plain = text.encode("utf-8", "surrogatepass")
        sealed = self._keys[self._newest].encrypt(nonce, plain, _bytes(bound))
        return _VERSION + self._newest + nonce + sealed

    def decrypted(self, stored: bytes, bound: tuple[str, ...]) -> str | None:
        """None: its key is not here, or it is not what was stored of this."""
        key = self._keys.get(stored[len(_VERSION) : _HEAD])
        if key is None or stored[: len(_VERSION)] != _VERSION:
            return None
        nonce, sealed = stored[_HEAD : _HEAD + _NONCE_BYTES], stored[_HEAD + _NONCE_BYTES :]
        try:
            return key.decrypt(nonce, sealed, _bytes(bound)).decode("utf-8", "replace")
        except (InvalidTag, ValueError):
            return None


def key_name(key: bytes) -> str:
    """What a key is called in the ledger and in messages; it says nothing about the key."""
    return _short(key).hex()


def _short(key: bytes) -> bytes:
    return hashlib.sha256(b"dpproxy text key " + key).digest()[:_ID_BYTES]


def _bytes(bound: tuple[str, ...]) -> bytes:
    return b"\0".join(part.encode("utf-8", "surrogatepass") for part in bound)
