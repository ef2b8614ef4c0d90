"""Statements and exchanges that were read otherwise than by PostgreSQL (../shared/bugs), beside PostgreSQL."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.live.served_database import READER, READER_PASSWORD, served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import PASSWORD, servers

_FOLDER = Path(__file__).parents[3] / "shared" / "bugs"
pytestmark = pytest.mark.skipif(
    not _FOLDER.exists(), reason="the corpus ../shared/bugs is not here"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One statement of a file, with what the file says of all of its statements."""

    sql: str
    check: str
    setup: str
    params: tuple[str | None, ...]


def _cases(file: Path) -> Iterator[_Case]:
    head: dict[str, str] = {}
    for part in file.read_text("utf-8").split("\n---\n"):
        told = dict(re.findall(r"^-- (\w+)(?: \([^)]*\))?: (.*)$", part, re.MULTILINE))
        head |= {key: told[key] for key in ("check", "setup") if key in told}
        yield _Case(
            sql="\n".join(line for line in part.splitlines() if not line.startswith("--")).strip(),
            check=head["check"],
            setup=head.get("setup", ""),
            params=tuple(json.loads(told.get("params", "[]"))),
        )


_SQL = sorted(_FOLDER.glob("*.sql")) if _FOLDER.exists() else []
_STATEMENTS = [
    pytest.param(case, id=f"{file.stem}-{n}")
    for file in _SQL
    if file.stem.isdigit()
    for n, case in enumerate(_cases(file))
]
_PROGRAMS = [pytest.param(file.stem, id=file.stem) for file in sorted(_FOLDER.glob("[0-9]*.py"))]


@pytest.fixture(scope="module")
def lab() -> Iterator[LiveProxy]:
    pair = servers()
    script = (_FOLDER / "world.sql").read_text("utf-8")
    policy = (_FOLDER / "policy.yaml").read_text("utf-8")
    tables = policy[policy.index("tables:\n") : policy.index("budgets:\n")]
    database = served_database(pair, "lab", script, tables, "auto", most="100")
    proxy = start_proxy(pair, [database])
    yield proxy
    proxy.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """names and types of columns, and rows as texts; or an error."""

    columns: Sequence[tuple[str, int]] = ()
    rows: Sequence[tuple[str | None, ...]] = ()
    error: str | None = None


def _answer(connection: psycopg.Connection, case: _Case) -> _Answer:
    try:
        if case.setup:
            connection.execute(case.setup.encode())
        result = connection.pgconn.exec_params(
            case.sql.encode(), [None if p is None else p.encode() for p in case.params]
        )
        if result.error_message:
            fields = psycopg.pq.DiagnosticField
            told = (
                result.error_field(one)
                for one in (fields.MESSAGE_PRIMARY, fields.MESSAGE_HINT, fields.CONTEXT)
            )
            return _Answer(error=" ".join(one.decode() for one in told if one))
    except psycopg.Error as error:
        return _Answer(error=str(error))
    columns = [((result.fname(n) or b"").decode(), result.ftype(n)) for n in range(result.nfields)]
    rows = [
        tuple(
            None if (value := result.get_value(row, n)) is None else bytes(value).decode()
            for n in range(result.nfields)
        )
        for row in range(result.ntuples)
    ]
    return _Answer(columns=columns, rows=rows)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _differences(plain: _Answer, ours: _Answer) -> list[str]:
    """Names, types and rows of plain PostgreSQL; numbers within 3 % and 12; groups of NULL keys, and groups
    without rows, aside."""
    if list(plain.columns) != list(ours.columns):
        return [f"columns {ours.columns} instead of {plain.columns}"]
    keys = [n for n, (name, _) in enumerate(plain.columns) if name.startswith("k")]
    numbers = [n for n in range(len(plain.columns)) if n not in keys]

    def by_key(answer: _Answer) -> dict[tuple[str | None, ...], list[str | None]]:
        return {
            tuple(row[n] for n in keys): [row[n] for n in numbers]
            for row in answer.rows
            if not any(row[n] is None for n in keys)
        }

    right, found = by_key(plain), by_key(ours)
    wrong = [
        f"{key}: no group"
        for key in right.keys() - found.keys()
        if (_number(right[key][0]) or 0) > 12
    ]
    for key, values in found.items():
        for value, true in zip(values, right.get(key, ["0"] * len(values)), strict=True):
            one, other = _number(value), _number(true)
            if (one is None) != (other is None) or (
                one is not None
                and other is not None
                and abs(one - other) > max(0.03 * abs(other), 12)
            ):
                wrong.append(f"{key}: {value} instead of {true}")
    return wrong


@pytest.mark.parametrize("case", _STATEMENTS)
def test_a_statement_is_answered_as_by_postgresql(case: _Case, lab: LiveProxy) -> None:
    analyst = lab.servers.new_analyst()
    with (
        psycopg.connect(lab.servers.protected.dsn("lab"), autocommit=True) as plain,
        lab.connect("lab", analyst=analyst) as proxy,
    ):
        proxy.execute("SET dp.epsilon = 50")
        right, ours = _answer(plain, case), _answer(proxy, case)
    if ours.error is None:
        assert not case.check.startswith("refused"), "it was answered"
        if not case.check.startswith("same-shape"):
            assert _differences(right, ours) == []
        return
    assert lab.spent(analyst)[0] == 0, "an error after the charge"
    refusal = re.search(r"refused: (.*?)(?: not (.*))?$", case.check)
    assert refusal is not None, ours.error
    assert re.search(refusal[1], ours.error), ours.error
    assert not refusal[2] or not re.search(refusal[2], ours.error, re.IGNORECASE), ours.error


def _program(name: str) -> Any:
    for module, file in (("wire", "wire.py"), (f"bug_{name}", f"{name}.py")):
        spec = importlib.util.spec_from_file_location(module, _FOLDER / file)
        assert spec is not None and spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        sys.modules[module] = made
        spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("name", _PROGRAMS)
def test_an_exchange_is_that_of_postgresql(
    name: str, lab: LiveProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("wire", f"bug_{name}"):
        monkeypatch.setitem(sys.modules, module, None)
    program, analyst = _program(name), lab.servers.new_analyst()
    wire, opened = sys.modules["wire"], list[Any]()
    _, port = lab.servers.protected.address

    def plain(**more: Any) -> Any:
        opened.append(wire.Raw(port, READER, "lab", READER_PASSWORD, **more))
        return opened[-1]

    def proxy(**more: Any) -> Any:
        opened.append(wire.Raw(lab.port, analyst, "lab", PASSWORD, **more))
        opened[-1].talk(wire.query("SET dp.epsilon = 50"))
        return opened[-1]

    try:
        assert program.check(plain, proxy) is None
    finally:
        for one in opened:
            one.close()
