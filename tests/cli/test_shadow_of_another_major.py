"""`dpproxy serve --pg-bin`: a shadow of the major of the protected server, for tools that ask its version."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.cli.commands import dpproxy, serving
from tests.postgres_majors import other_binaries
from tests.samples import SHOP_POLICY as _SHOP
from tests.servers_fixture import servers

_PASSWORD = "pass word"


@pytest.mark.long
def test_a_shadow_of_another_major(tmp_path: Path) -> None:
    binaries = other_binaries()
    if binaries is None:
        pytest.skip("there is no PostgreSQL of another major on this machine")
    policy = tmp_path / "shop.yaml"
    accept = "accept: {OLD_POSTGRESQL: whatever the machine of the tests has}\n"
    policy.write_text(_SHOP.read_text("utf-8") + accept)
    source = {"SHOP_DSN": servers().source_dsns["shop"]}
    state = ("--state", tmp_path / "state")
    adopted = dpproxy("ledger", "adopt", "--new", "--policy", policy, *state, environment=source)
    assert adopted.code == 0, adopted.err
    added = dpproxy("user", "add", "erin", "--password-stdin", *state, typed=_PASSWORD)
    assert added.code == 0, added.err
    free = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--pg-bin", binaries.folder)
    with serving(
        tmp_path, ["serve", "--policy", policy, *state, *free], "/docs\n", source
    ) as running:
        wire = re.search(r"PostgreSQL clients: (\S+):(\d+)", running.printed)
        assert wire is not None
        host, port = wire.groups()
        dsn = make_conninfo(host=host, port=port, user="erin", password=_PASSWORD, dbname="shop")
        with psycopg.connect(dsn) as connection:
            assert connection.info.server_version // 10_000 == binaries.major
            row = connection.execute("SELECT count(*) FROM shop.orders").fetchone()
        assert row is not None and abs(row[0] - 60_000) < 5_000
        assert running.stop() == 0
