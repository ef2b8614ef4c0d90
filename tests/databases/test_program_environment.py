"""Programs are started with an environment of their own: another thread may change this process's meanwhile."""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.postgres.postgres_binaries import find_binaries

_PRODUCT = Path(__file__).parents[2] / "proxy"
_STARTS = {"run", "Popen", "call", "check_call", "check_output"}


def _started() -> Iterator[tuple[str, ast.Call]]:
    for file in sorted(_PRODUCT.rglob("*.py")):
        text = file.read_text()
        for node in ast.walk(ast.parse(text)) if "subprocess" in text else ():
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="subprocess"), attr=attr)):
                    if attr in _STARTS:
                        yield f"{file.name}:{node.lineno}", node
                case _:
                    pass


@pytest.mark.parametrize("call", [pytest.param(call, id=place) for place, call in _started()])
def test_every_program_gets_an_environment(call: ast.Call) -> None:
    assert "env" in {keyword.arg for keyword in call.keywords}


@pytest.mark.postgres
def test_programs_start_while_the_environment_changes() -> None:
    """Without a copy, about one start in ten fails with "Bad address"."""
    names, ended = [f"DPPROXY_TEST_{i}" for i in range(60)], threading.Event()
    folder = find_binaries().folder

    def change() -> None:
        while not ended.is_set():
            for name in names:
                os.environ[name] = "1" * 200
            for name in names:
                del os.environ[name]

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(100):
            assert find_binaries(folder).folder == folder
    finally:
        ended.set()
        changing.join()
