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
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from types import FrameType
from typing import Any

import psycopg
import pytest

from tests.mutation.equivalent_conditions import EQUIVALENT_CONDITIONS
from tests.mutation.removed_conditions import ROOT, Removal, removals

_A_NIGHT = 3
_SECONDS_OF_A_TEST = 4.0  # of a processor, while its lines are recorded
_SECONDS = 120.0  # of tests, as they took while their lines were recorded, for one condition
_TESTS = (
    "tests/kernel",
    "tests/test_doctests.py",
    "tests/planner/test_bounded_prices.py",
    "tests/planner/test_narrowed_operands.py",
)
_OPTIONS = ("-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly")
_MARKS = "not long and not postgres and not timed"
_Ran = tuple[int, float, list[tuple[str, int]]]  # which test: seconds, lines


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


def _too_long(*_: object) -> None:
    raise TimeoutError("a long test")


class _Remover:
    """Takes conditions out, and asks the tests that run their lines."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._traced_files = {str(ROOT / "proxy" / name): name for name in names}
        self._reports: list[pytest.TestReport] = []
        self._lines: set[tuple[str, int]] = set()
        self.missing: list[str] = []
        self.found = self.equivalent = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        from tests.kernel.test_golden_plans import golden_plans

        golden_plans()  # kept for the children: finding them asks a server for its defaults
        recorded = _in_a_child(lambda: self._recorded(session.items))
        ran = [
            (session.items[number], seconds, {(file, line) for file, line in lines})
            for number, seconds, lines in sorted(recorded, key=lambda one: one[1])
        ]
        for name in self._names:
            for removal in removals(name):
                self._ask(removal, ran)
        return True

    def _recorded(self, items: Sequence[pytest.Item]) -> list[_Ran]:
        """Of each test that passes without a server: the lines of the files that it runs."""
        signal.signal(signal.SIGPROF, _too_long)
        recorded = []
        for number, item in enumerate(items):
            self._lines.clear()
            began = time.perf_counter()
            sys.settrace(self._trace)
            passes = self._passes(items, item)
            sys.settrace(None)
            if passes and self._lines:
                recorded.append((number, time.perf_counter() - began, sorted(self._lines)))
        return recorded

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        name = self._traced_files.get(frame.f_code.co_filename)
        if name is None:
            return None
        self._lines.add((name, frame.f_lineno))
        return self._trace

    def _passes(self, items: Sequence[pytest.Item], item: pytest.Item) -> bool:
        """In a child, which tells nobody else. Fixtures of modules are kept until another one comes."""
        plugins = item.config.pluginmanager
        if plugins.has_plugin("terminalreporter"):
            plugins.unregister(name="terminalreporter")
        self._reports = []
        after = items[(items.index(item) + 1) % len(items)]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        return not any(report.failed or report.skipped for report in self._reports)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Long tests look at much at random; a condition has to have a short one."""
        signal.setitimer(signal.ITIMER_PROF, _SECONDS_OF_A_TEST)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _ask(
        self, removal: Removal, ran: Sequence[tuple[pytest.Item, float, set[tuple[str, int]]]]
    ) -> None:
        """The cheapest tests first, up to the seconds for one condition."""
        for lines in ((removal.line,), removal.lines):
            there = {(removal.file, line) for line in lines}
            running = [(item, seconds) for item, seconds, run in ran if not there.isdisjoint(run)]
            if running:
                break
        asked: list[pytest.Item] = []
        left = _SECONDS
        for item, seconds in running:
            if left > 0:
                asked.append(item)
                left -= seconds

        def is_missed() -> bool:
            removal.put()
            return not all(self._passes(asked, item) for item in asked)

        if _in_a_child(is_missed):
            self.found += 1
        elif (removal.file, removal.function, removal.what) in EQUIVALENT_CONDITIONS:
            self.equivalent += 1
        else:
            self.missing.append(
                f"proxy/{removal.file}:{removal.line} {removal.function}: {removal.what}"
                f" ({len(asked)} tests)"
            )
            print("NOT MISSED", self.missing[-1], flush=True)


def main(arguments: Sequence[str]) -> int:
    names = chosen(arguments, date.today())  # noqa: DTZ011 - any day will do
    print("conditions of", ", ".join(names), flush=True)
    remover = _Remover(names)
    pytest.main([*_OPTIONS, "-m", _MARKS, *_TESTS], plugins=[remover])
    print(
        f"{remover.found} conditions are missed, {remover.equivalent} cannot be,"
        f" {len(remover.missing)} are not"
    )
    return 1 if remover.missing or not remover.found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
