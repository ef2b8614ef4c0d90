"""Random expressions through our reader, planner and compiler; what comes out is run on hostile rows."""

from __future__ import annotations

import json
import random  # noqa: TID251  the same expressions in every run
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum

import psycopg
import sqlglot

from proxy.base import limits
from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.plan import BlockPlan
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import depth
from proxy.query.ir.query import AggregateBlock
from tests.list_values import list_values
from tests.never_raise.grammar import Grammar
from tests.never_raise.hostile_rows import ROWS, TABLES
from tests.pipeline_world import DATA, POLICIES, Pipeline, walk

DEPTH = 6
_PAIRS = ("covar_pop", "covar_samp", "corr", "regr_slope", "regr_intercept", "regr_r2")
_COMPARED = (
    *("i2", "i4", "i8", "n2", "n", "t", "c", "s", "b", "d", "ts", "tz", "free", "e", "id"),
)
_TOGETHER = 25  # expressions of one statement
TYPES = (
    *(SqlType.INT4, SqlType.NUMERIC, SqlType.TEXT, SqlType.DATE),
    *(SqlType.TEXT, SqlType.TEXT, SqlType.TEXT, SqlType.NUMERIC, SqlType.NUMERIC),
)
_PATTERN = "%e" * limits.PATTERN_WILDCARDS
LARGEST = (
    json.dumps("e" * limits.CONSTANT_BYTES),
    json.dumps(_PATTERN + "e" * (limits.SEARCHED_BYTES - len(_PATTERN))),
    json.dumps("\U0001f600" * limits.TRIM_CHARACTERS),
    "9" * limits.NUMBER_DIGITS,
    "0." + "0" * (limits.NUMBER_DIGITS - 1) + "1",
)
ARGUMENTS = ("7", "0.5", '"SECRET"', '"2010-07-08"', *LARGEST)
_POLICY = POLICIES["joins best"]


@dataclass
class Seen:
    """What was run: how often each kind of node occurs in it, and what went wrong."""

    evaluations: int = 0
    accepted: int = 0
    refused: int = 0
    deepest: int = 0
    nodes: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


def run(
    connection: psycopg.Connection,
    evaluations: int,
    seed: int,
    *,
    kinds: frozenset[str] = frozenset(),
    until_error: bool = False,
) -> Seen:
    """
    Given    a connection to the database with the hostile tables, its search_path to them; so many
             evaluations, and more, up to ten times as many, until all these kinds of nodes have occurred
    """
    grammar, seen = Grammar(random.Random(seed)), Seen()
    while seen.evaluations < evaluations or (
        kinds - seen.nodes.keys() and seen.evaluations < 10 * evaluations
    ):
        for statements in _batches(connection, grammar, seen):
            _run(connection, statements, seen)
            if until_error and seen.errors:
                return seen
    return seen


@dataclass(frozen=True)
class _Asked:
    """select: output columns; rest: everything after them."""

    select: tuple[str, ...]
    rest: str

    @property
    def sql(self) -> str:
        return f"SELECT {', '.join(self.select)} {self.rest}"

    def alone(self) -> Iterator[_Asked]:
        """One by one, to find the one that raises."""
        for item in self.select:
            yield _Asked((item,), self.rest)


def _batches(connection: psycopg.Connection, grammar: Grammar, seen: Seen) -> Iterator[_Asked]:
    """One statement of many expressions, and a few of every other place in which expressions stand."""
    for table in TABLES:
        items: list[str] = []
        while len(items) < _TOGETHER:
            item = _aggregate(grammar)
            if _is_asked(connection, _Asked((item,), f"FROM {table}"), seen):
                items.append(item)
        yield _Asked(tuple(items), f"FROM {table}")
    for asked in _elsewhere(grammar):
        if _is_asked(connection, asked, seen):
            yield asked


def run_pairs(connection: psycopg.Connection, seed: int, times: int) -> Seen:
    """As `run`, of aggregates with two operands; so many times on each table."""
    grammar, seen = Grammar(random.Random(seed)), Seen()
    for table in (*TABLES,) * times:
        first, second = (grammar.number(grammar.draw.randint(0, DEPTH)) for _ in range(2))
        asked = _Asked((f"{grammar.draw.choice(_PAIRS)}({first}, {second})",), f"FROM {table}")
        if _is_asked(connection, asked, seen):
            _run(connection, asked, seen)
    return seen


def _aggregate(grammar: Grammar) -> str:
    make, uses = grammar.draw.choice(
        [
            (grammar.number, ("sum({})", "count({})", "max({})", "avg({})", "variance({})")),
            (grammar.condition, ("count(*) FILTER (WHERE {})", "sum(i4) FILTER (WHERE {})")),
            (grammar.text, ("count({})", "count(DISTINCT {})")),
            (grammar.time, ("count({})", "count(DISTINCT {})")),
        ]
    )
    return str(grammar.draw.choice(uses).format(make(grammar.draw.randint(0, DEPTH))))


def _elsewhere(grammar: Grammar) -> Iterator[_Asked]:
    draw = grammar.draw
    for _ in range(4):
        table = draw.choice(sorted(TABLES))
        number, condition = grammar.number(DEPTH), grammar.condition(DEPTH)
        key = draw.choice((grammar.condition, grammar.text, grammar.time))(draw.randint(0, DEPTH))
        yield _Asked(("count(*)",), f"FROM {table} WHERE {condition}")
        yield _Asked(("count(*)",), f"FROM {table} GROUP BY {key}")
        yield _Asked(
            ("sum(x)", "count(y)"),
            f"FROM (SELECT {number} AS x, {key} AS y FROM {table} WHERE {condition}) q",
        )
        of, uses = draw.choice(
            [
                (
                    grammar.number,
                    ("sum(x)", "max(x)", "percentile_disc(0.5) WITHIN GROUP (ORDER BY x)"),
                ),
                (grammar.text, ("count(x)",)),
                (grammar.time, ("count(x)", "count(DISTINCT x)")),
            ]
        )
        yield _Asked(
            uses,
            f"FROM (SELECT {of(draw.randint(0, 3))} AS x FROM {table}"
            f" UNION ALL SELECT {of(draw.randint(0, 3))} FROM {table}) q",
        )
        column, kind = draw.choice(
            (("f4", "real"), ("f8", "float8"), ("2.5::float8", "float8"), ("n", "numeric"))
        )
        yield _Asked(
            ("sum(x)", "count(x)"),
            f"FROM (SELECT {column} AS x FROM {table}"
            f" UNION ALL SELECT ({grammar.number(draw.randint(0, 2))})::{kind} FROM {table}) q",
        )
        yield _Asked(
            ("sum(x)", "sum(n)"),
            f"FROM (SELECT uid, {draw.choice(('sum', 'max', 'avg'))}({number}) AS x,"
            f" count(*) FILTER (WHERE {condition}) AS n FROM orders GROUP BY uid) q",
        )
        yield _Asked(
            ("sum(x) FILTER (WHERE z)", "count(y)"),
            f"FROM (SELECT uid, {number} AS x FROM orders) a {draw.choice(('JOIN', 'LEFT JOIN'))}"
            f" (SELECT uid, {key} AS y, {condition} AS z FROM orders) b USING (uid)",
        )
        yield _Asked(
            ("count(x)", "sum(n)", "sum(least(m, 9))"),
            f"FROM (SELECT uid, {key} AS x, count(*) AS n, {draw.choice(('max', 'min'))}({number}) AS m"
            f" FROM orders WHERE {condition} GROUP BY uid, {key}) q",
        )
        yield _Asked(
            ("count(y)", "count(z)"),
            f"FROM (SELECT DISTINCT uid, {key} AS y, {draw.choice(_COMPARED)} AS z FROM orders) q",
        )
        yield _Asked(
            ("count(y)", "count(DISTINCT y)"),
            f"FROM (SELECT uid, min({grammar.time(draw.randint(0, 3))}) AS y FROM orders GROUP BY uid) q",
        )
        yield from _lookups(grammar)
        yield from _windows(grammar)
        one, other = (
            draw.choice(("i2", "i8", "n2", "n", "f4", "f8", "d", "ts", "tz")) for _ in range(2)
        )
        yield _Asked(
            ("count(*)", "sum(a.n)"),
            f"FROM orders a JOIN orders b ON a.uid = b.uid AND a.{one} = b.{other}",
        )
        text, key = draw.choice(("t", "c", "s", "e")), draw.choice(("p.t = o.t", "p.e = o.e"))
        yield _Asked(("count(*)", "count(m.e)"), f"FROM {table} p JOIN moods m ON p.{text} = m.e")
        yield _Asked(
            ("count(*)", f"sum(o.i4) FILTER (WHERE {_of('p', grammar.condition(2))})"),
            f"FROM people p JOIN orders o ON {key}",
        )


def _windows(grammar: Grammar) -> Iterator[_Asked]:
    """Over the rows of a unit, of which every type that has an order can decide the order."""
    draw = grammar.draw
    key = draw.choice((grammar.number, grammar.condition, grammar.text, grammar.time))
    by = (
        f"PARTITION BY uid, {key(draw.randint(0, 2))}" if draw.randint(0, 1) else "PARTITION BY uid"
    )
    order = f"{draw.choice((*_COMPARED, key(2)))} {draw.choice(('', 'DESC', 'NULLS FIRST'))}"
    over = f"OVER ({by} ORDER BY {order}"
    frame = draw.choice(("", "ROWS UNBOUNDED PRECEDING"))
    word = draw.choice(("first_value({})", "lag({}, 0)", "lead({}, 3)"))
    value = word.format(key(draw.randint(0, DEPTH)))
    yield _Asked(
        ("count(x)", "sum(n)", "count(*) FILTER (WHERE r = 1)", "sum(m)"),
        f"FROM (SELECT {value} {over}) AS x, {draw.choice(('row_number', 'rank', 'dense_rank'))}()"
        f" {over}) AS r, count(*) FILTER (WHERE {grammar.condition(draw.randint(0, 3))}) {over} {frame}) AS n,"
        f" {draw.choice(('sum', 'avg', 'min', 'max'))}({grammar.number(DEPTH)}) {over} {frame}) AS m"
        " FROM orders) q",
    )
    yield _Asked(
        ("count(*) FILTER (WHERE y)", "count(*) FILTER (WHERE z)"),
        f"FROM (SELECT uid, bool_or({grammar.condition(DEPTH)}) AS y, every({grammar.condition(3)})"
        f" FILTER (WHERE {grammar.condition(2)}) AS z FROM orders GROUP BY uid) q",
    )


def _lookups(grammar: Grammar) -> Iterator[_Asked]:
    """Subqueries about each row, which compare columns of every type that they may."""
    draw = grammar.draw
    column = draw.choice(_COMPARED)
    condition = _of("p", grammar.condition(2))
    asked = f"EXISTS (SELECT 1 FROM orders p WHERE p.uid = o.uid AND p.{column} = o.{column} AND {condition})"
    yield _Asked((f"count(*) FILTER (WHERE {asked})",), "FROM orders o")
    yield _Asked(("count(*)",), f"FROM orders o WHERE NOT {asked}")
    one, other = (draw.choice(("i2", "i8", "n2", "n", "free", "id")) for _ in range(2))
    if draw.random() < 0.5:
        one, other = (draw.choice(("d", "ts", "tz")) for _ in range(2))
    word = draw.choice(("<", "<=", ">", ">=", "<>"))
    ordered = f"p.uid = o.uid AND p.{one} {word} o.{other} AND {condition}"
    yield _Asked(
        ("count(*)",), f"FROM orders o WHERE EXISTS (SELECT 1 FROM orders p WHERE {ordered})"
    )
    word = draw.choice(("IN", "NOT IN"))
    yield _Asked(
        ("count(*)",), f"FROM orders WHERE uid {word} (SELECT uid FROM orders p WHERE {condition})"
    )
    value = f"{draw.choice(('max', 'sum', 'avg'))}({_of('p', grammar.number(2))})"
    yield _Asked(
        (f"sum((SELECT {value} FROM orders p WHERE p.uid = o.uid AND {condition}))",),
        "FROM orders o",
    )


def _of(alias: str, condition: str) -> str:
    """The condition with its columns named by a relation."""
    names = "|".join(column.name for column in DATA)
    return re.sub(rf"(?<![\w'$.])({names})(?![\w'(])", rf"{alias}.\1", condition)


def _walk(asked: _Asked) -> Pipeline | None:
    try:
        return walk(asked.sql, _POLICY, TYPES, ARGUMENTS)
    except Refusal:
        return None


def _is_asked(connection: psycopg.Connection, asked: _Asked, seen: Seen) -> bool:
    """Whether PostgreSQL takes it for SQL, as the shadow is asked first, and we answer it."""
    oids = [kind.oid for kind in TYPES]
    prepared = connection.pgconn.prepare(b"", asked.sql.encode(), oids)
    if prepared.error_message:
        return False
    pipeline = _walk(asked)
    if pipeline is None:
        seen.refused += 1
        return False
    seen.accepted += 1
    return True


def _run(connection: psycopg.Connection, asked: _Asked, seen: Seen) -> None:
    pipeline = _walk(asked)
    if pipeline is None and len(asked.select) > 1:  # what is searched for is too much together
        for one in asked.alone():
            _run(connection, one, seen)
        return
    assert pipeline is not None
    for read in pipeline.reading.query.blocks:
        _note(read, seen)
    for planned in pipeline.plan.blocks:
        _note(planned, seen)
    for node in sqlglot.parse_one(asked.sql, dialect="postgres").walk():
        seen.nodes[type(node).__name__] += 1
    if _error(connection, pipeline) is None:
        seen.evaluations += ROWS * len(asked.select)
        return
    for one in asked.alone():
        alone = _walk(one)
        assert alone is not None
        error = _error(connection, alone)
        if error is not None:
            seen.errors.append(f"{error}: {one.sql}")
    seen.evaluations += ROWS * len(asked.select)


def _error(connection: psycopg.Connection, pipeline: Pipeline) -> str | None:
    for query in (query for several in pipeline.queries for query in several):
        values = {**query.parameters, **dict.fromkeys(query.seeds, 4_242_424_242)}
        try:
            values |= list_values(connection, query)
            connection.execute(query.sql.encode(), values)
        except psycopg.Error as error:
            return f"{error.sqlstate} {str(error)[:80]} ... {str(error).splitlines()[0][-60:]}"
    return None


def _note(block: AggregateBlock | BlockPlan, seen: Seen) -> None:
    for part in parts_of(block):
        seen.nodes[part] += 1
    seen.deepest = max([seen.deepest, *map(depth, _expressions(block))])


def _expressions(block: AggregateBlock | BlockPlan) -> Iterator[ir.Expression]:
    if isinstance(block, BlockPlan):
        return
    yield from (key.expression for key in block.keys)
    for aggregate in block.aggregates:
        yield from (x for x in (aggregate.operand, aggregate.condition) if x is not None)


def parts_of(value: object) -> Iterator[str]:
    """Names of all nodes of all expressions in a block: classes, operators, functions, fields, casts."""
    if isinstance(value, Enum):
        yield f"{type(value).__name__}.{value.name}"
    elif isinstance(value, tuple):
        for item in value:
            yield from parts_of(item)
    elif is_dataclass(value):
        yield type(value).__name__
        match value:
            case ir.Extract():
                yield f"extract {value.field}"
            case ir.DateTrunc():
                yield f"date_trunc {value.unit}"
            case ir.Cast():
                yield f"cast to {value.type.sql}"
        for one in fields(value):
            yield from parts_of(getattr(value, one.name))
