"""SECURITY.md states how much a privacy reviewer has to read; the figures are those of the files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_ROW = re.compile(r"^\| [a-z ]+ \| [^|]+ \| (`[^|]+) \| ([\d,]+) \|$", re.MULTILINE)
_WITHIN = 0.05


def _rows() -> list[tuple[tuple[Path, ...], int]]:
    text = (_ROOT / "SECURITY.md").read_text(encoding="utf-8")
    return [
        (
            tuple(_ROOT / name for name in re.findall(r"`([^`]+)`", files)),
            int(stated.replace(",", "")),
        )
        for files, stated in _ROW.findall(text)
    ]


def _lines(path: Path) -> int:
    files = [path] if path.is_file() else [*path.glob("*.py"), *path.glob("*.sql")]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def test_the_table_is_read() -> None:
    assert len(_rows()) == 9


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row[0][0].name)
def test_the_stated_number_of_lines_is_that_of_the_files(row: tuple[tuple[Path, ...], int]) -> None:
    paths, stated = row
    for path in paths:
        assert path.exists(), path
    actual = sum(map(_lines, paths))
    assert abs(actual - stated) <= _WITHIN * actual, f"{stated} stated, {actual} counted"
