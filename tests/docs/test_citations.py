"""Every citation in product, tests and documents leads somewhere, and a broken one is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.citations import Citations

_ROOT = Path(__file__).parents[2]
_EXAMPLES = frozenset({"tests/docs/test_citations.py", "tests/docs/citations.py"})
_PAGE = """# Page

## 1. First (`a.py`), second (`b.py`)

### 1.2 Third

**Bold words [P].** And so on.
"""


def test_every_citation_resolves() -> None:
    citations = Citations(root=_ROOT, beside=_EXAMPLES)
    assert citations.count > 100
    assert [str(broken) for broken in citations.broken()] == []


def test_no_page_has_the_sides_of_a_merge() -> None:
    pages = [_ROOT / name for name in Citations(root=_ROOT).files if name.endswith(".md")]
    sides = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
    assert pages and [page for page in pages if sides.search(page.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("# docs/page.md 1", ""),
        ("# docs/page.md 1, 1.2 and more", ""),
        ("# page.md 1.2.", ""),
        ('"""page.md, "Second", and\n\nso on."""', ""),
        ('# page.md, "bold\n# words" says', ""),
        ('x = 1  # docs/page.md 1\ny = "no title"', ""),
        ("# ADR 0001", ""),
        ("# product/module.py", ""),
        ("# docs/page.md 2", "x.py:1: docs/page.md has no heading 2"),
        ("# page.md 1, 1.2, 1.3", "x.py:1: docs/page.md has no heading 1.3"),
        ("# page.md 1 and\n# 7 say", "x.py:1: docs/page.md has no heading 7"),
        ('\n# page.md, "Fourth"', "x.py:2: docs/page.md has no heading 'Fourth'"),
        ("# docs/pages.md 1", "x.py:1: docs/pages.md is no file"),
        ("# twin.md", "x.py:1: twin.md is one of docs/twin.md, product/twin.md"),
        ("# ADR 0002", "x.py:1: there is no ADR 0002"),
        ("# product/modules.py", "x.py:1: there is no file product/modules.py"),
        ("# product.part.module and product.part: part.module.name, part.module", ""),
        (
            "# part.value is no module",
            "x.py:1: there is no module part.value",
        ),
        ("# product.part.other", "x.py:1: there is no module product.part.other"),
        ('"""Text\n\nof part.module.gone."""', "x.py:3: there is no module part.module.gone"),
        (f'"""\n{">" * 3} part.value\n1\n"""\nx = "part.value"', ""),
        ("# MECHANISMS 4.2", "x.py:1: 'MECHANISMS 4' is not in the repository"),
        ("# see ENGINES, trap 3", "x.py:1: 'ENGINES, trap' is not in the repository"),
        ("# (design/PAGE)", "x.py:1: 'design/P' is not in the repository"),
    ],
)
def test_what_a_comment_cites(tmp_path: Path, text: str, wrong: str) -> None:
    _repository(tmp_path)
    (tmp_path / "x.py").write_text(text, encoding="utf-8")
    assert [str(broken) for broken in Citations(root=tmp_path).broken()][:1] == [wrong][
        : bool(wrong)
    ]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            "[a](page.md), [b](../product/module.py), [c](../product), [d](https://example.org/x)",
            "",
        ),
        ("[a](adr/why.md#0001)", ""),
        ("[a](adr/why.md#0002)", "docs/x.md:1: the link adr/why.md#0002 leads nowhere"),
        ("[a](page.md#12-third) and [b](#top)\n\n# Top", ""),
        ("`module.py`, `product/module.py`", ""),
        ("[a](pages.md)", "docs/x.md:1: pages.md is no file"),
        (
            "[a](../product/modules.txt)",
            "docs/x.md:1: the link ../product/modules.txt leads nowhere",
        ),
        ("\n\n[a](page.md#13-third)", "docs/x.md:3: the link page.md#13-third leads nowhere"),
        ("`modules.py`", "docs/x.md:1: there is no file modules.py"),
    ],
)
def test_what_a_page_links_to(tmp_path: Path, text: str, wrong: str) -> None:
    _repository(tmp_path)
    (tmp_path / "docs" / "x.md").write_text(text, encoding="utf-8")
    assert [str(broken) for broken in Citations(root=tmp_path).broken()][:1] == [wrong][
        : bool(wrong)
    ]


def _repository(root: Path) -> None:
    for name in ("docs/page.md", "docs/twin.md", "product/twin.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(_PAGE.replace("`a.py`", "a").replace("`b.py`", "b"))
    (root / "docs" / "adr").mkdir()
    (root / "docs" / "adr" / "why.md").write_text('| <a id="0001"></a>0001 | First |\n')
    (root / "product" / "module.py").write_text("")
    (root / "product" / "part").mkdir()
    for name in ("product/__init__.py", "product/part/__init__.py"):
        (root / name).write_text("")
    (root / "product" / "part" / "module.py").write_text("name = 1\n")
