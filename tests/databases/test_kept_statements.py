"""What receipts keep of statements: encrypted, for who ran them, under a key that is not in the ledger."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

from proxy.accounting.statement_record import StatementRecord
from proxy.ledger import ledger_tables
from proxy.ledger.ledger_backup import backup
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.text_cipher import TEXT_CHARACTERS, TextCipher, key_name
from proxy.ledger.text_keys import KeyFile, TextKeyMissing, known_keys, new_key, opened_cipher
from proxy.ledger.users import add_analyst, remove_analyst
from proxy.turns.threads import Turn
from tests.databases.ledger_database import SOURCE, loss, rows, set_limits

_KEY = bytes(range(32))
_SECRET = "SELECT count(*) FROM t WHERE name = 'Mary Poppins'"


def _asked(
    dsn: str, texts: TextCipher, *asked: tuple[str, str], show: Sequence[str] = ("alice",)
) -> list[Any]:
    """Charges each; gives what dp.history holds of each who is to be shown, the newest first."""

    async def run() -> list[Any]:
        tables = LedgerTables(dsn, SOURCE, texts)
        await tables.open()
        try:
            for who, text in asked:
                record = StatementRecord(text=text)
                await tables.reserve(who, loss("0.1", "0"), "f", "p", (), record)
            return [json.loads(await tables.history(Turn(who), newest_first=True)) for who in show]
        finally:
            await tables.close()

    return asyncio.run(run())


def test_each_sees_what_they_ran(ledger_dsn: str, tmp_path: Path) -> None:
    set_limits(ledger_dsn, own="9", total="9")
    cipher = opened_cipher(ledger_dsn, tmp_path)
    mine, theirs = _asked(
        ledger_dsn, cipher, ("alice", _SECRET), ("bob", "SELECT 2"), show=("alice", "bob")
    )
    assert [(one["receipt"], one["text"]) for one in mine] == [(1, _SECRET)]
    assert [(one["receipt"], one["text"]) for one in theirs] == [(2, "SELECT 2")]
    assert mine[0]["epsilon"] == 0.1 and mine[0]["outcome"] == "reserved"
    (kept,) = rows(ledger_dsn, "SELECT statement FROM ledger.receipt WHERE id = 1")
    assert b"Poppins" not in kept[0] and len(kept[0]) < len(_SECRET) + 40
    backup(ledger_dsn, tmp_path / "copy")
    copied = (tmp_path / "copy").read_bytes()
    assert b"Poppins" not in copied
    (key,) = KeyFile(tmp_path).read()
    assert key.hex().encode() not in copied and key_name(key).encode() in copied


def test_who_is_given_a_name_again_is_not_told_what_was_asked_under_it(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="9", total="9")
    cipher = TextCipher([_KEY])
    add_analyst(ledger_dsn, "alice", "x")
    (first,) = _asked(ledger_dsn, cipher, ("alice", _SECRET))
    remove_analyst(ledger_dsn, "alice")
    add_analyst(ledger_dsn, "alice", "y")
    (second,) = _asked(ledger_dsn, cipher, ("alice", "SELECT 2"))
    assert [one["text"] for one in first] == [_SECRET]
    assert [one["text"] for one in second] == ["SELECT 2", None]
    assert [one["epsilon"] for one in second] == [0.1, 0.1], "what it cost stays theirs"


def test_without_its_key_a_text_is_not_shown(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="9", total="9")
    _asked(ledger_dsn, TextCipher([_KEY]), ("alice", _SECRET))
    (shown,) = _asked(ledger_dsn, TextCipher([bytes(32)]))
    assert [one["text"] for one in shown] == [None]
    (both,) = _asked(ledger_dsn, TextCipher([_KEY, bytes(32)]))
    assert [one["text"] for one in both] == [_SECRET]


def test_what_is_put_to_another_receipt_shows_nothing() -> None:
    cipher = TextCipher([_KEY])
    kept = cipher.encrypted(_SECRET, ("alice", "f"))
    assert cipher.decrypted(kept, ("alice", "f")) == _SECRET
    for bound in (("bob", "f"), ("alice", "g"), ("alicef", ""), ("alice",)):
        assert cipher.decrypted(kept, bound) is None
    for number in range(len(kept)):
        changed = bytearray(kept)
        changed[number] ^= 1
        assert cipher.decrypted(bytes(changed), ("alice", "f")) is None
        assert cipher.decrypted(kept[:number], ("alice", "f")) is None
    assert cipher.encrypted(_SECRET, ("alice", "f")) != kept
    assert repr(cipher) == "TextCipher()"


def test_long_texts_are_cut_and_a_long_history_ends(
    ledger_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(ledger_dsn, own="9", total="9")
    monkeypatch.setattr(ledger_tables, "_TEXT_OCTETS", 3 * TEXT_CHARACTERS)
    long = "x" * (2 * TEXT_CHARACTERS)
    (shown,) = _asked(ledger_dsn, TextCipher([_KEY]), *[("alice", f"{n}{long}") for n in range(4)])
    texts = [one["text"] for one in shown]
    assert texts[2:] == [None, None]
    assert [text[0] for text in texts[:2]] == ["3", "2"]
    assert all(text.endswith("x ...") and len(text) == TEXT_CHARACTERS + 4 for text in texts[:2])


def test_what_no_text_can_be_is_kept_all_the_same(ledger_dsn: str) -> None:
    set_limits(ledger_dsn, own="9", total="9")
    (shown,) = _asked(ledger_dsn, TextCipher([_KEY]), ("alice", "SELECT '\udcff\"\\ü'"))
    assert shown[0]["text"].startswith("SELECT '") and shown[0]["text"].endswith("\"\\ü'")


def test_keys(ledger_dsn: str, tmp_path: Path) -> None:
    """Who serves has the newest; a second folder is given the file."""
    mine, yours = tmp_path / "mine", tmp_path / "yours"
    for folder in (mine, yours):
        folder.mkdir()
    opened_cipher(ledger_dsn, mine)
    first = KeyFile(mine).read()
    assert stat.S_IMODE(KeyFile(mine).path.stat().st_mode) == 0o600
    opened_cipher(ledger_dsn, mine)
    assert KeyFile(mine).read() == first
    with pytest.raises(TextKeyMissing, match=f"the key {key_name(first[0])}, which is not in"):
        opened_cipher(ledger_dsn, yours)
    assert not KeyFile(yours).path.exists()
    KeyFile(yours).path.write_bytes(KeyFile(mine).path.read_bytes())
    cipher = opened_cipher(ledger_dsn, mine)
    kept = cipher.encrypted("old", ("a",))
    assert opened_cipher(ledger_dsn, yours).decrypted(kept, ("a",)) == "old"
    second = new_key(ledger_dsn, mine)
    both = opened_cipher(ledger_dsn, mine)
    assert both.decrypted(kept, ("a",)) == "old"
    assert [key_name(key) for key in KeyFile(mine).read()] == [key_name(first[0]), second]
    assert [(one.name, one.is_here) for one in known_keys(ledger_dsn, yours)] == [
        (key_name(first[0]), True),
        (second, False),
    ]
    with pytest.raises(TextKeyMissing, match=second):
        opened_cipher(ledger_dsn, yours)
    for spoilt in ("", "{}", '{"keys": ["AAAA"]}', '{"keys": [7]}', "[]"):
        KeyFile(mine).path.write_text(spoilt)
        with pytest.raises(TextKeyMissing, match="cannot be read"):
            opened_cipher(ledger_dsn, mine)
    with psycopg.connect(ledger_dsn) as connection:
        noted = connection.execute(
            "SELECT detail FROM ledger.admin_log WHERE what = 'text key' ORDER BY at"
        )
        assert [row[0]["key"] for row in noted] == [key_name(first[0]), second]
