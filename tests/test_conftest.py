"""What the suite sets for all tests."""

from __future__ import annotations

import io
import logging
import sys

import pytest
import structlog

from proxy.cli.logs import log_to_stderr
from tests.conftest import logs_as_they_were, mark_left_out


def test_no_logger_prints_to_what_pytest_replaces(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    replaced = io.StringIO()
    monkeypatch.setattr(sys, "stdout", replaced)
    monkeypatch.setattr(sys, "stderr", replaced)
    structlog.get_logger().warning("a line of a listener")
    assert replaced.getvalue() == ""
    assert "a line of a listener" in capfd.readouterr().err


def test_a_command_sets_its_logs_for_one_test_only() -> None:
    root, before = logging.getLogger(), structlog.get_config()
    with logs_as_they_were():
        handlers = set(root.handlers)
        log_to_stderr(logging.WARNING)
        (added,) = set(root.handlers) - handlers
        assert structlog.get_config() != before
    assert added not in root.handlers
    assert structlog.get_config() == before


def _nothing() -> None:
    """What made-up cases call."""


def test_of_some_tests_each_nth_case_is_not_long(request: pytest.FixtureRequest) -> None:
    cases = [
        pytest.Function.from_parent(request.node.parent, name=f"made_up[{n}]", callobj=_nothing)
        for n in range(5)
    ]
    for case in cases:
        case.add_marker(pytest.mark.every(2))
    mark_left_out(cases)
    is_long = [case.get_closest_marker("long") is not None for case in cases]
    assert is_long == [False, True, False, True, False]
