"""Through which token a statement is charged, beside its analyst.

A variable of the context and not a parameter: between the listener that has seen the token and the ledger that
charges it stand planning, turns, caching and takeover, which have no business with it. Tasks inherit it: a
charge that is carried to its end although its client is gone is still the token's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_TOKEN: ContextVar[int | None] = ContextVar("token", default=None)


@contextmanager
def charging(token: int | None) -> Iterator[None]:
    """What is charged inside is charged to this token of the ledger, too; None: to none."""
    before = _TOKEN.set(token)
    try:
        yield
    finally:
        _TOKEN.reset(before)


def charged_token() -> int | None:
    return _TOKEN.get()
