"""What both listeners declare; that the login comes first; that FastAPI's own errors never appear."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from proxy.engine.explain_text import FreeBlock
from proxy.servers.http.admin_credentials import AdminCredentials
from proxy.servers.http.admin_routes import AdminRoutes
from proxy.servers.http.analyst_models import ExplainedBlock
from proxy.servers.http.http_server import HttpListener
from proxy.servers.login_gate import GateLimits, LoginGate
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD

_OPEN = {"check_health", "check_readiness"}


@pytest.fixture(scope="module")
def addresses(listeners: BothListeners) -> Iterator[list[str]]:
    """Of the analysts' listener, and of an administrators' listener that nobody can enter."""
    proxy = listeners.proxy
    gate = LoginGate(GateLimits(longest_delay_seconds=0.01))
    routes = AdminRoutes(proxy.servers.ledger_dsn, AdminCredentials({}), proxy.server, gate)
    server = HttpListener(routes.app)
    proxy.do(server.start("127.0.0.1", 0))
    hosts = (listeners.server.address, server.address)
    yield [f"{host}:{port}" for host, port in hosts]
    proxy.do(server.stop(1))


def _operations(address: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    document = httpx.get(f"http://{address}/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            yield (
                method.upper(),
                re.sub(r"{number}", "7", re.sub(r"{(?!number)\w+}", "x", path)),
                described,
            )


def test_documents(addresses: list[str]) -> None:
    for address in addresses:
        document = httpx.get(f"http://{address}/openapi.json").json()
        assert document["openapi"].startswith("3.1")
        assert "HTTPValidationError" not in str(document) and "422" not in str(document)
        names = [described["operationId"] for _, _, described in _operations(address)]
        assert len(set(names)) == len(names)
        for method, path, described in _operations(address):
            assert re.fullmatch("[a-z_]+", described["operationId"])
            assert described["tags"] and described["summary"]
            assert ("security" in described) is (described["operationId"] not in _OPEN), path
            responses = described["responses"]
            assert {"400", "421", "500", "503"} <= responses.keys()
            assert ("401" in responses) is ("security" in described)
            assert ("413" in responses) is ("requestBody" in described)
            for status, response in responses.items():
                # A generated client takes the first: only what Accept chooses has several.
                assert len(response["content"]) == 1 or (path, status) == ("/v1/query", "200"), path
                assert next(iter(response["content"])).endswith("json") or path.endswith(".csv")
                for kind, content in response["content"].items():
                    assert content["schema"], (method, path, status, kind)


def test_nobody_comes_in_without_a_login(addresses: list[str]) -> None:
    for address in addresses:
        for method, path, described in _operations(address):
            wanted = (200, 503) if described["operationId"] in _OPEN else (401,)
            told = httpx.request(
                method, f"http://{address}{path}", json={}, timeout=30, verify=False
            )
            assert told.status_code in wanted, path


def test_no_body_is_read_before_the_login(addresses: list[str]) -> None:
    """The body never comes: whoever waits for it gives no answer."""
    asked = 0
    for address in addresses:
        host, _, port = address.partition(":")
        for method, path, described in _operations(address):
            if "requestBody" not in described:
                continue
            asked += 1
            head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n"
            with socket.create_connection((host, int(port)), timeout=60) as client:
                client.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode())
                assert client.recv(100).startswith(b"HTTP/1.1 401"), path
    assert asked >= 5


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 404),
        ("?database", 404),
        ("?database=", 404),
        ("?Database=shop", 404),
        ("?database[]=shop", 404),
        ("?database=%00", 404),
        ("?database=%ff", 404),
        ("?database=shop&database=marked7c1f", 404),
        ("?database=marked7c1f&database=shop", 200),
        ("?database=shop&more=marked7c1f", 200),
    ],
)
def test_parameters(listeners: BothListeners, query: str, status: int) -> None:
    auth = (listeners.analyst, PASSWORD)
    for path in ("/v1/schema", "/v1/budget", "/v1/history"):
        told = listeners.client.get(path + query, auth=auth)
        assert told.status_code == status
        if status == 404:
            assert told.headers["content-type"] == "application/problem+json"
            assert told.json()["sqlstate"] == "3D000"
        wrong = listeners.client.get(path + query, auth=(listeners.analyst, "wrong"))
        assert wrong.status_code == 401


_VALID = '"database": "shop", "sql": "SELECT 1"'


@pytest.mark.parametrize(
    ("body", "detail", "hint"),
    [
        ("[]", "the body must be an object", "database, sql, params, epsilon, delta"),
        ("null", "the body must be an object", "database, sql, params, epsilon, delta"),
        (f'{{{_VALID}, "sqI": "x"}}', "unknown key", "database, sql, params, epsilon, delta"),
        ('{"database": null, "sql": "SELECT 1"}', "database must be a string", "For example"),
        ('{"database": "shop"}', "sql must be a string", "For example"),
        ('{"database": "shop", "sql": null}', "sql must be a string", "For example"),
        ('{"database": 1, "sql": "SELECT 1"}', "database must be a string", "For example"),
        ('{"database": true, "sql": "SELECT 1"}', "database must be a string", "For example"),
        (f'{{{_VALID}, "epsilon": "0.5"}}', "epsilon must be a number", "Leave it out"),
        (f'{{{_VALID}, "epsilon": true}}', "epsilon must be a number", "Leave it out"),
        (f'{{{_VALID}, "delta": [0.5]}}', "delta must be a number", "Leave it out"),
        (f'{{{_VALID}, "params": "x"}}', "params must be a list", "Of at most"),
        (f'{{{_VALID}, "params": {[1] * 2101}}}', "params must be a list", "Of at most"),
        (f'{{{_VALID}, "params": [{{}}]}}', "a parameter must be a string", "Send arrays"),
        (f'{{{_VALID}, "params": ["\\u0000"]}}', "cannot hold", None),
        ('{"database": "shop", "sql": "\\udfff"}', "cannot hold", None),
    ],
)
def test_bodies_that_do_not_fit_the_model(
    listeners: BothListeners, body: str, detail: str, hint: str | None
) -> None:
    headers = {"Content-Type": "application/json"}
    auth = (listeners.analyst, PASSWORD)
    for path in ("/v1/query", "/v1/explain"):
        told = listeners.client.post(path, content=body, headers=headers, auth=auth)
        assert told.status_code == 400
        assert detail in told.json()["detail"]
        assert (told.json()["hint"] is None) if hint is None else (hint in told.json()["hint"])


def test_numbers_keep_their_digits(listeners: BothListeners) -> None:
    """A limit that a double cannot tell from a number just above it."""
    for given, status in (("2." + "0" * 30, 200), ("2." + "0" * 29 + "1", 400)):
        told = listeners.client.post(
            "/v1/explain",
            content=f'{{"database": "shop", "sql": "SELECT count(*) FROM shop.orders", "epsilon": {given}}}',
            headers={"Content-Type": "application/json"},
            auth=(listeners.analyst, PASSWORD),
        )
        assert told.status_code == status, told.text


def test_a_cached_block_is_declared() -> None:
    block = {"tables": ["t"], "unit": "u", "keys": 0, "groups": 1, "units_needed": None, "sql": ""}
    free = FreeBlock(made_of="a cached answer", setting="dp.fresh").as_json()
    ExplainedBlock.model_validate({**block, **free, "lifted": "x"}, strict=True, extra="forbid")


class _Raising:
    def __bool__(self) -> bool:
        raise RuntimeError("marked7c1f")


def test_an_unforeseen_error_shows_nothing(
    listeners: BothListeners, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    http = open_http(listeners.proxy)
    try:
        http.readiness["protected"] = _Raising()  # type: ignore[assignment]
        told = http.client.get("/readyz")
        assert told.status_code == 500
        assert told.headers["content-type"] == "application/problem+json"
        assert told.headers["content-security-policy"] == "default-src 'none'"
        assert "marked7c1f" not in told.text + str(told.headers)
    finally:
        http.close()
    out, err = capfd.readouterr()
    assert "marked7c1f" not in out + err + caplog.text


@pytest.mark.parametrize("path", ["/v1/query/", "/docs/", "/redoc", "/docs/oauth2-redirect"])
def test_fastapi_serves_nothing_by_itself(addresses: list[str], path: str) -> None:
    for address in addresses:
        told = httpx.get(f"http://{address}{path}", verify=False)
        assert (told.status_code, told.json()["status"]) == (404, 404)


def test_head_is_answered_as_get(addresses: list[str]) -> None:
    for address in addresses:
        for path in ("/healthz", "/docs", "/openapi.json"):
            url = f"http://{address}{path}"
            head, get = httpx.head(url, verify=False), httpx.get(url, verify=False)
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-length"] == get.headers["content-length"]
            refused = httpx.options(url)
            assert refused.status_code == 405
            assert set(refused.headers["allow"].split(", ")) == {"GET", "HEAD"}
            assert refused.headers["content-type"] == "application/problem+json"
