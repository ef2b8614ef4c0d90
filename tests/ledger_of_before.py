"""What a ledger may hold although nobody can put it there any more: tables and names of before."""

from __future__ import annotations

import psycopg

from proxy.ledger.bearer_tokens import NewToken, create_token
from proxy.ledger.users import add_analyst

# What the steps after version 10 did to tables, backwards. Functions of version 10 are in the history alone.
_BACK_TO_10 = """\
DROP TABLE ledger.public_column, ledger.unit_column, ledger.series_step, ledger.policy_text;
ALTER TABLE ledger.adjustment DROP COLUMN request, DROP COLUMN confirmed_by;
DROP TABLE ledger.adjustment_request;
ALTER TABLE ledger.published DROP COLUMN series, DROP COLUMN paid_by;
ALTER TABLE ledger.token DROP COLUMN period, DROP COLUMN window_start, DROP COLUMN spent_before;
ALTER TABLE ledger.token_charge DROP COLUMN at;
ALTER TABLE ledger.cached ADD COLUMN question text NOT NULL DEFAULT '',
    ADD COLUMN terms text NOT NULL DEFAULT '', ALTER COLUMN made TYPE jsonb USING made::jsonb;
ALTER TABLE ledger.published_block DROP COLUMN sealed, ADD COLUMN question text NOT NULL,
    ADD COLUMN terms text NOT NULL, ADD COLUMN relation text NOT NULL;
UPDATE ledger.published SET constants = '[]' WHERE constants IS NULL;
ALTER TABLE ledger.published ALTER COLUMN constants SET DEFAULT '[]', ALTER COLUMN constants SET NOT NULL;
DELETE FROM ledger.migration WHERE version > 10;
"""


def make_as_of_10(ledger_dsn: str) -> None:
    """Bring the tables of a ledger back to those of version 10."""
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute(_BACK_TO_10)


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
