"""Names and texts as a policy file writes them, so that they are read as they were."""

from __future__ import annotations

import json
import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_READ_OTHERWISE = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")  # by some reader


def flow_text(text: str) -> str:
    """A text inside of brackets, or as a key.

    >>> flow_text("paid"), flow_text("no"), flow_text("a, b"), flow_text("12")
    ('paid', '"no"', '"a, b"', '"12"')
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _READ_OTHERWISE:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def comment_text(text: str, characters: int = 160) -> str:
    """A text of the catalogue inside of a comment: one line, and not long.

    >>> comment_text("a\\nb")
    'a?b'
    """
    short = text if len(text) <= characters else text[: characters - 3] + "..."
    return "".join(mark if mark.isprintable() else "?" for mark in short)
