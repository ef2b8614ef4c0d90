"""A database of its own for a test: made by a script on the protected server, with its policy and shadow."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.cli.assembly import Database, assemble
from proxy.engine.policy_statements import ProtectedQuery
from proxy.kernel.plan import PrivatePlan
from proxy.policy.check import check, fitted
from proxy.policy_file.policy_yaml import locate, read_policy
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.catalog_reader import read_catalog
from proxy.protected.public_values import with_public_labels
from proxy.query.syntax.statements import Statement
from proxy.shadow.shadow_database import Shadow
from tests.chosen_slots import with_chosen_slots
from tests.ledger_key import LEDGER_CIPHER
from tests.servers_fixture import Servers
from tests.unjudged_rows import unjudged

_HEAD = """\
dpproxy: 1
database: {name}
source: ${{DSN}}
privacy: {{epsilon: 1, delta: 1e-6, max_epsilon: {most}, mechanism: {mechanism}}}
budgets: {{total: {{epsilon: 1000000, delta: 0.9}}, default: {{epsilon: 100000, delta: 0.9}}}}
"""

READER = "live_reader"
_GRANT = f"""\
DO $$ DECLARE s name; BEGIN
    FOR s IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO {READER}', s);
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO {READER}', s);
    END LOOP;
END $$"""
READER_PASSWORD = "reader's password"


def made_database(protected: EmbeddedPostgres, name: str, script: str) -> str:
    """Makes a database by a script; gives the reader's DSN, which may read all of it."""
    with psycopg.connect(protected.dsn(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        known = connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (READER,))
        if known.fetchone() is None:
            password = sql.Literal(READER_PASSWORD)
            role = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
            connection.execute(role.format(sql.Identifier(READER), password))
    superuser = make_conninfo(protected.dsn(), dbname=name)
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute(script.encode())
        connection.execute(_GRANT)
        connection.execute("ANALYZE")
    return make_conninfo(superuser, user=READER, password=READER_PASSWORD)


def policy_head(name: str, mechanism: str, most: str = "2") -> str:
    """A policy in YAML, but for its tables. most: max_epsilon"""
    return _HEAD.format(name=name, mechanism=mechanism, most=most)


def accepting_large_total(text: str) -> str:
    """The policy, which takes on that its total is spent by hundreds of tests."""
    finding, reason = "TOTAL_IS_LARGE", "hundreds of tests spend it"
    if finding in text:
        return text
    if "\naccept: {" in text:
        return text.replace("\naccept: {", f"\naccept: {{{finding}: {reason}, ", 1)
    return f"{text.rstrip()}\naccept: {{{finding}: {reason}}}\n"


def served_database(
    pair: Servers,
    name: str,
    script: str,
    tables: str,
    mechanism: str = "smooth_median",
    fill: Callable[[], None] | None = None,
    most: str = "2",
) -> Database:
    """
    Given    script: SQL that makes the database; fill: what else fills it, before public tables are copied;
             tables: the rest of its policy, in YAML; most: max_epsilon
    Gives    the database, to be served or asked by its engine
    """
    source = made_database(pair.protected, name, script)
    if fill is not None:
        fill()
    text = policy_head(name, mechanism, most) + tables
    if "reuse:" not in text:  # each answer is to be a draw of its own
        text = text.rstrip("\n") + "\nreuse: none\n"
    elif "\nreuse:" not in text:  # the default, in a slot that does not end now
        text = text.rstrip("\n") + "\nreuse: 24h\n"
    text = with_chosen_slots(accepting_large_total(text))
    policy = read_policy(text, f"{name}.yaml", {"DSN": source})
    catalog = read_catalog(source)
    problems = str(locate(check(policy, catalog), text, f"{name}.yaml"))
    assert problems == "", problems
    policy = fitted(policy, catalog)
    catalog = with_public_labels(policy, catalog)
    shadow = Shadow(pair.shadow_server.dsn(), name, pair.shadow_server.address)
    shadow.build(policy, catalog, unjudged(policy))
    return assemble(policy, catalog, shadow, pair.lease(policy), LEDGER_CIPHER)


def asked(database: Database, question: str) -> ProtectedQuery:
    """A question about a protected table; its names are looked up in the shadow."""
    statement = database.engine.statements.look(question)
    assert isinstance(statement, Statement)
    with psycopg.connect(database.shadow.superuser_dsn) as connection:
        found = [
            connection.execute("SELECT to_regclass(%s)::oid::bigint", (name,)).fetchone()
            for name in statement.relations
        ]
    read = database.engine.statements.read(statement, tuple(row[0] for row in found if row), ())
    assert read is not None
    return read


def planned(database: Database, question: str) -> PrivatePlan:
    return database.engine.planned(asked(database, question), {})
