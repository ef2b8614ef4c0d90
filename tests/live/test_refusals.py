"""Refusals through the wire: SQLSTATE, rule, hint, position; the transaction as PostgreSQL would leave it;
nothing charged. And what costs nothing although it names protected tables."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import psycopg
import pytest
from psycopg.rows import dict_row

from proxy.pgwire import frames
from tests.live.conversing import extended, outcome, simple
from tests.live_proxy import LiveProxy
from tests.raw_client import Frame, RawClient

COUNT = "SELECT count(*) FROM shop.orders"


@dataclass(frozen=True, slots=True)
class Refused:
    """at: the word that the position must point at; None: no single word is to blame."""

    text: str
    sqlstate: str
    message: str
    at: str | None


REFUSED = [
    Refused("SELECT * FROM shop.orders", "42501", "rows of the protected table shop.orders", "shop."),
    Refused("SELECT id FROM shop.orders LIMIT 1", "42501", "rows of the protected table", "shop."),
    Refused("TABLE shop.orders", "42501", "rows of the protected table", "shop."),
    Refused("COPY shop.orders TO STDOUT", "42501", "rows of the protected table", "shop."),
    Refused("COPY (SELECT id FROM shop.orders) TO STDOUT", "42501", "rows of the", "shop."),
    Refused("SELECT o FROM shop.orders o", "42501", "rows of the protected table", "shop."),
    Refused(
        "SELECT status, count(*) FROM shop.orders GROUP BY status, total::float8",
        "42501",
        "its equal values can print differently",
        "total",
    ),
    Refused("SELECT 1 UNION ALL SELECT id FROM shop.orders", "42501", "rows of the", "shop."),
    Refused("SELECT (SELECT max(id) FROM shop.orders)", "42501", '"id" has no bounds', "id"),
    Refused("SELECT email FROM shop.customers", "42703", '"email" does not exist', "email"),
    Refused("SELECT count(email) FROM shop.customers", "42703", '"email" does not exist', "email"),
    Refused("SELECT count(*) FROM shop.customers WHERE name = 'x'", "42703", '"name"', "name"),
    Refused("SELECT count(*) FROM shop.secrets", "42P01", "does not exist", "shop.secrets"),
    Refused("SELECT nosuch(total) FROM shop.orders", "42883", "nosuch(numeric)", "nosuch"),
    Refused(COUNT + " WHERE random() < 0.5", "0A000", "function random", "random"),
    Refused(COUNT + " WHERE pg_sleep(1) IS NULL", "0A000", "function pg_sleep", "pg_sleep"),
    Refused("SELECT string_agg(status, ',') FROM shop.orders", "0A000", "aggregate string_agg", "string_agg"),
    Refused("SELECT sum(id) FROM shop.orders", "42501", '"id" has no bounds', "id"),
    Refused("SELECT avg(total + id) FROM shop.orders", "42501", '"id" has no bounds', "id"),
    Refused("SELECT customer_id, count(*) FROM shop.orders GROUP BY 1", "42501", "privacy unit cannot", "1"),
    Refused(COUNT + " o JOIN shop.customers c ON c.state = o.status", "0A000", "privacy unit", "JOIN"),
    Refused(COUNT + ", shop.products", "0A000", "on a key", ", shop.products"),
    Refused(COUNT + " WHERE id IN (SELECT id FROM shop.orders)", "0A000", "subquery", "(SELECT id"),
    Refused(COUNT + " WHERE status LIKE '%\\'", "0A000", "escape character", None),
    Refused("SELECT avg(total / (quantity - 1)) FROM shop.orders", "0A000", "may be 0", "total"),
]  # fmt: skip


@pytest.mark.every(3)
@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.text)
@pytest.mark.parametrize("with_parameters", [False, True])
def test_refusal(refused: Refused, with_parameters: bool, live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        cursor = psycopg.ClientCursor(connection) if not with_parameters else connection.cursor()
        with pytest.raises(psycopg.Error) as caught:
            if refused.text.startswith("COPY"):
                with cursor.copy(refused.text) as copy:
                    list(copy)
            else:
                cursor.execute(refused.text.replace("%", "%%"), ())
        diagnosis = caught.value.diag
        assert diagnosis.sqlstate == refused.sqlstate
        assert refused.message in (diagnosis.message_primary or "")
        # A table that is not there is not known to be asked for: the answer is PostgreSQL's alone.
        assert diagnosis.message_hint or refused.sqlstate == "42P01"
        assert diagnosis.context is None and diagnosis.source_function != "exec_stmt_raise"
        if refused.at is not None:
            assert diagnosis.statement_position is not None, diagnosis.message_primary
            start = int(diagnosis.statement_position) - 1
            assert refused.text[start:].startswith(refused.at), refused.text[start:]
        assert connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
    assert live.spent(analyst)[0] == 0


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("epsilon", "3", "above the policy's limit of 2"),
        ("epsilon", "0", "0.000001 or more"),
        ("epsilon", "-1", "must not be negative"),
        ("epsilon", "NaN", "must be a number"),
        ("epsilon", "1; DROP", "must be a number"),
        ("delta", "0.5", "above the policy's limit of 0.000001"),
        ("notice", "maybe", "must be on or off"),
    ],
)
def test_bad_settings(
    setting: str, value: str, message: str, live: LiveProxy, analyst: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        for scope in ("", "SESSION ", "LOCAL "):
            with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
                connection.execute(f"SET {scope}dp.{setting} = '{value}'")
            assert message in (caught.value.diag.message_primary or "")
            assert caught.value.diag.message_hint
        # A function sets it unseen: then it is told when a question is asked.
        connection.execute("SELECT set_config(%s, %s, false)", (f"dp.{setting}", value))
        with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
            connection.execute(COUNT)
        assert message in (caught.value.diag.message_primary or "")
        assert caught.value.diag.message_hint
        connection.execute(f"RESET dp.{setting}")
        assert live.spent(analyst)[0] == 0
        connection.execute(COUNT)
        assert live.spent(analyst)[0] == 1


@pytest.mark.parametrize(
    "text",
    [
        "set dp.epsilon to 5",
        'SET /* c */ "dp" . "epsilon" = -1',
        "SET dp.epsilon = E'5'",
        "SET dp.epsilon = 1e9999",
        "SET dp.epsilon = 0.5, 0.5",
        "SET dp.epsilom = 0.5",
        "SELECT 1; SET dp.epsilon = 5; SELECT 2",
        "SET dp.epsilon = " + "1" * 900,
    ],
)
def test_what_no_question_could_be_run_with_is_refused_when_it_is_set(
    text: str, live: LiveProxy, analyst: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute(text)
        for fine in (
            "SET dp.epsilon = '0.5'",
            "SET LOCAL dp.notice = on",
            "SET dp.delta TO DEFAULT",
        ):
            connection.execute(fine)
        assert connection.execute("SHOW dp.epsilon").fetchone() == ("0.5",)


Messages = list[bytes]


def asked(text: str) -> Messages:
    return [frames.parse(b"", text.encode()), frames.bind(b"", b""), frames.execute(b"")]


# Each with PostgreSQL's own error 42601... in the place of the refusal: the transaction must end up the same.
_SCENES: dict[str, list[Messages]] = {
    "alone": [[frames.query(b"{X}")]],
    "in a transaction": [
        [frames.query(b"BEGIN")], [frames.query(b"{X}")], [frames.query(b"SELECT 1")],
        [frames.query(b"ROLLBACK")],
    ],
    "in a multi-statement string": [
        [frames.query(b"CREATE TEMP TABLE made (a int); {X}; SELECT 2")],
        [frames.query(b"SELECT * FROM made")],
    ],
    "in a transaction within a string": [
        [frames.query(b"BEGIN; {X}; SELECT 2")], [frames.query(b"COMMIT")],
    ],
    "after a savepoint": [
        [frames.query(b"BEGIN")], [frames.query(b"SAVEPOINT s")], [frames.query(b"{X}")],
        [frames.query(b"ROLLBACK TO s")], [frames.query(b"SELECT 1")], [frames.query(b"COMMIT")],
    ],
    "extended": [[*asked("{X}"), frames.SYNC], [*asked("SELECT 1"), frames.SYNC]],
    "in a pipeline": [
        [*asked("SELECT 1"), *asked("{X}"), *asked("SELECT 2"), frames.SYNC],
        [*asked("SELECT 3"), frames.SYNC],
    ],
    "in a pipeline within a transaction": [
        [*asked("BEGIN"), *asked("SAVEPOINT s"), *asked("{X}"), *asked("SELECT 2"), frames.SYNC],
        [*asked("SELECT 3"), frames.SYNC], [*asked("ROLLBACK TO s"), *asked("COMMIT"), frames.SYNC],
    ],
    "at the start of a pipeline that made something": [
        [*asked("CREATE TEMP TABLE made (a int)"), *asked("{X}"), frames.SYNC],
        [*asked("SELECT * FROM made"), frames.SYNC],
    ],
}  # fmt: skip


def played(client: RawClient, scene: list[Messages], text: str) -> list[tuple[object, ...]]:
    """Per Sync: SQLSTATE, tags, rows and the transaction's status."""
    found: list[tuple[object, ...]] = []
    for messages in scene:
        client.send(*(_put(message, text.encode()) for message in messages))
        replies: list[Frame] = client.until_ready()
        what = outcome(replies)
        state = None if what.error is None else what.error[0]
        found.append((state, what.tags, what.rows, what.status))
    return found


def _put(message: bytes, text: bytes) -> bytes:
    return frames.frame(message[:1], message[5:].replace(b"{X}", text))


@pytest.mark.every(5)
@pytest.mark.parametrize("name", _SCENES)
@pytest.mark.parametrize(
    "text",
    ["SELECT * FROM shop.orders", "SELECT array_agg(true) FROM shop.orders",
     "SELECT sum(id) FROM shop.orders", "SELECT nosuch FROM shop.orders"],
)  # fmt: skip
def test_transaction_is_left_as_by_an_error_of_postgresql(
    name: str, text: str, live: LiveProxy, analyst: str
) -> None:
    with RawClient(live.dsn(analyst=analyst)) as one, RawClient(live.direct_dsn()) as other:
        ours = played(one, _SCENES[name], text)
        theirs = played(other, _SCENES[name], "SELECT nosuch FROM shop.products")
    refused = {"42501", "0A000", "42703"}
    plain = [(b"X" if str(s, "ascii") in refused else s, *rest) if isinstance(s, bytes)
             else (s, *rest) for s, *rest in ours]  # fmt: skip
    wanted = [(b"X" if s == b"42703" else s, *rest) for s, *rest in theirs]
    assert plain == wanted
    assert live.spent(analyst)[0] == 0


def tiny(live: LiveProxy, analyst: str, epsilon: str) -> None:
    """A budget of its own, as a policy's line would write it."""
    live.set_limit("shop", analyst, epsilon, "0.001")


def test_over_budget(live: LiveProxy, analyst: str) -> None:
    tiny(live, analyst, "2.5")
    with live.connect(analyst=analyst) as connection:
        connection.execute(COUNT)
        connection.execute(COUNT)
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded) as caught:
            connection.execute(COUNT)
        said = f"{caught.value.diag.message_primary} {caught.value.diag.message_hint}"
        assert caught.value.diag.sqlstate == "53400"
        assert "0.5" in said and "2026" not in said.split("renew")[0]
        assert live.spent(analyst)[:2] == (2, 2.0)
        connection.execute("SET dp.epsilon = '0.5'")
        connection.execute(COUNT)
        assert live.spent(analyst)[:2] == (3, 2.5)
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
            connection.execute(COUNT)
        left = connection.execute(
            "SELECT epsilon_spent, epsilon_remaining FROM dp.budget WHERE analyst = current_user"
        ).fetchone()
        assert left is not None and [Fraction(value) for value in left] == [Fraction(5, 2), 0]
        connection.execute("BEGIN")
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
            connection.execute(COUNT)
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute(COUNT)
        connection.execute("ROLLBACK")


def test_over_a_budget_that_is_fitted_by_rho(live: LiveProxy, analyst: str) -> None:
    """By epsilon two answers of 0.5 fit, by rho a few more; what is said to remain can be asked."""
    live.set_limit("shop", analyst, "1", "0.001", rho="0.5")
    remaining = "SELECT * FROM dp.budget WHERE analyst = current_user"
    with live.connect(analyst=analyst) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        connection.execute("SET dp.epsilon = '0.5'")
        count = 0
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded) as caught:
            while count < 20:
                connection.execute(COUNT)
                count += 1
        assert 4 <= count <= 5
        budget = cursor.execute(remaining).fetchone()
        assert budget is not None
        assert budget["epsilon_spent"] == Decimal(count) / 2 > budget["epsilon_limit"] == 1
        assert budget["rho_limit"] == Decimal("0.5")
        assert 0.4 < budget["rho_spent"] < 0.5
        left = budget["epsilon_remaining"]
        assert 0 < left < 0.5
        message = caught.value.diag.message_primary or ""
        assert "it costs epsilon 0.5, delta 0, but only epsilon 0." in message
        assert Fraction(message.split("only epsilon ")[1].split(",")[0]) >= Fraction(
            left
        ) - Fraction(1, 10**9)
        explained = connection.execute("EXPLAIN " + COUNT).fetchall()
        told = next(line for (line,) in explained if "remain" in line.lower())
        assert f"Budget: {str(left)[:6]}" in told, told
        assert "less than this statement's" in told
        connection.execute(f"SET dp.epsilon = '{left:f}'")
        connection.execute(COUNT)
        budget = cursor.execute(remaining).fetchone()
        assert budget is not None and budget["rho_spent"] <= Decimal("0.5")
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
            connection.execute(COUNT)


FREE = [
    COUNT + " LIMIT 0",
    "SELECT * FROM shop.orders LIMIT 0",
    "SELECT id, total FROM shop.orders WHERE false",
    "SELECT * FROM shop.orders WHERE 1 <> 1",
    "SELECT * FROM shop.orders WHERE 1 = 0",
    "SELECT * FROM (SELECT * FROM shop.orders) q WHERE 1 = 0",
    "SELECT * FROM (SELECT id, total FROM shop.orders) q LIMIT 0",
]


@pytest.mark.parametrize("text", FREE)
def test_probes_are_free(text: str, live: LiveProxy, analyst: str) -> None:
    """With the columns that the table itself has, which the superuser alone can read."""
    shadow = live.assembly.databases["shop"].shadow.superuser_dsn
    with RawClient(live.dsn(analyst=analyst)) as one, RawClient(shadow) as other:
        for ask in (simple, extended):
            got, wanted = ask(one, text), ask(other, text)
            assert got == wanted
            assert got.columns and got.rows == () and got.error is None
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize(
    "text",
    ["EXPLAIN " + COUNT, "EXPLAIN (FORMAT JSON) " + COUNT, "EXPLAIN (ANALYZE) " + COUNT,
     "SELECT status FROM shop.orders GROUP BY status", "SELECT DISTINCT status FROM shop.orders",
     "SELECT count(*) FROM shop.products", "SELECT 'shop.orders', current_user",
     "SELECT * FROM dp.columns", "SELECT * FROM dp.budget", "SELECT * FROM dp.history",
     "SELECT * FROM dp.status", "SELECT count(*) FROM dp.status s JOIN dp.budget b ON s.own_sessions > 0"],
)  # fmt: skip
def test_free_answers(text: str, live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute(text).fetchall()
        connection.execute(text + " -- %s" if "%" in text else text, prepare=True).fetchall()
    assert live.spent(analyst)[0] == 0


def test_failed_transaction_charges_nothing(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("BEGIN")
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT 1/0")
        for arguments in ((), (1,)):
            with pytest.raises(psycopg.errors.InFailedSqlTransaction):
                connection.execute(COUNT + (" WHERE quantity > %s" if arguments else ""), arguments)
        connection.execute("ROLLBACK")
        assert live.spent(analyst)[0] == 0
        connection.execute("BEGIN")
        connection.execute(COUNT)
        connection.execute("ROLLBACK")  # what was told cannot be taken back
    assert live.spent(analyst)[:2] == (1, 1.0)


def test_each_bind_is_charged_once(live: LiveProxy, analyst: str) -> None:
    text = b"SELECT state, count(*) FROM shop.customers WHERE birth_date > $1 GROUP BY state"
    with RawClient(live.dsn(analyst=analyst)) as client:

        def talk(*messages: bytes) -> list[Frame]:
            client.send(*messages, frames.SYNC)
            return client.until_ready()

        talk(frames.parse(b"s", text), frames.describe_statement(b"s"))
        assert live.spent(analyst)[0] == 0
        talk(frames.query(b"BEGIN"))
        client.until_ready()  # of the Sync behind it
        talk(frames.bind(b"p", b"s", [b"1950-01-01"]), frames.describe_portal(b"p"))
        assert live.spent(analyst)[0] == 1
        pieces: list[tuple[bytes | None, ...]] = []
        for limit in (3, 3, 0):
            replies = talk(frames.execute(b"p", limit))
            pieces += outcome(replies).rows
        assert len(pieces) == 10
        assert live.spent(analyst)[:2] == (1, 1.0)
        talk(frames.bind(b"p2", b"s", [b"1950-01-01"]), frames.execute(b"p2"))
        assert live.spent(analyst)[:2] == (2, 2.0)
        talk(frames.query(b"COMMIT"))
    client_is_done = live.spent(analyst)
    assert client_is_done[:2] == (2, 2.0)


@pytest.mark.parametrize(
    ("text", "epsilon", "charge"),
    [
        (COUNT, None, 1.0),
        (COUNT, "0.25", 0.25),
        (COUNT, "2", 2.0),
        ("SELECT count(*), sum(total), count(*) + 1 FROM shop.orders", None, 1.0),
        ("SELECT status, count(*) FROM shop.orders GROUP BY status", None, 1.0),
        ("SELECT count(*) FROM shop.orders UNION ALL SELECT count(*) FROM shop.customers", None, 1.0),
    ],
)  # fmt: skip
def test_charge_is_the_policys_epsilon(
    text: str, epsilon: str | None, charge: float, live: LiveProxy, analyst: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        if epsilon is not None:
            connection.execute(f"SET dp.epsilon = '{epsilon}'")
        connection.execute(text).fetchall()
    entries, spent, not_settled = live.when_settled(analyst)
    assert (entries, not_settled) == (1, 0)
    assert spent == pytest.approx(charge)
