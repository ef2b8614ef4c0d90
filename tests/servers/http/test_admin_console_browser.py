"""The administrators' console in a real browser, without a script; and the pictures of the documentation.

Needs Chromium and the packages playwright and axe-playwright-python (`make test-browser` installs them).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.servers.http.administered import NAME, SECRET, Administered, administered
from tests.waiting import until

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(_CHROMIUM is None, reason="no Chromium on this machine"),
]

_PAGES = {
    "overview": "/",
    "budgets": "/budgets?database=shop",
    "people": "/people",
    "person": "/people/one?name=ann",
    "receipts": "/receipts?database=shop",
    "policy": "/policy/shop",
    "report": "/report/shop",
    "findings": "/findings/shop",
    "audit": "/audit/shop",
    "chain": "/chain",
    "log": "/log",
    "add": "/change/add-user",
    "password": "/change/set-password?name=ann",
    "remove": "/change/remove-user?name=ann",
    "token": "/change/create-token?name=ann",
}
_BEYOND = """\
document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("*")]
  .filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 80))"""
_SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


@dataclass(slots=True)
class Browser:
    """told: what pages have written to their console; hosts: that were asked."""

    site: Administered
    browser: Any
    told: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def page(self, **options: Any) -> Any:
        made = self.browser.new_context(**options).new_page()
        made.on("console", lambda message: self.told.append(message.text))
        made.on("pageerror", lambda error: self.told.append(str(error)))
        made.on(
            "request",
            lambda request: self.hosts.add(request.url.partition("//")[2].partition("/")[0]),
        )
        return made

    def signed_in(self, **options: Any) -> Any:
        page = self.page(**options)
        page.goto(f"{self.site.address}/")
        page.fill("[name=secret]", SECRET)
        page.click("button.go")
        page.wait_for_selector("text=What waits for you")
        return page

    def go(self, page: Any, path: str) -> None:
        page.goto(f"{self.site.address}{path}")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with administered(tmp_path_factory.mktemp("administered")) as site:
        site.ask()
        with playwright.sync_playwright() as driver:
            opened = driver.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
            found = Browser(site, opened)
            yield found
            opened.close()
        # 401, 400 and 409 are answers to what is wrong in the forms below.
        told = [
            one for one in found.told if not one.startswith(("Clear-Site-Data", "Failed to load"))
        ]
        assert told == [], "no error, and no violation of the policy"
        assert found.hosts <= {site.address.partition("//")[2], ""}, "nobody else is asked"


def test_sign_in_and_out(browser: Browser) -> None:
    page = browser.page()
    browser.go(page, "/people")
    page.fill("[name=secret]", f"{SECRET} wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]")
    assert "lets nobody in" in page.inner_text("[role=alert]")
    page.fill("[name=secret]", SECRET)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=People and groups")
    assert page.url.endswith("/people"), "the page that was asked for"
    assert page.evaluate("document.cookie") == "", "no script sees the cookie"
    assert NAME in page.inner_text(".me")
    page.click("text=Sign out")
    page.wait_for_selector("[name=secret]")
    browser.go(page, "/log")
    assert page.locator("[name=secret]").count() == 1


def test_somebody_is_let_in_and_out(browser: Browser) -> None:
    page = browser.signed_in()
    page.click("text=People")
    page.click("text=Add an analyst")
    page.fill("[name=name]", "zoë")
    page.fill("[name=password]", "short")
    page.click("button.go")
    assert "shorter than 8" in page.inner_text("[role=alert]")
    assert page.input_value("[name=name]") == "zoë" and page.input_value("[name=password]") == ""
    page.fill("[name=password]", "a long password")
    page.click("button.go")
    page.wait_for_selector("[role=status]")
    page.click("table a:text('zoë')")
    page.click("text=Create a token")
    page.click("button.go")
    assert re.fullmatch(r"dpp_[A-Za-z0-9_-]{43}", page.inner_text("pre.shown").strip())
    page.click("text=Done")
    page.click("table a:text('zoë')")
    page.click("text=Remove")
    page.fill("[name=typed]", "zoe")
    page.click("button.grave")
    assert "to confirm" in page.inner_text("[role=alert]")
    page.fill("[name=typed]", "zoë")
    page.click("button.grave")
    page.wait_for_selector("text=zoë is removed.")
    assert "zoë" not in page.inner_text("table >> nth=0")


def test_a_policy_is_checked_and_taken(browser: Browser) -> None:
    page, file = browser.signed_in(), browser.site.operator.policy
    before = file.read_text()
    page.click("text=Policy")
    digest = page.inner_text(".lead code >> nth=0")
    page.click("summary >> nth=0")
    page.fill("textarea", before.replace("epsilon: 50", "epsilon: 40"))
    page.click("text=Check and compare")
    page.wait_for_selector("text=What this text changes")
    assert "epsilon 50 -> 40" in page.inner_text("main")
    assert page.locator("tr.add").count() == page.locator("tr.del").count() == 1
    try:
        file.write_text(before.replace("unit:", "units:"))
        page.click("text=Read the files again")
        page.wait_for_selector("section.refusal")
        assert "unknown key 'units'" in page.inner_text("main")
        assert page.inner_text(".lead code >> nth=0") == digest
        file.write_text(before.replace("epsilon: 50", "epsilon: 40"))
        page.click("text=Read the files again")
        page.wait_for_selector("text=What the last change did")
        assert page.inner_text(".lead code >> nth=0") != digest
    finally:
        file.write_text(before)
        page.click("text=Read the files again")
        page.wait_for_selector("[role=status]")


@pytest.mark.parametrize("size", _SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_each_page(browser: Browser, size: str, theme: str) -> None:
    width, height = _SIZES[size]
    view = {"width": width, "height": height}
    page = browser.signed_in(viewport=view, color_scheme=theme, java_script_enabled=True)
    checker = axe.Axe()

    def check(name: str) -> None:
        found = checker.run(page).response["violations"]
        assert found == [], (name, [(one["id"], one["nodes"][0]["html"]) for one in found])
        assert page.evaluate(_BEYOND) == [], f"{name} is wider than the window"

    browser.go(page, "/audit/shop")
    if not page.locator("figure svg").count():
        page.fill("[name=rows]", "8")
        page.fill("[name=distance]", "3")
        page.click("text=Run >> nth=0")

        def has_ended() -> bool:
            browser.go(page, "/audit/shop")
            return "runs since" not in page.inner_text("main")

        until(has_ended, 120)
        assert page.locator("figure svg.plot").count() == 2, page.inner_text("main")
    for name, path in _PAGES.items():
        browser.go(page, path)
        check(name)
    page.click("text=Sign out")
    page.wait_for_selector("[name=secret]")
    check("sign in")
    browser.go(page, "/policy/nowhere")


def test_the_keyboard_alone_reaches_everything(browser: Browser) -> None:
    page = browser.signed_in()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    seen = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.textContent.trim()"))
    assert {"Overview", "Budgets", "People", "Receipts", "Policy", "Findings", "Log"} <= seen
    assert "Sign out" in seen
