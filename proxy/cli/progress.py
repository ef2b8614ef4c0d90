"""What takes long, told on a terminal while it goes on. Pipes, files and logs see nothing of it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from proxy.postgres.embedded import EmbeddedPostgres

if TYPE_CHECKING:
    from rich.progress import Progress


_T = TypeVar("_T")
_LOOKS_EVERY = 0.5  # seconds


def is_told() -> bool:
    if not sys.stderr.isatty():
        return False
    from rich.console import Console

    return not Console(stderr=True).is_dumb_terminal


def counted(items: Iterable[_T], what: str) -> Iterator[_T]:
    """The items, with a bar that says how many of them are done."""
    if not is_told():
        yield from items
        return
    listed = list(items)
    with _shown(is_counted=True) as progress:
        yield from progress.track(listed, total=len(listed), description=what)


@contextmanager
def working(what: str, more: Callable[[], str] = str) -> Iterator[None]:
    """Say how long something has gone on.

    Args:
        more: What to say beside, asked for twice a second by a thread.
    """
    if not is_told():
        yield
        return
    ended = threading.Event()
    with _shown(is_counted=False) as progress:
        task = progress.add_task(what, total=None)

        def look() -> None:
            while not ended.wait(_LOOKS_EVERY):
                progress.update(task, description=f"{what}{more()}")

        looking = threading.Thread(target=look, name="progress", daemon=True)
        looking.start()
        try:
            yield
        finally:
            ended.set()
            looking.join()


def copied_into(server: EmbeddedPostgres) -> Callable[[], str]:
    """What `working` says of the rows that a shadow's server is being given: their server counts them."""
    from proxy.shadow.shadow_making import bytes_being_copied  # the planner, 2 s of importing

    def said() -> str:
        copied = bytes_being_copied(server.dsn())
        return f": {copied / 10**6:,.1f} MB of a public table" if copied else ""

    return said


@contextmanager
def _shown(*, is_counted: bool) -> Iterator[Progress]:
    from rich.console import Console  # 0.1 s, which nobody waits for who sees nothing
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    said = TextColumn("{task.description}", markup=False)
    columns = (BarColumn(), MofNCompleteColumn()) if is_counted else ()
    console = Console(stderr=True)
    with Progress(
        SpinnerColumn(), said, *columns, TimeElapsedColumn(), console=console, transient=True
    ) as progress:
        yield progress
