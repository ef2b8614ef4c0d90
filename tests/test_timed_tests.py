"""Tests that measure time say so: CI's machines are slow and stall, and a test that is marked `timed` is tried
four times. Waiting for what has to happen takes as long as it takes: that is no measurement."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

_ROOT = Path(__file__).parent
_CLOCKS = {"monotonic", "perf_counter", "time", "process_time", "thread_time"}
_WAITS = {"until", "_until", "within"}
_SHORTEST_WAIT = 10
# Their inputs are new each time: another try would hide what was found. What they bound is a hang.
_FUZZ = {"servers/test_fuzz_http.py"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@functools.cache
def _modules() -> dict[str, ast.Module]:
    return {
        str(file.relative_to(_ROOT)): ast.parse(file.read_text(encoding="utf-8"))
        for file in sorted(_ROOT.rglob("*.py"))
    }


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_elapsed(node: ast.AST) -> bool:
    """`time.monotonic() - began`: a duration."""
    match node:
        case ast.BinOp(left=ast.Call(func=ast.Attribute(attr=clock)), op=ast.Sub()):
            return clock in _CLOCKS
        case _:
            return False


def _calls(tree: ast.AST) -> set[str]:
    return {_name(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def _with_callers(names: set[str], calls: Mapping[str, set[str]]) -> set[str]:
    """These functions, and those that call them, whatever is between."""
    while more := {name for name, called in calls.items() if called & names} - names:
        names = names | more
    return names


def _measuring(functions: list[_Function]) -> set[str]:
    """Names of functions that return a duration, themselves or by another."""
    returned: dict[str, list[ast.expr]] = {}
    for function in functions:  # of which several may have one name
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and node.value is not None:
                returned.setdefault(function.name, []).append(node.value)
    found = {
        name
        for name, values in returned.items()
        if any(_is_elapsed(node) for value in values for node in ast.walk(value))
    }
    calls = {n: set[str]().union(*map(_calls, values)) for n, values in returned.items()}
    return _with_callers(found, calls)


def _bounds_a_time(tree: ast.AST, measuring: set[str]) -> bool:
    """An assertion that a duration is less than something."""
    return any(
        isinstance(node.ops[-1], ast.Lt | ast.LtE)
        and (any(map(_is_elapsed, ast.walk(node))) or bool(_calls(node) & measuring))
        for check in ast.walk(tree)
        if isinstance(check, ast.Assert)
        for node in ast.walk(check.test)
        if isinstance(node, ast.Compare)
    )


def _is_marked(decorators: list[ast.expr], module: ast.Module) -> bool:
    marks = [*decorators]
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                marks.append(value)
            case _:
                pass
    return any(
        isinstance(node, ast.Attribute) and node.attr == "timed"
        for mark in marks
        for node in ast.walk(mark)
    )


def _unmarked(module: ast.Module) -> Iterator[str]:
    functions = [node for node in ast.walk(module) if isinstance(node, _Function)]
    measuring = _measuring(functions)
    found = {f.name for f in functions if _bounds_a_time(f, measuring)}
    calls: dict[str, set[str]] = {}
    for function in functions:
        calls.setdefault(function.name, set()).update(_calls(function))
    bounding = _with_callers(found, calls)
    for function in functions:
        is_test = function.name.startswith("test_") and function.name in bounding
        if is_test and not _is_marked(function.decorator_list, module):
            yield function.name


def _is_short(seconds: object) -> bool:
    return isinstance(seconds, int | float) and seconds < _SHORTEST_WAIT


def _short_waits(module: ast.Module) -> Iterator[str]:
    """Unless the test is marked, since the wait is what it bounds."""
    for function in ast.walk(module):
        if not isinstance(function, _Function) or _is_marked(function.decorator_list, module):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and _name(node.func) in _WAITS:
                for given in (*node.args, *(keyword.value for keyword in node.keywords)):
                    if isinstance(given, ast.Constant) and _is_short(given.value):
                        yield f"{function.name}, line {node.lineno}"


@pytest.mark.long
def test_what_bounds_a_time_is_marked() -> None:
    found = {
        file: list(_unmarked(module)) for file, module in _modules().items() if file not in _FUZZ
    }
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.long
def test_waits_leave_room() -> None:
    found = {file: list(_short_waits(module)) for file, module in _modules().items()}
    assert {file: waits for file, waits in found.items() if waits} == {}


_EXAMPLES = {
    "def test_it():\n    assert time.monotonic() - began < 3": ["test_it"],
    "def test_it():\n    assert 0.1 < time.monotonic() - began < 3": ["test_it"],
    "@pytest.mark.timed\ndef test_it():\n    assert time.monotonic() - began < 3": [],
    "pytestmark = [pytest.mark.long, pytest.mark.timed]\n"
    "def test_it():\n    assert time.monotonic() - began < 3": [],
    "def took():\n    return time.monotonic() - began\n"
    "def test_it():\n    assert took() < 3\ndef test_other():\n    took()": ["test_it"],
    "class A:\n    def ask(self):\n        assert time.perf_counter() - began < 3\n"
    "def both(a):\n    a.ask()\ndef test_it(a):\n    both(a)": ["test_it"],
    "def test_it():\n    assert time.monotonic() < deadline": [],
    "def test_it():\n    assert time.monotonic() - began > 3": [],
}


@pytest.mark.parametrize("text", _EXAMPLES)
def test_what_is_found(text: str) -> None:
    assert list(_unmarked(ast.parse(text))) == _EXAMPLES[text]
