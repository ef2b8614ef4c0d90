"""Runs the program of a client, and compares what it did with docs/reference/clients.md, or writes that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients.features import SECTIONS
from tests.clients.installed import CLIENTS, FOLDER, PROGRAMS, Client, NotHere
from tests.clients.judging import Judge
from tests.clients.matrix import Column, Matrix, Outcome, Result, read_matrix
from tests.clients.served_shop import ServedShop, output

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "clients.md"
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
_SECONDS = 1200


def committed() -> Matrix:
    return read_matrix(DOCUMENT.read_text(encoding="utf-8")) if DOCUMENT.exists() else Matrix()


def command(client: Client) -> list[str]:
    """Skips the test where the client is not installed."""
    try:
        return client.command()
    except NotHere as reason:
        pytest.skip(f"{client.name}: {reason}")


def check(client: Client, shop: ServedShop, folder: Path, bless: bool) -> None:
    """What fails now and did not in the committed matrix is an error; `bless` writes it there instead."""
    program = command(client)
    with shop.direct() as exact:
        judge = Judge(exact)
    environment = {
        **shop.environment(),
        "DP_PROGRAMS": str(PROGRAMS),
        "DP_FOLDER": str(folder),
        "DP_CLIENTS": str(FOLDER),
        "DP_PICTURES": str(PICTURES if bless else folder),
        "GOCACHE": str(folder / "go"),
        **client.environment,
    }
    found = column(client, output(program, environment, _SECONDS), judge)
    matrix = committed()
    if bless:
        matrix.columns[client.name] = found
        DOCUMENT.write_text(matrix.text(), encoding="utf-8")
        return
    known = matrix.columns[client.name].outcomes
    fails = {
        title: outcome.reason
        for title, outcome in found.outcomes.items()
        if outcome.result is Result.FAILS and known[title].result is not Result.FAILS
    }
    assert fails == {}, fails


def column(client: Client, printed: str, judge: Judge) -> Column:
    """From the lines of a program; a feature of which it says nothing fails."""
    version, outcomes = "", {}
    for line in printed.splitlines():
        if not line.startswith("{"):
            continue
        said = json.loads(line)
        if "version" in said:
            version = said["version"]
        elif "not_applicable" in said:
            reason = _one_line(said["not_applicable"])
            outcomes[said["feature"]] = Outcome(result=Result.NOT_APPLICABLE, reason=reason)
        else:
            wrong = said.get("error") or judge.wrong(said["feature"], said["value"])
            result = Result.FAILS if wrong else Result.WORKS
            outcomes[said["feature"]] = Outcome(result=result, reason=_one_line(wrong))
    section = next(one for one in SECTIONS if client.name in one.clients)
    silent = Outcome(result=Result.FAILS, reason="its program says nothing of it")
    return Column(
        version=version,
        outcomes={one.title: outcomes.get(one.name, silent) for one in section.features},
    )


def _one_line(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:300].strip()


def client_named(name: str) -> Client:
    return next(client for client in CLIENTS if client.name == name)
