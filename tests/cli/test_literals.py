"""No literal of a statement stands readable in what dpproxy writes, whatever `statements` says.

Literals of every form are marked, asked through `dpproxy serve`, and looked for in the ledger's backup, in all
files of both embedded servers (tables, indexes, write-ahead log, server logs), in the proxy's log, in the log
of the protected server and in reports of the ledger.

Not looked for, because they must be readable: tables that a policy publishes stand on the shadow, where
analysts read them, and so does what an analyst writes to a temporary table. Both go with the next start of
the shadow.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest

from proxy.engine.cached_answers import fingerprint
from proxy.ledger.text_keys import reading_cipher
from tests.cli.operator_at_work import Listening, Operator
from tests.servers_fixture import servers
from tests.waiting import until

_TABLES = """\
  shop.customers:
    unit: {customer: id}
    max_rows_per_unit: 1
    columns:
      state: {values: [CA, TX]}
      birth_date: {bounds: [1920-01-01, 2015-12-31]}
  shop.orders:
    unit: {customer: customer_id}
    max_rows_per_unit: 5
    columns:
      total: {bounds: [0, 500], grid: 0.01}
      quantity: {bounds: [1, 20]}
      status: {}
"""
# In a condition, and as a label, which stands in the published table itself.
_PUBLISHED = """\
publish:
  - name: marked
    sql: >
      SELECT CASE WHEN state = 'Zqmark_PubCondition' THEN 'Zqmark_PubLabel' ELSE 'other' END AS kind,
             count(*) AS n
      FROM shop.customers WHERE state <> 'Zqmark_PubWhere' GROUP BY 1
    every: 24h
    epsilon: 1
"""
_HASHED, _ENCRYPTED = "statements: hashed\n", "statements: encrypted\n"
_PUBLIC_LABEL = "Zqmark_PubLabel"
_ANSWERED = (
    "SELECT count(*) FROM shop.customers WHERE state = 'Zqmark_Text'",
    "SELECT count(*) FROM shop.customers WHERE state IN ('Zqmark_ListOne', 'Zqmark_ListTwo')",
    "SELECT count(*) FROM shop.orders WHERE total > 123.4567",
    "SELECT sum(total) FROM shop.orders WHERE quantity * 1.2345678 < 9.8765432",
    "SELECT count(*) FROM shop.orders WHERE status LIKE 'Zqmark_Like%'",
    "SELECT count(*) FROM shop.orders WHERE status ~ 'Zqmark_Pattern'",
    "SELECT count(*) FROM shop.customers WHERE birth_date > '1987-06-21'",
    "SELECT CASE WHEN state = 'CA' THEN 'Zqmark_Label' ELSE 'Zqmark_Other' END AS k, count(*)"
    " FROM shop.customers GROUP BY 1",
    "SELECT 'Zqmark_Output', count(*) FILTER (WHERE status = 'Zqmark_Filter') FROM shop.orders",
    'SELECT count(*) AS "Zqmark_Alias" FROM shop.orders',
    "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY total) FROM shop.orders"
    " WHERE status <> 'Zqmark_Median'",
    "EXPLAIN SELECT count(*) FROM shop.customers WHERE state = 'Zqmark_Explained'",
    "COPY (SELECT count(*) FROM shop.customers WHERE state = 'Zqmark_Copied') TO STDOUT",
    "SELECT 'Zqmark_NoTable', upper('Zqmark_Upper'), date '1986-05-24'",
)
_REFUSED = (
    "SELECT state FROM shop.customers WHERE state = 'Zqmark_Rows'",
    "SELECT count(*) FROM shop.customers WHERE state = 'Zqmark_Syntax' GROUP BY",
    "SELECT count(*) FROM shop.customers WHERE birth_date > 'Zqmark_NoDate'",
    "SELECT 'Zqmark_NoNumber'::integer",
    "SELECT count(*) FROM shop.\"Zqmark_NoTable2\" WHERE x = 'Zqmark_Missing'",
    "SET dp.epsilon = 'Zqmark_Setting'",
)
_PARAMETERS = {"Zqmark_Parameter": "state = %s", "Zqmark_LikeParameter%": "state LIKE %s"}
_OVER_HTTP = (
    "SELECT count(*) FROM shop.customers WHERE state = 'Zqmark_Http'",
    "SELECT count(*) FROM shop.customers WHERE stat = 'Zqmark_HttpRefused'",
)
# Numbers and dates, as they were written and as a canonical form could have them.
_OTHER_MARKS = (
    *("123.4567", "1234567/10000", "1.2345678", "12345678/10000000", "6172839/5000000"),
    *("9.8765432", "1234567900/125000000", "12345679/1250000", "1987-06-21", "1986-05-24"),
)
_MARKS = ("Zqmark_", *_OTHER_MARKS)


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[tuple[Operator, Listening]]:
    here = Operator(folder, analysts={"ann": 1000}, more=f"{_HASHED}reuse: 24h\n")
    text = here.policy.read_text()
    start, end = text.index("  shop.customers:"), text.index("budgets:")
    here.policy.write_text(text[:start] + _TABLES + text[end:] + _PUBLISHED)
    here.adopt("ann")
    with here.serving() as listening:
        until(lambda: _is_published(listening))
        yield here, listening


def _keep_texts(here: Operator, listening: Listening) -> None:
    """The policy says so from now on."""
    text = here.policy.read_text().replace(_HASHED, _ENCRYPTED)
    _take(here, listening, text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    with listening.connect("ann") as connection:
        standing = "SELECT digest FROM dp.policy"
        until(lambda: connection.execute(standing).fetchone() == (digest,))


def _take(here: Operator, listening: Listening, text: str) -> None:
    """At once, instead of at the next look at the file."""
    here.policy.write_text(text)
    listening.running.process.send_signal(signal.SIGHUP)


def _publish_what_cannot_be(here: Operator, listening: Listening) -> None:
    """Policies that are refused while serving; the log says why."""
    good = here.policy.read_text()
    standing = "SELECT not_taken_since IS NULL FROM dp.policy"
    with listening.connect("ann") as connection:
        for wrong in ("stat = 'Zqmark_NoColumn'", "birth_date > 'Zqmark_NoConstant'"):
            _take(here, listening, good.replace("state <> 'Zqmark_PubWhere'", wrong))
            until(lambda: connection.execute(standing).fetchone() == (False,))
            _take(here, listening, good)
            until(lambda: connection.execute(standing).fetchone() == (True,))


def _is_published(listening: Listening) -> bool:
    with listening.connect("ann") as connection:
        try:
            return connection.execute("SELECT * FROM published.marked").fetchone() is not None
        except psycopg.errors.UndefinedTable:
            return False


def _ask_all(listening: Listening, epsilon: str) -> None:
    with listening.connect("ann") as connection:
        connection.execute(f"SET dp.epsilon = {epsilon}".encode())
        for _ in range(2):  # once more, from what is kept
            for statement in _ANSWERED:
                _ask(connection, statement)
            for value, condition in _PARAMETERS.items():
                counting = f"SELECT count(*) FROM shop.customers WHERE {condition}"
                assert connection.execute(counting.encode(), (value,)).fetchone() is not None
            connection.execute(
                "PREPARE p AS SELECT count(*) FROM shop.customers WHERE state = 'Zqmark_Prepared'"
            )
            assert connection.execute("EXECUTE p").fetchone() is not None
            connection.execute("DEALLOCATE p")
        for statement in _REFUSED:
            with pytest.raises(psycopg.Error):
                connection.execute(statement.encode())
    assert listening.over_http("ann", _OVER_HTTP[0])["rows"]
    with pytest.raises(KeyError):
        listening.over_http("ann", _OVER_HTTP[1])


def _ask(connection: psycopg.Connection, statement: str) -> None:
    if not statement.startswith("COPY"):
        assert connection.execute(statement.encode()).fetchall()
        return
    with connection.cursor().copy(statement.encode()) as rows:
        assert list(rows)


def _readable(files: Mapping[str, bytes]) -> list[str]:
    """Which marks stand in which files, with what is around the first of each."""
    found = []
    for name, content in files.items():
        for mark in _MARKS:
            place = content.find(mark.encode())
            while place >= 0:
                around = content[max(0, place - 40) : place + 40]
                if not (_is_shadow(name) and _PUBLIC_LABEL.encode() in around):
                    found.append(f"{name}: {mark} in {around!r}")
                    break
                place = content.find(mark.encode(), place + 1)
    return found


def _is_shadow(name: str) -> bool:
    return name.startswith("shadow/")


def _files_in(folder: Path, *, without: str) -> dict[str, bytes]:
    found = {}
    for file in folder.rglob("*"):
        with contextlib.suppress(OSError):  # gone meanwhile
            name = str(file.relative_to(folder))
            if file.is_file() and not file.is_symlink() and name != without:
                found[name] = file.read_bytes()
    return found


def test_no_literal_is_readable(tmp_path: Path) -> None:
    with _served(tmp_path / "office") as (here, listening):
        log_before = _protected_log()
        _ask_all(listening, epsilon="1")
        with listening.connect("ann") as connection:
            assert connection.execute("SELECT count(text) FROM dp.history").fetchone() == (0,)
        _publish_what_cannot_be(here, listening)
        _keep_texts(here, listening)
        _ask_all(listening, epsilon="2")  # which no answer at 1 can stand for
        with listening.connect("ann") as connection:
            told = connection.execute(
                "SELECT text FROM dp.history WHERE text IS NOT NULL"
            ).fetchall()
        backup = tmp_path / "backup"
        here.run("ledger", "backup", backup)
        files = {
            "backup": backup.read_bytes(),
            "export": here.run("ledger", "export").out.encode(),
            "show": here.run("ledger", "show").out.encode(),
            "log": here.run("ledger", "log").out.encode(),
            "protected log": _protected_log()[len(log_before) :],
            **_files_in(here.state, without=""),
        }
    stopped = _files_in(here.state, without="")
    logs = {name: (here.folder / name).read_bytes() for name in ("err.txt", "out.txt")}
    assert logs["err.txt"].count(b"policy_not_taken") == 2
    assert _readable(files) + _readable(stopped) + _readable(logs) == []
    # What was looked for has been there to be found.
    kept = dict(_rows_of_tables(backup))
    asked = len(_ANSWERED) + len(_PARAMETERS)
    assert kept["cached"] > asked and kept["receipt"] > asked and kept["published"] == 1
    _check_fingerprints(here, files["backup"])
    assert any("pg_wal" in name for name in stopped) and b"ann" in files["backup"]
    assert any(_is_shadow(name) and _PUBLIC_LABEL.encode() in files[name] for name in files)
    texts = " ".join(text for (text,) in told)
    assert "Zqmark_Text" in texts and "Zqmark_Label" in texts


def _check_fingerprints(here: Operator, backup: bytes) -> None:
    """A receipt names its statement by a digest that takes the key."""
    key = reading_cipher(here.state).naming_key
    assert fingerprint(_ANSWERED[0], key).encode() in backup
    plain = hashlib.sha256(_ANSWERED[0].encode()).hexdigest()
    assert plain[:32].encode() not in backup


def _rows_of_tables(backup: Path) -> Iterator[tuple[str, int]]:
    for line in backup.read_bytes().splitlines():
        if line.startswith(b'{"table"'):
            head = json.loads(line)
            yield head["table"], head["rows"]


def _protected_log() -> bytes:
    log = servers().protected.log
    return log.read_bytes() if log.exists() else b""
