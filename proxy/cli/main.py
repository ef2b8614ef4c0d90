"""`dpproxy`: the command line.

A command's module is imported when its word is given. `dpproxy --help` imports none of them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, Any

import typer

from proxy.base.errors import Fault
from proxy.cli.cli_error import CliError

# Refuses an option that is given twice and takes one value. The parser would take the last and say nothing.


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
    options = _options_of(command)
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
            options = _options_of(command)


def _options_of(command: Any) -> Mapping[str, Any]:
    options = [one for one in command.params if one.param_type_name == "option"]
    return {name: one for one in options for name in (*one.opts, *one.secondary_opts)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyCommand:
    """A word of the command line.

    Attributes:
        place: Module in `proxy.cli` and name in it, of a function or of a group of commands.
        about: The first line of its help.
        is_group: Whether it has commands of its own.
    """

    place: tuple[str, str]
    about: str
    is_group: bool = False

    def loaded(self) -> Any:
        module, name = self.place
        return getattr(importlib.import_module(f"proxy.cli.{module}"), name)


COMMANDS: Mapping[str, LazyCommand] = {
    "demo": LazyCommand(
        place=("serving_commands", "demo"), about="Serve invented data: a census and a shop."
    ),
    "serve": LazyCommand(
        place=("serving_commands", "serve"), about="Serve the databases of the given policies."
    ),
    "status": LazyCommand(
        place=("status_command", "status"),
        about="Tell how a serving process is. Ends with 0: ready, 3: not ready, 4: draining, 1: not reachable.",
    ),
    "explain": LazyCommand(
        place=("policy_commands", "explain"),
        about="The privacy plan of a statement.",
    ),
    "audit": LazyCommand(
        place=("policy_commands", "audit"),
        about="Compare planned and largest observed sensitivity on invented data shaped by a policy.",
    ),
    "doctor": LazyCommand(
        place=("policy_commands", "doctor"),
        about="Unsafe settings and rights, missing indexes and keys of a protected database, each with its"
        " fix.",
    ),
    "prepare": LazyCommand(
        place=("prepare_command", "prepare"),
        about="Print the SQL that makes the prepared copies of a policy, and makes them anew.",
    ),
    "user": LazyCommand(
        place=("user_commands", "user"),
        about="Analysts: who may run queries, by name and password.",
        is_group=True,
    ),
    "token": LazyCommand(
        place=("user_commands", "token"),
        about="Bearer tokens, with which programs query over HTTP as an analyst.",
        is_group=True,
    ),
    "access": LazyCommand(
        place=("user_commands", "access"),
        about="Who may query which database. Everybody may query every database until one is restricted.",
        is_group=True,
    ),
    "ledger": LazyCommand(
        place=("ledger_commands", "ledger"),
        about="The ledger: budgets, receipts, analysts. Back it up.",
        is_group=True,
    ),
    "policy": LazyCommand(place=("policy_commands", "policy"), about="Policies.", is_group=True),
    "publish": LazyCommand(
        place=("publish_commands", "publish"),
        about="Published tables: what is released, and when.",
        is_group=True,
    ),
}


def command_line(words: Sequence[str] | None = None) -> typer.Typer:
    """Make the root of the commands.

    Args:
        words: Of the command line; only the command that they name is imported. None: all commands are.
    """
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,  # they print local variables, among them passwords
        help="A SQL proxy that answers queries about people with differential privacy.",
    )
    app.callback()(_options)
    for word, one in COMMANDS.items():
        if words is not None and word not in words:
            app.command(word, help=one.about)(_stands_for)
        elif one.is_group:
            app.add_typer(one.loaded(), name=word)
        else:
            app.command(word)(one.loaded())
    return app


def _stands_for() -> None:
    """A command that is not run: another one is, or a help is printed."""
    raise AssertionError("its word was not given")


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dpproxy {version('dpproxy')}")
        raise typer.Exit


def _options(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None: ...


def _say_error(text: str) -> None:
    sys.stderr.write(f"dpproxy: {text}\n")


def main(fail: Callable[[str], None] = _say_error) -> None:
    """fail: tells why the command could not be done."""
    if not __debug__:
        sys.exit("dpproxy: assertions guard the privacy of answers: run Python without -O")
    try:
        command = typer.main.get_command(command_line(sys.argv[1:]))
        refuse_repeated_options(command, sys.argv[1:])
        command(prog_name="dpproxy")
    except Exception as error:
        if not isinstance(error, _told_to_operators()):
            raise
        fail(str(error.for_operators if isinstance(error, Fault) else error))
        sys.exit(1)


def _told_to_operators() -> tuple[type[Exception], ...]:
    from proxy.ledger.users import UserError
    from proxy.policy_file.policy_errors import PolicyErrors
    from proxy.postgres.postgres_error import EmbeddedPostgresError
    from proxy.protected.catalog_reader import Unreachable

    return CliError, EmbeddedPostgresError, PolicyErrors, Unreachable, UserError, Fault
