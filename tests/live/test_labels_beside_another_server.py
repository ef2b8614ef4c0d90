"""Keys are as the shadow computes them, and each row is in its group, whatever the owner's server would make of
it: another major, with the letters, clocks and forms of dates of another country."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from proxy.postgres import embedded
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.postgres.postgres_binaries import environment
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.postgres_majors import other_binaries
from tests.servers_fixture import servers

_ROWS = """\
SELECT i AS id, (ARRAY['IDA', 'élan', 'Zoë', 'I o_x', 'ist'])[i % 5 + 1] AS name,
    date '2022-11-30' + i % 400 AS day, timestamptz '2022-11-30 00:30+00' + i * interval '7 hours' AS at,
    i % 40 AS n
FROM generate_series(1, 2000) AS i"""
_SCRIPT = f"""\
CREATE SCHEMA t;
CREATE TABLE t.people (id integer PRIMARY KEY, name text, day date, at timestamptz, n integer);
INSERT INTO t.people {_ROWS};
ALTER DATABASE labels_elsewhere SET DateStyle = 'SQL, DMY';
ALTER DATABASE labels_elsewhere SET IntervalStyle = 'sql_standard';
ALTER DATABASE labels_elsewhere SET TimeZone = 'Asia/Kathmandu';
ALTER DATABASE labels_elsewhere SET lc_time = '{{language}}';
ALTER DATABASE labels_elsewhere SET extra_float_digits = -5;
"""
_TABLES = """\
tables:
  t.people:
    unit: row
    columns:
      name: {values: [IDA, élan, Zoë, I o_x, ist]}
      day: {bounds: [2022-11-30, 2024-01-03]}
      at: {bounds: [2022-11-30, "2024-07-05 00:00:00"]}
      n: {bounds: [0, 40]}
"""
# In a Turkish database lower('I') is a letter without a dot, and upper('i') one with it.
_TURKISH = (
    "ALTER DATABASE template1 IS_TEMPLATE false",
    "DROP DATABASE template1",
    "CREATE DATABASE template1 TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.utf8'"
    " LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR' IS_TEMPLATE true",
)
_KEYS = (
    *("lower(name)", "upper(name)", "initcap(name)", "lower(left(name, 1)) || '.'"),
    *("upper(name) || '/' || extract(year FROM day)", "to_char(day, 'Mon') || lower(name)"),
    *("CASE WHEN name = 'IDA' THEN lower(name) ELSE upper(name) END", "length(lower(name))"),
    *("CAST(extract(year FROM day) || '0101' AS date)", "to_char(at, 'YYYYMM')::int"),
    *("extract(year FROM at) || '-' || extract(quarter FROM at)", "floor(n / 10) || '0s'"),
    "nullif(upper(name), 'IST')",
)
_LANGUAGE = "de_DE.UTF-8"
_SEVERAL = ("upper(name), n / 20", "lower(name), lower(name) || '!'")


def _is_made(locale: Path) -> bool:
    """A locale in another language, of whose words lc_time makes 'TMMonth'."""
    program = shutil.which("localedef")
    if program is None:
        return False
    locale.parent.mkdir()
    name, _, encoding = _LANGUAGE.partition(".")
    made = subprocess.run(
        [program, "-i", name, "-f", encoding, str(locale)], capture_output=True, check=False
    )
    return made.returncode == 0


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[LiveProxy]:
    binaries = other_binaries()
    if binaries is None:
        pytest.skip("there is no PostgreSQL of another major on this machine")
    home = Path(tempfile.mkdtemp(prefix="dpproxy-labels-"))
    language = _LANGUAGE if _is_made(home / "locales" / _LANGUAGE) else "C.utf8"
    monkeypatch = pytest.MonkeyPatch()
    places = {**environment(), "LOCPATH": f"{home}/locales:/usr/lib/locale"}
    monkeypatch.setattr(embedded, "environment", lambda: places)
    owners = EmbeddedPostgres(home, "protected", pg_bin=binaries.folder, durable=False)
    owners.start()
    try:
        with psycopg.connect(owners.dsn(), autocommit=True) as connection:
            for statement in _TURKISH:
                connection.execute(statement.encode())
        pair = replace(servers(), protected=owners)
        script = _SCRIPT.format(language=language)
        database = served_database(pair, "labels_elsewhere", script, _TABLES, "auto", most="100")
        proxy = start_proxy(pair, [database])
        yield proxy
        proxy.stop()
    finally:
        owners.stop()
        monkeypatch.undo()
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.every(16)
@pytest.mark.parametrize("keys", [*_KEYS, *_SEVERAL])
def test_each_row_is_in_the_group_that_the_shadow_names(elsewhere: LiveProxy, keys: str) -> None:
    places = "1, 2" if keys in _SEVERAL else "1"
    pair = elsewhere.servers
    statement = "SELECT {}, count(*) AS n FROM {} AS p GROUP BY {}"
    with psycopg.connect(pair.shadow_server.dsn(), autocommit=True) as plain:
        plain.execute("SET TimeZone = 'UTC'")
        right = plain.execute(statement.format(keys, f"({_ROWS})", places).encode()).fetchall()
    with elsewhere.connect("labels_elsewhere", analyst=pair.new_analyst()) as session:
        session.execute("SET dp.epsilon = 100")
        found = session.execute(statement.format(keys, "t.people", places).encode()).fetchall()
    counted = {row[:-1]: row[-1] for row in found}
    expected = {row[:-1]: row[-1] for row in right}
    missing = {key for key in expected.keys() - counted.keys() if None not in key}
    assert not missing
    assert all(abs(count - expected.get(key, 0)) <= 3 for key, count in counted.items())


def test_the_owners_server_reads_letters_in_another_way(elsewhere: LiveProxy) -> None:
    """Otherwise the test above would prove nothing."""
    with psycopg.connect(elsewhere.servers.protected.dsn("labels_elsewhere")) as owners:
        row = owners.execute("SELECT lower('IDA'), date '2022-11-30'::text").fetchone()
    assert row == ("ıda", "30/11/2022")


def test_months_have_no_names_of_the_owners_language(elsewhere: LiveProxy) -> None:
    with psycopg.connect(elsewhere.servers.protected.dsn("labels_elsewhere")) as owners:
        row = owners.execute("SELECT to_char(date '2022-12-24', 'TMMonth')").fetchone()
    if row == ("December",):
        pytest.skip(f"localedef makes no {_LANGUAGE} on this machine")
    assert row == ("Dezember",)
    months = "SELECT to_char({}, '{}'), count(*) FROM t.people GROUP BY 1"
    with elsewhere.connect("labels_elsewhere", analyst=elsewhere.servers.new_analyst()) as session:
        session.execute("SET dp.epsilon = 100")
        for column in ("day", "at"):
            found = session.execute(months.format(column, "FMMonth").encode()).fetchall()
            assert len(found) == 12 and {"March", "May", "December"} < {name for name, _ in found}
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="template"):
            session.execute(months.format("day", "TMMonth").encode())
