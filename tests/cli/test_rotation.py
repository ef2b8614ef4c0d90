"""Secrets that change while `dpproxy serve` runs: the source's password and the certificate."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from structlog.testing import capture_logs

from proxy.cli.certificates import CertificateWatch
from proxy.servers.certificate import server_context
from tests.cli.commands import Serving, dpproxy, serving
from tests.samples import SHOP_POLICY
from tests.servers.certificates_made import LOCAL, Authority, make_authority
from tests.servers_fixture import servers
from tests.waiting import until

_PASSWORD = "pass word"


@dataclass(slots=True)
class Rotating:
    """A served shop, whose secrets are files. dsn: as the file says it at first."""

    running: Serving
    folder: Path
    dsn: str
    authority: Authority
    asked: int = 0

    def hang_up(self) -> None:
        self.running.process.send_signal(signal.SIGHUP)

    def said(self, event: str) -> int:
        return (self.folder / "err.txt").read_text().count(f'"event": "{event}"')

    def address(self, line: str) -> tuple[str, int]:
        found = re.search(rf"{line}: (?:https://)?([\d.]+):(\d+)", self.running.printed)
        assert found is not None, self.running.printed
        return found[1], int(found[2])

    def answers(self) -> bool:
        host, port = self.address("PostgreSQL clients")
        of = make_conninfo(
            host=host, port=port, user="erin", password=_PASSWORD, dbname="shop", sslmode="require"
        )
        try:
            with psycopg.connect(of, autocommit=True) as connection:
                self.asked += 1  # no answer is repeated
                statement = f"SELECT count(*) FROM shop.orders WHERE quantity > {self.asked}"
                return connection.execute(statement.encode()).fetchone() is not None
        except psycopg.Error:
            return False

    def is_ready(self) -> bool:
        host, port = self.address("HTTP")
        return httpx.get(f"https://{host}:{port}/readyz", verify=False).status_code == 200

    def shown(self, line: str) -> str:
        return ssl.get_server_certificate(self.address(line))

    def put(self, name: str, content: bytes) -> None:
        """As tools do it: another file in its place."""
        new = self.folder / f"{name}.new"
        new.write_bytes(content)
        new.replace(self.folder / name)


@pytest.fixture(scope="module")
def rotating(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rotating]:
    folder = tmp_path_factory.mktemp("rotation")
    dsn = servers().source_dsns["shop"]
    secrets = folder / "secrets"
    secrets.mkdir()
    (secrets / "SHOP_DSN").write_text(dsn)
    authority = make_authority(folder, "authority")
    for name, made in zip(
        ("tls.crt", "tls.key"),
        authority.sign(folder, "localhost", LOCAL, is_server=True),
        strict=True,
    ):
        (folder / name).write_bytes(made.read_bytes())
    given = {"CREDENTIALS_DIRECTORY": str(secrets)}
    of = ("--state", folder / "state")
    adopted = dpproxy("ledger", "adopt", "--new", "--policy", SHOP_POLICY, *of, environment=given)
    assert adopted.code == 0, adopted.err
    assert dpproxy("user", "add", "erin", "--password-stdin", *of, typed=_PASSWORD).code == 0
    arguments: list[str | Path] = ["serve", "--policy", SHOP_POLICY, *of, "--listen", "127.0.0.1:0"]
    arguments += ["--http", "127.0.0.1:0", "--tls-cert", folder / "tls.crt"]
    arguments += ["--tls-key", folder / "tls.key"]
    with serving(folder, arguments, "/docs\n", given) as running:
        yield Rotating(running, folder, dsn, authority)
        assert running.stop() == 0


@contextlib.contextmanager
def _password_of_the_reader(dsn: str, password: str) -> Iterator[None]:
    """Another one, until the block ends; its sessions are ended."""
    before = conninfo_to_dict(dsn)
    role = sql.Identifier(str(before["user"]))
    with psycopg.connect(servers().protected.dsn(), autocommit=True) as owner:

        def change(to: str) -> None:
            owner.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(to)))

        change(password)
        try:
            owner.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s",
                (str(before["user"]),),
            )
            yield
        finally:
            change(str(before["password"]))


@pytest.mark.long
def test_another_password_of_the_source_is_taken_on_sighup(rotating: Rotating) -> None:
    assert rotating.answers()
    with _password_of_the_reader(rotating.dsn, "another one"):
        until(lambda: not rotating.is_ready())
        assert not rotating.answers()
        rotating.put(
            "secrets/SHOP_DSN", make_conninfo(rotating.dsn, password="another one").encode()
        )
        rotating.hang_up()
        until(lambda: rotating.said("policy_taken") == 1)
        until(rotating.is_ready)
        assert rotating.answers()
        rotating.put("secrets/SHOP_DSN", rotating.dsn.encode())
    rotating.hang_up()
    until(lambda: rotating.said("policy_taken") == 2)
    assert rotating.answers()
    logged = (rotating.folder / "err.txt").read_text()
    assert (
        "another one" not in logged
        and str(conninfo_to_dict(rotating.dsn)["password"]) not in logged
    )


@pytest.mark.long
def test_another_role_or_server_takes_a_new_start(rotating: Rotating) -> None:
    before = rotating.said("policy_not_taken")
    rotating.put("secrets/SHOP_DSN", make_conninfo(rotating.dsn, user="somebody").encode())
    rotating.hang_up()
    until(lambda: rotating.said("policy_not_taken") == before + 1)
    assert rotating.answers()
    rotating.put("secrets/SHOP_DSN", rotating.dsn.encode())
    rotating.hang_up()
    until(lambda: rotating.said("policy_in_force_again") >= 1)


@pytest.mark.long
def test_another_certificate_is_shown_by_all_listeners_without_a_signal(rotating: Rotating) -> None:
    before = rotating.shown("HTTP")
    certificate, key = rotating.authority.sign(rotating.folder, "localhost", LOCAL, is_server=True)
    # One file of two: they do not fit, and the old pair stays.
    rotating.put("tls.crt", certificate.read_bytes())
    until(lambda: rotating.said("certificate_not_taken") == 1)
    assert rotating.shown("HTTP") == before and rotating.answers()
    rotating.put("tls.key", key.read_bytes())
    until(lambda: rotating.said("certificate_taken") == 1)
    assert rotating.shown("HTTP").strip() == certificate.read_text().strip()
    host, port = rotating.address("PostgreSQL clients")
    of = make_conninfo(
        host="localhost",
        hostaddr=host,
        port=port,
        dbname="shop",
        user="erin",
        password=_PASSWORD,
        sslmode="verify-full",
        sslrootcert=str(rotating.authority.file),
    )
    with psycopg.connect(of) as connection:
        assert connection.pgconn.ssl_in_use


def test_files_are_read_once_they_are_left_alone(tmp_path: Path) -> None:
    authority = make_authority(tmp_path, "authority")
    files = tmp_path / "crt", tmp_path / "key"

    def put(at: int) -> None:
        pair = authority.sign(tmp_path, "localhost", LOCAL, is_server=True)
        for file, made in zip(files, pair, strict=True):
            file.write_bytes(made.read_bytes())
            os.utime(file, (at, at))

    put(1)
    context = server_context(*files, "")
    watch = CertificateWatch(files, lambda: [context])
    with capture_logs() as told:
        watch.look()
        put(2)
        watch.look()
        assert not told, "it may be being written"
        watch.look()
        watch.look()
        put(3)
        watch.look(at_once=True)
        files[1].write_text("no key")
        for _ in range(3):
            watch.look()
    assert [one["event"] for one in told] == ["certificate_taken"] * 2 + ["certificate_not_taken"]
