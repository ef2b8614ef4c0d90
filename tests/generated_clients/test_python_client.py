"""A Python client, generated from the OpenAPI document, calls every operation of both listeners."""

from __future__ import annotations

import base64
import importlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.generated_clients.calls import (
    Call,
    Document,
    Operation,
    admin_calls,
    analyst_calls,
    operations,
)
from tests.generated_clients.conftest import ANALYST, PASSWORD, SECRET, Served

_BASIC = base64.b64encode(f"{ANALYST}:{PASSWORD}".encode()).decode()


class PythonClient:
    """What `openapi-python-client` makes of a document."""

    def __init__(self, document: Document, folder: Path, name: str) -> None:
        self._name = name
        self.operations = {one.name: one for one in operations(document)}
        (folder / "document.json").write_text(json.dumps(document))
        (folder / "config.yml").write_text("post_hooks: []\n")
        done = subprocess.run(
            [
                *(sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"),
                *("--path", folder / "document.json", "--config", folder / "config.yml"),
                *("--meta", "none", "--output-path", folder / name),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def call_each(self, address: str, login: str, calls: Mapping[str, Call]) -> dict[str, Any]:
        """The answers by operation."""
        prefix, _, token = login.partition(" ")
        made = self._module("client").AuthenticatedClient
        with made(base_url=address, token=token, prefix=prefix, timeout=60) as client:
            return {
                name: self._called(client, self.operations[name], call)
                for name, call in calls.items()
            }

    def _called(self, client: Any, operation: Operation, call: Call) -> Any:
        """The answer as an object of the client's own models."""
        given = dict(call.parameters)
        if operation.body_model is not None:
            model = getattr(self._module("models"), operation.body_model)
            given["body"] = model.from_dict(dict(call.body or {}))
        module = self._module(f"api.{operation.tag}.{operation.name}")
        told = module.sync_detailed(client=client, **given)
        assert told.status_code in (200, 201), (operation.name, told.content)
        assert type(told.parsed).__name__ != "ProblemDocument"
        assert told.parsed is not None, operation.name
        return told.parsed

    def _module(self, name: str) -> ModuleType:
        return importlib.import_module(f"{self._name}.{name}")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def check_calls(described: Mapping[str, Operation], calls: Mapping[str, Call]) -> None:
    """Every operation is called, with each of its parameters."""
    assert calls.keys() == described.keys()
    for name, operation in described.items():
        assert calls[name].parameters.keys() == operation.parameters.keys(), name
        assert (calls[name].body is None) == (operation.body_model is None), name


def test_every_operation_has_a_call(served: Served) -> None:
    for address, calls in (
        (served.analysts, analyst_calls()),
        (served.administrators, admin_calls("nobody", token=1, session=1)),
    ):
        check_calls({one.name: one for one in operations(served.document(address))}, calls)


def test_an_analyst(served: Served, folder: Path) -> None:
    python = PythonClient(served.document(served.analysts), folder, "analyst_client")
    told = python.call_each(served.analysts, f"Basic {_BASIC}", analyst_calls())
    answer = told["run_query"]
    assert [one.name for one in answer.columns] == ["state", "count", "n"]
    assert {row[0] for row in answer.rows} == {"CA", "TX"}
    assert {row[2] for row in answer.rows} == {20.5}
    assert answer.privacy.epsilon == 0.5
    assert answer.errors.rows[0][1] > 0
    assert told["explain_query"].privacy.epsilon == 0.5
    assert str(told["show_history"].history[0].receipt) == answer.privacy.receipt
    assert told["show_budget"].budget[0].epsilon_spent == 0.5
    assert "shop.customers" in [table.name for table in told["show_schema"].tables]


def test_an_administrator(served: Served, folder: Path) -> None:
    python = PythonClient(served.document(served.administrators), folder, "admin_client")
    with served.connect():
        (session,) = served.administer("/sessions")["sessions"]
        token = len(served.administer("/tokens")["tokens"]) + 1
        calls = admin_calls("python", token=token, session=session["number"])
        told = python.call_each(served.administrators, f"Bearer {SECRET}", calls)
    assert told["create_token"].number == token
    assert told["list_tokens"].tokens[-1].epsilon == "1.25"
    assert told["list_groups"].groups.to_dict() == {"group of python": ["python"]}
    assert told["list_access"].databases[0].analysts == ["python"]
    assert told["show_log"].events[-1].what == "user remove"
    assert [one.database for one in told["reload_policies"].policies] == ["shop"]
