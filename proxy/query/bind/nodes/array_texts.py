"""Arrays written as texts."""

from __future__ import annotations

import re

# As PostgreSQL reads it where nothing is quoted (PostgreSQL 17 documentation, section 8.15.2).
_PLAIN_ARRAY = re.compile(r"[ \t\n\r\f\v]*\{([^{}\"\\]*)\}[ \t\n\r\f\v]*")
_SPACE = " \t\n\r\f\v"


def plain_elements(text: str) -> list[str | None] | None:
    """Of '{a, b, NULL}', if nothing in it is in quotes; None: it is something else.

    >>> plain_elements("{a, b c,null}"), plain_elements("{}"), plain_elements('{"a"}')
    (['a', 'b c', None], [], None)
    """
    plain = _PLAIN_ARRAY.fullmatch(text)
    if plain is None:
        return None
    parts = [part.strip(_SPACE) for part in plain[1].split(",")] if plain[1].strip(_SPACE) else []
    if "" in parts:
        return None
    return [None if part.lower() == "null" else part for part in parts]
