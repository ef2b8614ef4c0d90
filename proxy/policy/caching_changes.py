"""What a policy changes about cached answers: for how long they are, and which are not found any more."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.catalog.catalog_model import TableName
from proxy.policy.change_words import Change, Direction, ForPeople, Topic, change
from proxy.policy.policy_model import Policy, PublicTable, Reuse

_LIFTED = "off -> on: slices of a table are one question, paid once"
_NOT_LIFTED = "on -> off: each slice of a table is a question of its own, paid by itself"
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def changed_caching(old: Policy, new: Policy) -> Iterator[Change]:
    before, after = old.reuse, new.reuse
    if before is None and after is not None:
        what = f"a question is drawn once in each {_slots(after)}, and paid once"
        yield _cached(Direction.GAINS, "reuse", what)
    elif before is not None and after is None:
        what = "nothing is cached any more: each statement is drawn and paid anew"
        yield _cached(Direction.LOSES, "reuse", what)
    elif before is not None and after is not None:
        yield from _reuse(before, after)
        yield from _not_found(old, new)


def _reuse(before: Reuse, after: Reuse) -> Iterator[Change]:
    was, now = _slots(before), _slots(after)
    if was != now:
        what = f"{was} -> {now}: slots begin otherwise, and no cached answer of before is found"
        yield _cached(Direction.LOSES, "reuse", what)
    if before.is_lifted != after.is_lifted:
        yield (
            _cached(Direction.GAINS, "reuse.lift", _LIFTED)
            if after.is_lifted
            else _cached(Direction.LOSES, "reuse.lift", _NOT_LIFTED)
        )
    if (before.step, before.is_exact) != (after.step, after.is_exact):
        was, now = _step(before), _step(after)
        what = f"{was} -> {now}: "
        if after.is_exact:
            what += "the present is what it is, and each question about it a new one"
        elif after.step is None:
            what += "the present is rounded down to a twentieth of the window at most"
        else:
            what += "to this the present is rounded down, so that questions about it stay the same"
        yield _cached(Direction.CHANGES, "reuse.now", what)
    if before.window_step != after.window_step:
        was, now = _length(before.window_step), _length(after.window_step)
        what = f"{was} -> {now}: to this both ends of a window of constants are rounded down"
        yield _cached(Direction.CHANGES, "reuse.windows", what)


def _step(reuse: Reuse) -> str:
    if reuse.step is None:
        return "exact" if reuse.is_exact else "by window"
    return _length(reuse.step)


def _slots(reuse: Reuse) -> str:
    """
    >>> _slots(Reuse(86_400)), _slots(Reuse(5_400, 4 * 3_600))
    ('24h', '90min from 04:00')
    """
    hours, minutes = divmod(reuse.offset // 60, 60)
    begins = f" from {hours:02}:{minutes:02}" if reuse.offset else ""
    return f"{_length(reuse.seconds)}{begins}"


def _length(seconds: int) -> str:
    """As a policy writes it; a day is 24h."""
    if seconds == _UNITS[0][0]:
        return "24h"
    return next(f"{seconds // unit}{word}" for unit, word in _UNITS if seconds % unit == 0)


def tables_not_cached(old: Policy, new: Policy) -> tuple[TableName, ...]:
    """Tables in both policies of which cached answers are not found any more, since what they rely on is said
    otherwise (proxy/reuse/block_question.py). Of public tables all answers may rely on."""
    return tuple(
        name
        for name, table in new.tables.items()
        if name in old.tables and old.tables[name] != table
    )


def _not_found(old: Policy, new: Policy) -> Iterator[Change]:
    before, after = (
        {name: table for name, table in one.tables.items() if isinstance(table, PublicTable)}
        for one in (old, new)
    )
    if before != after:
        what = "no cached answer is found any more: answers rely on what public tables there are"
        yield _cached(Direction.LOSES, "tables", what)
        return
    for name in tables_not_cached(old, new):
        what = "cached answers are not found any more, and are asked and paid anew"
        yield _cached(Direction.LOSES, f"tables.{name}", what)
    if old.privacy != new.privacy:
        what = "cached answers are found at the terms they were made with only: see privacy above"
        yield _cached(Direction.CHANGES, "privacy", what)


def _cached(direction: Direction, where: str, what: str) -> Change:
    # Each answer is charged where it is drawn: budgets bound what people lose, whatever is kept.
    return change(Topic.CACHE, direction, where, what, ForPeople.SAME)
