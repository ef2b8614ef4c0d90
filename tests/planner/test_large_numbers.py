"""Numbers of many digits: a statement made of them is planned or refused, quickly."""

from __future__ import annotations

import random  # noqa: TID251  the same statements for the same seed
import time

import pytest

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from tests.machine_speed import allowed_work
from tests.pipeline_world import walk

_LONG = "9" * 299
_SMALL = f"0.{'0' * 396}123"
_NESTED = 7


def _squares(first: str, levels: int) -> str:
    inner = f"SELECT {first} AS x FROM w.people"
    for _ in range(levels):
        inner = f"SELECT x * x AS x FROM ({inner}) q"
    return inner


@pytest.mark.parametrize(
    "question",
    [
        f"SELECT sum(i4 {'* ' + _SMALL + ' '} {('* ' + _SMALL + ' ') * 20}) FROM w.people",
        f"SELECT sum(x) FROM ({_squares(f'i4 * {_SMALL}', 6)}) q",
        f"SELECT avg(x) FROM ({_squares(f'i4 * {_SMALL}', _NESTED)}) q",
        f"SELECT count(*) FROM ({_squares(f'i4 * {_SMALL}', _NESTED)}) q WHERE x > 0",
        f"SELECT x, count(*) FROM ({_squares(f'i4 * {_SMALL}', _NESTED)}) q GROUP BY x",
        f"SELECT count(*) FROM w.people WHERE i4 {'* ' + _SMALL + ' '} {('* ' + _SMALL + ' ') * 20} > 1",
        "SELECT count(*) FROM w.people"
        f" WHERE i4 / {_LONG}.7 / {_LONG}.9 / {_LONG}.1 / {_LONG}.3 / {_LONG}.0 > 1",
    ],
)
@pytest.mark.timed
def test_numbers_of_too_many_digits_are_refused(question: str) -> None:
    started = time.process_time()
    with pytest.raises(Refusal, match="too many digits") as caught:
        walk(question)
    assert caught.value.code is Code.TOO_COMPLEX
    assert time.process_time() - started < allowed_work(1)


@pytest.mark.parametrize("function", ["sum", "avg", "min", "max", "stddev", "variance"])
@pytest.mark.parametrize(
    "factor", ["1e-300", "1e-399", "1e290", "1e-299 * 1e-299", "1e290 * 1e-290"]
)
def test_numbers_near_the_limits_are_answered_or_refused(function: str, factor: str) -> None:
    try:
        walk(f"SELECT {function}(i4::numeric * {factor}) FROM w.people")
    except Refusal as refusal:
        assert refusal.hint


def test_labels_are_exact() -> None:
    """Of numbers with more digits than Python's decimals carry by default."""
    found = walk(
        "SELECT floor(i4 / 50) * 123456789 * 123456789 * 123456789 * 123456789, count(*)"
        " FROM w.people GROUP BY 1"
    )
    assert found is not None
    values = found.plan.blocks[0].keys[0].values
    assert values is not None
    assert [int(text) // 123456789**4 for text in values if text] == list(range(len(values)))


_OPERATORS = ("+", "-", "*", "*", "*", "/", "%")


def _number(random_: random.Random) -> str:
    return random_.choice(
        [
            "7",
            "0.3",
            "1e-400",
            "1e300",
            "1e-200",
            "1e150",
            "9" * random_.randint(1, 400),
            "0." + "0" * random_.randint(0, 390) + "7" * 9,
            "3." + "3" * random_.randint(1, 400),
        ]
    )


def _expression(random_: random.Random, room: int, columns: tuple[str, ...]) -> str:
    parts = [random_.choice(columns)]
    depth = 0
    while len(" ".join(parts)) < room and depth < 80:
        depth += 1
        operator = random_.choice(_OPERATORS)
        constant = _number(random_)
        parts += [operator, constant if random_.random() < 0.7 else random_.choice(columns)]
        if random_.random() < 0.1:
            function = random_.choice(("abs", "floor", "round", "- ", "sign"))
            parts = [f"{function}({' '.join(parts)})"]
        elif random_.random() < 0.1:
            both = " ".join(parts)
            parts = [f"CASE WHEN i4 > {constant} THEN {both} ELSE {_number(random_)} END"]
    return " ".join(parts)


def _statement(random_: random.Random) -> str:
    room = limits.STATEMENT_BYTES - 600
    columns = ("n2", "i4::numeric", "n")
    inner = "w.people"
    names: tuple[str, ...] = columns
    for level in range(random_.choice((0, 1, 3, 8, 20))):
        used = _expression(random_, random_.choice((5, 50, 700)), names)
        inner = f"(SELECT i4, {used} AS n2, n2 AS n FROM {inner}) q{level}"
        names = ("n2", "n")
    items: list[str] = []
    while len(inner) + len(", ".join(items)) < room and len(items) < random_.choice((1, 20, 60)):
        left = room - len(inner) - len(", ".join(items))
        used = _expression(random_, random_.choice((20, 400, left)), names)
        items.append(f"{random_.choice(('sum', 'avg', 'max', 'variance'))}({used})")
    where = f"{_expression(random_, 300, names)} > {_number(random_)}"
    return f"SELECT {', '.join(items)} FROM {inner} WHERE {where}"


@pytest.mark.every(3)
@pytest.mark.timed
@pytest.mark.parametrize("seed", range(120))
def test_any_arithmetic_is_planned_quickly(seed: int) -> None:
    """Whatever comes out is a plan or a refusal, in about a second."""
    question = _statement(random.Random(seed))[: limits.STATEMENT_BYTES]
    started = time.process_time()
    try:
        walk(question)
    except Refusal as refusal:
        assert refusal.code in (
            Code.TOO_COMPLEX,
            Code.UNSUPPORTED,
            Code.FUNCTION,
            Code.NO_BOUNDS,
            Code.INFEASIBLE,
            Code.SYNTAX,
        ), refusal
    assert time.process_time() - started < allowed_work(2)
