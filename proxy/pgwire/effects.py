"""What the machine of the relay hands out: bytes for both sides, and what it waits for."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.pgwire.calls import (
    ConstantsWanted,
    Look,
    LookPrepared,
    PlanTrial,
    QueryAnswer,
    Read,
    Refuse,
    RunQuery,
    Substitute,
    Trial,
    Verbatim,
)
from proxy.pgwire.statement_look import Looked, Pieces

Wanted = RunQuery | PlanTrial | Read | Look | LookPrepared
Result = (
    QueryAnswer | Trial | None | Verbatim | Substitute | ConstantsWanted | Refuse | Looked | Pieces
)


@dataclass(slots=True)
class Effects:
    """What to do now. wanted: answer it by `answered`; Read, Look and LookPrepared take long, and are for a
    thread. close: after the bytes were sent."""

    to_client: bytes = b""
    to_shadow: bytes = b""
    wanted: Wanted | None = None
    close: bool = False
    more: bool = False  # frames are left for another turn: call `go_on`
