"""Patterns of LIKE: those with which some row could raise are refused."""

from __future__ import annotations

from proxy.base.errors import Code, Refusal
from proxy.query.ir.expressions import Constant, Like


def check_pattern(like: Like) -> None:
    """LIKE raises 22025 on a row that matches up to a trailing escape (docs/design/sql.md 2.1)."""
    if not isinstance(like.pattern, Constant):  # the answer of another block
        raise Refusal(
            Code.UNSUPPORTED,
            "a LIKE pattern on a protected table is a constant",
            "Write the pattern itself, not a subquery.",
            like.position,
        )
    value = like.pattern.value
    text = "" if value is None else str(value)
    if (len(text) - len(text.rstrip("\\"))) % 2:
        raise Refusal(
            Code.UNSUPPORTED,
            "a LIKE pattern cannot end with an escape character",
            "Remove the last backslash, or double it.",
            like.position,
        )
