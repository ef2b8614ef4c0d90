"""What a policy publishes: a statement that is released on a schedule, for everybody. Plain data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from proxy.base.decimals import decimal_text
from proxy.base.instants import DAY_SECONDS
from proxy.mechanisms.loss import Loss

PUBLISHED_SCHEMA = "published"


@dataclass(frozen=True, slots=True, kw_only=True)
class Continual:
    """Of a statement that is released day by day under one charge: so many days, in at most `most_days` of
    which a unit counts. The owner promises that rows are only added."""

    days: int
    most_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySums:
    """Of a statement whose groups are days that are released together, and added up: in at most `most_days` of
    them a unit counts."""

    most_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """The table `published.NAME`. A release is due every so many seconds, counted from `offset` seconds after
    midnight, UTC; loss: of each, or of all days of `continual`; smallest: the smallest groups that the policy
    shows, by table, where it says any. Never both continual and ranges."""

    name: str
    sql: str
    seconds: int
    offset: int
    loss: Loss
    smallest: tuple[tuple[str, int], ...] = ()
    continual: Continual | None = None
    ranges: DaySums | None = None

    @property
    def charged_seconds(self) -> int:
        """From one charge to the next, at least."""
        return self.seconds if self.continual is None else self.continual.days * DAY_SECONDS

    @property
    def version(self) -> str:
        """Of the statement, what it may spend, and the smallest groups, to which what stands has to keep. What
        else a policy says changes the next release alone: a comment in its file must not cost one."""
        parts: list[object] = [
            *(self.sql, decimal_text(self.loss.epsilon), decimal_text(self.loss.delta)),
            *self.smallest,
        ]
        if self.continual is not None:
            parts.append(["continual", self.continual.days, self.continual.most_days])
        if self.ranges is not None:
            parts.append(["ranges", self.ranges.most_days])
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
