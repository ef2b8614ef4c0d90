"""Where an answer comes from, as far as its analyst may know.

An answer that an analyst has not been shown before is fresh, as of now, whoever asked for it first: else two
analysts could tell what the other has asked. So an origin is made of the analyst's own receipts, and of what is
published.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class AnswerSource(Enum):
    """
    Attributes:
        FRESH: New to the analyst, at least in part.
        CACHED: As it was shown to the analyst before.
        DERIVED: Made of answers that were shown to the analyst before.
        PUBLISHED: Made of a published release.
    """

    FRESH = "fresh"
    CACHED = "cached"
    DERIVED = "derived"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOrigin:
    """as_of: when the oldest part of it was shown to the analyst, or published. None: now."""

    source: AnswerSource
    as_of: datetime | None = None

    @property
    def is_repeated(self) -> bool:
        """Whether its noise is that of earlier answers to the same analyst."""
        return self.source in (AnswerSource.CACHED, AnswerSource.DERIVED)


FRESH = AnswerOrigin(source=AnswerSource.FRESH)


def of_parts(
    cached: Iterable[datetime], derived: Iterable[datetime], published: Iterable[datetime]
) -> AnswerOrigin:
    """The origin of an answer that costs nothing, by the times of its parts.

    >>> noon = datetime(2026, 11, 27, 12)
    >>> of_parts([noon], [], []).source, of_parts([noon], [], [noon]).source, of_parts([], [], []).source
    (<AnswerSource.CACHED: 'cached'>, <AnswerSource.CACHED: 'cached'>, <AnswerSource.FRESH: 'fresh'>)
    """
    times = {
        AnswerSource.DERIVED: [*derived],
        AnswerSource.CACHED: [*cached],
        AnswerSource.PUBLISHED: [*published],
    }
    for source, own in times.items():
        if own:
            oldest = min(at for several in times.values() for at in several)
            return AnswerOrigin(source=source, as_of=oldest)
    return FRESH
