"""`dpproxy policy diff`: what a policy changes about another, before it is put in force."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typing_extensions import assert_never

from proxy.cli.cli_error import CliError
from proxy.policy.change_words import Change, Direction, Topic, error
from proxy.policy_file.policy_errors import PolicyErrors

if TYPE_CHECKING:
    from proxy.catalog.catalog_model import Catalog
    from proxy.policy.policy_model import Policy

_SIGNS = {
    Direction.GAINS: "+",
    Direction.LOSES: "-",
    Direction.EXPOSES: "!",
    Direction.CHANGES: "~",
}


class AnyVariable(dict[str, str]):
    """Nothing is connected to: what `${NAME}` holds does not matter, but that it is the same in both."""

    def get(self, key: str, default: object = None) -> str:
        return f"${{{key}}}"

    def __getitem__(self, key: str) -> str:
        return self.get(key)


def policy_diff(
    old: Path,
    new: Path,
    dsn: Annotated[
        str | None,
        typer.Option(
            help="Also hold both against this database, and compare errors of each column and aggregate.",
            metavar="DSN",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """What the policy NEW changes about OLD: who gains or loses what, and what happens to errors, budgets and
    cached answers. Reads no row."""
    from proxy.cli.loading import read_policy_file
    from proxy.policy.change_words import protection_words
    from proxy.policy.policy_changes import policy_changes

    try:
        (before, _), (after, text) = (read_policy_file(file, AnyVariable()) for file in (old, new))
        changes = policy_changes(before, after)
        if dsn is not None:
            changes += _errors(before, after, dsn, text, new)
    except PolicyErrors as errors:
        raise CliError(str(errors)) from None
    if as_json:
        typer.echo(json.dumps([change_json(change) for change in changes], indent=2))
        return
    people = protection_words(before, after, changes)
    for line in _report(changes, people, old, new):
        typer.echo(line)


def _errors(before: Policy, after: Policy, dsn: str, text: str, file: Path) -> list[Change]:
    """By EXPLAIN's own words, where OLD fits the database still."""
    from proxy.policy.check import check, fitted
    from proxy.policy_file.policy_yaml import locate
    from proxy.protected.catalog_reader import reachable_catalog

    catalog = reachable_catalog(dsn)
    problems = check(after, catalog)
    if problems:
        raise locate(problems, text, str(file))
    now = _exactness(fitted(after, catalog), catalog, dsn)
    if check(before, catalog):
        what = "OLD does not fit the database any more, so errors are not compared"
        return [error("tables", what)]
    was = _exactness(fitted(before, catalog), catalog, dsn)
    return [
        error(f"{table} {column} {aggregate}", f"{was[table, column, aggregate]} -> {displayed}")
        for (table, column, aggregate), displayed in now.items()
        if was.get((table, column, aggregate), displayed) != displayed
    ]


def _exactness(policy: Policy, catalog: Catalog, dsn: str) -> Mapping[tuple[str, str, str], str]:
    from proxy.base.errors import Refusal
    from proxy.cli.accuracy_report import policy_accuracy
    from proxy.protected.catalog_reader import reachable_contents

    public = reachable_contents(replace(policy, source=dsn), catalog)
    return {
        (line.table, line.column, line.aggregate): (
            f"refused: {line.planned.message}"
            if isinstance(line.planned, Refusal)
            else "an error that is private"
            if line.planned.error is None
            else f"95 % error {line.planned.error.text()}"
        )
        for line in policy_accuracy(policy, catalog, public)
    }


def _report(
    changes: Sequence[Change], people: Sequence[str], old: Path, new: Path
) -> Iterator[str]:
    if not changes:
        yield f"{new} says the same as {old}"
        return
    yield from people
    yield ""
    for topic in Topic:
        listed = [change for change in changes if change.topic is topic]
        if listed:
            yield f"{_head(topic)}:"
            for change in listed:
                line = f"{_SIGNS[change.direction]} {change.where}: {change.what}"
                yield f"  {line} [people: {change.people.value}]"
    yield ""
    yield "+ analysts gain, - analysts lose, ! people's rows are shown, ~ otherwise"
    yield "[people: ...] is what becomes of the protection of those whom the data is about"


def _head(topic: Topic) -> str:
    match topic:
        case Topic.RIGHTS:
            return "What analysts can ask"
        case Topic.PROTECTION:
            return "What is protected, and what is accepted"
        case Topic.ERROR:
            return "How exact answers are, and what they cost"
        case Topic.BUDGETS:
            return "Budgets"
        case Topic.CACHE:
            return "Cached answers"
        case Topic.PUBLISHED:
            return "Published tables"
        case Topic.REST:
            return "The rest"
        case _:
            assert_never(topic)


def change_json(change: Change) -> Mapping[str, str]:
    return {
        "topic": change.topic.value,
        "direction": change.direction.value,
        "people": change.people.value,
        "where": change.where,
        "what": change.what,
    }
