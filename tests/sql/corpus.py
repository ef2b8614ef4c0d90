"""Reads the corpora of this folder: SQL files with a database, its policy, and statements by what is expected.

    -- mechanism: auto
    -- => schema
    CREATE TABLE ...
    -- => policy
    tables: ...
    -- => as PostgreSQL: groups
    -- every: 2
    SELECT ... WHERE a = $1;
    -- $1: ["Ulm"]
    -- => refused: windows over all
    -- sqlstate: 0A000 42501
    SELECT ...;
    -- hint: PARTITION BY

`every: n` leaves all but each n-th statement to the night, `long: all` all of them; `sessions` are settings
of several sessions, `beside: w. = whole.` asks PostgreSQL about other tables; `draws: 100` takes the mean
of so many where one is far off. What answers are compared by is in tests/live/compared_answers.py.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
_SETTING = re.compile(r"-- ([a-z]+): (.+)")
_SECTION, _GIVEN, _HINT = "-- => ", "-- $1: ", "-- hint: "


@dataclass(slots=True)
class Asked:
    sql: str
    given: list[str] = field(default_factory=list)
    hint: str = ""


@dataclass(slots=True)
class Section:
    """Statements of one expectation, under a title, with what they are compared by."""

    title: str
    settings: dict[str, str]
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def statements(self) -> list[Asked]:
        found, pending = list[Asked](), list[str]()
        for line in self.lines:
            if line.startswith(_GIVEN):
                found[-1].given = json.loads(line.removeprefix(_GIVEN))
            elif line.startswith(_HINT):
                found[-1].hint = line.removeprefix(_HINT)
            elif line and not line.startswith("--"):
                pending.append(line.strip())
                if line.endswith(";"):
                    found.append(Asked(" ".join(pending).removesuffix(";")))
                    pending.clear()
        assert not pending, pending
        return found


@dataclass(frozen=True, slots=True)
class Corpus:
    name: str
    settings: dict[str, str]
    sections: dict[str, Section]

    @property
    def schema(self) -> str:
        return self.sections["schema"].text

    @property
    def policy(self) -> str:
        return self.sections["policy"].text

    def expecting(self, kind: str) -> list[Section]:
        return [one for title, one in self.sections.items() if title.startswith(f"{kind}: ")]


def corpus(name: str) -> Corpus:
    settings, sections = dict[str, str](), dict[str, Section]()
    inside: Section | None = None
    for line in (FOLDER / f"{name}.sql").read_text(encoding="utf-8").splitlines():
        setting = _SETTING.fullmatch(line)
        if line.startswith(_SECTION):
            inside = Section(line.removeprefix(_SECTION), dict(settings))
            sections[inside.title] = inside
        elif setting and not (inside and inside.lines):
            (inside.settings if inside else settings)[setting[1]] = setting[2]
        elif inside:
            inside.lines.append(line)
    return Corpus(name, settings, sections)
