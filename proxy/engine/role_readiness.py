"""Whether analysts may log in to the shadow's server now.

A server that has just started has no roles of analysts. It refuses every password then, as it refuses a wrong
one. A change of a policy that open transactions keep from being taken holds logins, too: who is ended for it
must not be back before it is taken.
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
        self._holding: set[str] = set()

    @property
    def generation(self) -> int | None:
        """A number of the server that runs. None: nobody may log in."""
        return self._generation if self._is_ready and not self._holding else None

    @property
    def has_roles(self) -> bool:
        return self._is_ready

    @property
    def is_held(self) -> bool:
        """Whether a change of a policy holds logins."""
        return bool(self._holding)

    def hold(self, database: str) -> bool:
        """Let nobody log in until `release`. From any thread.

        Args:
            database: Whose policy changes.

        Returns:
            Whether it did not hold logins before.
        """
        is_new = database not in self._holding
        self._holding.add(database)
        return is_new

    def release(self, database: str) -> None:
        """The change is taken, or waits for something else. From any thread."""
        self._holding.discard(database)

    def lose(self) -> None:
        """Note that the server has ended. Call it before another is started."""
        self._generation += 1
        self._is_ready = False

    def regain(self) -> None:
        """Note that the roles were made."""
        self._is_ready = True
