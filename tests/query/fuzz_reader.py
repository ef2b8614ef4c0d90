"""Made-up statements against everything up to the compiled SQL: `python -m tests.query.fuzz_reader`.

look, split, read_statement, plan and compile give a result or a Refusal.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random  # noqa: TID251  the same statements for the same seed

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.query.syntax.statements import pieces
from tests.cases import in_folder
from tests.fuzz_loop import fuzz, mutated
from tests.live import attacks
from tests.pipeline_world import CATALOG, NAMES, POLICIES, read, walk

_GOLDEN = Path(__file__).parents[1] / "golden"
# The hostile corpus is about tables of its own: its names become those of the world.
_NAMES = {
    **{"adult": "people", "visits": "visits", "states": "places", "salaries": "orders"},
    **{"user_id": "uid", "age": "i4", "sex": "t", "education": "t", "hours": "n2", "income": "f8"},
    **{"notes": "t", "born": "d", "zip": "code", "ts": "z", "amount": "f8", "store": "t"},
    **{"state": "zone", "salary": "n2"},
}
_TYPES = [
    *(SqlType.INT2, SqlType.INT4, SqlType.INT8, SqlType.NUMERIC, SqlType.FLOAT8, SqlType.TEXT),
    *(SqlType.BOOL, SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ, SqlType.UUID),
    *(SqlType.BPCHAR, SqlType.OTHER),
]
_SQL = """
select from where group by having order limit offset distinct with recursive as union all intersect except
join left right full cross lateral on using natural in exists any between like ilike similar to escape is not
null true false unknown case when then else end cast extract interval date timestamp at time zone filter over
partition rows count(*) count( sum( avg( min( max( stddev( variance( percentile_cont( within group (
coalesce( nullif( greatest( abs( round( floor( trunc( width_bucket( date_trunc( lower( substring( btrim(
position( for explain analyze prepare execute declare cursor copy create table insert into values returning
update delete merge tablesample grouping sets rollup cube fetch first ties window search depth cycle
materialized only array row $1 $2 $0 $99999 1 0 -1 1e9 1e999 1e9999 0x1F 1_000 .5 5. 99999999999999999999
'x' '' E'\\x41' U&'\\0041' b'1' $$x$$ '2024-01-01' '2024-01-01T25:00' 'infinity' 'NaN' '1day' '%' '\\'
"people" "" U&"\\0070eople" ( ) (( )) [ ] , ; . * :: ::int ::text ::numeric(5,2) + - / % ^ || = <> != <= ~ ~*
-> ->> @> ? :x -- /* */ ' " $a$ \\
"""
_WORDS = [
    *(column.name for table in CATALOG.tables.values() for column in table.columns),
    *(name.name for name in CATALOG.tables),
    *_SQL.split(),
    *("9" * 5000, "'2024-01-01 \u0661\u0662:00'", "\u0661", "\u2028", "\u00a0", "\ud800", "\ufeff"),
    *(" ", "\n", "\t"),
]


_CALLED = ("abs", "lower", "coalesce", "nullif", "sum", "avg", "round", "count")


def _corpus() -> list[str]:
    found = [case.statement for case in in_folder(_GOLDEN / "pipeline")]
    found += [case.statement for case in in_folder(_GOLDEN / "refused")]
    if attacks.PRESENT:
        word = re.compile(r"\b(" + "|".join(_NAMES) + r")\b", re.IGNORECASE)
        found += [
            word.sub(lambda m: _NAMES[m.group().lower()], one.sql) for one in attacks.corpus()
        ]
    return found


_CORPUS = _corpus()
_POLICIES = list(POLICIES.values())
Given = tuple[str, tuple[SqlType, ...], tuple[str | None, ...], int]


def _made(rng: Random) -> Given:
    match rng.randrange(13):
        case 0:
            text = " ".join(rng.choice(_WORDS) for _ in range(rng.randrange(60)))
        case 1:
            text = f"select {_expression(rng, 0)}, count(*) from people where {_expression(rng, 0)}"
        case 2:
            keys = _expression(rng, 0)
            text = f"select {keys}, sum({_expression(rng, 1)}) from visits group by {keys}"
        case 3:
            one, other = rng.choice(_CORPUS), rng.choice(_CORPUS)
            text = f"with x as ({one}) select * from x, ({other}) y"
        case 12:
            several = (f"dp.{end}({_noisy(rng, 0)})" for end in ("low", "high", "error"))
            text = f"select t, {', '.join(several)}, {_noisy(rng, 1)} from people group by t"
        case 4:
            text = f"{rng.choice(_CORPUS)} union all {rng.choice(_CORPUS)}"
        case _:
            text = mutated(rng, rng.choice(_CORPUS), _WORDS, _CORPUS)
    if rng.random() < 0.3:
        text = re.sub(r"(?<![\w.])[0-9]+(?![\w.])", lambda _: rng.choice(("$1", "$2")), text)
    types = tuple(rng.choice(_TYPES) for _ in range(rng.choice((0, 1, 2, 2, 3))))
    return text, types, tuple(_argument(rng, kind) for kind in types), rng.randrange(len(_POLICIES))


def _expression(rng: Random, depth: int) -> str:
    if depth > 5 or rng.random() < 0.2:
        return rng.choice(_WORDS)

    def more() -> str:
        return _expression(rng, depth + 1)

    match rng.randrange(9):
        case 0:
            return f"({more()})"
        case 1 | 2:
            return f"{more()} {rng.choice(('+', '-', '*', '/', '%', '=', '<', '||', 'and', 'or'))} {more()}"
        case 3:
            return f"case when {more()} then {more()} else {more()} end"
        case 4:
            return f"{more()} in ({more()}, {more()})"
        case 5:
            return f"{rng.choice(_CALLED)}({more()}, {more()})"
        case 6:
            return f"{more()} in (select {more()} from places where {more()})"
        case 7:
            return f"not {more()} between {more()} and {more()}"
        case _:
            return f"{more()}::{rng.choice(('int', 'text', 'numeric', 'date', 'numeric(5,2)', 'bool'))}"


def _noisy(rng: Random, depth: int) -> str:
    """Arithmetic over aggregates, of which most is read."""
    if depth > 4 or rng.random() < 0.3:
        few = ("count(*)", "sum(n2)", "avg(i4)", "max(d)", "sum(f4) filter (where b)", "7", "0.5")
        return rng.choice((*few, rng.choice(_WORDS)))

    def more() -> str:
        return _noisy(rng, depth + 1)

    match rng.randrange(5):
        case 0:
            return f"({more()})"
        case 1 | 2:
            return f"{more()} {rng.choice('+-*/')} {more()}"
        case 3:
            return f"({more()})::{rng.choice(('int', 'bigint', 'numeric', 'numeric(9,2)', 'real'))}"
        case _:
            name = rng.choice(("round", "abs", "greatest", "least", "coalesce", "nullif", "trunc"))
            return f"{name}({more()}{rng.choice(('', ', 2', f', {more()}'))})"


def _argument(rng: Random, kind: SqlType) -> str | None:
    """As to_jsonb prints a value of the type; OTHER may be anything."""
    if rng.random() < 0.1:
        return rng.choice((None, "null"))
    if kind is SqlType.NUMERIC:
        return rng.choice(("0", "1.50", "-1e400", "9" * 5000, "1" + "0" * 9999, '"NaN"', "1e-2000"))
    if kind is SqlType.FLOAT8:
        return rng.choice(("0.1", "-1e308", "5e-324", '"Infinity"', '"-Infinity"', '"NaN"'))
    if kind.is_number:
        return str(rng.choice((0, 1, -1, 32767, -32768, 2**31 - 1, rng.randrange(100))))
    if kind is SqlType.BOOL:
        return rng.choice(("true", "false"))
    if kind in (SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ):
        days = (
            "2024-01-01",
            "-infinity",
            "infinity",
            "0044-03-15 BC",
            "294276-12-31",
            "5874897-12-31",
        )
        tail = {SqlType.DATE: "", SqlType.TIMESTAMP: "T23:59:59.9"}.get(kind, "T23:59:60+15:59:59")
        day = rng.choice(days)
        return json.dumps(day if "inf" in day else day + tail)
    if kind is SqlType.UUID:
        return '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'
    if kind is SqlType.OTHER and rng.random() < 0.5:
        return rng.choice(('{"a": [1]}', "[" * 5000 + "]" * 5000, "[]", "1e400"))
    texts = ("", "x", "%" * 4000, "\\", "\u0000x"[1:], "\ud7ff\U0001f600", "x" * 100_000, "$1", "'")
    return json.dumps(rng.choice(texts))


def _attempt(given: Given) -> None:
    text, types, arguments, policy = given
    # Each part is tried by itself, so that one that is refused does not hide the others.
    try:
        parts = pieces(text, NAMES)
    except Refusal:
        parts = ()
    for _, part in (*parts, (0, text)):
        try:
            walk(part, _POLICIES[policy], types, arguments)
            read(part, types, with_errors=True)
        except Refusal as refusal:
            assert refusal.message and refusal.hint, "a refusal says what and how else"


if __name__ == "__main__":
    fuzz(_made, _attempt, lambda given: repr(given)[:1500])
