"""A question with another answer as a constant is cached like others (engine/questions_of_answers.py)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import psycopg
import pytest

from proxy.cli.assembly import Database
from tests.live.cached_tables import SCRIPT, TABLES
from tests.live.served_database import READER, served_database
from tests.live.session_answers import answers_to, total_paid
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

DATABASE = "answers_as_constants"
_ABOVE_MEAN = "SELECT count(*) FROM k.orders WHERE amount > (SELECT avg(amount) FROM k.orders)"
_STATEMENTS = (
    _ABOVE_MEAN,
    # The inner answer can be made of what was shown: of itself, and of groups.
    "SELECT count(*) FROM k.people WHERE age > (SELECT count(*) FROM k.people WHERE age = 20)",
    # An answer of an answer.
    "SELECT count(*) FROM k.people WHERE age < (SELECT avg(age) FROM k.people"
    " WHERE age > (SELECT avg(age) FROM k.people))",
    # One of two.
    "SELECT sum(age) FROM k.people WHERE age >= (SELECT avg(age) FROM k.people)"
    " AND age <= (SELECT max(age) FROM k.people)",
    "SELECT sex, count(*) FROM k.people WHERE age > (SELECT avg(age) FROM k.people WHERE age > 20)"
    " GROUP BY sex ORDER BY sex",
)


@pytest.fixture(scope="module")
def proxy() -> Iterator[LiveProxy]:
    pair = servers()
    found = start_proxy(pair, [served_database(pair, DATABASE, SCRIPT, TABLES, "auto")])
    with psycopg.connect(pair.protected.dsn(DATABASE)) as owner:
        limit = f"ALTER ROLE {READER} IN DATABASE {DATABASE} SET temp_file_limit = '1GB'"
        owner.execute(limit.encode())
    yield found
    found.stop()


@pytest.mark.every(6)
@pytest.mark.parametrize("text", _STATEMENTS)
def test_it_is_drawn_once_and_paid_once_by_each(proxy: LiveProxy, text: str) -> None:
    first, second = proxy.servers.new_analyst(), proxy.servers.new_analyst()
    one, again, third = answers_to(proxy, first, text, text, text)
    assert one == again == third
    assert proxy.when_settled(first)[1] == pytest.approx(1)
    before = total_paid(proxy)
    assert answers_to(proxy, second, text) == [one]
    assert proxy.when_settled(second)[1] == pytest.approx(1)
    assert total_paid(proxy) == pytest.approx(before)


def test_another_answer_is_another_question(proxy: LiveProxy) -> None:
    """At another epsilon the inner answer is another number, though the outer statement is the same."""
    analyst = proxy.servers.new_analyst()
    answers_to(proxy, analyst, _ABOVE_MEAN)
    before = proxy.when_settled(analyst)[1]
    answers_to(proxy, analyst, _ABOVE_MEAN, epsilon="2")
    assert proxy.when_settled(analyst)[1] - before == pytest.approx(2)


def test_what_was_shown_of_the_inner_answer_is_the_constant(proxy: LiveProxy) -> None:
    """The same condition with the number that was shown has the same rows."""
    analyst = proxy.servers.new_analyst()
    text = (
        "SELECT count(*), (SELECT avg(age) FROM k.people) FROM k.people"
        " WHERE age > (SELECT avg(age) FROM k.people)"
    )
    rows, again = answers_to(proxy, analyst, text, text)
    assert rows == again
    exact = [
        n
        for (n,) in _exact(
            proxy, f"SELECT count(*) FROM k.people WHERE age > {Fraction(str(rows[0][1])) * 1.0}"
        )
    ]
    assert abs(rows[0][0] - exact[0]) < 60


def _exact(proxy: LiveProxy, text: str) -> list[tuple[int]]:
    with psycopg.connect(proxy.servers.protected.dsn(DATABASE)) as owner:
        return owner.execute(text.encode()).fetchall()


def test_fresh_is_paid_again(proxy: LiveProxy) -> None:
    analyst = proxy.servers.new_analyst()
    answers_to(proxy, analyst, _ABOVE_MEAN, _ABOVE_MEAN, fresh="on")
    assert proxy.when_settled(analyst)[1] == pytest.approx(2)


def test_an_answer_made_of_a_later_and_better_one_is_another_constant(proxy: LiveProxy) -> None:
    """An analyst who has not paid the inner question gets it from a more exact answer about the same rows: by
    its number, that is another question."""
    analyst = proxy.servers.new_analyst()
    inner = "SELECT count(*) FROM k.people WHERE age = 40"
    text = f"SELECT count(*) FROM k.people WHERE age > ({inner})"
    answers_to(proxy, analyst, inner, epsilon="2")
    one, again = answers_to(proxy, analyst, text, text)
    assert one == again
    # The inner one is free; the outer has its half of the statement's epsilon, once.
    assert proxy.when_settled(analyst)[1] == pytest.approx(2.5)


def test_a_budget_that_is_spent_says_what_is_free(proxy: LiveProxy) -> None:
    """What was paid goes on to be shown, and the refusal of another question says so."""
    analyst = proxy.servers.new_analyst()
    proxy.set_limit(DATABASE, analyst, "1.2", "0.01")
    (one,) = answers_to(proxy, analyst, _ABOVE_MEAN)
    with pytest.raises(psycopg.Error) as refused:
        answers_to(proxy, analyst, "SELECT count(*) FROM k.people WHERE age > 77")
    hint = refused.value.diag.message_hint or ""
    assert "You were shown 2 answers that cost nothing until" in hint, hint  # the inner, the outer
    assert answers_to(proxy, analyst, _ABOVE_MEAN) == [one]
    assert proxy.when_settled(analyst)[1] == pytest.approx(1)


def test_the_ledger_keeps_no_constant(proxy: LiveProxy) -> None:
    database: Database = proxy.assembly.databases[DATABASE]
    analyst = proxy.servers.new_analyst()
    answers_to(proxy, analyst, _ABOVE_MEAN)
    with psycopg.connect(database.lease.ledger_dsn) as ledger:
        rows = ledger.execute("SELECT to_jsonb(c)::text FROM ledger.cached c").fetchall()
    assert rows and not any("amount" in row[0] for row in rows)
