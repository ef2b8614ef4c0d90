"""What can be made of several answers, by public numbers alone: what it says is what the rows say, and what
would say something else is not made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from proxy.catalog.catalog_model import Catalog
from proxy.kernel.plan import BlockPlan, LaplaceNoise, NoisyStatistic
from proxy.kernel.statistics import Statistic
from proxy.mechanisms.discrete_laplace import half_width
from proxy.planner.facts import PlanningContext
from proxy.query.ir.expressions import ColumnRef
from proxy.release.drawn_values import ordered_groups
from proxy.reuse.block_question import BlockQuestion, question_of
from proxy.reuse.combination import Combination, KnownAnswer, WantedAnswer, combination
from proxy.reuse.derivable import Derivable, derivable
from proxy.reuse.derivation import variance
from tests.pipeline_world import CATALOG, KNOWN_HELD, KNOWN_PUBLIC, POLICIES, walk

_FILLED = frozenset({"i4", "b"})  # NOT NULL
_COLUMNS = ("b", "t", "i2", "i4", "i8")
_ROWS = [
    dict(zip(_COLUMNS, row, strict=True))
    for row in product((True, False), ("x", "y", "other", None), (1, 2, 3), (7, 90), (10, None))
]
Row = Mapping[str, object]
_Where = Callable[[Row], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A statement on the rows of _ROWS, and which of them are its."""

    text: str
    where: _Where = lambda _: True
    epsilon: str = "8"


def _planned(asked: _Asked, policy: str = "ratio") -> tuple[BlockPlan, Derivable]:
    pipeline = walk(asked.text, POLICIES[policy], settings={"dp.epsilon": asked.epsilon})
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    tables = {
        name: replace(
            table,
            columns=tuple(
                replace(one, nullable=one.nullable and one.name not in _FILLED)
                for one in table.columns
            ),
        )
        for name, table in CATALOG.tables.items()
    }
    known = PlanningContext(POLICIES[policy], Catalog(tables), KNOWN_PUBLIC, bounds=KNOWN_HELD)
    question = question_of(block)
    assert question is not None
    found = derivable(block, question, known, "slot")
    assert found is not None
    return block, found


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return str(value).lower()


def _exact(asked: _Asked, block: BlockPlan) -> Mapping[tuple[str | None, ...], tuple[int, ...]]:
    """By group, in the order of the plan."""
    found = {}
    columns = [getattr(key.expression, "column") for key in block.keys]  # noqa: B009
    for keys in ordered_groups(block, ()):
        rows = [
            row
            for row in _ROWS
            if asked.where(row)
            and all(_text(row[c]) == k for c, k in zip(columns, keys, strict=True))
        ]
        found[tuple(keys)] = tuple(_measured(release, rows) for release in block.releases)
    return found


def _measured(release: object, rows: Sequence[Row]) -> int:
    assert isinstance(release, NoisyStatistic)
    operand = release.aggregate.operand
    values = [row[operand.column] if isinstance(operand, ColumnRef) else 0 for row in rows]
    there = [int(str(value)) for value in values if value is not None]
    return len(there) if release.statistic is Statistic.ROWS else sum(there)


def _known(asked: _Asked) -> KnownAnswer:
    block, found = _planned(asked)
    keys, releases = found.question.keys, found.question.releases
    numbers = {
        tuple(group[number] for number in keys): tuple(values[number] for number in releases)
        for group, values in _exact(asked, block).items()
    }
    return KnownAnswer(about=found.about, answer=found.source, numbers=numbers)


def _made(
    wanted: _Asked, sources: Sequence[KnownAnswer], accepted: int = 100
) -> tuple[BlockPlan, Combination | None]:
    block, found = _planned(wanted)
    asked = WantedAnswer(
        question=found.question,
        about=found.wanted,
        rests=found.rests,
        never_null=found.never_null,
    )
    assert found.is_combined
    return block, combination(block, asked, sources, Fraction(accepted))


_ALL = _Asked(text="SELECT count(*), sum(i4) FROM people")
_BY_B = _Asked(text="SELECT b, count(*), sum(i4) FROM people GROUP BY b")
_BY_B_T = _Asked(text="SELECT b, t, count(*), sum(i4) FROM people GROUP BY b, t")
_MADE: tuple[tuple[_Asked, Sequence[_Asked]], ...] = (
    (_Asked(text="SELECT avg(i4) FROM people"), (_ALL,)),
    (_Asked(text="SELECT b, avg(i4) FROM people GROUP BY b"), (_BY_B,)),
    (
        _Asked(text="SELECT avg(i8) FROM people"),
        (
            _Asked(text="SELECT sum(i8) FROM people"),
            _Asked(text="SELECT count(*), count(i8) FROM people"),
        ),
    ),
    (_Asked(text="SELECT avg(i4) FROM people WHERE b", where=lambda row: bool(row["b"])), (_BY_B,)),
    # Rows without a value are no group's but null's.
    (
        _Asked(
            text="SELECT count(*), avg(i4) FROM people WHERE t <> 'x'",
            where=lambda row: row["t"] not in ("x", None),
        ),
        (_ALL, _BY_B_T),
    ),
    (
        _Asked(
            text="SELECT b, count(*) FROM people WHERE t NOT IN ('x', 'y') GROUP BY b",
            where=lambda row: row["t"] not in ("x", "y", None),
        ),
        (_BY_B, _BY_B_T),
    ),
    (
        _Asked(text="SELECT count(*) FROM people WHERE i4 > 50", where=lambda row: row["i4"] == 90),
        (
            _Asked(text="SELECT count(*) FROM people"),
            _Asked(
                text="SELECT count(*) FROM people WHERE NOT i4 > 50",
                where=lambda row: row["i4"] == 7,
            ),
        ),
    ),
)


@pytest.mark.parametrize(("wanted", "sources"), _MADE, ids=lambda one: getattr(one, "text", ""))
def test_it_says_what_the_rows_say(wanted: _Asked, sources: Sequence[_Asked]) -> None:
    block, made = _made(wanted, [_known(one) for one in sources])
    assert made is not None
    assert made.values == _exact(wanted, block)


_BY_I2 = _Asked(text="SELECT i2, count(*) FROM people GROUP BY i2")  # 3 is not listed
_WRONG: tuple[tuple[_Asked, Sequence[_Asked]], ...] = (
    # count(*) is not count(i8).
    (
        _Asked(text="SELECT avg(i8) FROM people"),
        (_Asked(text="SELECT sum(i8), count(*) FROM people"),),
    ),
    # Another clamp, another condition of what is counted.
    (
        _Asked(text="SELECT avg(i4 + 1) FROM people"),
        (_Asked(text="SELECT sum(i4), count(i4 + 1) FROM people"),),
    ),
    (
        _Asked(text="SELECT avg(i4) FILTER (WHERE b) FROM people"),
        (_Asked(text="SELECT sum(i4) FILTER (WHERE b), count(*) FROM people"),),
    ),
    # NULL is not taken away with the others.
    (
        _Asked(text="SELECT count(*) FROM people WHERE i2 <> 1"),
        (_Asked(text="SELECT count(*) FROM people"), _BY_I2),
    ),
    (
        _Asked(text="SELECT count(*) FROM people WHERE i8 > 5"),
        (
            _Asked(text="SELECT count(*) FROM people"),
            _Asked(text="SELECT count(*) FROM people WHERE i8 <= 5"),
        ),
    ),
    # A key that lacks values.
    (
        _Asked(text="SELECT avg(i4) FROM people"),
        (_Asked(text="SELECT i2, sum(i4), count(*) FROM people GROUP BY 1"),),
    ),
    (
        _Asked(text="SELECT count(*) FROM people WHERE i2 IN (1, 3)"),
        (_Asked(text="SELECT count(*) FROM people"), _BY_I2),
    ),
    # Rows of a unit are cut in each by itself.
    (
        _Asked(text="SELECT count(*) FROM visits WHERE i4 > 5"),
        (
            _Asked(text="SELECT count(*) FROM visits"),
            _Asked(text="SELECT count(*) FROM visits WHERE i4 <= 5"),
        ),
    ),
)


def _of_none(asked: _Asked) -> KnownAnswer:
    """Of units, whose rows these are not."""
    _, found = _planned(asked)
    return KnownAnswer(about=found.about, answer=found.source, numbers={(): (1,)})


def _known_or_none(asked: _Asked) -> KnownAnswer:
    return _of_none(asked) if "visits" in asked.text else _known(asked)


@pytest.mark.parametrize(("wanted", "sources"), _WRONG, ids=lambda one: getattr(one, "text", ""))
def test_what_says_something_else_is_not_made(wanted: _Asked, sources: Sequence[_Asked]) -> None:
    assert _made(wanted, [_known_or_none(one) for one in sources])[1] is None


def _by_statistic(block: BlockPlan, question: BlockQuestion, _: object) -> tuple[str, ...]:
    found = (block.releases[number] for number in question.releases)
    return tuple(one.statistic.value for one in found if isinstance(one, NoisyStatistic))


# Without a guard, which of these are made.
_FAULTS: tuple[tuple[str, object, tuple[int, ...]], ...] = (
    ("proxy.reuse.derivable.is_never_null", lambda *_: True, (0, 3, 4)),
    ("proxy.reuse.derivable.release_names", _by_statistic, (0, 1, 2)),
    ("proxy.reuse.derivable._is_complete", lambda *_: True, (5, 6)),
    ("proxy.reuse.rests.RowNeighbours", object, (7,)),
)


@pytest.mark.parametrize(("place", "fault", "made"), _FAULTS, ids=[one[0] for one in _FAULTS])
def test_each_guard_is_needed(
    monkeypatch: pytest.MonkeyPatch, place: str, fault: object, made: tuple[int, ...]
) -> None:
    monkeypatch.setattr(place, fault)
    for number in made:
        wanted, sources = _WRONG[number]
        assert _made(wanted, [_known_or_none(one) for one in sources])[1] is not None, wanted.text


def test_what_would_take_long_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = _Asked(text="SELECT avg(i4) FROM people")
    sources = [_known(_BY_B)] * 8
    assert _made(wanted, sources)[1] is not None
    monkeypatch.setattr("proxy.reuse.combination._WORK", 8)
    assert _made(wanted, sources)[1] is None


def test_rows_that_each_statement_cuts_are_not_combined() -> None:
    text = "SELECT count(*) FROM people p JOIN events e ON e.i4 = p.i4"
    _, found = _planned(_Asked(text=text), "joins")
    assert not found.is_combined and not found.rests


def test_of_another_slot_nothing_is_made() -> None:
    """Of which sources are named otherwise, or not found at all (ledger.paid_about)."""
    sums = _known(_Asked(text="SELECT sum(i4) FROM people"))
    counts = _known(_Asked(text="SELECT count(*) FROM people"))
    wanted = _Asked(text="SELECT avg(i4) FROM people")
    assert _made(wanted, [sums, counts])[1] is not None
    assert _made(wanted, [sums, replace(counts, about=b"another slot")])[1] is None


def test_only_as_exact_as_a_fresh_answer() -> None:
    """A difference has the noise of both: at one epsilon it serves whom an error 1.42 times as large serves."""
    wanted = _Asked(text="SELECT count(*) FROM people WHERE i4 > 50")
    whole = _Asked(text="SELECT count(*) FROM people")
    rest = _Asked(text="SELECT count(*) FROM people WHERE i4 <= 50")
    sources = [_known(whole), _known(rest)]
    assert _made(wanted, sources, accepted=1)[1] is None
    block, made = _made(wanted, sources, accepted=2)
    assert made is not None and made.is_rest
    (release,) = block.releases
    assert isinstance(release, NoisyStatistic)
    assert variance(made.noises[0]) == pytest.approx(2 * variance(release.noise), rel=1e-5)
    more = [_known(replace(whole, epsilon="16")), _known(replace(rest, epsilon="16"))]
    assert _made(wanted, more, accepted=1)[1] is not None


def test_what_is_taken_away_again_has_no_noise() -> None:
    """All groups less some are the others, with their noise alone; of nothing that is left nothing is made."""
    by_b_t = _known(_Asked(text="SELECT b, i2, count(*) FROM people GROUP BY b, i2"))
    wanted = _Asked(
        text="SELECT count(*) FROM people WHERE NOT b AND i2 = 1",
        where=lambda row: not row["b"] and row["i2"] == 1,
    )
    block, made = _made(wanted, [by_b_t])
    assert made is not None and not made.is_rest
    assert made.values == _exact(wanted, block)
    assert made.noises == (by_b_t.answer.releases[0].noise,)
    nothing = _Asked(text="SELECT count(*) FROM people WHERE NOT b AND b")
    assert _made(nothing, [by_b_t])[1] is None


def test_of_several_sources_the_least_noise_serves() -> None:
    wanted = _Asked(text="SELECT avg(i4) FROM people")
    poor, fine = _known(replace(_ALL, epsilon="2")), _known(replace(_ALL, epsilon="18"))
    _, made = _made(wanted, [poor, fine])
    assert made is not None and made.used == (1,)


_SCALES = [Fraction(n, 20) for n in (5, 20, 60, 200)]
_TEXTS = ("'x'", "'x', 'y'", "'x', 'y', 'z'")


@pytest.mark.parametrize("texts", _TEXTS)
@pytest.mark.parametrize(("scale", "other"), [*product(_SCALES, _SCALES)])
def test_the_stated_error_of_a_rest_holds(scale: Fraction, other: Fraction, texts: str) -> None:
    """Of a total less cells of another release: by the exact distribution; one that is stated 30 % too small
    does not hold."""
    wanted = _Asked(text=f"SELECT count(*) FROM people WHERE t NOT IN ({texts})")
    by_t = _Asked(text="SELECT t, count(*) FROM people GROUP BY t")
    sources = [_with_scale(_known(_ALL), scale), _with_scale(_known(by_t), other)]
    _, made = _made(wanted, sources, 10**4)
    assert made is not None and made.is_rest and made.used == (0, 1)
    (noise,) = made.noises
    assert isinstance(noise, LaplaceNoise)
    scales = [scale, *[other] * (texts.count(",") + 2)]  # and NULL
    assert _held(scales, half_width(noise.scale)) >= 0.95 - 1e-9
    if max(scales) >= 3:  # else whole steps are far apart
        assert _held(scales, half_width(noise.scale * 7 / 10)) < 0.95


def _with_scale(known: KnownAnswer, scale: Fraction) -> KnownAnswer:
    noise = LaplaceNoise(scale=scale)
    releases = tuple(replace(one, noise=noise) for one in known.answer.releases)
    return replace(known, answer=replace(known.answer, releases=releases))


def _held(scales: Sequence[Fraction], within: int) -> float:
    """How often the sum of so many noises is within that."""
    reach = int(60 * max(scales)) + 40
    size = 4 * reach + 1
    steps, transform = np.arange(-reach, reach + 1), np.ones(size, dtype=complex)
    for scale in scales:
        ratio, one = float(np.exp(-1 / float(scale))), np.zeros(size)
        one[steps % size] = (1 - ratio) / (1 + ratio) * ratio ** np.abs(steps)
        transform *= np.fft.fft(one)
    added = np.real(np.fft.ifft(transform))
    return float(added[0] + 2 * added[1 : within + 1].sum())
