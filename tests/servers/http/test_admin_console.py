"""The administrators' console as text: who gets in, what pages show and change, what is in none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from html import unescape
from itertools import pairwise
from pathlib import Path

import httpx
import psycopg
import pytest

from proxy.accounting.amounts import Amount
from proxy.accounting.budget_lines import LineKind
from proxy.ledger.adjustments import Adjustment, adjust
from proxy.ledger.ledger_sources import known_sources
from proxy.ledger.users import verifiers
from proxy.servers.console.admin_people import CHANGES
from tests.cli.commands import dpproxy
from tests.cli.test_serving_with_a_ledger import address, connect
from tests.servers.http.administered import (
    MARK,
    NAME,
    OWN,
    PAGES,
    SECRET,
    Administered,
    administered,
    emails,
    send,
    shown,
    token_of,
    write_policy,
)
from tests.servers_fixture import servers
from tests.waiting import until

_OTHER = "fedcba9876543210" * 4
_PASSWORD = "a password of the test"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Administered]:
    with administered(tmp_path_factory.mktemp("administered")) as found:
        found.ask()
        yield found


@pytest.fixture
def browser(site: Administered) -> httpx.Client:
    return site.signed_in()


def test_nobody_sees_a_page_without_signing_in(site: Administered) -> None:
    browser = site.browser()
    for path in PAGES:
        found = browser.get(path)
        assert found.url.path == "/sign-in" and "Secret" in found.text
    posts = (
        "/sign-out",
        "/policy/shop",
        "/report/shop",
        "/audit/shop",
        *(f"/change/{one}" for one in CHANGES),
    )
    for path in posts:
        assert browser.post(path, data={"name": "eve"}, headers=OWN).url.path == "/sign-in"
    assert "eve" not in verifiers(site.ledger_dsn)
    # The page that was asked for comes after signing in, and no other site's.
    there = browser.get("/receipts?database=shop")
    (way,) = re.findall(r'name="to" value="([^"]*)"', there.text)
    data = {"secret": SECRET, "to": unescape(way)}
    assert str(browser.post("/sign-in", data=data, headers=OWN).url).endswith(
        "/receipts?database=shop"
    )
    for elsewhere in ("//example.org", "https://example.org", "/\\example.org", "javascript:1"):
        data = {"secret": SECRET, "to": elsewhere}
        assert site.browser().post("/sign-in", data=data, headers=OWN).url.path == "/"


def test_each_sign_in_is_logged(site: Administered) -> None:
    def logins() -> int:
        return site.running.out.with_name("err.txt").read_text().count('"event": "login"')

    before = logins()
    for _ in range(2):
        site.browser().post("/sign-in", data={"secret": SECRET}, headers=OWN)
    assert logins() == before + 2


def test_a_wrong_secret_is_refused_late_and_without_a_cookie(site: Administered) -> None:
    texts = set()
    for secret in (SECRET[:-1], _OTHER):  # each is answered later than the one before
        found = site.browser().post("/sign-in", data={"secret": secret}, headers=OWN)
        assert found.status_code == 401 and not found.cookies
        texts.add(found.text)
    assert len(texts) == 1 and "lets nobody in" in texts.pop()
    # It is in the log, with where it came from and nothing of the secret: once in half a minute, of many.
    by = "admin console: (unknown secret) from 127.0.0.1"
    refused = [one for one in site.events() if one.what == "console sign-in refused"]
    assert refused and all(one.who == by and one.detail == {} for one in refused)
    assert all(late.at - early.at >= timedelta(seconds=29) for early, late in pairwise(refused))
    began = site.signed_in()
    assert not any(one.what == "login_failed" for one in site.events())
    assert began.get("/").status_code == 200


def test_the_cookie_is_kept_from_scripts_and_other_sites(site: Administered) -> None:
    browser = site.browser()
    browser.follow_redirects = False
    plain = browser.post("/sign-in", data={"secret": SECRET}, headers=OWN)
    assert plain.status_code == 303
    cookie = plain.headers["set-cookie"].lower()
    assert cookie.startswith("dp-admin=") and "secure" not in cookie
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/" in cookie
    # A proxy that is trusted ends TLS, and says so: at both consoles, and nobody else is believed.
    for console in (site.address, site.analysts):
        data = {"secret": SECRET, "name": "ann", "password": "a long password"}
        for told, is_secure in (("https", True), ("http, https", True), ("https, http", False)):
            headers = {**OWN, "X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": told}
            found = httpx.post(f"{console}/sign-in", data=data, headers=headers, timeout=60)
            assert found.status_code == 303
            kept = found.headers["set-cookie"].lower()
            assert ("secure" in kept) == is_secure
            assert kept.startswith("__host-dp") == is_secure


def test_signing_out_ends_the_session_wherever_its_cookie_is(site: Administered) -> None:
    browser = site.signed_in()
    cookies = dict(browser.cookies)
    out = browser.post("/sign-out", data={"token": token_of(browser.get("/").text)}, headers=OWN)
    assert out.url.path == "/sign-in"
    assert out.history[0].headers["clear-site-data"] == '"storage"'
    stolen = site.browser()
    stolen.cookies.update(cookies)
    assert stolen.get("/people").url.path == "/sign-in"
    told = [(one.who, one.what) for one in site.events()][-2:]
    by = f"admin console: {NAME} from 127.0.0.1"
    assert told == [(by, "console sign-in"), (by, "console sign-out")]


def test_a_session_ends_with_its_secret(site: Administered) -> None:
    site.secrets.write_text(f"{NAME} {SECRET}\nother {_OTHER}\n")
    try:
        browser = site.signed_in(_OTHER)
        assert "other" in shown(browser.get("/people"))
    finally:
        site.secrets.write_text(f"{NAME} {SECRET}\n")
    assert browser.get("/people").url.path == "/sign-in"


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://example.org"},
        {},
    ],
)
def test_forms_of_other_sites_are_not_taken(
    site: Administered, browser: httpx.Client, headers: dict[str, str]
) -> None:
    data = {"token": token_of(browser.get("/").text), "name": "eve", "act": "reload", "text": "x"}
    before = len(site.events())
    for path in ("/change/add-user", "/policy/shop", "/audit/shop", "/sign-out", "/sign-in"):
        assert browser.post(path, data=data, headers=headers).status_code == 403, path
    assert len(site.events()) == before and "eve" not in verifiers(site.ledger_dsn)


def test_a_form_without_the_sessions_token_is_not_taken(site: Administered) -> None:
    browser, other = site.signed_in(), site.signed_in()
    others = token_of(other.get("/").text)
    before = len(site.events())
    for token in ("", "x", others):
        data = {"token": token, "name": "eve"}
        for path in (
            "/change/add-user",
            "/policy/shop",
            "/report/shop",
            "/audit/shop",
            "/sign-out",
        ):
            assert browser.post(path, data=data, headers=OWN).status_code == 403
    assert len(site.events()) == before and "eve" not in verifiers(site.ledger_dsn)


def test_each_door_has_its_own_key(site: Administered, browser: httpx.Client) -> None:
    assert browser.get("/admin/v1/users").status_code == 401
    found = site.browser().get("/people", headers={"Authorization": f"Bearer {SECRET}"})
    assert found.url.path == "/sign-in"


def test_pages_have_a_strict_policy_and_nothing_that_it_forbids(
    site: Administered, browser: httpx.Client
) -> None:
    assets: set[str] = set()
    for path in (*PAGES, "/nowhere", "/change/nothing", "/policy/nowhere"):
        page = browser.get(path)
        is_there = path in PAGES
        assert page.status_code == (200 if is_there else 404), path
        if path == "/nowhere":
            continue
        if path.endswith(".csv"):
            assert page.headers["content-type"].startswith("text/csv")
        else:
            policy = page.headers["content-security-policy"]
            assert "unsafe" not in policy and policy.startswith("default-src 'none'")
        assert page.headers["cache-control"] == "no-store"
        assert not re.search(r"<[^>]+\s(style|on[a-z]+)=", page.text)
        assert not re.search(r'(src|href|action)="(https?:)?//', page.text)
        assert "<script" not in page.text
        assets |= set(re.findall(r'"(/static/[^"]+)"', page.text))
    assert len(assets) == 1
    for asset in assets:
        assert "immutable" in browser.get(asset).headers["cache-control"]


def test_people_groups_access_and_tokens(site: Administered, browser: httpx.Client) -> None:
    before = len(site.events())

    def done(path: str, **fields: str) -> str:
        found = send(browser, path, **fields)
        assert found.status_code == 200 and found.url.path == "/people", shown(found)
        return shown(found)

    assert "zoë is added" in done("/change/add-user", name="zoë", password=_PASSWORD)
    assert "zoë" in verifiers(site.ledger_dsn)
    person = shown(browser.get("/people/one", params={"name": "zoë"}))
    wire = re.search(r"What to give zoë .* PostgreSQL clients (\S+:\d+) .* Databases shop ", person)
    assert wire is not None and f" {site.analysts} " in person
    assert wire[1] == ":".join(map(str, address(site.running)))
    # Before the first charge: what the policy in force gives, and all of it left.
    limit = _budget_row(browser, "zoë")
    assert limit[:2] == ["ε 0", limit[2]] and float(limit[1]) > 0
    assert f"shop: ε {limit[2]} of {limit[1]}" in shown(browser.get("/people"))
    verifier = verifiers(site.ledger_dsn)["zoë"]
    told = done("/change/set-password?name=zoë", name="zoë", password=f"{_PASSWORD} 2")
    assert "The password of zoë is set." in told
    assert verifiers(site.ledger_dsn)["zoë"] != verifier
    assert "lab" in done("/change/add-to-group", name="zoë", group="lab")
    # The database is open: that ann loses it is said before and after, and confirmed.
    let_in = {"database": "shop", "group": "lab"}
    first = send(browser, "/change/allow-group?database=shop", **let_in)
    assert first.status_code == 400 and "whoever you do not let in loses access" in shown(first)
    assert "Restrict shop" in shown(first) and "ann" in shown(first)
    told = done("/change/allow-group?database=shop", **let_in, typed="shop")
    assert "The group lab may query shop." in told and re.search(r"Access lost: [^.]*\bann\b", told)
    until(lambda: not site.may_connect())  # ann is not in the group
    done("/change/allow-user?database=shop", database="shop", name="zoë")
    done("/change/withdraw-user", database="shop", name="zoë", typed="zoë")
    done("/change/withdraw-group", database="shop", group="lab", typed="lab")
    assert "nobody" in shown(browser.get("/people"))
    done("/change/open", database="shop", typed="shop")
    assert "everybody" in shown(browser.get("/people"))
    until(site.may_connect)
    done("/change/restrict", database="shop", typed="shop")
    done("/change/open", database="shop", typed="shop")
    done("/change/remove-from-group", name="zoë", group="lab", typed="zoë")
    made = send(browser, "/change/create-token", name="zoë", days="0.5", epsilon="2.5", note=MARK)
    token = re.search(r"dpp_[A-Za-z0-9_-]{43}", made.text)
    assert made.status_code == 200 and token is not None
    page = browser.get("/people")
    assert token[0] not in page.text and "2.5" in shown(page) and MARK in shown(page)
    (number,) = re.findall(r"/change/revoke-token\?number=(\d+)", page.text)
    done("/change/revoke-token", number=number, typed=number)
    done("/change/remove-user", name="zoë", typed="zoë")
    noted = site.events()[before:]
    assert [one.what for one in noted] == [
        *("user add", "user password", "group add", "access allow", "access allow"),
        *("access withdraw", "access withdraw", "access open", "access restrict", "access open"),
        *("group remove", "token create", "token revoke", "user remove"),
    ]
    assert {one.who for one in noted} == {f"admin console: {NAME} from 127.0.0.1"}
    log = shown(browser.get("/log"))
    assert "token revoke" in log and _PASSWORD not in log and token[0] not in log


def _budget_row(browser: httpx.Client, name: str) -> list[str]:
    """Spent, limit and left, as the page of the analyst has them."""
    page = browser.get("/people/one", params={"name": name}).text
    cells = {key: re.findall(rf'data-h="{key}">([^<]*)<', page) for key in ("spent", "of", "left")}
    return [cells[key][0] for key in ("spent", "of", "left")]


def test_a_page_that_is_not_there_has_the_navigation(browser: httpx.Client) -> None:
    for path in ("/people/one?name=nobody", "/change/nothing", "/policy/nowhere"):
        page = browser.get(path)
        assert page.status_code == 404 and "no such" in shown(page)
        assert 'aria-label="Administration"' in page.text and "Sign out" in page.text


def test_what_takes_away_wants_the_name_typed(site: Administered, browser: httpx.Client) -> None:
    assert {name for name, one in CHANGES.items() if one.typed} == {
        *("remove-user", "remove-from-group", "restrict", "open", "withdraw-user"),
        *("withdraw-group", "revoke-token", "end-session", "confirm-adjustment"),
    }
    before = len(site.events())
    for typed in ("", "an", "Ann", "ann2"):
        found = send(browser, "/change/remove-user?name=ann", name="ann", typed=typed)
        assert found.status_code == 400 and "nothing was changed" in shown(found)
    assert len(site.events()) == before and "ann" in verifiers(site.ledger_dsn)


def test_what_is_refused_is_told_on_the_form(site: Administered, browser: httpx.Client) -> None:
    before = len(site.events())
    for path, fields, status, text in (
        ("/change/add-user", {"name": "ann"}, 409, "there is already an analyst"),
        ("/change/add-user", {"name": ""}, 400, "Name is empty"),
        ("/change/add-user", {"name": "bob", "password": "short"}, 400, "shorter than 8"),
        ("/change/add-user", {"name": "pg_bob"}, 409, ""),
        ("/change/add-user", {"name": f"{MARK}\x00"}, 400, ""),
        ("/change/create-token", {"name": "ann", "days": "many"}, 400, "days is a number"),
        ("/change/create-token", {"name": "ann", "days": "9999"}, 409, "days"),
        ("/change/create-token", {"name": "ann", "days": "1e3"}, 400, "days is a number"),
        ("/change/revoke-token", {"number": "9" * 90, "typed": "9" * 90}, 409, "there is no token"),
        ("/change/end-session", {"number": "77", "typed": "77"}, 409, "there is no session"),
        ("/change/end-session", {"number": "x", "typed": "x"}, 400, ""),
        ("/change/confirm-adjustment", {"number": "7", "typed": "7"}, 409, "there is no request 7"),
        ("/change/allow-user", {"database": "census", "name": "ann"}, 409, "knows no database"),
        (
            "/change/allow-group",
            {"database": "shop", "group": "interms", "typed": "shop"},
            *(409, 'no group "interms"'),
        ),
        ("/change/set-password", {"name": "ann", "password": ""}, 400, "Password is empty"),
    ):
        found = send(browser, path, **fields)
        assert found.status_code == status, (path, fields, shown(found))
        assert text in shown(found) and "nothing was changed" in shown(found)
        assert "short" not in re.sub("shorter", "", found.text)
    assert len(site.events()) == before


def test_a_session_is_ended(site: Administered, browser: httpx.Client) -> None:
    with connect(site.running) as connection:
        connection.execute("SELECT 1")
        page = browser.get("/people")
        (number,) = re.findall(r"/change/end-session\?number=(\d+)", page.text)
        send(browser, f"/change/end-session?number={number}", number=number, typed=number)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


def test_receipts_are_filtered_and_paged(site: Administered, browser: httpx.Client) -> None:
    site.ask("SELECT count(*) FROM shop.customers WHERE state = 'CA'")
    reserved = "/receipts?database=shop&outcome=reserved"
    until(lambda: 'data-h="receipt"' not in browser.get(reserved).text)  # settled after the answer
    first = browser.get("/receipts?database=shop")
    assert "ann" in shown(first) and "table shop.customers" in shown(first)
    rows = first.text.count('data-h="receipt"')
    assert rows >= 2
    for query, count in (
        ("analyst=ann", rows),
        ("analyst=nobody", 0),
        ("outcome=answered", rows),
        ("outcome=failed", 0),
        ("outcome=adjusted", 0),
        ("q=1", 1),
        ("q=zzz", 0),
        ("since=2020-01-01", rows),
        ("until=2020-01-01", 0),
        ("since=9999-12-31&until=9999-12-31", 0),
    ):
        found = browser.get(f"/receipts?database=shop&{query}")
        assert found.text.count('data-h="receipt"') == count, query
    assert browser.get("/receipts?database=shop&since=yesterday").status_code == 400
    assert browser.get("/receipts?database=shop&outcome=lost").status_code == 409
    assert browser.get("/receipts?database=shop&after=x").status_code == 409
    fingerprints = set(re.findall(r"q=([0-9a-f]{12})", first.text))
    assert (
        browser.get(f"/receipts?database=shop&q={fingerprints.pop()}").text.count('receipt">') == 1
    )
    lines = browser.get("/receipts.csv?database=shop").text.splitlines()
    assert lines[0].startswith("receipt,place,at,analyst") and len(lines) == rows + 1
    headers = {"Authorization": f"Bearer {SECRET}"}
    page = httpx.get(f"{site.address}/admin/v1/receipts?database=shop", headers=headers).json()
    assert [one["place"] for one in page["receipts"]] == list(range(rows, 0, -1))
    assert page["next"] is None


def test_budgets_say_what_the_ledger_says(site: Administered, browser: httpx.Client) -> None:
    headers = {"Authorization": f"Bearer {SECRET}"}
    lines = httpx.get(f"{site.address}/admin/v1/budgets", headers=headers).json()["budgets"]
    spent = {one["budget"]: one["epsilon"] for one in lines}
    over_time = httpx.get(f"{site.address}/admin/v1/spending", headers=headers).json()["budgets"]
    assert {one["budget"] for one in over_time} == set(spent)
    for one in over_time:
        assert sum(float(day["epsilon"]) for day in one["days"]) == float(spent[one["budget"]])
    text = browser.get("/budgets?database=shop")
    assert f"{spent['(everybody together)']} of ε 50" in shown(text)
    assert '<svg class="plot at-wide"' in text.text and '<svg class="spark"' in text.text
    for line in spent:
        drawn = browser.get("/budgets", params={"database": "shop", "line": line, "days": 90})
        assert f": {line.strip('()')}" in shown(drawn)
    assert browser.get("/budgets?database=nowhere&line=x&days=x").status_code == 200
    for query in ("since=2026-01-02&until=2026-01-01", "since=1990-01-01", "since=x"):
        found = httpx.get(f"{site.address}/admin/v1/spending?{query}", headers=headers)
        assert found.status_code == 400, query
    assert "All checks passed" in shown(browser.get("/chain"))


def _in_force(browser: httpx.Client) -> str:
    found = re.search(r"In force: ([0-9a-f]{12})", shown(browser.get("/policy/shop")))
    assert found is not None
    return found[1]


def test_a_policy_is_checked_compared_and_taken(site: Administered, browser: httpx.Client) -> None:
    before = site.operator.policy.read_text()
    more = before.replace("epsilon: 50", "epsilon: 40").replace(
        "values: [CA, TX]", f"values: [CA, TX, '{MARK}']"
    )

    digest = _in_force(browser)
    # The page begins with the promise, and has no finding twice.
    seen = browser.get("/policy/shop")
    promise = shown(seen).partition("Who is protected")[2].partition("Findings ")[0]
    assert "A customer with all their rows in shop.customers." in promise
    assert re.search(r"One statement Someone who guesses 1 in 100 .* 1 in 37", promise)
    assert (
        "All answers together, within budgets.total" in promise
        and "NOT_IN_THE_POLICY" not in seen.text
    )
    # A text is compared, and nothing is taken up.
    checked = send(browser, "/policy/shop", act="check", text=more)
    assert "Protection of people: stronger in 1 point, 1 to look at" in shown(checked)
    assert "epsilon 50 -> 40" in shown(checked) and MARK in shown(checked)
    assert "NOT_IN_THE_POLICY" in checked.text and _in_force(browser) == digest
    for text, told in (
        (before.replace("columns:", "colums:"), "unknown key 'colums'"),
        (before.replace("${SHOP_DSN}", "host=elsewhere password=hunter2"), "source is another"),
        (before.replace("shop.customers:", "shop.nothing:"), "is not in the database"),
        ("a: [", ""),
    ):
        found = send(browser, "/policy/shop", act="check", text=text)
        assert found.status_code == 200 and "What is wrong with it" in shown(found)
        assert told in shown(found)
        diff = re.sub(r"<textarea.*?</textarea>", "", found.text, flags=re.DOTALL)
        assert "hunter2" not in diff
    given = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", seen.text, re.DOTALL)
    assert given is not None and unescape(given[1]) == before
    # A file that is wrong is not taken, and the page says why.
    try:
        bad = before.replace("columns:", "colums:")
        write_policy(site, bad, lambda: "was not taken" in shown(browser.get("/policy/shop")))
        told = shown(send(browser, "/policy/shop", act="reload"))
        assert "unknown key 'colums'" in told and _in_force(browser) == digest
        assert "Refused, so that the policy of before stays: shop." in told
        assert "In force as the file says" not in told
        findings = browser.get("/findings/shop").text
        assert "findings about the policy in force" in findings and "NOT_IN_THE_POLICY" in findings
        assert "not taken" in shown(browser.get("/"))
        # A good one is, and the page says what it did.
        site.operator.policy.write_text(more)
        done = send(browser, "/policy/shop", act="reload")
        assert "The files were read again" in shown(done)
        until(lambda: _in_force(browser) != digest)  # at once, or when nobody is in its way
        last = shown(browser.get("/policy/shop"))
        assert "What the last change did" in last and "epsilon 50 -> 40" in last
        assert "of ε 40" in shown(browser.get("/budgets?database=shop"))
    finally:
        site.operator.policy.write_text(before)
        send(browser, "/policy/shop", act="reload")
    until(lambda: _in_force(browser) == digest)
    noted = site.events()
    assert "policy reload" in [one.what for one in noted]
    (refused,) = [one.detail for one in noted if one.what == "policy refused"]
    assert refused["database"] == "shop" and refused["in_force"] == digest
    *_, first, back = [one.detail for one in noted if one.what == "policy taken"]
    assert '{"' not in browser.get("/log").text
    assert (first["before"], first["weaker"], first["points"]) == (digest, 0, [])
    assert (back["digest"], back["weaker"], back["points"]) == (digest, 1, ["budgets.total"])
    assert first["digest"] == back["before"] != digest


def test_a_connection_string_in_a_policy_is_not_shown(
    site: Administered, browser: httpx.Client
) -> None:
    """The form begins with what is in force, its connection string hidden, and takes it back like that."""
    before = site.operator.policy.read_text()
    digest = _in_force(browser)
    source = servers().source_dsns["shop"]
    try:
        stated = before.replace("${SHOP_DSN}", source)
        write_policy(site, stated, lambda: _in_force(browser) != digest)
        seen = browser.get("/policy/shop")
        given = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", seen.text, re.DOTALL)
        assert given is not None and "(a connection string, which is not shown)" in given[1]
        checked = send(browser, "/policy/shop", act="check", text=unescape(given[1]))
        assert "What is wrong with it" not in checked.text and "NOT_IN_THE_POLICY" in checked.text
        assert "What this text changes" not in checked.text and source not in checked.text
    finally:
        site.operator.policy.write_text(before)
        send(browser, "/policy/shop", act="reload")
        until(lambda: _in_force(browser) == digest)


@pytest.mark.long
def test_names_of_nobody_in_a_policy_are_found(site: Administered, browser: httpx.Client) -> None:
    text = f"{site.operator.policy.read_text()}  analysts: {{ann: {{epsilon: 1, delta: 1e-6}}"
    text += ", anna: {epsilon: 1, delta: 1e-6}}\n  groups: {ward: {epsilon: 1, delta: 1e-6}}\n"
    page = shown(send(browser, "/policy/shop", act="check", text=text))
    assert "budgets.analysts.anna: there is no analyst" in page and "Write 'ann', if" in page
    assert "budgets.groups.ward: no analyst is in this group" in page
    assert "budgets.analysts.ann:" not in page.partition("Check another text")[0]
    # Who knows no ledger looks for no names, and leaves their acceptances alone.
    text += "accept: {NO_SUCH_ANALYST: {anna: hired in May}}\n"
    file = site.operator.folder / "named.yaml"
    file.write_text(text)
    printed = site.operator.run("policy", "check", file).out
    assert "WARNING  NO_SUCH_GROUP: budgets.groups.ward" in printed
    assert "ACCEPTED NO_SUCH_ANALYST: budgets.analysts.anna" in printed
    alone = dpproxy("policy", "check", file, environment=site.operator.environment)
    assert alone.code == 0 and "NO_SUCH" not in alone.out


def test_the_report_is_shown_noted_and_taken_home(
    site: Administered, browser: httpx.Client
) -> None:
    assert 'href="/report/shop"' in browser.get("/policy/shop").text
    page = shown(browser.get("/report/shop"))
    assert "Who is protected" in page and "each customer (in id)" in page
    assert "No earlier report is noted" in page and "(everybody together)" in page
    before = len(site.events())
    noted = send(browser, "/report/shop")
    assert "The report is noted" in shown(noted)
    (event,) = site.events()[before:]
    assert event.what == "policy report" and event.who.startswith(f"admin console: {NAME}")
    assert "The policy is the same." in shown(noted) and event.who in shown(noted)
    for wanted, ending, kind, begins in (
        ("HTML", "html", "text/html", "<!doctype html>"),
        ("Markdown", "md", "text/markdown", "# Privacy report: shop"),
        ("JSON", "json", "application/json", "{"),
    ):
        file = browser.get(f"/report/shop?format={wanted}")
        assert file.headers["content-type"] == f"{kind}; charset=utf-8"
        named = f'attachment; filename="privacy-report-shop.{ending}"'
        assert file.headers["content-disposition"] == named
        assert file.text.startswith(begins) and "The policy is the same." in file.text
    assert browser.get("/report/shop?format=pdf").status_code == 400
    assert browser.get("/report/nowhere").status_code == 404


def test_findings_come_with_what_mends_them(browser: httpx.Client) -> None:
    page = browser.get("/findings/shop")
    opened = page.text.partition("<h2>Accepted")[0]
    overview = browser.get("/")
    for tag, word in (('bad-tag">severe', "severe finding"), ('tag">warning', "warning")):
        count = opened.count(tag)
        told = re.findall(rf"(\d+) {word}s?", shown(overview).partition("What waits")[2])
        assert told[:1] == ([str(count)] if count else [])
    assert ("Nothing. All parts" in overview.text) is (
        'href="/findings/shop">' not in overview.text.partition("What waits")[2]
    )
    assert "NOT_IN_THE_POLICY" in page.text and '<ul class="findings">' in page.text
    assert page.text.count("To do") == page.text.count("<h3>") > 0


def test_an_audit_has_a_size(site: Administered, browser: httpx.Client) -> None:
    before = len(site.events())
    for rows, distance in (("0", "1"), ("2001", "1"), ("x", "1"), ("10", "51"), ("1e1", "1")):
        found = send(browser, "/audit/shop", rows=rows, distance=distance)
        assert found.status_code == 400 and "whole number" in shown(found)
    assert len(site.events()) == before


@pytest.mark.long
def test_an_audit_runs_in_a_process_of_its_own(site: Administered, browser: httpx.Client) -> None:
    started = send(browser, "/audit/shop", rows="8", distance="2")
    assert "Audit 1 of shop runs" in shown(started)
    assert send(browser, "/audit/shop", rows="8", distance="2").status_code == 409
    assert site.events()[-1].what == "audit"
    until(lambda: "runs since" not in shown(browser.get("/audit/shop")), 60)
    page = browser.get("/audit/shop")
    assert "Above the plan 0" in shown(page) and '<svg class="plot at-wide"' in page.text
    assert "SELECT count(*) FROM" in shown(page)


def test_what_is_written_is_shown_as_text(site: Administered, browser: httpx.Client) -> None:
    for path in (
        *("/people?q={}", "/budgets?database={}&line={}", "/receipts?q={}&analyst={}&outcome={}"),
        *("/change/remove-user?name={}", "/change/create-token?name={}&note={}"),
        *("/people?done={}", "/sign-in?to={}", "/people/one?name={}", "/policy/{}", "/log?from={}"),
    ):
        found = browser.get(path.replace("{}", "%3Cimg%20src=x%20onerror=alert(4711)%3E"))
        assert MARK not in found.text, path


def test_budget_is_given_back_by_two_people(site: Administered, browser: httpx.Client) -> None:
    (source,) = known_sources(site.ledger_dsn)
    for epsilon, by in ((2, NAME), (-1, NAME), (-1, "ida")):
        amount = Amount(Fraction(epsilon), Fraction(0))
        wanted = Adjustment(kind=LineKind.TOTAL, name="", by=amount, reason="twice <i>")
        adjust(site.ledger_dsn, source.id, wanted, f"command line: {by}")
    listed = shown(browser.get("/budgets"))
    assert "epsilon -1" in listed and "twice <i>" in listed and "command line: ida" in listed
    assert "to be given back, by request 2" in shown(browser.get("/"))
    form = {"number": "1", "typed": "1"}
    own = send(browser, "/change/confirm-adjustment?number=1", **form)
    assert own.status_code == 409 and "another administrator has to confirm it" in shown(own)
    form = {"number": "2", "typed": "2"}
    done = send(browser, "/change/confirm-adjustment?number=2", **form)
    assert "Request 2 is confirmed" in shown(done)
    last = site.events()[-1]
    assert last.what == "adjust" and last.who.startswith(f"admin console: {NAME} from ")
    again = send(browser, "/change/confirm-adjustment?number=2", **form)
    assert again.status_code == 409 and "is confirmed already" in shown(again)
    assert "by request 2" not in shown(browser.get("/"))


@pytest.mark.long
def test_each_worker_knows_who_is_signed_in(tmp_path: Path) -> None:
    """Each request comes on a connection of its own, to whichever worker."""
    with administered(tmp_path, "--workers", "2") as site:
        browser = site.signed_in()
        headers = {"Connection": "close"}
        pages = [browser.get(path, headers=headers) for path in PAGES for _ in range(3)]
        assert {page.status_code for page in pages} == {200}
        assert not any(page.url.path == "/sign-in" for page in pages)
        send(browser, "/change/add-user", name="zoë")
        token = token_of(browser.get("/", headers=headers).text)
        cookies = dict(browser.cookies)
        browser.post("/sign-out", data={"token": token}, headers={**OWN, **headers})
        stolen = site.browser()
        stolen.cookies.update(cookies)
        again = [stolen.get("/people", headers=headers) for _ in range(12)]
        assert {page.url.path for page in again} == {"/sign-in"}


def test_no_response_holds_what_is_secret(site: Administered, browser: httpx.Client) -> None:
    """Of this test's own requests and of all before: people, passwords, secrets, hashes, statements."""
    send(browser, "/change/add-user", name=f"{MARK} 2", password=_PASSWORD)
    made = send(browser, "/change/create-token", name="ann", days="1")
    token = re.search(r"dpp_[A-Za-z0-9_-]{43}", made.text)
    assert token is not None
    for path in PAGES:
        browser.get(path)
    seen = "\n".join(site.seen)
    assert len(site.seen) > len(PAGES) and seen.count(token[0]) == 1
    for never in (*emails(), SECRET, _OTHER, _PASSWORD, "SCRAM-SHA-256", "GROUP BY state", MARK):
        assert never not in seen, never
    password = re.search(r"password=(\S+)", servers().source_dsns["shop"])
    assert password is not None and password[1] not in seen
    with psycopg.connect(site.ledger_dsn) as connection:
        rows = connection.execute("SELECT encode(digest, 'hex') FROM ledger.token").fetchall()
    assert rows and not any(digest in seen for (digest,) in rows)
