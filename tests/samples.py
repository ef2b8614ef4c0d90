"""The sample policies, and a database of each on the run's protected server."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.cli.demo.demo_databases import DEMO_SAMPLES, READER
from proxy.cli.loading import CheckedPolicy, load_policy
from proxy.cli.policy_commands import variable_of
from proxy.cli.sample_policies import SamplePolicy, sample_policies, sample_policy
from tests.servers_fixture import servers

ALL_SAMPLES = sample_policies()
CENSUS_POLICY = sample_policy("census").policy_file
SHOP_POLICY = sample_policy("shop").policy_file
DEMO_POLICIES = {"census": CENSUS_POLICY, "shop": SHOP_POLICY}


def sample_environment(name: str) -> Mapping[str, str]:
    """The variable that the sample's `source` names, with a database that holds its rows."""
    return {variable_of(name): sample_source(name)}


def checked_sample(name: str) -> CheckedPolicy:
    return load_policy(sample_policy(name).policy_file, sample_environment(name))


@functools.cache
def sample_source(name: str) -> str:
    """A connection string of the reader. Those of the demo are there from the start of the run."""
    if name in DEMO_SAMPLES:
        return servers().source_dsns[name]
    return _created(sample_policy(name))


def _created(sample: SamplePolicy) -> str:
    protected = servers().protected
    database = f"sample_{sample.name}"
    with psycopg.connect(protected.dsn(), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {database} TEMPLATE template0 ENCODING 'UTF8'".encode())
    with psycopg.connect(protected.dsn(database), autocommit=True) as connection:
        connection.execute(sample.schema.encode())
        connection.execute(sample.rows.encode())
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")
        schemas = connection.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$|public$)'"
        ).fetchall()
        for (schema,) in schemas:
            names = {"schema": sql.Identifier(schema), "reader": sql.Identifier(READER)}
            connection.execute(
                sql.SQL(
                    "GRANT USAGE ON SCHEMA {schema} TO {reader};"
                    " GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}"
                ).format(**names)
            )
    return make_conninfo(servers().source_dsns["shop"], dbname=database)
