"""The matrix of clients and features: from what a run found to docs/reference/clients.md and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from tests.clients.features import SECTIONS, Section

HEAD = """\
# Clients

Written by `make test-clients`, which installs each client where pip, apt or npm has it, and runs it
against a served proxy on real PostgreSQL servers. Answers are compared with exact ones (epsilon is 100
there, so that noise is small). The programs are in `tests/clients/programs`.

`n/a`: the client has no such thing. Reasons are below each table.

How to connect a tool, and to give it a price: [Connect](../how-to/connect.md).
"""


class Result(str, Enum):
    WORKS = "works"
    NOT_APPLICABLE = "n/a"
    FAILS = "fails"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """reason: "" where it works"""

    result: Result
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class Column:
    """outcomes by title of feature"""

    version: str
    outcomes: dict[str, Outcome]


@dataclass(slots=True)
class Matrix:
    """columns by client"""

    columns: dict[str, Column] = field(default_factory=dict)

    def text(self) -> str:
        parts = [HEAD]
        for section in SECTIONS:
            parts.append("\n".join(_section(section, self.columns)))
        return "\n".join(parts)


def _section(section: Section, columns: Mapping[str, Column]) -> Iterator[str]:
    yield f"## {section.title}\n"
    if section.about:
        yield section.about + "\n"
    found = [columns.get(client, Column(version="", outcomes={})) for client in section.clients]
    yield _line(["", *section.clients])
    yield "|---" * (len(found) + 1) + "|"
    yield _line(["version", *(column.version for column in found)])
    for feature in section.features:
        yield _line([feature.title, *(_cell(column, feature.title) for column in found)])
    reasons = [
        f"- {client}, {feature.title}: {column.outcomes[feature.title].reason}"
        for client, column in zip(section.clients, found, strict=True)
        for feature in section.features
        if feature.title in column.outcomes and column.outcomes[feature.title].reason
    ]
    yield "\n" + "\n".join(reasons) + "\n" if reasons else ""


def _cell(column: Column, title: str) -> str:
    return column.outcomes[title].result.value if title in column.outcomes else ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def read_matrix(text: str) -> Matrix:
    """
    Given    what `Matrix.text` wrote
    Gives    that matrix; text that it did not write may be read as another one
    """
    matrix = Matrix()
    rows: dict[str, dict[str, str]] = {}
    clients: list[str] = []
    reasons: dict[tuple[str, str], str] = {}
    for line in text.splitlines():
        if line.startswith("|  | "):
            clients = _cells(line)[1:]
        elif line.startswith("| "):
            title, *found = _cells(line)
            for client, cell in zip(clients, found, strict=True):
                rows.setdefault(client, {})[title] = cell
        elif line.startswith("- "):
            client = max((c for c in clients if line.startswith(f"- {c}, ")), key=len)
            about = line.removeprefix(f"- {client}, ")
            title = max((t for t in rows[client] if about.startswith(f"{t}: ")), key=len)
            reasons[client, title] = about.removeprefix(f"{title}: ")
    for client, cells in rows.items():
        version = cells.pop("version")
        if version:
            outcomes = {
                title: Outcome(result=Result(cell), reason=reasons.get((client, title), ""))
                for title, cell in cells.items()
                if cell
            }
            matrix.columns[client] = Column(version=version, outcomes=outcomes)
    return matrix


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]
