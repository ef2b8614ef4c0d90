"""The relay, asked first whether a piece passes as it is: most do, and need no more than that (ADR 0061)."""

from __future__ import annotations

from proxy.pgwire.calls import StatementReader
from proxy.pgwire.plain_frames import PassingRun, round_of, round_status
from proxy.pgwire.relay import UNANSWERED, Effects, Relay, Result


class QuickRelay(Relay):
    """Says what a Relay says.

    A whole round trip that begins where nothing is under way leaves nothing but its transaction status. So what
    it expects is noted only where anything else is said or asked before its answer (`_settle`).
    """

    def __init__(self, reader: StatementReader, client_encoding: bytes = b"UTF8") -> None:
        super().__init__(reader, client_encoding)
        self._answers = self._session.answers
        self._is_at_rest = False
        self._round: PassingRun | None = None  # passed at rest; its answer is all that is to come

    def passes(self, data: bytes) -> bool:
        """Whether all that a client has sent goes to the shadow as it is: then its answers are expected, and
        nothing else is to be done. Else nothing has changed, and `from_client` is to read it."""
        if self._is_at_rest:
            run = round_of(data)
            if run is not None:
                self._is_at_rest = False
                self._round = run
                return True
        self._settle()
        if self._client or self._conversation is not None or self._passing or self._close:
            return False
        run = self._session.passing(data)
        return run is not None and self._answers.expect_all(run, UNANSWERED)

    def answer_passes(self, data: bytes) -> bool:
        """Whether all that the shadow has sent goes to the client as it is, behind what was kept back, and
        nothing else is to be done. Else nothing has changed, and `from_shadow` is to read it."""
        run = self._round
        if run is not None:
            status = round_status(data, run)
            if status is not None:
                self._answers.transaction_status = status
                self._round = None
                self._is_at_rest = True
                return True
        self._settle()
        is_waited_for = self._conversation is not None or self._client
        passes = not is_waited_for and self._answers.passes(data)
        self._is_at_rest = passes and not (self._passing or self._close) and self._session.at_rest
        return passes

    @property
    def is_running(self) -> bool:
        return self._round is not None or super().is_running

    @property
    def idle(self) -> bool:
        return self._round is None and super().idle

    def from_client(self, data: bytes) -> Effects:
        self._settle()
        return super().from_client(data)

    def from_shadow(self, data: bytes) -> Effects:
        self._settle()
        return super().from_shadow(data)

    def answered(self, result: Result) -> Effects:
        self._settle()
        return super().answered(result)

    def go_on(self) -> Effects:
        self._settle()
        return super().go_on()

    def _settle(self) -> None:
        self._is_at_rest = False
        if self._round is not None:
            self._answers.expect_all(self._round, UNANSWERED)
            self._round = None
