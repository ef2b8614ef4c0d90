"""What the suite sets for all tests."""

from __future__ import annotations

import io
import sys

import pytest
import structlog


def test_no_logger_prints_to_what_pytest_replaces(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    replaced = io.StringIO()
    monkeypatch.setattr(sys, "stdout", replaced)
    monkeypatch.setattr(sys, "stderr", replaced)
    structlog.get_logger().warning("a line of a listener")
    assert replaced.getvalue() == ""
    assert "a line of a listener" in capfd.readouterr().err
