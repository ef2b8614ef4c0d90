"""Shadows are built beside the ledger's checks and the imports: each of them is mostly waiting."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial

from proxy.cli.judging_rows import judged_rows
from proxy.cli.loading import CheckedPolicy
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.judged_rows import JudgedRows, with_judged_rows
from proxy.shadow.shadow_database import Shadow


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
