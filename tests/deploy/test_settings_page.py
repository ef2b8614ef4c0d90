"""deploy/settings.md says what the program can be given: no more, no less, with its defaults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from proxy.base.session_settings import SESSION_SETTINGS
from tests.deploy.files import DEPLOY, ROOT, commands

_PAGE = (DEPLOY / "settings.md").read_text()
_CODE = re.compile(r"`([^`]*)`")
_VARIABLE = re.compile(r"\b(?:DPPROXY|XDG|CREDENTIALS)_[A-Z_]+\b")


def _rows(heading: str) -> Iterator[list[str]]:
    """The rows of the tables below a heading, without their heads."""
    section = _PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    is_body = False
    for line in section.splitlines():
        if not line.startswith("|"):
            is_body = False
        elif set(line) <= set("|- "):
            is_body = True
        elif is_body:
            yield [cell.strip() for cell in line.strip("|").split("|")]


def _default(option: Any) -> str:
    if option.required:
        return "required"
    if isinstance(option.show_default, str):
        return f"`{option.show_default}`"
    match option.default:
        case False:
            return "off"
        case None:
            return "none"
        case Enum() as chosen:
            return f"`{chosen.value}`"
        case value:
            return f"`{value}`"


def test_every_option_of_every_command_is_there_with_its_default_and_no_other() -> None:
    written: dict[tuple[str, str], str] = {}
    for options, of, default, *_ in _rows("Options of the command line"):
        for option in _CODE.findall(options):
            for command in _CODE.findall(of):
                assert (command, option) not in written, "occurs twice"
                written[command, option] = default
    there = {
        (path, name): _default(option)
        for path, command in commands()
        for option in command.params
        if option.param_type_name == "option"
        for name in (*option.opts, *option.secondary_opts)
    }
    assert len(there) > 40
    assert written == there


def test_where_a_default_stands_is_a_file_that_says_it() -> None:
    for options, _, default, where, _ in _rows("Options of the command line"):
        (file,) = _CODE.findall(where)
        source = (ROOT / file).read_text()
        if default not in ("required", "off", "none"):
            value = default.strip("`").removesuffix(" in the current folder")
            assert all(part in source for part in value.split("/")), (options, file)


def test_what_is_given_without_a_name_is_there() -> None:
    written = _PAGE.split("Arguments without a name:", 1)[1].split("\n\n", 1)[0]
    there = set()
    for path, command in commands():
        for argument in command.params:
            if argument.param_type_name == "argument":
                name = argument.name.upper()
                there.add(f"dpproxy {path} {name}")
    assert set(_CODE.findall(written)) == there


def test_every_environment_variable_is_there_and_no_other() -> None:
    product = {
        name
        for file in (ROOT / "proxy").rglob("*.py")
        for name in _VARIABLE.findall(file.read_text())
    }
    # Others are read by their own name somewhere: each such line is one of ours, or hands the whole on.
    reads = [
        line.strip()
        for file in (ROOT / "proxy").rglob("*.py")
        for line in file.read_text().splitlines()
        if re.search(r"environ(?:\.get\(|\[)|getenv\(", line)
    ]
    assert reads
    assert all("XDG_STATE_HOME" in line or "_VARIABLE" in line for line in reads), reads
    rows = [row[0] for row in _rows("Environment variables")]
    assert product == {name for cell in rows for name in _CODE.findall(cell)}


def test_every_setting_of_a_session_is_there_and_no_other() -> None:
    rows = [row[0] for row in _rows("Settings of an analyst's session")]
    written = [name for cell in rows for name in _CODE.findall(cell)]
    assert sorted(written) == sorted(SESSION_SETTINGS)


def test_every_link_of_the_pages_leads_somewhere() -> None:
    for page in DEPLOY.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / Path(target)).exists(), (page.name, target)
