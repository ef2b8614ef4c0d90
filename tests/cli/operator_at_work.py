"""Several `dpproxy serve` on one policy, and clients that remember every receipt that they were given."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from proxy.ledger.text_keys import KEY_FILE
from tests.cli.commands import Done, Serving, dpproxy, serving
from tests.servers_fixture import servers

PASSWORD = "a long password"
QUESTION = "SELECT count(*) FROM shop.customers"
_POLICY = """\
dpproxy: 1
database: shop
source: ${{SHOP_DSN}}
privacy: {{epsilon: 1, delta: 1e-6, max_epsilon: 2}}
{reuse}tables:
  shop.customers:
    unit: {{customer: id}}
    max_rows_per_unit: 1
    columns: {{state: {{values: [CA, TX]}}}}
budgets:
  total: {{epsilon: 1000000, delta: 1e-3}}
  default: {{epsilon: 1000000, delta: 1e-4}}
  analysts: {{{analysts}}}
accept: {{TOTAL_IS_LARGE: {{budgets.total: what is spent here is invented}}}}
"""


@dataclass(slots=True)
class Operator:
    """Runs commands on one state folder. options: that every command has; more: lines of the policy; source:
    the protected database, where it is another than the shop of all tests."""

    folder: Path
    options: tuple[str, ...] = ()
    analysts: dict[str, int] = field(default_factory=dict)  # name -> epsilon
    more: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = ", ".join(f"{n}: {{epsilon: {e}, delta: 1e-4}}" for n, e in self.analysts.items())
        draws = "" if "reuse:" in self.more else "reuse: none\n"  # each answer is one of its own
        self.policy.write_text(_POLICY.format(analysts=lines, reuse=draws) + self.more)

    @property
    def policy(self) -> Path:
        return self.folder / "shop.yaml"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def environment(self) -> dict[str, str]:
        return {"SHOP_DSN": self.source or servers().source_dsns["shop"]}

    def run(self, *arguments: str | Path, typed: str = "") -> Done:
        done = dpproxy(
            *arguments,
            "--state",
            self.state,
            *self.options,
            typed=typed,
            environment=self.environment,
        )
        assert done.code == 0, done.err
        return done

    def adopt(self, *names: str) -> None:
        self.run("ledger", "adopt", "--policy", self.policy, "--new")
        for name in names:
            self.run("user", "add", name, "--password-stdin", typed=PASSWORD)

    def give_key_to(self, others: Iterable[Operator]) -> None:
        """The key of a shared ledger, made before anybody serves it."""
        self.run("ledger", "key", "--new")
        for other in others:
            self.copy_key_to(other)

    def copy_key_to(self, other: Operator) -> None:
        other.state.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(self.state / KEY_FILE, other.state / KEY_FILE)

    @contextlib.contextmanager
    def serving(
        self, is_cold: bool = False, more: Iterable[str | Path] = ()
    ) -> Iterator[Listening]:
        listening = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
        arguments = ("serve", "--policy", self.policy, *listening, "--state", self.state)
        with serving(
            self.folder, [*arguments, *self.options, *more], "HTTP:", self.environment, is_cold
        ) as running:
            yield Listening(running)


@dataclass(frozen=True, slots=True)
class Listening:
    running: Serving

    @property
    def wire(self) -> tuple[str, int]:
        return self._address("PostgreSQL clients: ")

    @property
    def http(self) -> tuple[str, int]:
        return self._address("HTTP: http://")

    def _address(self, start: str) -> tuple[str, int]:
        (line,) = (x for x in self.running.printed.splitlines() if x.startswith(start))
        host, _, port = line.removeprefix(start).partition("/")[0].partition(":")
        return host, int(port)

    def connect(self, name: str) -> psycopg.Connection:
        host, port = self.wire
        return psycopg.connect(
            make_conninfo(
                host=host,
                port=port,
                user=name,
                password=PASSWORD,
                dbname="shop",
                options="-c dp.notice=on",
                connect_timeout=30,
            ),
            autocommit=True,
        )

    def query_over_http(self, name: str) -> int:
        """The receipt of one answer. Refuses  OSError, http.client.HTTPException, KeyError"""
        return int(self.over_http(name, QUESTION)["privacy"]["receipt"])

    def over_http(self, name: str, sql: str) -> Any:
        """What is answered. Refuses  OSError, http.client.HTTPException, KeyError: an error's body"""
        token = base64.b64encode(f"{name}:{PASSWORD}".encode()).decode()
        connection = http.client.HTTPConnection(*self.http, timeout=30)
        try:
            connection.request(
                "POST",
                "/v1/query",
                json.dumps({"database": "shop", "sql": sql}),
                {"Authorization": f"Basic {token}", "Content-Type": "application/json"},
            )
            body = json.loads(connection.getresponse().read())
            if "rows" not in body:
                raise KeyError(body.get("sqlstate"), body.get("detail"))
            return body
        finally:
            connection.close()


def query_over_the_wire(connection: psycopg.Connection) -> int:
    """The receipt of one answer, from its NOTICE."""
    said: list[str] = []

    def note(diagnostic: psycopg.errors.Diagnostic) -> None:
        said.append(diagnostic.message_primary or "")

    connection.add_notice_handler(note)
    try:
        assert connection.execute(QUESTION).fetchone() is not None
    finally:
        connection.remove_notice_handler(note)
    (receipt,) = re.findall(r"receipt (\d+)", " ".join(said))
    return int(receipt)
