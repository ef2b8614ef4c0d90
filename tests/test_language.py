"""One meaning for one name: no two classes and no two files of the product share a name."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from tests.imported_modules import classes_of

_ROOT = Path(__file__).resolve().parents[1]
_PRODUCT = sorted((_ROOT / "proxy").rglob("*.py"))


def _place(file: Path) -> str:
    return file.relative_to(_ROOT).as_posix()


def test_no_class_has_the_name_of_another() -> None:
    places = defaultdict(list)
    for file in _PRODUCT:
        for name in classes_of(file):
            places[name.lstrip("_")].append(_place(file))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_file_has_the_name_of_another() -> None:
    places = defaultdict(list)
    for file in _PRODUCT:
        if file.name != "__init__.py":
            places[file.name].append(_place(file))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
