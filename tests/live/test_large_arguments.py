"""No argument is so large that a row makes PostgreSQL raise on it: with and without the one person whom the
question is about, each interface gives the same refusal, before anything is charged."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import psycopg
import pytest

from proxy.base import limits
from tests.live.served_database import served_database
from tests.live_proxy import start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import servers

_SCRIPT = """\
CREATE SCHEMA h;
CREATE TABLE h.pt (
    id int PRIMARY KEY, pid int NOT NULL, diagnosis text NOT NULL, age int NOT NULL, weight numeric
);
INSERT INTO h.pt SELECT g, g, (ARRAY['flu', 'ok'])[g % 2 + 1], g % 90, g FROM generate_series(1, 300) g;
{person}"""
_PERSON = "INSERT INTO h.pt VALUES (7777, 7777, 'hiv', 40, 70)"
_TABLES = """\
tables:
  h.pt:
    unit: {person: pid}
    max_rows_per_unit: 5
    columns: {id: {}, diagnosis: {}, age: {bounds: [0, 100]}, weight: {}}
"""
_WITH, _WITHOUT = "large_with", "large_without"
_HERS = "pid = 7777 AND diagnosis = 'hiv'"


@pytest.fixture(scope="module")
def listeners() -> Iterator[BothListeners]:
    pair = servers()
    databases = [
        served_database(pair, name, _SCRIPT.format(person=person), _TABLES)
        for name, person in ((_WITH, _PERSON), (_WITHOUT, ""))
    ]
    proxy = start_proxy(pair, databases)
    both = open_http(proxy)
    yield both
    both.close()
    proxy.stop()


def _count(condition: str) -> str:
    return f"SELECT count(*) FROM h.pt WHERE CASE WHEN {_HERS} THEN {condition} ELSE false END"


# A condition with $1 and $2, their types, and what they are as SQL expressions.
ATTACKS = {
    "recursion of LIKE": ("$1 LIKE $2", ("text", "text"), ("repeat('e', 35000)", "repeat('%e', 35000)")),
    "a pattern within the bytes": ("$1 LIKE $2", ("text", "text"), ("'e'", "repeat('%', 101)")),
    "wildcards of one character": ("$1 LIKE $2", ("text", "text"), ("'e'", "repeat('_', 101)")),
    "recursion of ILIKE": ("diagnosis ILIKE $2 AND $1 = ''", ("text", "text"), ("''", "repeat('%e', 35000)")),
    "set of a trim": ("btrim(diagnosis, $1) = $2", ("text", "text"), ("repeat('a', 101)", "'x'")),
    "set of ltrim": ("ltrim(diagnosis, $1) = $2", ("text", "text"), ("repeat('a', 200000)", "'x'")),
    "a long text": ("diagnosis = $1 OR $2 = ''", ("text", "text"), ("repeat('x', 8193)", "'x'")),
    "searched for": ("strpos(diagnosis, $1) = 1 OR $2 = ''", ("text", "text"), ("repeat('x', 8193)", "''")),
    "a number of many digits": ("weight > $1 AND $2 = ''", ("numeric", "text"), ("1e9999::numeric", "''")),
    "a tiny number": ("weight > $1 AND $2 = ''", ("numeric", "text"), ("1e-16383::numeric", "''")),
}  # fmt: skip


@pytest.mark.every(6)
@pytest.mark.parametrize("name", ATTACKS)
def test_large_arguments_are_refused_alike(name: str, listeners: BothListeners) -> None:
    condition, types, expressions = ATTACKS[name]
    proxy, text = listeners.proxy, _count(condition)
    analyst = proxy.servers.new_analyst()
    with psycopg.connect(proxy.servers.protected.dsn()) as direct:
        row = direct.execute(
            f"SELECT ({expressions[0]})::text, ({expressions[1]})::text"
        ).fetchone()
    assert row is not None
    seen: dict[str, list[object]] = {}
    for database in (_WITH, _WITHOUT):
        told = seen.setdefault(database, [])
        with proxy.connect(database, analyst=analyst) as connection:
            pgconn = connection.pgconn
            values = [str(value).encode() for value in row]
            oids = [1700 if kind == "numeric" else 25 for kind in types]
            told.append(_told(pgconn.exec_params(text.encode(), values, oids)))
            pgconn.exec_(f"PREPARE q({', '.join(types)}) AS {text}".encode())
            told.append(_told(pgconn.exec_(f"EXECUTE q({', '.join(expressions)})".encode())))
            literals = text.replace("$1", f"{_literal(str(row[0]), types[0])}").replace(
                "$2", f"{_literal(str(row[1]), types[1])}"
            )
            told.append(_told(pgconn.exec_(literals.encode())))
        response = listeners.query(text, *row, database=database, analyst=analyst)
        told.append(response.json().get("sqlstate"))
    assert seen[_WITH] == seen[_WITHOUT]
    assert set(map(str, seen[_WITH])) == {"54001"}
    assert proxy.spent(analyst)[0] == 0


def _literal(text: str, kind: str) -> str:
    return text if kind == "numeric" else "'" + text + "'"


def _told(result: psycopg.pq.abc.PGresult) -> str | None:
    state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
    return None if state is None else state.decode()


# What is just within the limits is answered, by all interfaces, with the person and without.
LARGEST = {
    "pattern": ("$1 LIKE $2", "e" * 4000, "%e" * 100),
    "pattern without ends": ("$1 ILIKE $2", "e" * 8192, "%" * 99 + "_" + "e" * 156),
    "text": ("diagnosis <> $1 AND $2 <> ''", "😀" * 2048, "x" * 8192),
}


@pytest.mark.parametrize("name", ["pattern", "pattern without ends", "text"])
def test_the_largest_arguments_are_answered(name: str, listeners: BothListeners) -> None:
    condition, *values = LARGEST[name]
    text = _count(condition).replace("$1", "$1::text").replace("$2", "$2::text")
    for database in (_WITH, _WITHOUT):
        with listeners.proxy.connect(database) as connection:
            pgconn = connection.pgconn
            result = pgconn.exec_params(text.encode(), [v.encode() for v in values])
            assert _told(result) is None, result.error_message
            plain = text.replace("$1::text", "$1").replace("$2::text", "$2")
            pgconn.exec_(f"PREPARE q(text, text) AS {plain}".encode())
            given = ", ".join(f"'{value}'" for value in values)
            result = pgconn.exec_(f"EXECUTE q({given})".encode())
            expected = "54001" if len(given.encode()) > limits.STATEMENT_BYTES - 40 else None
            assert _told(result) == expected, result.error_message
        assert listeners.query(text, *values, database=database).status_code == 200


@pytest.mark.long
def test_lists_of_two_thousand_are_answered_and_more_refused(listeners: BothListeners) -> None:
    for number, state in ((limits.LIST_ELEMENTS, None), (limits.LIST_ELEMENTS + 1, "54001")):
        with listeners.proxy.connect(_WITH) as connection:
            pgconn = connection.pgconn
            values = [str(n) for n in range(number)]
            by_literals = f"SELECT count(*) FROM h.pt WHERE id IN ({','.join(values)})"
            assert _told(pgconn.exec_(by_literals.encode())) == state
            places = ",".join(f"${n}" for n in range(1, number + 1))
            by_values = f"SELECT count(*) FROM h.pt WHERE id IN ({places})"
            # As SQLAlchemy writes them for drivers that want to know the types.
            types = ",".join(f"${n}::INTEGER" for n in range(1, number + 1))
            by_types = f"SELECT count(*) FROM h.pt WHERE id IN ({types})"
            for text in (by_values, by_types):
                result = pgconn.exec_params(text.encode(), [v.encode() for v in values])
                assert _told(result) == state, result.error_message
        response = listeners.query(by_values, *values, database=_WITH)
        assert response.json().get("sqlstate") == state


def test_all_texts_together_are_bounded(listeners: BothListeners) -> None:
    """Nine of eight kilobytes each."""
    places = ",".join(f"${n}" for n in range(1, 10))
    text = f"SELECT count(*) FROM h.pt WHERE diagnosis IN ({places})"
    analyst = listeners.proxy.servers.new_analyst()
    with listeners.proxy.connect(_WITH, analyst=analyst) as connection:
        for sizes, state in (([8192] * 8 + [0], None), ([8192] * 8 + [1], "54001")):
            values = [chr(97 + n).encode() * size for n, size in enumerate(sizes)]
            result = connection.pgconn.exec_params(text.encode(), values)
            assert _told(result) == state, result.error_message
    assert listeners.proxy.spent(analyst)[0] == 1


def test_arguments_do_not_reach_this_process(listeners: BothListeners) -> None:
    """Each would be megabytes here: what EXECUTE evaluates to, a numeric of a few bytes in
    binary, a text that HTTP's parameter is read as."""
    text = "SELECT count(*) FROM h.pt WHERE diagnosis = $1"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    analyst = listeners.proxy.servers.new_analyst()
    with listeners.proxy.connect(_WITH, analyst=analyst) as connection:
        pgconn = connection.pgconn
        pgconn.exec_(f"PREPARE q(text) AS {text}".encode())
        result = pgconn.exec_(b"EXECUTE q(repeat('a', 8000000))")
        assert _told(result) == "54001"
        pgconn.exec_(
            b"PREPARE r(text, text[]) AS SELECT $2, count(*) FROM h.pt WHERE diagnosis = $1"
        )
        result = pgconn.exec_(b"EXECUTE r('a', array_fill('aaaaaaaa'::text, ARRAY[400000]))")
        assert _told(result) == "54001"
        # 10,000 to the power of 32,767 in ten bytes: 131,072 digits each
        tiny = (
            (1).to_bytes(2, "big") + (32767).to_bytes(2, "big") + bytes(4) + (1).to_bytes(2, "big")
        )
        places = ",".join(f"${n}::numeric" for n in range(1, 1001))
        result = pgconn.exec_params(
            f"SELECT count(*) FROM h.pt WHERE weight IN ({places})".encode(),
            [tiny] * 1000,
            [1700] * 1000,
            [1] * 1000,
        )
        assert _told(result) == "54001", result.error_message
    assert listeners.proxy.spent(analyst)[0] == 0
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 50_000, "kilobytes"


@pytest.mark.parametrize(
    ("argument", "state", "message"),
    [
        ("(ARRAY['paid', 'x'])[generate_series(1, 2)]", "0A000", "set-returning functions are not allowed"),
        ("(ARRAY['paid'])[generate_series(1, 0)]", "0A000", "set-returning functions are not allowed"),
        ("unnest(ARRAY[]::text[])", "0A000", "set-returning functions are not allowed"),
        ("max('x')", "42803", "aggregate functions are not allowed"),
        ("(row_number() OVER ())::text", "42P20", "window functions are not allowed"),
        ("1/0", "22012", "division by zero"),
    ],
)  # fmt: skip
def test_arguments_of_execute_that_are_no_values(
    argument: str, state: str, message: str, listeners: BothListeners
) -> None:
    analyst = listeners.proxy.servers.new_analyst()
    with listeners.proxy.connect(_WITH, analyst=analyst) as connection:
        pgconn = connection.pgconn
        pgconn.exec_(b"PREPARE q(text) AS SELECT count(*) FROM h.pt WHERE diagnosis = $1")
        result = pgconn.exec_(f"EXECUTE q({argument})".encode())
        assert _told(result) == state
        assert message.encode() in result.error_message
        assert b"VALUES" not in result.error_message
        assert _told(pgconn.exec_(b"EXECUTE q('flu')")) is None
    assert listeners.proxy.spent(analyst)[0] == 1


def test_arguments_of_every_type_come_as_they_are(listeners: BothListeners) -> None:
    """What is fetched in JSON is bound again as the text that PostgreSQL read it from."""
    given = {
        "int8": "-9223372036854775808",
        "numeric": "1e300",
        "float8": "0.1",
        "float4": "1e-40",
        "bool": "false",
        "text": "E'a\"\\\\\\u00e9\\n'",
        "varchar": "'x'",
        "bpchar": "'x  '",
        "date": "'2024-02-29'",
        "timestamp": "'9999-12-31 23:59:59.999999'",
        "timestamptz": "'2024-02-29 23:00+05:30'",
        "uuid": "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
        "text[]": "ARRAY['a', NULL, 'NULL']",
        "jsonb": "'{\"a\": [1, null]}'",
        "bytea": "'\\x00ff'",
        "interval": "'-1 day 2 hours'",
    }
    values = ", ".join(f"${n}::text" for n in range(1, len(given) + 1))
    with listeners.proxy.connect(_WITH) as connection, listeners.proxy.direct(_WITH) as direct:
        for style in ("ISO, DMY", "SQL, DMY", "Postgres, MDY", "German"):
            for each in (connection, direct):
                each.execute(f"SET DateStyle = {style!r}")
                each.execute("SET IntervalStyle = 'sql_standard'")
            types = ", ".join(given)
            connection.execute(
                f"PREPARE q({types}) AS SELECT {values}, count(*) FROM h.pt".encode()
            )
            direct.execute(f"PREPARE q({types}) AS SELECT {values}".encode())
            run = f"EXECUTE q({', '.join(given.values())})".encode()
            got, meant = connection.execute(run).fetchone(), direct.execute(run).fetchone()
            assert got is not None and got[:-1] == meant
            for each in (connection, direct):
                each.execute("DEALLOCATE q")
