"""From a StartupMessage to the relay: a turn at the gate, a backend of the shadow, its authentication.

Waiting for a turn costs a socket and no backend. A wrong password is answered late (login_gate.py).
"""

from __future__ import annotations

import asyncio
import os
from typing import Protocol

import structlog
from typing_extensions import assert_never

from proxy.base.role_names import stand_in
from proxy.engine.role_readiness import LOGINS_AWAY, LOGINS_AWAY_HINT
from proxy.pgwire.authentication import Authentication, InnerLogin, Step
from proxy.pgwire.frames import fatal
from proxy.pgwire.startup import Connect
from proxy.servers.admission import no_access
from proxy.servers.login_gate import Attempt
from proxy.servers.wire.certificate_rules import ClientCertificate, LoginMethod
from proxy.servers.wire.shadow_connection import ShadowConnection, ShadowListener, connect_to_shadow
from proxy.servers.wire.shared_server_state import ServedDatabase, SharedServerState

_log = structlog.get_logger("dpproxy.wire")

TOO_SLOW = fatal("57014", "canceling authentication due to timeout")
SHADOW_AWAY = fatal("57P03", LOGINS_AWAY, LOGINS_AWAY_HINT)
_TOO_MANY = fatal("53300", "sorry, too many clients already")


def _not_let_in(user: str, database: str) -> bytes:
    """The same for every reason: who has no certificate learns nothing of who there is."""
    text = f'no rule for client certificates lets in user "{user}", database "{database}"'
    return fatal("28000", text)


class LoginClient(ShadowListener, Protocol):
    """The connection that logs in."""

    def send(self, data: bytes) -> None: ...
    def end_with(self, last_words: bytes) -> None: ...
    def authentication_is_over(self) -> None: ...


class Login:
    def __init__(
        self,
        state: SharedServerState,
        client: LoginClient,
        address: str,
        connect: Connect,
        certificate: ClientCertificate | None = None,
    ) -> None:
        self._certificate = certificate
        self._state = state
        self._client = client
        self._address = address
        self._connect = connect
        self._loop = asyncio.get_running_loop()
        database = connect.database if connect.database_is_served else next(iter(state.databases))
        self.served: ServedDatabase = state.databases[database]
        self._any_database = database
        self.authentication = Authentication(connect, database)
        self.shadow: ShadowConnection | None = None
        let_in = state.let_in
        # Before anything is verified: a name may be given to somebody else meanwhile.
        self.person = None if let_in is None else let_in.admission.number_of(connect.user)
        self._attempt: Attempt | None = None
        self._generation: int | None = None  # of the server that checks the password
        self._silence: asyncio.TimerHandle | None = None
        self._refusal: asyncio.TimerHandle | None = None

    @property
    def analyst(self) -> str:
        return self._connect.user

    @property
    def database(self) -> str:
        return self._connect.database

    async def open(self) -> None:
        """Takes as long as others are in turn; the connection's deadline ends it."""
        state = self._state
        if state.connected >= state.limits.connections:
            self._client.end_with(_TOO_MANY)
            return
        if state.readiness.generation is None:
            self._client.end_with(SHADOW_AWAY)
            return
        self._attempt = await state.gate.enter(self._address, self.analyst)
        await self._attempt.take_backend()
        self._generation = state.readiness.generation
        try:
            if not await self._is_let_in():
                self._refuse(_not_let_in(self.analyst, self.database))
                return
        except (
            Exception
        ) as error:  # the shadow, of a superuser's connection: nothing is known of it here
            _log.error("inner_role_not_made", kind=type(error).__name__)
            self._client.end_with(SHADOW_AWAY)
            return
        if self._is_server_another:
            self._client.end_with(SHADOW_AWAY)
            return
        try:
            self.shadow = await connect_to_shadow(self.served.shadow, self._client)
        except OSError:
            _log.error("shadow_unreachable")
            self._client.end_with(SHADOW_AWAY)
            return
        self.shadow.write(self.authentication.startup_packet)

    async def _is_let_in(self) -> bool:
        """By the rules for certificates, if there are any; what is left to the password is decided later."""
        let_in = self._state.let_in
        if let_in is None or let_in.rules is None:
            return True
        user = self.analyst
        method = let_in.rules.method(self.database, user, self._certificate)
        match method:
            case LoginMethod.PASSWORD | LoginMethod.BOTH:
                return True
            case LoginMethod.REJECT:
                return False
            case LoginMethod.CERT:
                inner = let_in.inner
                is_known = let_in.admission.number_of(user) is not None and stand_in(user) is None
                if inner is None or not is_known:
                    return False
                await inner.ensure(user)
                mine = InnerLogin(inner.role(user), inner.password(user), os.urandom(18).hex())
                self.authentication = Authentication(self._connect, self._any_database, mine)
                return True
            case _:
                assert_never(method)

    def from_client(self, data: bytes) -> None:
        """Before a turn, the client has nothing to say; what it sends is password messages or its end."""
        if self._refusal is None:
            self._perform(self.authentication.from_client(data))

    def from_shadow(self, data: bytes) -> bool:
        """Whether the relay takes over. Refuses  ProtocolError"""
        step = self.authentication.from_shadow(data)
        if step.wrong_password and self._is_server_another:
            self._client.end_with(SHADOW_AWAY)
            return False
        if step.wrong_password and self._attempt is not None:
            self._refuse(step.to_client)
            return False
        if not step.ready:
            self._perform(step)
            return False
        too_many, no_access = self._too_many(), self._no_access()
        refused = too_many or no_access
        self._succeeded("busy" if too_many else "not_admitted" if no_access else "ok")
        if refused:
            self._client.end_with(refused)
            return False
        self._perform(step)
        return True

    @property
    def _is_server_another(self) -> bool:
        """Whether the shadow's server may lack roles, or did when it was asked: its refusal says nothing."""
        generation = self._state.readiness.generation
        return generation is None or generation != self._generation

    @property
    def is_refusing(self) -> bool:
        """Whether the client's refusal is on its way; the shadow has hung up by then."""
        return self._refusal is not None

    def end(self) -> None:
        """The connection is closed before it has logged in."""
        self._stop_listening()
        if self.shadow is not None:
            self.shadow.close()
        if self._refusal is not None:
            self._refusal.cancel()
        if self._attempt is not None:
            self._attempt.abandoned()  # unless it has ended in another way

    def _refuse(self, refusal: bytes) -> None:
        """Late, the more often it happens."""
        assert self._attempt is not None
        delay = self._attempt.failed()
        self._client.authentication_is_over()
        self._stop_listening()
        self._refusal = self._loop.call_later(delay, self._client.end_with, refusal)

    def _no_access(self) -> bytes:
        """Where PostgreSQL, too, says it: after the password."""
        let_in = self._state.let_in
        if let_in is None or let_in.admission.may_query(self.analyst, self.database):
            return b""
        return fatal(*no_access(self.database))

    def _succeeded(self, outcome: str) -> None:
        if self._attempt is not None:
            self._attempt.succeeded(outcome=outcome)
        self._stop_listening()

    def _too_many(self) -> bytes:
        """Where PostgreSQL, too, says it: after the password."""
        limits = self._state.limits
        if self._state.sessions_of(self.analyst) >= limits.connections_per_analyst:
            return fatal("53300", f'too many connections for role "{self.analyst}"')
        return _TOO_MANY if self._state.connected >= limits.connections else b""

    def _perform(self, step: Step) -> None:
        if step.to_shadow and self.shadow is not None:
            self._stop_listening()
            self.shadow.write(step.to_shadow)
        if step.close:
            self._client.end_with(step.to_client)
        elif step.to_client:
            self._client.send(step.to_client)
        if step.awaits_client:
            self._listen_for(self._state.limits.silence_seconds)

    # A client that has a turn, has been asked and says nothing. What the shadow takes is not its silence.

    def _listen_for(self, seconds: float) -> None:
        self._stop_listening()
        self._silence = self._loop.call_later(seconds, self._has_been_silent)

    def _stop_listening(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None

    def _has_been_silent(self) -> None:
        """Programs answer within a round trip. Nobody has to wait for one that does not."""
        if self._attempt is not None and self._attempt.is_awaited:
            self._client.end_with(TOO_SLOW)
        else:
            self._listen_for(self._state.limits.silence_seconds / 4)
