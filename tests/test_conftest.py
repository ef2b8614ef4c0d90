"""What the suite sets for all tests."""

from __future__ import annotations

import io
import logging
import sys

import pytest
import structlog

from proxy.cli.running import log_to_stderr
from tests.conftest import logs_as_they_were, not_nth


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


def test_of_some_tests_each_nth_case_is_not_long() -> None:
    assert not_nth([*"abcde"], pytest.mark.every(2).mark) == ["b", "d"]
    assert not_nth([*"abcde"], None) == []


@pytest.mark.every(2)
@pytest.mark.parametrize("case", [0, pytest.param(1, marks=pytest.mark.long), 2, 3])
def test_what_is_long_already_is_not_counted(case: int, request: pytest.FixtureRequest) -> None:
    is_long = request.node.get_closest_marker("long") is not None
    assert is_long == (case in (1, 2))
