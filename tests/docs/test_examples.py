"""Statements of the documentation, run as they stand: against the data of the demo, and at night in the demo.

    ```sql              is answered
    ```sql free         and charges nothing
    ```sql explain      is explained, which is free: for each statement of it
    ```sql refused      is refused; a ```text behind it has the message and the hint

    ```python           is run, after the blocks before it; `python frames` needs pandas, polars
                        and matplotlib, `python arrow` pyarrow

Statements within a line (`SELECT ... FROM shop...`) are explained, which is free.
"""

from __future__ import annotations

import importlib.util
import json
import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from docs.site.page_sources import pages
from proxy.cli.assembly import assemble
from tests.cli.commands import dpproxy, serving
from tests.ledger_key import LEDGER_CIPHER
from tests.live_proxy import LiveProxy, start_proxy
from tests.samples import checked_sample
from tests.servers_fixture import servers
from tests.waiting import until

pytestmark = pytest.mark.postgres

_BLOCK = re.compile(
    r"^```(sql(?: free| explain| refused)?)\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.M | re.S
)
_PYTHON = re.compile(r"^```python(| frames| arrow)\n(.*?)^```$", re.M | re.S)
_FRAMES = ("pandas", "polars", "matplotlib")
_INLINE = re.compile(r"`((?:SELECT|EXPLAIN)\s[^`]*\s(?:shop|census)\.[^`]*)`")
_TRY = re.compile(r" Try: .*")  # said by `serve` and `demo` (tests/servers/http/test_instead.py)
_READY = "Ctrl-C stops everything."
_PASSWORD = "a long password"


def _with_blocks() -> list[str]:
    texts = {name: path.read_text(encoding="utf-8") for name, path in pages().items()}
    return [name for name, text in texts.items() if _BLOCK.search(text) or _INLINE.search(text)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@dataclass(frozen=True, slots=True)
class Demo:
    folder: Path
    port: str
    url: str

    def add(self, analyst: str) -> None:
        state = ("--state", str(self.folder / "state"))
        added = dpproxy("user", "add", analyst, *state, "--password-stdin", typed=f"{_PASSWORD}\n")
        assert added.code == 0, added.err
        until(lambda: _is_let_in(self.port, analyst))


@pytest.fixture(scope="module")
def demo(folder: Path) -> Iterator[Demo]:
    ports = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
    with serving(folder, ["demo", "--state", folder / "state", *ports], _READY) as running:
        (port,) = set(re.findall(r"psql -h 127\.0\.0\.1 -p (\d+)", running.printed))
        (url,) = re.findall(r"^In a browser: (\S+)/$", running.printed, re.MULTILINE)
        yield Demo(folder, port, url)
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


@pytest.fixture(scope="module")
def proxy() -> Iterator[LiveProxy]:
    pair = servers()
    databases = []
    for name, policy in pair.policies.items():
        kept = replace(policy, reuse=checked_sample(name).policy.reuse)
        lease = pair.lease(kept)
        databases.append(
            assemble(kept, pair.catalogs[name], pair.shadows[name], lease, LEDGER_CIPHER)
        )
    proxy = start_proxy(pair, databases)
    yield proxy
    proxy.stop()


@pytest.mark.every(2)
@pytest.mark.parametrize("name", _with_blocks())
def test_the_statements_of_a_page(proxy: LiveProxy, name: str) -> None:
    analyst = proxy.servers.new_analyst()
    _check_page(
        name, analyst, lambda database: proxy.connect(database, analyst=analyst), is_demo=False
    )


@pytest.mark.long
@pytest.mark.parametrize("name", _with_blocks())
def test_the_statements_of_a_page_in_the_demo(demo: Demo, name: str) -> None:
    analyst = f"reader of {Path(name).stem}"
    demo.add(analyst)
    _check_page(
        name, analyst, lambda database: _connect(demo.port, analyst, database), is_demo=True
    )


def _check_page(
    name: str, analyst: str, connect: Callable[[str], psycopg.Connection], *, is_demo: bool
) -> None:
    text = pages()[name].read_text(encoding="utf-8")
    with connect("shop") as session:
        for kind, statements, told in _BLOCK.findall(text):
            if kind == "sql refused":
                with pytest.raises(psycopg.Error) as caught:
                    session.execute(statements.encode())
                diagnostic = caught.value.diag
                given = f"ERROR:  {diagnostic.message_primary}\nHINT:  {diagnostic.message_hint}\n"
                assert not told or given == (told if is_demo else _TRY.sub("", told))
                continue
            before = _spent(session, analyst)
            explained = "EXPLAIN " if kind == "sql explain" else ""
            for statement in (explained + one for one in statements.split(";") if one.strip()):
                result = session.execute(statement.encode())
                assert result.description is None or result.fetchall(), statement
            if kind in ("sql free", "sql explain"):
                assert _spent(session, analyst) == before, statements
    for statement in _INLINE.findall(text):
        with connect("census" if " census." in statement else "shop") as session:
            explained = statement if statement.startswith("EXPLAIN") else f"EXPLAIN {statement}"
            try:
                assert session.execute(explained.encode()).fetchall()
            except psycopg.Error as error:
                assert "rows of the protected table" in str(error), statement


def _has_packages(kind: str) -> bool:
    """Of a block: none are needed, or all of its kind are there."""
    wanted = {"": (), "frames": _FRAMES, "arrow": ("pyarrow",)}[kind]
    return all(importlib.util.find_spec(package) for package in wanted)


def _has_frames() -> bool:
    return _has_packages("frames")


@pytest.mark.long
def test_the_blocks_of_the_python_client(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    demo.add("a program")
    text = pages()["docs/reference/python.md"].read_text(encoding="utf-8")
    text = text.replace("http://127.0.0.1:8432", demo.url)
    text = text.replace('"analyst"', '"a program"').replace("PASSWORD", _PASSWORD)
    blocks = _PYTHON.findall(text)
    assert len(blocks) >= 5
    names: dict[str, Any] = {}
    for kind, block in blocks:
        if _has_packages(kind.strip()):
            exec(block, names)
    names["db"].close()
    assert (tmp_path / "states.png").exists() == _has_frames()


@pytest.mark.long
def test_the_notebook_of_the_python_client(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not _has_frames():
        pytest.skip("pandas, polars or matplotlib is not installed: pip install -e '.[docs]'")
    demo.add("a notebook")
    given = {"URL": demo.url, "USER": "a notebook", "PASSWORD": _PASSWORD}
    for name, value in given.items():
        monkeypatch.setenv(f"DPPROXY_{name}", value)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    file = Path(__file__).parents[2] / "clients" / "python" / "example.ipynb"
    notebook = json.loads(file.read_text(encoding="utf-8"))
    cells = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 6
    names: dict[str, Any] = {}
    for cell in cells:
        exec(cell, names)
    names["db"].close()
    assert all(not cell.get("outputs") for cell in notebook["cells"]), "noise is not committed"


def test_there_are_statements() -> None:
    assert {"docs/tutorials/analyst.md", "docs/reference/answers.md"} <= set(_with_blocks())
