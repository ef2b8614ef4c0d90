"""A few rows of a protected table, where the policy says that previews are empty: none, with their names and
types, and why; nothing is charged. The policy of the database `kinds` says so, that of `shop` does not."""

from __future__ import annotations

import psycopg
import pytest

from proxy.base.written_names import RESERVED
from proxy.query.syntax.previews import may_aggregate
from tests.live_proxy import LiveProxy

_PREVIEWS = (
    "SELECT * FROM kinds.things LIMIT 100",
    'SELECT t."int", t.txt AS x, t.num2 * 2 FROM kinds.things t ORDER BY uid DESC LIMIT 5 OFFSET 2',
    "SELECT * FROM (SELECT small, att, mood FROM kinds.things WHERE small > 3) AS virtual_table LIMIT 1",
    "SELECT day, label FROM kinds.things JOIN kinds.codes ON code = txt FETCH FIRST 3 ROWS ONLY",
    "SELECT txt, row_number() OVER (ORDER BY big) AS n FROM kinds.things LIMIT 1001",
)


@pytest.mark.parametrize("text", _PREVIEWS)
def test_no_rows_with_names_and_types(live: LiveProxy, analyst: str, text: str) -> None:
    with live.connect("kinds", analyst=analyst) as connection:
        said: list[str] = []
        connection.add_notice_handler(lambda one: said.append(one.message_primary or ""))
        shown = connection.execute(text.encode())
        assert shown.fetchall() == []
        assert shown.description is not None
        names = [(column.name, column.type_code) for column in shown.description]
        assert len(said) == 1
        assert "kinds.things are not shown, so this preview is empty" in said[0]
    with psycopg.connect(live.servers.protected.dsn("kinds")) as direct:
        plain = direct.execute(text.encode()).description or ()
        # Domains and enumerations of the source are what is beneath them; hidden columns are not there.
        at_source = {column.name: column.type_code for column in plain}
    assert {name for name, _ in names} <= at_source.keys()
    assert len(names) == len(at_source) - (text.startswith("SELECT * FROM kinds.things"))
    assert all(kind == at_source[name] for name, kind in names if at_source[name] < 16384)
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM kinds.things",
        "SELECT t.txt FROM kinds.codes LEFT JOIN kinds.things t ON code = txt LIMIT 5",
        "SELECT code FROM kinds.codes UNION ALL SELECT txt FROM kinds.things LIMIT 5",
        "CREATE TEMP TABLE mine AS SELECT * FROM kinds.things LIMIT 5",
    ],
)
def test_what_would_look_like_an_answer_is_refused(
    live: LiveProxy, analyst: str, text: str
) -> None:
    with (
        live.connect("kinds", analyst=analyst) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="cannot be returned"),
    ):
        connection.execute(text.encode())


def test_the_default_is_to_refuse(live: LiveProxy, analyst: str) -> None:
    with (
        live.connect("shop", analyst=analyst) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="cannot be returned"),
    ):
        connection.execute("SELECT * FROM shop.orders LIMIT 100")


def test_every_aggregate_of_postgresql_is_known(live: LiveProxy) -> None:
    """One that is not would give a row, and look like an answer."""
    with psycopg.connect(live.servers.protected.dsn("kinds")) as direct:
        names = direct.execute(
            "SELECT DISTINCT proname::text FROM pg_proc WHERE prokind = 'a'"
        ).fetchall()
    missing = [name for (name,) in names if not may_aggregate(name)]
    assert missing == []


def test_every_reserved_word_is_written_in_quotes(live: LiveProxy) -> None:
    with psycopg.connect(live.servers.protected.dsn("kinds")) as direct:
        words = direct.execute("SELECT word FROM pg_get_keywords() WHERE catcode <> 'U'").fetchall()
    assert {word for (word,) in words} - RESERVED == set()
