"""An empty PostgreSQL that says what keys are for listed values, one for each process of tests that asks it."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

import psycopg

from proxy.postgres.embedded import EmbeddedPostgres
from proxy.shadow.constant_evaluation import ShadowLabels


@functools.cache
def _server() -> EmbeddedPostgres:
    home = Path(tempfile.mkdtemp(prefix="dpproxy-labels-"))
    server = EmbeddedPostgres(home, "synthetic", tcp=False, durable=False)

    def stop() -> None:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)

    atexit.register(stop)
    server.start()
    return server


POSTGRES_LABELS = ShadowLabels(lambda: psycopg.connect(_server().dsn(), autocommit=True))
