"""From a checked policy to a database that can be served."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path

from proxy.cli.assembly import Database, assemble
from proxy.cli.cli_error import CliError
from proxy.cli.judging_rows import judged_rows
from proxy.cli.loading import CheckedPolicy
from proxy.cli.proxy_servers import ProxyServers
from proxy.cli.publication_checks import refuse_problems
from proxy.ledger.ledger_lease import BudgetLease
from proxy.ledger.ledger_sources import (
    Source,
    SourceError,
    UnknownSource,
    find_source,
    read_identity,
    refuse_own_source,
)
from proxy.ledger.noted_columns import later_columns, remade_unit_columns
from proxy.ledger.text_keys import TextKeyMissing, opened_cipher
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import locate
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.catalog_reader import Unreachable
from proxy.protected.judged_rows import CatalogueMoved, JudgedRows, RowsWithheld, with_judged_rows
from proxy.shadow.published_statements import PublishedStatements
from proxy.shadow.shadow_database import Shadow, as_analysts
from proxy.shadow.shadow_tables import ShadowError


def build(
    checked: CheckedPolicy,
    servers: ProxyServers,
    source: Source,
    built: Future[Shadow],
    workers: int = 1,
) -> Database:
    """The limits in the ledger made what the policy says, and the engine in front of the shadow.

    Given    built: of `shadows_being_built`; workers: so many processes share the protected database's sessions
    Refuses  Stopped
    """
    policy, catalog = checked.policy, checked.catalog
    try:
        lease = BudgetLease(servers.ledger_dsn, source.id, policy)
    except SourceError as error:
        raise CliError(str(error)) from None
    try:
        texts = opened_cipher(servers.ledger_dsn, servers.mark.state)
    except TextKeyMissing as error:
        lease.close()
        raise CliError(str(error)) from None
    try:
        shadow = built.result()
    except (ShadowError, RowsWithheld, CatalogueMoved, Unreachable) as error:
        lease.close()
        raise CliError(f"database {policy.database}: {error}") from None
    try:
        return assemble(policy, catalog, shadow, lease, texts, workers=workers)
    except (RowsWithheld, CatalogueMoved, Unreachable) as error:
        lease.close()
        raise CliError(f"database {policy.database}: {error}") from None


def refuse_unpublishable(checked: CheckedPolicy, database: Database) -> None:
    """
    Refuses  Stopped where something that the policy publishes cannot be released
    """
    if database.publishing is None:
        return
    shadow = database.shadow
    statements = PublishedStatements(
        database.policy, database.catalog, lambda: as_analysts(shadow), shadow.show
    )
    try:
        refuse_problems(checked, statements, database.engine)
    except PolicyErrors as error:
        raise CliError(str(error)) from None


def refuse_new_columns(checked: CheckedPolicy, ledger_dsn: str, source: Source) -> None:
    """
    Refuses  Stopped where a public table has columns that came after it was shown first, or a unit's column
             was made anew since it was served
    """
    of = ledger_dsn, source.id, checked.policy, checked.catalog
    later = later_columns(*of) + remade_unit_columns(*of)
    if later:
        problems = [one.problem for one in later]
        raise CliError(str(locate(problems, checked.text, checked.file)))


def known_source(checked: CheckedPolicy, ledger_dsn: str, file: Path, options: str) -> Source:
    """
    Given    a policy, the ledger, and for the hint: the policy's file, the options that name the ledger
    Refuses  Stopped where the ledger does not know the data, with the commands that tell it
    """
    database = checked.policy.database
    try:
        refuse_own_source(ledger_dsn, checked.policy.source)
        return find_source(ledger_dsn, read_identity(checked.policy.source), database)
    except SourceError as error:
        raise CliError(f"database {database}: {error}") from None
    except UnknownSource as error:
        adopt = f"dpproxy ledger adopt --policy {shlex.quote(str(file))} {options}"
        known = ", ".join(error.known) or "none yet"
        raise CliError(
            f"database {database}: the ledger does not know this data ({error.identity}): wrong {options}?\n"
            f"  If no query has been run about these people before: {adopt} --new\n"
            f"  If it is the data of a source that the ledger knows, moved, upgraded or restored ({known}):"
            f" {adopt} --as NAME"
        ) from None


# Shadows are built beside the ledger's checks and the imports: each of them is mostly waiting.


def shadows_being_built(
    checked: Sequence[CheckedPolicy], server: EmbeddedPostgres
) -> list[Future[Shadow]]:
    """
    Given    checked policies; the running server of their shadows
    Gives    for each policy its shadow, built; or what `Shadow.build` refuses. The thread is a daemon: a source
             that does not answer keeps nobody from ending the program
    """
    shadows = [Shadow(server.dsn(), one.policy.database, server.address) for one in checked]
    built: list[Future[Shadow]] = [Future() for _ in shadows]

    def build() -> None:
        for one, shadow, future in zip(checked, shadows, built, strict=True):
            try:
                with_judged_rows(
                    partial(judged_rows, one.policy),
                    partial(_build, one, shadow, shadow is shadows[-1]),
                )
            except BaseException as error:  # handed to who waits for it, whatever it is
                future.set_exception(error)
            else:
                future.set_result(shadow)

    threading.Thread(target=build, name="shadows", daemon=True).start()
    return built


def _build(checked: CheckedPolicy, shadow: Shadow, is_last: bool, rows: JudgedRows) -> None:
    shadow.build(checked.policy, checked.catalog, rows, is_last=is_last)
