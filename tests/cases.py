"""Golden cases: SQL with comment headers, so that editors colour it; read, checked and blessed.

    -- case: count by city
    -- policy: world
    SELECT ...
    -- => plan
    ...

A section that is missing is not checked. `pytest --bless` rewrites the sections that are there, and fills in
all of them for a case that has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_CASE = "-- case: "
_SECTION = "-- => "


@dataclass(slots=True)
class Case:
    path: Path
    line: int
    name: str
    headers: dict[str, str] = field(default_factory=dict)
    statement: str = ""
    sections: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"{self.path.name}:{self.line}: {self.name}"

    def text(self) -> str:
        lines = [f"{_CASE}{self.name}", *(f"-- {k}: {v}" for k, v in self.headers.items())]
        lines.append(self.statement)
        for name, content in self.sections.items():
            lines += [f"{_SECTION}{name}", content]
        return "\n".join(lines) + "\n"


def read_cases(path: Path) -> list[Case]:
    cases: list[Case] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith(_CASE):
            cases.append(Case(path, number, line.removeprefix(_CASE)))
            continue
        if not cases:
            assert not line, f"{path.name}:{number}: text before the first case"
            continue
        _take(cases[-1], line)
    for case in cases:
        case.statement = case.statement.strip("\n")
        case.sections = {name: text.strip("\n") for name, text in case.sections.items()}
    return cases


def _take(case: Case, line: str) -> None:
    if line.startswith(_SECTION):
        case.sections[line.removeprefix(_SECTION).strip()] = ""
    elif case.sections:
        last = next(reversed(case.sections))
        case.sections[last] += line + "\n"
    elif not case.statement and line.startswith("-- ") and ": " in line:
        name, value = line.removeprefix("-- ").split(": ", 1)
        case.headers[name] = value
    else:
        case.statement += line + "\n"


def in_folder(folder: Path) -> Iterator[Case]:
    for path in sorted(folder.glob("*.sql")):
        yield from read_cases(path)


def check(case: Case, actual: Mapping[str, str]) -> None:
    """Each section that the case has must be what came out."""
    assert case.sections, f"{case.place} has no sections: run pytest --bless and review"
    for name, expected in case.sections.items():
        assert name in actual, f"{case.place}: no {name}, but {', '.join(actual)}:\n" + "\n".join(
            actual.values()
        )
        assert actual[name].strip("\n") == expected, f"{case.place}: {name} differs"


def bless_folder(folder: Path, make: Callable[[Case], Mapping[str, str]]) -> None:
    for path in sorted(folder.glob("*.sql")):
        cases = read_cases(path)
        for case in cases:
            actual = make(case)
            case.sections = {name: text.strip("\n") for name, text in actual.items()}
        path.write_text("\n".join(case.text() for case in cases), encoding="utf-8")
