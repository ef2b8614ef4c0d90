"""Sphinx extension: what a page holds when it is built.

    <!-- included: deploy/README.md -->    the page is that file, below its own title
    <!-- generated: commands -->           a table made from the code (docs/site/reference_tables.py)

Links work in the repository. On the site those to a file that a page includes lead to the page,
and those to files that are no page are text.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from docs.site.reference_tables import TABLES

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
INCLUDED = re.compile(r"<!-- included: (\S+) -->")
GENERATED = re.compile(r"<!-- generated: (\w+) -->")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>[^)\s#:]*)(?P<anchor>#[^)\s]*)?\)")
_NO_PAGES = ("docs/adr/", "docs/design/", "docs/site/")
_ANCHOR = re.compile(r'<a id="[\w-]+"></a>')


def pages() -> Mapping[str, Path]:
    """The pages of the site by their paths from the root, without those for developers."""
    found = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))
    return {name: ROOT / name for name in found if not name.startswith(_NO_PAGES)}


def included() -> Mapping[str, str]:
    """Files that are a page of the site, and which.

    >>> included()["SECURITY.md"]
    'docs/explanation/security.md'
    """
    found = {}
    for name, path in pages().items():
        file = INCLUDED.search(path.read_text(encoding="utf-8"))
        if file is not None:
            found[file[1]] = name
    return found


def page_text(name: str, text: str) -> str:
    """Fill in what a page includes and generates, and turn its links to those of the site.

    Args:
        name: Of the page, from the root.
        text: Of its file.
    """
    file = INCLUDED.search(text)
    source = name
    if file is not None:
        source, title = file[1], text.partition("\n")[0]
        text = f"{title}\n{(ROOT / source).read_text(encoding='utf-8').partition(chr(10))[2]}"
    text = GENERATED.sub(lambda found: TABLES[found[1]](), text)
    at_page = included()
    own = pages()

    def link(found: re.Match[str]) -> str:
        if not found["target"]:
            return found[0]
        target = os.path.normpath(os.path.join(os.path.dirname(source), found["target"]))  # noqa: PTH118, PTH120
        page = at_page.get(target, target)
        if page in own:
            path = os.path.relpath(page, os.path.dirname(name))  # noqa: PTH120
            return f"[{found['text']}]({path}{found['anchor'] or ''})"
        named = f"`{target}`"
        return named if target.endswith(found["text"]) else f"{found['text']} ({named})"

    return _ANCHOR.sub("", _LINK.sub(link, text))


def _source_read(app: Sphinx, docname: str, content: list[str]) -> None:
    content[0] = page_text(f"docs/{docname}.md", content[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _source_read)
    return {"parallel_read_safe": True}
