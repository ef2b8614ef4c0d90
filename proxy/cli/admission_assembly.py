"""Assembles who is let in: the ledger's people, tokens, the provider, certificates, administrators."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from proxy.cli.letting_in import LettingIn
from proxy.cli.proxy_servers import ProxyServers
from proxy.ledger.bearer_tokens import PresentedTokens
from proxy.ledger.users import PeopleReader
from proxy.postgres.failure_reason import reason_of
from proxy.servers.admission import Admission
from proxy.servers.client_address import Networks
from proxy.servers.http.admin_credentials import CredentialsFile
from proxy.servers.http.connections import ADMIN_LIMITS
from proxy.servers.http.http_logins import Bearers, HttpLogins, ProviderTokens
from proxy.servers.http.http_server import HttpListener
from proxy.servers.login_gate import LoginGate
from proxy.servers.metrics import Exposition
from proxy.servers.wire.certificate_rules import read_rules
from proxy.servers.wire.shared_server_state import LetIn
from proxy.servers.wire.wire_server import WireServer
from proxy.shadow.analyst_sessions import InnerLogins

if TYPE_CHECKING:
    from proxy.servers.http.admin_access import (
        AnalystAddresses,
        Audits,
        Reload,
        ReportedPolicies,
        SessionsElsewhere,
        Status,
        StuckSessions,
    )

PEOPLE_SECONDS = 1.0

_log = structlog.get_logger("dpproxy.admission")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionAssembly:
    """reload: what reads the policies again, where this process can: for the administrators' API."""

    ledger_dsn: str
    people: PeopleReader
    tokens: PresentedTokens
    admission: Admission
    inner: InnerLogins
    bearers: Bearers
    let_in: LetIn

    def __repr__(self) -> str:  # the DSN may hold a password
        return "AdmissionAssembly()"

    async def follow(
        self, wire: WireServer, http: HttpLogins, every_seconds: float = PEOPLE_SECONDS
    ) -> None:
        """Until it is cancelled. Sessions of who may not come in any more are ended."""
        while True:
            await asyncio.sleep(every_seconds)
            try:
                self.admission.people = await asyncio.to_thread(self.people.read)
                under_way = http.tokens_under_way
                invalid = await self.tokens.invalid(under_way) if under_way else frozenset()
                ended = wire.end_not_admitted() + http.end_not_admitted(invalid)
                if ended:
                    _log.info("sessions_ended", number=ended)
            except Exception as error:  # a ledger that is away for a moment must not end this
                _log.warning("people_not_read", kind=type(error).__name__, reason=reason_of(error))

    def admin_server(
        self,
        credentials: CredentialsFile,
        wire: WireServer,
        tls: tuple[Path, Path] | None,
        reload: Reload | None = None,
        stuck_sessions: StuckSessions = tuple,
        metrics: Exposition | None = None,
        status: Status | None = None,
        proxies: Networks = (),
        gate: LoginGate | None = None,
        elsewhere: SessionsElsewhere | None = None,
        policies: ReportedPolicies | None = None,
        audits: Audits | None = None,
        addresses: AnalystAddresses | None = None,
    ) -> HttpListener:
        """With a gate of its own: strangers at the other listeners keep no administrator waiting."""
        from proxy.servers.console.admin_pages import admin_console
        from proxy.servers.http.admin_routes import AdminRoutes  # models that few need

        gate = gate or LoginGate()
        routes = AdminRoutes(
            *(self.ledger_dsn, credentials, wire, gate, reload, stuck_sessions, metrics),
            *(status, elsewhere, policies, audits, addresses),
        )
        return HttpListener(
            lambda: routes.app(admin_console(routes)), tls, ADMIN_LIMITS, proxies=proxies
        )


@asynccontextmanager
async def opened_admission(
    servers: ProxyServers, sources: Mapping[str, int], letting_in: LettingIn
) -> AsyncIterator[AdmissionAssembly]:
    """
    Given    sources: by the name of a database, the number of its data in the ledger
    """
    async with AsyncExitStack() as closing:
        people = PeopleReader(servers.ledger_dsn, tuple(sources.values()))
        closing.callback(people.close)
        admission = Admission(sources, await asyncio.to_thread(people.read))
        tokens = PresentedTokens(servers.ledger_dsn)
        await tokens.open()
        closing.push_async_callback(tokens.close)
        inner = InnerLogins(servers.shadow.dsn())
        rules = letting_in.rules
        let_in = LetIn(
            admission=admission,
            inner=inner,
            rules=None if rules is None else read_rules(rules, admission.is_in),
        )
        yield AdmissionAssembly(
            ledger_dsn=servers.ledger_dsn,
            people=people,
            tokens=tokens,
            admission=admission,
            inner=inner,
            bearers=Bearers(admission, tokens, _provider(letting_in)),
            let_in=let_in,
        )


def _provider(letting_in: LettingIn) -> ProviderTokens | None:
    if letting_in.oidc is None:
        return None
    from proxy.servers.http.oidc import OpenIdTokens  # a library that few need

    return OpenIdTokens(letting_in.oidc)
