"""Marked secrets, planted in every kind of column, occur in no byte to a client, no log line, no error."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest
import structlog
from psycopg import sql

from proxy.cli.assembly import Database, assemble
from proxy.ledger.ledger_home import embedded_ledger
from proxy.pgwire import frames
from proxy.postgres.embedded import EmbeddedPostgres, start_together
from proxy.protected.catalog_reader import read_catalog
from proxy.protected.public_values import with_public_labels
from proxy.shadow.shadow_database import Shadow
from tests.cases import in_folder
from tests.ledger_key import LEDGER_CIPHER
from tests.live import attacks, marked
from tests.live.recording_hop import RecordingHop
from tests.live.served_database import made_database, served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.machine_speed import allowed_wait
from tests.raw_client import RawClient
from tests.servers_fixture import PASSWORD, Servers, budgets
from tests.unjudged_rows import unjudged

_ATTACKS = Path(__file__).parents[3] / "shared" / "attacks"
_GOLDEN = Path(__file__).parents[1] / "golden"
_TABLES = ("orders", "people", "events", "trips", "visits", "notes", "members")


@dataclass(frozen=True, slots=True)
class Watched:
    """A proxy before marked databases, with ears on its clients' bytes and on every log."""

    proxy: LiveProxy
    hop: RecordingHop
    log: io.StringIO
    ledger: EmbeddedPostgres

    def client(self, database: str, port: int | None = None) -> RawClient:
        return RawClient(self.proxy.servers.analyst_dsn(database, "eve", port or self.hop.port))

    def logs(self) -> bytes:
        servers = (self.proxy.servers.protected, self.proxy.servers.shadow_server, self.ledger)
        return b"\n".join(
            [self.log.getvalue().encode(), *(one.log.read_bytes() for one in servers)]
        )


def _world(pair: Servers) -> Database:
    source = made_database(pair.protected, "world", marked.WORLD)
    policy = replace(marked.WORLD_POLICY, source=source, budgets=budgets(each=10**6))
    catalog = with_public_labels(policy, read_catalog(source))
    shadow = Shadow(pair.shadow_server.dsn(), "world", pair.shadow_server.address)
    shadow.build(policy, catalog, unjudged(policy))
    return assemble(policy, catalog, shadow, pair.lease(policy), LEDGER_CIPHER)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    home = tmp_path_factory.mktemp("leaks")
    protected = EmbeddedPostgres(home, "protected", durable=False)
    shadow_server = EmbeddedPostgres(home, "shadow", disposable=True)
    ledger_server = EmbeddedPostgres(home, "ledger", tcp=False)
    log = io.StringIO()
    before = structlog.get_config()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(log))
    handler = logging.StreamHandler(log)
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    start_together([protected, shadow_server, ledger_server])
    ledger = embedded_ledger(ledger_server)
    pair = Servers(protected, shadow_server, ledger, {}, {}, {}, {})
    databases = [_world(pair)]
    if _ATTACKS.is_dir():
        script = marked.lab()
        databases.append(served_database(pair, "lab", script, attacks.TABLES))
    pair.add_analyst("eve", PASSWORD)
    proxy = start_proxy(pair, databases)
    hop = RecordingHop(proxy.port)
    yield Watched(proxy, hop, log, ledger_server)
    hop.close()
    proxy.stop()
    root.removeHandler(handler)
    root.setLevel(level)
    structlog.configure(**before)
    for server in (protected, shadow_server, ledger_server):
        server.stop()


def all_ways(client: RawClient, text: str) -> None:
    """Simple, so in text; extended, in binary. Whatever comes back is on record."""
    client.send(frames.query(text.encode()))
    client.until_ready()
    client.send(
        frames.parse(b"", text.encode()),
        frames.describe_statement(b""),
        frames.bind(b"", b"", result_formats=[1]),
        frames.describe_portal(b""),
        frames.execute(b""),
        frames.SYNC,
        frames.query(b"ROLLBACK"),
    )
    client.until_ready(2)


def check(watched: Watched, texts: list[str]) -> None:
    """Everything since the last check."""
    said = watched.hop.taken()
    assert marked.found(said) == []
    assert marked.found(watched.logs()) == []
    assert len(said) > 200 * len(texts)
    assert watched.log.getvalue().count("session_started") > 0


_EACH = [
    "SELECT * FROM w.{t}",
    "SELECT hidden FROM w.{t}",
    "SELECT count(*) FROM w.{t} WHERE hidden LIKE 'S%'",
    "SELECT count(*), sum(i4), min(i8), max(i8), avg(n) FROM w.{t}",
    "SELECT max(d), max(ts), max(tz), min(d) FROM w.{t}",
    "SELECT max(f8), min(f8), avg(f8), sum(f4), max(n), sum(n) FROM w.{t}",
    "SELECT t, count(*), max(i4) FROM w.{t} GROUP BY t",
    "SELECT s, count(*) FROM w.{t} GROUP BY s",
    "SELECT DISTINCT s FROM w.{t}",
    "SELECT DISTINCT t FROM w.{t}",
    "SELECT e, count(*) FROM w.{t} GROUP BY e",
    "SELECT e, count(*) FROM w.{t} GROUP BY 1 ORDER BY max(i4)",
    "SELECT max(e), min(e) FROM w.{t}",
    "SELECT count(*) FROM w.{t} WHERE e = 'no label' OR e > 'low' OR left(e, 6) = 'SECRET'",
    "SELECT count(*) FROM w.{t} WHERE e::int > 0 OR e::public.mood = 'low'",
    "SELECT enum_range(NULL::public.mood), enum_last(e) FROM w.{t}",
    "SELECT enumlabel FROM pg_enum",
    "SELECT c, b, count(*) FROM w.{t} GROUP BY c, b",
    "SELECT string_agg(s, ',') FROM w.{t}",
    "SELECT array_agg(i4), json_agg(t), mode() WITHIN GROUP (ORDER BY s) FROM w.{t}",
    "SELECT max(s) FROM w.{t}",
    "SELECT count(*) FROM w.{t} WHERE 1 / (i4 - 5) > 0",
    "SELECT count(*) FROM w.{t} WHERE s::int > 0",
    "SELECT sum(i4 * i4 * i4 * i4) FROM w.{t}",
    "SELECT sum(i8 + i8) FROM w.{t} WHERE i8 > 3",
    "SELECT count(*) FROM w.{t} WHERE i4 + i4 > 10",
    "SELECT sum(i4::smallint) FROM w.{t}",
    "SELECT sum(extract(epoch FROM ts)), avg(extract(year FROM d)) FROM w.{t}",
    "SELECT count(*) FROM w.{t} WHERE left(s, 6) = 'ab' OR substr(s, 2, 3) LIKE '%b%'",
    "SELECT (w.{t}).s FROM w.{t}",
    "SELECT row_to_json(x) FROM w.{t} x",
    "SELECT max(x.hidden) FROM (SELECT * FROM w.{t}) x",
    "WITH x AS (SELECT * FROM w.{t}) SELECT * FROM x",
    "COPY w.{t} TO STDOUT",
    "COPY (SELECT * FROM w.{t}) TO STDOUT (FORMAT binary)",
    "TABLE w.{t}",
    "CREATE TEMP TABLE kept AS SELECT * FROM w.{t}",
    "SELECT * INTO TEMP kept FROM w.{t}",
    "CREATE TEMP VIEW v AS SELECT * FROM w.{t}; SELECT * FROM v",
    "CREATE TEMP VIEW v2 AS SELECT s FROM w.{t} WHERE i4 < 3; SELECT count(*), max(s) FROM v2",
    "DO $$ BEGIN RAISE NOTICE '%', (SELECT max(s) FROM w.{t}); END $$",
    "SELECT query_to_xml('SELECT * FROM w.{t}', true, true, '')",
    "SELECT table_to_xml('w.{t}', true, true, '')",
    "SELECT pg_typeof(x) FROM w.{t} x LIMIT 1",
    "INSERT INTO w.{t} SELECT * FROM w.{t} RETURNING *",
    "UPDATE w.{t} SET s = s RETURNING *",
    "DELETE FROM w.{t} RETURNING s",
    "EXPLAIN ANALYZE SELECT * FROM w.{t}",
    "EXPLAIN (ANALYZE, VERBOSE) SELECT max(i8) FROM w.{t}",
    "DECLARE c CURSOR FOR SELECT * FROM w.{t}; FETCH ALL FROM c",
    "SELECT * FROM pg_stats WHERE tablename = '{t}'",
    "SELECT reltuples, relpages FROM pg_class WHERE relname = '{t}'",
    "SELECT * FROM w.{t} FETCH FIRST 1 ROW ONLY",
    "SELECT EXISTS (SELECT 1 FROM w.{t} WHERE i4 > 100)",
    "SELECT 1 FROM w.{t} HAVING max(i4) > 5",
    "SELECT lag(s) OVER () FROM w.{t}",
    "SELECT * FROM w.{t} TABLESAMPLE SYSTEM (100)",
    "SELECT ctid, xmin, tableoid FROM w.{t}",
]


@pytest.mark.parametrize(
    "table",
    [*_TABLES[:1], *(pytest.param(table, marks=pytest.mark.long) for table in _TABLES[1:])],
)
def test_corpus(table: str, watched: Watched) -> None:
    texts = [text.replace("{t}", table) for text in _EACH]
    with watched.client("world") as client:
        for text in texts:
            all_ways(client, text)
    check(watched, texts)


# Of the large corpora a part by index, and the rest at night.
_PARTS = pytest.mark.parametrize(
    "part",
    [slice(n, None, 12) for n in range(12)],
    ids=[f"{n + 1} of 12" for n in range(12)],
)


@pytest.mark.every(24)
@pytest.mark.parametrize("folder", ["pipeline", "refused"])
@_PARTS
def test_golden_statements(folder: str, part: slice, watched: Watched) -> None:
    cases = list(in_folder(_GOLDEN / folder))
    assert len(cases) > 40
    cases = cases[part]
    before = watched.proxy.spent("eve")[0]
    with watched.client("world") as client:
        for case in cases:
            all_ways(client, case.statement)
    check(watched, [case.statement for case in cases])
    asked = watched.proxy.spent("eve")[0] - before
    print(f"{asked} questions on marked rows were answered")
    assert folder == "refused" or asked > len(cases)


@pytest.mark.skipif(not _ATTACKS.is_dir(), reason="the corpus ../shared/attacks is not here")
@pytest.mark.every(12)
@_PARTS
def test_attacks(part: slice, watched: Watched) -> None:
    lines = (_ATTACKS / "attacks.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["sql"] for line in lines]
    assert len(texts) > 200
    texts = texts[part]
    before = watched.proxy.spent("eve")[0]
    milliseconds = round(allowed_wait(500).now())  # in which an honest statement is charged
    limits = f"SET statement_timeout = {milliseconds}; SET search_path = public"
    for text in texts:
        with watched.client("lab") as client:
            # An attack may have set the role's own search_path, for good.
            client.send(frames.query(limits.encode()))
            client.until_ready()
            all_ways(client, text.replace("\0", ""))
    check(watched, texts)
    asked = watched.proxy.spent("eve")[0] - before
    print(f"{asked} questions of attacks were answered")
    assert asked > 3


def test_the_detector_detects(watched: Watched) -> None:
    """A row full of marks and no guard: it is then seen in every format, straight and through the
    whole proxy; and a mark in a log is seen too."""
    shadow = watched.proxy.assembly.databases["world"].shadow.superuser_dsn
    with psycopg.connect(shadow) as connection:
        connection.execute("GRANT SELECT ON w.people TO dp_analyst")
        connection.execute("ALTER TABLE w.people DROP CONSTRAINT IF EXISTS people_pkey CASCADE")
        for column in connection.execute("SELECT * FROM w.people").description or ():
            loosen = sql.SQL("ALTER TABLE w.people ALTER {} DROP NOT NULL")
            connection.execute(loosen.format(sql.Identifier(column.name)))
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "INSERT INTO w.people (s, i4, d, n, f8) VALUES (%s, %s, %s, 'NaN', 9.87654321e300)",
            (marked.TEXT, marked.NUMBER, marked.DAY),
        )
    behind = RecordingHop(watched.proxy.servers.shadow_server.address[1])
    through = RecordingHop(watched.proxy.port)
    for hop, texts in (
        (behind, ["SELECT * FROM w.people"]),
        (
            through,
            [
                "DO $$ BEGIN EXECUTE 'CREATE TEMP VIEW v AS SELECT * FROM w.people'; END $$",
                "SELECT * FROM v",
            ],
        ),
    ):
        with watched.client("world", hop.port) as client:
            for text in texts:
                all_ways(client, text)
                client.send(frames.query(text.encode()))  # the view once more: it was rolled back
                client.until_ready()
        assert len(marked.found(hop.said())) >= 7
        hop.close()
    structlog.get_logger().info("careless", row=marked.TEXT)
    logging.getLogger("anything").warning("careless %s", marked.NUMBER)
    assert set(marked.found(watched.logs())) == {b"4242-marker", b"987654321"}


def test_the_data_is_there() -> None:
    """The marks are planted where questions can reach them."""
    script = marked.WORLD
    for mark in (marked.TEXT, str(marked.NUMBER), marked.DAY, "NaN"):
        assert script.count(mark) >= len(_TABLES)
