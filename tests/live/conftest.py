"""One proxy for all tests of this folder, in front of the demo's databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxy.cli.assembly import assemble
from tests.live import kinds
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers


@pytest.fixture(scope="session")
def live() -> Iterator[LiveProxy]:
    pair = servers()
    proxy = start_proxy(
        pair,
        [
            assemble(pair.policies[name], pair.catalogs[name], pair.shadows[name])
            for name in pair.policies
        ]
        + [
            served_database(pair.protected, pair.shadow_server, "kinds", kinds.SCRIPT, kinds.TABLES)
        ],
    )
    yield proxy
    proxy.stop()


@pytest.fixture
def analyst(live: LiveProxy) -> str:
    """A fresh one: nothing spent."""
    return live.servers.new_analyst()
