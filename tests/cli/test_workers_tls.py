"""Two workers with a certificate: both show it, on both listeners, and both take up the next one."""

from __future__ import annotations

import contextlib
import json
import ssl
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.cli.operator_at_work import PASSWORD, QUESTION, Listening, Operator
from tests.servers.certificates_made import LOCAL, Authority, make_authority
from tests.waiting import until

pytestmark = pytest.mark.long
_CONNECTIONS = 12  # each comes to one of two workers by chance


def _put_certificate(authority: Authority, folder: Path) -> str:
    """Another pair in place of the one that is there."""
    made = authority.sign(folder, "localhost", LOCAL, is_server=True)
    for name, file in zip(("tls.crt", "tls.key"), made, strict=True):
        file.replace(folder / name)
    return (folder / "tls.crt").read_text().strip()


def _connected(listening: Listening, authority: Authority) -> psycopg.Connection:
    host, port = listening.wire
    of = make_conninfo(
        host="localhost", hostaddr=host, port=port, user="ann", password=PASSWORD, dbname="shop"
    )
    verified = make_conninfo(of, sslmode="verify-full", sslrootcert=str(authority.file))
    return psycopg.connect(verified, autocommit=True)


def _address_of_http(listening: Listening) -> tuple[str, int]:
    (line,) = (one for one in listening.running.printed.splitlines() if one.startswith("HTTP:"))
    url = httpx.URL(line.split()[1])
    assert url.scheme == "https" and url.port is not None
    return url.host, url.port


def _shown(listening: Listening) -> set[str]:
    """The certificates of so many connections."""
    address = _address_of_http(listening)
    return {ssl.get_server_certificate(address).strip() for _ in range(_CONNECTIONS)}


def test_both_show_the_certificate_and_take_up_the_next_one(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    operator.adopt("ann")
    authority = make_authority(tmp_path, "authority")
    first = _put_certificate(authority, tmp_path)
    files = ("--tls-cert", tmp_path / "tls.crt", "--tls-key", tmp_path / "tls.key")
    with (
        operator.serving(more=("--workers", "2", *files)) as listening,
        contextlib.ExitStack() as open_ones,
    ):

        def sessions() -> list[int]:
            told = json.loads(operator.run("status", "--json").out)
            return [one["sessions"] for one in told["workers"]]

        kept = [open_ones.enter_context(_connected(listening, authority)) for _ in range(6)]
        while min(sessions()) == 0:
            assert len(kept) < 24, "they all come to one worker"
            kept.append(open_ones.enter_context(_connected(listening, authority)))
        host, port = listening.wire
        with contextlib.suppress(psycopg.OperationalError):
            plain = make_conninfo(host=host, port=port, user="ann", password=PASSWORD)
            psycopg.connect(plain, dbname="shop", sslmode="disable").close()
            raise AssertionError("a session in plain text")
        assert _shown(listening) == {first}

        second = _put_certificate(authority, tmp_path)

        def have_taken() -> set[int]:
            lines = (tmp_path / "err.txt").read_text().splitlines()
            events = [json.loads(one) for one in lines if '"certificate_taken"' in one]
            return {one["worker"] for one in events}

        until(lambda: have_taken() == {1, 2})
        assert _shown(listening) == {second}
        trusted = ssl.create_default_context(cafile=authority.file)
        url = "https://{}:{}/v1/query".format(*_address_of_http(listening))
        body = {"database": "shop", "sql": QUESTION}
        for _ in range(4):
            told = httpx.post(url, json=body, auth=("ann", PASSWORD), verify=trusted, timeout=60)
            assert told.status_code == 200, told.text
        for one in (*kept, open_ones.enter_context(_connected(listening, authority))):
            assert one.pgconn.ssl_in_use
            assert one.execute(QUESTION).fetchone() is not None, "sessions go on"
