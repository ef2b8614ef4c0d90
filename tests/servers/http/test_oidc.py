"""Tokens of an OpenID Connect provider: each thing about them holds, and keys are fetched with bounds."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import itertools
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from structlog.testing import capture_logs

from proxy.servers.http.oidc import (
    BYTES,
    FetchError,
    OidcSettings,
    OpenIdTokens,
    check_url,
    fetched_json,
)
from tests.servers.http.provider import AUDIENCE, Provider, provider, public, rsa_key


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with provider() as found:
        yield found


@pytest.fixture
def issuer(running: Provider) -> Provider:
    running.reset()
    return running


@dataclass(slots=True)
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass(slots=True)
class Reader:
    tokens: OpenIdTokens
    clock: Clock = field(default_factory=Clock)

    def __call__(self, text: str) -> str | None:
        return asyncio.run(self.tokens.analyst_of(text))


def reader(issuer: Provider, clock: Clock | None = None, **more: Any) -> Reader:
    given = {"issuer": issuer.issuer, "audience": AUDIENCE, **more}
    clock = clock or Clock()
    return Reader(OpenIdTokens(OidcSettings(**given), clock=clock), clock)


@pytest.mark.parametrize(
    "algorithm", ["RS256", "RS384", "RS512", "PS256", "PS512", "ES256", "EdDSA"]
)
def test_what_the_provider_signs_says_who_it_is(issuer: Provider, algorithm: str) -> None:
    assert reader(issuer)(issuer.token(algorithm=algorithm)) == "ann"
    assert issuer.asked == ["/.well-known/openid-configuration", "/keys"]


def test_the_claim_and_the_place_of_the_keys_can_be_given(issuer: Provider) -> None:
    del issuer.documents["/.well-known/openid-configuration"]
    read = reader(issuer, claim="email", keys_url=f"{issuer.issuer}/keys")
    assert read(issuer.token(issuer.claims(email="ann@example.org"))) == "ann@example.org"
    assert read(issuer.token()) is None, "it has no such claim"


def test_an_audience_among_several_and_a_clock_that_is_a_little_off(issuer: Provider) -> None:
    read, now = reader(issuer), int(time.time())
    assert read(issuer.token(issuer.claims(aud=["another", AUDIENCE]))) == "ann"
    assert read(issuer.token(issuer.claims(exp=now - 10, nbf=now + 10, iat=now + 10))) == "ann"
    assert read(issuer.token(issuer.claims(nbf=None))) == "ann"
    assert read(issuer.token(issuer.claims(iat=None))) == "ann"


_NOW = int(time.time())


@pytest.mark.parametrize(
    "wrong",
    [
        {"exp": _NOW - 60},
        {"exp": None},
        {"exp": 10**30},
        {"exp": 10**400},
        {"exp": _NOW + 2 * 86_400},
        {"exp": _NOW + 3_600, "iat": _NOW - 86_400, "nbf": None},
        {"exp": _NOW + 3_600, "iat": _NOW - 5, "nbf": _NOW - 86_400},
        {"exp": "never"},
        {"nbf": _NOW + 86_400},
        {"iat": _NOW + 86_400},
        {"nbf": None, "iat": None},
        {"aud": "another"},
        {"aud": None},
        {"aud": []},
        {"iss": "http://127.0.0.1"},
        {"iss": None},
        {"preferred_username": None},
        {"preferred_username": ""},
        {"preferred_username": 7},
        {"preferred_username": ["ann"]},
        {"preferred_username": "x" * 64},
    ],
    ids=itertools.count(),  # some values are of the present
)
def test_a_claim_that_does_not_hold(issuer: Provider, wrong: dict[str, Any]) -> None:
    assert reader(issuer)(issuer.token(issuer.claims(**wrong))) is None


def test_the_longest_lifetime_can_be_set(issuer: Provider) -> None:
    hour = reader(issuer, longest_seconds=3_600)
    assert hour(issuer.token(issuer.claims(exp=_NOW + 3_000))) == "ann"
    assert hour(issuer.token(issuer.claims(exp=_NOW + 7_200))) is None
    week = reader(issuer, longest_seconds=7 * 86_400)
    assert week(issuer.token(issuer.claims(exp=_NOW + 6 * 86_400))) == "ann"


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def _mac_token(issuer: Provider, algorithm: str, secret: bytes) -> str:
    """Signed with a secret that is no secret: what the provider publishes."""
    said = f"{_part({'alg': algorithm, 'typ': 'JWT', 'kid': 'rsa'})}.{_part(issuer.claims())}"
    digest = getattr(hashlib, f"sha{algorithm[2:]}")
    signature = hmac.new(secret, said.encode(), digest).digest()
    return f"{said}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def test_no_signature_and_none_of_a_shared_secret(issuer: Provider) -> None:
    read = reader(issuer)
    pem = rsa_key().public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )  # fmt: skip
    for algorithm in ("none", "None", "NONE", "nOnE", ""):
        bare = f"{_part({'alg': algorithm, 'kid': 'rsa'})}.{_part(issuer.claims())}."
        assert read(bare) is None
        assert read(bare + issuer.token().rpartition(".")[2]) is None
    for algorithm in ("HS256", "HS384", "HS512"):
        assert read(_mac_token(issuer, algorithm, pem)) is None
        # Also where the provider were to publish such a key.
        secret = b"x" * 64
        octets = {"kty": "oct", "kid": "rsa", "k": base64.urlsafe_b64encode(secret).decode()}
        issuer.documents["/keys"] = {"keys": [octets]}
        assert reader(issuer)(_mac_token(issuer, algorithm, secret)) is None
        issuer.reset()


def test_what_is_signed_by_another_or_changed(issuer: Provider) -> None:
    read = reader(issuer)
    good = issuer.token()
    head, body, signature = good.split(".")
    forged = jwt.encode(issuer.claims(), rsa_key(2049), "RS256", headers={"kid": "rsa"})
    other = f"{head}.{_part(issuer.claims('bob'))}.{signature}"
    for text in (
        forged,
        other,
        f"{head}.{body}.",
        good[:-4] + "AAAA",
        "",
        "..",
        "a.b.c",
        "é",
        "x" * 9000,
    ):
        assert read(text) is None, text
    # Not where the token says that its key is to be had, nor what it brings along.
    own = public("RS256", rsa_key(2049), "mine")
    for more in (
        {"kid": "mine", "jwk": own},
        {"kid": "mine", "jku": f"{issuer.issuer}/mine"},
        {"x5u": f"{issuer.issuer}/mine"},
        {"crit": ["exp"]},
    ):
        text = jwt.encode(issuer.claims(), rsa_key(2049), "RS256", headers=more)
        assert read(text) is None
    assert read(issuer.token(crit=["b64"], b64=False)) is None
    assert "/mine" not in issuer.asked
    assert read(good) == "ann", "strangers change nothing"


def test_a_key_is_for_what_it_says(issuer: Provider) -> None:
    weak = rsa_key(1024)
    private = jwt.get_algorithm_by_name("RS256").to_jwk(rsa_key(), as_dict=True)
    for keys in (
        [public("RS256", rsa_key(), "rsa", use="enc")],
        [public("RS256", rsa_key(), "rsa", alg="RS512")],
        [{**private, "kid": "rsa"}],
        [public("RS256", rsa_key(), "rsa")] * 2,
        [{"kty": "RSA", "kid": "rsa"}],
        [7],
        [],
    ):
        issuer.documents["/keys"] = {"keys": keys}
        assert reader(issuer)(issuer.token()) is None, keys
    issuer.documents["/keys"] = {"keys": [public("RS256", weak, "rsa")]}
    with pytest.warns(match="minimum recommended"):
        text = jwt.encode(issuer.claims(), weak, "RS256", headers={"kid": "rsa"})
    with warnings.catch_warnings():  # outside of tests such a warning refuses nothing
        warnings.simplefilter("ignore")
        assert reader(issuer)(text) is None


def test_keys_are_fetched_seldom_whatever_is_presented(issuer: Provider) -> None:
    clock = Clock()
    read, good = reader(issuer, clock), issuer.token()
    for number in range(20):
        read(issuer.token(kid=f"unknown {number}"))
        assert read(good) == "ann"
    assert len(issuer.asked) == 2
    clock.now += 20
    assert read(issuer.token(kid="unknown")) is None
    assert len(issuer.asked) == 4
    # A key that is new is found, and one that is gone is not used after the next fetch.
    issuer.documents["/keys"]["keys"] = [public("RS256", rsa_key(), "new")]
    clock.now += 20
    assert read(issuer.token(kid="new")) == "ann"
    assert read(good) is None


def test_while_the_provider_is_away(issuer: Provider) -> None:
    clock = Clock()
    read, good = reader(issuer, clock), issuer.token()
    assert read(good) == "ann"
    issuer.status = 500
    clock.now += 700
    with capture_logs() as logs:
        assert read(good) == "ann", "its keys are known"
    assert ("keys_not_fetched", "status 500") in [(one["event"], one.get("reason")) for one in logs]
    clock.now += 3600
    assert read(good) is None, "not for ever"
    issuer.status = 200
    clock.now += 20
    assert read(good) == "ann"


@pytest.mark.parametrize(
    "keys",
    [
        b"{" + b" " * (BYTES + 1) + b"}",
        b"not JSON",
        b"[]",
        b'{"keys": 7}',
        b'{"keys": [' + b"{}," * 70 + b"{}]}",
        b"[" * 1000,
    ],
    ids=["large", "no JSON", "a list", "a number", "many", "deep"],
)
def test_keys_that_are_none(issuer: Provider, keys: bytes) -> None:
    issuer.documents["/keys"] = keys
    assert reader(issuer)(issuer.token()) is None


def test_the_configuration_of_another_issuer(issuer: Provider) -> None:
    place = "/.well-known/openid-configuration"
    for wrong in (
        {"issuer": "https://example.org", "jwks_uri": f"{issuer.issuer}/keys"},
        {"issuer": issuer.issuer},
        {"issuer": issuer.issuer, "jwks_uri": "http://example.org/keys"},
        {"issuer": issuer.issuer, "jwks_uri": "file:///etc/passwd"},
    ):
        issuer.documents[place] = wrong
        assert reader(issuer)(issuer.token()) is None


def test_no_redirect_is_followed(issuer: Provider) -> None:
    issuer.status = 302
    assert reader(issuer)(issuer.token()) is None
    assert "/elsewhere" not in issuer.asked


def test_nothing_of_a_token_is_logged(issuer: Provider) -> None:
    token = issuer.token(issuer.claims(aud="another"))
    with capture_logs() as logs:
        assert reader(issuer)(token) is None
    assert [one["event"] for one in logs] == ["token_refused"]
    assert not any(part in str(logs) for part in token.split("."))


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.org/keys", "ftp://localhost/", "https://", "https://u:p@example.org/"),
        *(
            "http://127.0.0.1.example.org/",
            "https://example.org:99999/",
            "example.org",
            "https://a/#b",
        ),
    ],
)
def test_urls_that_are_refused(url: str) -> None:
    with pytest.raises(FetchError):
        check_url(url)
    with pytest.raises(FetchError):
        fetched_json(url)
