"""Refusals and faults: what a client is told, one stable code each.

A `Refusal` is the client's doing: it names the rule, hints at what to do instead and, where there is
one, the position of the offending word. A `Fault` is ours: the client hears a neutral text. Neither
ever carries a value read from the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class Code(Enum):
    """Stable code -> (SQLSTATE, HTTP status, when, and what to do). SQLSTATEs: PostgreSQL 17 documentation,
    appendix A."""

    RAW_ROWS = (
        "42501",
        403,
        "The statement would show rows of people. Ask for an aggregate of them.",
    )
    PROTECTED = ("42501", 403, "The analyst, or the token, may not query this database any more.")
    COLUMN_NOT_USABLE = (
        *("42501", 403),
        "The policy does not offer the column for this use. `SELECT * FROM dp.columns` says what each is for.",
    )
    NO_BOUNDS = (
        *("42501", 403),
        "SUM, AVG, MIN and MAX need bounds. Take a column that has them, or write"
        " `greatest(least(x, 100), 0)`.",
    )
    NO_VALUES = (
        *("42501", 403),
        "The key of GROUP BY has no public values. Take a coarser one, or a column that has `values`.",
    )
    ROLE = ("42501", 403, "Analysts may not change roles. The operator sets passwords.")
    UNSUPPORTED = (
        "0A000",
        400,
        "dpproxy does not answer this form. The hint has one that it answers.",
    )
    FUNCTION = (
        "0A000",
        400,
        "dpproxy does not answer this function. The hint has one that it answers.",
    )
    SYNTAX = ("42601", 400, "The statement cannot be read, or has several commands in one.")
    TOO_COMPLEX = ("54001", 400, "The statement is beyond a limit of size. Split it.")
    INFEASIBLE = (
        *("42501", 403),
        "The noise would drown the answer, or one person could add too much. Follow the hint.",
    )
    SETTING = ("22023", 400, "A setting is unknown, or its value is not allowed.")
    OVER_BUDGET = (
        *("53400", 403),  # 429 where waiting helps
        "A budget does not cover the statement. Nothing was charged. The message says which, and when it"
        " renews (then HTTP 429).",
    )
    TOO_DEAR = (
        *("53400", 403),
        "The statement costs more than the `max_epsilon` that came with it. Nothing was charged.",
    )
    CANCELLED = ("57014", 409, "The statement was cancelled, or a time limit ended it.")
    UNAVAILABLE = (
        *("58000", 503),
        "A server behind dpproxy does not answer, or a fault of dpproxy. Try again later.",
    )

    @property
    def sqlstate(self) -> str:
        return str(self.value[0])

    @property
    def http_status(self) -> int:
        return int(self.value[1])

    @property
    def meaning(self) -> str:
        return str(self.value[2])

    # Members share SQLSTATEs. As the texts differ, Enum makes no aliases of them.


class Refusal(Exception):
    """The client asked for something the rules do not allow.

    position: 1-based character position in the client's statement, as PostgreSQL counts
    (PostgreSQL 17 documentation, section 55.8, field P), or None.
    retry_after: seconds after which the same may be granted; None: waiting does not help.
    is_kept_from_shadow: not even the shadow may analyse the statement.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        hint: str,
        position: int | None = None,
        *,
        retry_after: int | None = None,
        is_kept_from_shadow: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.position = position
        self.retry_after = retry_after
        self.is_kept_from_shadow = is_kept_from_shadow

    def at(self, position: int | None) -> Refusal:
        """The same refusal, pointing at a position."""
        return Refusal(
            *(self.code, self.message, self.hint, position),
            retry_after=self.retry_after,
            is_kept_from_shadow=self.is_kept_from_shadow,
        )


FAULT_HINT = "If it was charged, the charge stays. Try again later."
CHARGED_FAULT_HINT = "What it cost stays charged: receipt {}. Try again later."
FREE_FAULT_HINT = "Nothing was charged. Try again later."  # of EXPLAIN


class Fault(Exception):
    """Something of ours failed. `message` is for the client and holds nothing from the data.

    is_logged: whoever raises it has told the operator why; else the error boundary of the listeners does.
    """

    def __init__(
        self, message: str = "the statement could not be run", *, is_logged: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.is_logged = is_logged
        self.code = Code.UNAVAILABLE

    @property
    def details(self) -> Mapping[str, str]:
        """What else stands in the log: constant texts and digests, nothing of a statement or of the data."""
        return {}

    @property
    def for_operators(self) -> str:
        """
        >>> Fault().for_operators
        'the statement could not be run'
        """
        told = ", ".join(f"{name} {text}" for name, text in self.details.items() if text)
        return f"{self.message} ({told})" if told else self.message
