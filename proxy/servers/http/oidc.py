"""Bearer tokens of an OpenID Connect provider: who they say that somebody is, once everything about them holds.

The provider's keys are fetched when they are first needed, kept for a while, and never from where a token says.
What does not hold is not told apart to the client: the log has the kind of reason, and nothing of the token.
"""

from __future__ import annotations

import asyncio
import functools
import http.client
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import jwt
import structlog

from proxy.base.limits import IDENTIFIER_BYTES
from proxy.servers.client_address import is_loopback
from proxy.servers.http.request_reading import NotStrict, read_json

# JSON from a URL of the operator's: https but on loopback, so many bytes and seconds, no redirects.

BYTES = 256 * 1024
_SECONDS = 5.0
_PIECE_BYTES = 16 * 1024


class FetchError(RuntimeError):
    """The text is for the operator's log, and holds nothing of what was fetched."""


def check_url(url: str) -> None:
    """Refuses  FetchError: what would be fetched in plain text from another machine"""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise FetchError(f"{url} is no URL") from None
    if parts.username is not None or parts.fragment or not host:
        raise FetchError(f"{url} is no URL of a document")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise FetchError(f"{url} must be https: what it says decides who is let in")


def fetched_json(url: str, authority: Path | None = None) -> Any:
    """
    Given    authority: certificates to trust instead of the system's, in PEM
    Refuses  FetchError
    """
    check_url(url)
    parts = urlsplit(url)
    until = time.monotonic() + _SECONDS
    connection = _connection(parts.scheme, parts.hostname or "", parts.port, authority)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise FetchError(f"status {response.status}")
        body = b""
        while piece := response.read1(_PIECE_BYTES):
            body += piece
            if len(body) > BYTES:
                raise FetchError(f"more than {BYTES} bytes")
            if time.monotonic() > until:
                raise FetchError(f"more than {_SECONDS} seconds")
        return read_json(body)
    except (OSError, http.client.HTTPException, NotStrict) as error:
        raise FetchError(type(error).__name__) from None
    finally:
        connection.close()


def _connection(
    scheme: str, host: str, port: int | None, authority: Path | None
) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=_SECONDS)
    try:
        context = ssl.create_default_context(cafile=authority)
    except (OSError, ssl.SSLError):
        raise FetchError("the file of certificates to trust cannot be read") from None
    return http.client.HTTPSConnection(host, port, timeout=_SECONDS, context=context)


_log = structlog.get_logger("dpproxy.oidc")

# Algorithm -> the kind of key that it is for. None of a shared secret, and never `none`.
_ALGORITHMS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
        **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
        "EdDSA": "OKP",
    }
)
_SECRET_PARTS = ("d", "p", "q", "k")  # of a JWK: whoever publishes one has published how to sign
_RSA_BITS = 2048
_TOKEN_CHARACTERS = 8192
_LEEWAY_SECONDS = 30
LONGEST_SECONDS = 86_400
_FRESH_SECONDS = 600.0
_USABLE_SECONDS = 3600.0  # of keys that cannot be fetched again
_RETRY_SECONDS = 15.0  # between fetches, whatever is presented
_KEYS_MAX = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """
    issuer, audience: as tokens must name them; claim: which has the analyst's name
    keys_url: None where the issuer's own configuration says it; authority: certificates to trust, in PEM
    longest_seconds: for which a token may be valid, in all and from now: a stolen one cannot be revoked
    """

    issuer: str
    audience: str
    claim: str = "preferred_username"
    keys_url: str | None = None
    authority: Path | None = None
    longest_seconds: int = LONGEST_SECONDS


Fetch = Callable[[str, "Path | None"], Any]


class OpenIdTokens:
    """
    Given    fetch: JSON from a URL, bounded (oidc.py)
    Gives    `analyst_of`; whether there is such an analyst is another's question
    """

    def __init__(
        self,
        settings: OidcSettings,
        fetch: Fetch = fetched_json,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._keys = _ProviderKeys(settings, fetch, clock)

    async def analyst_of(self, presented: str) -> str | None:
        """None: it does not hold, for whatever reason."""
        try:
            return await self._analyst_of(presented)
        except (jwt.PyJWTError, FetchError) as error:
            _log.warning("token_refused", kind=type(error).__name__)
        except Exception as error:  # of a library that was given a stranger's bytes
            _log.error("token_not_read", kind=type(error).__name__)
        return None

    async def _analyst_of(self, presented: str) -> str | None:
        if len(presented) > _TOKEN_CHARACTERS:
            raise jwt.InvalidTokenError
        head = jwt.get_unverified_header(presented)
        algorithm, name = head.get("alg"), head.get("kid")
        # "crit" names what a reader must understand (RFC 7515, section 4.1.11), and we understand none.
        if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS or "crit" in head:
            raise jwt.InvalidAlgorithmError
        key = await self._keys.find(name, algorithm)
        if key is None:
            raise jwt.InvalidKeyError
        claims = jwt.decode(
            presented,
            key=key,
            algorithms=[algorithm],
            issuer=self._settings.issuer,
            audience=self._settings.audience,
            leeway=_LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "aud"]},
        )
        if "nbf" not in claims and "iat" not in claims:
            raise jwt.MissingRequiredClaimError("nbf")
        if not self._is_short(claims):
            raise jwt.InvalidTokenError
        analyst = claims.get(self._settings.claim)
        if not isinstance(analyst, str) or not 0 < len(analyst.encode()) <= IDENTIFIER_BYTES:
            raise jwt.InvalidTokenError
        return analyst

    def _is_short(self, claims: Mapping[str, Any]) -> bool:
        """Whether a token ends in time. Its dates are numbers: they have been compared with the clock."""
        since = min(float(claims[name]) for name in ("iat", "nbf") if name in claims)
        longest = self._settings.longest_seconds + _LEEWAY_SECONDS
        return float(claims["exp"]) - min(since, time.time()) <= longest


class _ProviderKeys:
    """The provider's public keys. One fetch at a time, seldom, and only of the configured place."""

    def __init__(self, settings: OidcSettings, fetch: Fetch, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._fetch = fetch
        self._clock = clock
        self._keys: tuple[Mapping[str, Any], ...] = ()
        self._fetched_at = self._tried_at = float("-inf")
        self._fetching = asyncio.Lock()

    async def find(self, name: object, algorithm: str) -> jwt.PyJWK | None:
        """The key of this name; without a name the only one. Refuses  FetchError, jwt.PyJWTError"""
        now = self._clock()
        key = self._known(name, algorithm)
        if key is None or now - self._fetched_at > _FRESH_SECONDS:
            await self._refresh()
            key = self._known(name, algorithm)
        if self._clock() - self._fetched_at > _USABLE_SECONDS:
            raise FetchError("the provider's keys are too old")
        return None if key is None else _usable(key, algorithm)

    def _known(self, name: object, algorithm: str) -> Mapping[str, Any] | None:
        fitting = [one for one in self._keys if one.get("kty") == _ALGORITHMS[algorithm]]
        if name is not None:
            fitting = [one for one in fitting if one.get("kid") == name]
        return fitting[0] if len(fitting) == 1 else None

    async def _refresh(self) -> None:
        async with self._fetching:
            if self._clock() - self._tried_at < _RETRY_SECONDS:
                return
            self._tried_at = self._clock()
            try:
                self._keys = await asyncio.to_thread(self._fetched)
                self._fetched_at = self._clock()
            except FetchError as error:
                _log.warning("keys_not_fetched", reason=str(error))

    def _fetched(self) -> tuple[Mapping[str, Any], ...]:
        settings = self._settings
        fetch = functools.partial(self._read, authority=settings.authority)
        url = settings.keys_url
        if url is None:
            place = settings.issuer.rstrip("/") + "/.well-known/openid-configuration"
            document = fetch(place)
            if document.get("issuer") != settings.issuer:
                raise FetchError("the configuration is another issuer's")
            url = document.get("jwks_uri")
            if not isinstance(url, str):
                raise FetchError("the configuration names no keys")
        keys = fetch(url).get("keys")
        if not isinstance(keys, list) or len(keys) > _KEYS_MAX:
            raise FetchError("no list of keys, or too long a one")
        return tuple(one for one in keys if isinstance(one, dict))

    def _read(self, url: str, authority: Path | None) -> Mapping[str, Any]:
        document = self._fetch(url, authority)
        if not isinstance(document, dict):
            raise FetchError("not an object")
        return document


def _usable(key: Mapping[str, Any], algorithm: str) -> jwt.PyJWK:
    """Refuses  jwt.PyJWTError"""
    is_ours = key.get("use", "sig") == "sig" and key.get("alg", algorithm) == algorithm
    if not is_ours or any(part in key for part in _SECRET_PARTS):
        raise jwt.InvalidKeyError
    made = jwt.PyJWK(dict(key), algorithm=algorithm)
    if key.get("kty") == "RSA" and getattr(made.key, "key_size", 0) < _RSA_BITS:
        raise jwt.InvalidKeyError
    return made
