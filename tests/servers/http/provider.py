"""An OpenID Connect provider on loopback: its configuration, its keys, what it signs."""

from __future__ import annotations

import functools
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

AUDIENCE = "dpproxy of the tests"


@functools.cache
def rsa_key(bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


@functools.cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@functools.cache
def ed_key() -> ed25519.Ed25519PrivateKey:
    return ed25519.Ed25519PrivateKey.generate()


def public(algorithm: str, key: Any, name: str, **more: Any) -> dict[str, Any]:
    made = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    assert isinstance(made, dict)
    return {**made, "kid": name, "use": "sig", **more}


@dataclass(slots=True)
class Provider:
    """documents: what is served, by path; delays: seconds before a piece of it; asked: paths"""

    issuer: str = ""
    documents: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    asked: list[str] = field(default_factory=list)

    def reset(self) -> None:
        self.status, self.asked = 200, []
        keys = [
            public("RS256", rsa_key(), "rsa"),
            public("ES256", ec_key(), "ec"),
            public("EdDSA", ed_key(), "ed"),
        ]
        self.documents = {
            "/.well-known/openid-configuration": {
                "issuer": self.issuer,
                "jwks_uri": f"{self.issuer}/keys",
            },
            "/keys": {"keys": keys},
        }

    def claims(self, name: str = "ann", **more: Any) -> dict[str, Any]:
        """None takes a claim out."""
        now = int(time.time())
        found = {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "exp": now + 600,
            "nbf": now - 5,
            "iat": now - 5,
            "sub": "1234",
            "preferred_username": name,
            **more,
        }
        return {key: value for key, value in found.items() if value is not None}

    def token(
        self, claims: Mapping[str, Any] | None = None, algorithm: str = "RS256", **head: Any
    ) -> str:
        keys = {"R": rsa_key, "P": rsa_key, "E": ec_key}
        key: Any = ed_key() if algorithm == "EdDSA" else keys[algorithm[0]]()
        names = {"R": "rsa", "P": "rsa"}
        name = "ed" if algorithm == "EdDSA" else names.get(algorithm[0], "ec")
        return jwt.encode(
            dict(claims or self.claims()), key, algorithm, headers={"kid": name, **head}
        )


@contextmanager
def provider() -> Iterator[Provider]:
    found = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            document = found.documents.get(self.path)
            body = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(found.status if document is not None else 404)
            if found.status in (301, 302):
                self.send_header("Location", f"{found.issuer}/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.issuer = f"http://127.0.0.1:{server.server_port}"
    found.reset()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)
