"""Who may ask, and what was spent through tokens, from the list of what has happened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from fractions import Fraction

from tests.ledger_machine.asked import OVER_TOKEN, TOKEN_IS_OVER, Answer, Terms
from tests.ledger_machine.happened import TokenMade, TokenRevoked, TokenSpent
from tests.ledger_machine.spent_lines import Budgets


@dataclass(frozen=True, slots=True)
class Person:
    """number: one more each time that a name is given. is_there: may ask."""

    number: int
    is_there: bool = True
    groups: frozenset[str] = frozenset()


class Tokens(Budgets):
    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self.people: dict[str, Person] = {}

    def viewer_of(self, who: str) -> str:
        return f"number {self.people[who].number}" if who in self.people else f"name {who}"

    def groups_of(self, who: str) -> frozenset[str]:
        return self.people[who].groups if who in self.people else frozenset()

    def may_ask(self, who: str) -> bool:
        return who not in self.people or self.people[who].is_there

    def tokens(self) -> list[TokenMade]:
        return [one for one in self.happened if isinstance(one, TokenMade)]

    def spent_in_all(self, token: int) -> Fraction:
        each = [
            one.epsilon
            for one in self.happened
            if isinstance(one, TokenSpent) and one.token == token
        ]
        return sum(each, Fraction(0))

    def spent_through(self, made: TokenMade, at: datetime) -> Fraction:
        """In the window of then, or a later one that has begun before a clock went back."""
        each = [
            (_window(made.per, one.at), one.epsilon)
            for one in self.happened
            if isinstance(one, TokenSpent) and one.token == made.token
        ]
        latest = max((_window(made.per, at), *(window for window, _ in each)))
        return sum((epsilon for window, epsilon in each if window >= latest), Fraction(0))

    def is_revoked(self, token: int) -> bool:
        return TokenRevoked(token) in self.happened

    def revoke_all(self) -> None:
        self.happened += [TokenRevoked(one.token) for one in self.tokens()]

    def refused_by_token(
        self, token: int | None, who: str, cost: Fraction, at: datetime
    ) -> Answer | None:
        """Of what all budgets cover."""
        if token is None:
            return None
        made = next((one for one in self.tokens() if one.token == token), None)
        if (
            made is None
            or self.is_revoked(token)
            or made.until <= at
            or who not in self.people
            or self.people[who].number != made.number
        ):
            return TOKEN_IS_OVER
        if made.most is not None and self.spent_through(made, at) + cost > made.most:
            return OVER_TOKEN
        return None

    def spend_token(self, token: int | None, epsilon: Fraction, at: datetime) -> None:
        if token is not None:
            self.happened.append(TokenSpent(token, epsilon, at))


def _window(per: str | None, at: datetime) -> datetime:
    whole = at.replace(minute=0, second=0, microsecond=0)
    match per:
        case None:
            return datetime.min.replace(tzinfo=timezone.utc)
        case "hour":
            return whole
        case _:
            return whole.replace(hour=0)
