"""One synthetic database and one auditor for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.audit.exact_results import Auditor
from tests.audit.synthetic import plant
from tests.servers_fixture import servers
from tests.stored_types import READING


@pytest.fixture(scope="session")
def synthetic_dsn() -> str:
    server = servers().protected
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS audit")
        connection.execute("CREATE DATABASE audit TEMPLATE template0 ENCODING 'UTF8'")
    return server.dsn("audit")


@pytest.fixture(scope="session")
def auditor(synthetic_dsn: str) -> Iterator[Auditor]:
    reading = make_conninfo(synthetic_dsn, options=f"-c {READING}")
    made = Auditor(synthetic_dsn, plant(synthetic_dsn), reading)
    yield made
    made.close()
