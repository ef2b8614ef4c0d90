"""Patterns of LIKE and regular expressions: those with which some row could raise are refused."""

from __future__ import annotations

from proxy.base.errors import Code, Refusal
from proxy.base.patterns import MOST_STATES, PatternSyntax, TextPattern, read_pattern
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
    if like.syntax is not PatternSyntax.LIKE:
        text_pattern(like)
        return
    text = "" if value is None else str(value)
    if (len(text) - len(text.rstrip("\\"))) % 2:
        raise Refusal(
            Code.UNSUPPORTED,
            "a LIKE pattern cannot end with an escape character",
            "Remove the last backslash, or double it.",
            like.position,
        )


def text_pattern(like: Like) -> TextPattern | None:
    """What is sent for a regular expression; None: NULL.

    Refuses  UNSUPPORTED: one that is not known to mean the same here, or too large
    """
    value = like.pattern.value if isinstance(like.pattern, Constant) else None
    if value is None:
        return None
    found = read_pattern(str(value), like.syntax, ignore_case=like.ignore_case)
    if found is not None:
        return found
    raise Refusal(
        Code.UNSUPPORTED,
        "this regular expression is not available on a protected table",
        r"Use letters, ., [a-z], [^0-9], \d, \s, ( ), |, *, +, ?, {1,3}, ^ and $ at the outside, and a"
        f" backslash before other marks; at most {MOST_STATES} characters once what is repeated is written out,"
        r" of ASCII where case is ignored. For \w write column ~ '^[A-Za-z0-9_]+$'.",
        like.position,
    )
