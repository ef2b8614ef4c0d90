"""Names that are never an analyst's."""

from __future__ import annotations

import hashlib
import unicodedata

_SUPERUSER = "postgres"  # of the embedded servers (proxy/postgres/embedded.py)
_RESERVED = "pg_"  # PostgreSQL's own roles
_INNER = "dp_inner_"


def stand_in(name: str) -> str | None:
    """
    The name to log in with instead, where `name` cannot be an analyst's; None where it can.

    No role has it, and the same name always gives the same: PostgreSQL then asks for a password and refuses it,
    in the words and in the time of any unknown name, and whether the password was right is never looked at.

    >>> stand_in("alice"), stand_in("postgres") is None
    (None, False)
    """
    # A name that could forge a line of the server's log is nobody's.
    is_one_line = len(name.splitlines()) <= 1 and not any(
        unicodedata.category(c) == "Cc" for c in name
    )
    if is_one_line and name != _SUPERUSER and not name.startswith((_RESERVED, _INNER)):
        return None
    return f"no role {hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def inner_role(analyst: str) -> str:
    """The role of the shadow as which dpproxy logs in an analyst whom it has let in itself, by a token or a
    certificate. Nobody comes in by this name from outside (`stand_in`).

    >>> inner_role("alice")
    'dp_inner_2bd806c97f0e00af1a1fc332'
    """
    return f"{_INNER}{hashlib.sha256(analyst.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def is_inner_role(name: str) -> bool:
    return name.startswith(_INNER)
