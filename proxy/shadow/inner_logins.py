"""How dpproxy itself logs an analyst in whom it has let in: by a token or a certificate, not by a password.

The shadow knows each analyst by a role with the verifier of their password, which dpproxy does not know. So
such a session is of a second role of theirs, with the same rights and limits, whose password is made of a
secret of this process. Its name is refused to everybody who comes from outside (proxy.base.role_names), it is
made when it is first needed, and it goes with the analyst's own (`shadow_roles`).

Source  docs/adr/why-people.md (ADR 0071)
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import os
from contextlib import suppress

import psycopg

from proxy.base.role_names import inner_role
from proxy.shadow.shadow_roles import create_role

_CONNECT_SECONDS = 5
# The password is 256 random bits: nothing to guess, so nothing to slow down.
_ITERATIONS = 1


class InnerLogins:
    """
    Given    the superuser's way into the shadow's server
    """

    def __init__(self, superuser_dsn: str) -> None:
        self._superuser_dsn = superuser_dsn
        self._secret = os.urandom(32)

    def __repr__(self) -> str:
        return "InnerLogins()"

    def role(self, analyst: str) -> str:
        return inner_role(analyst)

    def password(self, analyst: str) -> str:
        return self._derived("password", analyst).hex()

    def verifier(self, analyst: str) -> str:
        """As PostgreSQL keeps it (RFC 5803); the same each time, so that it can be compared."""
        salt = self._derived("salt", analyst)[:16]
        password = self.password(analyst).encode()
        salted = hashlib.pbkdf2_hmac("sha256", password, salt, _ITERATIONS)
        stored = hashlib.sha256(_mac(salted, b"Client Key")).digest()
        texts = [
            base64.b64encode(one).decode() for one in (salt, stored, _mac(salted, b"Server Key"))
        ]
        return f"SCRAM-SHA-256${_ITERATIONS}:{texts[0]}${texts[1]}:{texts[2]}"

    async def ensure(self, analyst: str) -> None:
        """The role is there. Only of an analyst whom the ledger knows: of others it would go a second later.

        Refuses  psycopg.Error
        """
        await asyncio.to_thread(self._make, analyst)

    def _make(self, analyst: str) -> None:
        role = inner_role(analyst)
        with psycopg.connect(
            self._superuser_dsn, autocommit=True, connect_timeout=_CONNECT_SECONDS
        ) as connection:
            found = connection.execute(
                "SELECT FROM pg_catalog.pg_roles WHERE rolname = %s", (role,)
            )
            if found.fetchone() is None:
                with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
                    create_role(connection, role, self.verifier(analyst))

    def _derived(self, purpose: str, analyst: str) -> bytes:
        name = f"{purpose}\0{analyst}".encode("utf-8", "surrogatepass")
        return _mac(self._secret, name)


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()
