"""The shadow's server: one of our own in a state directory, or a given one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from proxy.cli.state import SERVE_STATE, SHADOW
from proxy.cli.stopped import Stopped
from proxy.databases.embedded import EmbeddedPostgres, InUse
from proxy.databases.given_server import GivenServer


class Server(Protocol):
    """An EmbeddedPostgres or a GivenServer."""

    @property
    def address(self) -> tuple[str, int]: ...

    def dsn(self) -> str: ...


@contextlib.contextmanager
def shadow_server(state: Path | None, dsn: str | None, *, may_attach: bool) -> Iterator[Server]:
    """
    Given    may_attach: whether it may be one that another process of ours runs
    Gives    the server; one of our own is started for it, and stopped after
    Refuses  Stopped
    """
    if dsn is not None:
        if state is not None:
            raise Stopped("give --state or --shadow, not both")
        yield GivenServer(dsn)
        return
    server = EmbeddedPostgres(state or SERVE_STATE, SHADOW)
    if may_attach and server.attach():
        yield server
        return
    if may_attach and not server.home.exists():
        raise Stopped(
            f"there is no shadow in {state or SERVE_STATE}: give the --state of `dpproxy serve` or `demo`"
        )
    try:
        server.start()
    except InUse:
        raise Stopped(f"another dpproxy runs in {state or SERVE_STATE}") from None
    try:
        yield server
    finally:
        server.stop()
