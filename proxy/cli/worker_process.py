"""The program of a worker: the command that its supervisor was given, with what it inherits."""

from __future__ import annotations

from proxy.cli.main import main
from proxy.cli.worker import inherit


def run_worker(number: int) -> None:
    """
    Given    the file descriptor of the line to the supervisor
    """
    main(inherit(number))
