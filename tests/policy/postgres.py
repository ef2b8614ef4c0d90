"""A real PostgreSQL for the tests of policies, started once, with the demo's data."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from proxy.cli.demo.demo_data import make_demo_data
from proxy.postgres.embedded import EmbeddedPostgres


@functools.cache
def server() -> EmbeddedPostgres:
    home = Path(tempfile.mkdtemp(prefix="dpproxy-policy-"))
    postgres = EmbeddedPostgres(home, "protected", tcp=False, durable=False)
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    postgres.start()
    atexit.register(postgres.stop)  # runs before the line above: last in, first out
    return postgres


@functools.cache
def demo_sources() -> dict[str, str]:
    """Database name -> DSN of the role that may read it."""
    return make_demo_data(server().dsn())
