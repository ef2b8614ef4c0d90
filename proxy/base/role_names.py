"""Names that are never an analyst's, nor a group's."""

from __future__ import annotations

import hashlib
import unicodedata

from proxy.base.limits import IDENTIFIER_BYTES

_SUPERUSER = "postgres"  # of the embedded servers (proxy/postgres/embedded.py)
_RESERVED = "pg_"  # PostgreSQL's own roles
_INNER = "dp_inner_"
_OURS = "dp_"
# Of PostgreSQL (RoleSpec in gram.y), of our servers, and what rules for certificates mean otherwise.
_RESERVED_WORDS = frozenset(
    [
        "public",
        "none",
        "current_role",
        "current_user",
        "session_user",
        "system_user",
        "user",
        "all",
        "any",
    ]
) | {_SUPERUSER}
_MEANINGFUL = ('"', ",", "\\")  # in rules and files that list names
_BEGINNINGS = ("+", "@", "#", "(")
_REPLACEMENT = "\ufffd"  # in place of bytes that were no text


def objection_to_name(name: str) -> str | None:
    """Why nobody can be added by this name, an analyst or a group, and what to do. None: it is a good name.

    >>> objection_to_name("alice.b@example.org"), objection_to_name("Täglich 2")
    (None, None)
    >>> objection_to_name("PUBLIC")
    'the name "PUBLIC" is reserved: take another, such as public_1'
    """
    if not name or "\0" in name or len(name.encode("utf-8", "surrogatepass")) > IDENTIFIER_BYTES:
        return f"a name has 1 to {IDENTIFIER_BYTES} bytes: take a shorter or longer one"
    if not name.isprintable() or name != name.strip() or _REPLACEMENT in name:
        return "a name is printable text without blanks around it: leave other characters out"
    if unicodedata.normalize("NFC", name) != name:
        return "a name is in Unicode's composed form (NFC): type it anew"
    if name.startswith(_BEGINNINGS) or any(one in name for one in _MEANINGFUL):
        return (
            f"a name has none of {' '.join(_MEANINGFUL)} and does not begin with one of"
            f" {' '.join(_BEGINNINGS)}: leave them out"
        )
    folded = name.casefold()
    if folded in _RESERVED_WORDS:
        return f'the name "{name}" is reserved: take another, such as {folded}_1'
    if folded.startswith((_RESERVED, _OURS)):
        return (
            f"names that begin with {folded[:3]} are reserved: take another, such as {folded[3:]}"
        )
    return None


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


def is_inner_role(role: str) -> bool:
    """
    >>> is_inner_role(inner_role("alice")), is_inner_role("alice")
    (True, False)
    """
    return role.startswith(_INNER)
