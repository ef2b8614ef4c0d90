"""What dp.status tells an analyst: how the process is, as far as it concerns themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass


def _none_of(analyst: str) -> int:
    return 0


@dataclass(slots=True, kw_only=True)
class ServingProcess:
    """Filled in by who opens the listeners.

    Attributes:
        session_limit: PostgreSQL sessions that each analyst may have. None: as many as there are.
        sessions_of: How many an analyst has.
        waiting_of: How many statements of an analyst wait for others.
    """

    version: str = ""
    session_limit: int | None = None
    is_draining: Callable[[], bool] = lambda: False
    sessions_of: Callable[[str], int] = _none_of
    waiting_of: Callable[[str], int] = _none_of

    def own_status(self, analyst: str, database: str, policy_digest: str) -> str:
        """The row of dp.status as JSON, with nothing of other analysts.

        >>> ServingProcess(version="0.1").own_status("a", "shop", "4522")
        '[{"database": "shop", "version": "0.1", "policy": "4522", "is_draining": false, \
"own_sessions": 0, "own_session_limit": null, "statements_waiting": 0}]'
        """
        row = {
            "database": database,
            "version": self.version,
            "policy": policy_digest,
            "is_draining": self.is_draining(),
            "own_sessions": self.sessions_of(analyst),
            "own_session_limit": self.session_limit,
            "statements_waiting": self.waiting_of(analyst),
        }
        return json.dumps([row])
