"""What a key becomes of years beyond a column's bounds.

For a number that is computed, the year of a stored time is cut some years beyond the bounds, not at them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import product

from proxy.planner.bounds import bounded
from proxy.planner.facts import Facts
from proxy.planner.label_work import evaluated
from proxy.planner.public_keys import key_parts, label_values
from proxy.query.ir.expressions import Expression, Extract

Texts = frozenset[str | None]


def cut_years(
    key: Expression, facts: Facts, cut: Collection[Extract]
) -> tuple[tuple[Texts, Texts], tuple[Texts, Texts]] | None:
    """Give what a key becomes of years below and above the bounds, each beside what the nearest year becomes.

    Args:
        cut: The years of stored times in it.

    Returns:
        None if there are none, or if it is not known.
    """
    parts = key_parts(key, facts)
    if not parts or parts == (key,):
        return None
    found: list[Texts] = []
    listed = [label_values(part, facts) or () for part in parts]
    years = [place for place, part in enumerate(parts) if part in cut]
    if not years or not all(listed):
        return None
    for is_above in (False, True):
        for is_beyond in (True, False):
            each: list[Iterable[str | None]] = [
                _years(part, values, facts, is_above, is_beyond) if place in years else values
                for place, (part, values) in enumerate(zip(parts, listed, strict=True))
            ]
            texts = evaluated([key], parts, list(product(*each)))
            if texts is None:
                return None
            found.append(frozenset(text for (text,) in texts))
    below, first, above, last = found
    return (below, first), (above, last)


def _years(
    part: Expression, values: Sequence[str | None], facts: Facts, is_above: bool, is_beyond: bool
) -> Iterable[str]:
    known = sorted(int(text) for text in values if text is not None)
    interval = bounded(part, facts).interval
    if not is_beyond or interval is None:
        return [str(known[-1 if is_above else 0])]
    if is_above:
        return map(str, range(known[-1] + 1, math.ceil(interval.high) + 1))
    return map(str, range(math.floor(interval.low), known[0]))
