"""The header by which a balancer says whose connection it passes on: the PROXY protocol, version 2, before the
first byte of the client.

Source: https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, 2.2. Stricter than that: what names no TCP
address is refused, but for LOCAL, by which the balancer speaks for itself.
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
MOST_BYTES = 4096  # of a header with all that follows its addresses
_START = struct.Struct("!12sBBH")
_LOCAL, _PROXY = 0x20, 0x21  # version 2, and the command
_ADDRESS_BYTES = {0x11: 4, 0x21: 16}  # TCP over IPv4 and over IPv6
_PORTS = 4


class HeaderRefused(Exception):
    """It is none, or names no client. The text has nothing of what came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyHeader:
    """client: the address that it names. None: the balancer's own connection. octets: how long it is."""

    client: str | None
    octets: int


def read_header(data: bytes) -> ProxyHeader | None:
    """
    >>> start = SIGNATURE + bytes([0x21, 0x11, 0, 12])
    >>> read_header(start + bytes([192, 0, 2, 7, 10, 0, 0, 1, 0x9C, 0x40, 0x19, 0x20]) + b"more")
    ProxyHeader(client='192.0.2.7', octets=28)

    Gives    None where more bytes are needed
    Refuses  HeaderRefused, as soon as no more bytes could make it one
    """
    if not SIGNATURE.startswith(data[: len(SIGNATURE)]):
        is_first_version = data.startswith(b"PROXY"[: len(data)])
        raise HeaderRefused("it is of version 1" if is_first_version else "there is none")
    if len(data) < _START.size:
        return None
    _, command, family, length = _START.unpack_from(data)
    if command not in (_LOCAL, _PROXY):
        raise HeaderRefused("its version or command is unknown")
    octets = _START.size + length
    if octets > MOST_BYTES:
        raise HeaderRefused("it is too long")
    if command == _LOCAL:  # "must discard the protocol block including the family"
        return None if len(data) < octets else ProxyHeader(client=None, octets=octets)
    width = _ADDRESS_BYTES.get(family)
    if width is None:
        raise HeaderRefused("it is not of TCP over IPv4 or IPv6")
    if length < 2 * width + _PORTS:
        raise HeaderRefused("it is too short for its addresses")
    if len(data) < octets:
        return None
    _check_rest(data[_START.size + 2 * width + _PORTS : octets])
    client = ipaddress.ip_address(data[_START.size : _START.size + width])
    if client.is_unspecified or client.is_multicast:
        raise HeaderRefused("it names no address of a client")
    return ProxyHeader(client=str(client), octets=octets)


def _check_rest(rest: bytes) -> None:
    """Vectors of type, length, value, which nothing here needs. They have to end where the header does."""
    while rest:
        if len(rest) < 3:
            raise HeaderRefused("what follows its addresses is malformed")
        length = int.from_bytes(rest[1:3], "big")
        if len(rest) < 3 + length:
            raise HeaderRefused("what follows its addresses is malformed")
        rest = rest[3 + length :]
