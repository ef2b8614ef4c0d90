"""The hint for a column that is not there names the columns of the table where it was looked for."""

from __future__ import annotations

from typing import cast

import pytest

from proxy.engine.policy_statements import PolicyStatements
from proxy.query.syntax.statements import Statement, look
from proxy.query.unknown_columns import unknown_name_hint
from proxy.servers.engine_adapter import _column_hint
from tests.pipeline_world import EXPOSED, NAMES

_ALL = "SELECT * FROM dp.columns lists what each can be used for."


def _hint(text: str, message: str) -> str | None:
    statement = look(text, NAMES)
    assert isinstance(statement, Statement)
    return unknown_name_hint(statement, EXPOSED, message)


@pytest.mark.parametrize("alias", ["o", '"Ord"', "orders"])
@pytest.mark.parametrize("table", ["orders", "w.orders"])
@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN", ","])
def test_it_names_the_columns_of_the_alias(alias: str, table: str, join: str) -> None:
    on = "WHERE" if join == "," else "ON"
    named = alias.strip('"')
    condition = f"{alias}.uid = m.uid AND {alias}.secret = 1"
    text = f"SELECT count(*) FROM members m {join} {table} {alias} {on} {condition}"
    found = _hint(text, f"column {named}.secret does not exist")
    assert found is not None
    assert found.startswith("Columns of w.orders") and "uid" in found and found.endswith(_ALL)
    assert "w.members" not in found and "secret" not in found
    is_outer = join in ("LEFT JOIN", "FULL JOIN")
    assert (f"WHERE {alias}.uid IS NULL" in found) is is_outer


def test_a_join_with_using() -> None:
    found = _hint(
        "SELECT count(*) FROM members LEFT JOIN orders USING (uid) WHERE orders.x IS NULL",
        "column orders.x does not exist",
    )
    assert found is not None and "WHERE orders.uid IS NULL" in found


def test_a_name_without_its_table_gets_those_of_all() -> None:
    found = _hint(
        "SELECT count(*) FROM members m, orders WHERE secret = 1", 'column "secret" does not exist'
    )
    assert found is not None
    assert "Columns of w.members (m)" in found and "Columns of w.orders that" in found


def test_in_subqueries_and_ctes() -> None:
    found = _hint(
        "WITH q AS (SELECT n.secret FROM notes n) SELECT count(*) FROM q",
        "column n.secret does not exist",
    )
    assert found is not None and "w.notes (n)" in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "SELECT count(*) FROM (SELECT t FROM people) q WHERE q.x = 1",
            "column q.x does not exist",
        ),
        ("SELECT count(*) FROM people p, other o", "column o.x does not exist"),
        ("SELECT count(*) FROM people", 'relation "x" does not exist'),
    ],
)
def test_of_other_names_the_message_stays_as_it_is(text: str, message: str) -> None:
    assert _hint(text, message) is None


def test_it_names_the_nearest_table() -> None:
    for word in ("ordes", "w.ordes"):
        text = f"SELECT count(*) FROM members, {word}"
        found = _hint(text, f'relation "{word}" does not exist')
        assert found == f"The nearest is w.orders. {_ALL}"


def test_what_the_policy_leaves_out_is_like_what_is_nowhere() -> None:
    text = "SELECT count(o.{0}) FROM members m JOIN orders o ON o.uid = m.uid"
    hints = {
        _hint(text.format(name), f"column o.{name} does not exist") for name in ("id2", "uidd")
    }
    assert len(hints) == 1


@pytest.mark.parametrize(
    "message", ['column "nosuch" does not exist', "column a7.nosuch does not exist"]
)
@pytest.mark.parametrize("clause", [", orders a{}", " JOIN orders a{} USING (uid)"])
def test_a_statement_of_many_tables_has_a_short_hint(message: str, clause: str) -> None:
    """It is made in the midst of PostgreSQL's error: joins inside each other were too deep to be walked."""
    many = "".join(map(clause.format, range(1, 1_000 if "," in clause else 550)))
    found = _hint(f"SELECT nosuch FROM orders a0{many}", message)
    assert found is not None and found.endswith(_ALL)
    assert 500 < len(found) * 10 < 100_000


def test_what_goes_wrong_leaves_the_error_as_it_is() -> None:
    """The relay asks for a hint where nothing may be raised: else the session is lost."""
    statement = look("SELECT nosuch FROM orders", NAMES)
    assert isinstance(statement, Statement)
    broken = cast(PolicyStatements, None)
    assert _column_hint(broken, statement, 'column "nosuch" does not exist') is None
