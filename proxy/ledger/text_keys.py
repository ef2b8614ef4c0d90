"""The keys that hide what the ledger keeps of statements: in a file beside it, not in it nor in a backup.

The ledger knows their names. A process that has not the newest one does not serve: the others could not read
what it wrote, and each would draw and charge anew what the others have cached.
"""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import psycopg

from proxy.ledger.admin_log import note
from proxy.ledger.text_cipher import KEY_BYTES, TextCipher, key_name

KEY_FILE = "ledger.key"


class TextKeyMissing(RuntimeError):
    """A key is needed that is not here; the text says which, and where it belongs."""


@dataclass(frozen=True, slots=True)
class KnownKey:
    """Of which the ledger has the name. is_here: whether the file has it."""

    name: str
    since: datetime
    is_here: bool


class KeyFile:
    """The keys in a state folder."""

    def __init__(self, state: Path) -> None:
        self.path = state / KEY_FILE

    def read(self) -> tuple[bytes, ...]:
        """Refuses  TextKeyMissing where there is a file that cannot be read"""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ()
        try:
            keys = tuple(base64.b64decode(one, validate=True) for one in json.loads(text)["keys"])
        except (ValueError, KeyError, TypeError):
            keys = (b"",)
        if not all(len(key) == KEY_BYTES for key in keys):
            raise TextKeyMissing(f"{self.path} cannot be read: put it back from a copy")
        return keys

    def add(self) -> bytes:
        """A new key, on disk whole; readable by us alone."""
        key = os.urandom(KEY_BYTES)
        keys = [base64.b64encode(one).decode() for one in (*self.read(), key)]
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self.path.with_suffix(".key.part")
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            json.dump({"keys": keys}, out)
            out.flush()
            os.fsync(out.fileno())
        part.replace(self.path)
        return key


def opened_cipher(ledger_dsn: str, state: Path) -> TextCipher:
    """
    Gives    what encrypts with the ledger's newest key; its first is made here
    Refuses  TextKeyMissing
    """
    file = KeyFile(state)
    with psycopg.connect(ledger_dsn) as connection:
        _lock(connection)
        known = _names(connection)
        keys = file.read()
        if not known:
            keys = keys or (file.add(),)
            _register(connection, keys[-1])
            known = (key_name(keys[-1]),)
    by_name = {key_name(key): key for key in keys}
    if known[-1] not in by_name:
        raise TextKeyMissing(
            f"what this ledger keeps of statements is hidden under the key {known[-1]}, which is not in"
            f" {file.path}: copy {KEY_FILE} from the state folder that serves the ledger, or from where it is"
            " kept apart from backups. If it is lost: dpproxy ledger key --new (what was kept under it stays"
            " unreadable, and cached answers are drawn and paid again)"
        )
    others = [key for name, key in by_name.items() if name != known[-1]]
    return TextCipher([*others, by_name[known[-1]]])


def reading_cipher(state: Path) -> TextCipher:
    """Decrypt with the keys that are here, for commands that keep nothing of a statement.

    Without any the key is a random one: what was kept before cannot be read then.

    Raises:
        TextKeyMissing: The file cannot be read.
    """
    return TextCipher(KeyFile(state).read() or (os.urandom(KEY_BYTES),))


def new_key(ledger_dsn: str, state: Path) -> str:
    """The name of a key that is used from now on: by processes that start after they were given the file."""
    with psycopg.connect(ledger_dsn) as connection:
        _lock(connection)
        key = KeyFile(state).add()
        _register(connection, key)
    return key_name(key)


def known_keys(ledger_dsn: str, state: Path) -> tuple[KnownKey, ...]:
    """The oldest first."""
    here = {key_name(key) for key in KeyFile(state).read()}
    with psycopg.connect(ledger_dsn) as connection:
        rows = connection.execute("SELECT key, at FROM ledger.text_key ORDER BY id").fetchall()
    return tuple(KnownKey(name, at, name in here) for name, at in rows)


def _lock(connection: psycopg.Connection) -> None:
    connection.execute("LOCK TABLE ledger.text_key IN SHARE ROW EXCLUSIVE MODE")


def _names(connection: psycopg.Connection) -> tuple[str, ...]:
    rows = connection.execute("SELECT key FROM ledger.text_key ORDER BY id").fetchall()
    return tuple(name for (name,) in rows)


def _register(connection: psycopg.Connection, key: bytes) -> None:
    connection.execute("INSERT INTO ledger.text_key (key) VALUES (%s)", (key_name(key),))
    note(connection, None, "text key", {"key": key_name(key)})
