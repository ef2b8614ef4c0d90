"""Apache Superset in Chromium, in front of the demo's own policy: an analyst's epsilon, an analyst's noise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.running import check, client_named, command
from tests.clients.served_shop import serve_shop


@pytest.mark.long
def test_superset(certificate: tuple[Path, Path], tmp_path: Path, bless: bool) -> None:
    client = client_named("Superset")
    command(client)
    shop = serve_shop(certificate, exact=False)
    try:
        check(client, shop, tmp_path, bless)
    finally:
        shop.stop()
