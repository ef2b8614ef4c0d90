"""What a policy changes about published tables: which there are, when they are renewed, what that costs."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.policy.change_words import Change, Direction, Topic, both, change
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import Policy
from proxy.policy.publication import Publication

_HOUR = 3_600


def changed_publishing(old: Policy, new: Policy) -> Iterator[Change]:
    was = {one.name: one for one in old.publish}
    now = {one.name: one for one in new.publish}
    for name, one in now.items():
        if name not in was:
            what = f"a table for everybody, {_every(one)}, {_cost(one)} of budgets.total each time"
            yield _published(Direction.GAINS, name, what)
        elif one != was[name]:
            yield from _renewed(was[name], one)
    for name in was:
        if name not in now:
            what = "the table goes; what it was made of is released no more"
            yield _published(Direction.LOSES, name, what)


def _renewed(was: Publication, now: Publication) -> Iterator[Change]:
    if was.sql != now.sql:
        what = f"another statement: it is released anew at once, {_cost(now)}"
        yield _published(Direction.CHANGES, now.name, what)
    if was.loss != now.loss:
        epsilon, delta = (
            both(was.loss.epsilon, now.loss.epsilon),
            both(was.loss.delta, now.loss.delta),
        )
        what = f"epsilon {epsilon}, delta {delta}: it is released anew at once"
        yield _published(Direction.CHANGES, now.name, what)
    if _every(was) != _every(now):
        what = f"{_every(was)} -> {_every(now)}"
        yield _published(Direction.CHANGES, now.name, what)


def _every(one: Publication) -> str:
    """
    >>> from fractions import Fraction
    >>> from proxy.mechanisms.loss import Loss
    >>> _every(Publication(name="n", sql="", seconds=86400, offset=16200, loss=Loss(Fraction(1), Fraction(0))))
    'every 24h from 04:30'
    """
    length = f"{one.seconds // _HOUR}h" if one.seconds % _HOUR == 0 else f"{one.seconds // 60}min"
    hours, minutes = divmod(one.offset // 60, 60)
    return f"every {length} from {hours:02}:{minutes:02}"


def _cost(one: Publication) -> str:
    return f"epsilon {decimal(one.loss.epsilon)}"


def _published(direction: Direction, name: str, what: str) -> Change:
    return change(Topic.PUBLISHED, direction, f"publish.{name}", what)
