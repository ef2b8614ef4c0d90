"""What the ledger keeps of the texts of policies, by their digests, for reports."""

from __future__ import annotations

from typing import Any

import psycopg

from proxy.policy.policy_model import Policy
from proxy.policy_file.shown_text import kept_text

TEXT = "SELECT text FROM ledger.policy_text WHERE digest = %s"


def keep_text(connection: psycopg.Connection[Any], policy: Policy) -> None:
    """Keep what the policy says, once, in the transaction of the caller. A policy of no file has no text."""
    is_there = connection.execute(TEXT, (policy.digest,)).fetchone() is not None
    if policy.text and not is_there:
        connection.execute(
            "INSERT INTO ledger.policy_text (digest, text) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (policy.digest, kept_text(policy.text, policy.source)),
        )
