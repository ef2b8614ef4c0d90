"""No default answer misleads: each query of the public corpus on the data as it is, under policies that name no
mechanism and no bound on what a person adds, at epsilon 1.

    pytest -s -m long tests/stated_errors/test_defaults.py        # the table of docs/reference/accuracy.md
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from zlib import crc32

import psycopg
import pytest

from proxy.base.errors import Refusal
from tests.live import public_data
from tests.live.public_data import RowBounds
from tests.live.served_database import served_database
from tests.live_proxy import start_proxy
from tests.seeded_bits import SeededBits
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import servers
from tests.stated_errors.held import Held
from tests.stated_errors.own_answers import OwnAnswers, own_answers
from tests.stated_errors.public_engine import AS_IT_IS, NotProtected, PublicEngine, public_engine
from tests.stated_errors.redrawn import Redrawn, Release
from tests.stated_errors.shapes import Shape, corpus, corpus_shapes

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not public_data.PRESENT, reason=public_data.REASON),
]

RUNS = 50
_FAR = 3  # stated errors
_AT_MOST = Fraction(1, 100)  # of the values of a query
# Of a query with fewer values one that is far would be more than 1 in 100: it is run more often.
_VALUES, _MORE_RUNS = 500, 500
# SUM(quantity) of rows above 4, at half of epsilon: the walk ends a step too early in 2 of 100 answers, below a
# hundred of 1,484 people. A walk that ends later keeps to 1 % and not to accuracy.md's factor of 3.
_KNOWN = {"qr-01": Fraction(3, 100)}
_SCHEMAS = ("census", "shop", "chinook")


@dataclass(slots=True)
class Answers:
    """Of one query: values with a stated error, and those that are too far; NULL; values without an error,
    which have a reason; unsaid: those without."""

    stated: int = 0
    far: int = 0
    null: int = 0
    reasoned: int = 0
    unsaid: int = 0

    def __iadd__(self, other: Answers) -> Answers:
        self.stated += other.stated
        self.far += other.far
        self.null += other.null
        self.reasoned += other.reasoned
        self.unsaid += other.unsaid
        return self

    def add(self, release: Release, own: OwnAnswers, reasons: Sequence[str]) -> None:
        """reasons: why a column has no error, by its place; "" where none is given."""
        with_error = {(n.keys, n.place): n for n in release.numbers() if n.is_column}
        for row in release.noisy.rows:
            is_null = all(value.is_missing for value in row.values)
            for place, output in enumerate(release.block.outputs, start=1):
                if output.expression is None and not output.reason:
                    continue  # a key
                number = with_error.get((row.keys, place))
                if number is not None:
                    self.stated += 1
                    truth = own.of(number)
                    self.far += (
                        truth is not None and abs(number.value - truth) > _FAR * number.error
                    )
                elif is_null:
                    self.null += 1
                elif output.reason or reasons[place - 1]:
                    self.reasoned += 1
                else:
                    self.unsaid += 1


def _answers(shape: Shape, public: PublicEngine) -> Answers | None:
    """None: refused."""
    try:
        statement = Redrawn(public, shape.sql)
    except Refusal:
        return None
    found, bits = Answers(), SeededBits(crc32(shape.name.encode()))
    blocks = statement.private.blocks
    asked = shape.own or (shape.sql,)
    with psycopg.connect(public.superuser_dsn, autocommit=True) as connection:
        own = [own_answers(connection, sql, one) for sql, one in zip(asked, blocks, strict=True)]
    runs = 0
    while runs < RUNS or (runs < _MORE_RUNS and 0 < found.stated < _VALUES):
        releases, columns = statement.run(bits)
        rest = list(columns)
        for release, answers in zip(releases, own, strict=True):
            reasons = []
            for output in release.block.outputs:
                is_key = output.expression is None and not output.reason
                reasons.append("" if is_key or not rest else rest.pop(0).reason)
            found.add(release, answers, reasons)
        runs += 1
    return found


@pytest.fixture(scope="module")
def public() -> Iterator[PublicEngine]:
    engine = public_engine(RowBounds.AUTO, AS_IT_IS)
    yield engine
    engine.close()


def test_no_default_answer_misleads(public: PublicEngine) -> None:
    schemas = {query["id"]: query["schema"] for query in corpus()}
    total = {schema: Answers() for schema in _SCHEMAS}
    queries = dict.fromkeys(_SCHEMAS, 0)
    refused = dict.fromkeys(_SCHEMAS, 0)
    wrong = []
    for shape in corpus_shapes():
        try:
            public.read(shape.sql)
        except (NotProtected, Refusal) as error:
            if isinstance(error, Refusal):
                refused[schemas[shape.name]] += 1
            continue
        found = _answers(shape, public)
        schema = schemas[shape.name]
        if found is None:
            refused[schema] += 1
            continue
        queries[schema] += 1
        total[schema] += found
        if found.far > _KNOWN.get(shape.name, _AT_MOST) * found.stated or found.unsaid:
            wrong.append(f"{shape.name}: {found}")
    print(
        "\n| data | answered | refused | values | further than 3 errors | NULL | a reason instead |"
    )
    print("|---|---|---|---|---|---|---|")
    for schema, one in total.items():
        print(
            f"| {schema} | {queries[schema]} | {refused[schema]} | {one.stated:,} | {one.far} |"
            f" {one.null:,} | {one.reasoned:,} |"
        )
    assert wrong == []
    assert all(one.far <= _AT_MOST * one.stated for one in total.values())
    assert sum(queries.values()) >= 60 and all(one.stated + one.null for one in total.values())


@pytest.fixture(scope="module")
def served() -> Iterator[BothListeners]:
    pair = servers()
    database = served_database(
        pair,
        "public_served",
        public_data.script(),
        public_data.policy_tables(RowBounds.AUTO),
        mechanism="auto",
        fill=lambda: public_data.load(pair.protected, "public_served"),
    )
    proxy = start_proxy(pair, [database])
    listeners = open_http(proxy)
    yield listeners
    listeners.close()
    proxy.stop()


def test_over_http_what_changes_has_an_error_or_a_reason(served: BothListeners) -> None:
    """Seen from outside: a number that differs between two answers is noisy."""
    noisy = 0
    for shape in corpus_shapes():
        bodies = [
            served.query(shape.sql, database="public_served").json()
            for _ in range(1 if shape.name == "pdp-13" else 4)
        ]
        if any("rows" not in body or body["errors"] is None for body in bodies):
            assert all("rows" not in body or body["errors"] is None for body in bodies), shape.name
            continue
        for place in _changing(bodies):
            noisy += 1
            for body in bodies:
                described = body["errors"]["columns"][place]
                values = [row[place] for row in body["rows"]]
                assert described is not None, (shape.name, place)
                is_said = described["least"] is not None or described["no_interval"]
                assert is_said or all(value is None for value in values), (shape.name, described)
    assert noisy > 60


def _changing(bodies: Sequence[dict[str, Any]]) -> list[int]:
    """Columns whose values are not the same in all answers."""
    kinds = [column["type"] for column in bodies[0]["columns"]]
    numbers = ("bigint", "integer", "numeric", "double precision", "real")
    return [
        place
        for place, kind in enumerate(kinds)
        if kind in numbers
        and len({str(sorted(str(row[place]) for row in body["rows"])) for body in bodies}) > 1
    ]


_STATED = (
    ("SELECT count(*), dp.low(count(*)), dp.high(count(*)) FROM census.adult", ""),
    ("SELECT sum(age), dp.low(sum(age)), dp.high(sum(age)) FROM census.adult", ""),
    ("SELECT avg(age), dp.low(avg(age)), dp.high(avg(age)) FROM census.adult", ""),
    (
        "SELECT education, count(*), dp.low(count(*)), dp.high(count(*)) FROM census.adult GROUP BY education",
        "education",
    ),
    (
        "SELECT sex, sum(age)::numeric / count(*), dp.low(sum(age)::numeric / count(*)),"
        " dp.high(sum(age)::numeric / count(*)) FROM census.adult GROUP BY sex",
        "sex",
    ),
    (
        "SELECT state, count(*), dp.low(count(*)), dp.high(count(*)) FROM shop.people GROUP BY state",
        "state",
    ),
)


def test_over_the_wire_and_http_intervals_hold(served: BothListeners) -> None:
    """Where each person is one row, so that PostgreSQL's own is the exact answer; 20 answers of each statement
    from either listener."""
    dsn = served.proxy.servers.protected.dsn("public_served")
    stated, columns = Held(), Held()
    for sql, key in _STATED:
        plain = sql.split(", dp.low", 1)[0] + sql[sql.index(" FROM") :]
        with psycopg.connect(dsn) as connection:
            rows = connection.execute(plain.encode()).fetchall()
        truth = {row[:-1]: Fraction(str(row[-1])) for row in rows}
        with served.proxy.connect("public_served") as connection:
            for _ in range(20):
                for *keys, _value, low, high in connection.execute(sql.encode()).fetchall():
                    if tuple(keys) in truth:
                        exact = truth[tuple(keys)]
                        stated.add(Fraction(str(low)) <= exact <= Fraction(str(high)))
        for _ in range(20):
            body = served.query(plain, database="public_served").json()
            for row, errors in zip(body["rows"], body["errors"]["rows"], strict=True):
                place = 1 if key else 0
                if tuple(row[:place]) in truth:
                    off = abs(Fraction(str(row[place])) - truth[tuple(row[:place])])
                    columns.add(off <= Fraction(str(errors[place])))
    print(f"dp.low and dp.high: {stated}; over HTTP: {columns}")
    for held in (stated, columns):
        assert held.numbers > 1000 and not held.is_low
