"""Bearer tokens over HTTP: whose, for which database, how much; and who may query what."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import httpx
import psycopg
import pytest
from structlog.testing import capture_logs

from proxy.base.role_names import inner_role
from proxy.ledger.admin_log import admin_events
from proxy.ledger.bearer_tokens import PresentedTokens, create_token, list_tokens, revoke_token
from proxy.ledger.users import (
    PeopleReader,
    add_analyst,
    allow,
    open_to_all,
    remove_analyst,
    restrict,
    withdraw,
)
from proxy.servers.admission import Admission
from proxy.servers.http.http_logins import Bearers
from proxy.shadow.analyst_sessions import InnerLogins
from tests.ledger_of_before import create_expired_token
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import PASSWORD
from tests.waiting import until

_COUNT = "SELECT count(*) FROM shop.customers"


class ScriptedProvider:
    """Stands for the provider of test_oidc.py: a text that says who it is."""

    async def analyst_of(self, presented: str) -> str | None:
        return presented.removeprefix("jwt.of.") if presented.startswith("jwt.of.") else None


@dataclass(slots=True)
class Door:
    """names: of its data in the ledger, by database"""

    http: BothListeners
    admission: Admission
    reader: PeopleReader
    tokens: PresentedTokens
    names: dict[str, str]

    @property
    def dsn(self) -> str:
        return self.http.proxy.servers.ledger_dsn

    def analyst(self) -> str:
        name = self.http.proxy.servers.new_analyst()
        self.follow()
        return name

    def follow(self) -> None:
        """What `serve` does each second."""
        self.admission.people = self.reader.read()

    def post(self, token: str, sql: str = _COUNT, database: str = "shop") -> httpx.Response:
        return self.http.client.post(
            "/v1/query",
            json={"database": database, "sql": sql, "epsilon": 0.25},
            headers={"Authorization": f"Bearer {token}"},
        )

    def get(self, token: str, path: str) -> Any:
        return self.http.client.get(path, headers={"Authorization": f"Bearer {token}"}).json()


@pytest.fixture(scope="module")
def door(listeners: BothListeners) -> Iterator[Door]:
    """The same proxy, with another HTTP listener before it."""
    proxy = listeners.proxy
    pair = proxy.servers
    sources = proxy.assembly.sources
    with psycopg.connect(pair.ledger_dsn) as connection:
        named: dict[int, str] = dict(
            connection.execute("SELECT id, name FROM ledger.source").fetchall()
        )
    reader = PeopleReader(pair.ledger_dsn, tuple(sources.values()))
    admission = Admission(sources, reader.read())
    tokens = PresentedTokens(pair.ledger_dsn)
    proxy.do(tokens.open())
    http = open_http(
        proxy,
        inner=InnerLogins(pair.shadow_server.dsn()),
        bearers=Bearers(admission, tokens, ScriptedProvider()),
        admission=admission,
    )
    yield Door(http, admission, reader, tokens, {name: named[one] for name, one in sources.items()})
    http.close()
    proxy.do(tokens.close())
    reader.close()


def test_a_token_queries_as_its_analyst(door: Door) -> None:
    name = door.analyst()
    made = create_token(door.dsn, name, days=1)
    answer = door.post(made.text)
    assert answer.status_code == 200, answer.text
    assert answer.json()["privacy"]["epsilon"] == 0.25
    assert door.http.proxy.when_settled(name)[:2] == (1, 0.25)
    assert door.get(made.text, "/v1/databases") == {"databases": ["census", "shop"]}
    told = door.post(made.text, "SELECT session_user, current_user").json()
    assert told["rows"] == [[inner_role(name)] * 2]
    history = door.get(made.text, "/v1/history?database=shop")["history"]
    assert [one["epsilon"] for one in history] == [0.25]
    # The same person, by a password: the same budget.
    assert door.http.query(_COUNT, analyst=name, epsilon=0.25).status_code == 200
    assert door.http.proxy.when_settled(name)[:2] == (2, 0.5)


def test_what_a_token_may_spend(door: Door) -> None:
    name = door.analyst()
    made = create_token(door.dsn, name, days=1, epsilon=Decimal("0.6"))
    assert [door.post(made.text).status_code for _ in range(2)] == [200, 200]
    told = door.post(made.text)
    assert told.status_code == 403
    assert "only epsilon 0.1 of it remains" in told.json()["detail"]
    assert door.http.proxy.when_settled(name)[:2] == (2, 0.5), "what was refused is not charged"
    shown = door.get(made.text, "/v1/budget?database=shop")
    assert shown["token"] == {
        "number": made.number, "epsilon_limit": "0.6", "epsilon_spent": "0.5",
        "per": None, "renews_at": None, "expires_at": made.expires_at.isoformat(),
    }  # fmt: skip
    assert door.post(made.text, "SELECT 1").status_code == 200, "what is public costs nothing"
    assert door.http.query(_COUNT, analyst=name, epsilon=0.25).status_code == 200


def _own(door: Door, name: str, **body: Any) -> httpx.Response:
    return door.http.client.post("/v1/tokens", json=body, auth=(name, PASSWORD))


def test_an_analyst_makes_a_token_with_a_smaller_budget(door: Door) -> None:
    name = door.analyst()
    created = _own(door, name, database="shop", epsilon=0.3, hours=0.5, note="a conversation")
    assert created.status_code == 201, created.text
    made = created.json()
    assert [door.post(made["token"]).status_code for _ in range(2)] == [200, 403]
    assert door.post(made["token"], database="census").status_code == 403
    assert door.http.proxy.when_settled(name)[:2] == (1, 0.25), "it is charged to the analyst, too"
    told = door.get(made["token"], "/v1/budget?database=shop")["token"]
    assert (told["number"], told["epsilon_limit"]) == (made["number"], "0.3")
    life = datetime.fromisoformat(made["expires_at"]) - datetime.now(timezone.utc)
    assert timedelta(minutes=28) < life <= timedelta(minutes=30)
    (event,) = [one for one in admin_events(door.dsn) if one.detail.get("token") == made["number"]]
    assert (event.who, event.what) == (f'analyst "{name}"', "token create")


def test_what_tokens_an_analyst_cannot_make(door: Door) -> None:
    name = door.analyst()
    given = create_token(door.dsn, name, days=1, epsilon=Decimal("0.5"))
    left = door.http.client.get("/v1/budget?database=shop", auth=(name, PASSWORD)).json()["budget"]
    whole = left[0]["epsilon_remaining"]
    assert _own(door, name, database="shop", epsilon=whole).status_code == 201
    for body, status, why in (
        ({"epsilon": whole + 0.001}, 403, "your budget does not cover a token"),
        ({"epsilon": 0}, 409, "epsilon is a number from"),
        ({"epsilon": -1}, 409, "epsilon is a number from"),
        ({"epsilon": 0.1, "hours": 24.01}, 400, "24 hours at most"),
        ({"epsilon": 0.1, "hours": 0}, 400, "24 hours at most"),
        ({"epsilon": 0.1, "hours": 0.001}, 409, "a token expires after a minute"),
        ({"hours": 1}, 400, "epsilon"),
        ({"epsilon": 0.1, "database": "nothing"}, 404, "does not exist"),
        ({"epsilon": 0.1, "note": "a\nb"}, 409, "a note is one line"),
    ):
        refused = _own(door, name, **{"database": "shop", **body})
        assert refused.status_code == status and why in refused.text, refused.text
    by_token = door.http.client.post(
        "/v1/tokens",
        json={"database": "shop", "epsilon": 0.1},
        headers={"Authorization": f"Bearer {given.text}"},
    )
    assert by_token.status_code == 403 and "a token makes no tokens" in by_token.text
    by_provider = door.http.client.post(
        "/v1/tokens",
        json={"database": "shop", "epsilon": 0.1},
        headers={"Authorization": f"Bearer jwt.of.{name}"},
    )
    assert by_provider.status_code == 201
    assert sum(one.analyst == name for one in list_tokens(door.dsn)) == 3


def test_an_analyst_has_a_hundred_tokens_at_most(door: Door) -> None:
    name = door.analyst()
    with psycopg.connect(door.dsn) as connection:
        connection.execute(
            "INSERT INTO ledger.token (analyst, digest, expires_at)"
            " SELECT a.id, sha256((a.id || ' ' || n)::bytea), now() + interval '1 day'"
            " FROM ledger.analyst a, generate_series(1, 99) n WHERE a.name = %s",
            (name,),
        )
    for status in (201, 409):
        made = _own(door, name, database="shop", epsilon=0.1)
        assert made.status_code == status, made.text


# Over a smallint, and not for each made-up answer: it fails after its charge.
_FAILS = "SELECT count(*)::smallint FROM shop.orders"
_CORRECTED = "SELECT count(*) FROM shop.orders"


def test_an_answer_that_a_password_paid_is_not_delivered_through_a_token(door: Door) -> None:
    name = door.analyst()
    made = create_token(door.dsn, name, days=1, epsilon=Decimal("0.1"))
    failed = door.http.query(_FAILS, analyst=name, epsilon=0.25).json()
    assert "It is kept" in failed["hint"]
    assert door.post(made.text, _CORRECTED).status_code == 403, "it costs more than the token's"
    answered = door.http.query(_CORRECTED, analyst=name, epsilon=0.25).json()
    assert answered["privacy"]["receipt"] is None
    assert door.http.proxy.when_settled(name)[:2] == (1, 0.25)


def test_an_answer_that_a_token_paid_is_delivered_through_it_alone(door: Door) -> None:
    name = door.analyst()
    made, other = (create_token(door.dsn, name, days=1, epsilon=Decimal("0.3")) for _ in range(2))
    assert "It is kept" in door.post(made.text, _FAILS).json()["hint"]
    assert door.http.query(_CORRECTED, analyst=name, epsilon=0.25).status_code == 200
    assert door.post(other.text, _CORRECTED).status_code == 200
    assert door.http.proxy.when_settled(name)[:2] == (3, 0.75)
    assert door.post(made.text, _CORRECTED).json()["privacy"]["receipt"] is None
    assert door.http.proxy.when_settled(name)[:2] == (3, 0.75)


def test_a_token_for_one_database(door: Door) -> None:
    made = create_token(door.dsn, door.analyst(), days=1, source=door.names["census"])
    told = door.post(made.text)
    assert (told.status_code, told.json()["sqlstate"]) == (403, "42501")
    assert door.post(made.text, "SELECT 1").status_code == 403
    assert door.post(made.text, "SELECT 1", "census").status_code == 200
    assert door.get(made.text, "/v1/databases") == {"databases": ["census"]}
    assert door.post(made.text, "SELECT 1", "nothing").status_code == 404
    for path in ("schema", "budget", "history"):
        assert door.get(made.text, f"/v1/{path}?database=shop")["status"] == 403


def test_the_only_database_of_a_token_need_not_be_named(door: Door) -> None:
    """Of a caller of several it is an error, and so is one without any, after the login alone."""
    name = door.analyst()
    one = create_token(door.dsn, name, days=1, source=door.names["census"])
    every = create_token(door.dsn, name, days=1)

    def asked(token: str, path: str) -> httpx.Response:
        given = {"sql": "SELECT current_database()"}
        return door.http.client.post(path, json=given, headers={"Authorization": f"Bearer {token}"})

    assert asked(one.text, "/v1/query").json()["rows"] == [["census"]]
    assert asked(one.text, "/v1/explain").status_code == 200
    for path in ("schema", "budget", "history"):
        assert door.get(one.text, f"/v1/{path}")["database"] == "census"
    for path in ("/v1/query", "/v1/explain"):
        told = asked(every.text, path)
        assert (told.status_code, told.json()["detail"]) == (404, "no database is named")
        assert '"database" to the body' in told.json()["hint"]
        assert asked("nonsense", path).status_code == 401
    for path in ("schema", "budget", "history"):
        assert door.get(every.text, f"/v1/{path}")["status"] == 404


def test_whatever_is_wrong_with_a_token_is_told_alike(door: Door) -> None:
    name = door.analyst()
    revoked, expired = create_token(door.dsn, name, days=1), create_expired_token(door.dsn, name)
    assert door.post(revoked.text, "SELECT 1").status_code == 200
    revoke_token(door.dsn, revoked.number)
    removed = door.http.proxy.servers.new_analyst()
    of_removed = create_token(door.dsn, removed, days=1)
    assert door.post(of_removed.text, "SELECT 1").status_code == 200
    remove_analyst(door.dsn, removed)
    told = set()
    wrong = (
        *(revoked.text, expired.text, of_removed.text, "dpp_" + "A" * 43, "x.y.z"),
        *("jwt.of.nobody", "jwt.of.postgres", f"jwt.of.{inner_role(name)}", f"jwt.of.{removed}"),
    )
    door.follow()
    with capture_logs() as logs:
        for text in wrong:
            refused = door.post(text, "SELECT 1")
            told.add((refused.status_code, refused.text, refused.headers["www-authenticate"]))
    assert len(told) == 1, told
    (status, body, challenge), *_ = told
    assert status == 401 and "invalid_token" in challenge and "28000" in body
    assert [one["event"] for one in logs].count("login_failed") == len(wrong), (
        "slowed like passwords"
    )
    assert not any(text in str(logs) for text in wrong if text.startswith("dpp_"))


def test_headers_that_are_no_credentials(door: Door) -> None:
    for value in (b"Bearer", b"Bearer a b", "Bearer é".encode(), b"Bearer " + b"x" * 9000):
        told = door.http.client.get("/v1/databases", headers={b"Authorization": value})
        assert told.status_code == 401, value


def test_a_token_of_the_provider(door: Door) -> None:
    name = door.analyst()
    answer = door.post(f"jwt.of.{name}")
    assert answer.status_code == 200, answer.text
    assert door.http.proxy.when_settled(name)[:2] == (1, 0.25)


def test_who_has_no_password_comes_in_by_a_token(door: Door) -> None:
    name = "no password of theirs"
    add_analyst(door.dsn, name, None)
    door.http.proxy.servers.match_roles()
    door.follow()
    try:
        made = create_token(door.dsn, name, days=1)
        assert door.post(made.text, "SELECT 1").status_code == 200
        for password in (" ", PASSWORD):
            told = door.http.client.get("/v1/databases", auth=(name, password))
            assert told.status_code == 401
    finally:
        remove_analyst(door.dsn, name)
        door.http.proxy.servers.match_roles()
    with psycopg.connect(door.http.proxy.servers.shadow_server.dsn()) as connection:
        roles = connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (inner_role(name),))
        assert not roles.fetchall(), "the inner role goes with the analyst"


@pytest.mark.parametrize("why", ["revoked", "no access"])
def test_a_statement_that_runs_ends_with_the_token_and_with_the_right(door: Door, why: str) -> None:
    name, source = door.analyst(), door.names["shop"]
    made = create_token(door.dsn, name, days=1)
    logins, proxy = door.http.server.logins, door.http.proxy
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(door.post, made.text, "SELECT pg_sleep(60)")
        until(lambda: made.number in logins.tokens_under_way)
        numbers = logins.tokens_under_way
        assert proxy.do(door.tokens.invalid(numbers)) == frozenset()
        proxy.loop.call_soon_threadsafe(logins.end_not_admitted, frozenset())
        assert not answer.done()
        if why == "revoked":
            revoke_token(door.dsn, made.number)
            invalid = proxy.do(door.tokens.invalid(numbers))
            assert invalid == {made.number}
            proxy.loop.call_soon_threadsafe(logins.end_not_admitted, invalid)
        else:
            restrict(door.dsn, source)
            door.follow()
            proxy.loop.call_soon_threadsafe(logins.end_not_admitted, frozenset())
        try:
            assert answer.result(60).status_code == 401
        finally:
            if why != "revoked":
                open_to_all(door.dsn, source)
                door.follow()
    assert not logins.tokens_under_way


def test_a_restricted_database(door: Door) -> None:
    name, other, source = door.analyst(), door.analyst(), door.names["shop"]
    made = create_token(door.dsn, other, days=1)
    allow(door.dsn, source, analyst=name)
    try:
        # The listener has not heard of it yet: the charge has.
        assert door.post(made.text).status_code == 403
        assert door.http.proxy.spent(other)[0] == 0
        door.follow()
        assert door.http.query("SELECT 1", analyst=name).status_code == 200
        for told in (door.http.query("SELECT 1", analyst=other), door.post(made.text, "SELECT 1")):
            assert told.status_code == 403
            assert told.json()["detail"] == 'permission denied for database "shop"'
            assert "dpproxy access allow" in told.json()["hint"]
        wrong = door.http.client.get(
            "/v1/budget", params={"database": "shop"}, auth=(other, "wrong")
        )
        assert wrong.status_code == 401, "only who has logged in learns it"
        assert door.post(made.text, "SELECT 1", "census").status_code == 200
        withdraw(door.dsn, source, analyst=name)
        door.follow()
        assert door.http.query("SELECT 1", analyst=name).status_code == 403
    finally:
        open_to_all(door.dsn, source)
        door.follow()
    assert door.http.query("SELECT 1", analyst=other).status_code == 200
