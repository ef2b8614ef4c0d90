"""What the administrators' log is told of policies taken or refused: digests and keys, no text of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from proxy.ledger.admin_log import append_event_once
from proxy.policy.policy_changes import policy_changes
from proxy.policy.policy_model import Policy
from proxy.policy.protection_words import weakened
from proxy.postgres.failure_reason import reason_of

_BY = "dpproxy: policy file"
_SHORT = 12
_LISTED = 50

_log = structlog.get_logger("dpproxy.reloading")


def note_taken(ledger_dsn: str, before: Policy, taken: Policy) -> None:
    """That a policy came in force, by itself or since somebody asked; and where it protects people less."""
    points = weakened(policy_changes(before, taken))
    detail = {
        "database": taken.database,
        "before": before.digest[:_SHORT],
        "digest": taken.digest[:_SHORT],
        "weaker": len(points),
        "points": list(points[:_LISTED]),
    }
    _note(ledger_dsn, "policy taken", detail)


def note_refused(ledger_dsn: str, in_force: Policy, digest: str) -> None:
    """That a file was not taken. Why, is in the log of the process and on the page of the policy."""
    detail = {
        "database": in_force.database,
        "in_force": in_force.digest[:_SHORT],
        "refused": digest[:_SHORT],
    }
    _note(ledger_dsn, "policy refused", detail)


def _note(ledger_dsn: str, what: str, detail: Mapping[str, Any]) -> None:
    try:
        append_event_once(ledger_dsn, _BY, what, detail)
    except Exception as error:  # whatever it was, what is in force is whole
        name = detail["database"]
        _log.error("policy_change_not_noted", database=name, what=what, reason=reason_of(error))
