"""Columns made of answers that are least numbers: each is bounded to the same side in all groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proxy.release.noisy_interval import NoInterval, NoisyInterval
from proxy.release.noisy_relation import NoisyRow

_Found = NoisyInterval | NoInterval | None


def with_one_side(rows: Sequence[NoisyRow]) -> tuple[NoisyRow, ...]:
    """The rows, each column open to the sides to which it is open in any group.

    A reader is told once for a column which way its numbers may be beyond their intervals.
    """
    if not rows:
        return ()
    intervals = list(map(_sides, zip(*(row.intervals for row in rows), strict=True)))
    errors = list(map(_sides, zip(*(row.errors for row in rows), strict=True)))
    return tuple(
        replace(
            row,
            intervals=tuple(
                one if isinstance(one, NoInterval) else _opened(one, *sides)
                for one, sides in zip(row.intervals, intervals, strict=True)
            ),
            errors=tuple(
                _opened(one, *sides) if isinstance(one, NoisyInterval) else one
                for one, sides in zip(row.errors, errors, strict=True)
            ),
        )
        for row in rows
    )


def _sides(column: Sequence[_Found]) -> tuple[bool, bool]:
    """Whether any number may be above its interval, and below."""
    known = [one for one in column if isinstance(one, NoisyInterval)]
    return any(one.is_least for one in known), any(one.is_most for one in known)


def _opened(found: NoisyInterval, is_least: bool, is_most: bool) -> NoisyInterval:
    return replace(found, is_least=is_least, is_most=is_most)
