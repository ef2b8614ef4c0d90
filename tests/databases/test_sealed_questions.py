"""What the ledger keeps of questions, and what becomes of those in clear text of an earlier version."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any, cast

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.drawing.answer_slots import CachedQuestion
from proxy.engine.cached_answers import CachedAnswers
from proxy.ledger.cached_claims import CachedClaims
from proxy.ledger.ledger_reports import ledger_problems
from proxy.ledger.ledger_schema import bring_to_newest
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.published_releases import PublishedReleases
from proxy.ledger.text_cipher import TextCipher
from proxy.planner.facts import PlanningContext
from proxy.policy.policy_model import Reuse
from proxy.reuse.derivable import source_from
from proxy.turns.threads import Turn
from tests.asked_by import run_of
from tests.databases.ledger_database import SOURCE, make_ledger, set_limits
from tests.ledger_key import LEDGER_CIPHER
from tests.ledger_of_before import make_as_of_10
from tests.pipeline_world import CATALOG, POLICIES, walk
from tests.servers_fixture import Servers

_MARK, _SHOWN = "Zqmark_", '{"v": 1, "rows": [["published text"]]}'
_HOLDER = "00000000-0000-0000-0000-000000000000"
_CHARGE = "SELECT receipt FROM ledger.charge_at(%s, 'alice', 1, 0, 1, 0, '[]', 'f', 'p', now())"
_CACHED = """\
INSERT INTO ledger.cached (source, slot, digest, question, terms, about, made, epsilon, delta, receipt,
                           started, holder, lease_until, relation)
VALUES (%s, now(), decode(%s, 'hex'), %s, %s, decode(%s, 'hex'), %s::jsonb, 1, 0, %s, now(), %s, now(), %s)
RETURNING id"""
_PUBLISHED = """\
INSERT INTO ledger.published (source, name, version, due, epsilon, delta, receipt, policy_digest, holder,
                              lease_until, released_at, constants, shown, failure)
VALUES (%s, 'one', 'v', %s::timestamptz, 1, 0, %s, 'p', %s, now(), now(), %s, %s, %s) RETURNING id"""
_BLOCK = "INSERT INTO ledger.published_block VALUES (%s, 1, %s, %s, %s)"


@pytest.fixture
def older(pair: Servers) -> Iterator[str]:
    """A ledger of version 10 with a cached answer, a release and one that is no table."""
    with psycopg.connect(pair.ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE ledger_of_10")
        dsn = make_conninfo(pair.ledger_dsn, dbname="ledger_of_10")
        try:
            make_ledger(dsn)
            set_limits(dsn, own="9", total="9")
            make_as_of_10(dsn)
            _fill(dsn)
            yield dsn
        finally:
            server.execute("DROP DATABASE ledger_of_10 WITH (FORCE)")


def _fill(dsn: str) -> None:
    made = json.dumps({"keys": [f"{_MARK}made"], "releases": []})
    texts = (f"{_MARK}question", f"{_MARK}terms")
    with psycopg.connect(dsn, autocommit=True) as connection:

        def one(statement: str, *given: object) -> Any:
            row = connection.execute(statement.encode(), given).fetchone()
            assert row is not None
            return row[0]

        receipt = one(_CHARGE, SOURCE)
        relation = f"{_MARK}relation"
        cached = one(
            _CACHED,
            *(SOURCE, "ab" * 32, *texts, "cd" * 32, made, receipt, _HOLDER, relation),
        )
        connection.execute("INSERT INTO ledger.seen VALUES (%s, 'number 1', now())", (cached,))
        for day, shown, failure in ((1, _SHOWN, None), (2, None, f"invalid input: {_MARK}failure")):
            constants = json.dumps([f"{_MARK}constant"])
            release = one(
                _PUBLISHED,
                *(SOURCE, f"2026-11-0{day}", one(_CHARGE, SOURCE), _HOLDER, constants),
                *(shown, failure),
            )
            connection.execute(_BLOCK, (release, *texts, f"{_MARK}r"))


def _files(dsn: str) -> bytes:
    """All that stands in the files of the database."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        row = connection.execute(
            "SELECT string_agg(pg_read_binary_file(f.folder || '/' || n.name), '') FROM"
            " (SELECT 'base/' || oid AS folder FROM pg_database WHERE datname = current_database()) f"
            " CROSS JOIN LATERAL pg_ls_dir(f.folder) n(name)"
        ).fetchone()
    assert row is not None
    return bytes(row[0])


def test_clear_texts_of_an_older_ledger_are_gone(older: str) -> None:
    assert _files(older).count(_MARK.encode()) >= 8, "what is looked for was there"
    assert bring_to_newest(older) >= 12
    assert _MARK.encode() not in _files(older)
    assert ledger_problems(older) == ()
    with psycopg.connect(older) as connection:
        row = connection.execute(
            "SELECT (SELECT count(*) FROM ledger.cached), (SELECT count(*) FROM ledger.seen),"
            " (SELECT count(*) FROM ledger.published), (SELECT count(*) FROM ledger.receipt)"
        ).fetchone()
        assert row == (0, 0, 2, 3), "what was charged stays"
        (release,) = connection.execute(
            "SELECT id FROM ledger.published WHERE shown IS NOT NULL"
        ).fetchone() or (0,)

    async def stored() -> tuple[str | None, int]:
        tables = LedgerTables(older, SOURCE, LEDGER_CIPHER)
        await tables.open()
        try:
            found = await PublishedReleases(tables).stored(release)
        finally:
            await tables.close()
        assert found is not None
        return found.table, len(found.blocks)

    assert asyncio.run(stored()) == (_SHOWN, 0), "what is published is shown still"


def test_what_is_sent_tells_nothing_without_the_key(ledger_dsn: str) -> None:
    """Digests that anybody can compute of a guess, the names of keys among them, do not reach the ledger."""
    set_limits(ledger_dsn, own="9", total="9")
    pipeline = walk("SELECT b, count(*) FROM people WHERE t = 'a name' GROUP BY b")
    assert pipeline is not None
    known = PlanningContext(POLICIES["world"], CATALOG, {})

    async def claim() -> CachedQuestion:
        parts = await CachedAnswers(cast(Any, None), known).parts(pipeline.checked, Turn("alice"))
        tables = LedgerTables(ledger_dsn, SOURCE, LEDGER_CIPHER)
        await tables.open()
        try:
            claims = CachedClaims(tables, Reuse(86400, 0))
            claimed = await claims.claim(run_of("alice"), parts, "f", "p", may_draw=True)
            assert claimed is not None and claimed.cached[0] is not None
            await claims.store(run_of("alice"), claimed.cached[0], "a relation")
            derivable = parts[0].derivable
            assert derivable is not None
            (source,) = await claims.paid_about("alice", [derivable.about])
            assert source_from(source.made) == derivable.source and source.about == derivable.about
        finally:
            await tables.close()
        return parts[0]

    part = asyncio.run(claim())
    assert part.derivable is not None and part.digest is not None
    with psycopg.connect(ledger_dsn) as connection:
        (row,) = connection.execute(
            "SELECT digest, about, made, relation FROM ledger.cached"
        ).fetchall()
    kept = b"".join(one.encode() if isinstance(one, str) else bytes(one) for one in row)
    names = [key.name for key in part.derivable.source.keys]
    names += [release.name for release in part.derivable.source.releases]
    for plain in (part.digest, part.derivable.about, *map(str.encode, names), b"a relation"):
        assert len(plain) > 8 and plain not in kept
    assert row[:2] == tuple(map(LEDGER_CIPHER.keyed, (part.digest, part.derivable.about)))


def test_digests_are_of_the_newest_key_and_seals_of_any() -> None:
    old, new = bytes(32), bytes([1]) * 32
    before, after = TextCipher([old]), TextCipher([old, new])
    assert before.keyed(b"a question") == TextCipher([old]).keyed(b"a question")
    assert len({cipher.keyed(b"a question") for cipher in (before, after)}) == 2
    assert before.naming_key != after.naming_key != after.keyed(b"")
    sealed = before.sealed("a text", ("what", "1"))
    assert after.opened(sealed, ("what", "1")) == "a text"
    assert before.opened(after.sealed("a text", ("what", "1")), ("what", "1")) is None
    for other in ("a text", sealed[:-1], "sealed ", "sealed !", ""):
        assert after.opened(other, ("what", "1")) is None
    assert sealed != before.sealed("a text", ("what", "1")), "each has a nonce of its own"
