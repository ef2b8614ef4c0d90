"""`make mutation`: each condition of the kernel, taken out; a test of the kernel has to fail without it.

    python -m tests.mutation.conditions                           # three files, others each night
    python -m tests.mutation.conditions kernel/attribution.py     # these; "all" takes every file (two hours)

A condition that no test misses has to be in `tests/mutation/equivalent_conditions.py`, with the reason. Only
tests without a server are asked: those that run the line, the cheapest first, each condition in a process of
its own. What `tests/kernel/test_weakened_kernel.py` takes out is found there, by relations at random.
"""

from __future__ import annotations

import json
import os
import random  # noqa: TID251 - which files, not noise
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import psycopg
import pytest

from tests.mutation.equivalent_conditions import EQUIVALENT_CONDITIONS
from tests.mutation.removed_conditions import ROOT, Removal, removals

_A_NIGHT = 3
_SECONDS = 20.0  # of tests, as they took while their lines were recorded, for one condition
_TESTS = (
    "tests/kernel",
    "tests/test_doctests.py",
    "tests/planner/test_bounded_prices.py",
    "tests/planner/test_narrowed_operands.py",
)
_OPTIONS = ("-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly")
_MARKS = "not long and not postgres and not timed"
_Ran = Mapping[str, tuple[float, frozenset[tuple[str, int]]]]  # by test: seconds, lines


def files() -> list[str]:
    """All of the kernel, as `kernel/attribution.py`."""
    kernel = (ROOT / "proxy" / "kernel").glob("*.py")
    return sorted(f"kernel/{file.name}" for file in kernel if file.stat().st_size)


def chosen(arguments: Sequence[str], today: date) -> list[str]:
    """
    Given    nothing, names of files, or "all"
    Gives    the files whose conditions are taken out
    """
    if list(arguments) == ["all"]:
        return files()
    return list(arguments) or sorted(random.Random(today.isoformat()).sample(files(), _A_NIGHT))


def _in_a_child(work: Callable[[], object]) -> Any:
    """What it gives, from a process of its own, in which nothing starts a server or connects to one."""
    there, here = os.pipe()
    if os.fork() == 0:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        subprocess.Popen.__init__ = _no_server  # type: ignore[method-assign]
        psycopg.Connection.connect = psycopg.connect = _no_server  # type: ignore[assignment, method-assign]
        try:
            found = work()
        except BaseException as error:  # the condition broke more than a test
            found = f"{type(error).__name__}: {error}"
        with os.fdopen(here, "w") as answer:
            json.dump(found, answer)
        os._exit(0)
    os.close(here)
    with os.fdopen(there) as answer:
        text = answer.read()
    os.wait()
    return json.loads(text or '"ended"')


def _no_server(*_: object, **__: object) -> None:
    raise RuntimeError("no server here")


class _Runner:
    """Runs tests one by one, and sees their reports."""

    def __init__(self) -> None:
        self._reports: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(report)

    def reports(self, item: pytest.Item, after: pytest.Item | None) -> list[pytest.TestReport]:
        """Of setup, call and teardown of a test, before the one that comes after it."""
        self._reports = []
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        return self._reports

    def failing(self, items: Sequence[pytest.Item], *, all_of_them: bool) -> list[str]:
        """Names of tests that fail; at most one but for all of them. In a child, which tells nobody else."""
        failed: list[str] = []
        for item in items[:1]:
            item.config.pluginmanager.unregister(name="terminalreporter")
        for number, item in enumerate(items):
            after = items[(number + 1) % len(items)]
            reports = self.reports(item, None if after is item else after)
            if any(report.failed for report in reports):
                failed.append(item.nodeid)
                if not all_of_them:
                    break
        return failed


class _Recorder(_Runner):
    """Which lines of the kernel each test runs."""

    def __init__(self, told: Path) -> None:
        super().__init__()
        self._told = told
        self._kernel = {str(ROOT / "proxy" / name): name for name in files()}
        self._traced = self._trace
        self._lines: set[tuple[str, int]] = set()

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        if name not in self._kernel:
            return None
        self._lines.add((name, frame.f_lineno))
        return self._traced

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        ran = {}
        for item, after in zip(session.items, [*session.items[1:], None], strict=True):
            self._lines.clear()
            began = time.perf_counter()
            sys.settrace(self._traced)
            try:
                reports = self.reports(item, after)
            finally:
                sys.settrace(None)
            if all(report.passed for report in reports):
                lines = sorted((self._kernel[name], line) for name, line in self._lines)
                ran[item.nodeid] = (time.perf_counter() - began, lines)
        self._told.write_text(json.dumps(ran), "utf-8")
        return True


class _Remover(_Runner):
    """Takes the conditions out, and asks the tests."""

    def __init__(self, names: Sequence[str], ran: _Ran) -> None:
        super().__init__()
        self._names, self._ran = names, ran
        self.missing: list[str] = []
        self.found = self.equivalent = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        from tests.kernel.test_golden_plans import golden_plans

        golden_plans()  # kept for the children: finding them asks a server for its defaults
        items = [item for item in session.items if item.nodeid in self._ran]
        with_servers = set(_in_a_child(lambda: self.failing(items, all_of_them=True)))
        items = [item for item in items if item.nodeid not in with_servers]
        for name in self._names:
            for removal in removals(name):
                self._ask(removal, items)
        return True

    def _ask(self, removal: Removal, items: Sequence[pytest.Item]) -> None:
        asked = self._running(items, removal.file, (removal.line,))
        asked = asked or self._running(items, removal.file, removal.lines)

        def without_it() -> list[str]:
            removal.put()
            return self.failing(asked, all_of_them=False)

        if _in_a_child(without_it):
            self.found += 1
        elif (removal.file, removal.function, removal.what) in EQUIVALENT_CONDITIONS:
            self.equivalent += 1
        else:
            self.missing.append(
                f"proxy/{removal.file}:{removal.line} {removal.function}: {removal.what}"
                f" ({len(asked)} tests)"
            )
            print("NOT MISSED", self.missing[-1], flush=True)

    def _running(
        self, items: Sequence[pytest.Item], file: str, lines: Sequence[int]
    ) -> list[pytest.Item]:
        """The cheapest tests that run one of these lines, up to the seconds for one condition."""
        there = {(file, line) for line in lines}
        found, left = [], _SECONDS
        for item in sorted(items, key=lambda item: self._ran[item.nodeid][0]):
            seconds, ran = self._ran[item.nodeid]
            if left > 0 and not there.isdisjoint(ran):
                found.append(item)
                left -= seconds
        return found


def main(arguments: Sequence[str]) -> int:
    if list(arguments[:1]) == ["--record"]:
        recorder = _Recorder(Path(arguments[1]))
        return int(pytest.main([*_OPTIONS, "-m", _MARKS, *_TESTS], plugins=[recorder]))
    names = chosen(arguments, date.today())  # noqa: DTZ011 - any day will do
    print("conditions of", ", ".join(names), flush=True)
    with TemporaryDirectory() as folder:
        told = Path(folder) / "lines.json"
        command = [sys.executable, "-m", __spec__.name, "--record", str(told)]
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        ran = {
            test: (seconds, frozenset((file, line) for file, line in lines))
            for test, (seconds, lines) in json.loads(told.read_text("utf-8")).items()
        }
    remover = _Remover(names, ran)
    pytest.main([*_OPTIONS, "-m", _MARKS, *_TESTS], plugins=[remover])
    print(
        f"{remover.found} conditions are missed, {remover.equivalent} cannot be,"
        f" {len(remover.missing)} are not"
    )
    return 1 if remover.missing or not remover.found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
