"""Where the listeners are to be. Apart from them, so that what is wrong is told before heavy imports."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from proxy.cli.addresses import Address
from proxy.cli.cli_error import CliError
from proxy.postgres.analyst_limits import WIRE_SESSIONS
from proxy.servers.certificate import request_certificates, server_context
from proxy.servers.client_address import Networks
from proxy.servers.wire.tls import ALPN


@dataclass(frozen=True, slots=True)
class ListenAddresses:
    """
    tls: certificate and key, for both listeners
    requires_tls: whether sessions in plain text are refused; HTTP has none where there is a certificate
    client_ca: by which certificates of the wire's clients are signed; admin: for administrators;
    metrics: for `GET /metrics` without a login
    balancers, proxies: who says, on the wire and over HTTP, which address a client has
    sites: origins of others, whose pages may ask /v1
    sessions: that the wire has at once
    """

    wire: Address
    http: Address
    tls: tuple[Path, Path] | None = None
    requires_tls: bool = False
    client_ca: Path | None = None
    admin: Address | None = None
    metrics: Address | None = None
    balancers: Networks = ()
    proxies: Networks = ()
    sites: tuple[str, ...] = ()
    sessions: int = WIRE_SESSIONS

    @property
    def every(self) -> tuple[Address, ...]:
        given = (self.wire, self.http, self.admin, self.metrics)
        return tuple(one for one in given if one is not None)


@dataclass(frozen=True, slots=True)
class ListenerPorts:
    """Where clients come in, now."""

    wire: tuple[str, int]
    http: tuple[str, int]
    admin: tuple[str, int] | None = None
    metrics: tuple[str, int] | None = None


def check_can_open(where: ListenAddresses) -> None:
    """Before anything is started for nothing. Refuses  Stopped"""
    if where.tls is not None:
        tls_of(*where.tls, where.client_ca)
    for address in where.every:
        if address.or_free or address.port == 0:
            continue
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        try:
            socket.create_server((address.host, address.port), family=family).close()
        except OSError as error:
            raise taken(address, error) from None


def tls_of(certificate: Path, key: Path, client_ca: Path | None = None) -> ssl.SSLContext:
    """Refuses  Stopped"""
    try:
        for file in (certificate, key, *(() if client_ca is None else (client_ca,))):
            file.read_bytes()
    except OSError as error:
        raise CliError(f"{file}: {error.strerror or error}") from None
    try:
        context = server_context(certificate, key, ALPN)
    except ssl.SSLError as error:
        what = error.reason or "not in PEM"
        raise CliError(f"{certificate} and {key} are no certificate with its key: {what}") from None
    if client_ca is not None:
        try:
            request_certificates(context, client_ca)
        except ssl.SSLError:
            raise CliError(f"{client_ca} has no certificates in PEM") from None
    return context


def taken(address: Address, error: OSError) -> CliError:
    return CliError(f"cannot listen on {address}: {error.strerror or error}")
