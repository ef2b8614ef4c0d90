"""The PostgreSQL of the run's other tests, for those of policies: its server, and the demo's data there."""

from __future__ import annotations

from collections.abc import Mapping

from proxy.postgres.embedded import EmbeddedPostgres
from tests.servers_fixture import servers


def server() -> EmbeddedPostgres:
    return servers().protected


def demo_sources() -> Mapping[str, str]:
    """Database name -> DSN of the role that may read it."""
    return servers().source_dsns
