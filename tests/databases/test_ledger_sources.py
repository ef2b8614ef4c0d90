"""A ledger belongs to the data, not to a name: who serves data that the ledger does not know is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.ledger.ledger_home import LedgerNotOurs, given_ledger
from proxy.ledger.ledger_lease import BudgetLease
from proxy.ledger.ledger_sources import (
    Identity,
    SourceError,
    UnknownSource,
    adopt_as,
    adopt_new,
    budgets_text,
    find_source,
    known_sources,
    read_identity,
    refuse_own_source,
    write_budgets,
)
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.zcdp import rho_of_loss
from proxy.policy.policy_model import Accounting, Budget, Period
from tests.databases.ledger_database import rows
from tests.servers_fixture import Servers, budgets

_HERE = Identity("1", "people")
_THERE = Identity("2", "people")


def test_an_identity_is_of_server_and_database(pair: Servers) -> None:
    census, shop = (read_identity(pair.source_dsns[name]) for name in ("census", "shop"))
    assert census.system_identifier == shop.system_identifier
    assert (census.database, shop.database) == ("census", "shop")
    ledger = read_identity(pair.ledger_dsn)
    assert ledger.system_identifier != census.system_identifier
    with pytest.raises(SourceError, match="cannot be reached") as caught:
        read_identity("host=127.0.0.1 port=1 password=secret")
    assert "secret" not in str(caught.value)


def test_the_ledger_does_not_stand_in_the_protected_database(pair: Servers) -> None:
    refuse_own_source(pair.ledger_dsn, pair.source_dsns["shop"])
    refuse_own_source(pair.source_dsns["census"], pair.source_dsns["shop"])
    with pytest.raises(SourceError, match="protected database itself"):
        refuse_own_source(pair.protected.dsn("shop"), pair.source_dsns["shop"])


def test_what_is_not_known_is_refused_until_it_is_adopted(ledger_dsn: str) -> None:
    with pytest.raises(UnknownSource) as caught:
        find_source(ledger_dsn, _HERE, "people")
    assert caught.value.known == ("data",)
    found = adopt_new(ledger_dsn, _HERE, "people")
    assert find_source(ledger_dsn, _HERE, "another name of it").id == found.id
    with pytest.raises(UnknownSource):  # dumped and restored: another server
        find_source(ledger_dsn, _THERE, "people")
    with pytest.raises(SourceError, match="already: give another"):
        adopt_new(ledger_dsn, _THERE, "people")
    with pytest.raises(SourceError, match="no source named"):
        adopt_as(ledger_dsn, _THERE, "nobody")
    assert adopt_as(ledger_dsn, _THERE, "people").id == found.id
    assert find_source(ledger_dsn, _THERE, "people").id == found.id
    with pytest.raises(SourceError, match=r"knows .* already"):
        adopt_as(ledger_dsn, _THERE, "data")
    assert known_sources(ledger_dsn)[1].identities == (_HERE, _THERE)
    assert [
        row[0] for row in rows(ledger_dsn, "SELECT what FROM ledger.operation ORDER BY id")
    ] == [*("adopt new", "adopt new", "adopt as")]


def test_a_ledger_of_0_1_is_bound_once_by_its_name(ledger_dsn: str) -> None:
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("INSERT INTO ledger.source (name, is_bound) VALUES ('old', false)")
    first = find_source(ledger_dsn, _HERE, "old")
    assert find_source(ledger_dsn, _HERE, "whatever").id == first.id
    with pytest.raises(UnknownSource):
        find_source(ledger_dsn, _THERE, "old")


def test_processes_that_serve_one_source_agree_on_its_budgets(
    ledger_dsn: str, pair: Servers
) -> None:
    policy = pair.policies["shop"]
    other = replace(policy, budgets=budgets(total=7), digest="other")
    same = replace(policy, digest="the same budgets in another file")
    first = BudgetLease(ledger_dsn, 1, policy)
    second = BudgetLease(ledger_dsn, 1, same)
    with pytest.raises(SourceError, match="with other budgets"):
        BudgetLease(ledger_dsn, 1, other)
    second.close()
    with pytest.raises(SourceError, match="with other budgets"):
        BudgetLease(ledger_dsn, 1, other)
    assert first.holds()
    first.close()
    assert not first.holds()
    third = BudgetLease(ledger_dsn, 1, other)
    third.close()
    assert rows(
        ledger_dsn, "SELECT kind, epsilon::integer FROM ledger.allowance ORDER BY kind"
    ) == [
        ("default", 10_000),
        ("total", 7),
    ]
    assert rows(ledger_dsn, "SELECT digest FROM ledger.policy_version ORDER BY digest") == [
        *(("other",), ("shop policy 1",), ("the same budgets in another file",))
    ]


def test_a_lease_ends_with_its_process(ledger_dsn: str, pair: Servers) -> None:
    policy = pair.policies["shop"]
    lease = BudgetLease(ledger_dsn, 1, policy)
    with psycopg.connect(ledger_dsn, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert not lease.holds()
    BudgetLease(ledger_dsn, 1, replace(policy, budgets=budgets(total=7))).close()


def test_limits_are_rounded_down(ledger_dsn: str, pair: Servers) -> None:
    policy = pair.policies["shop"]
    total = policy.budgets.total
    thirds = replace(total, limit=replace(total.limit, epsilon=Fraction(1, 3)))
    lease = BudgetLease(
        ledger_dsn, 1, replace(policy, budgets=replace(policy.budgets, total=thirds))
    )
    lease.close()
    assert rows(ledger_dsn, "SELECT epsilon::text FROM ledger.allowance WHERE kind = 'total'") == [
        ("0.333333333333333333",)
    ]


def test_a_database_that_is_not_a_ledger_is_left_alone(pair: Servers, ledger_dsn: str) -> None:
    with psycopg.connect(ledger_dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE production")
    production = make_conninfo(ledger_dsn, dbname="production")
    try:
        with psycopg.connect(production, autocommit=True) as connection:
            connection.execute("CREATE TABLE orders AS SELECT generate_series(1, 5) AS id")
        given_ledger(production)
        assert rows(production, "SELECT count(*) FROM orders") == [(5,)]
        with psycopg.connect(production, autocommit=True) as connection:
            connection.execute("DROP SCHEMA ledger CASCADE")
            connection.execute("CREATE SCHEMA ledger; CREATE TABLE ledger.entry (amount integer)")
        with pytest.raises(LedgerNotOurs, match="database of its own"):
            given_ledger(production)
        assert rows(production, "SELECT count(*) FROM ledger.entry") == [(0,)]
    finally:
        with psycopg.connect(ledger_dsn, autocommit=True) as connection:
            connection.execute("DROP DATABASE production WITH (FORCE)")
    with pytest.raises(LedgerNotOurs, match="cannot be reached") as caught:
        given_ledger("host=127.0.0.1 port=1 password=secret")
    assert "secret" not in str(caught.value)


def test_budgets_are_compared_by_what_they_allow(pair: Servers) -> None:
    one = pair.policies["shop"].budgets
    assert budgets_text(one) == budgets_text(replace(one, analysts={}))
    assert budgets_text(one) != budgets_text(replace(one, analysts={"alice": one.default}))


def test_the_rho_of_a_budget_is_rounded_down_and_compared(pair: Servers, ledger_dsn: str) -> None:
    policy = replace(pair.policies["shop"], accounting=Accounting.ZCDP)
    tenth = Budget(Loss(Fraction(100), Fraction(1, 10**4)), Period.MONTH)
    without = Budget(Loss(Fraction(100), Fraction(0)))
    budgets = replace(policy.budgets, default=tenth, analysts={"alice": without})
    policy = replace(policy, budgets=budgets)
    with psycopg.connect(ledger_dsn) as connection:
        write_budgets(connection, 1, policy)
    found = dict(rows(ledger_dsn, "SELECT kind, rho::text FROM ledger.allowance"))
    exact = rho_of_loss(Fraction(100), Fraction(1, 2 * 10**4))
    assert exact - Fraction(1, 10**30) < Fraction(found["default"]) <= exact
    assert found["analyst"] is None and found["total"] is not None
    assert budgets_text(budgets, Accounting.ZCDP) != budgets_text(budgets)
