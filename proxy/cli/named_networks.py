"""NETWORK and ORIGIN on the command line: who is believed about addresses, and whose pages may ask."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from proxy.cli.cli_error import CliError
from proxy.servers.client_address import Networks


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
    from proxy.servers.http.cross_origin import is_origin  # with the web framework

    for text in texts:
        if not is_origin(text):
            raise CliError(f"--cors-origin {text}: not an origin, such as https://app.example")
    return tuple(texts)
