"""Refuses an option that is given twice and takes one value. The parser would take the last and say nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proxy.cli.cli_error import CliError


def refuse_repeated_options(command: Any, arguments: Sequence[str]) -> None:
    """
    Args:
        command: The root of the commands, as `typer.main.get_command` makes it.
        arguments: Of the command line, without the program's name.

    Raises:
        CliError: An option of any command is repeated, though it takes one value.
    """
    given: set[str] = set()
    for option in _values_given(command, list(arguments)):
        if option.opts[0] in given and not option.multiple:
            raise CliError(f"{option.opts[0]} is given twice, and takes one value: give it once")
        given.add(option.opts[0])


def _values_given(command: Any, arguments: list[str]) -> Iterator[Any]:
    """The options with a value, in their order. What the parser refuses itself ends the walk."""
    options = _options(command)
    while arguments:
        word = arguments.pop(0)
        name, sign, _ = word.partition("=")
        if word == "--":
            return
        if name in options:
            option = options[name]
            if not (option.is_flag or option.count):
                yield option
                if not sign and arguments:
                    arguments.pop(0)
        elif word in getattr(command, "commands", {}):
            command = command.commands[word]
            options = _options(command)


def _options(command: Any) -> Mapping[str, Any]:
    options = [one for one in command.params if one.param_type_name == "option"]
    return {name: one for one in options for name in (*one.opts, *one.secondary_opts)}
