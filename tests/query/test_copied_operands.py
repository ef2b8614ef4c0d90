"""What PostgreSQL copies while it analyses a statement is counted, and refused before the shadow sees it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.query.syntax.copied_operands import check_copies, copied_words

SECONDS_MAX = 5.0  # of 256 KiB; a catastrophe is meant, not a slow minute


def _nested(levels: int, around: Callable[[str], str]) -> str:
    text = "relpages"
    for _ in range(levels):
        text = around(text)
    return f"SELECT 1 FROM pg_class WHERE {text}"


# Each took a backend more than 300 MB, or the whole GiB that it had.
_COPIED = {
    "symmetric": _nested(9, lambda x: f"({x} BETWEEN SYMMETRIC 1 AND 2)::int"),
    "symmetric, on the right": _nested(16, lambda x: f"(1 BETWEEN SYMMETRIC ({x}) AND 2)::int"),
    "between": _nested(17, lambda x: f"({x} BETWEEN 0 AND 1)::int"),
    "not between": _nested(17, lambda x: f"({x} not  between\n0 AND 1)::int"),
    "with a comment in it": _nested(9, lambda x: f"({x} BETWEEN/**/SYMMETRIC 1 AND 2)::int"),
    "in a call": _nested(17, lambda x: f"abs(({x} BETWEEN 0 AND 1)::int)"),
    "in an array": _nested(17, lambda x: f"(ARRAY[{x} BETWEEN 0 AND 1])[1]::int"),
    "without brackets": "SELECT relpages"
    + " IS NULL BETWEEN false AND true" * 16
    + " FROM pg_class",
    "symmetric without brackets": "SELECT relpages"
    + " IS NOT TRUE BETWEEN SYMMETRIC false AND true" * 9
    + " FROM pg_class",
    "in a case": _nested(17, lambda x: f"CASE WHEN {x} BETWEEN 0 AND 1 THEN 1 ELSE 2 END"),
    "a list of columns": _nested(10, lambda x: f"({x} IN (relpages, relnatts, relchecks, 3))::int"),
    "a list of rows": _nested(17, lambda x: f"((({x}), 1) IN ((1, 2), (3, 4)))::int"),
    "in a body": "DO $f$ BEGIN PERFORM "
    + _nested(9, lambda x: f"({x} BETWEEN SYMMETRIC 1 AND 2)::int")
    + "; END $f$",
    "prepared": "PREPARE p AS " + _nested(9, lambda x: f"({x} BETWEEN SYMMETRIC 1 AND 2)::int"),
    "the second of two": "SELECT ')'; "
    + _nested(9, lambda x: f"({x} BETWEEN SYMMETRIC 1 AND 2)::int"),
    "behind an unclosed bracket": "SELECT '(' || \"[\" || $$)$$; "
    + _nested(9, lambda x: f"({x} BETWEEN SYMMETRIC 1 AND 2)::int"),
}
_ORDINARY = {
    "a list of numbers": f"SELECT * FROM t WHERE s.t.a IN ({', '.join(map(str, range(20_000)))})",
    "a list of dates": "SELECT * FROM t WHERE s.t.a IN ("
    + ", ".join(["date '2020-01-01'"] * 9_000)
    + ")",
    "parameters": f"SELECT * FROM t WHERE s.t.a IN ({', '.join(f'${i}' for i in range(20_000))})",
    "rows": f"SELECT * FROM t WHERE (a, b) IN ({', '.join(['(1, 2)'] * 10_000)})",
    "a call in a list of texts": f"SELECT upper(btrim(a)) IN ({', '.join(['$$x$$'] * 9_000)}) FROM t",
    "many of them": "SELECT * FROM t WHERE " + " AND ".join(["a BETWEEN 1 AND 2"] * 9_000),
    "many alternatives": "SELECT * FROM t WHERE "
    + " OR ".join(["(a BETWEEN SYMMETRIC b AND c AND d IN (1, 2))"] * 4_000),
    "cases": "SELECT "
    + ", ".join(["CASE WHEN a BETWEEN 1 AND 2 THEN 'x' ELSE 'y' END"] * 4_000)
    + " FROM t",
    "subqueries": _nested(10, lambda x: f"a IN (SELECT b FROM t WHERE b BETWEEN 1 AND 2 AND {x})"),
    "levels that PostgreSQL takes easily": _nested(
        6, lambda x: f"({x} BETWEEN SYMMETRIC 1 AND 2)::int"
    ),
    "in a text": "SELECT '" + "(a between symmetric " * 5_000 + "'",
    "in a name": 'SELECT "' + "(a between symmetric " * 5_000 + '"',
    "in a comment": "SELECT 1 /*" + "(a between symmetric " * 5_000 + "*/",
}
_HOSTILE = {
    "brackets": "(" * 60_000 + " between symmetric " + "]" * 60_000,
    "bodies": "$a$ $b$ $c$ $d$ $e$ $f$ between " * 7_000,
    "tags": "".join(f"$t{i}$ in " for i in range(20_000)),
    "cases": "case " * 40_000 + " between " + "end " * 10_000,
    "symmetric": "a is null between symmetric " * 8_000,
    "lists": "a in (b, c, " * 20_000,
    "comments": "/* between " * 20_000,
    "texts": "in 'x' " * 30_000,
}


@pytest.mark.parametrize("text", _COPIED.values(), ids=_COPIED.keys())
def test_what_grows_at_each_level_is_refused(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_copies(text)
    assert caught.value.code is Code.TOO_COMPLEX
    assert caught.value.is_kept_from_shadow
    assert "AS MATERIALIZED" in caught.value.hint


@pytest.mark.parametrize("text", _ORDINARY.values(), ids=_ORDINARY.keys())
def test_what_is_only_long_passes(text: str) -> None:
    check_copies(text)


@pytest.mark.timed
@pytest.mark.parametrize("text", _HOSTILE.values(), ids=_HOSTILE.keys())
def test_no_text_takes_long(text: str) -> None:
    started = time.perf_counter()
    assert copied_words(text[: limits.LOOKED_AT_BYTES]) >= 0
    assert time.perf_counter() - started < SECONDS_MAX
