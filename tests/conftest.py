"""Options of the whole suite."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests import in_memory, initdb_once

in_memory.use()
initdb_once.use()

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

_SLOW_FIRST = ("live", "cli", "audit", "servers")


def pytest_collection_finish() -> None:
    """What is imported and collected stays to the end: that collections look through it again and again is a
    tenth of the processor time of tests that only compute."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at what is long
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start whole proxies first: they are slow and few, and what comes last must be small for two
    workers to end together."""
    root = Path(__file__).parent

    def turn(item: pytest.Item) -> int:
        folder = item.path.relative_to(root).parts[0]
        return _SLOW_FIRST.index(folder) if folder in _SLOW_FIRST else len(_SLOW_FIRST)

    mark_left_out(items)
    items.sort(key=turn)
    for item in items:
        if item.get_closest_marker("timed"):
            item.add_marker(pytest.mark.flaky(reruns=3, reruns_delay=5))


def mark_left_out(items: Iterable[pytest.Item]) -> None:
    """Of a test with `every(n)` the first case and each n-th after it run in `make test`; others are long."""
    seen: Counter[str] = Counter()
    for item in items:
        every = item.get_closest_marker("every")
        if every is None or item.get_closest_marker("long"):
            continue
        test = item.nodeid.partition("[")[0]
        if seen[test] % every.args[0]:
            item.add_marker(pytest.mark.long)
        seen[test] += 1


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
