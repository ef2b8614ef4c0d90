"""Statements that tools and libraries generate (../shared/clients/generated.jsonl), variants of each, and
tables in which every group that the policy allows has rows."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import sqlglot
from sqlglot import Token, TokenType

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
