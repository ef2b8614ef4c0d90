"""Whom limits per address go by."""

from __future__ import annotations

import ipaddress


def network_of(host: str | None) -> str:
    """
    An IPv6 client has 2^64 addresses to choose from: it counts as its /64.

    >>> network_of("192.0.2.7"), network_of("::ffff:192.0.2.7"), network_of("2001:db8::1:2:3:4")
    ('192.0.2.7', '192.0.2.7', '2001:db8::/64')
    """
    if host is None:
        return "local"
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return "local"
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))
