"""An option that takes one value is refused where it is given twice, of whatever command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from proxy.cli.cli_error import CliError
from proxy.cli.main import command_line, refuse_repeated_options
from tests.cli.commands import dpproxy

_ROOT = typer.main.get_command(command_line())


def _commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    below = getattr(command, "commands", {})
    for name, one in below.items():
        yield from _commands(one, (*words, name))
    if not below:
        yield words, command


def _options() -> Iterator[tuple[tuple[str, ...], Any]]:
    for words, command in _commands(_ROOT):
        for option in command.params:
            if option.param_type_name == "option" and not option.is_flag:
                yield words, option


_VALUED = list(_options())


@pytest.mark.parametrize(
    ("words", "option"), _VALUED, ids=[" ".join((*w, o.opts[0])) for w, o in _VALUED]
)
def test_each_option(words: tuple[str, ...], option: Any) -> None:
    name = option.opts[0]
    once = [*words, name, "a"]
    refuse_repeated_options(_ROOT, once)
    for again in ([name, "b"], [f"{name}=b"], ["argument", name, "--json"]):
        if option.multiple:
            refuse_repeated_options(_ROOT, [*once, *again])
            continue
        with pytest.raises(CliError, match=f"^{name} is given twice"):
            refuse_repeated_options(_ROOT, [*once, *again])


def test_there_are_both_kinds() -> None:
    assert len(_VALUED) > 40
    assert {"--policy"} < {option.opts[0] for _, option in _VALUED if option.multiple}


def test_values_and_words_behind_two_hyphens_are_no_options() -> None:
    refuse_repeated_options(_ROOT, ["ledger", "adopt", "--state", "--state", "--name", "x"])
    refuse_repeated_options(_ROOT, ["explain", "--policy", "a", "--", "--policy", "b"])


def test_a_command_drops_no_option() -> None:
    done = dpproxy("ledger", "adopt", "--new", "--policy", "a.yaml", "--state", "a", "--state", "b")
    assert (done.code, done.out) == (1, "")
    assert done.err == "dpproxy: --state is given twice, and takes one value: give it once\n"
