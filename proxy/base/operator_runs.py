"""Refuse long rows of operator characters and quotes, which PostgreSQL's lexer reads again and again.

Where `/*` begins, it takes all operator characters that follow for one operator, and gives them back
(`xcstart`, `operator`; src/backend/parser/scan.l). 30,000 times `/*` took 8 s, 60,000 four times as long, and
no time-out and no cancel ends a backend there.
"""

from __future__ import annotations

from dataclasses import dataclass

from proxy.base import limits
from proxy.base.errors import Code, Refusal

_CHARACTERS = b"~!@#^&|`?+-*/%<>='"
_TABLE = bytes(0x2B if byte in _CHARACTERS else 0x20 for byte in range(256))
_TOO_LONG = b"+" * (limits.OPERATOR_CHARACTERS + 1)


def has_long_run(text: bytes) -> bool:
    """Whether more than `limits.OPERATOR_CHARACTERS` of them stand side by side, in any client encoding.

    >>> has_long_run(b"SELECT 1 <> 2 -- " + b"-" * 80), has_long_run(b"/*" * 200)
    (False, True)
    """
    return _TOO_LONG in text.translate(_TABLE)


@dataclass(slots=True)
class RunSearch:
    """Looks for such a row in a text that comes in parts: in each part when it is there, and then not again."""

    found: bool = False  # in what has come
    seen: int = 0  # bytes of the text that were looked at

    def finds_in(self, text: memoryview) -> bool:
        """Look at what is new, and say whether there is such a row.

        Args:
            text: All of it that has come.

        >>> search = RunSearch()
        >>> search.finds_in(memoryview(b"/*" * 100)), search.finds_in(memoryview(b"/*" * 200))
        (False, True)
        """
        if not self.found:
            # A row may have begun in what was seen.
            begin = max(0, self.seen - limits.OPERATOR_CHARACTERS)
            self.found, self.seen = has_long_run(bytes(text[begin:])), len(text)
        return self.found


def check_runs(text: str) -> None:
    """
    Raises:
        Refusal: TOO_COMPLEX, before the shadow has seen the text.
    """
    if has_long_run(text.encode("utf-8", "surrogatepass")):
        raise long_run()


def long_run() -> Refusal:
    return Refusal(
        Code.TOO_COMPLEX,
        f"more than {limits.OPERATOR_CHARACTERS} operator characters or quotes side by side",
        "PostgreSQL reads such a row once for each character in it. Shorten it, also in comments.",
        is_kept_from_shadow=True,
    )
