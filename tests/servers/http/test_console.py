"""The console in the browser, as text: who gets in, what is run and charged, and what is in no page."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from html import unescape

import httpx
import psycopg
import pytest

from proxy.base.errors import Fault
from proxy.ledger.users import (
    PeopleReader,
    allow,
    open_to_all,
    remove_analyst,
    restrict,
    set_password,
)
from proxy.servers.admission import Admission
from proxy.servers.console.pages import refusal
from proxy.servers.console.prices import history_lines
from proxy.servers.console.templates import rendered
from proxy.servers.http.http_logins import Bearers
from proxy.servers.http.http_problem import HttpProblem
from proxy.shadow.analyst_sessions import InnerLogins
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD

_COUNT = "SELECT state, count(*) AS customers FROM shop.customers GROUP BY state"
_PAGES = ("query", "tables", "budget", "published")
_OWN = {"Sec-Fetch-Site": "same-origin"}


@dataclass(slots=True)
class Site:
    http: BothListeners
    admission: Admission
    reader: PeopleReader
    sources: dict[str, str]
    browsers: list[httpx.Client] = field(default_factory=list)

    def follow(self) -> None:
        """What `serve` does each second."""
        self.admission.people = self.reader.read()

    def analyst(self) -> str:
        name = self.http.proxy.servers.new_analyst()
        self.follow()
        return name

    def browser(self) -> httpx.Client:
        found = httpx.Client(base_url=self.http.client.base_url, timeout=60, follow_redirects=True)
        self.browsers.append(found)
        return found

    @contextmanager
    def signed_in(self, name: str) -> Iterator[httpx.Client]:
        browser = self.browser()
        found = browser.post("/sign-in", data={"name": name, "password": PASSWORD}, headers=_OWN)
        assert found.status_code == 200 and 'class="editor"' in found.text, found.text
        yield browser

    def charged(self, name: str) -> tuple[int, float]:
        count, epsilon = self.http.proxy.when_settled(name)[:2]
        return int(count), float(epsilon)


@pytest.fixture(scope="module")
def site(listeners: BothListeners) -> Iterator[Site]:
    proxy = listeners.proxy
    pair, sources = proxy.servers, proxy.assembly.sources
    with psycopg.connect(pair.ledger_dsn) as connection:
        named: dict[int, str] = dict(
            connection.execute("SELECT id, name FROM ledger.source").fetchall()
        )
    reader = PeopleReader(pair.ledger_dsn, tuple(sources.values()))
    admission = Admission(sources, reader.read())
    http = open_http(
        proxy,
        inner=InnerLogins(pair.shadow_server.dsn()),
        bearers=Bearers(admission),
        admission=admission,
    )
    found = Site(http, admission, reader, {name: named[one] for name, one in sources.items()})
    yield found
    for browser in found.browsers:
        browser.close()
    http.close()
    reader.close()


def _fields(page: str) -> dict[str, str]:
    """The hidden fields of the editor's form."""
    form = re.search(r'<form class="editor".*?</form>', page, re.DOTALL)
    assert form is not None
    return dict(re.findall(r'name="(token|form)" value="([^"]+)"', form[0]))


def _run(browser: httpx.Client, sql: str, act: str = "run", **more: str) -> httpx.Response:
    fields = _fields(browser.get("/db/shop/query").text)
    data = {**fields, "sql": sql, "epsilon": "0.25", "act": act, **more}
    return browser.post("/db/shop/query", data=data, headers=_OWN)


def _text(page: str) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def test_nobody_sees_a_page_without_signing_in(site: Site) -> None:
    browser = site.browser()
    for path in ("/", *(f"/db/shop/{page}" for page in _PAGES)):
        found = browser.get(path)
        assert found.url.path == "/sign-in" and "Password" in found.text
    found = browser.post("/db/shop/query", data={"sql": "SELECT 1"}, headers=_OWN)
    assert found.url.path == "/sign-in"


def test_a_wrong_name_and_a_wrong_password_are_told_alike(site: Site) -> None:
    name, texts = site.analyst(), set()
    for user, password in ((name, "xyzzy"), ("nobody_there", PASSWORD), (name, ""), ("", "")):
        found = site.browser().post(
            "/sign-in", data={"name": user, "password": password}, headers=_OWN
        )
        assert found.status_code == 401 and "dp" not in found.cookies
        texts.add(found.text.replace(f'value="{user}" required', ""))
        assert password == "" or password not in found.text
    assert len(texts) == 1


def test_the_cookie_is_kept_from_scripts_and_other_sites(site: Site) -> None:
    browser = site.browser()
    browser.follow_redirects = False
    found = browser.post(
        "/sign-in", data={"name": site.analyst(), "password": PASSWORD}, headers=_OWN
    )
    assert found.status_code == 303 and found.headers["location"] == "/"
    cookie = found.headers["set-cookie"].lower()
    assert cookie.startswith("dp=") and "httponly" in cookie and "samesite=strict" in cookie


def test_a_statement_is_run_charged_and_shown_with_its_error(site: Site) -> None:
    name = site.analyst()
    with site.signed_in(name) as browser:
        found = _run(browser, _COUNT)
        assert found.status_code == 200
        assert site.charged(name) == (1, 0.25)
        assert '<td class="">CA</td>' in found.text and "±" in found.text
        assert 'class="whisker"' in found.text
        shown = _text(found.text)
        assert "charged ε 0.25" in shown and "source fresh" in shown
        # What is saved is what is shown, and asks nothing.
        link = re.search(r'href="data:text/csv;charset=utf-8;base64,([^"]+)"', found.text)
        assert link is not None
        lines = base64.b64decode(link[1]).decode().splitlines()
        assert lines[0] == "state,customers,customers_error_95" and len(lines) == 11
        assert all(f"{int(line.split(',')[1]):,}" in found.text for line in lines[1:])
        budget = _text(browser.get("/db/shop/budget").text)
        assert "0.25" in budget and "fingerprint" in budget
        assert (
            0 < budget.index(" left of ") < budget.index("ask the data owner for a smaller limit")
        )
        assert site.charged(name) == (1, 0.25)


def test_what_is_proposed_runs(site: Site) -> None:
    with site.signed_in(site.analyst()) as browser:
        proposed = re.findall(r'data-use="([^"]+)"', browser.get("/db/shop/query").text)
        assert len(proposed) >= 2
        for sql in map(unescape, proposed):
            assert "Save as CSV" in _run(browser, sql).text, sql


def test_a_price_is_shown_and_nothing_is_charged(site: Site) -> None:
    name = site.analyst()
    with site.signed_in(name) as browser:
        found = _text(_run(browser, _COUNT, "price").text)
    assert all(f"ε {epsilon}" in found for epsilon in ("0.125", "0.25", "0.5"))
    assert "At ε 0.25, someone who guesses" in found
    assert "nothing is charged for looking" in found and "left afterwards" in found
    assert site.charged(name)[0] == 0


def test_an_empty_epsilon_is_shown_as_the_usual_one(site: Site) -> None:
    with site.signed_in(site.analyst()) as browser:
        found = _run(browser, _COUNT, "price", epsilon="").text
    field = re.search(r'class="epsilon"[^>]* value="([^"]+)" placeholder="([^"]+)"', found)
    assert field is not None and field[1] == field[2]
    assert f"At ε {field[1]}, " in found and f'class="on">ε {field[1]}<' in found


def test_what_is_asked_again_has_the_epsilon_of_its_charge() -> None:
    rest = {"receipt": 1, "at": "2026-11-27T12:00:00+00:00", "text": _COUNT, "statement": "ab"}
    lines = history_lines(
        [
            {**rest, "outcome": "answered", "epsilon": Decimal(one), "delta": 0}
            for one in ("0.50", 0)
        ]
    )
    assert [one.asked for one in lines] == ["0.50", ""]


def test_what_no_listed_value_meets_is_run_once_somebody_is_sure(site: Site) -> None:
    name = site.analyst()
    misspelled = "SELECT count(*) FROM shop.orders WHERE status = 'payed'"
    with site.signed_in(name) as browser:
        stopped = _run(browser, misspelled).text
        assert "did you mean &#39;paid&#39;?" in stopped and site.charged(name)[0] == 0
        forms = re.findall(r'<form class="instead".*?</form>', stopped, re.DOTALL)
        pairs = [re.findall(r'name="(\w+)" value="([^"]*)"', one) for one in forms]
        sent = [{key: unescape(value) for key, value in one} for one in pairs]
        assert [one["act"] for one in sent] == ["price", "run"]
        assert (
            sent[0]["sql"] == misspelled.replace("payed", "paid") and sent[1]["sql"] == misspelled
        )
        answered = browser.post("/db/shop/query", data=sent[1], headers=_OWN).text
        assert 'class="answer"' in answered and "it takes about" not in answered
        assert "Before you run it" not in answered and site.charged(name) == (1, 0.25)
        # What one listed value meets, and what no price can be told of, is run or refused at once.
        some = misspelled.replace("= 'payed'", "IN ('payed', 'paid')")
        assert 'class="answer"' in _run(browser, some).text
        assert "nothing was charged" in _run(browser, misspelled.replace("status", "nosuch")).text


def test_a_price_says_what_cannot_be_met_and_what_is_free(site: Site) -> None:
    name = site.analyst()
    misspelled = "SELECT count(*) FROM shop.orders WHERE status = 'payed'"
    grouped = f"{misspelled.replace('count', 'status, count')} GROUP BY 1"
    with site.signed_in(name) as browser:
        found = _text(_run(browser, misspelled, "price").text)
        assert "did you mean 'paid'?" in found and "about 0 or NULL" in found
        found = _text(_run(browser, grouped, "price").text)
        assert "It is free to run" in found and found.count("(free)") == 3
    assert site.charged(name)[0] == 0


@pytest.mark.every(2)
@pytest.mark.parametrize("act", ["", "explain", "RUN", "price"])
def test_only_a_run_is_a_run(site: Site, act: str) -> None:
    name = site.analyst()
    with site.signed_in(name) as browser:
        fields = _fields(browser.get("/db/shop/query").text)
        data = {**fields, "sql": _COUNT, "epsilon": "0.25", "act": act}
        if not act:
            del data["act"]
        found = browser.post("/db/shop/query", data=data, headers=_OWN)
    assert "Before you run it" in found.text and site.charged(name)[0] == 0


def test_a_refusal_underlines_its_word_and_charges_nothing(site: Site) -> None:
    name = site.analyst()
    with site.signed_in(name) as browser:
        found = _run(browser, "SELECT o.total FROM shop.orders o")
    assert '<span class="bad">' in found.text and "nothing was charged" in found.text
    assert "42501" in found.text and site.charged(name)[0] == 0


def test_a_form_that_is_sent_twice_runs_once(site: Site) -> None:
    name = site.analyst()
    with site.signed_in(name) as browser:
        fields = _fields(browser.get("/db/shop/query").text)
        data = {**fields, "sql": _COUNT, "epsilon": "0.25", "act": "run"}
        first, second = (browser.post("/db/shop/query", data=data, headers=_OWN) for _ in range(2))
    assert "Save as CSV" in first.text and "This form was sent before" in second.text
    assert site.charged(name) == (1, 0.25)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://example.org"},
        {"Origin": "null"},
        {},
    ],
)
def test_forms_of_other_sites_are_not_taken(site: Site, headers: dict[str, str]) -> None:
    name = site.analyst()
    with site.signed_in(name) as browser:
        fields = _fields(browser.get("/db/shop/query").text)
        data = {**fields, "sql": _COUNT, "epsilon": "0.25"}
        assert browser.post("/db/shop/query", data=data, headers=headers).status_code == 403
        credentials = {"name": name, "password": PASSWORD}
        assert browser.post("/sign-in", data=credentials, headers=headers).status_code == 403
    assert site.charged(name)[0] == 0


def test_a_form_without_the_sessions_token_is_not_taken(site: Site) -> None:
    name = site.analyst()
    with site.signed_in(name) as browser, site.signed_in(site.analyst()) as other:
        others = _fields(other.get("/db/shop/query").text)["token"]
        for token in ("", "x", others):
            assert _run(browser, _COUNT, token=token).status_code == 403
    assert site.charged(name)[0] == 0


def test_each_door_has_its_own_key(site: Site) -> None:
    name = site.analyst()
    with site.signed_in(name) as browser:
        body = {"database": "shop", "sql": _COUNT}
        assert browser.post("/v1/query", json=body).status_code == 401
        assert browser.get("/v1/budget?database=shop").status_code == 401
    found = site.browser().get("/db/shop/budget", auth=(name, PASSWORD))
    assert found.url.path == "/sign-in"


def test_a_session_ends_with_its_person_and_its_password(site: Site) -> None:
    pair = site.http.proxy.servers
    changed, removed, left = (site.analyst() for _ in range(3))
    with (
        site.signed_in(changed) as one,
        site.signed_in(removed) as two,
        site.signed_in(left) as kept,
    ):
        set_password(pair.ledger_dsn, changed, "another password")
        remove_analyst(pair.ledger_dsn, removed)
        site.follow()
        assert one.get("/db/shop/budget").url.path == "/sign-in"
        assert two.get("/db/shop/budget").url.path == "/sign-in"
        page = kept.get("/db/shop/budget")
        assert page.url.path == "/db/shop/budget"
        token = re.search(r'name="token" value="([^"]+)"', page.text)
        assert token is not None
        out = kept.post("/sign-out", data={"token": token[1]}, headers=_OWN)
        assert out.url.path == "/sign-in"
        assert out.history[0].headers["clear-site-data"] == '"storage"'
        assert kept.get("/db/shop/budget").url.path == "/sign-in"


def test_who_may_not_query_a_database_has_no_page_of_it(site: Site) -> None:
    name, source = site.analyst(), site.sources["census"]
    dsn = site.http.proxy.servers.ledger_dsn
    with site.signed_in(name) as browser:
        assert "census" in browser.get("/db/shop/tables").text
        restrict(dsn, source)
        try:
            site.follow()
            assert "census" not in browser.get("/db/shop/tables").text
            there, missing = (browser.get(f"/db/{one}/tables") for one in ("census", "no_such"))
            assert there.status_code == missing.status_code == 404
            assert there.text == missing.text
            # PostgreSQL takes any name: one with a slash has pages, too.
            assert browser.get("/db/no%2Fsuch/tables").text == missing.text
            assert browser.get("/db/shop/no_such").text != missing.text
            allow(dsn, source, analyst=name)
            site.follow()
            assert browser.get("/db/census/tables").status_code == 200
        finally:
            open_to_all(dsn, source)
            site.follow()


def test_pages_have_a_strict_policy_and_nothing_that_it_forbids(site: Site) -> None:
    with site.signed_in(site.analyst()) as browser:
        pages = [browser.get(f"/db/shop/{page}") for page in _PAGES]
        pages += [
            site.browser().get("/sign-in"),
            _run(browser, _COUNT),
            _run(browser, "SELECT nope"),
        ]
        for page in pages:
            policy = page.headers["content-security-policy"]
            assert "unsafe" not in policy and policy.startswith("default-src 'none'")
            assert page.headers["cache-control"] == "no-store"
            assert not re.search(r"<[^>]+\s(style|on[a-z]+)=", page.text)
            assert not re.search(r'(src|href|action)="(https?:)?//', page.text)
        for asset in re.findall(r'"(/static/[^"]+)"', pages[0].text):
            found = browser.get(asset)
            assert found.status_code == 200 and "immutable" in found.headers["cache-control"]
            assert found.headers.get_list("cache-control") == [found.headers["cache-control"]]
        assert browser.get("/static/0000/style.css").status_code == 404
        assert browser.get("/static/0000/..%2fpages.py").status_code == 404


def test_what_is_written_is_shown_as_text(site: Site) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    with site.signed_in(site.analyst()) as browser:
        found = _run(browser, f"SELECT '{hostile}' AS \"{hostile}\"")
        assert hostile not in found.text and "&lt;img" in found.text
        assert hostile not in browser.get("/db/shop/tables", params={"q": hostile}).text
        assert hostile not in _run(browser, f'SELECT "{hostile}" FROM shop.orders').text


def test_another_analysts_statement_is_in_no_page(site: Site) -> None:
    first, second = site.analyst(), site.analyst()
    marked = _COUNT.replace("customers FROM", "marked_4711 FROM")
    with site.signed_in(first) as one, site.signed_in(second) as two:
        answered = _run(one, marked)
        assert "marked_4711" in answered.text
        for page in _PAGES:
            assert "marked_4711" not in two.get(f"/db/shop/{page}").text
            assert first not in two.get(f"/db/shop/{page}").text
        # What a colleague has asked is fresh to who asks it now, and paid.
        assert "source fresh" in _text(_run(two, marked).text)
    assert site.charged(second) == (1, 0.25)


@pytest.mark.every(5)
@pytest.mark.parametrize(
    "epsilon", ["1e999999999", "NaN", "-1", "Infinity", "1" * 60, "0x1", "0.1 "]
)
@pytest.mark.parametrize("act", ["run", "price"])
def test_an_epsilon_that_is_none_is_refused(site: Site, epsilon: str, act: str) -> None:
    """At once: one of a few letters can be a number of a gigabyte."""
    name = site.analyst()
    with site.signed_in(name) as browser:
        found = _run(browser, "SELECT 1", act, epsilon=epsilon)
    is_number = epsilon.strip() == "0.1"
    assert ("ε is a number above 0" in found.text) != is_number
    assert site.charged(name)[0] == 0


def test_explain_is_a_price_and_nothing_is_charged(site: Site) -> None:
    name = site.analyst()
    with site.signed_in(name) as browser:
        found = _run(browser, f"EXPLAIN {_COUNT}").text
    assert "Before you run it" in found and site.charged(name)[0] == 0


def test_signing_in_again_leads_back(site: Site) -> None:
    name = site.analyst()
    with site.signed_in(name) as browser:
        out = browser.post(
            "/sign-out",
            data={
                "token": _fields(browser.get("/db/shop/query").text)["token"],
                "to": "/db/shop/budget",
            },
            headers=_OWN,
        )
        assert str(out.url).endswith("/sign-in?to=/db/shop/budget")
        assert 'name="to" value="/db/shop/budget"' in out.text
        given = {"name": name, "password": PASSWORD}
        for place, there in (
            ("/db/shop/budget", "/db/shop/budget"),
            ("//example.org", "/db/census/query"),
        ):
            found = browser.post("/sign-in", data={**given, "to": place}, headers=_OWN)
            assert found.url.path == there
    with site.browser() as browser:  # a page that was asked for without a session
        assert str(browser.get("/db/shop/tables").url).endswith("/sign-in?to=/db/shop/tables")


def test_the_help_says_each_word_that_pages_link_to(site: Site) -> None:
    with site.signed_in(site.analyst()) as browser:
        there = browser.get("/help").text
        for page in ("query", "budget", "tables"):
            text = browser.get(f"/db/shop/{page}").text
            assert 'href="/help"' in text
            for word in re.findall(r'href="/help#([a-z]+)"', text):
                assert f'id="{word}"' in there
            assert "Published" not in text, "nothing is published here"
        assert "statements more at the usual" in browser.get("/db/shop/budget").text


def test_of_a_long_answer_the_first_rows_are_shown(site: Site) -> None:
    with site.signed_in(site.analyst()) as browser:
        found = _run(browser, "SELECT g, repeat('x', 10) FROM generate_series(1, 60000) g")
    assert "59,000 more rows are not shown" in found.text and found.text.count("<tr>") < 1_010


def test_an_answer_is_shown_though_the_ledger_went_away_behind_its_charge(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = site.analyst()
    engine = type(site.http.server.routes.engines["shop"].now)
    asked = 0
    budget = engine.budget

    async def away(self: object, analyst: str) -> str:
        nonlocal asked
        asked += 1
        if asked > 2:  # the page before, and its frame
            raise Fault("the ledger is not available")
        return await budget(self, analyst)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "budget", away)
    with site.signed_in(name) as browser:
        asked = 0
        found = _run(browser, _COUNT)
    assert "Save as CSV" in found.text and site.charged(name) == (1, 0.25)


@pytest.mark.parametrize(
    ("sqlstate", "receipt", "told"),
    [
        ("42501", None, "nothing was charged"),
        ("53400", None, "nothing was charged"),
        ("22012", "7", "stays charged: receipt"),
        ("58000", None, "whether it was charged"),
        ("57014", None, "whether it was charged"),
        ("XX000", None, "whether it was charged"),
        (None, None, "whether it was charged"),
    ],
)
def test_a_refusal_says_of_its_charge_what_is_known(
    sqlstate: str | None, receipt: str | None, told: str
) -> None:
    problem = HttpProblem(400, "no", sqlstate=sqlstate, receipt=receipt)
    shown = {"database": "shop", "sql": "", "examples": (), "has_published": False}
    assert told in rendered("result", **refusal(problem), **shown)
    if receipt is None:  # a price is never charged
        assert "nothing was charged" in rendered(
            "result", **refusal(problem, is_run=False), **shown
        )


def test_a_refusal_has_a_button_that_takes_the_corrected_statement(site: Site) -> None:
    name = site.analyst()
    with site.signed_in(name) as browser:
        refused = _run(browser, "SELECT total FROM shop.orders WHERE status = '<b>'").text
        form = re.search(r'<form class="instead".*?</form>', refused, re.DOTALL)
        assert form is not None and "Use this statement" in form[0]
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[0]))
        corrected = unescape(fields["sql"])
        assert corrected == "SELECT count(*), avg(total) FROM shop.orders WHERE status = '<b>'"
        fields = {key: unescape(value) for key, value in fields.items()}
        taken = browser.post("/db/shop/query", data=fields, headers=_OWN).text
        assert corrected in _text(taken) and "Before you run it" in taken
        assert site.charged(name)[0] == 0
        answered = _run(browser, corrected, sure="1").text
        assert "Use this statement" not in answered and 'class="answer"' in answered
        assert "Use this statement" not in _run(browser, "SELECT nosuch()").text
    assert site.charged(name)[0] == 1
