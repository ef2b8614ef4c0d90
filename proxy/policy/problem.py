"""One thing that is wrong with a policy, by the path of keys that leads to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """path: ("tables", "shop.orders", "columns", "total", "bounds"); a list's item by its index.

    at_key: the key itself is wrong (a column that is not there), not what it is given.
    """

    path: tuple[str | int, ...]
    message: str
    hint: str = ""
    at_key: bool = False

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: {self.message}"
