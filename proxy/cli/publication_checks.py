"""Whether all that a policy publishes can be: read, described and planned, nothing of it released."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator

from proxy.base.errors import Refusal
from proxy.cli.explain_command import engine_without_data
from proxy.cli.loading import CheckedPolicy
from proxy.engine.accuracy import text_of
from proxy.engine.machine_clock import day_of_machine
from proxy.engine.query_pipeline import Engine
from proxy.engine.series_plans import (
    errors_of_ranges,
    errors_of_series,
    prepared_ranges,
    prepared_series,
)
from proxy.planner.facts import PublicContents
from proxy.policy.findings import Problem
from proxy.policy.publication import Publication
from proxy.policy_file.policy_yaml import locate
from proxy.shadow.constant_evaluation import beside, own_shadow
from proxy.shadow.label_answers import ShadowLabels
from proxy.shadow.published_statements import PublishedStatements

_UNPUBLISHABLE = "it cannot be published"
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NAME = r'"?([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*)"?'
# Messages that quote nothing of a statement but the name of a table or column.
_OF_A_NAME = (
    re.compile(rf"there is no column {_NAME} in the policy of this table"),
    re.compile(rf"column {_NAME} does not exist"),
    re.compile(rf"relation {_NAME} does not exist"),
    re.compile(r"what is published asks nothing of a protected table()"),
)
_PRINTED = 40  # characters of a statement, from where it is wrong


def check_publications(checked: CheckedPolicy, public: PublicContents) -> tuple[str, ...]:
    """Check that everything that the policy publishes can be released. Release nothing.

    It starts a server of its own for one or two seconds, unless the policy publishes nothing.

    Args:
        checked: Policy and catalogue.
        public: Of the policy's public tables, as `serve` reads them.

    Returns:
        How exact days and their sums will be, a line for each series and `ranges`.

    Raises:
        PolicyErrors: Each at the statement that is wrong.
        ShadowError: The shadow cannot be made.
    """
    if not checked.policy.publish:
        return ()
    with (
        own_shadow(checked.policy, checked.catalog) as connection,
        contextlib.closing(ShadowLabels(lambda: beside(connection))) as labels,
    ):
        statements = PublishedStatements(
            checked.policy,
            checked.catalog,
            lambda: contextlib.nullcontext(connection),
            lambda _: None,
        )
        engine = engine_without_data(checked.policy, checked.catalog, public, labels)
        refuse_problems(checked, statements, engine)
        return tuple(_errors(statements, engine))


def _errors(statements: PublishedStatements, engine: Engine) -> Iterator[str]:
    for one in engine.policy.publish:
        if one.continual is not None:
            prepared = prepared_series(engine, one, *statements.read(one))
            yield errors_of_series(one, prepared.private)
        if one.ranges is not None:
            read, day = statements.read(one), day_of_machine()
            prepared = prepared_ranges(engine, one, *read, day)
            alone = engine.prepared(*read, one.loss, day)
            yield errors_of_ranges(one, prepared.private, alone.private)


def refuse_problems(
    checked: CheckedPolicy, statements: PublishedStatements, engine: Engine
) -> None:
    """Refuses  PolicyErrors"""
    problems = publication_problems(statements, engine)
    if problems:
        raise locate(problems, checked.text, checked.file)


def publication_problems(statements: PublishedStatements, engine: Engine) -> list[Problem]:
    problems = []
    total = engine.policy.budgets.total.limit
    for number, of in enumerate(engine.policy.publish):
        if of.loss.epsilon > total.epsilon:
            message = (
                f"the total budget has epsilon {text_of(total.epsilon)}: it can never be released"
            )
            problems.append(
                Problem(("publish", number, "epsilon"), message, "lower it, or raise the total")
            )
        try:
            question, constants = statements.read(of)
            statements.columns(question)
            if of.continual is not None:
                prepared_series(engine, of, question, constants)
            elif of.ranges is not None:
                prepared_ranges(engine, of, question, constants, day_of_machine())
            else:
                engine.prepared(question, constants, of.loss, day_of_machine())
        except Refusal as refusal:
            problems.append(
                Problem(("publish", number, "sql"), _message(of, refusal), refusal.hint)
            )
    return problems


def _message(of: Publication, refusal: Refusal) -> str:
    """The place in the file is the statement's: what is wrong in it is quoted."""
    if refusal.position is None or not 1 <= refusal.position <= len(of.sql.strip()):
        return refusal.message
    rest = " ".join(of.sql.strip()[refusal.position - 1 :].split())
    printed = rest if len(rest) <= _PRINTED else f"{rest[: _PRINTED - 3]}..."
    return f"{refusal.message} (at {printed!r})"


def unpublishable_because(message: str, texts: Iterable[str]) -> str:
    """Say for the log why something cannot be published.

    A statement may have literals about people, and a message may quote them. So the reason is told only if it
    is a name that the statement has outside quotes.

    Args:
        message: Of the problem.
        texts: All statements that the policy publishes.

    >>> texts = ["SELECT statez FROM s.t WHERE name = 'Meyer'"]
    >>> unpublishable_because('column "statez" does not exist', texts)
    'it cannot be published: column "statez" does not exist'
    >>> unpublishable_because('column "meyer" does not exist', texts)
    'it cannot be published: dpproxy policy check says why'
    """
    bare = message.partition(" (at ")[0]
    found = next((one for pattern in _OF_A_NAME if (one := pattern.fullmatch(bare))), None)
    quoted = " ".join(part for text in texts for part in _quoted(text)).lower()
    if found is None or any(name and name in quoted for name in found[1].split(".")):
        return f"{_UNPUBLISHABLE}: dpproxy policy check says why"
    return f"{_UNPUBLISHABLE}: {bare}"


def _quoted(text: str) -> list[str]:
    """Its pieces in quotes. All of it, where PostgreSQL has other quotes than the plain ones."""
    return (
        [text]
        if "$" in text or "\\" in text or "--" in text or "/*" in text
        else _QUOTED.findall(text)
    )
