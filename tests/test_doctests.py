"""Every example in a docstring of the product and of its tests holds."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_MODULES = [
    ".".join(file.relative_to(_ROOT).with_suffix("").parts)
    for folder in ("proxy", "tests")
    for file in sorted((_ROOT / folder).rglob("*.py"))
    if ">>> " in file.read_text(encoding="utf-8") and file != Path(__file__)
]


@pytest.mark.parametrize("name", _MODULES)
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def test_none_is_left_out() -> None:
    assert len(_MODULES) > 60
