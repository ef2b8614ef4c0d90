"""The examples in the docstrings of the policy hold."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "proxy.policy.decimals",
        "proxy.policy.grid",
        "proxy.policy.keys",
        "proxy.policy_file.policy_errors",
    ],
)
def test_examples(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0
