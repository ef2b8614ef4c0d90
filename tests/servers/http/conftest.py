"""both listeners of one proxy, in front of the demo's databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live_proxy import sample_databases, start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import servers


@pytest.fixture(scope="session")
def listeners() -> Iterator[BothListeners]:
    pair = servers()
    proxy = start_proxy(pair, sample_databases(pair))
    http = open_http(proxy)
    yield http
    http.close()
    proxy.stop()
