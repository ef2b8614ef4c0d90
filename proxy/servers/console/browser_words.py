"""Hints and notes as a page says them: they name settings of SQL sessions, and a page has one field."""

from __future__ import annotations

import re

_SETTING = re.compile(r'SET dp\.epsilon = (\S+) \(over HTTP "epsilon": [^)]*\)')
_OTHER = re.compile(r' \(over HTTP (?:leave out )?"[a-z_]+"(?:: [^)]*)?\)')


def in_browser(text: str) -> str:
    """
    >>> in_browser('Ask for less: SET dp.epsilon = 1 (over HTTP "epsilon": 1), which is the most.')
    'Ask for less: write 1 into the field ε, which is the most.'
    >>> in_browser("Raise dp.epsilon, or ask for fewer aggregates at once.")
    'Raise ε, or ask for fewer aggregates at once.'
    """
    return _OTHER.sub("", _SETTING.sub(r"write \1 into the field ε", text)).replace(
        "dp.epsilon", "ε"
    )
