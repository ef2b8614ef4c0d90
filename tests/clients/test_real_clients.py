"""Each installed client does what docs/reference/clients.md says of it; `--bless` writes what it did."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.installed import CLIENTS, Client
from tests.clients.running import check, command
from tests.clients.served_shop import ServedShop, serve_shop


@pytest.fixture(scope="module")
def shop(certificate: tuple[Path, Path]) -> Iterator[ServedShop]:
    served = serve_shop(certificate, exact=True)
    yield served
    served.stop()


@pytest.mark.long
@pytest.mark.parametrize(
    "client", [one for one in CLIENTS if one.name != "Superset"], ids=lambda client: client.name
)
def test_client(
    client: Client, request: pytest.FixtureRequest, tmp_path: Path, bless: bool
) -> None:
    command(client)  # before a proxy is started for nothing
    check(client, request.getfixturevalue("shop"), tmp_path, bless)
