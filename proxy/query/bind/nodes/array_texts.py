"""Arrays written as texts."""

from __future__ import annotations

import re

# As PostgreSQL reads it (PostgreSQL 17 documentation, section 8.15.2).
_ARRAY = re.compile(r"[ \t\n\r\f\v]*\{(.*)\}[ \t\n\r\f\v]*", re.DOTALL)
_ELEMENT = re.compile(
    r"""[ \t\n\r\f\v]*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^{}"\\,]*))[ \t\n\r\f\v]*(?:,|\Z)""",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SPACE = " \t\n\r\f\v"


def plain_elements(text: str) -> list[str | None] | None:
    """Of '{a, "b, c", NULL}', where no element is an array; None: it is something else.

    >>> plain_elements("{a, b c,null}"), plain_elements("{}"), plain_elements('{"a, b", "NULL"}')
    (['a', 'b c', None], [], ['a, b', 'NULL'])
    >>> plain_elements("{a,}"), plain_elements('{"a" b}'), plain_elements("{{a}}")
    (None, None, None)
    """
    whole = _ARRAY.fullmatch(text)
    if whole is None:
        return None
    inner, at, found = whole[1], 0, list[str | None]()
    if not inner.strip(_SPACE):
        return []
    while at < len(inner) or inner[at - 1] == ",":
        part = _ELEMENT.match(inner, at)
        if part is None or (part["quoted"] is None and not part["plain"].strip(_SPACE)):
            return None
        plain = (part["plain"] or "").strip(_SPACE)
        if part["quoted"] is not None:
            found.append(_ESCAPED.sub(r"\1", part["quoted"]))
        else:
            found.append(None if plain.lower() == "null" else plain)
        at = part.end()
        if at >= len(inner) and not part[0].endswith(","):
            break
    return found
