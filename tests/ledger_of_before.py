"""What a ledger may hold although nobody can put it there any more: names of before, expired tokens."""

from __future__ import annotations

import psycopg

from proxy.ledger.bearer_tokens import NewToken, create_token
from proxy.ledger.users import add_analyst


def add_analyst_of_any_name(ledger_dsn: str, name: str, password: str) -> None:
    """Versions before 0.1.0 took names with quotes, commas and backslashes."""
    plain = f"plain {abs(hash(name))}"
    add_analyst(ledger_dsn, plain, password)  # a verifier is bound to no name
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("UPDATE ledger.analyst SET name = %s WHERE name = %s", (name, plain))


def create_expired_token(ledger_dsn: str, name: str) -> NewToken:
    made = create_token(ledger_dsn, name, days=1)
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute(
            "UPDATE ledger.token SET expires_at = transaction_timestamp() WHERE id = %s",
            (made.number,),
        )
    return made
