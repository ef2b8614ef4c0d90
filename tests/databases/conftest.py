"""Real servers for the tests of this floor."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.databases.clinic import Clinics
from tests.databases.ledger_database import make_ledger
from tests.initdb_once import real_programs
from tests.servers_fixture import Servers, servers


@pytest.fixture(scope="session")
def pair() -> Servers:
    """The shared embedded pair: protected data and shadows."""
    return servers()


@pytest.fixture(scope="session")
def ledger_template(pair: Servers) -> str:
    """A database with an empty ledger, to be copied: that is several times as quick as making one."""
    with psycopg.connect(pair.ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE empty_ledger")
    make_ledger(make_conninfo(pair.ledger_dsn, dbname="empty_ledger"))
    return "empty_ledger"


@pytest.fixture
def ledger_dsn(pair: Servers, ledger_template: str) -> Iterator[str]:
    """An empty ledger in a database of its own."""
    with psycopg.connect(pair.ledger_dsn, autocommit=True) as server:
        server.execute(f"CREATE DATABASE ledger TEMPLATE {ledger_template}".encode())
        yield make_conninfo(pair.ledger_dsn, dbname="ledger")
        server.execute("DROP DATABASE ledger WITH (FORCE)")


@pytest.fixture
def real_initdb(monkeypatch: pytest.MonkeyPatch) -> None:
    """initdb itself, and the folders that are found without us."""
    for name, value in real_programs().items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def clinics() -> Iterator[Clinics]:
    made = Clinics()
    yield made
    made.close()
