"""What the ledger keeps of statements: encrypted where it is read again, else a digest under the same key.

AES-256-GCM of the library `cryptography`, with a random nonce for each text (NIST SP 800-38D, section 8.2.2:
a key is good for 2^32 of them). What a text is bound to is authenticated beside it, so that a receipt that is
changed to be another analyst's shows nothing. Digests are HMAC-SHA-256 (RFC 2104) under keys that are derived
from the newest key: whoever has the ledger and not the key cannot even test a guess.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
TEXT_CHARACTERS = 4000  # of a statement; the rest is left out
_VERSION = b"\x01"
_ID_BYTES, _NONCE_BYTES = 8, 12
_HEAD = len(_VERSION) + _ID_BYTES
_SEALED = "sealed "


class TextCipher:
    """keys: any number, with the newest, which encrypts, last."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        assert keys and all(len(key) == KEY_BYTES for key in keys), "a key has 32 bytes"
        self._keys = {_short(key): AESGCM(key) for key in keys}
        self._newest = _short(keys[-1])
        self._digest_key = _derived(keys[-1], b"questions")
        self.naming_key = _derived(keys[-1], b"names of statements and plans")

    def __repr__(self) -> str:
        return "TextCipher()"

    def encrypted(self, text: str, bound: tuple[str, ...]) -> bytes:
        if len(text) > TEXT_CHARACTERS:
            text = f"{text[:TEXT_CHARACTERS]} ..."
        return self._encrypted(text, bound)

    def sealed(self, text: str, bound: tuple[str, ...]) -> str:
        """Encrypt a text of any length, as a text.

        >>> cipher = TextCipher([bytes(32)])
        >>> cipher.opened(cipher.sealed("a name", ("part", "1")), ("part", "1"))
        'a name'
        >>> cipher.opened(cipher.sealed("a name", ("part", "1")), ("part", "2")) is None
        True
        """
        return _SEALED + base64.b64encode(self._encrypted(text, bound)).decode()

    def opened(self, sealed: str, bound: tuple[str, ...]) -> str | None:
        """Decrypt what `sealed` gave. None: as of `decrypted`, or it was never sealed."""
        if not is_sealed(sealed):
            return None
        try:
            stored = base64.b64decode(sealed[len(_SEALED) :], validate=True)
        except ValueError:
            return None
        return self.decrypted(stored, bound)

    def keyed(self, digest: bytes) -> bytes:
        """Compute the digest that stands in the ledger for one that anybody could compute."""
        return hmac.digest(self._digest_key, digest, "sha256")

    def _encrypted(self, text: str, bound: tuple[str, ...]) -> bytes:
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


def is_sealed(text: str) -> bool:
    """Whether `TextCipher.sealed` may have made a text."""
    return text.startswith(_SEALED)


def key_name(key: bytes) -> str:
    """What a key is called in the ledger and in messages; it says nothing about the key."""
    return _short(key).hex()


def _short(key: bytes) -> bytes:
    return hashlib.sha256(b"dpproxy text key " + key).digest()[:_ID_BYTES]


def _derived(key: bytes, purpose: bytes) -> bytes:
    return hmac.digest(key, b"dpproxy " + purpose, "sha256")


def _bytes(bound: tuple[str, ...]) -> bytes:
    return b"\0".join(part.encode("utf-8", "surrogatepass") for part in bound)
