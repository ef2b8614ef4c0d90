"""One proxy for all tests of this folder, in front of the demo's databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live import kinds
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, sample_databases, start_proxy
from tests.servers_fixture import servers
from tests.sql.corpus import corpus

RELATIONS = "relations"


@pytest.fixture(scope="session")
def live() -> Iterator[LiveProxy]:
    pair = servers()
    of_kinds = served_database(pair, "kinds", kinds.SCRIPT, kinds.TABLES, "auto")
    related = corpus(RELATIONS)
    of_relations = served_database(
        pair, RELATIONS, related.schema, related.policy, "auto", most="100"
    )
    proxy = start_proxy(pair, [*sample_databases(pair), of_kinds, of_relations])
    yield proxy
    proxy.stop()


@pytest.fixture
def analyst(live: LiveProxy) -> str:
    """A fresh one: nothing spent."""
    return live.servers.new_analyst()
