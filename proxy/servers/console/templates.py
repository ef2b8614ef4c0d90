"""The console's pages as text: templates, the two files beside them, and the addresses of these."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from proxy.servers.console.browser_words import in_browser
from proxy.servers.console.charts import meter
from proxy.servers.console.highlight import highlighted

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
