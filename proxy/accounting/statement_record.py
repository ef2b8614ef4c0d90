"""What a charge notes of its statement beside its cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.mechanisms.loss import Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementRecord:
    """text: as the analyst wrote it, where the policy keeps texts; tables: what is drawn of each protected
    table, by its name."""

    text: str | None = None
    tables: Mapping[str, Loss] = field(default_factory=dict)


NOTHING_NOTED = StatementRecord()
