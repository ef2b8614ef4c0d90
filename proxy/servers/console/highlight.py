"""SQL as HTML: keywords, literals and comments in spans, and the word that an error is about underlined."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

# As in static/console.js, which colours the same text while it is written.
_WORDS = (
    "SELECT|FROM|WHERE|GROUP|BY|ORDER|HAVING|LIMIT|JOIN|LEFT|ON|AS|AND|OR|NOT|IN|BETWEEN|IS|NULL|DESC|ASC|WITH|CASE"
    "|WHEN|THEN|ELSE|END|DISTINCT|SET|date|interval"
)
_TOKEN = re.compile(
    r"(?P<c>--[^\n]*)|(?P<l>'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b)|(?P<k>\b(?:" + _WORDS + r")\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w.]+|\S|$")


def highlighted(sql: str, position: int | None = None) -> Markup:
    """Write a statement as HTML.

    Args:
        sql: The statement, which may hold anything.
        position: Of the word that an error is about, in characters from 1.

    >>> print(highlighted("SELECT '<b>'"))
    <span class="k">SELECT</span> <span class="l">&#39;&lt;b&gt;&#39;</span>
    >>> print(highlighted("TABLE x.y", 7))
    TABLE <span class="bad">x.y</span>
    """
    if position is None or not 0 < position <= len(sql):
        return _coloured(sql)
    found = _WORD.match(sql, position - 1)
    end = position if found is None else max(found.end(), position)
    before, word, after = sql[: position - 1], sql[position - 1 : end], sql[end:]
    bad = Markup('<span class="bad">{}</span>').format(_coloured(word))
    return _coloured(before) + bad + _coloured(after)


def _coloured(text: str) -> Markup:
    parts, at = [], 0
    for found in _TOKEN.finditer(text):
        span = Markup('<span class="{}">{}</span>').format(found.lastgroup, found[0])
        parts += [escape(text[at : found.start()]), span]
        at = found.end()
    return Markup("").join([*parts, escape(text[at:])])
