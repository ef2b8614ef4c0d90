"""Statements that tools and libraries generate, and variants of each, beside PostgreSQL: which are answered,
with its groups and its values."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import psycopg
import pytest
import sqlglot
from psycopg.conninfo import make_conninfo
from psycopg.pq import ExecStatus
from sqlglot import Token, TokenType

from tests.live import public_data
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

FILE = Path(__file__).parents[3] / "shared" / "clients" / "generated.jsonl"

# People 1 to 24,000, of whom each sixth has no order. Times of five years, an hour at the least.
_HOURS = "(timestamptz '2016-01-01 00:00:00+00' + interval '1 hour' * ({}))"
_PEOPLE = f"""\
INSERT INTO shop.people SELECT i, 'a', 'e', 'p', 'n', 'c' || i % 9, -70,
  CASE WHEN i % 50 > 0 THEN {{state}} END, {{source}},
  date '1958-04-26' + (i * 37) % 15000, '1', 30, {_HOURS.format("(i * 101) % 43825")}
FROM generate_series(1, 24000) i"""
_PRODUCTS = """\
INSERT INTO shop.products SELECT i, 'e', 't' || i, (ARRAY['Doohickey', 'Gadget', 'Gizmo', 'Widget'])[1 + i % 4],
  'v' || i % 7, 15 + i % 80, i % 6, '2016-01-01' FROM generate_series(1, 200) i"""
_ORDERS = f"""\
INSERT INTO shop.orders SELECT n, i, 1 + (n * 7) % 200, s, s / 16, s + s / 16,
  CASE WHEN n % 3 = 0 THEN (n * 13) % 75 END, {_HOURS.format("(n * 347) % 43825")}, (n * 17) % 101
FROM (SELECT row_number() OVER ()::integer AS n, i
  FROM generate_series(1, 24000) i, generate_series(1, i % 6)) x,
  LATERAL (SELECT 0.01 * ((n * 7919) % 15000) AS s) y"""
_ADULT = """\
INSERT INTO census.adult SELECT i, 'n', 's', 'z', (i * 7) % 121, {workclass}, 20000, {education}, 1 + i % 16,
  {marital_status}, {occupation}, {relationship}, {race}, {sex},
  CASE WHEN i % 10 = 0 THEN (i * 97) % 99999 ELSE 0 END, (i * 31) % 5000,
  1 + ((i * 7) % 121 + (i * 13) % 50) % 99, {native_country}, {income}
FROM generate_series(1, 40000) i"""

# What is another key, and another value of it.
_OTHER_NAMES = {
    "education": "marital_status", "occupation": "relationship", "sex": "race", "workclass": "education",
    "category": "vendor", "source": "state", "income": "sex",
}  # fmt: skip
_OTHER_TEXTS = {
    "bachelors": "Divorced", "masters": "Widowed", "male": "White", "female": "Black", "private": "HS-grad",
    "state-gov": "Masters", "local-gov": "11th", ">50k": "Male", "gizmo": "v1", "widget": "v2", "google": "CA",
    "twitter": "TX", "%manag%": "%own%", "man": "Own", "al": "Un", "f": "N",
    "day": "week", "week": "month", "month": "quarter", "quarter": "month", "year": "quarter",
}  # fmt: skip
_COMPARISONS = {
    *(TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.GT, TokenType.LTE, TokenType.GTE),
    *(TokenType.LIKE, TokenType.ILIKE, TokenType.BETWEEN),
}
_RANGES = {TokenType.LT, TokenType.GT, TokenType.LTE, TokenType.GTE, TokenType.BETWEEN}
_CONSTANTS = {TokenType.STRING, TokenType.NUMBER}
_YEAR = re.compile(r"\b20(1[6-9]|20)-")
# Names that stand for more than an alias: types after AS, parts of times, columns.
_KEPT = re.compile(
    r"int\d?|bigint|smallint|numeric|decimal|float\d?|double|text|varchar|bool|date|timestamp(tz)?"
    r"|year|month|quarter|week|day|dow|isodow|hour|orders|adult|created_at|birth_date|user_id|source|total|quantity"
    r"|education|income|workclass|occupation|sex|category|city|product_id|user",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """labels: output columns without an aggregate; parameters: of $1, $2, ..."""

    name: str
    form: str
    sql: str
    labels: tuple[int, ...]
    parameters: tuple[str, ...]
    is_answered: bool


def statements() -> list[Generated]:
    lines = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    return [
        Generated(
            name=line["id"],
            form="as generated",
            sql=line["sql"],
            labels=tuple(line["labels"]),
            parameters=tuple(map(str, line.get("params", ()))),
            is_answered=line["expect"] == "answer",
        )
        for line in lines
    ]


def variants(one: Generated) -> Iterator[Generated]:
    """Those that differ from it."""
    made = {
        "another range": (_edited(one.sql, _other_ranges(one.sql)), one.parameters),
        "parameters": _parametrized(one),
        "another key": (
            _edited(one.sql, _other_keys(one.sql)),
            tuple(_OTHER_TEXTS.get(text.lower(), text) for text in one.parameters),
        ),
        "quoted aliases": (_edited(one.sql, _quoted(one.sql)), one.parameters),
    }
    for form, (sql, parameters) in made.items():
        if sql != one.sql:
            yield replace(one, form=form, sql=sql, parameters=parameters)


def filling(domains: dict[str, list[str]]) -> list[str]:
    """Statements that fill the tables. domains: values by table and column"""

    def chosen(table: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, values in domains.items():
            if name.startswith(table):
                texts = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
                column = name.removeprefix(f"{table}.")
                # A hash of its own, so that columns do not depend on each other; squared, so that few
                # groups are of nearly the same size.
                share = f"((hashint8(i::bigint * 64 + {len(found)}) & 2147483647) / 2147483648.0)"
                found[column] = (
                    f"(ARRAY[{texts}])[1 + floor({len(values)} * {share} * {share})::integer]"
                )
        return found

    return [
        "ALTER TABLE shop.orders ADD FOREIGN KEY (product_id) REFERENCES shop.products",
        _PRODUCTS,
        _PEOPLE.format(**chosen("shop.people")),
        _ORDERS,
        _ADULT.format(**chosen("census.adult")),
    ]


def _tokens(sql: str) -> list[Token]:
    return sqlglot.tokenize(sql, read="postgres")


def _edited(sql: str, edits: Iterator[tuple[Token, str]]) -> str:
    for token, text in sorted(edits, key=lambda edit: -edit[0].start):
        sql = sql[: token.start] + text + sql[token.end + 1 :]
    return sql


def _compared(sql: str, operators: set[TokenType]) -> Iterator[Token]:
    """Constants beside such operators, those of BETWEEN's second place and of lists."""
    kinds, is_list = [token.token_type for token in _tokens(sql)], False
    for i, token in enumerate(_tokens(sql)):
        if kinds[i] is TokenType.L_PAREN:
            is_list = kinds[i - 1] is TokenType.IN and TokenType.EQ in operators
        elif kinds[i] is TokenType.R_PAREN:
            is_list = False
        second = kinds[i - 3 : i - 2] == [TokenType.BETWEEN] and kinds[i - 1] is TokenType.AND
        if kinds[i] in _CONSTANTS and (is_list or second or kinds[i - 1] in operators):
            yield token


def _other_ranges(sql: str) -> Iterator[tuple[Token, str]]:
    for token in _tokens(sql):
        if token.token_type is TokenType.STRING and _YEAR.search(token.text):
            yield (
                token,
                _YEAR.sub(lambda m: f"20{max(int(m[1]) - 1, 16)}-", token.text).join("''"),
            )
    for token in _compared(sql, _RANGES):
        if token.token_type is TokenType.NUMBER and token.text.isdigit():
            yield token, str(int(token.text) + max(1, int(token.text) // 10))


def _parametrized(one: Generated) -> tuple[str, tuple[str, ...]]:
    given = list(one.parameters)
    edits = []
    for token in _compared(one.sql, _COMPARISONS):
        given.append(token.text)
        edits.append((token, f"${len(given)}"))
    return _edited(one.sql, iter(edits)), tuple(given)


def _other_keys(sql: str) -> Iterator[tuple[Token, str]]:
    for token in _tokens(sql):
        text = token.text.lower()
        if token.token_type is TokenType.STRING and text in _OTHER_TEXTS and token.text != "Day":
            yield token, _OTHER_TEXTS[text].join("''")
        elif token.token_type in (TokenType.VAR, TokenType.IDENTIFIER) and text in _OTHER_NAMES:
            yield token, _OTHER_NAMES[text]


def _quoted(sql: str) -> Iterator[tuple[Token, str]]:
    tokens = _tokens(sql)
    names = {
        token.text
        for before, token in itertools.pairwise(tokens)
        if before.token_type is TokenType.ALIAS
        and token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        and not _KEPT.fullmatch(token.text)
    }
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        is_name = token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        is_called = after is not None and after.token_type is TokenType.L_PAREN
        if is_name and token.text in names and not is_called:
            yield token, f'"{token.text} As \u00dc"'


pytestmark = pytest.mark.skipif(
    not (public_data.PRESENT and FILE.is_file()),
    reason="the data and statements beside the repository are not here",
)
NAME = "public"  # which some tools put before the schema
_ASKED = ("shop.people", "shop.orders", "shop.products", "census.adult")
_DRAWS = 5
_FAR = re.compile(r" for -?[\d.]")  # what `fault` says of a number
_LIMIT = re.compile(r"\bLIMIT\s+\d+\s*;?\s*$", re.IGNORECASE)
_SHARE = (
    0.05  # of the number, or of the column's largest: how far noise of epsilon 100 may move a value
)
# Of 138: a value of one person (ibis-argmax), and quantiles of rows by windows (ibis-ntile).
_REFUSED = 2
# Groups beside PostgreSQL's are those of rows beyond a column's bounds (an age below 0) or list (another sex
# than the listed ones): a condition and CASE see what is stored, so such rows would be there.
_BEYOND = ("ibis-histogram", "thoughtspot-in-true-false")
_DAYS = 4  # how far it may move a time

Row = tuple[str | None, ...]


@pytest.fixture(scope="module")
def public() -> Iterator[LiveProxy]:
    pair = servers()
    every_table = json.loads(public_data.policy_tables().removeprefix("tables: "))
    tables = {name: every_table[name] for name in _ASKED}
    domains = {
        f"{name}.{column}": [value for value in about["values"] if value is not None]
        for name, table in tables.items()
        if table != "public"
        for column, about in table["columns"].items()
        if isinstance(about.get("values", [0])[0], str)
    }
    tables["shop.orders"]["max_rows_per_unit"] = 5

    def fill() -> None:
        dsn = make_conninfo(pair.protected.dsn(), dbname=NAME)
        with psycopg.connect(dsn, autocommit=True) as connection:
            for statement in (*filling(domains), "VACUUM ANALYZE"):
                connection.execute(statement.encode())

    database = served_database(
        pair,
        NAME,
        public_data.script(),
        "tables: " + json.dumps(tables),
        mechanism="best",
        fill=fill,
        most="100",
    )
    proxy = start_proxy(pair, [database])
    yield proxy
    proxy.stop()


@dataclass(slots=True)
class Found:
    """Of one form: how many statements are answered, right, have extra groups, are refused with a hint.
    failures: what is not right, with its reason"""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def rows(connection: psycopg.Connection, one: Generated, sql: str = "") -> list[Row]:
    given = [text.encode() for text in one.parameters]
    result = connection.pgconn.exec_params((sql or one.sql).encode(), given)
    if result.status != ExecStatus.TUPLES_OK:
        raise psycopg.DatabaseError(info=result)
    return [
        tuple(
            None if (value := result.get_value(row, column)) is None else value.decode()
            for column in range(result.nfields)
        )
        for row in range(result.ntuples)
    ]


def fault(one: Generated, answer: Sequence[Row], exact: Sequence[Row]) -> str:
    """What is wrong with an answer, or ""."""

    def keyed(found: Sequence[Row]) -> dict[Row, Row]:
        return {tuple(row[label] for label in one.labels): row for row in found}

    got, wanted = keyed(answer), keyed(exact)
    if len(answer) > len(got) and one.labels:
        return "a group twice"
    if one.name in _BEYOND:
        got = {key: row for key, row in got.items() if key in wanted}
    if extra := got.keys() - wanted.keys():
        # As many as PostgreSQL's: noise has chosen others of nearly the same size for a list of the largest.
        kind = "extra" if len(got) > len(wanted) else "other"
        return f"{kind} groups: {len(extra)} of {len(got)}, such as {min(map(str, extra))}"
    if missing := wanted.keys() - got.keys():
        return f"missing groups: {len(missing)} of {len(wanted)}, such as {min(map(str, missing))}"
    columns = set(range(len(exact[0]) if exact else 0)) - set(one.labels)
    largest = {
        c: max([abs(_number(r[c])) for r in exact if _is_number(r[c])] or [0]) for c in columns
    }
    for key, row in got.items():
        for column in columns:
            if not _is_near(row[column], wanted[key][column], largest[column]):
                return f"{key}: {row[column]} for {wanted[key][column]}"
    return ""


def _is_number(text: str | None) -> bool:
    return text is not None and re.fullmatch(r"-?[\d.]+(e-?\d+)?", text) is not None


def _number(text: str | None) -> float:
    return float(text or 0)


def _is_near(got: str | None, wanted: str | None, largest: float) -> bool:
    if _is_number(got) and _is_number(wanted):
        far = abs(_number(got) - _number(wanted))
        return far <= _SHARE * largest
    try:
        times = [
            datetime.fromisoformat(f"{text}".replace("+00", "+00:00")) for text in (got, wanted)
        ]
        return abs((times[0] - times[1]).days) <= _DAYS
    except ValueError:
        return got == wanted


def _wrong(
    exact: psycopg.Connection, one: Generated, got: Sequence[Row], wanted: Sequence[Row]
) -> str:
    wrong = fault(one, got, wanted)
    if not wrong or not _LIMIT.search(one.sql) or len(got) != len(wanted):
        return wrong
    # Of the same numbers of rows noise keeps others.
    every_row = rows(exact, one, _LIMIT.sub("", one.sql))
    kept = {tuple(row[label] for label in one.labels) for row in got}
    return fault(one, got, [r for r in every_row if tuple(r[c] for c in one.labels) in kept])


def _middle(one: Generated, drawn: Sequence[Sequence[Row]]) -> list[Row]:
    """The groups of the first answer, each cell with the middle one of its values in all answers."""
    by_group = [{tuple(row[label] for label in one.labels): row for row in rows} for rows in drawn]
    found = []
    for group in by_group[0]:
        cells = zip(*(answer[group] for answer in by_group if group in answer), strict=True)
        found.append(tuple(_middle_value(values) for values in cells))
    return found


def _middle_value(values: Sequence[str | None]) -> str | None:
    ordered = sorted(
        values, key=lambda text: (_is_number(text), _number(text) if _is_number(text) else 0)
    )
    return ordered[len(ordered) // 2]


def judged(public: LiveProxy, every: Sequence[Generated]) -> dict[str, Found]:
    found: dict[str, Found] = {}
    dsn = make_conninfo(public.servers.protected.dsn(), dbname=NAME)
    with psycopg.connect(dsn, autocommit=True) as exact:
        exact.execute("SET TimeZone = 'UTC'")
        for one in every:
            try:
                wanted = rows(exact, one)
            except psycopg.Error:
                assert one.form != "as generated", one
                continue  # no variant, since PostgreSQL refuses it
            form = found.setdefault(one.form, Found())
            with public.connect(NAME, analyst=public.servers.new_analyst()) as connection:
                connection.execute("SET TimeZone = 'UTC'; SET dp.epsilon = 100")
                try:
                    got = rows(connection, one)
                except psycopg.Error as error:
                    said = f"{error.diag.message_primary} / {error.diag.message_hint}"
                    form.counts["refused with hint"] += error.diag.message_hint is not None
                    if one.is_answered:
                        form.failures.append(f"{one.name}: {said}")
                        form.counts["statements"] += 1
                        form.counts["refused"] += 1
                    continue
            assert one.is_answered, one  # those that read rows are refused
            form.counts["statements"] += 1
            form.counts["answered"] += 1
            wrong = _wrong(exact, one, got, wanted)
            if _FAR.search(
                wrong
            ):  # one number may be far off by its noise, the middle one of several not
                drawn = [got]
                for _ in range(_DRAWS - 1):
                    with public.connect(NAME, analyst=public.servers.new_analyst()) as connection:
                        connection.execute("SET TimeZone = 'UTC'; SET dp.epsilon = 100")
                        drawn.append(rows(connection, one))
                wrong = _wrong(exact, one, _middle(one, drawn), wanted)
            form.counts["right"] += not wrong
            form.counts["extra groups"] += wrong.startswith("extra groups")
            if wrong:
                form.failures.append(f"{one.name}: {wrong}")
    return found


def show(found: dict[str, Found]) -> None:
    columns = ("statements", "answered", "right", "extra groups", "refused with hint")
    print("\n" + " | ".join(["form".ljust(16), *columns]))
    for form, of_form in found.items():
        print(
            " | ".join(
                [form.ljust(16), *(str(of_form.counts[name]).rjust(len(name)) for name in columns)]
            )
        )
    for form, of_form in found.items():
        for failure in of_form.failures:
            print(f"{form}, {failure}")


@pytest.mark.long
def test_some_as_postgresql(public: LiveProxy) -> None:
    """Of each fifteenth statement one form, another of the next."""
    forms = [(one, *variants(one)) for one in statements()[::15]]
    check(judged(public, [several[n % len(several)] for n, several in enumerate(forms)]))


@pytest.mark.long
def test_all_as_postgresql(public: LiveProxy) -> None:
    every = statements()
    check(judged(public, [*every, *(made for one in every for made in variants(one))]))


def check(found: dict[str, Found]) -> None:
    show(found)
    for form, of_form in found.items():
        counts = of_form.counts
        assert counts["extra groups"] == 0, form
        assert counts["refused"] <= _REFUSED, form
        assert counts["right"] >= 0.97 * counts["answered"], form
