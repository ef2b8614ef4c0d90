"""Addresses and networks on the command line, and the sockets that workers share.

Apart from the listeners, so that what is wrong is told before heavy imports.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proxy.cli.cli_error import CliError
from proxy.postgres.analyst_limits import WIRE_SESSIONS
from proxy.servers.certificate import ALPN, request_certificates, server_context
from proxy.servers.client_address import Networks

# HOST:PORT on the command line.

_PORTS = range(65536)
_DIGITS = 20  # of what is read as a number at all


@dataclass(frozen=True, slots=True)
class Address:
    """or_free: if the port is taken, any free one will do."""

    host: str
    port: int
    or_free: bool = False

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str) -> Address:
    """
    >>> read_address("[::1]:6432")
    Address(host='::1', port=6432, or_free=False)

    Refuses  ValueError
    """
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit()):
        raise ValueError(f"not HOST:PORT: {text}")
    if len(port) > _DIGITS or int(port) not in _PORTS:
        raise ValueError(f"{text}: a port is a number from 0 to {_PORTS[-1]}")
    return Address(host.removeprefix("[").removesuffix("]"), int(port))


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


# NETWORK and ORIGIN on the command line: who is believed about addresses, and whose pages may ask.


def networks_of(option: str, texts: Sequence[str] | None) -> Networks:
    """
    >>> networks_of("--trusted-proxy", ["10.0.0.0/8", "::1"])
    (IPv4Network('10.0.0.0/8'), IPv6Network('::1/128'))

    Raises:
        CliError: It is no network, or it is everybody.
    """
    found = []
    for text in texts or ():
        try:
            network = ipaddress.ip_network(text)
        except ValueError:
            raise CliError(
                f"{option} {text}: not a network, such as 10.1.2.0/24 or fd00:1::/64, nor an address"
            ) from None
        if network.prefixlen == 0:
            raise CliError(f"{option} {text}: that is everybody, who could then name any address")
        found.append(network)
    return tuple(found)


def origins_of(texts: Sequence[str] | None) -> tuple[str, ...]:
    """
    Raises:
        CliError: It is no origin of a site.
    """
    if not texts:
        return ()
    from proxy.servers.http.guard import is_origin  # with the web framework

    for text in texts:
        if not is_origin(text):
            raise CliError(f"--cors-origin {text}: not an origin, such as https://app.example")
    return tuple(texts)


# The listening sockets of several workers: the supervisor has them, and each worker inherits its own.
#
# Those of a worker that has died stay open: who connects meanwhile waits for its successor. A socket is bound
# here, and listens when its worker serves.

Sockets = Mapping[str, socket.socket]  # by the name of the listener


def named_addresses(where: ListenAddresses) -> Iterator[tuple[str, Address]]:
    named = ("wire", where.wire), ("http", where.http), ("admin", where.admin)
    for name, address in (*named, ("metrics", where.metrics)):
        if address is not None:
            yield name, address


def sockets_of_workers(where: ListenAddresses, workers: int) -> Sequence[Sockets]:
    """
    Gives    for each worker a socket of each listener; the system spreads connections over them
    Refuses  Stopped where a port is taken
    """
    made: list[dict[str, socket.socket]] = [{} for _ in range(workers)]
    for name, address in named_addresses(where):
        port = _free_port(address)
        for of_worker in made:
            try:
                of_worker[name] = _bound(address.host, port)
            except OSError as error:
                raise taken(address, error) from None
            port = of_worker[name].getsockname()[1]
    return made


def _free_port(address: Address) -> int:
    """The port, if nobody has it: sockets that share a port would share it with another dpproxy, too."""
    if address.port == 0:
        return 0
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        socket.create_server((address.host, address.port), family=family).close()
    except OSError as error:
        if address.or_free:
            return 0
        raise taken(address, error) from None
    return address.port


def _bound(host: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if made.family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((host, port))
    except BaseException:
        made.close()
        raise
    return made
