"""The demo's shop behind two listeners, one of which takes TLS only, for programs of their own."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg

from proxy.cli.assembly import assemble
from proxy.policy.check import fitted
from proxy.policy_file.policy_yaml import read_policy
from proxy.protected.catalog_reader import read_catalog
from proxy.servers.certificate import ALPN, server_context
from proxy.servers.wire.wire_server import WireServer
from proxy.shadow.shadow_database import Shadow
from tests.ledger_key import LEDGER_CIPHER
from tests.live_proxy import LiveProxy, start_proxy
from tests.samples import SHOP_POLICY
from tests.servers_fixture import PASSWORD, Servers, new_servers
from tests.unjudged_rows import unjudged

_NUMBERS = itertools.count(1)
# With so much epsilon and such bounds answers are PostgreSQL's own, but for little noise.
_EXACT = {
    "  epsilon: 1.0": "  epsilon: 100",
    "max_epsilon: 2.0": "max_epsilon: 100",
    "max_rows_per_unit: auto": "max_rows_per_unit: 400",
    "[0, 1000], grid: 0.01, per_unit: [0, 5000]": "[0, 2000], grid: 0.01, per_unit: [0, 60000]",
    "  shop.products: public": "  shop.products: public\n  calendar.days: public",
    # Mappers count by the key of a table.
    "      product_id: {references": "      id: {}\n      product_id: {references",
}
# For MetricFlow, which joins metrics with a table of days.
_CALENDAR = """\
CREATE SCHEMA IF NOT EXISTS calendar;
CREATE TABLE IF NOT EXISTS calendar.days (day date PRIMARY KEY);
INSERT INTO calendar.days SELECT day::date FROM generate_series(date '2020-01-01', '2026-12-31', '1 day') day
ON CONFLICT DO NOTHING;
GRANT USAGE ON SCHEMA calendar TO PUBLIC; GRANT SELECT ON calendar.days TO PUBLIC"""
# What clients are expected to show is of epsilon 1.
_LESS_NOISE = {
    "max_epsilon: 1.0": "max_epsilon: 2.0",
    "  epsilon: 0.5": "  epsilon: 1.0",
    "  delta: 1e-8": "  delta: 1e-6",
}
_BUDGETS = """\
budgets:
  total:    {epsilon: 1000000, delta: 0.9}
  default:  {epsilon: 1000000, delta: 0.9, per: month}
accept: {TOTAL_IS_LARGE: {budgets.total: what is spent here is invented}}
"""


def policy_text(exact: bool) -> str:
    """The demo's policy, with a budget for a day of tests; exact: answers all but without noise"""
    text = SHOP_POLICY.read_text(encoding="utf-8")
    for found, instead in (*_LESS_NOISE.items(), *(_EXACT.items() if exact else ())):
        assert found in text, found
        text = text.replace(found, instead, 1)
    previews = "" if exact else "previews: empty\n"  # as a BI tool needs for virtual datasets
    return text[: text.index("budgets:")] + _BUDGETS + "reuse: none\n" + previews


@functools.cache
def own_servers() -> Servers:
    """Not those of other tests: their shadow of the shop is rebuilt here by another policy."""
    return new_servers()


@dataclass(slots=True)
class ServedShop:
    live: LiveProxy
    encrypted: WireServer
    certificate: Path
    analyst: str

    @property
    def tls_port(self) -> int:
        return self.encrypted.address[1]

    def direct(self) -> psycopg.Connection:
        """To the protected database, for exact answers."""
        return psycopg.connect(self.live.servers.protected.dsn("shop"), autocommit=True)

    def environment(self, port: int | None = None) -> dict[str, str]:
        """Of a program that connects; port: of what stands in front of the proxy"""
        return {
            **os.environ,
            "PGHOST": "127.0.0.1",
            "PGPORT": str(port or self.live.port),
            "PGUSER": self.analyst,
            "PGPASSWORD": PASSWORD,
            "PGDATABASE": "shop",
            "PGCONNECT_TIMEOUT": "20",
            "DP_TLS_PORT": str(self.tls_port),
            "DP_CERTIFICATE": str(self.certificate),
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
        }

    def stop(self) -> None:
        self.live.do(self.encrypted.stop(grace_seconds=0.5))
        self.live.stop()


def serve_shop(certificate: tuple[Path, Path], *, exact: bool) -> ServedShop:
    """exact: answers all but without noise; else those of the demo"""
    pair = own_servers()
    policy = read_policy(policy_text(exact), "shop.yaml", {"SHOP_DSN": pair.source_dsns["shop"]})
    catalog = pair.catalogs["shop"]
    if exact:
        with psycopg.connect(pair.protected.dsn("shop")) as owner:
            owner.execute(_CALENDAR)
        catalog = read_catalog(pair.source_dsns["shop"])
    policy = fitted(policy, catalog)
    shadow = Shadow(pair.shadow_server.dsn(), "shop", pair.shadow_server.address)
    shadow.build(policy, catalog, unjudged(policy))
    live = start_proxy(pair, [assemble(policy, catalog, shadow, pair.lease(policy), LEDGER_CIPHER)])
    analyst = f"client_{next(_NUMBERS)}"
    pair.add_analyst(analyst, PASSWORD)
    context = server_context(*certificate, ALPN)

    async def start() -> WireServer:
        server = live.assembly.wire_server(context, requires_tls=True)
        await server.start("127.0.0.1", 0)
        return server

    encrypted = asyncio.run_coroutine_threadsafe(start(), live.loop).result(60)
    return ServedShop(live, encrypted, certificate[0], analyst)


def output(command: list[str], environment: Mapping[str, str], seconds: int) -> str:
    """What a program prints; its errors are part of the message where it fails. What it started ends too."""
    running = subprocess.Popen(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        printed, errors = running.communicate(timeout=seconds)
    finally:
        with contextlib.suppress(ProcessLookupError):  # it left nobody behind
            os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == 0, f"{command}: {printed[-2000:]}{errors[-4000:]}"
    return printed
