"""ORDER BY a noisy column with LIMIT: how many rows of the list are clear of the rows below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.engine.answer_notices import answer_notices
from proxy.engine.column_errors import reported
from proxy.kernel.plan import LaplaceNoise, NoisyStatistic
from proxy.query.ir.query import TopList
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.release.presenting import presented
from tests.pipeline_world import read
from tests.release.released_world import block_of

_LIST = "SELECT t, count(*) AS n FROM people GROUP BY t ORDER BY {order} LIMIT 2"

_QUERY = "(SELECT t, count(*) AS n FROM people GROUP BY t)"


def _top(text: str) -> TopList | None:
    found = read(text)
    assert found is not None
    return found[1].query.blocks[0].top


@pytest.mark.parametrize(
    ("order", "is_descending"),
    [
        *(("n", False), ("n DESC", True), ("2 DESC", True), ("count(*) desc", True)),
        *(("n ASC, t", False), ('"n" DESC', True)),
    ],
)
def test_lists_in_the_order_of_a_noisy_column(order: str, is_descending: bool) -> None:
    expected = TopList(output=2, is_descending=is_descending, rows=2)
    assert _top(_LIST.format(order=order)) == expected


@pytest.mark.parametrize(
    "text",
    [
        _LIST.format(order="t"),
        _LIST.format(order="1"),
        _LIST.format(order="t, n DESC"),
        "SELECT t, count(*) AS n FROM people GROUP BY t ORDER BY n",
        "SELECT t, count(*) AS n FROM people GROUP BY t LIMIT 2",
        "SELECT t, count(*) AS n FROM people GROUP BY t ORDER BY n LIMIT ALL",
    ],
)
def test_other_lists(text: str) -> None:
    assert _top(text) is None


@pytest.mark.parametrize(
    ("text", "is_descending"),
    [
        (_LIST.format(order="count(*) + 1 DESC"), True),
        (f"{_LIST.format(order='n')} OFFSET 1", False),
        (
            "SELECT t, count(*) AS n FROM people GROUP BY t HAVING count(*) > 3 ORDER BY n DESC LIMIT 2",
            True,
        ),
        (
            "SELECT t, count(*) AS n FROM people GROUP BY t ORDER BY n DESC FETCH FIRST 2 ROWS ONLY",
            True,
        ),
        ("SELECT t FROM people GROUP BY t ORDER BY avg(i4) DESC LIMIT 2", True),
        ("SELECT t, b, count(*) AS n FROM people GROUP BY ROLLUP (t, b) ORDER BY n LIMIT 2", False),
        (f"SELECT t, n + 1 AS m FROM {_QUERY} q WHERE n > 3 ORDER BY m DESC LIMIT 2", True),
        (f"SELECT t, length(n::text) AS m FROM {_QUERY} q ORDER BY m LIMIT 2", False),
        (f"SELECT q.n FROM {_QUERY} q JOIN regions r ON true ORDER BY q.n LIMIT 2", None),
        (
            "SELECT t, rank() OVER (ORDER BY count(*)) AS r FROM people GROUP BY t ORDER BY r LIMIT 2",
            False,
        ),
        (
            "SELECT * FROM (SELECT t, count(*) AS n FROM people GROUP BY t ORDER BY n DESC LIMIT 2) q",
            True,
        ),
    ],
)
def test_lists_of_which_only_the_run_knows_how_many_rows_are_clear(
    text: str, is_descending: bool | None
) -> None:
    assert _top(text) == TopList(is_descending=is_descending)


def test_a_plain_query_around_is_read_as_one() -> None:
    for text in (
        f"SELECT * FROM {_QUERY} q ORDER BY n DESC LIMIT 2",
        f"WITH q AS {_QUERY} SELECT t, n * 2 AS m FROM q ORDER BY 2 DESC LIMIT 2",
    ):
        assert _top(text) == TopList(output=2, is_descending=True, rows=2), text
    assert _top(f"SELECT * FROM {_QUERY} q ORDER BY t DESC LIMIT 2") is None


def _told(counts: Sequence[int], order: str, least: frozenset[int] = frozenset()) -> list[str]:
    """The noise has a half width of about 30."""
    text = _LIST.format(order=order)
    block, found = block_of(text), read(text)
    assert found is not None
    (release,) = block.releases
    assert isinstance(release, NoisyStatistic)
    of = found[1].query.blocks[0]
    noisy = replace(release, noise=LaplaceNoise(scale=Fraction(10)))
    block = replace(block, releases=(noisy,), outputs=of.outputs, top=of.top, least_answers=least)
    names = ("x", "y", "z", None)
    groups = (
        DrawnGroup((name,), (DrawnNumber(count),))
        for name, count in zip(names, counts, strict=True)
    )
    return list(answer_notices(block, presented(block, DrawnBlock(tuple(groups)))))


def test_how_many_rows_are_clear() -> None:
    assert _told([900, 500, 200, 100], "n DESC") == []
    assert _told([100, 200, 500, 900], "n") == []
    (text,) = _told([900, 220, 200, 100], "n DESC")
    assert text.startswith("ORDER BY n LIMIT 2: 1 of the 2 rows clearly belong to the list. ")
    assert text.endswith("their numbers are too high on average.")
    (text,) = _told([900, 220, 200, 100], "n DESC", frozenset({1}))
    assert text.startswith("ORDER BY n LIMIT 2: by the noise alone 1 of the 2 rows clearly belong ")
    (text,) = _told([205, 200, 210, 190], "n DESC")
    assert "0 of the 2 rows" in text
    (text,) = _told([900, 905, 100, 910], "n")
    assert "1 of the 2 rows" in text and text.endswith("their numbers are too low on average.")


def test_of_other_lists_it_is_said_that_noise_chooses() -> None:
    (text,) = _told([900, 500, 200, 100], "count(*) + 1 DESC")
    assert text.startswith("ORDER BY with LIMIT: ") and text.endswith("are too high on average.")
    assert _told([900, 500, 200, 100], "t") == []


def _in_order(sql: str, counts: Sequence[int]) -> list[str]:
    """What is said of all rows of a statement in the order of a column."""
    found = read(sql)
    assert found is not None
    query = found[1].query.blocks[0]
    block = replace(block_of(sql, epsilon="0.1"), outputs=reported(query).outputs)
    groups = (DrawnGroup((name,), (DrawnNumber(n),)) for name, n in zip("xyz", counts, strict=True))
    noisy = presented(block, DrawnBlock(tuple(groups)))
    return [line for line in answer_notices(block, noisy) if line.startswith("ORDER BY")]


_ALL = "SELECT t, count(*) AS n FROM people WHERE t IN ('x', 'y', 'z') GROUP BY t"
_OF_ALL = "ORDER BY n: the errors do not settle the order of {}."


@pytest.mark.parametrize(
    ("counts", "pairs"),
    [
        ((10_000, 10_001, 20_000), "y and x"),
        ((10_000, 10_002, 10_001), "y and z, z and x"),
        ((10_000, 20_000, 30_000), ""),
    ],
)
@pytest.mark.parametrize("order", ["n", "n DESC", "2", "count(*) DESC NULLS LAST, t"])
def test_an_order_that_errors_do_not_settle_is_told(
    order: str, counts: Sequence[int], pairs: str
) -> None:
    told = [_OF_ALL.format(pairs)] if pairs else []
    assert _in_order(f"{_ALL} ORDER BY {order}", counts) == told
    assert (
        _in_order(f"SELECT * FROM ({_ALL}) q ORDER BY {order.replace('count(*)', 'n')}", counts)
        == told
    )


@pytest.mark.parametrize("order", ["", " ORDER BY t", " ORDER BY 1, n", " ORDER BY n LIMIT 3"])
def test_other_orders_say_nothing_of_all_rows(order: str) -> None:
    assert _in_order(f"{_ALL}{order}", (10_000, 10_000, 10_000)) == []
