"""What the ledger keeps of the texts of policies, by their digests, for reports."""

from __future__ import annotations

from typing import Any

import psycopg

from proxy.policy.policy_model import Policy
from proxy.policy_file.shown_text import kept_text

TEXT = "SELECT text FROM ledger.policy_text WHERE digest = %s"


def text_to_keep(connection: psycopg.Connection[Any], policy: Policy) -> str:
    """Give what the ledger is to keep of a policy. "": it has it, or the policy is of no file.

    It takes seconds for a long one, so it is called before anything is locked.
    """
    is_kept = connection.execute(TEXT, (policy.digest,)).fetchone() is not None
    return "" if is_kept or not policy.text else kept_text(policy.text, policy.source)


def keep_text(connection: psycopg.Connection[Any], policy: Policy, text: str) -> None:
    """Keep what `text_to_keep` gave, once, in the transaction of the caller."""
    if text:
        connection.execute(
            "INSERT INTO ledger.policy_text (digest, text) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (policy.digest, text),
        )
