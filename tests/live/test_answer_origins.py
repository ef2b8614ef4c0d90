"""`source` and `as_of` are about what this analyst was shown: nobody learns by any door what others asked."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import psycopg
import pytest

from proxy.shadow.analyst_sessions import InnerLogins
from tests.live.published_tables import ONE, SCRIPT, release_and_show
from tests.live.served_database import served_database
from tests.live_proxy import start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD, servers

DATABASE = "origins"
_PEOPLE = """\
  k.people:
    unit: row
    columns:
      age: {bounds: [0, 120]}
      sex: {values: [f, m]}
"""
_COUNT = "SELECT sex, count(*) FROM k.people GROUP BY sex"
_SUM = "SELECT sum(age) AS years, count(*) AS n FROM k.people WHERE age < 44"
_PART = "SELECT count(*) FROM k.people WHERE sex = 'f'"
_PUBLISHED = "SELECT region, count(*) FROM k.orders GROUP BY region"
_SECOND = timedelta(seconds=1)


@pytest.fixture(scope="module")
def keeping() -> Iterator[BothListeners]:
    pair = servers()
    tables = f"reuse: 24h\n{ONE}{_PEOPLE}"
    proxy = start_proxy(pair, [served_database(pair, DATABASE, SCRIPT, tables, "auto")])
    release_and_show(proxy, DATABASE)
    http = open_http(proxy, inner=InnerLogins(pair.shadow_server.dsn()))
    yield http
    http.close()
    proxy.stop()


def _asked(http: BothListeners, analyst: str, sql: str, **more: Any) -> dict[str, Any]:
    begun = datetime.now(timezone.utc)
    body: dict[str, Any] = http.query(sql, database=DATABASE, analyst=analyst, **more).json()
    assert "rows" in body, body
    body["privacy"]["asked"] = begun, datetime.now(timezone.utc)
    return body


def _origin(body: dict[str, Any]) -> tuple[str, datetime]:
    privacy = body["privacy"]
    return privacy["source"], datetime.fromisoformat(privacy["as_of"].replace("Z", "+00:00"))


def _is_of(at: datetime, body: dict[str, Any]) -> bool:
    """Whether it is between the question and its answer. Times of answers are whole seconds."""
    begun, ended = body["privacy"]["asked"]
    return bool(begun - _SECOND <= at <= ended)


def _notice(http: BothListeners, analyst: str, sql: str) -> str:
    told: list[str] = []
    with http.proxy.connect(DATABASE, analyst=analyst) as connection:
        connection.add_notice_handler(lambda one: told.append(one.message_primary or ""))
        connection.execute(sql.encode())
    return re.sub(r"receipt \d+", "receipt N", "\n".join(told))


def _without_receipt(body: dict[str, Any]) -> dict[str, Any]:
    privacy = {**body["privacy"], "receipt": None, "as_of": None, "asked": None}
    return {**body, "privacy": privacy}


def test_the_second_analyst_cannot_tell_that_there_was_a_first(keeping: BothListeners) -> None:
    pair = keeping.proxy.servers
    first, second, third, fourth = (pair.new_analyst() for _ in range(4))
    asked_first = _asked(keeping, first, _COUNT)
    time.sleep(1.1)
    explained = [
        keeping.query(_COUNT, database=DATABASE, analyst=one, path="/v1/explain").json()
        for one in (second, pair.new_analyst())
    ]
    assert explained[0] == explained[1] and "free" not in explained[0]["blocks"][0]
    asked_second = _asked(keeping, second, _COUNT)
    # The same draw and the same price, as if nobody had asked before.
    assert _without_receipt(asked_second) == _without_receipt(asked_first)
    assert _origin(asked_first)[0] == "fresh"
    source, as_of = _origin(asked_second)
    assert source == "fresh" and _is_of(as_of, asked_second) and as_of > _origin(asked_first)[1]
    csv = keeping.query(
        _COUNT, database=DATABASE, analyst=third, headers={"Accept": "text/csv"}
    ).headers
    assert csv["DPProxy-Source"] == "fresh" and csv["DPProxy-As-Of"] > str(
        asked_first["privacy"]["as_of"]
    )
    notices = [_notice(keeping, one, _COUNT) for one in (fourth, pair.new_analyst())]
    assert notices[0] == notices[1] and "earlier answers" not in notices[0]
    assert "earlier answers" in _notice(keeping, fourth, _COUNT)


def _shown(http: BothListeners, analyst: str, act: str) -> str:
    """The part of the console's page under the editor, without what is a session's own."""
    own = {"Sec-Fetch-Site": "same-origin"}
    with httpx.Client(base_url=http.client.base_url, headers=own, follow_redirects=True) as browser:
        browser.post("/sign-in", data={"name": analyst, "password": PASSWORD})
        page = browser.get(f"/db/{DATABASE}/query").text
        hidden = dict(re.findall(r'name="(token|form)" value="([^"]+)"', page))
        data = {**hidden, "sql": _SUM, "epsilon": "0.5", "act": act}
        answered = browser.post(f"/db/{DATABASE}/query", data=data).text
        told = answered[answered.index('id="answer"') : answered.index("</main>")]
    told = re.sub(r'name="(token|form)" value="[^"]+"', "", told)
    return re.sub(r"(receipt <b>|-receipt-)\d+", r"\1N", told)


def test_the_consoles_pages_do_not_tell_either(keeping: BothListeners) -> None:
    first, second, third = (keeping.proxy.servers.new_analyst() for _ in range(3))
    price = _shown(keeping, first, "price")
    answer = _shown(keeping, first, "run")
    assert _shown(keeping, second, "price") == price
    assert _shown(keeping, second, "run") == _shown(keeping, third, "run") == answer
    assert "source <b>fresh</b>" in answer and "first shown" not in answer
    again = [_shown(keeping, one, "run") for one in (first, second)]
    assert all("source <b>cached, first shown to you" in one for one in again)
    assert [keeping.proxy.when_settled(one)[0] for one in (first, second, third)] == [1, 1, 1]


@pytest.mark.long
def test_what_was_shown_before_is_as_of_then(keeping: BothListeners) -> None:
    first, second = (keeping.proxy.servers.new_analyst() for _ in range(2))
    asked = _asked(keeping, first, _PART.replace("'f'", "'m'"))
    time.sleep(1.1)
    new = _asked(keeping, second, _PART.replace("'f'", "'m'"))
    time.sleep(1.1)
    for analyst, shown in ((first, asked), (second, new)):
        again = _asked(keeping, analyst, _PART.replace("'f'", "'m'"))
        assert again["rows"] == asked["rows"] and again["privacy"]["receipt"] is None
        source, as_of = _origin(again)
        assert source == "cached" and _is_of(as_of, shown)
    assert _origin(new)[1] - _origin(asked)[1] >= _SECOND


def test_what_is_made_of_it_is_derived(keeping: BothListeners) -> None:
    first, second = (keeping.proxy.servers.new_analyst() for _ in range(2))
    whole = "SELECT sex, count(*) FROM k.people GROUP BY sex"
    part = "SELECT count(*) FROM k.people WHERE sex IN ('f', 'm')"
    shown = _asked(keeping, first, whole)
    time.sleep(1.1)
    made = _asked(keeping, first, part, epsilon=0.4)
    source, as_of = _origin(made)
    assert source == "derived" and _is_of(as_of, shown)
    assert made["privacy"]["epsilon"] == 0
    other = _asked(keeping, second, part, epsilon=0.4)
    assert _origin(other)[0] == "fresh" and other["privacy"]["epsilon"] == 0.4
    assert _is_of(_origin(other)[1], other)


def test_what_is_published_is_as_of_its_release(keeping: BothListeners) -> None:
    analyst = keeping.proxy.servers.new_analyst()
    with psycopg.connect(keeping.proxy.servers.ledger_dsn) as connection:
        (released,) = connection.execute(
            "SELECT max(released_at) FROM ledger.published WHERE name = 'one'"
        ).fetchone() or (None,)
    source, as_of = _origin(_asked(keeping, analyst, _PUBLISHED))
    assert source == "published" and released is not None and abs(as_of - released) < _SECOND
    assert keeping.proxy.when_settled(analyst)[0] == 0
    assert _origin(_asked(keeping, analyst, _PUBLISHED, fresh=True))[0] == "fresh"


def test_of_several_parts_what_is_paid_makes_it_fresh(keeping: BothListeners) -> None:
    analyst = keeping.proxy.servers.new_analyst()
    both = (
        "SELECT (SELECT count(*) FROM k.people WHERE age > 50),"
        " (SELECT count(*) FROM k.orders WHERE region = 'north')"
    )
    assert _origin(_asked(keeping, analyst, both))[0] == "fresh"
    assert _origin(_asked(keeping, analyst, both))[0] == "cached"  # and published


def test_an_answer_without_groups_is_fresh(keeping: BothListeners) -> None:
    analyst = keeping.proxy.servers.new_analyst()
    empty = _asked(
        keeping, analyst, "SELECT sex, count(*) FROM k.people WHERE sex = 'x' GROUP BY sex"
    )
    assert empty["rows"] == [] and _origin(empty)[0] == "fresh"
    assert _asked(keeping, analyst, "SELECT 1")["privacy"]["source"] is None


def test_history_in_pages(keeping: BothListeners) -> None:
    analyst = keeping.proxy.servers.new_analyst()
    for age in range(5):
        _asked(keeping, analyst, f"SELECT count(*) FROM k.people WHERE age > {20 + age}")

    def page(**wanted: int) -> list[int]:
        query = {"database": DATABASE, **{key: str(value) for key, value in wanted.items()}}
        response = keeping.client.get("/v1/history", params=query, auth=(analyst, PASSWORD))
        return [one["receipt"] for one in response.json()["history"]]

    whole = page()
    assert len(whole) == 5 and whole == sorted(whole, reverse=True)
    first = page(limit=2)
    second = page(limit=2, before=first[-1])
    third = page(limit=2, before=second[-1])
    assert first + second + third == whole and page(limit=2, before=third[-1]) == []
    for wrong in ({"limit": "0"}, {"limit": "10001"}, {"before": "0"}, {"before": "x"}):
        response = keeping.client.get(
            "/v1/history", params={"database": DATABASE, **wrong}, auth=(analyst, PASSWORD)
        )
        assert response.status_code == 400
