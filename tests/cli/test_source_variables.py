"""Secrets of `source` from files, before the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proxy.cli.source_variables import SourceVariables


def test_a_file_of_the_credentials_folder_comes_first(tmp_path: Path) -> None:
    environment = {"CREDENTIALS_DIRECTORY": str(tmp_path), "A_DSN": "of a", "B_DSN": "of b"}
    (tmp_path / "A_DSN").write_text("host=db password=x\n")
    found = SourceVariables(environment)
    assert (found["A_DSN"], found["B_DSN"], found.get("C_DSN")) == (
        "host=db password=x",
        "of b",
        None,
    )
    (tmp_path / "A_DSN").write_text("host=db password=y")
    assert found["A_DSN"] == "host=db password=y"


def test_without_a_folder_the_environment_counts() -> None:
    assert SourceVariables({"A_DSN": "of a"})["A_DSN"] == "of a"
    assert SourceVariables({"CREDENTIALS_DIRECTORY": "", "A_DSN": "of a"})["A_DSN"] == "of a"


@pytest.mark.parametrize("content", [b"\xff", b"x" * 70_000])
def test_a_file_that_cannot_be_read_is_not_passed_over(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "A_DSN").write_bytes(content)
    environment = {"CREDENTIALS_DIRECTORY": str(tmp_path), "A_DSN": "of a"}
    assert SourceVariables(environment).get("A_DSN") is None


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "in").mkdir()
    found = SourceVariables({"CREDENTIALS_DIRECTORY": str(tmp_path / "in")})
    assert found.get("../secret") is None
    assert found.get(f"{tmp_path}{os.sep}secret") is None


def test_every_command_looks_there() -> None:
    """Whoever reads the environment itself would pass over the folder."""
    root = Path(__file__).parents[2] / "proxy" / "cli"
    found = {file.name for file in root.rglob("*.py") if "os.environ" in file.read_text()}
    # Places of folders, and the socket on which systemd is told: no secrets of a source.
    assert found == {"source_variables.py", "state.py", "running.py"}
