"""Where the NOTICE advises dp.error(), the statement with dp.error() is accepted. NULLs and missing intervals
are counted apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain

import sqlglot
from sqlglot import exp

from proxy.base.errors import Refusal
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.answer_lines import by_group
from proxy.engine.column_errors import column_errors, reported
from proxy.query.ir.noisy_expressions import is_of_one_row
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.release.presenting import presented
from tests.cases import read_cases
from tests.pipeline_world import POLICIES, read, walk
from tests.planner.test_golden_pipeline import PIPELINE

_GROUPS = "FROM people WHERE i2 IN (1, 2, 3, 4) GROUP BY i2"
_GROWTH = "n * 1.0 / nullif(lag(n) OVER (ORDER BY i2), 0) - 1"
_SHIFTED = _GROWTH.replace("lag(n)", "lag(count(*))").replace("n *", "count(*) *")


def _with_error(sql: str, place: int) -> str | None:
    """The statement with a further column: dp.error() of one of its columns. None: of another form."""
    tree = sqlglot.parse_one(sql, dialect="postgres")
    if not isinstance(tree, exp.Select) or place > len(tree.expressions):
        return None
    column = tree.expressions[place - 1].unalias().sql("postgres")
    return tree.select(f"dp.error({column})", dialect="postgres").sql("postgres")


_FILES = ("aggregates", "expressions", "subqueries", "windows")


_WINDOWS = (
    f"SELECT i2, {_SHIFTED} AS w, count(*) * 2 AS n {_GROUPS}",
    f"SELECT i2, sum(count(*)) OVER (ORDER BY i2) AS w {_GROUPS}",
    f"SELECT i2, 100.0 * count(*) / sum(count(*)) OVER () AS w {_GROUPS}",
)


def _golden() -> Iterator[str]:
    for case in chain.from_iterable(read_cases(PIPELINE / f"{name}.sql") for name in _FILES):
        is_select = case.statement.upper().startswith(("SELECT", "WITH"))
        if is_select and "plan" in case.sections and "parameters" not in case.headers:
            yield case.statement


def _is_accepted(sql: str) -> bool:
    try:
        return read(sql) is not None
    except Refusal:
        return False


def test_advised_statements_are_accepted() -> None:
    """Of every column of the golden statements whose error is known."""
    advised, others = list[str](), list[str]()
    for statement in (*_golden(), *_WINDOWS):
        found = read(statement)
        blocks = () if found is None else found[1].query.blocks
        for place, column in enumerate(blocks[0].outputs if len(blocks) == 1 else (), start=1):
            sql = _with_error(statement, place)
            if column.expression is not None and sql is not None:
                (advised if is_of_one_row(column.expression) else others).append(sql)
    assert len(advised) > 100
    assert [sql for sql in advised if not _is_accepted(sql)] == []
    assert len(others) == len(_WINDOWS)
    assert [sql for sql in others if _is_accepted(sql)] == []


def _told(sql: str, *counts: int) -> tuple[dict[str, str], list[str]]:
    """What is said of each column, and the advice, where i2 = 1, 2, ... have these counts."""
    found, pipeline = read(sql), walk(sql, POLICIES["best"], settings={"dp.epsilon": "0.1"})
    assert found is not None and pipeline is not None
    query = found[1].query.blocks[0]
    block = replace(pipeline.plan.blocks[0], outputs=reported(query).outputs)
    groups = tuple(
        DrawnGroup((str(key),), (DrawnNumber(count),) * len(block.releases))
        for key, count in enumerate(counts, start=1)
    )
    noisy = presented(block, DrawnBlock(groups))
    errors = column_errors([(query, block, noisy)], partial(accuracies, pipeline.plan), ())
    return {one.name: one.text() for one in errors}, list(by_group(errors))


_ADVICE = "dp.error(...) around the expression of {} shows the error of each group."


def test_nulls_and_missing_intervals_are_counted_apart() -> None:
    sql = f"SELECT i2, n, {_GROWTH} AS growth FROM (SELECT i2, count(*) AS n {_GROUPS}) q"
    told, advice = _told(sql, 0, 9_000, 400, 90_000)
    assert told["growth"].endswith(
        ", by group; NULL in 1 of 4 groups; no interval in 1 of 4 groups: without its noise nullif() may make"
        " it NULL"
    )
    assert advice == [], "dp.error() is refused around a window"


def test_columns_are_named_where_others_take_no_error() -> None:
    ratio, window = "count(*) * 1.0 / nullif(count(i4), 0)", _SHIFTED
    sql = "SELECT i2, {} " + _GROUPS
    _, advice = _told(sql.format(f"{ratio} AS ratio"), 900, 9_000, 400, 90_000)
    assert advice == [_ADVICE.format("a column")]
    _, advice = _told(sql.format(f"{ratio} AS ratio, {window} AS w"), 900, 9_000, 400, 90_000)
    assert advice == [_ADVICE.format("ratio")]
    _, advice = _told(sql.format(f"{window} AS w"), 900, 9_000, 400, 90_000)
    assert advice == []
