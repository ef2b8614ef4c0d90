"""People and programs as an operator meets them: commands beside a `dpproxy serve` with every door open."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.cli.commands import Serving, serving
from tests.cli.test_serving_with_a_ledger import Operator, within
from tests.servers.certificates_made import LOCAL, Authority, make_authority
from tests.servers.http.provider import AUDIENCE, Provider, provider

_PASSWORD = "a long password"
_SECRET = "0123456789abcdef" * 4
_COUNT = "SELECT count(*) FROM shop.customers"
_RULES = """\
all  bob  cn=bob.laptop  cert
all  all  none           password
"""


@dataclass(slots=True)
class Office:
    """Everything that is served, and clients of it."""

    operator: Operator
    running: Serving
    authority: Authority
    issuer: Provider
    bob: dict[str, str]

    def address(self, line: str) -> str:
        found = re.search(rf"^{line}: (?:https://)?([^/\n]+)", self.running.printed, re.MULTILINE)
        assert found is not None, self.running.printed
        return found[1]

    def done(self, *arguments: str, typed: str = "") -> str:
        done = self.operator.run(*arguments, typed=typed)
        assert done.code == 0, done.err
        return done.out

    def connect(self, user: str, password: str = "x", **more: str) -> psycopg.Connection:
        host, _, port = self.address("PostgreSQL clients").partition(":")
        given = {"host": host, "port": port, "user": user, "password": password, "dbname": "shop"}
        given |= {"sslmode": "verify-full", "sslrootcert": str(self.authority.file), "sslcert": ""}
        made = psycopg.conninfo.make_conninfo(**(given | more))
        return psycopg.connect(made, autocommit=True)

    def post(self, token: str, sql: str = _COUNT) -> httpx.Response:
        return self.http("HTTP", token, "POST", "/v1/query", {"database": "shop", "sql": sql})

    def administer(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return self.http("administrators", _SECRET, method, f"/admin/v1{path}", body)

    def http(self, line: str, token: str, method: str, path: str, body: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"}
        trusted = ssl.create_default_context(cafile=self.authority.file)
        with httpx.Client(verify=trusted, timeout=60) as client:
            url = f"https://{self.address(line)}{path}"
            return client.request(method, url, json=body, headers=headers)


@contextmanager
def _opened(folder: Path) -> Iterator[Office]:
    operator, authority = Operator(folder), make_authority(folder, "authority")
    operator.adopt()
    for name in ("bob", "carol"):
        assert operator.run("user", "add", name, "--no-password").code == 0
    certificate, key = authority.sign(folder, "localhost", LOCAL, is_server=True)
    (folder / "rules").write_text(_RULES)
    secrets = folder / "secrets"
    secrets.touch(mode=0o600)
    secrets.write_text(f"console {_SECRET}\n")
    shown, own = authority.sign(folder, "bob.laptop")
    with provider() as issuer:
        arguments = operator.arguments(
            *("--tls-cert", certificate, "--tls-key", key),
            *("--client-ca", authority.file, "--client-rules", folder / "rules"),
            *("--oidc-issuer", issuer.issuer, "--oidc-audience", AUDIENCE),
            *("--admin", "127.0.0.1:0", "--admin-secrets", secrets),
        )
        with serving(folder, arguments, "administrators:", operator.environment) as running:
            bob = {"sslcert": str(shown), "sslkey": str(own)}
            yield Office(operator, running, authority, issuer, bob)
            assert running.stop() == 0


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with _opened(tmp_path_factory.mktemp("office")) as found:
        yield found


def test_a_program_with_a_token(office: Office) -> None:
    arguments = ("--days", "1", "--database", "shop", "--epsilon", "1.5", "--note", "nightly")
    token = office.done("token", "create", "carol", *arguments).strip()
    assert re.fullmatch(r"dpp_[A-Za-z0-9_-]{43}", token), "alone on standard output"
    assert office.post(token).status_code == 200
    told = office.post(token)
    assert told.status_code == 403 and "only epsilon 0.5" in told.json()["detail"]
    listed = office.done("token", "list")
    assert re.search(r"1 +carol +shop +1 +1\.5 .* valid +nightly", listed) and token not in listed
    office.done("token", "revoke", "1")
    assert office.post(token, "SELECT 1").status_code == 401
    assert "revoked" in office.done("token", "list")


def test_a_token_of_the_provider(office: Office) -> None:
    jwt = office.issuer.token(office.issuer.claims("carol"))
    assert office.post(jwt).status_code == 200
    assert office.post(office.issuer.token(office.issuer.claims("mallory"))).status_code == 401


def test_a_certificate_over_the_wire(office: Office) -> None:
    with office.connect("bob", **office.bob) as connection:
        assert connection.execute(_COUNT).fetchone() is not None
        spent = connection.execute("SELECT epsilon_spent FROM dp.budget").fetchall()
        assert spent[0] == (1,)
    with pytest.raises(psycopg.OperationalError, match="no rule for client certificates"):
        office.connect("ann", _PASSWORD, **office.bob)
    office.connect("ann", _PASSWORD).close()


@pytest.mark.long
def test_a_database_that_not_everybody_may_query(office: Office) -> None:
    ann, bob = office.connect("ann", _PASSWORD), office.connect("bob", **office.bob)
    office.done("user", "group", "add", "research", "bob")
    office.done("access", "allow", "shop", "--group", "research")
    assert within(60, lambda: _is_over(ann)), "sessions end within seconds"
    with pytest.raises(psycopg.OperationalError, match='permission denied for database "shop"'):
        office.connect("ann", _PASSWORD)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        office.connect("ann", "wrong")
    assert bob.execute(_COUNT).fetchone() is not None
    assert "shop      group research" in office.done("access", "list")
    assert office.done("user", "group", "list") == "research: bob\n"
    office.done("user", "group", "remove", "research", "bob")
    assert within(60, lambda: _is_over(bob))
    office.done("access", "open", "shop")
    assert within(60, lambda: _comes_in(office))


@pytest.mark.long
def test_the_administrators_api(office: Office) -> None:
    told = office.administer("POST", "/users", {"name": "dave", "password": "daves password"})
    assert told.status_code == 201, told.text
    assert within(60, lambda: _comes_in(office, "dave", "daves password"))
    with office.connect("dave", "daves password") as dave:
        sessions = office.administer("GET", "/sessions").json()["sessions"]
        (found,) = [one for one in sessions if one["analyst"] == "dave"]
        assert office.administer("DELETE", f"/sessions/{found['number']}").status_code == 200
        assert within(60, lambda: _is_over(dave))
    with office.connect("dave", "daves password") as dave:
        assert office.administer("DELETE", "/users/dave").status_code == 200
        assert within(60, lambda: _is_over(dave))


@pytest.mark.long
def test_an_administrator_has_policies_read_again(office: Office) -> None:
    def reload() -> dict[str, Any]:
        (found,) = office.administer("POST", "/policies/reload", {}).json()["policies"]
        return dict(found)

    before, file = reload(), office.operator.policy
    text = file.read_text()

    def readiness() -> tuple[int, str]:
        told = office.http("HTTP", "none", "GET", "/readyz", None)
        return told.status_code, told.json()["policies"]

    file.write_text(f"{text}\nno_such_key: 1\n")
    assert readiness() == (200, "in force")
    refused = reload()
    assert refused["digest"] == before["digest"]
    place = f"{len(text.splitlines()) + 2}:1"
    told = f"1 error in the file: {place}: unknown key 'no_such_key' in the policy"
    assert refused["not_taken"].startswith(told)
    assert readiness() == (200, "not taken")
    file.write_text(f"{text}\n# another text\n")
    after = reload()
    assert after["not_taken"] is None and after["digest"] != before["digest"]
    assert readiness() == (200, "in force")
    published = "SELECT state, count(*) AS customers FROM shop.customers GROUP BY state"
    file.write_text(f"{text}\npublish: [{{name: s, sql: '{published}', every: 24h, epsilon: 1}}]\n")
    assert reload()["not_taken"] is None
    with office.connect("bob", **office.bob) as bob:
        assert within(60, lambda: _is_there(bob, "SELECT customers FROM published.s"))


def _is_there(connection: psycopg.Connection, statement: str) -> bool:
    try:
        return connection.execute(statement.encode()).fetchone() is not None
    except psycopg.errors.UndefinedTable:
        return False


def test_everything_is_in_the_log_and_no_secret_is_anywhere(office: Office) -> None:
    office.done("user", "passwd", "carol", "--password-stdin", typed="carols password")
    made = office.done("token", "create", "carol", "--days", "1")
    office.administer("POST", "/users", {"name": "eve", "password": "eves password"})
    office.administer("DELETE", "/users/eve")
    log = office.done("ledger", "log")
    whats = ("adopt new", "budgets of a policy", "user add", "user password", "token create")
    for what in (*whats, "user remove"):
        assert f"  {what}  " in log, what
    assert "admin API: console from 127.0.0.1  user remove" in log
    assert re.search(r"UTC  command line: \w+  token create", log)
    logged = (office.operator.folder / "err.txt").read_text() + office.running.printed + log
    for secret in (_SECRET, _PASSWORD, made.strip(), "carols password", "eves password", "dpp_"):
        assert secret not in logged
    assert office.done("ledger", "verify") == "all checks passed\n"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--client-ca", "x"), "--client-ca and --client-rules go together"),
        (("--client-ca", "x", "--client-rules", "RULES"), "--client-ca needs --tls-cert"),
        (("--oidc-audience", "x"), "need --oidc-issuer"),
        (("--oidc-issuer", "https://example.org"), "needs --oidc-audience"),
        (("--oidc-issuer", "http://example.org", "--oidc-audience", "x"), "must be https"),
        (("--admin", "127.0.0.1:0"), "--admin and --admin-secrets go together"),
        (("--admin", "127.0.0.1:0", "--admin-secrets", "RULES"), "chmod 600"),
        (
            ("--admin", "0.0.0.0:0", "--admin-secrets", "SECRETS"),
            "can be reached from other machines",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_options_that_contradict_each_other(
    tmp_path: Path, options: tuple[str, ...], why: str
) -> None:
    operator = Operator(tmp_path)
    (tmp_path / "rules").write_text(_RULES)
    (tmp_path / "rules").chmod(0o644)
    (tmp_path / "secrets").touch(mode=0o600)
    (tmp_path / "secrets").write_text(f"console {_SECRET}\n")
    files = {"RULES": str(tmp_path / "rules"), "SECRETS": str(tmp_path / "secrets")}
    done = operator.serve(*(files.get(one, one) for one in options))
    assert done.code == 1 and why in done.err, done.err
    assert not operator.state.exists()


def _is_over(connection: psycopg.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.Error:
        connection.close()
        return True
    return False


def _comes_in(office: Office, user: str = "ann", password: str = _PASSWORD) -> bool:
    try:
        office.connect(user, password).close()
    except psycopg.OperationalError:
        return False
    return True
