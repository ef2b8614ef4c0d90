"""The design card of the project: what stands at the top of the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", ["proxy", "policies", "tests", "deploy"])
def test_a_folder_of_the_card_is_there(name: str) -> None:
    folder = _ROOT / name
    assert folder.is_dir()
    assert any(path.is_file() for path in folder.rglob("*"))


@pytest.mark.parametrize("name", ["pyproject.toml", "README.md"])
def test_a_file_of_the_card_is_there(name: str) -> None:
    assert (_ROOT / name).is_file()


def test_the_policies_are_six_or_more() -> None:
    assert len(list((_ROOT / "policies").glob("*/policy.yaml"))) >= 6


def test_policies_stand_in_that_folder_alone() -> None:
    """No second copy inside the package: a wheel gets them from the folder."""
    assert list((_ROOT / "proxy").rglob("*.yaml")) == []
