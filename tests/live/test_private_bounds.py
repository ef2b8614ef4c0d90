"""Bounds on what a unit adds, chosen privately: answers near the truth, with no knowledge of the data."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.cli.assembly import Database
from proxy.compiler import compiling
from proxy.drawing import compiled_blocks, drawer
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.kernel.checked_plan import CheckedBlock
from proxy.planner import planning
from tests.asked_by import run_by
from tests.live.served_database import asked, served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import servers

# Visits of 4,000 people: 1 to 12 each; one of them has 3,000, and pays 900 each time.
_SCRIPT = """\
CREATE SCHEMA w;
CREATE TABLE w.visits
(id bigint PRIMARY KEY, person int, region text NOT NULL, paid numeric(8,2), tip int, given int);
INSERT INTO w.visits
SELECT row_number() OVER (), p, (ARRAY['N','S','E','W'])[1 + (p + k) % 4], 10 + (p * 7 + k) % 50,
(p + k) % 7 - 3, 1
FROM generate_series(1, 4000) p, generate_series(1, 1 + p % 12) k;
INSERT INTO w.visits
SELECT 1000000 + k, 4001, 'N', 900, 3, 1 FROM generate_series(1, 3000) k;
CREATE TABLE w.calls AS SELECT id, person, region, paid FROM w.visits WHERE person <= 4000;
ALTER TABLE w.calls ALTER person SET NOT NULL;
"""
_TABLES = """\
tables:
  w.visits:
    unit: {person: person}
    columns:
      region: {values: [N, S, E, W]}
      paid: {bounds: [0, 1000]}
      tip: {bounds: [-10, 10]}
      given: {bounds: [0, 1000], per_unit: [0, 30]}
  w.calls:
    unit: {caller: person}
    max_rows_per_unit: 8
    max_groups_per_unit: 3
    max_rows_per_group_per_unit: 5
    columns:
      region: {values: [N, S, E, W]}
      paid: {bounds: [0, 1000], per_unit: [0, 200]}
"""


@dataclass(frozen=True)
class Asking:
    """The engine of the database, on the proxy's loop, and its listeners."""

    database: Database
    live: LiveProxy
    listeners: BothListeners

    def run(self, question: str, **settings: str) -> NoisyAnswer:
        work = run_by(self.database.engine, asked(self.database, question), (), settings, "someone")
        return self.live.do(work)

    def explained(self, question: str) -> str:
        relation = json.loads(self.run(f"EXPLAIN (VERBOSE) {question}").relation)
        return " ".join(line.strip() for line in relation["explain"])


def rows(answer: NoisyAnswer) -> list[dict[str, Any]]:
    return list(json.loads(answer.relation)["b1"])


@pytest.fixture(scope="module")
def visits() -> Iterator[Asking]:
    database = served_database(servers(), "visits", _SCRIPT, _TABLES, "auto")
    proxy = start_proxy(servers(), [database])
    both = open_http(proxy)
    yield Asking(database, proxy, both)
    both.close()
    proxy.stop()


def test_totals_without_groups(visits: Asking) -> None:
    """26,000 visits and 885,000 paid; what one person has in 3,000 visits more is cut."""
    answer = visits.run("SELECT count(*), sum(paid), sum(tip) FROM w.visits")
    (row,) = rows(answer)
    assert abs(row["a1"] - 26_000) < 4_000
    assert abs(row["a2"] - 885_000) < 200_000  # where the bound is 5,000, too
    assert abs(row["a3"]) < 4_000
    assert [one.of_rows for one in answer.clipped] == [True, False, False]
    count, paid, _ = answer.clipped  # eight half widths are 24 scales of the noise
    assert count.most is not None and 12 <= count.most < 60
    assert paid.most is not None and 600 < paid.most < 5_000
    assert abs(count.units - 4_001) < 8 * count.half_width
    assert abs(count.above - 1) < 8 * count.half_width
    for text in answer.withheld:  # tips are as often below 0 as above
        assert text.startswith("The error is larger than the number itself: sum (column 3). ")


def test_groups_are_cut_together(visits: Asking) -> None:
    answer = visits.run(
        "SELECT region, count(*), sum(paid), avg(paid) FROM w.visits GROUP BY region"
    )
    found = rows(answer)
    assert abs(sum(row["a1"] for row in found) - 26_000) < 3_000
    assert all(0 <= row["a3"] < 200 for row in found)
    assert all(isinstance(row["a1"], int) for row in found)


def test_quantiles_beside_means_weigh_rows(visits: Asking) -> None:
    """Weights are chosen before means are read in two parts: what one person has in 3,000 visits, a tenth of
    all of them, hardly moves a rank."""
    answer = visits.run(
        "SELECT count(*), avg(paid), percentile_cont(0.9) WITHIN GROUP (ORDER BY paid) FROM w.visits",
        **{"dp.epsilon": "2"},
    )
    (row,) = rows(answer)
    assert abs(row["a1"] - 26_000) < 4_000
    assert 0 <= row["a2"] < 200
    assert 45 < row["a3"] < 65
    assert [one.aggregates for one in answer.clipped] == [("count(*)",)]  # weights cut nobody


def test_the_noise_follows_from_the_bound_that_is_reported(visits: Asking) -> None:
    answer = visits.run("SELECT sum(paid) FROM w.visits", **{"dp.notice": "on"})
    (clipped,), (column,) = answer.clipped, answer.columns
    assert clipped.most is not None and column.most is not None
    assert abs(column.most - clipped.most * Fraction(3) / Fraction(6, 10)) < clipped.most / 50
    assert answer.loss.epsilon == 1


def test_few_units_have_no_answer_and_are_told(visits: Asking) -> None:
    """By their noise one of both is now and then answered: without any are 52 of 60 runs."""
    question = "SELECT count(*), avg(paid) FROM w.visits WHERE person BETWEEN 17 AND 19"
    withheld = 0
    for _ in range(24):
        answer = visits.run(question, **{"dp.notice": "on"})
        (row,) = rows(answer)
        if (row["a1"], row["a2"]) != (None, None):
            continue
        withheld += 1
        assert len(answer.withheld) == 2
        texts = answer.withheld
        of_mean, of_count = sorted(texts)
        assert of_mean.startswith("avg is NULL: ")
        assert of_count.startswith("count(*) is NULL: it takes about ")
        assert "and a noisy count found too few. Raise dp.epsilon" in of_count
        assert [column.reason for column in answer.columns] == ["NULL"] * 2
    assert withheld >= 4, "of 24 at 52 in 60, fewer are withheld once in 10^15 runs"


def test_a_chosen_bound_gives_a_least_number(visits: Asking) -> None:
    """One person has 3,000 of the 29,000 visits. A noisy number of people does not tell how much is cut."""
    question = (
        "SELECT count(*) AS n, -count(*) AS less, count(*) * 2 AS twice, 5 - sum(paid) AS rest,"
        " count(*) - sum(paid) AS both, count(DISTINCT person) AS people, dp.low(count(*)), dp.high(count(*)),"
        " dp.error(count(*)), dp.low(-count(*)), dp.high(-count(*)), dp.error(count(*) - sum(paid)),"
        " dp.low(count(*) - sum(paid)) FROM w.visits"
    )
    for _ in range(4):
        answer = visits.run(question, **{"dp.notice": "on"})
        (row,), columns = rows(answer), {one.name: one for one in answer.columns}
        assert row["l1"] <= 29_000 and row["h1"] is None and row["e1"] == row["a1"] - row["l1"]
        assert [name for name, one in columns.items() if one.at_least] == ["n", "twice"]
        assert [name for name, one in columns.items() if one.at_most] == ["less", "rest"]
        assert columns["n"].text() == f"n: at least the number less {row['e1']}"
        assert columns["less"].text() == f"less: at most the number plus {row['e1']}"
        assert columns["both"].most is None and columns["both"].as_json()["no_interval"]
        assert (
            columns["both"].text().startswith("both: noise +-")
            and "either way" in columns["both"].text()
        )
        assert columns["people"].is_width
        ends = {name: value for name, value in row.items() if name[0] in "lhe"}
        assert sum(value is None for value in ends.values()) == 4, (
            "h1, l of -n, and both of the last"
        )


def test_of_few_units_the_noise_is_stated(visits: Asking) -> None:
    """The bound is often far too low then: of 100 people a third of the sums would be off by more than three of
    their errors. They are least numbers all the same."""
    question = (
        "SELECT count(*) AS n, count(*) * 2 AS twice, count(DISTINCT person) AS people,"
        " dp.error(count(*)), dp.high(count(*)), dp.clipped(count(*))"
        " FROM w.visits WHERE person <= 200"
    )
    numbers = 0
    for _ in range(300):
        if numbers > 5:
            break
        answer = visits.run(question, **{"dp.notice": "on"})
        (row,) = rows(answer)
        count = answer.clipped[0]
        described = {one.name: one for one in answer.columns}
        assert described["people"].is_width
        if row["a1"] is None or not count.is_poor:
            continue
        numbers += 1
        assert described["n"].at_least and described["twice"].at_least
        assert row["e1"] is not None and row["h1"] is None and row["c1"] is not None
        assert answer.accuracy[0].error is not None
        assert any("how many have more is not known" in text for text in answer.withheld)
    assert numbers > 5


def test_explain_says_how_the_error_follows(visits: Asking) -> None:
    text = visits.explained("SELECT count(*), corr(paid, tip) FROM w.visits")
    assert "bounded by choice when the statement runs" in text
    assert " R (" in text
    assert "1,000,000 at most" in text
    assert "Bound on the rows of a unit: chosen privately when it runs, for 0." in text
    spent = visits.run("EXPLAIN SELECT count(*) FROM w.visits").loss
    assert spent.epsilon == 0


def test_a_given_bound_of_a_total_is_paid_for_and_no_more(visits: Asking) -> None:
    """per_unit of tip_of_unit is [0, 30] beside bounds of a row of 1,000."""
    answer = visits.run("SELECT sum(given) FROM w.visits", **{"dp.notice": "on"})
    (row,) = rows(answer)
    assert answer.clipped == ()
    assert abs(row["a1"] - 26_000) < 4_000
    assert answer.columns[0].most == 90


@pytest.mark.parametrize(
    "question",
    [
        "SELECT count(DISTINCT person), count(DISTINCT paid) FROM w.visits",
        "SELECT max(paid), percentile_cont(0.5) WITHIN GROUP (ORDER BY paid) FROM w.visits",
        "SELECT stddev(paid), covar_pop(paid, tip) FROM w.visits",
        "SELECT count(*), sum(a.paid) FROM w.visits a JOIN w.visits b ON a.person = b.person",
        "SELECT avg(n) FROM (SELECT person, count(*) AS n FROM w.visits GROUP BY person) q",
        "SELECT region, count(*) FROM w.visits GROUP BY region HAVING count(*) > 10",
        "SELECT count(*) FROM w.visits WHERE paid > (SELECT avg(paid) FROM w.visits)",
        "SELECT count(*) FROM (SELECT paid FROM w.visits UNION ALL SELECT paid FROM w.visits) q",
    ],
)
def test_all_else_is_answered(visits: Asking, question: str) -> None:
    """Noise makes a deviation NULL now and then, where its square comes out below 0."""
    answers = [visits.run(question) for _ in range(5)]
    assert {answer.loss.epsilon for answer in answers} == {1}
    assert any(None not in rows(answer)[0].values() for answer in answers)


def test_dp_clipped_is_the_share_of_units_that_are_cut(visits: Asking) -> None:
    """Half of the people have 7 visits or more, up to 12; few are above a bound that is chosen."""
    answer = visits.run(
        "SELECT region, count(*), dp.clipped(count(*)) FROM w.visits GROUP BY region"
    )
    (clipped,) = answer.clipped
    shares = {row["c1"] for row in rows(answer)}
    assert shares == {float(f"{max(0, clipped.above) / clipped.units:.6g}")}
    assert max(shares) < 0.2
    # Of a bound that the policy gives nothing is measured.
    (row,) = rows(visits.run("SELECT dp.clipped(sum(given)) FROM w.visits"))
    assert row["c1"] is None
    # Nor of a bound that could not be chosen: the answer is NULL, and so is the share.
    # By its noise one person is enough for a choice in one of a hundred.
    one = "SELECT count(*), dp.clipped(count(*)) FROM w.visits WHERE person = 3"
    found = [rows(visits.run(one))[0] for _ in range(5)]
    assert all((row["a1"] is None) == (row["c1"] is None) for row in found)
    assert sum(row["a1"] is None for row in found) >= 3


_STEM = "The error does not cover these limits of the policy: "
_OF_VALUES = "paid less than 0 counts as 0, more than 1,000 as 1,000."
_UNOWNED = "Rows whose person of w.visits is null belong to nobody and do not count."


# Of 4,000 people, as many have 1 to 12 calls each; their regions take turns.
@pytest.mark.parametrize(
    ("asked_of", "cut"),
    [
        ("count(*), dp.clipped(count(*)) FROM w.calls", "count(*) > 8"),
        ("sum(paid), dp.clipped(sum(paid)) FROM w.calls", "sum(paid) > 200"),
        (
            "region, count(*), dp.clipped(count(*)) FROM w.calls GROUP BY region",
            "count(*) > 8 OR count(DISTINCT region) > 3",
        ),
        ("count(*), dp.clipped(count(*)) FROM w.calls WHERE person < 13", "count(*) > 8"),
    ],
)
def test_what_the_policys_bounds_cut_is_counted_where_it_is_asked(
    asked_of: str, cut: str, visits: Asking
) -> None:
    few = " WHERE person < 13" if "WHERE" in asked_of else ""
    with psycopg.connect(visits.live.servers.protected.dsn("visits")) as connection:
        found = connection.execute(
            f"SELECT count(*), count(*) FILTER (WHERE cut) FROM (SELECT {cut} AS cut"
            f" FROM w.calls{few} GROUP BY person) q".encode()
        ).fetchone()
    assert found is not None
    units, above = found
    answer = visits.run(f"SELECT {asked_of}", **{"dp.notice": "on"})
    (clipped,) = answer.clipped
    by_region = ("Rows whose region is null are in no group.",) if "GROUP BY" in asked_of else ()
    assert answer.loss.epsilon == 1 and answer.withheld == by_region
    (limits,) = answer.limits
    assert limits.startswith(_STEM) and ", so the true number can only be larger" in limits
    assert " of a caller" in limits and limits.endswith(_OF_VALUES) == ("paid" in asked_of)
    assert clipped.is_given and not clipped.is_poor
    assert clipped.half_width == 120  # a twentieth of epsilon 1, two counts
    assert abs(clipped.units - units) < 5 * clipped.half_width
    assert abs(clipped.above - above) < 5 * clipped.half_width
    assert "the policy's limits cut about " in clipped.text()
    shares = {row["c2" if "c2" in row else "c1"] for row in rows(answer)}
    assert len(shares) == 1 and 0 <= min(shares) <= 1
    assert all(row["a1"] is not None for row in rows(answer))


def test_no_bound_cuts_a_mean_of_all_rows(visits: Asking) -> None:
    answer = visits.run("SELECT avg(paid), dp.clipped(avg(paid)) FROM w.calls")
    assert (answer.clipped, answer.limits) == ((), (f"{_STEM}{_OF_VALUES}",))
    assert (
        "dp.clipped(avg(paid)) is NULL: how much is cut of avg(paid) is not counted."
        " To see it ask: count(DISTINCT person) with WHERE paid < 0 OR paid > 1000."
        in answer.withheld
    )
    (row,) = rows(answer)
    assert row["c1"] is None


def test_what_the_policys_bounds_cut_costs_nothing_where_nobody_asks(visits: Asking) -> None:
    explained = visits.explained("SELECT count(*), dp.clipped(count(*)) FROM w.calls")
    assert (
        "Units that the policy's bounds cut: counted when it runs, for 0.05 of epsilon" in explained
    )
    assert "by choice" not in explained
    assert "cut: counted" not in visits.explained("SELECT count(*) FROM w.calls")
    assert visits.run("SELECT count(*) FROM w.calls").clipped == ()


def test_dp_clipped_is_of_an_aggregate(visits: Asking) -> None:
    with pytest.raises(Refusal, match="takes one aggregate"):
        visits.run("SELECT dp.clipped(sum(paid) / count(*)) FROM w.visits")


def test_what_is_said_over_the_wire(visits: Asking) -> None:
    heard: list[str] = []
    live = visits.live
    with live.connect("visits", analyst=live.servers.new_analyst()) as connection:
        connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        connection.execute("SET dp.notice = off")
        connection.execute("SELECT count(*) FROM w.visits")
        assert heard == []
        connection.execute("RESET dp.notice")
        row = connection.execute(
            "SELECT count(*), dp.error(count(*)), dp.clipped(count(*)) FROM w.visits"
        ).fetchone()
    assert row is not None and isinstance(row[2], float)
    (text,) = heard
    assert re.search(
        r"count: at least the number less [\d,]+; at most \d+ rows of a person count, about [\d,]+ \+-[\d,]+"
        r" of [\d,]+ \+-[\d,]+ people have more\n",
        text,
    )


def test_what_is_said_over_http(visits: Asking) -> None:
    analyst = visits.live.servers.new_analyst()
    response = visits.listeners.query(
        "SELECT sum(paid) FROM w.visits", database="visits", analyst=analyst
    )
    body = response.json()
    (clipped,), (column,) = body["clipped"], body["errors"]["columns"]
    assert (
        column["at_least"]
        and not column["at_most"]
        and column["most"] == body["errors"]["rows"][0][0]
    )
    assert clipped["bounds"] == "total" and clipped["aggregates"] == ["sum"]
    assert clipped["bound"] > 100 and 0 <= clipped["share"] < 0.3 and clipped["error_95"] > 0
    of_column, *others = body["notices"]
    assert of_column.startswith("sum: at least the number less ")
    assert others == [_UNOWNED, f"{_STEM}{_OF_VALUES}"]
    # By its noise a bound is found now and then even for so few.
    few = (f"SELECT count(*) FROM w.visits WHERE person < {number}" for number in (4, 3, 2, 1) * 10)
    asked = (visits.listeners.query(sql, database="visits", analyst=analyst) for sql in few)
    body = next(one for one in (answer.json() for answer in asked) if one["rows"] == [[None]])
    assert "a noisy count found too few" in body["notices"][0]
    assert body["clipped"][0]["bound"] is None


def test_bounds_of_a_block_plan_and_compile_that_block_alone(
    visits: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a statement of 64 blocks would be planned 65 times: many seconds of a processor."""
    planned, compiled = [], []
    draft, compile_block = planning._draft, compiling.compile_block

    def drafting(*given: Any) -> Any:
        planned.append(given)
        return draft(*given)

    def compile_again(block: CheckedBlock) -> Any:
        compiled.append(block)
        return compile_block(block)

    monkeypatch.setattr(planning, "_draft", drafting)
    monkeypatch.setattr(compiled_blocks, "compile_block", compile_again)
    counts = (f"(SELECT count(*) FROM w.visits WHERE paid > {n})" for n in range(8))
    assert visits.run(f"SELECT {', '.join(counts)}").loss.epsilon == 1
    assert (len(planned), len(compiled)) == (8, 8 + 8)


def test_bounds_are_not_chosen_on_the_loop(visits: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 walks over 300 bounds would hold up both listeners for a quarter of a second."""
    real, threads = drawer._with_bounds, []

    def noted(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return real(*given)

    monkeypatch.setattr(drawer, "_with_bounds", noted)
    visits.run("SELECT count(*), sum(paid) FROM w.visits")
    assert len(threads) == 1 and visits.live.thread not in threads


def test_a_cancel_between_the_two_scans_stays_charged(
    visits: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, begun, go_on = drawer._with_bounds, threading.Event(), threading.Event()

    def held_up(*given: Any) -> Any:
        begun.set()
        go_on.wait(60)
        return real(*given)

    monkeypatch.setattr(drawer, "_with_bounds", held_up)
    analyst = visits.live.servers.new_analyst()
    question = asked(
        visits.database, "SELECT region, count(*), sum(paid) FROM w.visits GROUP BY region"
    )

    async def cancelled() -> None:
        task = asyncio.ensure_future(run_by(visits.database.engine, question, (), {}, analyst))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    visits.live.do(cancelled())
    go_on.set()
    assert visits.live.when_settled(analyst) == (1, 1.0, 0)
