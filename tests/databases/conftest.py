"""Real servers for the tests of this floor."""

from __future__ import annotations

import pytest

from tests.servers_fixture import Servers, servers


@pytest.fixture(scope="session")
def pair() -> Servers:
    """The shared embedded pair: protected data and shadows."""
    return servers()
