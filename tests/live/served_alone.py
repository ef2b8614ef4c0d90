"""A fixture for a file of tests: a database of its own behind a proxy of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers


def served_alone(
    name: str, script: str, tables: str, mechanism: str = "auto", most: str = "100"
) -> Callable[[], Iterator[LiveProxy]]:
    """As `served_database` makes it: `things = served_alone("things", SCRIPT, TABLES)`."""

    @pytest.fixture(scope="module")
    def served() -> Iterator[LiveProxy]:
        database = served_database(servers(), name, script, tables, mechanism, most=most)
        proxy = start_proxy(servers(), [database])
        yield proxy
        proxy.stop()

    return served
