"""A Python client, generated from the OpenAPI document, calls every operation of both listeners."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from proxy.servers.http.admin_credentials import AdminCredentials
from proxy.servers.http.admin_routes import AdminRoutes
from proxy.servers.login_gate import LoginGate
from tests.clients.installed import PROGRAMS, NotHere, python_of
from tests.generated_clients.calls import Call, Operation, admin_calls, analyst_calls, operations
from tests.generated_clients.conftest import ANALYST, PASSWORD, SECRET, Served
from tests.servers.http.declared_responses import analysts_app

_BASIC = base64.b64encode(f"{ANALYST}:{PASSWORD}".encode()).decode()


@pytest.fixture
def python() -> str:
    """The interpreter of the generator's environment, which the generated client runs in, too."""
    try:
        return python_of("openapi", "openapi_python_client")
    except NotHere as reason:
        pytest.skip(f"openapi-python-client: {reason}")


def _answers(
    python: str, folder: Path, served: Served, address: str, login: str, calls: Mapping[str, Call]
) -> Mapping[str, Any]:
    """What the client's own models hold of each answer, as JSON."""
    document = served.document(address)
    (folder / "document.json").write_text(json.dumps(document))
    (folder / "config.yml").write_text("post_hooks: []\n")
    _run(
        *(python, "-m", "openapi_python_client", "generate", "--fail-on-warning"),
        *("--path", str(folder / "document.json"), "--config", str(folder / "config.yml")),
        *("--meta", "none", "--output-path", str(folder / "generated")),
    )
    described = {one.name: one for one in operations(document)}
    given = {
        "folder": str(folder),
        "package": "generated",
        "address": address,
        "login": login,
        "calls": [_given(described[name], call) for name, call in calls.items()],
    }
    told = _run(python, str(PROGRAMS / "of_generated_client.py"), typed=json.dumps(given))
    answers = json.loads(told)
    assert answers.keys() == calls.keys()
    assert "ProblemDocument" not in {kind for kind, _ in answers.values()}
    return {name: answer for name, (_, answer) in answers.items()}


def _given(operation: Operation, call: Call) -> Mapping[str, Any]:
    return {
        "name": operation.name,
        "tag": operation.tag,
        "parameters": call.parameters,
        "body": call.body,
        "body_model": operation.body_model,
    }


def _run(*command: str, typed: str = "") -> str:
    done = subprocess.run(command, input=typed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_calls(described: Mapping[str, Operation], calls: Mapping[str, Call]) -> None:
    """Every operation is called, with each of its parameters."""
    assert calls.keys() == described.keys()
    for name, operation in described.items():
        assert calls[name].parameters.keys() == operation.parameters.keys(), name
        assert (calls[name].body is None) == (operation.body_model is None), name


def test_every_operation_has_a_call() -> None:
    nothing = cast(Any, None)
    administrators = AdminRoutes(nothing, AdminCredentials({}), nothing, LoginGate()).app()
    for app, calls in (
        (analysts_app(), analyst_calls()),
        (administrators, admin_calls("nobody", token=1, session=1, request=1)),
    ):
        check_calls({one.name: one for one in operations(app.openapi())}, calls)


@pytest.mark.long
def test_an_analyst(python: str, served: Served, tmp_path: Path) -> None:
    calls = analyst_calls()
    told = _answers(python, tmp_path, served, served.analysts, f"Basic {_BASIC}", calls)
    answer = told["run_query"]
    assert [one["name"] for one in answer["columns"]] == ["state", "count", "n"]
    assert {row[0] for row in answer["rows"]} == {"CA", "TX"}
    assert {row[2] for row in answer["rows"]} == {20.5}
    assert answer["privacy"]["epsilon"] == 0.5 and answer["privacy"]["source"] == "fresh"
    assert answer["errors"]["rows"][0][1] > 0
    assert told["explain_query"]["privacy"]["epsilon"] == 0.5
    receipts = [str(one["receipt"]) for one in told["show_history"]["history"]]
    assert receipts[0] == answer["privacy"]["receipt"]
    assert told["show_budget"]["budget"][0]["epsilon_spent"] == 0.5 * len(receipts)
    assert "shop.customers" in [table["name"] for table in told["show_schema"]["tables"]]


@pytest.mark.long
def test_an_administrator(python: str, served: Served, tmp_path: Path) -> None:
    with served.connect():
        (session,) = served.administer("/sessions")["sessions"]
        token = len(served.administer("/tokens")["tokens"]) + 1
        numbers = {"session": session["number"], "request": served.requested()}
        calls = admin_calls("python", token=token, **numbers)
        address, login = served.administrators, f"Bearer {SECRET}"
        told = _answers(python, tmp_path, served, address, login, calls)
    assert told["create_token"]["number"] == token
    assert told["list_tokens"]["tokens"][-1]["epsilon"] == "1.25"
    assert told["list_groups"]["groups"] == {"group of python": ["python"]}
    assert told["list_access"]["databases"][0]["analysts"] == ["python"]
    assert told["show_log"]["events"][-1]["what"] == "user remove"
    assert [one["database"] for one in told["reload_policies"]["policies"]] == ["shop"]
