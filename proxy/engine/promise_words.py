"""What a policy promises, in words: who is protected, what analysts can learn, and how far a guess can get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proxy.engine.unit_words import unit_of_policy, with_article
from proxy.mechanisms.loss import Loss
from proxy.policy.odds_words import odds_text
from proxy.policy.policy_model import IdentifierUnit, Policy, PublicTable


def promise_words(policy: Policy) -> Iterator[tuple[str, str]]:
    """Give what each sentence is about, and the sentence."""
    yield "Who is protected", _sentence("; ".join(_units(policy)))
    protected = [str(table.name) for table in policy.protected()]
    public = [str(one.name) for one in policy.tables.values() if isinstance(one, PublicTable)]
    learnt = (
        f"Counts, sums and other statistics of {_listed(protected)}, each with noise; never a row."
    )
    if public:
        learnt += (
            f" {_listed(public)}: public, shown as {'it is' if len(public) == 1 else 'they are'}."
        )
    yield "What analysts can learn", learnt
    for of, odds in odds_words(policy):
        yield of, _sentence(odds)


def odds_words(policy: Policy) -> Iterator[tuple[str, str]]:
    """The odds of one statement, of one at the most that a session may ask for, and of all together."""
    one, total = unit_of_policy(policy), policy.budgets.total.limit
    statement = Loss(policy.privacy.epsilon, policy.privacy.delta)
    largest = Loss(policy.privacy.max_epsilon, policy.privacy.max_delta)
    yield "One statement", odds_text(statement, one)
    if largest != statement:
        yield "One statement, at most", odds_text(largest, one)
    if total.epsilon:
        yield "All answers together, within budgets.total", odds_text(total, one)


def _units(policy: Policy) -> Iterator[str]:
    """Who, with all rows of theirs, and in which tables."""
    by_identifier: dict[tuple[str, str], list[str]] = {}
    for table in policy.protected():
        name = str(table.name)
        if isinstance(table.unit, IdentifierUnit):
            unit = table.unit.identifier, table.unit.their_rows
            by_identifier.setdefault(unit, []).append(name)
        else:
            yield f"each row of {name} by itself"
    for (identifier, rows), tables in by_identifier.items():
        yield f"{with_article(identifier)} with {rows} in {_listed(tables)}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else "Nobody."


def _listed(names: Sequence[str]) -> str:
    """
    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = names or ("no table",)
    return f"{', '.join(first)} and {last}" if first else last
