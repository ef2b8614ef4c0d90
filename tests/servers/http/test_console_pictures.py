"""The pictures of the docs, taken of `dpproxy demo`: `make pictures` writes them to docs/pictures/console.

Needs Chromium and the package playwright (`make test-browser` installs them).
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import serving
from tests.waiting import until

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(_CHROMIUM is None, reason="no Chromium on this machine"),
]

_DOCS = Path(__file__).parents[3] / "docs"
_WIDTH, _HEIGHT = 1280, 700
_LARGEST_BYTES = 100_000
_NAMES = ("answer", "budgets", "policy", "audit")
# The folder is one of this machine.
_NO_FOLDER = """for (const one of document.querySelectorAll(".lead code"))
  one.textContent = one.textContent.replace(/^.*(?=state)/, "")"""
_BY_CATEGORY = """\
SELECT p.category, sum(o.total) AS revenue, count(*) AS orders
FROM shop.orders o JOIN shop.products p ON p.id = o.product_id
GROUP BY p.category ORDER BY revenue DESC"""


@dataclass(slots=True)
class Demo:
    """into: the folder of pictures."""

    analysts: str
    administrators: str
    password: str
    secret: str
    policy: Path
    browser: Any
    into: Path

    def page(self) -> Any:
        view = {"width": _WIDTH, "height": _HEIGHT}
        return self.browser.new_context(viewport=view, color_scheme="light").new_page()

    def analyst(self) -> Any:
        page = self.page()
        page.goto(self.analysts)
        page.fill("[name=name]", "analyst")
        page.fill("[name=password]", self.password)
        page.click("button.go")
        page.goto(f"{self.analysts}/db/shop/query")
        return page

    def administrator(self) -> Any:
        page = self.page()
        page.goto(self.administrators)
        page.fill("[name=secret]", self.secret)
        page.click("button.go")
        page.wait_for_selector("text=What waits for you")
        return page

    def picture(self, page: Any, name: str, *, height: int = _HEIGHT) -> None:
        file = self.into / f"{name}.png"
        clip = {"x": 0, "y": 0, "width": _WIDTH, "height": height}
        page.set_viewport_size({"width": _WIDTH, "height": height})
        page.evaluate("document.activeElement?.blur(); scrollTo(0, 0)")
        content = _in_few_colours(page.screenshot(clip=clip))
        file.write_bytes(content)
        assert len(content) <= _LARGEST_BYTES, f"{name}: {len(content)} bytes"
        assert struct.unpack(">II", content[16:24]) == (_WIDTH, height)


def _in_few_colours(png: bytes) -> bytes:
    """The picture with a palette: of colours that are nearly alike the most frequent one (PNG, W3C, 11.2)."""
    width, height, pixels = _pixels(png)
    counted = Counter(pixels)
    shift = next(n for n in range(9) if len({_rough(one, n) for one in counted}) <= 256)
    chosen: dict[bytes, bytes] = {}
    for colour, _ in counted.most_common():
        chosen.setdefault(_rough(colour, shift), colour)
    numbers = {rough: number for number, rough in enumerate(chosen)}
    of = {colour: numbers[_rough(colour, shift)] for colour in counted}
    places = bytes(of[one] for one in pixels)
    rows = b"".join(b"\0" + places[n * width : (n + 1) * width] for n in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return png[:8] + b"".join(
        (
            _chunk(b"IHDR", head),
            _chunk(b"PLTE", b"".join(chosen.values())),
            _chunk(b"IDAT", zlib.compress(rows, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _rough(colour: bytes, shift: int) -> bytes:
    return bytes(one >> shift for one in colour)


def _pixels(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height, and colours of three bytes, of what Chromium writes: 8 bits, no interlacing."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (depth, kind) in ((8, 2), (8, 6))
    each, data, at = (3 if kind == 2 else 4), b"", 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        data += png[at + 8 : at + 8 + size] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + size
    raw, line = zlib.decompress(data), width * each
    above, found = bytearray(line), []
    for row in range(height):
        start = row * (line + 1)
        how, now = raw[start], bytearray(raw[start + 1 : start + 1 + line])
        for n in range(line if how else 0):
            left = now[n - each] if n >= each else 0
            corner = above[n - each] if n >= each else 0
            now[n] = (now[n] + _predicted(how, left, above[n], corner)) & 255
        found += [bytes(now[n : n + 3]) for n in range(0, line, each)]
        above = now
    return width, height, found


def _predicted(how: int, left: int, above: int, corner: int) -> int:
    """By a row's filter (PNG, W3C, 9.2)."""
    if how < 4:
        return (0, left, above, (left + above) // 2)[how]
    guess = left + above - corner
    return min((left, above, corner), key=lambda one: abs(guess - one))


def _chunk(name: bytes, content: bytes) -> bytes:
    sums = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + sums


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder = tmp_path_factory.mktemp("pictures")
    given = os.environ.get("DPPROXY_PICTURES")
    into = folder if given is None else Path(given)
    into.mkdir(parents=True, exist_ok=True)
    free = "127.0.0.1:0"
    arguments: list[str | Path] = [
        "demo",
        "--state",
        folder / "state",
        "--listen",
        free,
        "--http",
        free,
    ]
    with serving(folder, [*arguments, "--admin", free], "Ctrl-C", is_cold=True) as running:
        found = {
            name: re.search(pattern, running.printed)
            for name, pattern in {
                "analysts": r"In a browser: (http://\S+?)/\n",
                "administrators": r"For administrators: (http://\S+?)/\n",
                "password": r"password (\S+)\. Copy",
                "secret": r"with the secret (\S+)",
            }.items()
        }
        texts = {name: one[1] for name, one in found.items() if one is not None}
        with playwright.sync_playwright() as driver:
            opened = driver.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
            policy = folder / "state" / "policies" / "shop.yaml"
            yield Demo(**texts, policy=policy, browser=opened, into=into)
            opened.close()
        assert running.stop() == 0


def test_an_answer_with_error_bars(demo: Demo) -> None:
    page = demo.analyst()
    page.fill("textarea", _BY_CATEGORY)
    page.click("[value=run]")
    page.wait_for_selector("section.answer table", timeout=30_000)
    assert page.locator("svg.ci.axis").count() == 2
    demo.picture(page, "answer")


def test_a_burn_down(demo: Demo) -> None:
    page = demo.administrator()
    page.goto(f"{demo.administrators}/budgets?database=shop&line=analyst")
    assert page.locator("figure svg.at-wide").count() == 1
    demo.picture(page, "budgets")


def test_the_last_change_of_a_policy(demo: Demo) -> None:
    page = demo.administrator()
    text = demo.policy.read_text()
    changed = text.replace("bounds: [1, 20]", "bounds: [1, 25]").replace(
        "epsilon: 4,", "epsilon: 6,"
    )
    assert changed != text
    demo.policy.write_text(changed)
    page.goto(f"{demo.administrators}/policy/shop")
    page.click("text=Read the files again")
    page.wait_for_selector("text=What the last change did")
    page.goto(f"{demo.administrators}/policy/shop")
    page.evaluate(_NO_FOLDER)
    demo.picture(page, "policy", height=960)


def test_an_audit(demo: Demo) -> None:
    page = demo.administrator()
    page.goto(f"{demo.administrators}/audit/shop")
    page.fill("[name=rows]", "40")
    page.click("text=Run >> nth=0")

    def has_ended() -> bool:
        page.goto(f"{demo.administrators}/audit/shop")
        return "runs since" not in page.inner_text("main")

    until(has_ended, 300)
    assert page.locator("figure svg.at-wide").count() == 1, page.inner_text("main")
    demo.picture(page, "audit", height=800)


def test_the_docs_have_these_pictures() -> None:
    assert {file.stem for file in (_DOCS / "pictures" / "console").glob("*.png")} == set(_NAMES)
