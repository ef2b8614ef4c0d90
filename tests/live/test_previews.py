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


_SHOWN = (
    "SELECT * FROM shop.orders LIMIT 100",
    "TABLE shop.orders LIMIT 5",
    "SELECT row_to_json(x) FROM (SELECT * FROM shop.orders LIMIT 10) x",
    "SELECT *, count(*) OVER () FROM shop.orders LIMIT 10",
    "SELECT 1 AS one FROM shop.orders WHERE status = 'paid' LIMIT 1",
)


@pytest.mark.parametrize("way", ["SET", "options"])
@pytest.mark.parametrize("text", _SHOWN)
def test_a_session_says_so_for_itself(live: LiveProxy, analyst: str, text: str, way: str) -> None:
    """Beside the policy's default, which is to refuse; prepared before it changes its mind, too."""
    options = "-c dp.previews=empty" if way == "options" else ""
    with live.connect("shop", analyst=analyst, options=options) as connection:
        if way == "SET":
            connection.execute("SET dp.previews = empty")
        assert connection.execute(text.encode()).fetchall() == []
        assert connection.pgconn.prepare(b"shown", text.encode()).error_message == b""
        assert connection.pgconn.exec_prepared(b"shown", []).ntuples == 0
        connection.execute("SET dp.previews = refuse")
        refused = connection.pgconn.exec_prepared(b"shown", []).error_message
        assert b"protected table shop.orders" in refused
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
            connection.execute(text.encode())
        # The message itself: most agents see no hint.
        assert "SELECT count(*) FROM" in (caught.value.diag.message_primary or "")
        connection.execute("SET dp.previews = empty")
        assert connection.execute(text.encode()).fetchall() == []
    assert live.spent(analyst)[0] == 0


def test_a_session_refuses_what_the_policy_leaves_empty(live: LiveProxy, analyst: str) -> None:
    with live.connect("kinds", analyst=analyst) as connection:
        assert connection.execute("SHOW dp.previews").fetchone() == ("empty",)
        connection.execute("SET dp.previews = refuse")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="cannot be returned"):
            connection.execute("SELECT * FROM kinds.things LIMIT 100")
        connection.execute("RESET dp.previews")
        assert connection.execute("SELECT * FROM kinds.things LIMIT 100").fetchall() == []


def test_copies_and_cursors_are_empty(live: LiveProxy, analyst: str) -> None:
    with live.connect("shop", analyst=analyst) as connection:
        connection.execute("SET dp.previews = empty")
        with connection.cursor().copy("COPY (SELECT * FROM shop.orders LIMIT 3) TO STDOUT") as copy:
            assert b"".join(bytes(piece) for piece in copy) == b""
        for held in ("", " WITH HOLD"):
            with connection.transaction():
                connection.execute(f"DECLARE c CURSOR{held} FOR SELECT * FROM shop.orders".encode())
                shown = connection.execute("FETCH 5 FROM c")
                assert shown.fetchall() == []
                assert [one.name for one in shown.description or ()][:2] == ["id", "customer_id"]
                connection.execute("CLOSE c")
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("SELECT EXISTS (SELECT 1 FROM shop.orders)", "SELECT count(*) FROM shop.orders"),
        (
            "SELECT EXISTS (SELECT 1 FROM shop.orders WHERE total > 5 LIMIT 1) LIMIT 1",
            "SELECT count(*) FROM shop.orders WHERE total > 5",
        ),
        (
            "SELECT (SELECT 1 FROM shop.orders o JOIN shop.customers c ON c.id = o.customer_id LIMIT 1) = 1",
            "SELECT count(*) FROM shop.orders o JOIN shop.customers c ON c.id = o.customer_id",
        ),
        (
            "SELECT CASE WHEN NOT EXISTS (SELECT FROM shop.orders) THEN 'empty' END",
            "SELECT count(*) FROM shop.orders",
        ),
    ],
)
def test_existence_is_never_answered_false(
    live: LiveProxy, analyst: str, text: str, count: str
) -> None:
    """Also in a session that sees empty previews. The count that the message names runs as it stands."""
    with live.connect("shop", analyst=analyst) as connection:
        connection.execute("SET dp.previews = empty")
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
            connection.execute(text.encode())
        assert (caught.value.diag.message_primary or "").endswith(count)
        assert live.spent(analyst)[0] == 0
        assert connection.execute(count.encode()).fetchone() is not None


def test_another_word_is_refused(live: LiveProxy, analyst: str) -> None:
    with (
        live.connect("shop", analyst=analyst) as connection,
        pytest.raises(psycopg.errors.InvalidParameterValue, match="must be empty or refuse"),
    ):
        connection.execute("SET dp.previews = some")


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
