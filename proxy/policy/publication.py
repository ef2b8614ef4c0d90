"""What a policy publishes: a statement that is released on a schedule, for everybody. Plain data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from proxy.base.decimals import decimal_text
from proxy.mechanisms.loss import Loss

PUBLISHED_SCHEMA = "published"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """The table `published.NAME`. A release is due every so many seconds, counted from `offset` seconds after
    midnight, UTC; loss: of each."""

    name: str
    sql: str
    seconds: int
    offset: int
    loss: Loss

    @property
    def version(self) -> str:
        """Of the statement and what it may spend. What else a policy says changes the next release alone: a
        comment in its file must not cost one."""
        parts = (self.sql, decimal_text(self.loss.epsilon), decimal_text(self.loss.delta))
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
