"""The files of deploy/ as the tests read them."""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
import yaml

from proxy.cli.main import command_line

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def compose() -> dict[str, Any]:
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert isinstance(found, dict)
    return found


@dataclass(frozen=True, slots=True)
class Instruction:
    """Of a Dockerfile: `COPY`, and what stands behind it, its lines joined."""

    word: str
    rest: str

    def words(self) -> list[str]:
        """Of the exec form."""
        found = json.loads(self.rest[self.rest.index("[") :])
        assert all(isinstance(word, str) for word in found)
        return list(found)


def dockerfile() -> list[Instruction]:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    found = (line.split(None, 1) for line in re.sub(r"\\\n", " ", text).splitlines() if line)
    return [Instruction(word, rest.strip()) for word, rest in found]


def final_stage() -> list[Instruction]:
    every = dockerfile()
    last = max(number for number, one in enumerate(every) if one.word == "FROM")
    return every[last:]


def unit() -> configparser.ConfigParser:
    found = configparser.ConfigParser(interpolation=None, strict=True, delimiters=("=",))
    found.optionxform = str  # type: ignore[assignment, method-assign]
    found.read_string((DEPLOY / "dpproxy.service").read_text().replace("\\\n", " "))
    return found


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its path (`ledger adopt`); `dpproxy` itself, whose path is `dpproxy`."""
    yield from _below(typer.main.get_command(command_line()), "")


def _below(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", {})
    if command.params or not below:
        yield path or "dpproxy", command
    for name, one in below.items():
        yield from _below(one, f"{path} {name}".strip())


def accepted(words: Sequence[str]) -> dict[str, Any]:
    """
    Given    what stands behind `dpproxy` on a command line
    Gives    the parameters as the command reads them; nothing is run
    Refuses  what the command line refuses: an unknown command, option or value, a missing option
    """
    command: Any = typer.main.get_command(command_line())
    rest = list(words)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    with command.make_context(command.name, rest) as context:
        return dict(context.params)
