"""Statements of the documentation, run as they stand against a served demo.

    ```sql              is answered
    ```sql free         and charges nothing
    ```sql refused      is refused; a ```text behind it has the message and the hint

Statements within a line (`SELECT ... FROM shop...`) are explained, which is free.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from docs.site.page_sources import pages
from tests.cli.commands import dpproxy, serving
from tests.waiting import until

pytestmark = pytest.mark.postgres

_BLOCK = re.compile(
    r"^```(sql(?: free| refused)?)\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.M | re.S
)
_INLINE = re.compile(r"`((?:SELECT|EXPLAIN)\s[^`]*\s(?:shop|census)\.[^`]*)`")
_READY = "Ctrl-C stops everything."
_PASSWORD = "a long password"


def _with_blocks() -> list[str]:
    texts = {name: path.read_text(encoding="utf-8") for name, path in pages().items()}
    return [name for name, text in texts.items() if _BLOCK.search(text) or _INLINE.search(text)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[str]:
    ports = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
    with serving(folder, ["demo", "--state", folder / "state", *ports], _READY) as running:
        (port,) = set(re.findall(r"psql -h 127\.0\.0\.1 -p (\d+)", running.printed))
        yield port
        assert running.stop(signal.SIGINT) == 0


def _connect(port: str, analyst: str, database: str) -> psycopg.Connection:
    return psycopg.connect(
        host="127.0.0.1",
        port=port,
        user=analyst,
        password=_PASSWORD,
        dbname=database,
        autocommit=True,
    )


def _is_let_in(port: str, analyst: str) -> bool:
    """A process that serves learns of a new analyst within a second or two."""
    try:
        _connect(port, analyst, "shop").close()
    except psycopg.OperationalError:
        return False
    return True


def _spent(session: psycopg.Connection, analyst: str) -> object:
    row = session.execute(
        "SELECT epsilon_spent FROM dp.budget WHERE analyst = %s", (analyst,)
    ).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize("name", _with_blocks())
def test_the_statements_of_a_page(folder: Path, port: str, name: str) -> None:
    text = pages()[name].read_text(encoding="utf-8")
    analyst = f"reader of {Path(name).stem}"
    state = str(folder / "state")
    added = dpproxy(
        *("user", "add", analyst, "--state", state, "--password-stdin"), typed=f"{_PASSWORD}\n"
    )
    assert added.code == 0, added.err
    until(lambda: _is_let_in(port, analyst))
    with _connect(port, analyst, "shop") as session:
        for kind, statements, told in _BLOCK.findall(text):
            if kind == "sql refused":
                with pytest.raises(psycopg.Error) as caught:
                    session.execute(statements.encode())
                diagnostic = caught.value.diag
                given = f"ERROR:  {diagnostic.message_primary}\nHINT:  {diagnostic.message_hint}\n"
                assert not told or told == given
                continue
            before = _spent(session, analyst)
            for statement in filter(str.strip, statements.split(";")):
                result = session.execute(statement.encode())
                assert result.description is None or result.fetchall(), statement
            if kind == "sql free":
                assert _spent(session, analyst) == before, statements
    for statement in _INLINE.findall(text):
        with _connect(port, analyst, "census" if " census." in statement else "shop") as session:
            explained = statement if statement.startswith("EXPLAIN") else f"EXPLAIN {statement}"
            try:
                assert session.execute(explained.encode()).fetchall()
            except psycopg.Error as error:
                assert "rows of the protected table" in str(error), statement


def test_there_are_statements() -> None:
    assert {"docs/tutorials/analyst.md", "docs/reference/answers.md"} <= set(_with_blocks())
