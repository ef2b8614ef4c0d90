"""What a declaration says of rows that this server does not hold to it is not believed: no answer moves further
than planned, and none raises on one of two neighbours only, where rows break it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from proxy.catalog.catalog_model import Column
from proxy.planner import table_rows
from proxy.planner.facts import ColumnFacts, PlanningContext
from proxy.policy.policy_model import ProtectedTable
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.catalog_reader import read_catalog
from tests.audit.two_states import MAJORS, TwoStates, server_of, two_states

_PARENT = {
    True: "CREATE TABLE s.par (id int NOT NULL, x numeric(8,2) CONSTRAINT nn NOT NULL NO INHERIT, k text);"
    "CREATE TABLE s.chi () INHERITS (s.par);",
    False: "CREATE TABLE s.par (id int NOT NULL, x numeric(8,2) NOT NULL, k text);"
    "CREATE TABLE s.chi () INHERITS (s.par); ALTER TABLE s.chi ALTER x DROP NOT NULL;",
}
_ROWS = """
INSERT INTO s.par SELECT g, 1000 + g % 10, 'k' || g % 2 FROM generate_series(1, 3000) g;
INSERT INTO s.chi VALUES (9001, NULL, 'k1');
"""
_PARENT_POLICY = """\
  s.par: {unit: row, columns: {id: {}, x: {bounds: [1000, 1010]}, k: {values: [k0, k1]}}}
"""
_QUESTIONS = (
    "SELECT avg(x) FROM s.par",
    "SELECT sum(x), avg(x), count(*) FROM s.par",
    "SELECT k, avg(x) FROM s.par GROUP BY k",
    "SELECT variance(x) FROM s.par",
    "SELECT count(x), avg(x), variance(x) FROM s.par",
)


@pytest.fixture(scope="module", params=MAJORS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedPostgres]:
    with server_of(request.param, tmp_path_factory.mktemp("beliefs")) as found:
        yield found


@pytest.fixture(scope="module")
def parent(server: EmbeddedPostgres) -> TwoStates:
    with psycopg.connect(server.dsn()) as connection:
        has_named_not_null = connection.info.server_version >= 180_000
    script = f"CREATE SCHEMA s; {_PARENT[has_named_not_null]} {_ROWS}"
    return two_states(server, "beliefs_parent", script, _PARENT_POLICY, "DELETE FROM ONLY s.chi")


@pytest.mark.every(6)
@pytest.mark.parametrize("question", _QUESTIONS)
def test_a_child_with_null_moves_nothing_further(parent: TwoStates, question: str) -> None:
    assert parent.too_far(question) == []


@pytest.mark.every(2)
@pytest.mark.parametrize("question", _QUESTIONS)
def test_nor_where_the_catalogue_says_not_null(
    parent: TwoStates, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second wall alone: sums do not depend on the catalogue's word."""
    real = table_rows._column_facts

    def believing(column: Column, policy: ProtectedTable, known: PlanningContext) -> ColumnFacts:
        return replace(real(column, policy, known), nullable=False)

    monkeypatch.setattr(table_rows, "_column_facts", believing)
    assert parent.too_far(question) == []


def test_a_parent_is_not_believed(parent: TwoStates) -> None:
    columns = read_catalog(parent.here).tables
    (par,) = (table for name, table in columns.items() if name.name == "par")
    assert [(c.nullable, c.is_enforced) for c in par.columns] == [(True, False)] * 3


_REMOTE = """
CREATE SCHEMA s;
CREATE TABLE s.t (id int, cid int, x numeric, k text, f float8);
INSERT INTO s.t SELECT g, g % 5, g, 'k' || g % 3, g FROM generate_series(1, 50) g;
"""
_FOREIGN = """
CREATE EXTENSION postgres_fdw; CREATE SCHEMA s;
CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{host}', port '{port}', dbname '{dbname}');
CREATE USER MAPPING FOR PUBLIC SERVER far
    OPTIONS (user '{user}', password '{password}', password_required 'false');
CREATE FOREIGN TABLE s.t (id int, cid int, x numeric(6,2) NOT NULL, k text, f float8)
    SERVER far OPTIONS (schema_name 's', table_name 't');
CREATE VIEW s.seen AS SELECT * FROM s.t;
"""
_COLUMNS = (
    "unit: row, columns: {id: {}, cid: {}, x: {bounds: [0, 100], grid: 0.01},"
    " k: {values: [k0, k1, k2]}, f: {bounds: [0, 10]}}"
)
_FOREIGN_POLICY = f"  s.t: {{{_COLUMNS}}}\n  s.seen: {{{_COLUMNS}}}\n"
_ASKED = (
    "SELECT min(x) FROM {}",
    "SELECT sum(x) FROM {} WHERE cid = 42",
    "SELECT avg(x), variance(x) FROM {}",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM {}",
    "SELECT k, count(*), sum(x), variance(x) FROM {} GROUP BY k",
)


@pytest.fixture(scope="module")
def foreign(server: EmbeddedPostgres) -> TwoStates:
    with psycopg.connect(server.dsn(), autocommit=True) as admin:
        known = admin.execute(
            "SELECT FROM pg_available_extensions WHERE name = 'postgres_fdw'"
        ).fetchone()
        if known is None:
            pytest.skip("these binaries have no postgres_fdw")
        for database in ("beliefs_remote", "beliefs_remote_other"):
            admin.execute(f"CREATE DATABASE {database}".encode())
    outlier = "INSERT INTO s.t VALUES (999, 42, -1e15, 'k1', 0);"
    for database, more in (("beliefs_remote", outlier), ("beliefs_remote_other", "")):
        with psycopg.connect(server.dsn(database), autocommit=True) as connection:
            connection.execute((_REMOTE + more).encode())
    parts = {"port": "5432", "password": "", **conninfo_to_dict(server.dsn("beliefs_remote"))}
    return two_states(
        server,
        "beliefs_foreign",
        _FOREIGN.format(**parts),
        _FOREIGN_POLICY,
        "ALTER SERVER far OPTIONS (SET dbname 'beliefs_remote_other')",
    )


@pytest.mark.every(8)
@pytest.mark.parametrize("table", ["s.t", "s.seen"])
@pytest.mark.parametrize("question", _ASKED)
def test_the_modifier_of_a_foreign_table_is_not_believed(
    foreign: TwoStates, table: str, question: str
) -> None:
    """Computed where the rows are, which do not obey it. (A row that comes is brought to its type by the
    wrapper, which raises on this one: PROOFS.md, "Assumptions", says so.)"""
    asked = question.format(table)
    assert foreign.raises(asked) == (False, False)
    assert foreign.too_far(asked) == []


_DEFERRED = """
CREATE SCHEMA s;
CREATE TABLE s.t (uid int {unit}, id int PRIMARY KEY, x int, k text);
ALTER TABLE s.t DISABLE TRIGGER ALL;
INSERT INTO s.t SELECT g, g, g, 'k' || g % 3 FROM generate_series(1, 20) g;
INSERT INTO s.t SELECT 7, 100 + g, 10, 'k' || g % 3 FROM generate_series(1, 5) g;
ALTER TABLE s.t ENABLE TRIGGER ALL;
"""
_OF_PEOPLE = """\
  s.t:
    unit: {person: uid}
    max_rows_per_unit: 2
    columns: {x: {bounds: [0, 100]}, k: {values: [k0, k1, k2]}}
"""


def test_a_key_that_a_trigger_checks_is_not_believed(server: EmbeddedPostgres) -> None:
    """As after pg_restore --disable-triggers, or where rows come by logical replication."""
    script = _DEFERRED.format(unit="NOT NULL UNIQUE DEFERRABLE")
    states = two_states(
        server, "beliefs_deferred", script, _OF_PEOPLE, "DELETE FROM s.t WHERE uid = 7"
    )
    for question in ("SELECT count(*) FROM s.t", "SELECT k, sum(x), avg(x) FROM s.t GROUP BY k"):
        assert states.too_far(question) == []
