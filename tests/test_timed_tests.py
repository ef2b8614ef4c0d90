"""Tests that measure time say so: CI's machines are slow and stall, and a test that is marked `timed` is tried
four times. Its bound grows with what the machine takes (machine_speed.py). Waiting for what has to happen takes
as long as it takes: that is no measurement."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

_ROOT = Path(__file__).parent


@functools.cache
def _nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


_CLOCKS = {"monotonic", "perf_counter", "time", "process_time", "thread_time"}
_WAITS = {"until", "_until", "within"}
_SHORTEST_WAIT = 20
# Their inputs are new each time: another try would hide what was found. What they bound is a hang.
_FUZZ = {"servers/test_fuzz_http.py"}
_ALLOWED = {"allowed_work", "allowed_wait"}
# Functions that tests of several modules call, and that return a duration.
_OF_ALL = {"seconds_of", "backend_seconds"}
# Marked, and without a bound that grows with the machine.
_EXCUSED = {
    "kernel/test_seeded_joins.py::test_without_a_seed_each_meets_all": "has to take long, however fast",
    "databases/test_shadow.py::test_all_locks_together_take_the_time_of_one": (
        "PostgreSQL's lock_timeout is the bound; a thread may be two seconds late"
    ),
    "live/test_trial_effects.py::test_a_slow_error_is_not_tried_again": "two durations of one run",
    "servers/http/test_doors.py::test_guesses_are_few_however_impatient": (
        "what is short are the clients' own time-outs: a slow machine makes fewer guesses"
    ),
    "servers/http/test_strangers.py::test_a_slow_reader_gets_all": (
        "the server ends who does not read for 2 s: pieces are read each 0.09 s"
    ),
    **{
        f"test_machine_speed.py::{name}": "compares looks at the machine with each other"
        for name in (
            "test_it_grows_with_what_the_machine_takes",
            "test_a_busy_machine_is_slow_on_the_wall",
            "test_a_turn_that_has_become_slow_is_found",
        )
    },
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@functools.cache
def _modules() -> dict[str, ast.Module]:
    """Those that may be about time at all."""
    said = _CLOCKS | _WAITS | _ALLOWED | _OF_ALL | {"timed"}
    about = re.compile(rf"\b({'|'.join(said - {'time'})})\b|\btime\.time\b")
    texts = {
        str(file.relative_to(_ROOT)): file.read_text(encoding="utf-8")
        for file in sorted(_ROOT.rglob("*.py"))
    }
    return {file: ast.parse(text) for file, text in texts.items() if about.search(text)}


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
    return {_name(node.func) for node in _nodes(tree) if isinstance(node, ast.Call)}


def _with_callers(names: set[str], calls: Mapping[str, set[str]]) -> set[str]:
    """These functions, and those that call them, whatever is between."""
    while more := {name for name, called in calls.items() if called & names} - names:
        names = names | more
    return names


def _measuring(functions: list[_Function]) -> set[str]:
    """Names of functions that return a duration, themselves or by another."""
    returned: dict[str, list[ast.expr]] = {}
    for function in functions:  # of which several may have one name
        for node in _nodes(function):
            if isinstance(node, ast.Return) and node.value is not None:
                returned.setdefault(function.name, []).append(node.value)
    found = {
        name
        for name, values in returned.items()
        if any(_is_elapsed(node) for value in values for node in _nodes(value))
    }
    calls = {n: set[str]().union(*map(_calls, values)) for n, values in returned.items()}
    return _with_callers(found, calls)


def _bounds_a_time(tree: ast.AST, measuring: set[str]) -> bool:
    """An assertion that a duration is less than something."""
    return any(
        isinstance(node.ops[-1], ast.Lt | ast.LtE)
        and (any(map(_is_elapsed, _nodes(node))) or bool(_calls(node) & measuring))
        for check in _nodes(tree)
        if isinstance(check, ast.Assert)
        for node in _nodes(check.test)
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
        for node in _nodes(mark)
    )


def _unmarked(module: ast.Module) -> Iterator[str]:
    functions = [node for node in _nodes(module) if isinstance(node, _Function)]
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


def _allowed_names(module: ast.Module) -> set[str]:
    """Names of the module for what a slow machine is allowed, such as `_SOON`."""
    return {
        target.id
        for node in module.body
        if isinstance(node, ast.Assign) and _calls(node.value) & _ALLOWED
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_allowed(bound: ast.expr, names: set[str]) -> bool:
    match bound:
        case ast.Call(func=called):
            return _name(called) in _ALLOWED
        case _:
            return _name(bound) in names


def _has_allowed(tree: ast.AST, names: set[str]) -> bool:
    return any(isinstance(node, ast.expr) and _is_allowed(node, names) for node in _nodes(tree))


def _durations(function: _Function, measuring: set[str]) -> set[str]:
    """Names in a function for durations, or for lists of them."""
    found: set[str] = set()
    while True:
        more = set(found)
        for node in _nodes(function):
            match node:
                case ast.Assign(targets=targets, value=value) if _has_duration(
                    value, found, measuring
                ):
                    given = [one for target in targets for one in _nodes(target)]
                    more |= {one.id for one in given if isinstance(one, ast.Name)}
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value]
                ):
                    more |= {name} if _has_duration(value, found, measuring) else set()
                case _:
                    pass
        if more == found:
            return found
        found = more


def _has_duration(tree: ast.AST, names: set[str], measuring: set[str]) -> bool:
    return any(
        _is_elapsed(node)
        or (isinstance(node, ast.Name) and node.id in names)
        or (isinstance(node, ast.Call) and _name(node.func) in measuring)
        for node in _nodes(tree)
    )


def _fixed_bounds(module: ast.Module, elsewhere: set[str]) -> Iterator[str]:
    """Assertions that a duration is less than what is the same on any machine. Two durations of one run may be
    compared. elsewhere: functions of other modules that return durations."""
    functions = [node for node in _nodes(module) if isinstance(node, _Function)]
    measuring, allowed = _measuring(functions) | elsewhere, _allowed_names(module)
    for function in functions:
        names = _durations(function, measuring)
        checks = [node.test for node in _nodes(function) if isinstance(node, ast.Assert)]
        for node in (one for check in checks for one in _nodes(check)):
            if not isinstance(node, ast.Compare) or not isinstance(node.ops[-1], ast.Lt | ast.LtE):
                continue
            *taken, bound = node.left, *node.comparators
            is_bounded = any(_has_duration(one, names, measuring) for one in taken)
            is_fine = _is_allowed(bound, allowed) or _has_duration(bound, names, measuring)
            if is_bounded and not is_fine:
                yield f"{function.name}, line {node.lineno}"


def _without_allowed(file: str, module: ast.Module) -> Iterator[str]:
    """Tests that are marked by themselves, or modules, in which nothing grows with the machine."""
    functions = [node for node in _nodes(module) if isinstance(node, _Function)]
    names = _allowed_names(module)
    calls: dict[str, set[str]] = {}
    for function in functions:
        calls.setdefault(function.name, set()).update(_calls(function))
    growing = _with_callers({f.name for f in functions if _has_allowed(f, names)}, calls)
    if not growing and _is_marked([], module):
        yield file
    for function in functions:
        is_marked = _is_marked(function.decorator_list, ast.Module([], []))
        if is_marked and function.name not in growing:
            yield f"{file}::{function.name}"


def _short_waits(module: ast.Module) -> Iterator[str]:
    """A constant may have a name."""
    named = {
        target.id: node.value.value
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in _nodes(module):
        if not isinstance(node, ast.Call) or _name(node.func) not in _WAITS:
            continue
        for given in (*node.args, *(keyword.value for keyword in node.keywords)):
            seconds = given.value if isinstance(given, ast.Constant) else named.get(_name(given))
            if isinstance(seconds, int | float) and seconds < _SHORTEST_WAIT:
                yield f"line {node.lineno}"


def test_what_bounds_a_time_is_marked() -> None:
    found = {
        file: list(_unmarked(module)) for file, module in _modules().items() if file not in _FUZZ
    }
    assert {file: names for file, names in found.items() if names} == {}


def test_waits_leave_room() -> None:
    found = {file: list(_short_waits(module)) for file, module in _modules().items()}
    assert {file: waits for file, waits in found.items() if waits} == {}


def test_bounds_grow_with_the_machine() -> None:
    functions = [node for module in _modules().values() for node in _nodes(module)]
    elsewhere = _measuring([node for node in functions if isinstance(node, _Function)]) & _OF_ALL
    found = {
        file: list(_fixed_bounds(module, elsewhere))
        for file, module in _modules().items()
        if file not in _FUZZ
    }
    assert {file: bounds for file, bounds in found.items() if bounds} == {}


def test_what_is_marked_measures() -> None:
    found = {name for file, module in _modules().items() for name in _without_allowed(file, module)}
    assert found == set(_EXCUSED)


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


_BOUNDS = {
    "def test_it():\n    assert time.monotonic() - began < 3": ["test_it, line 2"],
    "def test_it():\n    assert time.monotonic() - began < allowed_wait(3)": [],
    "_SOON = allowed_wait(3)\ndef test_it():\n    assert 1 < time.monotonic() - began < _SOON": [],
    "_SOON = 3\ndef test_it():\n    assert time.monotonic() - began < _SOON": ["test_it, line 3"],
    "def test_it():\n    took = time.monotonic() - began\n    assert took < 3": ["test_it, line 3"],
    "def test_it():\n    took.append(time.thread_time() - began)\n    assert max(took) <= 3": [
        "test_it, line 3"
    ],
    "def test_it():\n    took.append(time.thread_time() - began)\n    assert took[1] < 9 * took[0]": [],
    "def took():\n    return time.monotonic() - began\n"
    "def test_it():\n    a, b = took(), took()\n    assert a - b < 3": ["test_it, line 5"],
}


@pytest.mark.parametrize("text", _BOUNDS)
def test_which_bounds_are_fixed(text: str) -> None:
    assert list(_fixed_bounds(ast.parse(text), set())) == _BOUNDS[text]


def test_which_waits_are_short() -> None:
    text = "_SOON = 4.0\nuntil(it, _SOON)\nuntil(it, 3)\nuntil(it, 60)\nuntil(it)\nwithin(LONG.now(), it)"
    assert list(_short_waits(ast.parse(text))) == ["line 2", "line 3"]
