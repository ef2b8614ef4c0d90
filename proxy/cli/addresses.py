"""HOST:PORT on the command line."""

from __future__ import annotations

from dataclasses import dataclass

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
