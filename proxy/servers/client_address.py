"""Whom limits per address go by: the client, behind balancers and proxies that the operator names."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

Networks = tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]


def network_of(host: str | None) -> str:
    """
    An IPv6 client has 2^64 addresses to choose from: it counts as its /64.

    >>> network_of("192.0.2.7"), network_of("::ffff:192.0.2.7"), network_of("2001:db8::1:2:3:4")
    ('192.0.2.7', '192.0.2.7', '2001:db8::/64')
    """
    address = _address_of(host)
    if address is None:
        return "local"
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.ip_network((address, 64), strict=False))


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_within(host: str | None, networks: Networks) -> bool:
    """
    >>> of = (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("fd00::/8"))
    >>> [is_within(one, of) for one in ("10.1.2.3", "::ffff:10.1.2.3", "fd00::1", "192.0.2.7", None)]
    [True, True, True, False, False]
    """
    address = _address_of(host)
    return address is not None and any(address in one for one in networks)


def forwarded_client(headers: Sequence[str], proxies: Networks) -> str | None:
    """Whom a trusted proxy speaks for, by its X-Forwarded-For.

    Each proxy appends the address that it was asked from. So the right-most one that is no trusted proxy's was
    written by one; what is left of it came from anybody.

    >>> of = (ipaddress.ip_network("10.0.0.0/8"),)
    >>> forwarded_client(["192.0.2.1, 203.0.113.9", "10.0.0.2"], of), forwarded_client([], of)
    ('203.0.113.9', None)
    >>> forwarded_client(["10.0.0.3, 10.0.0.2"], of)
    '10.0.0.3'

    Args:
        headers: As they came, in their order.

    Returns:
        None where there is no such header.

    Raises:
        ValueError: What a proxy wrote is no address.
    """
    client = None
    rest: str | None = ",".join(headers) if headers else None
    while rest is not None:
        before, comma, hop = rest.rpartition(",")
        address = _address_of(_without_port(hop.strip(" \t")))
        if address is None:
            raise ValueError("not an address")
        client = str(address)
        if not is_within(client, proxies):
            break
        rest = before if comma else None
    return client


def _without_port(hop: str) -> str:
    """
    >>> _without_port("192.0.2.7:443"), _without_port("[2001:db8::1]:443"), _without_port("2001:db8::1")
    ('192.0.2.7', '2001:db8::1', '2001:db8::1')
    """
    if hop.startswith("["):
        inside, bracket, port = hop[1:].partition("]")
        is_whole = bracket and (not port or (port[0] == ":" and port[1:].isdecimal()))
        return inside if is_whole else ""
    host, colon, port = hop.partition(":")
    return host if colon and port.isdecimal() and "." in host else hop


def _address_of(host: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address((host or "").partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
