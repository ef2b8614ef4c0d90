"""Whether all that a policy publishes can be read, described and planned; and `publish --now`, which
releases it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from proxy.base.errors import Fault, Refusal
from proxy.cli.cli_error import CliError
from proxy.cli.explain_command import engine_without_data
from proxy.cli.findings_report import refusal_text
from proxy.cli.held_budgets import charging, held_budgets
from proxy.cli.judging_rows import judged_rows
from proxy.cli.loading import CheckedPolicy, verdict_of
from proxy.cli.proxy_servers import accept_command
from proxy.cli.running import run
from proxy.cli.state_folder import state_folder
from proxy.engine.accuracy import text_of
from proxy.engine.machine_clock import day_of_machine
from proxy.engine.policy_statements import numbered
from proxy.engine.published_ports import ReleaseState
from proxy.engine.publishing import (
    Publishing,
    Released,
    errors_of_ranges,
    errors_of_series,
    prepared_ranges,
    prepared_series,
)
from proxy.engine.query_pipeline import Engine
from proxy.engine.releasing import Releasing
from proxy.ledger.ledger_sources import Source
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.published_releases import PublishedReleases
from proxy.ledger.text_keys import TextKeyMissing, opened_cipher
from proxy.mechanisms.loss import NOTHING
from proxy.planner.facts import PublicContents
from proxy.policy.findings import Problem
from proxy.policy.publication import Publication
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import locate
from proxy.protected.judged_rows import CatalogueMoved, RowsWithheld
from proxy.protected.public_values import read_public_contents
from proxy.shadow.constant_evaluation import ShadowLabels, beside, own_shadow
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


# `dpproxy publish --now NAME`: one release more, charged; a serving process shows it within seconds.


def released_now(
    checked: CheckedPolicy,
    of: Publication,
    dsn: str,
    source: Source,
    state: Path | None,
    ledger_dsn: str | None,
) -> Iterator[str]:
    """Lines for the operator, after the charge.

    Refuses  CliError: not charged; Fault of what goes wrong later: charged, and finished by the next release
    """
    verdict = verdict_of(checked)
    if verdict.refuses:
        raise CliError(refusal_text(verdict, checked.text, checked.file))
    home = state_folder(state)
    try:
        texts = opened_cipher(dsn, home)
    except TextKeyMissing as error:
        raise CliError(str(error)) from None
    try:
        with (
            held_budgets(checked.policy, source.id, dsn, home, accept_command(home, ledger_dsn)),
            own_shadow(checked.policy, checked.catalog) as connection,
            contextlib.closing(ShadowLabels(lambda: beside(connection))) as labels,
        ):
            statements = PublishedStatements(
                checked.policy,
                checked.catalog,
                lambda: contextlib.nullcontext(connection),
                lambda _: None,
            )
            released = run(
                _released(
                    checked,
                    of,
                    LedgerTables(dsn, source.id, texts, 2),
                    statements,
                    labels,
                )
            )
    except PolicyErrors as error:
        raise CliError(str(error)) from None
    except (RowsWithheld, CatalogueMoved) as error:  # since the verdict
        raise CliError(str(error)) from None
    except Refusal as refusal:
        raise CliError(f"{refusal.message}. {refusal.hint}") from None
    except Fault as fault:
        raise CliError(
            f"{fault.for_operators}. If it was charged, the next release is drawn under that charge"
        ) from None
    yield from _messages(of, released)


def _messages(of: Publication, released: Released) -> Iterator[str]:
    spent = text_of(of.loss.epsilon)
    if released.state is ReleaseState.UNFUNDED:
        raise CliError(
            f"{' and '.join(released.short)} does not cover epsilon {spent}. Nothing was read, nothing is"
            " charged"
        )
    if released.state is ReleaseState.WAIT:
        raise CliError(
            f"another process is drawing published.{of.name}: it is there within a minute, and nothing"
            " more is charged"
        )
    if released.total_epsilon is None:
        yield f"finished published.{of.name} under receipt {released.receipt}: it was charged before"
        return
    if released.loss == NOTHING:
        yield f"released the days of published.{of.name} that have ended: its first release has paid for them"
        return
    left = text_of(released.total_epsilon)
    yield f"released published.{of.name}: epsilon {text_of(released.loss.epsilon)} charged to the shared budget"
    yield f"(receipt {released.receipt}); epsilon {left} of it is left"


async def _released(
    checked: CheckedPolicy,
    of: Publication,
    tables: LedgerTables,
    statements: PublishedStatements,
    labels: ShadowLabels,
) -> Released:
    policy, catalog = checked.policy, checked.catalog
    rows = judged_rows(policy)
    public = read_public_contents(policy, catalog)
    rows.confirm()
    async with charging(policy, catalog, tables) as to:
        engine = Engine(
            to.drawer,
            numbered(policy),
            to.ledger,
            public,
            questions=to.ledger,
            naming_key=tables.texts.naming_key,
            evaluating=labels,
        )
        refuse_problems(checked, statements, engine)
        releases = PublishedReleases(tables)
        releasing = Releasing(engine.drawer, releases, statements)
        publishing = Publishing(engine, releases, releasing, statements)
        return await publishing.release(of, is_now=True)
