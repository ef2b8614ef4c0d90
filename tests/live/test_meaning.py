"""What the proxy reads is what PostgreSQL reads: names, constants and settings that change their meaning.

A statement that another reader takes otherwise is answered as PostgreSQL answers it, or refused.
"""

from __future__ import annotations

import psycopg
import pytest

from proxy.pgwire import frames
from tests.live_proxy import LiveProxy
from tests.raw_client import Frame, RawClient

COUNT = "SELECT count(*) FROM shop.orders"
_BODY = "orders AS (SELECT 1 AS q)"

# Each is answered 1 by PostgreSQL, as none of them reads the table.
HIDDEN = (
    f"WITH {_BODY} SELECT count(*) FROM orders",
    "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 3)"
    f" SEARCH DEPTH FIRST BY n SET o, {_BODY} SELECT count(*) FROM orders",
    "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 3)"
    f" CYCLE n SET ic USING pa, {_BODY} SELECT count(*) FROM orders",
    "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 3) SEARCH BREADTH FIRST BY n"
    f" SET o CYCLE n SET ic TO 'y' DEFAULT 'n' USING pa, {_BODY} SELECT count(*) FROM orders",
    f"WITH RECURSIVE x AS (SELECT count(*) AS n FROM orders), {_BODY} SELECT n FROM x",
    f"WITH RECURSIVE {_BODY}, x AS (SELECT count(*) AS n FROM orders) SELECT n FROM x",
    f"WITH {_BODY} (SELECT count(*) FROM orders)",
    "WITH a AS (SELECT 1), orders AS MATERIALIZED (SELECT 1 AS q) SELECT count(*) FROM orders",
)
UNREAD = (
    'WITH U&"\\006frders" AS (SELECT 1 AS q) SELECT count(*) FROM orders',
    'WITH a AS (SELECT 1), U&"\\006frders" AS (SELECT 1 AS q) SELECT count(*) FROM orders',
    'SELECT count(*) FROM orders AS U&"\\006f"',
    "WITH RECURSIVE a(n, set) AS (SELECT 1, 2 UNION ALL SELECT n + 1, 2 FROM a WHERE n < 3)"
    f" SEARCH DEPTH FIRST BY set SET o, {_BODY} SELECT count(*) FROM orders",
)


@pytest.mark.parametrize("text", HIDDEN)
def test_names_of_with_hide_tables(text: str, live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        assert connection.execute(text).fetchone() == (1,)
    assert live.spent(analyst)[0] == 0


@pytest.mark.parametrize("text", UNREAD)
def test_a_with_that_is_not_understood_is_refused(text: str, live: LiveProxy, analyst: str) -> None:
    with (
        live.connect(analyst=analyst) as connection,
        pytest.raises(psycopg.errors.FeatureNotSupported) as caught,
    ):
        connection.execute(text)
    assert caught.value.diag.message_hint
    wanted = 'U&"..."' if "U&" in text else "this WITH clause"
    assert (caught.value.diag.message_primary or "").startswith(wanted)
    assert live.spent(analyst)[0] == 0


def test_a_name_of_with_is_not_seen_before_it(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        row = connection.execute(
            f"WITH x AS (SELECT count(*) AS n FROM orders), {_BODY} SELECT n FROM x"
        ).fetchone()
    assert row is not None and row[0] > 1000
    assert live.spent(analyst)[0] == 1


@pytest.mark.parametrize(
    ("setting", "value", "back"),
    [
        ("standard_conforming_strings", "off", "on"),
        ("transform_null_equals", "on", "off"),
        ("array_nulls", "off", "on"),
    ],
)
@pytest.mark.parametrize("how", ["simple", "extended", "execute", "startup"])
def test_settings_that_change_what_a_statement_means(
    setting: str, value: str, back: str, how: str, live: LiveProxy, analyst: str
) -> None:
    if how == "startup" and setting != "standard_conforming_strings":
        pytest.skip("no startup packet may bring it")
    options = {"options": f"-c {setting}={value}"} if how == "startup" else {}
    with live.connect(analyst=analyst, **options) as connection:
        cursor = psycopg.ClientCursor(connection) if how != "extended" else connection.cursor()
        cursor.execute(f"PREPARE p AS {COUNT}")
        if how != "startup":
            cursor.execute(f"SET {setting} = {value}")
        text = "EXECUTE p" if how == "execute" else COUNT
        with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
            cursor.execute(text)
        hint = caught.value.diag.message_hint
        assert hint == f"SET {setting} = {back}"
        assert live.spent(analyst)[0] == 0
        cursor.execute(hint)
        cursor.execute(text)
    assert live.spent(analyst)[0] == 1


def test_a_setting_of_the_time_of_binding_counts_too(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute(f"{COUNT} WHERE status = %s", ("paid",), prepare=True)
        connection.execute("SET standard_conforming_strings = off")
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute(f"{COUNT} WHERE status = %s", ("paid",), prepare=True)
    assert live.spent(analyst)[0] == 1


def test_a_backslash_of_a_prepared_statement_is_not_guessed_at(
    live: LiveProxy, analyst: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        cursor = psycopg.ClientCursor(connection)
        cursor.execute("SET standard_conforming_strings = off")
        cursor.execute(f"PREPARE p AS {COUNT} WHERE status = 'p\\141id'")
        cursor.execute("SET standard_conforming_strings = on")
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="backslash"):
            cursor.execute("EXECUTE p")
        cursor.execute(f"PREPARE q AS {COUNT} WHERE status = E'p\\141id'")
        row = cursor.execute("EXECUTE q").fetchone()
        assert row is not None and row[0] > 100
    assert live.spent(analyst)[0] == 1


def test_what_looks_like_the_relation_of_a_copy_stays(live: LiveProxy, analyst: str) -> None:
    text = "COPY (SELECT '($1)::pg_catalog.jsonb', count(*) FROM shop.orders) TO STDOUT"
    with live.connect(analyst=analyst) as connection, connection.cursor().copy(text) as copy:
        ((shown, number),) = copy.rows()
    assert shown == "($1)::pg_catalog.jsonb" and int(number or 0) > 1000
    assert live.spent(analyst)[0] == 1


def test_a_copy_takes_no_parameter(live: LiveProxy, analyst: str) -> None:
    with RawClient(live.dsn(analyst=analyst)) as client:
        client.send(
            frames.parse(b"", f"COPY ({COUNT} WHERE status = $1) TO STDOUT".encode()),
            frames.bind(b"", b"", [b"paid"]),
            frames.execute(b""),
            frames.SYNC,
        )
        assert _states(client.until_ready()) == [b"42P02"]
    assert live.spent(analyst)[0] == 0


def test_character_arguments_of_execute_keep_their_length(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute(
            "PREPARE p(char(20)) AS SELECT $1 || '|', count(*) FROM shop.orders WHERE status = $1"
        )
        row = connection.execute("EXECUTE p('paid')").fetchone()
    assert row is not None and row[0] == "paid|" and row[1] > 100


ZONED = (
    f"{COUNT} WHERE created_at > '2021-01-01'",
    f"{COUNT} WHERE created_at > timestamptz '2021-01-01 00:00'",
    f"{COUNT} WHERE created_at > date '2021-01-01'",
    f"{COUNT} WHERE created_at IN ('2021-01-01', '2021-01-01 00:00+00')",
    f"{COUNT} WHERE created_at BETWEEN '2021-01-01' AND '2021-02-01 00:00+00'",
    f"{COUNT} WHERE created_at::date > '2021-01-01'",
    f"{COUNT} WHERE coalesce(created_at, date '2021-01-01') > '2021-01-01 00:00+00'",
    f"{COUNT} WHERE created_at > timestamp '2021-01-01 00:00'",
    f"{COUNT} WHERE extract(hour FROM created_at) = 3",
    f"{COUNT} WHERE date_part('year', created_at) = 2024",
    f"{COUNT} WHERE CASE WHEN extract(year FROM created_at) = 2024 THEN true ELSE false END",
    "SELECT count(*) FILTER (WHERE created_at > '2021-01-01') FROM shop.orders",
    "SELECT date_trunc('year', created_at), count(*) FROM shop.orders GROUP BY 1",
    "SELECT extract(year FROM created_at), count(*) FROM shop.orders GROUP BY 1",
    "SELECT date_trunc('year', birth_date), count(*) FROM shop.customers GROUP BY 1",
    "SELECT avg(n) FROM (SELECT customer_id, count(*) FILTER (WHERE created_at > '2021-01-01') AS n"
    " FROM shop.orders GROUP BY customer_id) q",
    "SELECT count(*) FROM shop.orders o JOIN shop.customers c ON o.customer_id = c.id"
    " AND o.created_at > c.birth_date",
)
UNZONED = (
    f"{COUNT} WHERE created_at > '2021-01-01 00:00:00+00'",
    f"{COUNT} WHERE created_at > '2021-01-01 00:00Z'",
    f"{COUNT} WHERE created_at AT TIME ZONE 'UTC' > timestamp '2021-01-01 00:00'",
    f"{COUNT} WHERE extract(epoch FROM created_at) > 0",
    f"{COUNT} WHERE created_at IS NOT NULL",
    "SELECT count(*) FROM shop.customers WHERE birth_date > '1980-01-01'",
    "SELECT extract(year FROM birth_date), count(*) FROM shop.customers GROUP BY 1",
    "SELECT count(*), date_trunc('day', now()) FROM shop.orders",
)


@pytest.mark.every(11)
@pytest.mark.parametrize("text", (*ZONED, *UNZONED))
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/UTC", "GMT", "0"])
def test_what_depends_on_the_time_zone_or_not_is_planned(
    text: str, zone: str, live: LiveProxy, analyst: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute(f"SET TIME ZONE {zone if zone == '0' else repr(zone)}")
        assert connection.execute(f"EXPLAIN {text}").fetchall()


@pytest.mark.parametrize("zone", ["Etc/UTC", "GMT", "0", "Zulu"])
def test_other_names_of_utc(zone: str, live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute(f"SET TIME ZONE {zone if zone == '0' else repr(zone)}")
        assert connection.execute(f"EXPLAIN {ZONED[0]}").fetchall()


@pytest.mark.every(4)
@pytest.mark.parametrize("text", ZONED)
def test_a_zone_without_rules_is_refused_where_it_counts(
    text: str, live: LiveProxy, analyst: str
) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("SET TimeZone = 'FOO+3'")
        with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
            connection.execute(text)
        assert (caught.value.diag.message_hint or "").startswith("SET TimeZone = 'Europe/Berlin'")
        connection.execute("SELECT count(*) FROM shop.orders")
    assert live.spent(analyst)[0] == 1


def test_an_argument_without_its_zone(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute("SET TimeZone = 'Pacific/Kiritimati'")
        connection.execute(f"PREPARE p(text) AS {COUNT} WHERE created_at > $1::timestamptz")
        connection.execute("EXECUTE p('2021-01-01')")
        connection.execute(f"PREPARE q(timestamptz) AS {COUNT} WHERE created_at > $1")
        connection.execute(
            "EXECUTE q('2021-01-01')"
        )  # PostgreSQL has read it in the session's zone
    assert live.spent(analyst)[0] == 2


def test_floats_that_are_printed_short_are_no_parameters(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        connection.execute(f"PREPARE p(float8) AS {COUNT} WHERE total > $1")
        connection.execute("SET extra_float_digits = -10")
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="extra_float_digits"):
            connection.execute("EXECUTE p(0.123456789)")
        connection.execute("SET extra_float_digits = 1")
        connection.execute("EXECUTE p(0.123456789)")


def test_an_encoding_that_changes_in_a_pipeline(live: LiveProxy, analyst: str) -> None:
    """The server reports it when it is ready again, which is too late for what was pipelined."""
    question = f"{COUNT} WHERE status <> 'é'".encode()
    change = _asked(b"SET client_encoding = 'LATIN1'")
    with RawClient(live.dsn(analyst=analyst)) as client:
        client.send(*change, *_asked(question), frames.SYNC)
        assert _states(client.until_ready()) == [b"0A000"]
        client.send(frames.query(b"SET client_encoding = 'UTF8'"))
        client.until_ready()
        client.send(*_asked(question), frames.SYNC)
        assert _states(client.until_ready()) == []
    assert live.spent(analyst)[0] == 1
    # A value is read in the encoding that holds when it is bound: the two bytes of UTF-8 are é again.
    with RawClient(live.dsn(analyst=analyst)) as client:
        client.send(frames.query(b"SET client_encoding = 'LATIN1'"))
        client.until_ready()
        ask = frames.parse(
            b"s", b"SELECT count(*) FILTER (WHERE $1 = E'\\u00e9') FROM shop.orders", [25]
        )
        client.send(ask, frames.SYNC)
        assert _states(client.until_ready()) == []
        client.send(
            *_asked(b"SET client_encoding = 'UTF8'"),
            frames.bind(b"", b"s", ["é".encode()]),
            frames.execute(b""),
            frames.SYNC,
        )
        answer = [payload for tag, payload in client.until_ready() if tag == b"D"]
        (number,) = frames.decode_data_row(answer[0])
        assert int(number or 0) > 1000


def test_the_encoding_of_a_whole_string_holds_to_its_end(live: LiveProxy, analyst: str) -> None:
    with live.connect(analyst=analyst) as connection:
        cursor = psycopg.ClientCursor(connection)
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="client_encoding"):
            cursor.execute(f"SET client_encoding = 'LATIN1'; SELECT 'é'; {COUNT}")
    assert live.spent(analyst)[0] == 0


def _asked(text: bytes) -> tuple[bytes, bytes, bytes]:
    return frames.parse(b"", text), frames.bind(b"", b""), frames.execute(b"")


def _states(heard: list[Frame]) -> list[bytes]:
    return [dict(frames.decode_report(payload))[b"C"] for tag, payload in heard if tag == b"E"]
