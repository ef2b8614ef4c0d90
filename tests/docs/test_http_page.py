"""Commands of docs/reference/http.md are run as they stand, against a served listener."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live_proxy import sample_databases, start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD, servers

pytestmark = pytest.mark.postgres

_PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "http.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def listener() -> Iterator[BothListeners]:
    pair = servers()
    proxy = start_proxy(pair, sample_databases(pair))
    http = open_http(proxy)
    yield http
    http.close()
    proxy.stop()


def _commands(listener: BothListeners) -> list[str]:
    host, port = listener.server.address
    commands = re.findall(r"^    (curl .*?)\n\n", _PAGE, re.MULTILINE | re.DOTALL)
    return [
        one.replace("analyst:PASSWORD", shlex.quote(f"{listener.analyst}:{PASSWORD}")).replace(
            "127.0.0.1:8432", f"{host}:{port}"
        )
        for one in commands
    ]


def test_the_commands_work(listener: BothListeners) -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    told = []
    for command in _commands(listener):
        done = subprocess.run(
            command + " -sf", shell=True, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, command
        told.append(done.stdout)
    answer, plan, rows, budget = told
    assert {row[0] for row in json.loads(answer)["rows"]} >= {"paid", "shipped"}
    assert json.loads(plan)["privacy"]["epsilon"] == 0.5
    assert rows.startswith("count\n")
    assert json.loads(budget)["database"] == "shop"
