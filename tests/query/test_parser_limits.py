"""Within the limits of structure no statement takes the parser long, and nothing but a refusal comes out."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column, TableName
from proxy.query.ir.exposed import Exposed
from proxy.query.statement_reading import Reading, read_statement
from proxy.query.syntax.statements import Names, Statement, look
from proxy.query.syntax.tokens import lex
from tests.cases import Case, in_folder
from tests.machine_speed import allowed_work
from tests.pipeline_world import POLICIES, walk

# Ten times what the slowest takes on a quiet machine: a catastrophe is meant, not a slow minute.

ORDERS = TableName("shop", "orders")
NAMES = Names(["orders"])
_COLUMNS = {
    "a": SqlType.INT4,
    "b": SqlType.NUMERIC,
    "s": SqlType.TEXT,
    "t": SqlType.TIMESTAMPTZ,
    "p": SqlType.BOOL,
}
TABLES = {
    ORDERS: Exposed(ORDERS, {n: Column(n, t, t.sql, nullable=True) for n, t in _COLUMNS.items()})
}

HOSTILE = {
    "or": "p or " * 1900 + "p",
    "sum": "a+" * 1900 + "a > 1",
    "mixed": "a*a/2-" * 600 + "a > 1",
    "casts": "a" + "::int" * 1300 + ">1",
    "cases": "case when p then " * 60 + "a" + " else 1 end" * 60 + ">1",
    "whens": "case when p then 1 " + "when p then 1 " * 700 + "end > 1",
    "brackets": " or ".join(["(" * 28 + "a>1" + ")" * 28] * 60),
    "nots": " and ".join(["not " * 15 + "p"] * 200),
    "list": "a in (" + ",".join(["1"] * 1900) + ")",
    "betweens": " and ".join(["a between 1 and 2"] * 500),
    "subscripts": "a" + "[1]" * 30 + ">1",
    "more subscripts": "a" + "[1]" * 900 + ">1",
    "likes": " and ".join(["s like 'x'"] * 800),
    "concatenation": "s" + "||s" * 1500 + "='x'",
    "calls": "abs(" * 30 + "a" + ")" * 30 + ">1",
    "dots": "a" + ".a" * 1500 + ">1",
    "is": "p" + " is true" * 900,
    "equals": "a" + "=a" * 1500,
    "arrows": "s" + "->'a'" * 900 + " is null",
    "row": "(" + "a," * 1900 + "a)=1",
    "zones": "t" + " at time zone 'x'" * 900 + ">t",
    "collations": "s" + " collate x" * 900 + "='x'",
}
FORMS = (
    "select count(*) from orders where {}",
    "select sum(case when {} then 1 end) from orders",
    "select count(*), {} from orders",
    "select count(*) from orders group by {}",
)


def outcome(text: str) -> Reading | Code | None:
    """What the query floor makes of a statement: nothing to do with protected data, read, or refused."""
    try:
        statement = look(text, NAMES)
        if not isinstance(statement, Statement):
            return None
        resolved = tuple(ORDERS for _ in statement.relations)
        return read_statement(statement, resolved, TABLES, (SqlType.INT4,))
    except Refusal as refusal:
        return refusal.code


@pytest.mark.every(4)
@pytest.mark.timed
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", HOSTILE)
def test_structure_bounds_the_time(name: str, form: str) -> None:
    started = time.thread_time()
    outcome(form.format(HOSTILE[name]))
    assert time.thread_time() - started < allowed_work(2.5)


@pytest.mark.parametrize(
    "text",
    [
        "select count(*) from orders -- " + "x" * limits.STATEMENT_BYTES,
        "select count(*) from orders where a in ($1::int) -- "
        + "x" * (limits.STATEMENT_BYTES - 40),
        f"select count(*) from orders where a in ({', '.join(['$1::INTEGER'] * 4000)})",
        f"select count(*) from orders where a in ({','.join(['$1::int4'] * 2200)})",
        f"select count(*) from orders where a = $1::{'x' * limits.STATEMENT_BYTES}",
        "select count(*) from orders where " + "a=1 or " * 1400 + "p",
        "select count(*) from orders where " + "(" * 40 + "p" + ")" * 40,
        "select count(*) from orders where " + "not " * 17 + "p",
        "select sum(" + "-" * 0 + "- " * 17 + "a) from orders",
        "select sum(a" + "+a" * 200 + ") from orders",
        "select " + "a[1], " * 40 + "count(*) from orders",
    ],
)
def test_each_limit_is_a_refusal(text: str) -> None:
    assert outcome(text) is Code.TOO_COMPLEX


def test_parameters_with_their_types_are_beside_the_limits() -> None:
    """As many as a list may have, written as SQLAlchemy does."""
    listed = ", ".join(["$1::INTEGER"] * limits.LIST_ELEMENTS)
    assert isinstance(outcome(f"select count(*) from orders where a in ({listed})"), Reading)


def test_long_texts_without_a_protected_name_are_not_looked_into() -> None:
    assert look("select " + "1+" * 100_000 + "1", NAMES) is None


_WORDS = (
    *(
        "select",
        "count(*)",
        "sum(",
        "avg(",
        "min(a)",
        ")",
        "(",
        "from",
        "orders",
        "where",
        "group by",
    ),
    *(
        "having",
        "order by",
        "limit",
        "a",
        "b",
        "s",
        "p",
        "t",
        ",",
        "+",
        "-",
        "*",
        "/",
        "%",
        "=",
        "<>",
    ),
    *(
        "not",
        "and",
        "or",
        "in",
        "is",
        "null",
        "like",
        "'x%'",
        "'x\\'",
        "1",
        "2.5",
        "$1",
        "$2",
        "::int",
    ),
    *(
        "case",
        "when",
        "then",
        "else",
        "end",
        "distinct",
        "over",
        "filter",
        "union",
        "with",
        "as",
        "x",
    ),
    *("between", "interval '1 day'", "extract(year from t)", '"Orders"', "o", ".", ";", "@", "[1]"),
    *('U&"\\006f"', "e'\\''", "$$q$$", "--c\n", "/*", "*/", "::", "exists", "all", "any", "row("),
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(_WORDS), max_size=30))
def test_every_text_is_relayed_read_or_refused(words: list[str]) -> None:
    outcome("select count(*) from orders where " + " ".join(words))
    outcome(" ".join([*words, "from orders"]))


_GOLDEN = Path(__file__).parents[1] / "golden"
_CASES = list(in_folder(_GOLDEN / "pipeline"))
_FIRST = next(iter(POLICIES.values()))
_MARKED = {"where", "on", "by", "having", "from", "select", "in", "and", "not", "=", "(", ","}


def _walk(text: str) -> None:
    try:
        walk(text, _FIRST, (), ())
    except Refusal as refusal:
        assert refusal.message and refusal.hint


@pytest.mark.every(24)
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.name)
def test_truncated_after_a_word(case: Case) -> None:
    """After each word behind which a part is expected, and with the word behind it left out."""
    text = case.statement
    lexed = lex(text)
    assert lexed is not None
    lexemes = lexed.lexemes
    for one, following in zip(lexemes, (*lexemes[1:], None), strict=True):
        if text[one.start : one.end].lower() in _MARKED:
            _walk(text[: one.end])
            if following is not None:
                _walk(text[: one.end] + text[following.end :])
