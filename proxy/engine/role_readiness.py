"""Whether the shadow's server has the roles of the analysts, so that its refusal of a password means something.

A server that has just started has none. It refuses every password then, as it refuses a wrong one.
"""

from __future__ import annotations

LOGINS_AWAY = "the database system is not available"
LOGINS_AWAY_HINT = "Try again in a few seconds."


class RoleReadiness:
    """Of one server. Ready at first: the roles are made before the listeners are opened.

    Read `generation` before a password is handed to the server, and compare it when the server has refused it.
    """

    def __init__(self) -> None:
        self._generation = 0
        self._is_ready = True

    @property
    def generation(self) -> int | None:
        """A number of the server that runs. None: it may lack roles, so that no login can be checked."""
        return self._generation if self._is_ready else None

    def lose(self) -> None:
        """Note that the server has ended. Call it before another is started."""
        self._generation += 1
        self._is_ready = False

    def regain(self) -> None:
        """Note that the roles were made."""
        self._is_ready = True
