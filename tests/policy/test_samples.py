"""The sample policies against the demo's data in a real PostgreSQL: they fit, and a user can play."""

from __future__ import annotations

import psycopg
import pytest

from proxy.catalog.catalog_model import Catalog, TableName
from proxy.cli.policy_accuracy import policy_accuracy
from proxy.engine.accuracy import Accuracy
from proxy.policy.check import check, fitted
from proxy.policy.policy_model import Bounds, BoundsKind, Policy, PublicTable
from proxy.policy_file.policy_yaml import locate, policy_text, read_policy
from proxy.protected.catalog_reader import read_catalog
from tests.policy.postgres import demo_sources
from tests.samples import SAMPLES

pytestmark = pytest.mark.postgres

POLICIES = SAMPLES
NAMES = sorted(path.stem for path in POLICIES.glob("*.yaml"))


def sample(name: str) -> tuple[Policy, Catalog]:
    path = POLICIES / f"{name}.yaml"
    text = policy_text(path)
    source = demo_sources()[name]
    policy = read_policy(text, path.name, {f"{name.upper()}_DSN": source})
    catalog = read_catalog(source)
    assert not locate(check(policy, catalog), text, path.name).problems
    return fitted(policy, catalog), catalog


def extent(bounds: Bounds, column: str) -> str:
    """How far outside the bounds is the data? As SQL, in the unit of the bounds."""
    match bounds.kind:
        case BoundsKind.NUMBER:
            value = column
        case BoundsKind.DATE:
            value = f"({column} - date '1970-01-01')"
        case BoundsKind.TIMESTAMP:
            value = f"extract(epoch FROM {column})"
    low, high = float(bounds.low), float(bounds.high)
    return f"count(*) FILTER (WHERE {value} < {low} OR {value} > {high})"


def test_there_are_samples() -> None:
    assert NAMES == ["census", "shop"]


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_fits_the_demo_data(name: str) -> None:
    policy, _ = sample(name)
    assert policy.database == name
    assert policy.source == demo_sources()[name]
    with psycopg.connect(policy.source) as connection:
        for table in policy.protected():
            for column in table.columns.values():
                if column.values is not None:
                    found = connection.execute(
                        f"SELECT DISTINCT {column.name}::text FROM {table.name}"
                    ).fetchall()
                    assert {row[0] for row in found} == set(column.values)
                if column.bounds is not None:
                    outside = connection.execute(
                        f"SELECT {extent(column.bounds, column.name)}::float / count(*)"
                        f" FROM {table.name}"
                    ).fetchone()
                    assert outside is not None
                    assert outside[0] < 0.02, f"{column.name}: bounds cut too much"


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_can_be_played_with(name: str) -> None:
    """All that is listed can be answered, from as many units as there are, some fifty times."""
    policy, catalog = sample(name)
    for line in policy_accuracy(policy, catalog):
        assert isinstance(line.planned, Accuracy), line
        units_needed = line.planned.described.units_needed
        assert units_needed is None or units_needed < 50_000
    assert policy.budgets.default.limit.epsilon >= 10 * policy.privacy.epsilon
    assert policy.budgets.total.limit.delta >= 100 * policy.privacy.delta


def test_identifying_columns_are_not_there() -> None:
    policy, catalog = sample("shop")
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
    policy, _ = sample("shop")
    assert "password" in policy.source
    assert policy.source not in repr(policy)
    assert repr(policy) == f"Policy(database='shop', digest={policy.digest[:12]})"
