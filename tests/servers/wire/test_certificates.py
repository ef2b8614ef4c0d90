"""Certificates of clients: which one lets whom in, on real sessions; and the rules by themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from cryptography import x509
from structlog.testing import capture_logs

from proxy.base.role_names import inner_role
from proxy.ledger.users import LedgerPeople
from proxy.servers.admission import Admission
from proxy.servers.certificate import ALPN, request_certificates, server_context
from proxy.servers.login_gate import GateLimits, LoginGate
from proxy.servers.wire.certificate_rules import (
    ClientCertificate,
    LoginMethod,
    RulesError,
    certificate_of,
    read_rules,
)
from proxy.servers.wire.shared_server_state import LetIn
from proxy.shadow.analyst_sessions import InnerLogins
from tests.servers.certificates_made import LOCAL, Authority, make_authority
from tests.servers.wire.conftest import Running, serve
from tests.waiting import until
from tests.wire_shadow import PASSWORD, wire_shadow

COUNT = "SELECT count(*) FROM shop.orders"
RULES = """
# DATABASE  USER         CERTIFICATE               METHOD
shop        bob          cn=bob.laptop             cert          # before the next: the first counts
all         bob          any                       reject
all         alice,carol  email=alice@example.org   cert+password
all         +research    cn={user}                 cert
shop        alice        none                      password
"""


@dataclass(slots=True)
class Certified:
    running: Running
    authority: Authority
    admission: Admission
    folder: Path

    def client(
        self, common_name: str = "", *names: x509.GeneralName, authority: Authority | None = None,
        is_expired: bool = False, is_server: bool = False,
    ) -> dict[str, str]:  # fmt: skip
        file, key = (authority or self.authority).sign(
            self.folder, common_name, names, is_expired=is_expired, is_server=is_server
        )
        return {"sslcert": str(file), "sslkey": str(key)}

    def connect(self, user: str, password: str | None = None, **more: str) -> psycopg.Connection:
        given = psycopg.conninfo.make_conninfo(
            self.running.conninfo(sslmode="require"),
            user=user,
            password=password or "none that is right",
            **({"sslcert": "", "sslkey": ""} | more),
        )
        return psycopg.connect(given, autocommit=True)

    def refused(self, user: str, password: str | None = None, **more: str) -> str:
        with pytest.raises(psycopg.OperationalError) as caught:
            self.connect(user, password, **more).close()
        return str(caught.value)


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Certified]:
    folder = tmp_path_factory.mktemp("certificates")
    authority = make_authority(folder, "authority")
    context = server_context(*authority.sign(folder, "localhost", LOCAL, is_server=True), ALPN)
    request_certificates(context, authority.file)
    people = LedgerPeople(
        analysts={"alice": 1, "bob": 2, "dp_inner_x": 3, "monitor": 4, "gone": 5},
        groups={"research": frozenset({"alice", "monitor", "dp_inner_x", "gone"})},
    )
    admission = Admission({"shop": 1}, people)
    shadow = wire_shadow().postgres
    inner = InnerLogins(shadow.dsn())
    asyncio.run(inner.ensure("bob"))
    with psycopg.connect(shadow.dsn("shop")) as superuser:  # this shadow has no rights of a group
        superuser.execute(f"GRANT alice TO {inner.role('bob')}".encode())
    let_in = LetIn(
        admission=admission,
        inner=inner,
        rules=read_rules(RULES, admission.is_in),
    )
    gate = LoginGate(GateLimits(longest_delay_seconds=0.02))
    for running in serve(tls=context, let_in=let_in, gate=gate):
        yield Certified(running, authority, admission, folder)


def test_a_certificate_is_enough_where_a_rule_says_so(certified: Certified) -> None:
    with certified.connect("bob", **certified.client("bob.laptop")) as connection:
        # Rights and limits are the analyst's; the session is of a role that nobody else can log in as.
        row = connection.execute("SELECT session_user, pg_has_role('dp_analyst', 'MEMBER')")
        assert row.fetchone() == (inner_role("bob"), True)
        assert connection.execute(COUNT).fetchone() == (42,)
        assert connection.pgconn.parameter_status(b"session_authorization") == b"bob"
        (session,) = certified.running.server.sessions
        assert (session.analyst, session.database) == ("bob", "shop")
    analysts = [one for one, _ in certified.running.engine.asked]
    assert analysts[-1] == "bob", "who is charged"


def test_whoever_has_another_certificate_is_refused_alike(certified: Certified) -> None:
    told = {
        certified.refused("bob", PASSWORD, **certified.client("bob.phone")),
        certified.refused("bob", PASSWORD, **certified.client("other", x509.DNSName("bob.laptop"))),
        certified.refused("bob", PASSWORD),
        certified.refused("alice", PASSWORD, **certified.client("bob.laptop")).replace(
            "alice", "bob"
        ),
        certified.refused("nobody", PASSWORD, **certified.client("nobody")).replace(
            "nobody", "bob"
        ),
        certified.refused("nobody", **certified.client("bob.laptop")).replace("nobody", "bob"),
    }
    (text,) = {one.split("FATAL:")[1].strip() for one in told}
    assert text == 'no rule for client certificates lets in user "bob", database "shop"'


def test_a_certificate_of_nobody_we_know_ends_the_handshake(certified: Certified) -> None:
    other = make_authority(certified.folder, "other")
    impostor = make_authority(certified.folder, "authority2")
    named_alike = Authority(certified.authority.name, impostor.key, impostor.file)
    for more in (
        certified.client("bob.laptop", authority=other),
        certified.client("bob.laptop", authority=named_alike),
        certified.client("bob.laptop", is_expired=True),
        certified.client("bob.laptop", is_server=True),
    ):
        told = certified.refused("bob", PASSWORD, **more)
        assert "FATAL" not in told and ("alert" in told or "closed" in told), told


def test_both(certified: Certified) -> None:
    shown = certified.client("x", x509.RFC822Name("alice@example.org"))
    certified.connect("alice", PASSWORD, **shown).close()
    assert "password authentication failed" in certified.refused("alice", "wrong", **shown)


def test_the_name_that_the_certificate_says(certified: Certified) -> None:
    certified.connect("alice", **certified.client("alice")).close()
    assert "no rule" in certified.refused("carol", **certified.client("alice"))
    assert "no rule" in certified.refused("carol", **certified.client("carol")), "not in the group"


def test_a_password_where_no_certificate_is_shown(certified: Certified) -> None:
    certified.connect("alice", PASSWORD).close()
    assert "password authentication failed" in certified.refused("alice", "wrong")


@pytest.mark.parametrize("name", ["dp_inner_x", inner_role("bob"), "postgres", "unknown"])
def test_a_name_that_is_no_analysts_is_let_in_by_no_certificate(
    certified: Certified, name: str
) -> None:
    assert "no rule" in certified.refused(name, PASSWORD, **certified.client(name))


def test_nobody_comes_in_as_an_inner_role(certified: Certified) -> None:
    """Not even with its password."""
    let_in = certified.running.server._state.let_in
    assert let_in is not None and let_in.inner is not None
    password = let_in.inner.password("bob")
    certified.connect("bob", **certified.client("bob.laptop")).close()  # it is there
    for running in serve():
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(running.conninfo(), user=inner_role("bob"), password=password)


def test_a_session_ends_with_the_right_to_it(certified: Certified) -> None:
    admission, server = certified.admission, certified.running.server
    before = admission.people
    with certified.connect("bob", **certified.client("bob.laptop")) as connection:
        loop = certified.running.loop
        loop.call_soon_threadsafe(server.end_not_admitted)
        assert connection.execute(COUNT).fetchone() == (42,)
        try:
            admission.people = LedgerPeople(
                analysts=before.analysts, groups=before.groups, allowed={1: frozenset({"alice"})}
            )
            loop.call_soon_threadsafe(server.end_not_admitted)
            with pytest.raises(psycopg.Error, match="permission denied for database"):
                while True:
                    connection.execute("SELECT 1")
            told = certified.refused("bob", **certified.client("bob.laptop"))
            assert 'permission denied for database "shop"' in told and "HINT" in told
            certified.connect("alice", PASSWORD).close()
            # A name that was given to somebody else.
            admission.people = before
            with certified.connect("bob", **certified.client("bob.laptop")) as another:
                admission.people = LedgerPeople(analysts={**before.analysts, "bob": 99})
                loop.call_soon_threadsafe(server.end_not_admitted)
                with pytest.raises(psycopg.Error):
                    while True:
                        another.execute("SELECT 1")
        finally:
            admission.people = before
    until(lambda: not server.sessions)


def test_the_log_has_neither_names_of_certificates_nor_secrets(certified: Certified) -> None:
    let_in = certified.running.server._state.let_in
    assert let_in is not None and let_in.inner is not None
    with capture_logs() as logs:
        certified.connect("bob", **certified.client("bob.laptop")).close()
        certified.refused("bob", **certified.client("secret-name"))
    assert let_in.inner.password("bob") not in str(logs) + repr(let_in)
    assert "secret-name" not in str(logs)
    assert "login_failed" in [one["event"] for one in logs], "it is slowed like a wrong password"


# The rules by themselves.


def _cert(**names: str) -> ClientCertificate:
    return ClientCertificate({kind: frozenset({name}) for kind, name in names.items()})


def test_the_first_rule_that_matches_counts_and_none_is_a_refusal() -> None:
    rules = read_rules(RULES, lambda user, group: (user, group) == ("rita", "research"))
    cases = (
        (("shop", "bob", _cert(cn="bob.laptop")), LoginMethod.CERT),
        (("census", "bob", _cert(cn="bob.laptop")), LoginMethod.REJECT),
        (("shop", "bob", None), LoginMethod.REJECT),
        (("census", "carol", _cert(email="alice@example.org")), LoginMethod.BOTH),
        (("census", "carol", _cert(cn="alice@example.org")), LoginMethod.REJECT),
        (("census", "rita", _cert(cn="rita")), LoginMethod.CERT),
        (("census", "rita", _cert(cn="bob")), LoginMethod.REJECT),
        (("census", "+research", _cert(cn="+research")), LoginMethod.REJECT),
        (("shop", "alice", None), LoginMethod.PASSWORD),
        (("shop", "alice", _cert(cn="alice")), LoginMethod.REJECT),
        (("census", "alice", None), LoginMethod.REJECT),
    )
    for asked, method in cases:
        assert rules.method(*asked) is method, asked


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("all all none", "a rule is DATABASE USER CERTIFICATE METHOD"),
        ("all all none password more", "a rule is"),
        ("all all none trust", "one of password, cert, cert\\+password, reject"),
        ("all all whatever cert", "a certificate is any, none, cn=NAME"),
        ("all all cn= cert", "a certificate is"),
        ("all bob any cert", "needs the name"),
        ("all bob none cert", "needs the name"),
        ("all all cn=admin cert", "would be several users"),
        ("all +g cn=admin cert", "would be several users"),
        ("all a,b cn=admin cert", "would be several users"),
        ("all bob none cert+password", "needs a certificate"),
        ("all , none password", "a name is empty"),
        ("all + none password", "a name is empty"),
        ("all 'bob none password", "quotation"),
        ("# nothing", "nobody could log in"),
    ],
)
def test_a_line_that_is_not_understood(line: str, why: str) -> None:
    with pytest.raises(RulesError, match=why):
        read_rules(line, lambda user, group: True)


def test_of_several_common_names_none_counts() -> None:
    peer = {"subject": ((("commonName", "a"),), (("commonName", "b"),))}
    found = certificate_of(peer)
    assert found is not None and not found.names["cn"]
    assert certificate_of({}) is None and certificate_of(None) is None
