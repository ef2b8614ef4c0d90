"""No text of one person takes the server hours to put in order, whatever the order of its collation is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from proxy.catalog.catalog_model import IN_NORMAL_FORMS
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.catalog_reader import read_catalog
from tests.audit.two_states import TwoStates, server_of, two_states

# Marks that ICU puts into one order by insertion, where its language has many of them: 32,000 took 16 s.
_MARKS = "repeat(chr(3953) || chr(3954), 16000)"
_TURNED = "repeat(chr(3954) || chr(3953), 16000)"
_SCRIPT = f"""
CREATE SCHEMA s;
CREATE DOMAIN s.greek AS text COLLATE "el-x-icu";
CREATE TABLE s.t (id int PRIMARY KEY, uid int NOT NULL, a s.greek, b s.greek, x int);
INSERT INTO s.t SELECT g, g % 10, 'a', 'b', g FROM generate_series(1, 100) g;
INSERT INTO s.t SELECT 1000 + g, 11, {_MARKS} || g, {_TURNED} || g, 1 FROM generate_series(1, 10) g;
INSERT INTO s.t SELECT 2000 + g, 11, left(CASE g % 2 WHEN 0 THEN {_MARKS} ELSE {_TURNED} END, 1000) || g, 'b', 1
FROM generate_series(1, 600) g;
"""
_POLICY = """\
  s.t: {unit: {person: uid}, max_rows_per_unit: 20, columns: {id: {}, a: {}, b: {}, x: {bounds: [0, 10]}}}
"""


@dataclass(frozen=True)
class _Languages:
    server: EmbeddedPostgres
    states: TwoStates


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Languages]:
    with server_of("other", tmp_path_factory.mktemp("orders")) as server:
        with psycopg.connect(server.dsn()) as connection:
            if not connection.execute(
                "SELECT 1 FROM pg_collation WHERE collname = 'el-x-icu'"
            ).fetchone():
                pytest.skip("these binaries have no ICU")
        yield _Languages(
            server, two_states(server, "orders", _SCRIPT, _POLICY, "DELETE FROM s.t WHERE uid = 11")
        )


@pytest.mark.parametrize(
    "question",
    [
        "SELECT count(*) FROM s.t WHERE a < b",
        "SELECT count(*) FROM s.t WHERE NOT a <= b",
        "SELECT count(*) FROM s.t WHERE greatest(a, b) = 'b'",
        "SELECT count(*) FROM s.t WHERE lower(a) > lower(b)",
        "SELECT sum(x) FROM (SELECT uid, x, row_number() OVER (PARTITION BY uid ORDER BY a) AS n FROM s.t) q"
        " WHERE n < 5",
        "SELECT sum(n) FROM (SELECT uid, a, count(*) AS n FROM s.t GROUP BY uid, a) q",
    ],
)
def test_a_text_of_one_person_ends_no_statement(languages: _Languages, question: str) -> None:
    assert languages.states.raises(question) == (False, False)
    assert languages.states.too_far(question) == []


@pytest.mark.parametrize(("locale", "encoding"), [("en", "UTF8"), ("el", None), ("he", None)])
def test_a_database_in_such_an_order_is_not_read(
    languages: _Languages, locale: str, encoding: str | None
) -> None:
    dsn = languages.server.dsn(f"in_{locale}")
    with psycopg.connect(languages.server.dsn(), autocommit=True) as admin:
        admin.execute(
            f"CREATE DATABASE in_{locale} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
            f" LOCALE_PROVIDER icu ICU_LOCALE '{locale}'"
        )
    found = read_catalog(dsn).encoding
    assert found == (encoding or IN_NORMAL_FORMS)
