"""A served process with an administrators' listener, whose policy may be changed, and browsers for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import psycopg

from proxy.cli.state import LEDGER
from proxy.ledger.admin_log import AdminEvent, admin_events
from proxy.ledger.ledger_home import DATABASE
from proxy.postgres.embedded import EmbeddedPostgres
from tests.cli.commands import Serving, serving
from tests.cli.test_serving_with_a_ledger import Operator, connect
from tests.servers_fixture import servers
from tests.waiting import until

NAME, SECRET = "officer", "0123456789abcdef" * 4
OWN = {"Sec-Fetch-Site": "same-origin"}
MARK = "<img src=x onerror=alert(4711)>"  # in names, notes and the policy
PAGES = (
    *(
        "/",
        "/budgets",
        "/people",
        "/people/one?name=ann",
        "/receipts",
        "/receipts.csv",
        "/chain",
        "/log",
    ),
    *("/policy/shop", "/findings/shop", "/audit/shop", "/change/add-user"),
    *("/change/remove-user?name=ann", "/change/create-token?name=ann"),
    "/change/confirm-adjustment?number=1",
    *("/report/shop", "/report/shop?format=HTML"),
)


@dataclass(slots=True)
class Administered:
    """seen: every response, for what none may hold."""

    operator: Operator
    running: Serving
    address: str
    analysts: str
    secrets: Path
    ledger_dsn: str
    seen: list[str] = field(default_factory=list)
    browsers: list[httpx.Client] = field(default_factory=list)

    def browser(self) -> httpx.Client:
        found = httpx.Client(
            base_url=self.address,
            timeout=60,
            follow_redirects=True,
            event_hooks={"response": [self._see]},
        )
        self.browsers.append(found)
        return found

    def _see(self, response: httpx.Response) -> None:
        response.read()
        self.seen.append(f"{response.headers} {response.text}")

    def signed_in(self, secret: str = SECRET) -> httpx.Client:
        browser = self.browser()
        found = browser.post("/sign-in", data={"secret": secret, "to": ""}, headers=OWN)
        assert found.status_code == 200 and found.url.path == "/", found.text
        return browser

    def events(self) -> list[AdminEvent]:
        return list(admin_events(self.ledger_dsn))

    def may_connect(self) -> bool:
        try:
            connect(self.running).close()
        except psycopg.OperationalError:
            return False
        return True

    def ask(
        self, statement: str = "SELECT state, count(*) FROM shop.customers GROUP BY state"
    ) -> None:
        with connect(self.running) as connection:
            connection.execute(statement.encode())


def token_of(page: str) -> str:
    found = re.search(r'name="token" value="([0-9a-f]{64})"', page)
    assert found is not None, page
    return found[1]


def send(browser: httpx.Client, path: str, **fields: str) -> httpx.Response:
    """The form of a page, filled in."""
    page = browser.get(path)
    data = {"token": token_of(page.text), **fields}
    return browser.post(path.partition("?")[0], data=data, headers=OWN)


def shown(page: httpx.Response | str) -> str:
    text = page if isinstance(page, str) else page.text
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)))


@contextmanager
def administered(folder: Path, *options: str) -> Iterator[Administered]:
    operator = Operator(folder)
    operator.adopt()
    secrets = folder / "secrets"
    secrets.touch(mode=0o600)
    secrets.write_text(f"{NAME} {SECRET}\n")
    more: list[str | Path] = ["--admin", "127.0.0.1:0", "--admin-secrets", secrets]
    more += ["--trusted-proxy", "127.0.0.1", *options]
    with serving(
        folder, operator.arguments(*more), "administrators:", operator.environment
    ) as running:
        found = Administered(
            operator=operator,
            running=running,
            address=_address(running, "administrators"),
            analysts=_address(running, "HTTP"),
            secrets=secrets,
            ledger_dsn=ledger_dsn_of(operator.state),
        )
        yield found
        for browser in found.browsers:
            browser.close()
        assert running.stop() == 0


def write_policy(site: Administered, text: str, taken: Any) -> None:
    """taken: what is asked until the file was looked at."""
    site.operator.policy.write_text(text)
    until(taken)


def ledger_dsn_of(state: Path) -> str:
    server = EmbeddedPostgres(state, LEDGER)
    server.attach()
    return server.dsn(DATABASE)


def _address(running: Serving, line: str) -> str:
    found = re.search(rf"^{line}: (?:http://)?([^/\n]+)", running.printed, re.MULTILINE)
    assert found is not None, running.printed
    return f"http://{found[1]}"


def emails() -> list[str]:
    """Of people in the protected table: data that is in no page."""
    with psycopg.connect(servers().protected.dsn("shop")) as connection:
        rows = connection.execute("SELECT email, name FROM shop.customers LIMIT 50").fetchall()
    return [text for row in rows for text in row]
