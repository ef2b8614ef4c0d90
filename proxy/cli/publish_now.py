"""`dpproxy publish --now NAME`: one release more, charged; a serving process shows it within seconds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from proxy.base.errors import Fault, Refusal
from proxy.cli.cli_error import CliError
from proxy.cli.findings_report import refusal_text
from proxy.cli.held_budgets import charging, held_budgets
from proxy.cli.judging_rows import judged_rows
from proxy.cli.loading import CheckedPolicy, verdict_of
from proxy.cli.proxy_servers import accept_command
from proxy.cli.publication_checks import refuse_problems
from proxy.cli.running import run
from proxy.cli.state_folder import state_folder
from proxy.engine.accuracy import text_of
from proxy.engine.policy_statements import numbered
from proxy.engine.published_ports import ReleaseState
from proxy.engine.publishing import Publishing, Released
from proxy.engine.query_pipeline import Engine
from proxy.engine.releasing import Releasing
from proxy.ledger.ledger_sources import Source
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.published_releases import PublishedReleases
from proxy.ledger.text_keys import TextKeyMissing, opened_cipher
from proxy.mechanisms.loss import NOTHING
from proxy.policy.publication import Publication
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.protected.judged_rows import CatalogueMoved, RowsWithheld
from proxy.protected.public_values import read_public_contents
from proxy.shadow.constant_evaluation import beside, own_shadow
from proxy.shadow.label_answers import ShadowLabels
from proxy.shadow.published_statements import PublishedStatements


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
