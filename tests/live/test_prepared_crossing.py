"""PREPARE, EXECUTE and DEALLOCATE of SQL share one name space with Parse, Bind, Describe and Close.

Each exchange is held against the same one with PostgreSQL: kinds of frames, names and types of columns,
SQLSTATEs and tags. Numbers are noisy, so that rows are counted, and values compared roughly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from proxy.base.limits import LOOKED_AT_BYTES
from proxy.pgwire import frames as f
from proxy.pgwire.query_messages import CACHED_STATEMENTS, NAME_BYTES
from tests.live_proxy import LiveProxy
from tests.raw_client import Frame, RawClient

_COUNT = "SELECT count(*) FROM shop.orders WHERE total > $1"
_TEXT = "SELECT status, count(*) AS n FROM shop.orders WHERE status = $1 GROUP BY 1"
_LIST = "SELECT count(*) FROM shop.orders WHERE status = ANY($1) AND created_at >= $2 AND id > $3"
_PUBLIC = "SELECT count(*) FROM shop.products WHERE price > $1"
_ROWS = "SELECT id FROM shop.orders WHERE total > $1"


def _q(text: str) -> bytes:
    return f.query(text.encode())


def _p(name: str, text: str, *oids: int) -> bytes:
    return f.parse(name.encode(), text.encode(), oids)


def _run(name: str, *values: str | None, formats: Sequence[int] = ()) -> bytes:
    given = tuple(None if value is None else value.encode() for value in values)
    bound = f.bind(b"", name.encode(), given, formats)
    return bound + f.describe_portal(b"") + f.execute(b"")


def _d(name: str) -> bytes:
    return f.describe_statement(name.encode())


def _c(name: str) -> bytes:
    return f.close_statement(name.encode())


def _one_more(name: str) -> bytes:
    """A Bind with a value for the noisy relation, too, of which no client knows; then as it should be."""
    return _run(name, "10", "[]") + _S + _run(name, "10") + _S


def _as_text(query: str, types: str, name: str = "q") -> bytes:
    return _q(f"PREPARE {name} ({types}) AS {query}")


_S = f.SYNC
_EXCHANGES: dict[str, bytes] = {
    # EXECUTE of what Parse has named
    "execute-count": _p("q", _COUNT) + _S + _q("EXECUTE q (10)") + _q("EXECUTE q (10 + 5.5)"),
    "execute-text": _p("q", _TEXT) + _S + _q("EXECUTE q ('paid')") + _q("EXECUTE q (NULL)"),
    "execute-list": _p("q", _LIST) + _S + _q("EXECUTE q (ARRAY['paid'], '2020-01-01', 7)"),
    "execute-typed": _p("q", _LIST, 0, 1114, 20) + _S + _q("EXECUTE q ('{paid}', '2020-01-01', 7)"),
    "execute-public": _p("q", _PUBLIC) + _S + _q("EXECUTE q (10)"),
    "execute-quoted": _p("Q x", _COUNT) + _S + _q('EXECUTE "Q x" (10)') + _q("EXECUTE q (10)"),
    "execute-few": _p("q", _COUNT) + _S + _q("EXECUTE q"),
    "execute-many": _p("q", _COUNT) + _S + _q("EXECUTE q (1, '{}')") + _q("SELECT 1"),
    "execute-wrong": _p("q", _COUNT) + _S + _q("EXECUTE q ('x')"),
    "execute-parsed": _p("q", _COUNT) + _S + _p("e", "EXECUTE q (10)") + _run("e") + _S,
    "execute-in-block": _q("BEGIN") + _p("q", _COUNT) + _S + _q("EXECUTE q (10); COMMIT"),
    "execute-in-string": _p("q", _COUNT) + _S + _q("SELECT 1; EXECUTE q (10); SELECT 2"),
    "execute-after-bind": _p("q", _COUNT) + _run("q", "10") + _S + _q("EXECUTE q (10)"),
    "execute-unknown": _q("EXECUTE q (10)"),
    "execute-closed": _p("q", _COUNT) + _S + _c("q") + _S + _q("EXECUTE q (10)"),
    # Bind of what PREPARE has named
    "bind-count": _as_text(_COUNT, "numeric") + _run("q", "10") + _S + _run("q", "20") + _S,
    "bind-untyped": _q(f"PREPARE q AS {_COUNT}") + _d("q") + _run("q", "10") + _S,
    "bind-text": _as_text(_TEXT, "text") + _d("q") + _S + _run("q", "paid") + _run("q", None) + _S,
    "bind-list": _q(f"PREPARE q AS {_LIST}") + _run("q", "{paid}", "2020-01-01", "7") + _S,
    "bind-public": _as_text(_PUBLIC, "numeric") + _d("q") + _run("q", "10") + _S,
    "bind-quoted": _as_text(_COUNT, "numeric", '"Q x"') + _run("Q x", "10") + _S,
    "bind-few": _as_text(_COUNT, "numeric") + _run("q") + _S,
    "bind-many": _as_text(_COUNT, "numeric") + _run("q", "1", "{}") + _S,
    "bind-wrong": _as_text(_COUNT, "numeric") + _run("q", "x") + _S + _run("q", "1") + _S,
    "bind-parsed-prepare": _p("", f"PREPARE q AS {_COUNT}") + _run("") + _S + _run("q", "1") + _S,
    "bind-in-block": _q("BEGIN") + _as_text(_COUNT, "numeric") + _run("q", "1") + _S + _q("END"),
    "bind-in-string": _q(f"SELECT 1; PREPARE q AS {_COUNT}; SELECT 2") + _run("q", "1") + _S,
    "bind-and-execute": _as_text(_COUNT, "numeric") + _run("q", "1") + _S + _q("EXECUTE q (1)"),
    "bind-insert": _q("CREATE TEMP TABLE kept (n bigint)")
    + _as_text(f"INSERT INTO kept {_COUNT}", "numeric")
    + _run("q", "1")
    + _S
    + _q("SELECT count(*) FROM kept"),
    "bind-unknown": _run("q", "1") + _S + _d("q") + _S,
    # DEALLOCATE of what Parse has named, and Close of what PREPARE has named
    "deallocate": _p("q", _COUNT) + _S + _q("DEALLOCATE q") + _run("q", "1") + _S + _d("q") + _S,
    "deallocate-twice": _p("q", _COUNT) + _S + _q("DEALLOCATE q") + _q("DEALLOCATE q"),
    "deallocate-prepare": _p("q", _COUNT) + _S + _q("DEALLOCATE PREPARE q") + _q("EXECUTE q (1)"),
    "deallocate-parsed": _p("q", _COUNT) + _p("", "DEALLOCATE q") + _run("") + _run("q", "1") + _S,
    "deallocate-in-string": _p("q", _COUNT)
    + _S
    + _q("SELECT 1; DEALLOCATE q")
    + _run("q", "1")
    + _S,
    "deallocate-failed": _p("q", _COUNT)
    + _S
    + _q("BEGIN")
    + _q("SELECT 1 / 0")
    + _q("DEALLOCATE q")
    + _q("ROLLBACK")
    + _run("q", "1")
    + _S,
    "deallocate-all": _p("q", _COUNT) + _S + _q("DEALLOCATE ALL") + _run("q", "1") + _S,
    "discard-all": _as_text(_COUNT, "numeric") + _q("DISCARD ALL") + _run("q", "1") + _S,
    "close": _as_text(_COUNT, "numeric") + _c("q") + _S + _q("EXECUTE q (1)") + _run("q", "1") + _S,
    # One name, taken again by the other side
    "parse-over-prepare": _as_text(_COUNT, "numeric") + _p("q", _TEXT) + _S + _run("q", "1") + _S,
    "prepare-over-parse": _p("q", _COUNT) + _S + _as_text(_TEXT, "text") + _run("q", "1") + _S,
    "prepare-again": _p("q", _COUNT)
    + _S
    + _q("DEALLOCATE q")
    + _as_text(_TEXT, "text")
    + _d("q")
    + _run("q", "paid")
    + _S
    + _q("EXECUTE q ('paid')"),
    "prepare-again-in-string": _p("q", _COUNT)
    + _S
    + _q(f"DEALLOCATE q; PREPARE q AS {_TEXT}")
    + _d("q")
    + _S
    + _run("q", "paid")
    + _S,
    "parse-again": _as_text(_TEXT, "text")
    + _q("DEALLOCATE q")
    + _p("q", _COUNT)
    + _d("q")
    + _run("q", "1")
    + _S
    + _q("EXECUTE q (1)"),
    "public-for-protected": _p("q", _COUNT)
    + _S
    + _q("DEALLOCATE q")
    + _as_text(_PUBLIC, "numeric")
    + _d("q")
    + _run("q", "1")
    + _S,
    "protected-for-public": _p("q", _PUBLIC)
    + _S
    + _q(f"DEALLOCATE q; PREPARE q AS {_COUNT}")
    + _run("q", "1")
    + _S,
    # What the server discards, does not read or does not do has changed nothing
    **{
        f"discarded-{of}": _p("q", _COUNT)
        + _p("", _COUNT)
        + _S
        + _p("bad", "SELEKT")
        + sent
        + _S
        + _one_more("q")
        + _one_more("")
        for of, sent in {
            "query": _q("SELECT 1"),
            "protected-query": _q("SELECT count(*) FROM shop.orders"),
            "long-query": _q("SELECT 1 --" + "x" * LOOKED_AT_BYTES),
            "run-query": _q("SELECT '" + "-" * 500_000 + "'::shop.orders"),
            "string": _q("SELECT 1; DEALLOCATE q; SELECT count(*) FROM shop.orders"),
            "deallocate": _q("DEALLOCATE q"),
            "close": _c("q") + _c(""),
            "parse": _p("", "SELECT $1::numeric, $2::jsonb"),
            "parse-of-ours": _p("", _TEXT),
            "parse-of-execute": _p("", "EXECUTE q (10)"),
        }.items()
    },
    "unread-query": _p("", _COUNT) + _S + f.frame(b"Q", b"SELECT 1") + _one_more(""),
    "query-with-more": _p("", _COUNT) + _S + f.frame(b"Q", b"SELECT 1\0x\0") + _one_more(""),
    "query-of-no-text": _p("", _COUNT) + _S + f.query(b"SELECT '\xff'") + _one_more(""),
    "failed-query": _p("", _COUNT) + _S + _q("SELEKT") + _one_more(""),
    "failed-string": _p("", _COUNT) + _S + _q("SELECT 1; SELECT 1 / 0") + _one_more(""),
    "parse-of-a-taken-name": _p("q", _COUNT)
    + _S
    + _p("q", "SELECT $1::numeric, $2::jsonb")
    + _S
    + _one_more("q"),
    "unread-parse": _p("", _COUNT) + _S + f.frame(b"P", b"\0SELECT 1\0") + _S + _one_more(""),
    # What leaves the unnamed statement
    **{
        f"{text.lower().replace(' ', '-')}-parsed": _p("", _COUNT)
        + _S
        + _p("d", text)
        + _run("d")
        + _S
        + _one_more("")
        for text in ("DISCARD ALL", "DEALLOCATE ALL", "DEALLOCATE PREPARE ALL")
    },
    # What is shown of them
    "shown": _p("a", _COUNT)
    + _p("b", _LIST, 0, 1114)
    + _p("c", _PUBLIC)
    + _p("d", "SELECT 'ä*/' AS x, count(*) FROM shop.orders -- end")
    + _S
    + _as_text(_TEXT, "text", "e")
    + _q("EXECUTE a (1)")
    + _q(
        "SELECT name, statement, parameter_types, from_sql FROM pg_prepared_statements ORDER BY name"
    ),
    "shown-in-string": _p("a", _COUNT)
    + _S
    + _q("EXECUTE a (1); SELECT name, statement, parameter_types FROM pg_prepared_statements"),
}


@dataclass(frozen=True, slots=True)
class _Talk:
    """What a client depends on."""

    frames: list[object]


def _heard(replies: list[Frame]) -> _Talk:
    heard: list[object] = []
    for tag, payload in replies:
        match tag:
            case b"N" | b"S":
                continue
            case b"E":
                report = dict(f.decode_report(payload))
                message = report[b"M"].replace(b'"_dpproxy"', b'"INNER"')
                heard.append((tag, report[b"C"], message))
            case b"T":
                fields = f.decode_row_description(payload)
                heard.append((tag, [(one.name, one.type_oid) for one in fields]))
            case b"D":
                row = f.decode_data_row(payload)
                heard.append((tag, tuple("n" if _is_number(value) else value for value in row)))
            case _:
                heard.append((tag, payload))
    return _Talk(heard)


def _is_number(value: bytes | None) -> bool:
    return value is not None and value.lstrip(b"-").isdigit()


def _talk(conninfo: str, sent: bytes) -> _Talk:
    with RawClient(conninfo) as client:
        client.send(_q("SET dp.epsilon = 20"))
        client.until_ready()
        client.send(sent, _q(""))
        return _heard([*client.until(b"I"), *client.until_ready()])


@pytest.mark.every(4)
@pytest.mark.parametrize("name", _EXCHANGES)
def test_an_exchange_is_that_of_postgresql(name: str, live: LiveProxy, analyst: str) -> None:
    sent = _EXCHANGES[name]
    plain = _talk(live.servers.protected.dsn("shop"), sent)
    ours = _talk(live.dsn("shop", analyst), sent)
    assert ours == plain


def test_rows_stay_refused_by_either_way(live: LiveProxy, analyst: str) -> None:
    parsed = _p("q", _ROWS) + _S + _q("EXECUTE q (1)")
    prepared = _q(f"PREPARE q AS {_ROWS}") + _run("q", "1") + _S
    for sent in (parsed, prepared):
        heard = _talk(live.dsn("shop", analyst), sent).frames
        errors = [one for one in heard if isinstance(one, tuple) and one[0] == b"E"]
        assert [one[1] for one in errors] == [b"42501"]
        assert not any(isinstance(one, tuple) and one[0] == b"D" for one in heard)
    assert live.spent(analyst)[0] == 0


def test_names_that_sql_deallocates_make_room(live: LiveProxy, analyst: str) -> None:
    """psycopg and others deallocate what they have prepared by SQL: more than a session keeps at once."""
    with RawClient(live.dsn("shop", analyst)) as client:
        for number in range(CACHED_STATEMENTS + 5):
            client.send(
                _p(f"q{number}", "SELECT id FROM shop.orders") + _S + _q(f"DEALLOCATE q{number}")
            )
            errors = [payload for tag, payload in client.until_ready(2) if tag == b"E"]
            assert errors == []


def test_an_execute_that_is_parsed_behind_deallocate_all(live: LiveProxy, analyst: str) -> None:
    """It is not forgotten with what DEALLOCATE ALL has dropped: it would run as it is written."""
    with RawClient(live.dsn("shop", analyst)) as client:
        client.send(_p("d", "DEALLOCATE ALL") + _S)
        client.until_ready()
        client.send(_run("d") + _p("e", "EXECUTE q (1, '[]')") + f.FLUSH)
        client.until(b"1")
        client.send(_S + _p("q", _COUNT) + _S + _run("e") + _S)
        errors = [one for one in _heard(client.until_ready(3)).frames if one[0] == b"E"]  # type: ignore[index]
    message = b'wrong number of parameters for prepared statement "q"'
    assert errors == [(b"E", b"42601", message)]
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize("text", ["DISCARD ALL", "DEALLOCATE ALL"])
def test_the_unnamed_statement_outlives_it(live: LiveProxy, analyst: str, text: str) -> None:
    with RawClient(live.dsn("shop", analyst)) as client:
        client.send(_p("", _COUNT) + _p("d", text) + _S)
        client.until_ready()
        client.send(_run("d") + _S)
        client.until_ready()
        client.send(_run("", "10", "[]") + _S)
        (error,) = _heard(client.until_ready()).frames[:1]
        assert error[:2] == (b"E", b"08P01")  # type: ignore[index]
        assert live.spent(analyst)[0] == 0
        client.send(_run("", "10") + _S)
        assert [tag for tag, _ in client.until_ready()] == [b"2", b"T", b"D", b"C", b"Z"]


def test_a_copy_that_fails_before_it_reads(live: LiveProxy, analyst: str) -> None:
    """The server reads the Sync behind it then, so that it discards nothing more."""
    with RawClient(live.dsn("shop", analyst)) as client:
        client.send(_q("CREATE TEMP TABLE cold (n int)") + _p("q", _COUNT) + _S)
        client.until_ready(2)
        client.send(_p("c", "COPY cold FROM STDIN (FREEZE)") + _run("c") + _S)
        assert [tag for tag, _ in client.until_ready()][-3:] == [b"G", b"E", b"Z"]
        client.send(_run("q", "10", "[]") + _S)
        (error,) = _heard(client.until_ready()).frames[:1]
        assert error[:2] == (b"E", b"08P01")  # type: ignore[index]
        assert live.spent(analyst)[0] == 0
        client.send(_run("q", "10") + _S)
        assert [tag for tag, _ in client.until_ready()] == [b"2", b"T", b"D", b"C", b"Z"]


@pytest.mark.parametrize("name", ["n" * NAME_BYTES, "n" * (NAME_BYTES + 1), "n" * 100, "\xe9"])
def test_a_name_that_may_be_read_as_another(live: LiveProxy, analyst: str, name: str) -> None:
    """PostgreSQL cuts names after 63 bytes, and reads them in the client_encoding of the moment."""
    others = [name[:63], name + "x"]
    with RawClient(live.dsn("shop", analyst)) as client:
        client.send(_q("SET client_encoding = LATIN1"))
        client.until_ready()
        client.send(f.parse(name.encode("latin-1"), _COUNT.encode()) + _S)
        refused = [payload for tag, payload in client.until_ready() if tag == b"E"]
        assert bool(refused) == (len(name) != NAME_BYTES)
        client.send(_q("SET client_encoding = UTF8"))
        client.until_ready()
        for other in others[len(name) <= NAME_BYTES :]:
            client.send(_run(other, "10", "[]") + _S)
            (error,) = _heard(client.until_ready()).frames[:1]
            assert error[:2] == (b"E", b"26000")  # type: ignore[index]
    assert live.spent(analyst)[0] == 0
