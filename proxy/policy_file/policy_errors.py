"""What is wrong with a policy file, and where: file:line:column, the line and a caret.

A line may hold the password of the protected database; `source` and whatever looks like a password
is cut out of the shown line.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proxy.policy_file.yaml_positions import Position, split_lines

LISTED_PROBLEMS = 100
_EXCERPT_COLUMNS = 100
_NAME_COLUMNS = 60
# Both are linear in the line, which may be a mebibyte long.
_CONFIDENTIAL = re.compile(r"(?i)(source|passw(?:or)?d|pwd|secret)[\"']?\s*[:=]|://")
_REFERENCES = re.compile(r"(?:\$\{[A-Za-z_][A-Za-z0-9_]*\})+")


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    message: str
    line: int  # 1-based
    column: int  # 1-based, in characters
    hint: str = ""


class PolicyErrors(Exception):
    """Everything that is wrong with one policy file; its text is the caret rendering."""

    def __init__(self, problems: Sequence[PolicyProblem], text: str, file: str) -> None:
        self.problems = tuple(sorted(problems, key=lambda found: (found.line, found.column)))
        self.file = file
        super().__init__(_rendered(self.problems, text, file))


class ProblemList:
    """Collects, so that all errors of a file are told at once."""

    def __init__(self) -> None:
        self.found: list[PolicyProblem] = []

    def add(self, at: Position, message: str, hint: str = "") -> None:
        self.found.append(PolicyProblem(message, at.line, at.column, hint))

    def nearest(self, word: str, known: Iterable[str]) -> str:
        """A hint that names the known word most like this one.

        Comparing words is slow, and whoever wrote thousands of unknown ones needs no more hints.
        """
        if len(self.found) >= LISTED_PROBLEMS:
            return ""
        return nearest(word, known)


def nearest(word: str, known: Iterable[str]) -> str:
    """
    >>> nearest("bound", ["bounds", "values"])
    "did you mean 'bounds'?"
    """
    if len(word) > _NAME_COLUMNS:
        return ""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean '{close[0]}'?" if close else ""


def quoted_text(text: str) -> str:
    """A word of the file, fit to stand in a message.

    >>> quoted_text("a\\x1b[2J")
    "'a?[2J'"
    """
    short = text if len(text) <= _NAME_COLUMNS else text[: _NAME_COLUMNS - 3] + "..."
    return "'" + "".join(mark if mark.isprintable() else "?" for mark in short) + "'"


def _rendered(problems: Sequence[PolicyProblem], text: str, file: str) -> str:
    lines = split_lines(text)
    parts = [_with_caret(problem, lines, file) for problem in problems[:LISTED_PROBLEMS]]
    if len(problems) > LISTED_PROBLEMS:
        parts.append(f"... and {len(problems) - LISTED_PROBLEMS} more")
    return "\n".join(parts)


def _with_caret(problem: PolicyProblem, lines: Sequence[str], file: str) -> str:
    head = f"{file}:{problem.line}:{problem.column}: {problem.message}"
    rows = [head]
    if problem.line <= len(lines):
        line, before = _window(lines[problem.line - 1], problem.column - 1)
        number = f"{problem.line:>5} | "
        rows.append((number + line).rstrip())
        rows.append(" " * 5 + " | " + " " * sum(map(_width, before)) + "^")
    if problem.hint:
        rows.append(f"      hint: {problem.hint}")
    return "\n".join(rows)


def _window(line: str, column: int) -> tuple[str, str]:
    """The part of a line around a column, and the part of that which lies before the column."""
    line = _without_secrets(line)
    column = min(column, len(line))
    start = max(0, column - _EXCERPT_COLUMNS * 3 // 4) if len(line) > _EXCERPT_COLUMNS else 0
    part = line[start : start + _EXCERPT_COLUMNS]
    # Neither tabs nor terminal escapes may move the caret, or more.
    part = "".join(mark if mark.isprintable() else (" " if mark == "\t" else "?") for mark in part)
    return part, part[: column - start]


def _without_secrets(line: str) -> str:
    """The line up to what may hold a password; `source: ${NAME}` holds none."""
    found = _CONFIDENTIAL.search(line)
    if found is None:
        return line
    if found.group(1) is not None and _REFERENCES.fullmatch(line[found.end() :].strip(" '\"")):
        return line
    return line[: found.end()] + " ..."


def _width(mark: str) -> int:
    if unicodedata.combining(mark):
        return 0
    return 2 if unicodedata.east_asian_width(mark) in "WF" else 1
