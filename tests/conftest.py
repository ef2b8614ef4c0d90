"""Options of the whole suite."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests import in_memory, initdb_once, without_postgres

without_postgres.use()
in_memory.use()
initdb_once.use()

# What is collected stays to the end, so looking through it again and again finds nothing.
gc.disable()

# Hypothesis' limits on the time of an example measure the machine, not the code: they are off.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


# Programs that tests start find their modules compiled, as those of an installed product are.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["PYTHONPYCACHEPREFIX"] = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")

# structlog's own default prints to whatever sys.stdout is, through a borrowed reference; pytest replaces
# sys.stdout around each test, and a listener's thread that logs meanwhile ends the whole process (CPython
# issue 130163).
structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.__stderr__))

Case = TypeVar("Case")

_SLOW_FIRST = ("live", "cli", "audit", "servers")


def pytest_collection_finish() -> None:
    """What is imported and collected stays to the end: that collections look through it again and again is a
    tenth of the processor time of tests that only compute; once more would be a second of each worker."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Of a test with `every(n)` the first case and each n-th after it run in `make test`; others are long.
    Of cases that are deselected anyway no items are made: each worker would make thousands."""
    cases = metafunc._calls
    every = metafunc.definition.get_closest_marker("every")
    for case in not_nth([case for case in cases if not _is_long(case)], every):
        case.marks.append(pytest.mark.long.mark)
    if metafunc.config.option.markexpr == "not long":
        cases[1:] = [case for case in cases[1:] if not _is_long(case)]


def _is_long(case: Any) -> bool:
    return any(mark.name == "long" for mark in case.marks)


def not_nth(cases: Sequence[Case], every: pytest.Mark | None) -> list[Case]:
    """The cases that `every(n)` leaves to the night."""
    return [] if every is None else [case for n, case in enumerate(cases) if n % every.args[0]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start whole proxies first: they are slow and few, and what comes last must be small for two
    workers to end together."""
    root = Path(__file__).parent

    def turn(item: pytest.Item) -> int:
        folder = item.path.relative_to(root).parts[0]
        return _SLOW_FIRST.index(folder) if folder in _SLOW_FIRST else len(_SLOW_FIRST)

    items.sort(key=turn)
    for item in items:
        if item.get_closest_marker("timed"):
            item.add_marker(pytest.mark.flaky(reruns=3, reruns_delay=5))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bless",
        action="store_true",
        help="rewrite golden files with what comes out now; review the diff like code",
    )


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--bless"))


@contextlib.contextmanager
def logs_as_they_were() -> Iterator[None]:
    """A command that runs in the tests' process sets where it and the libraries log to, and would for all tests
    after it: a pool's warning would be a second line where one is expected."""
    before, root = structlog.get_config(), logging.getLogger()
    handlers = list(root.handlers)
    yield
    structlog.configure(**before)
    for added in [handler for handler in root.handlers if handler not in handlers]:
        root.removeHandler(added)


@pytest.fixture(autouse=True)
def _every_test_leaves_the_logs() -> Iterator[None]:
    with logs_as_they_were():
        yield
