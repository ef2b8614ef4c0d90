"""The console's pages as text: templates, the two files beside them, and the addresses of these."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from proxy.servers.console.charts import meter

# SQL as HTML: keywords, literals and comments in spans, and the word that an error is about underlined.

# As in static/console.js, which colours the same text while it is written.
_WORDS = (
    "SELECT|FROM|WHERE|GROUP|BY|ORDER|HAVING|LIMIT|JOIN|LEFT|ON|AS|AND|OR|NOT|IN|BETWEEN|IS|NULL|DESC|ASC|WITH|CASE"
    "|WHEN|THEN|ELSE|END|DISTINCT|SET|date|interval"
)
_TOKEN = re.compile(
    r"(?P<c>--[^\n]*)|(?P<l>'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b)|(?P<k>\b(?:" + _WORDS + r")\b)",
    re.IGNORECASE,
)
_SQL_WORD = re.compile(r"[\w.]+|\S|$")


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
    found = _SQL_WORD.match(sql, position - 1)
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


# Hints and notes as a page says them: they name settings of SQL sessions, and a page has one field.

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


_QUOTED = re.compile("`([^`]+)`")
_WORD = re.compile(r"[a-z]+[ ,]")
_SQL = re.compile(r"--|[A-Z]{3,} ")
KINDS = {"style.css": "text/css", "console.js": "text/javascript"}


@cache
def asset(name: str) -> bytes:
    """One of `KINDS`."""
    return (files("proxy.servers.console") / "static" / name).read_bytes()


@cache
def address(name: str) -> str:
    """Where it is served: with a digest of it, so that it may be kept for ever."""
    return f"/static/{hashlib.sha256(asset(name)).hexdigest()[:16]}/{name}"


def rendered(template: str, **values: Any) -> str:
    """Fill a template. Every text is escaped but those that our own charts and colours have made.

    Args:
        template: Its name, without `.html`.
        values: What it shows. One that is missing is an error.
    """
    return _templates().get_template(f"{template}.html").render(**values)


def in_code(text: str) -> Markup:
    """Show what stands between backticks as code.

    >>> in_code("write `a < b`, please")
    Markup('write <code>a &lt; b</code>, please')
    """
    *pairs, last = _QUOTED.split(text)
    made = (
        escape(one) if n % 2 == 0 else Markup("<code>{}</code>").format(one)
        for n, one in enumerate(pairs)
    )
    return Markup("").join((*made, escape(last)))


def sentence(text: str) -> str:
    """Begin with a capital, if a name does not come first, and end with a point.

    >>> sentence("a year can come to this"), sentence("shop.orders: not in the policy."), sentence("c1 is one")
    ('A year can come to this.', 'shop.orders: not in the policy.', 'c1 is one.')
    """
    is_word = _WORD.match(text) is not None
    return f"{text[0].upper() if is_word else text[0]}{text[1:]}{'' if text.endswith('.') else '.'}"


def is_sql(text: str) -> bool:
    """Tell whether a fix is to be run as it is.

    >>> is_sql("VACUUM (ANALYZE) shop.orders;"), is_sql("write a smaller one")
    (True, False)
    """
    return _SQL.match(text) is not None


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("proxy.servers.console", "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(in_code=in_code, sentence=sentence, in_browser=in_browser)
    made.tests.update(sql=is_sql)
    made.globals.update(
        highlighted=highlighted,
        address=address,
        meter=meter,
    )
    return made
