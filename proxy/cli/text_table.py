"""Rows as text in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """
    >>> list(text_table(["a", "b"], [["1", "x"], ["22", "y"]]))
    ['a   b', '--  -', '1   x', '22  y']
    """
    lines = [heads, *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(heads))]
    rule = ["-" * width for width in widths]
    for line in (heads, rule, *rows):
        yield "  ".join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
