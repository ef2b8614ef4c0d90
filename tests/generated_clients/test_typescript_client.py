"""A TypeScript program on types generated from the OpenAPI document calls every operation of both listeners.

The compiler checks it, and node runs it. `make test-clients` installs what it needs.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.clients.installed import FOLDER
from tests.generated_clients.calls import Call, Operation, admin_calls, analyst_calls, operations
from tests.generated_clients.conftest import ANALYST, PASSWORD, SECRET, Served

pytestmark = pytest.mark.long

_MODULES = FOLDER / "node" / "node_modules"
_PROGRAMS = {"openapi-typescript": "openapi-typescript", "typescript": "tsc"}
_HEAD = """\
import createClient from "openapi-fetch";
import type {{ paths }} from "./types.js";

const client = createClient<paths>({{ baseUrl: {address}, headers: {{ Authorization: {login} }} }});
"""
_CALL = """\
{{
  const {{ data, error }} = await client.{method}({path}, {options});
  if (error !== undefined || data === undefined) throw new Error({name} + ": " + JSON.stringify(error));
  console.log({name});
}}
"""
_COMPILER = {
    "compilerOptions": {
        "strict": True,
        "target": "es2022",
        "module": "nodenext",
        "moduleResolution": "nodenext",
        "lib": ["es2022", "dom"],
        "types": [],
    },
    "files": ["program.ts"],
}


def _program(
    served_operations: Mapping[str, Operation],
    calls: Mapping[str, Call],
    address: str,
    login: str,
) -> str:
    lines = [_HEAD.format(address=json.dumps(address), login=json.dumps(login))]
    assert calls.keys() == served_operations.keys()
    for name, call in calls.items():
        operation = served_operations[name]
        options: dict[str, object] = {}
        for place in ("path", "query"):
            given = {k: v for k, v in call.parameters.items() if operation.parameters[k] == place}
            if given:
                options.setdefault("params", {})[place] = given  # type: ignore[index]
        if call.body is not None:
            options["body"] = call.body
        method, path = operation.method.upper(), json.dumps(operation.path)
        lines.append(
            _CALL.format(
                method=method, path=path, options=json.dumps(options), name=json.dumps(name)
            )
        )
    return "".join(lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    for package in (*_PROGRAMS, "openapi-fetch"):
        if not (_MODULES / package).exists():
            pytest.skip(f"{package} is not installed (python -m tests.clients.install)")
    (tmp_path / "node_modules").symlink_to(_MODULES)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "tsconfig.json").write_text(json.dumps(_COMPILER))
    return tmp_path


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _called(folder: Path, served: Served, address: str, login: str, calls: dict[str, Call]) -> None:
    document = served.document(address)
    (folder / "document.json").write_text(json.dumps(document))
    programs = _MODULES / ".bin"
    _run(folder, str(programs / "openapi-typescript"), "document.json", "-o", "types.ts")
    described = {one.name: one for one in operations(document)}
    (folder / "program.ts").write_text(_program(described, calls, address, login))
    _run(folder, str(programs / "tsc"))
    assert _run(folder, "node", "program.js").split() == list(calls)


def test_an_analyst(served: Served, folder: Path) -> None:
    login = "Basic " + base64.b64encode(f"{ANALYST}:{PASSWORD}".encode()).decode()
    _called(folder, served, served.analysts, login, analyst_calls())


def test_an_administrator(served: Served, folder: Path) -> None:
    with served.connect():
        (session,) = served.administer("/sessions")["sessions"]
        token = len(served.administer("/tokens")["tokens"]) + 1
        numbers = {"session": session["number"], "request": served.requested()}
        calls = admin_calls("typescript", token=token, **numbers)
        _called(folder, served, served.administrators, f"Bearer {SECRET}", calls)


def test_the_compiler_refuses_what_the_document_does_not_have(served: Served, folder: Path) -> None:
    """Else the types could be empty, and the programs above compile whatever they say."""
    document = served.document(served.analysts)
    (folder / "document.json").write_text(json.dumps(document))
    _run(folder, str(_MODULES / ".bin" / "openapi-typescript"), "document.json", "-o", "types.ts")
    head = _HEAD.format(address='"http://127.0.0.1"', login='""')
    wrong = 'await client.GET("/v1/schema", { params: { query: { name: "shop" } } });\n'
    (folder / "program.ts").write_text(head + wrong)
    command = [str(_MODULES / ".bin" / "tsc")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "database" in done.stdout
