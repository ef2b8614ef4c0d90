"""Statements that tools and libraries generate (../shared/clients/generated.jsonl): which are answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.live import public_data
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

_FILE = Path(__file__).parents[3] / "shared" / "clients" / "generated.jsonl"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not (public_data.PRESENT and _FILE.is_file()),
        reason="the data and statements beside the repository are not here",
    ),
]
NAME = "public"  # which some tools put before the schema
ANSWERED = 135  # of 138; 136 but for metricflow-derived, which may divide by a noisy 0


@pytest.fixture(scope="module")
def public() -> Iterator[LiveProxy]:
    pair = servers()
    database = served_database(
        pair,
        NAME,
        public_data.script(),
        public_data.policy_tables(),
        mechanism="best",
        fill=lambda: public_data.load(pair.protected, NAME),
    )
    proxy = start_proxy(pair, [database])
    yield proxy
    proxy.stop()


def statements() -> list[dict[str, Any]]:
    return [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]


def test_as_expected(public: LiveProxy) -> None:
    refused, wrong = [], []
    for one in statements():
        with public.connect(NAME, analyst=public.servers.new_analyst()) as connection:
            given = tuple(one["params"]) if one.get("params") else None
            sql = one["sql"] if given is None else one["sql"].replace("$1", "%s")
            try:
                for number in range(2, 1 + len(given or ())):
                    sql = sql.replace(f"${number}", "%s")
                connection.execute(sql.encode(), given)
                if one["expect"] == "reject":
                    wrong.append(one["id"])
            except psycopg.Error as error:
                if one["expect"] == "answer":
                    text = f"{error.diag.message_primary} / {error.diag.message_hint}"
                    refused.append((one["id"], text))
    for name, text in refused:
        print(f"{name}: {text}")
    assert wrong == []
    assert 138 - len(refused) >= ANSWERED
