"""What the wire server needs of the floors below it, per database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from proxy.pgwire.calls import Answered, Ask, Reader, Refuse


class Brain(Reader, Protocol):
    """`split`, `look`, `prepared` and `read` of Reader, and the one thing that takes time."""

    async def ask(self, analyst: str, ask: Ask) -> Answered | Refuse:
        """Charges. May be cancelled at any time: the client went away, or asked to cancel."""
        ...


@dataclass(frozen=True, slots=True)
class ShadowAddress:
    """host: a name or address, or the directory of a Unix socket, as libpq takes it."""

    host: str
    port: int

    @property
    def socket_path(self) -> str | None:
        return f"{self.host}/.s.PGSQL.{self.port}" if self.host.startswith("/") else None


@dataclass(frozen=True, slots=True)
class Served:
    """A database that clients may connect to."""

    shadow: ShadowAddress
    brain: Brain
