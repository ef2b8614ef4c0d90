"""Each sample policy against its rows in a real PostgreSQL: `policy check` passes, queries are answered."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import TableName
from proxy.cli.accuracy_report import policy_accuracy
from proxy.cli.assembly import Database, assemble
from proxy.cli.explain_command import explanation
from proxy.cli.loading import CheckedPolicy, contents_of
from proxy.cli.publication_checks import check_publications
from proxy.cli.running import run
from proxy.cli.sample_policies import sample_policy
from proxy.engine.accuracy import Accuracy
from proxy.planner.facts import PublicContents
from proxy.policy.check import fitted
from proxy.policy.policy_model import Bounds, BoundsKind, IdentifierUnit, PublicTable
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import read_policy
from proxy.shadow.shadow_database import Shadow
from tests.cli.commands import dpproxy
from tests.ledger_key import LEDGER_CIPHER
from tests.live_proxy import LiveProxy, start_proxy
from tests.samples import ALL_SAMPLES, checked_sample, sample_environment
from tests.servers_fixture import servers
from tests.unjudged_rows import unjudged

pytestmark = pytest.mark.postgres

_LEAST_PEOPLE = 1_000  # with rows in each table

NAMES = [sample.name for sample in ALL_SAMPLES]
_QUERIES = [
    pytest.param(sample.name, query, id=f"{sample.name}-{number}")
    for sample in ALL_SAMPLES
    for number, query in enumerate(sample.queries, start=1)
]


def _served(name: str) -> Database:
    """Under a name of its own: other tests have shadows of the demo's databases."""
    checked = checked_sample(name)
    policy = replace(checked.policy, database=_database(name))
    pair = servers()
    shadow = Shadow(pair.shadow_server.dsn(), policy.database, pair.shadow_server.address)
    shadow.build(policy, checked.catalog, unjudged(policy))
    return assemble(policy, checked.catalog, shadow, pair.lease(policy), LEDGER_CIPHER)


def _database(name: str) -> str:
    return f"sample_{name}"


Live = Callable[[str], LiveProxy]


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """Gives the proxy of a sample, which starts when it is asked for first."""
    with contextlib.ExitStack() as running:

        @functools.cache
        def started(name: str) -> LiveProxy:
            proxy = start_proxy(servers(), [_served(name)])
            running.callback(proxy.stop)
            return proxy

        yield started


def _outside(bounds: Bounds, column: str) -> str:
    """SQL that counts the rows outside of the bounds."""
    match bounds.kind:
        case BoundsKind.NUMBER:
            value = column
        case BoundsKind.DATE:
            value = f"({column} - date '1970-01-01')"
        case BoundsKind.TIMESTAMP:
            value = f"extract(epoch FROM {column})"
    low, high = float(bounds.low), float(bounds.high)
    return f"count(*) FILTER (WHERE {value} < {low} OR {value} > {high})"


@pytest.mark.every(4)
@pytest.mark.parametrize("name", NAMES)
def test_policy_check_passes(name: str) -> None:
    sample = next(sample for sample in ALL_SAMPLES if sample.name == name)
    command = ("policy", "check", sample.policy_file, "--json")
    done = dpproxy(*command, environment=dict(sample_environment(name)))
    assert done.code == 0, done.out + done.err
    checked = json.loads(done.out)
    assert checked["problems"] == []
    assert [one for one in checked["findings"] if one["severity"] == "severe"] == []


@pytest.mark.every(28)
@pytest.mark.parametrize(("name", "query"), _QUERIES)
def test_a_query_is_answered_with_its_error(live: Live, name: str, query: str) -> None:
    analyst = servers().new_analyst()
    with live(name).connect(_database(name), analyst=analyst) as connection:
        answer = connection.execute(query.encode())
        assert answer.description is not None
        errors = [column.name for column in answer.description].index("error_95")
        rows = answer.fetchall()
    assert rows
    assert all(row[errors] is not None and row[errors] >= 0 for row in rows)
    entries, epsilon, _ = live(name).when_settled(analyst)
    assert entries == 1 and epsilon > 0


def _statements(name: str) -> Iterator[str]:
    """Those of the sample; and of each protected table every aggregate, and every column as a key, also of the
    public tables that its columns refer to."""
    yield from sample_policy(name).queries
    policy = checked_sample(name).policy
    for table in policy.protected():
        yield f"SELECT count(*) FROM {table.name}"
        for column in table.columns.values():
            yield f"SELECT {column.name}, count(*) FROM {table.name} GROUP BY 1"
            yield f"SELECT count(DISTINCT {column.name}) FROM {table.name}"
            if column.bounds is not None:
                yield f"SELECT min({column.name}) FROM {table.name}"
            if column.references is not None:
                public, key = column.references
                other = f"{public} p ON p.{key} = t.{column.name}"
                for one in _columns(name, public):
                    yield f"SELECT p.{one}, count(*) FROM {table.name} t JOIN {other} GROUP BY 1"


def _columns(name: str, table: TableName) -> list[str]:
    return [column.name for column in checked_sample(name).catalog.tables[table].columns]


def _plan_of_serve(connection: psycopg.Connection, statement: str) -> object:
    try:
        row = connection.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode()).fetchone()
    except psycopg.Error as error:
        return error.diag.message_primary, error.diag.message_hint
    assert row is not None
    (plan,) = row[0] if isinstance(row[0], list) else [row[0]]
    return {**plan, "remaining": None}


async def _plans_of_commands(checked: CheckedPolicy, statements: list[str]) -> list[object]:
    public = contents_of(checked)
    found: list[object] = []
    for statement in statements:
        try:
            plan = await explanation(checked, public, statement, as_json=True)
        except Refusal as refusal:
            found.append((refusal.message, refusal.hint or None))
        else:
            found.append(json.loads(plan))
    return found


@pytest.mark.every(6)
@pytest.mark.parametrize("name", NAMES)
def test_commands_plan_as_serve_does(live: Live, name: str) -> None:
    statements = list(_statements(name))
    with live(name).connect(_database(name), analyst=servers().new_analyst()) as connection:
        served = [_plan_of_serve(connection, statement) for statement in statements]
    told = run(_plans_of_commands(checked_sample(name), statements))
    for statement, mine, theirs in zip(statements, told, served, strict=True):
        assert mine == theirs, statement
    assert sum(isinstance(plan, dict) for plan in served) > len(statements) // 2


@pytest.mark.long
def test_publications_are_checked_with_the_rows_of_public_tables() -> None:
    """Else the categories of products would be no public keys."""
    sample = sample_policy("shop")
    published = """\
publish:
  - name: by_category
    sql: |
      SELECT p.category, count(*) AS orders
      FROM shop.orders o JOIN shop.products p ON p.id = o.product_id GROUP BY p.category
    every: 24h
    epsilon: 0.1
"""
    text = sample.policy_file.read_text() + published
    policy = read_policy(text, "policy.yaml", sample_environment("shop"))
    catalog = checked_sample("shop").catalog
    checked = CheckedPolicy(fitted(policy, catalog), catalog, text, "policy.yaml")
    check_publications(checked, contents_of(checked))
    with pytest.raises(PolicyErrors, match="not public"):
        check_publications(checked, PublicContents())


@pytest.mark.every(4)
@pytest.mark.parametrize("name", NAMES)
def test_bounds_and_values_fit_the_rows(name: str) -> None:
    policy = checked_sample(name).policy
    with psycopg.connect(policy.source) as connection:
        for table in policy.protected():
            for column in table.columns.values():
                if column.values is not None:
                    distinct = connection.execute(
                        f"SELECT DISTINCT {column.name}::text FROM {table.name}"
                    ).fetchall()
                    assert {row[0] for row in distinct} == set(column.values)
                if isinstance(column.bounds, Bounds):
                    share = connection.execute(
                        f"SELECT {_outside(column.bounds, column.name)}::float / count(*)"
                        f" FROM {table.name}"
                    ).fetchone()
                    assert share is not None
                    assert share[0] < 0.02, f"{column.name}: bounds cut too much"


@pytest.mark.every(4)
@pytest.mark.parametrize("name", NAMES)
def test_delta_is_far_below_one_over_the_units(name: str) -> None:
    policy = checked_sample(name).policy
    with psycopg.connect(policy.source) as connection:
        for table in policy.protected():
            if isinstance(table.unit, IdentifierUnit) and table.unit.path is not None:
                continue  # its people are those of the table that it refers to
            people = (
                f"count(DISTINCT {table.unit.column})"
                if isinstance(table.unit, IdentifierUnit)
                else "count(*)"
            )
            row = connection.execute(f"SELECT {people} FROM {table.name}").fetchone()
            assert row is not None and row[0] > _LEAST_PEOPLE
            assert policy.privacy.delta * row[0] <= 1 / 1000


@pytest.mark.every(4)
@pytest.mark.parametrize("name", NAMES)
def test_everything_that_is_listed_can_be_answered(name: str) -> None:
    checked = checked_sample(name)
    for line in policy_accuracy(checked.policy, checked.catalog, contents_of(checked)):
        assert isinstance(line.planned, Accuracy), line
        # A smoothed median takes more people than all else; the census has 50,000.
        is_smoothed = line.planned.described.mechanism.startswith("smoothed median")
        most = _LEAST_PEOPLE * (10 if is_smoothed and name == "census" else 1)
        assert (line.planned.described.units_needed or 0) < most, line


def test_identifying_columns_are_not_there() -> None:
    checked = checked_sample("shop")
    policy, catalog = checked.policy, checked.catalog
    hidden = {
        f"{table.name.name}.{column.name}"
        for table in policy.protected()
        for column in catalog.tables[table.name].columns
        if column.name not in table.columns
    }
    assert hidden == {"customers.id", "customers.name", "customers.email", "orders.id"} | {
        "orders.customer_id"
    }
    assert isinstance(policy.tables[TableName("shop", "products")], PublicTable)


def test_password_is_not_in_the_repr() -> None:
    policy = checked_sample("shop").policy
    assert "password" in policy.source
    assert policy.source not in repr(policy)
    assert repr(policy) == f"Policy(database='shop', digest={policy.digest[:12]})"


# Of each use that dp.columns can name, what is asked then.
_USES = {
    "WHERE": "SELECT count(*) FROM {t} WHERE {c} IS NULL",
    "GROUP BY": "SELECT {c}, count(*) FROM {t} GROUP BY {c}",
    "GROUP BY inside a subquery": "SELECT count(*) FROM (SELECT {c} FROM {t} GROUP BY {c}) q",
    "COUNT": "SELECT count({c}) FROM {t}",
    "COUNT(DISTINCT)": "SELECT count(DISTINCT {c}) FROM {t}",
    "SUM": "SELECT sum({c}) FROM {t}",
    "AVG": "SELECT avg({c}) FROM {t}",
    "GROUP BY its month": "SELECT date_trunc('month', {c}), count(*) FROM {t} GROUP BY 1",
    "MIN": "SELECT min({c}) FROM {t}",
    "MAX": "SELECT max({c}) FROM {t}",
    "variance": "SELECT variance({c}) FROM {t}",
    "percentiles": "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY {c}) FROM {t}",
}


@pytest.mark.every(6)
@pytest.mark.parametrize("name", NAMES)
def test_what_dp_columns_says_is_answered_and_what_it_leaves_out_is_refused(
    live: Live, name: str
) -> None:
    checked, seen = 0, set[str]()
    with live(name).connect(_database(name), analyst=servers().new_analyst()) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name, usable_for FROM dp.columns"
            " WHERE usable_for NOT LIKE 'anything%'"
        ).fetchall()
        for table, column, told in columns:
            uses = {one.split(" (")[0] for one in told.split(", ")} - {"joins"}
            assert uses <= _USES.keys()
            for use, form in _USES.items():
                if use.startswith("GROUP BY i") and "GROUP BY" in uses and use not in uses:
                    continue  # it goes without saying
                text = form.format(t=table, c=column)
                try:
                    rows = connection.execute(f"EXPLAIN (FORMAT JSON) {text}".encode()).fetchall()
                except psycopg.Error as error:
                    assert use not in uses, (text, told, error.diag.message_primary)
                    continue
                assert use in uses, (text, told)
                is_private = rows[0][0][0]["blocks"][0]["groups"] is None
                assert is_private == (
                    use == "GROUP BY" and "GROUP BY (values that many have)" in told
                ), text
                checked, seen = checked + 1, seen | {use}
    assert checked >= 10 and {"WHERE", "COUNT"} <= seen
