"""What the ledger keeps of questions, and what migration 0012 makes of those in clear text."""

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
from proxy.ledger import ledger_migrations
from proxy.ledger.cached_claims import CachedClaims
from proxy.ledger.ledger_check import ledger_problems
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.published_releases import PublishedReleases
from proxy.ledger.text_cipher import TextCipher
from proxy.planner.facts import PlanningContext
from proxy.policy.policy_model import Reuse
from proxy.reuse.derivable import source_from
from tests.databases.ledger_database import SOURCE, make_ledger, set_limits
from tests.ledger_key import LEDGER_CIPHER
from tests.pipeline_world import CATALOG, POLICIES, walk
from tests.servers_fixture import Servers

_MARK, _SHOWN = "Zqmark_", '{"v": 1, "rows": [["published text"]]}'
_PART = {
    "digest": "ab" * 32,
    "question": f"In state {_MARK}question",
    "terms": f"{_MARK}terms",
    "epsilon": "1",
    "delta": "0",
    "events": [],
    "tables": [],
    "about": "cd" * 32,
    "made": {"keys": [f"{_MARK}made"], "releases": []},
}
_HOLDER = "00000000-0000-0000-0000-000000000000"
_CLAIM = "SELECT cached FROM ledger.claim(%s, 'alice', %s::jsonb, %s, true, 60, 86400, 0, 1000000000, 'f', 'p')"
_PUBLISH = """\
SELECT published FROM ledger.publish_at(
    %s, 'one', 'v', 1, 0, '[]', %s, 60, 86400, 0, true, 'p', transaction_timestamp())"""
_STORE = "SELECT ledger.store_published_at(%s, %s, %s, %s, %s::jsonb, transaction_timestamp())"


@pytest.fixture
def older(pair: Servers, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A ledger of version 11 with a cached answer, a release and one that is no table."""
    scripts = ledger_migrations._scripts()
    with psycopg.connect(pair.ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE ledger_of_11")
        dsn = make_conninfo(pair.ledger_dsn, dbname="ledger_of_11")
        try:
            with monkeypatch.context() as patched:
                before = {number: text for number, text in scripts.items() if number <= 11}
                patched.setattr(ledger_migrations, "_scripts", lambda: before)
                make_ledger(dsn)
            set_limits(dsn, own="9", total="9")
            _fill(dsn)
            yield dsn
        finally:
            server.execute("DROP DATABASE ledger_of_11 WITH (FORCE)")


def _fill(dsn: str) -> None:
    block = {"question": f"{_MARK}q", "terms": f"{_MARK}t", "relation": f"{_MARK}r"}
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(_CLAIM, (SOURCE, json.dumps([_PART]), _HOLDER)).fetchone()
        assert row is not None
        connection.execute("SELECT ledger.store(%s, %s)", (row[0][0], f"{_MARK}relation"))
        for shown, failure in ((_SHOWN, None), (None, f"invalid input: {_MARK}failure")):
            row = connection.execute(_PUBLISH, (SOURCE, _HOLDER)).fetchone()
            assert row is not None
            constants = json.dumps([f"{_MARK}constant"])
            given = (row[0], constants, shown, failure, json.dumps([block]))
            connection.execute(_STORE, given)


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
    assert ledger_migrations.migrate(older) >= 12
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
        parts = await CachedAnswers(cast(Any, None), known).parts(pipeline.checked)
        tables = LedgerTables(ledger_dsn, SOURCE, LEDGER_CIPHER)
        await tables.open()
        try:
            claims = CachedClaims(tables, Reuse(86400, 0))
            claimed = await claims.claim("alice", parts, "f", "p", may_draw=True)
            assert claimed is not None and claimed.cached[0] is not None
            await claims.store(claimed.cached[0], "a relation")
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
