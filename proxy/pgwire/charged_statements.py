"""The statements of a transaction that are charged, and what an error after the charge says of them.

An error in a transaction undoes everything that was made from its answers. So each answer is kept, and the
next statement with the same plan is not charged again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from proxy.pgwire.calls import ChargedAnswer

_MOST = 8  # of a transaction; as many answers of an analyst are kept
# The class of constraints: those that are deferred are checked by COMMIT.
_CONSTRAINTS = b"23"


@dataclass(slots=True)
class ChargedStatements:
    """running: since the last ReadyForQuery or statement; earlier: of the same transaction."""

    _running: list[ChargedAnswer] = field(default_factory=list)
    _earlier: list[ChargedAnswer] = field(default_factory=list)

    def begin(self, charged: ChargedAnswer | None) -> None:
        """A statement is going to run."""
        self.end_statement()
        if charged is not None:
            self._running.append(charged)

    def end_statement(self) -> None:
        """Other statements of the transaction follow."""
        if self._running:
            self._earlier = [*self._earlier, *self._running][-_MOST:]
            self._running = []

    @property
    def is_pending(self) -> bool:
        """Whether an error of this transaction would have to be looked at."""
        return bool(self._running or self._earlier)

    def ready(self, transaction_status: bytes) -> None:
        """ReadyForQuery: the transaction goes on, or is over."""
        self.end_statement()
        if transaction_status == b"I":
            self._earlier = []

    def fail(self, sqlstate: bytes, *, is_commit: bool) -> str | None:
        """Keep the answers of a transaction that fails.

        Args:
            sqlstate: Of the error.
            is_commit: Whether it comes at the end of an implicit transaction.

        Returns:
            The hint about the charges, if the error may be about what was charged.
        """
        answers = [*self._earlier, *self._running]
        concerned = answers if is_commit or sqlstate.startswith(_CONSTRAINTS) else self._running
        for answer in answers:
            answer.keep()
        hints = list(dict.fromkeys(filter(None, (answer.hint() for answer in concerned))))
        self._running, self._earlier = [], []
        return " ".join(hints) or None
