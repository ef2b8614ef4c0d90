"""The console in a real browser: what its script does, without a violation of its policy, for everybody.

Needs Chromium and the packages playwright and axe-playwright-python (`make test-browser` installs them).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from proxy.shadow.analyst_sessions import InnerLogins
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(_CHROMIUM is None, reason="no Chromium on this machine"),
]

_BY_CATEGORY = """\
SELECT p.category, sum(o.total) AS revenue, count(*) AS orders
FROM shop.orders o JOIN shop.products p ON p.id = o.product_id
GROUP BY p.category ORDER BY revenue DESC"""
# Keys that are listed, as the times of the sample have no bounds.
_BY_MONTH = """\
SELECT CASE status WHEN 'paid' THEN date '2023-01-01' WHEN 'shipped' THEN date '2023-02-01'
  WHEN 'returned' THEN date '2023-03-01' ELSE date '2023-04-01' END AS month, count(*) AS orders
FROM shop.orders GROUP BY 1 ORDER BY 1"""
_BEYOND = """\
document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("*")]
  .filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 80))"""
_SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


@dataclass(slots=True)
class Browser:
    """told: what pages have written to their console; hosts: that were asked."""

    http: BothListeners
    browser: Any
    told: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    @property
    def address(self) -> str:
        return str(self.http.client.base_url).rstrip("/")

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
        page.goto(f"{self.address}/")
        page.fill("[name=name]", self.http.proxy.servers.new_analyst())
        page.fill("[name=password]", PASSWORD)
        page.click("button.go")
        page.goto(f"{self.address}/db/shop/query")
        return page


@pytest.fixture(scope="module")
def browser(listeners: BothListeners) -> Iterator[Browser]:
    proxy = listeners.proxy
    inner = InnerLogins(proxy.servers.shadow_server.dsn())
    http = open_http(proxy, inner=inner)
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        found = Browser(http, opened)
        yield found
        opened.close()
    http.close()
    told = [one for one in found.told if not one.startswith("Clear-Site-Data")]  # signing out
    assert told == [], "no error, and no violation of the policy"
    assert found.hosts <= {found.address.partition("//")[2], ""}, "nobody else is asked"


def _run(page: Any, sql: str, wanted: str) -> None:
    page.fill("textarea", sql)
    page.evaluate("document.querySelectorAll('#answer section').forEach((one) => one.remove())")
    page.click("[value=run]")
    page.wait_for_selector("#answer section", timeout=30_000)
    assert page.locator(wanted).count(), page.inner_text("#answer")


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_ask_see_and_be_refused(browser: Browser, script: bool) -> None:
    page = browser.signed_in(java_script_enabled=script)
    _run(page, _BY_CATEGORY, "section.answer table")
    assert page.locator("tbody tr").first.locator("svg.ci").count() == 2
    assert "charged ε" in page.inner_text(".facts")
    first = page.input_value("[name=form] >> nth=0") if script else ""
    _run(page, _BY_MONTH, "figure svg.plot")
    assert page.locator("svg.at-wide g.point").count() == 4
    _run(page, "SELECT o.total FROM shop.orders o", "section.refusal")
    assert "nothing was charged" in page.inner_text(".refusal")
    assert page.inner_text(".refusal .bad") == "shop.orders"
    if script:
        assert page.input_value("[name=form] >> nth=0") != first
        assert page.url.endswith("/db/shop/query")
    page.click("text=Use this statement")
    page.wait_for_selector("section.price")
    assert page.input_value("textarea") == "SELECT count(*), avg(o.total) FROM shop.orders o"
    page.goto(f"{browser.address}/db/shop/budget")
    assert page.locator("tbody tr").count() == 2


def test_the_editor(browser: Browser) -> None:
    page = browser.signed_in()
    area = page.locator("textarea")
    area.click()
    page.keyboard.type("SELECT state, count(*) FROM shop.cus")
    assert page.inner_text("#words").strip() == "shop.customers"
    page.keyboard.press("Enter")
    assert area.input_value() == "SELECT state, count(*) FROM shop.customers"
    page.keyboard.type(" GROUP BY sta")
    assert "state" in page.inner_text("#words")
    page.keyboard.press("Tab")
    assert area.input_value().endswith("GROUP BY state")
    assert page.inner_text(".code pre").strip() == area.input_value()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("section.answer table")
    left = page.inner_text(".me .left")
    page.reload()
    assert page.inner_text(".me .left") == left, "the frame tells what is left at once"
    assert area.input_value().startswith("SELECT state"), "the text is kept for the tab"
    page.goto(f"{browser.address}/db/census/query")
    assert area.input_value() == "" and "asks the database census" in page.inner_text(".bar")
    page.fill(".epsilon", "")
    _run(page, "SELECT nosuch()", "section.refusal")
    assert page.input_value(".epsilon"), "an empty field is shown as what it stands for"
    page.goto(f"{browser.address}/db/shop/query")
    assert area.input_value().startswith("SELECT state"), "each database has a text of its own"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") != "BODY"


def test_a_misspelled_value_is_told_before_its_run(browser: Browser) -> None:
    page = browser.signed_in()
    misspelled = "SELECT count(*) FROM shop.orders WHERE status = 'payed'"
    _run(page, misspelled, "section.refusal")
    assert "did you mean 'paid'?" in page.inner_text(".refusal")
    page.click("text=Run it all the same")
    page.wait_for_selector("section.answer table")
    _run(page, misspelled.replace("payed", "paid"), "section.answer table")  # not "sent before"


@pytest.mark.parametrize("size", _SIZES)
def test_what_was_asked_and_what_there_is_can_be_found_again(browser: Browser, size: str) -> None:
    width, height = _SIZES[size]
    page = browser.signed_in(viewport={"width": width, "height": height})
    page.fill("textarea", "SELECT count(*) FROM shop.orders WHERE tot")
    page.keyboard.press("End")
    page.keyboard.type("a")
    assert page.locator(".words").is_visible()
    page.keyboard.type("l")  # a word that is complete: nothing lies over Run
    assert not page.locator(".words").is_visible()
    _run(page, "SELECT * FROM shop.orders", "section.refusal")
    assert not page.locator("[data-stale]").is_visible()
    page.click("[data-insert=status]")
    assert "shop.orders status" in page.input_value("textarea")
    assert page.locator("[data-stale]").is_visible()
    page.goto(f"{browser.address}/db/shop/budget")
    assert "SELECT * FROM shop.orders" in page.inner_text("#session")
    page.click("#session >> text=Use again")
    page.wait_for_selector("textarea")
    assert page.input_value("textarea") == "SELECT * FROM shop.orders"
    page.goto(f"{browser.address}/db/shop/tables")
    page.fill("[name=q]", "product_")
    rows = page.locator("tbody th").all()
    assert [one.inner_text() for one in rows if one.is_visible()] == ["product_id"]


@pytest.mark.parametrize("size", _SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_each_page(browser: Browser, size: str, theme: str) -> None:
    width, height = _SIZES[size]
    page = browser.signed_in(viewport={"width": width, "height": height}, color_scheme=theme)
    checker = axe.Axe()

    def check(name: str) -> None:
        found = checker.run(page).response["violations"]
        assert found == [], (name, [(one["id"], one["nodes"][0]["html"]) for one in found])
        assert page.evaluate(_BEYOND) == [], f"{name} is wider than the window"

    check("query")
    page.fill("textarea", _BY_CATEGORY)
    page.click("[value=price]")
    page.wait_for_selector(".price table")
    check("price")
    for sql, wanted in (
        (_BY_CATEGORY, "section.answer table"),
        (_BY_MONTH, "figure svg"),
        ("SELECT o.total FROM shop.orders o", "section.refusal"),
    ):
        _run(page, sql, wanted)
        check(sql)
    for name in ("tables", "budget", "published"):
        page.goto(f"{browser.address}/db/shop/{name}")
        check(name)
    page.click("text=Sign out")
    page.wait_for_selector("[name=password]")
    check("sign in")
