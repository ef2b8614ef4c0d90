"""The documentation site: each page is in a list and short; what is built loads nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from docs.site.page_sources import INCLUDED, page_text, pages
from docs.site.pictures import FOLDER, PICTURES

_ROOT = Path(__file__).parents[2]
_KINDS = ("tutorials", "how-to", "reference", "explanation")
_INDEX = Path("index").with_suffix(".md")
_LONGEST = 300  # lines
# Figures that commands print.
_LONGER = {"docs/reference/accuracy.md"}
_LOADED = re.compile(r"(?:@import|url\()\s*['\"]?\s*((?:https?:)?//[^'\")]+)")


def test_each_page_is_of_one_kind_and_in_its_list() -> None:
    for kind in _KINDS:
        index = (_ROOT / "docs" / kind / _INDEX).read_text(encoding="utf-8")
        listed = re.findall(r"^([\w-]+)$", index.split("```{toctree}")[1], re.MULTILINE)
        there = {path.stem for path in (_ROOT / "docs" / kind).glob("*.md")}
        assert sorted([*listed, "index"]) == sorted(there), kind
    beside = {name for name in pages() if name.count("/") == 1}
    assert beside == {"docs/index.md", "docs/review.md"}


def test_pictures_are_as_they_are_drawn() -> None:
    drawn = {f"{picture.__name__}.svg": picture() for picture in PICTURES}
    there = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.svg")}
    assert there == drawn, "make docs draws them"


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_page_is_short_and_begins_with_its_title(name: str) -> None:
    text = pages()[name].read_text(encoding="utf-8")
    if INCLUDED.search(text) is None and name not in _LONGER:
        assert len(text.splitlines()) <= _LONGEST
    built = page_text(name, text)
    assert built.startswith("# ")
    assert "<!-- generated" not in built and "<!-- included" not in built


class _Loads(HTMLParser):
    """What a browser loads with a page by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" or "src" in given:
            self.found.append(given.get("src") or given.get("href") or "")


@pytest.mark.long
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    for package in ("sphinx", "myst_parser", "furo"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install -e '.[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-n", "-q", "-b", "html", "docs", str(tmp_path)],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    built = sorted(tmp_path.rglob("*.html"))
    assert len(built) >= len(pages())
    for page in built:
        loads = _Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        assert loads.found
        assert [one for one in loads.found if re.match(r"(?:\w+:)?//", one)] == [], page
    for sheet in (*tmp_path.rglob("*.css"), *tmp_path.rglob("*.svg")):
        text = sheet.read_text(encoding="utf-8")
        assert _LOADED.findall(text) == [], sheet
