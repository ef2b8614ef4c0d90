"""The listening sockets of several workers: the supervisor has them, and each worker inherits its own.

Those of a worker that has died stay open: who connects meanwhile waits for its successor. A socket is bound
here, and listens when its worker serves.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence

from proxy.cli.addresses import Address
from proxy.cli.listen_addresses import ListenAddresses, taken

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
