"""ALTER ROLE and its like, recognised on tokens (PostgreSQL 17 documentation, ALTER ROLE)."""

from __future__ import annotations

from proxy.base.errors import Code, Refusal
from proxy.base.limits import LOOKED_AT_BYTES
from proxy.query.syntax.tokens import lex

_ALTERED = ("role", "user", "group")


def may_alter_role(text: str) -> bool:
    """Whether a text can hold such a statement: a first look, without tokens."""
    if len(text) > LOOKED_AT_BYTES:
        return False
    folded = text.lower()
    return "alter" in folded and any(word in folded for word in _ALTERED)


def check_role_statement(text: str) -> None:
    """Refuse ALTER ROLE, ALTER USER and ALTER GROUP.

    The ledger has the passwords. One that is changed on the shadow alone lets nobody in, and keeps the
    analyst's other logins out until the ledger's is put back, a second later.

    Raises:
        Refusal: With SQLSTATE 42501.
    """
    if not may_alter_role(text):
        return
    try:
        lexed = lex(text)
    except Refusal:
        return
    words = [] if lexed is None else [one.word for one in lexed.lexemes if one.word][:3]
    if len(words) < 2 or words[0] != "alter" or words[1] not in _ALTERED:
        return
    if words[1:3] == ["user", "mapping"]:
        return
    raise Refusal(
        Code.ROLE,
        "permission denied to alter a role",
        "Ask the operator, who sets a password with `dpproxy user passwd NAME`.",
    )
