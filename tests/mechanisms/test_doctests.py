"""The examples in the docstrings of the mechanisms hold."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from proxy import mechanisms

MODULES = [module.name for module in pkgutil.iter_modules(mechanisms.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module(f"proxy.mechanisms.{name}")
    assert doctest.testmod(module).failed == 0
