"""A division by a noisy 0 gives NULL: its divisor is wrapped in nullif(..., 0).

PostgreSQL raises an error for a division by 0. A noisy count can be 0 by its noise alone, and then one group
would cost the analyst the whole answer. Divisors without a name, such as constants, stay as they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from proxy.query.rewrite.edits import Edit
from proxy.query.syntax.divisors import divisors
from proxy.query.syntax.tokens import Lexed


def zero_divisor_edits(
    lexed: Lexed, first: int, last: int, replaced: Sequence[Edit]
) -> tuple[Edit, ...]:
    """Find the divisions of a rewritten statement that can have a noisy divisor.

    Args:
        lexed: The client's statement; `first` to `last` is its query.
        replaced: The edits that put noisy relations into it. Text that they replace is left alone.

    Returns:
        Two insertions for each divisor. They come before `replaced` where both are at one place.
    """
    spans = sorted((edit.start, edit.end) for edit in replaced if edit.end > edit.start)
    found: list[Edit] = []
    for begin, end in divisors(lexed, first, last):
        start, stop = lexed.lexemes[begin].start, lexed.lexemes[end - 1].end
        operator = lexed.lexemes[begin - 1].start
        if not _is_replaced(spans, operator):
            found.append(Edit(start, start, "nullif("))
            found.append(Edit(stop, stop, ", 0)"))
    return tuple(found)


def _is_replaced(spans: Sequence[tuple[int, int]], place: int) -> bool:
    """Whether an edit covers the place. Edits do not overlap."""
    number = bisect_right(spans, place, key=lambda span: span[0])
    return number > 0 and place < spans[number - 1][1]
