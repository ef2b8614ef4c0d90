"""The order of the pipeline, recorders in the place of ledger and data: nothing is read before it is charged,
and nothing is charged that could not be answered."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from fractions import Fraction

import pytest

from proxy.base.errors import Code, Fault, Refusal
from proxy.base.session_settings import SESSION_SETTINGS
from proxy.base.zones import zone_named
from proxy.catalog.catalog_model import TableName
from proxy.compiler.backend_query import PublicList
from proxy.compiler.compiling import CompiledQuery
from proxy.compiler.copy_view import FoundCopy, WantedCopy
from proxy.drawing.charges import Charge, PaidQuery, Payable
from proxy.drawing.drawer import Drawer
from proxy.drawing.protected_reads import ListValues
from proxy.drawing.statement_run import StatementRun
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.query_pipeline import Engine
from proxy.exact.table import ExactRow, ExactTable
from proxy.mechanisms.loss import Loss
from proxy.query.syntax.statements import Statement
from proxy.turns.threads import Turn
from tests.asked_by import run_of
from tests.charged_plans import charged
from tests.pipeline_world import CATALOG, POLICIES, PROTECTED, PUBLIC
from tests.seeded_bits import SeededBits

_OIDS = {name: number for number, name in enumerate((*PROTECTED, *PUBLIC), start=100)}


class Recorder:
    """Both ports; every call is written down in order."""

    def __init__(self, fails: str = "", rows: tuple[ExactRow, ...] = ()) -> None:
        self.calls: list[str] = []
        self.charged: list[Loss] = []
        self.seeds: list[Mapping[str, int | str | None]] = []
        self.bits = SeededBits(1)
        self.number: int | None = 1  # of the analyst
        self.today = 20_000  # 2024-10-04
        self.left = Loss(Fraction(10), Fraction(1, 10))
        self._fails = fails
        self._rows = rows

    @asynccontextmanager
    async def session(self, turn: Turn) -> AsyncIterator[Recorder]:
        self.calls.append("session")
        if self._fails == "session":
            raise Refusal(Code.UNAVAILABLE, "the database is not available", "later")
        if self._fails == "slow session":
            await asyncio.sleep(60)
        yield self
        self.calls.append("session ends")

    async def run(
        self,
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        is_selected: object = None,
    ) -> ExactTable:
        self.calls.append("run")
        self.seeds.append(values)
        if self._fails == "run":
            raise Fault
        if self._fails == "cancel":
            raise asyncio.CancelledError
        if self._fails == "slow run":
            await asyncio.sleep(2.2)
        return ExactTable(self._rows, paid.query.slots, paid.query.releases)

    async def run_in_two_parts(
        self,
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        between: Callable[[ExactTable], Awaitable[str]],
    ) -> ExactTable:
        self.calls.append("between")
        await between(ExactTable((), paid.query.slots, paid.query.releases))
        return await self.run(paid, values)

    async def understand(self, queries: Sequence[CompiledQuery]) -> None:
        self.calls.append("understand")
        assert all("%" not in query.without_values() for query in queries)
        if self._fails == "understand":
            raise Refusal(Code.UNAVAILABLE, "a public table is another", "later")

    async def copies(self, wanted: Mapping[TableName, WantedCopy]) -> Mapping[TableName, FoundCopy]:
        return {}

    async def refuse_impossible(self, queries: Sequence[CompiledQuery]) -> None:
        if self._fails == "nodes":
            self.calls.append("nodes")
            raise Refusal(Code.UNSUPPORTED, "the nodes cannot run it", "ask about one table")

    async def renew(self) -> None:
        raise AssertionError("no series")

    async def zone_offsets(self, zone: str, instants: Sequence[int]) -> tuple[int, ...] | None:
        self.calls.append("zone")
        known = zone_named(zone)
        if known is None or self._fails == "no zone":
            return None
        late = 3600 if self._fails == "other clocks" else 0
        return tuple(known.offset(at) + late for at in instants)

    async def public_list(self, wanted: PublicList) -> ListValues:
        self.calls.append("list")
        if self._fails == "list":
            raise Refusal(Code.UNAVAILABLE, "the database is not available", "later")
        text = None if self._fails == "long list" else "{1,2}"
        return ListValues(2, 2, text)

    async def look(self, analyst: str, plan: Payable) -> None:
        self.calls.append("look")
        if self._fails == "look":
            raise Refusal(Code.OVER_BUDGET, "nothing left", "wait")

    async def reserve(
        self,
        run: StatementRun,
        plan: Payable,
        fingerprint: str,
        digest: str,
        text: str | None = None,
    ) -> Charge:
        self.calls.append("reserve")
        if self._fails == "reserve":
            raise Refusal(Code.OVER_BUDGET, "nothing left", "wait")
        self.charged.append(plan.loss)
        return charged(plan, "receipt 1", self.left, self.number, token=run.payer.token)

    async def settle(self, receipt: str, answered: bool) -> None:
        assert receipt == "receipt 1"
        self.calls.append(f"settle {'answered' if answered else 'failed'}")

    async def remaining(self, analyst: str) -> Loss:
        self.calls.append("remaining")
        return Loss(POLICIES["world"].privacy.epsilon, POLICIES["world"].privacy.delta)

    async def admitted(self, analyst: str) -> Loss:
        self.calls.append("remaining")
        return Loss(POLICIES["world"].privacy.epsilon, POLICIES["world"].privacy.delta)

    async def day(self) -> int:
        self.calls.append("day")
        return self.today

    async def person(self, analyst: str) -> int | None:
        return self.number

    async def budget(self, analyst: str) -> str:
        return "[]"

    async def history(
        self,
        turn: Turn,
        *,
        newest_first: bool = False,
        before: int | None = None,
        limit: int = 10_000,
    ) -> str:
        return "[]"


BEFORE = ["look", "session"]


def asked(recorder: Recorder, text: str, policy: str = "world") -> tuple[Engine, ProtectedQuery]:
    relations = {oid: name for name, oid in _OIDS.items()}
    engine = Engine(Drawer(POLICIES[policy], CATALOG, recorder, recorder.bits), relations, recorder)
    statement = engine.statements.look(text)
    assert isinstance(statement, Statement)
    by_text = {name.name: oid for name, oid in _OIDS.items()}
    question = engine.statements.read(statement, tuple(map(by_text.get, statement.relations)), ())
    assert question is not None
    return engine, question


def ask(recorder: Recorder, text: str, policy: str = "world", **settings: str) -> NoisyAnswer:
    engine, question = asked(recorder, text, policy)
    given = {
        name if name in SESSION_SETTINGS else f"dp.{name}": value
        for name, value in settings.items()
    }
    return asyncio.run(engine.run(question, (), given, run_of("alice")))


def test_the_charge_comes_before_the_data_and_is_settled_after() -> None:
    recorder = Recorder(rows=(ExactRow((), 0, (41,)),))
    answer = ask(recorder, "SELECT count(*) FROM people")
    assert recorder.calls == [*BEFORE, "reserve", "run", "settle answered", "session ends"]
    assert (
        recorder.charged == [answer.loss] == [Loss(POLICIES["world"].privacy.epsilon, Fraction(0))]
    )
    assert answer.receipt == "receipt 1"


def test_all_blocks_are_one_charge() -> None:
    recorder = Recorder()
    ask(recorder, "SELECT count(*), (SELECT sum(i4) FROM orders) FROM people")
    assert recorder.calls == [*BEFORE, "reserve", "run", "run", "settle answered", "session ends"]


@pytest.mark.parametrize(
    "text, policy, settings",
    [
        ("SELECT avg(free) FROM people", "world", {}),
        ("SELECT avg(i4) FROM people", "tight", {}),
        ("SELECT count(*) FROM people GROUP BY f8 * 2", "world", {}),
        ("SELECT count(*) FROM people", "world", {"epsilon": "1000"}),
    ],
)
def test_a_refused_plan_never_reserves(text: str, policy: str, settings: dict[str, str]) -> None:
    recorder = Recorder()
    with pytest.raises(Refusal):
        ask(recorder, text, policy, **settings)
    assert recorder.calls == []


def test_a_budget_that_is_used_up_takes_no_session() -> None:
    recorder = Recorder("look")
    with pytest.raises(Refusal) as refusal:
        ask(recorder, "SELECT count(*) FROM people")
    assert refusal.value.code is Code.OVER_BUDGET
    assert recorder.calls == ["look"]


def test_a_refused_charge_reads_nothing_and_settles_nothing() -> None:
    recorder = Recorder("reserve")
    with pytest.raises(Refusal) as refusal:
        ask(recorder, "SELECT count(*) FROM people")
    assert refusal.value.code is Code.OVER_BUDGET
    assert recorder.calls == [*BEFORE, "reserve"]


def test_without_a_session_nothing_is_charged() -> None:
    recorder = Recorder("session")
    with pytest.raises(Refusal) as refusal:
        ask(recorder, "SELECT count(*) FROM people")
    assert refusal.value.code is Code.UNAVAILABLE
    assert recorder.calls == BEFORE


def test_a_statement_timeout_before_the_charge_costs_nothing() -> None:
    recorder = Recorder("slow session")
    with pytest.raises(Refusal) as refusal:
        ask(recorder, "SELECT count(*) FROM people", statement_timeout="3s")
    assert refusal.value.code is Code.CANCELLED
    assert "Nothing was charged" in refusal.value.hint
    assert recorder.calls == BEFORE


def test_what_was_left_after_a_charge_saves_the_next_look() -> None:
    recorder = Recorder(rows=(ExactRow((), 0, (41,)),))
    engine, question = asked(recorder, "SELECT count(*) FROM people")

    async def three() -> None:
        for _ in range(3):
            await engine.run(question, (), {}, run_of("alice"))
            recorder.left = Loss(Fraction(1, 100), Fraction(0))  # after the second

    asyncio.run(three())
    looks = [call for call in recorder.calls if call in ("look", "reserve")]
    assert looks == ["look", "reserve", "reserve", "look", "reserve"]


_LOOKS_UP = "SELECT count(*), sum(i4) FILTER (WHERE t IN (SELECT code FROM places)) FROM people"


def test_lists_of_public_tables_are_read_once_and_before_the_charge() -> None:
    recorder = Recorder()
    ask(recorder, _LOOKS_UP)
    expected = [*BEFORE, "list", "reserve", "run", "settle answered", "session ends"]
    assert recorder.calls == expected
    assert "{1,2}" in recorder.seeds[0].values()


@pytest.mark.parametrize("fails", ["list", "long list"])
def test_a_list_that_cannot_be_had_costs_nothing(fails: str) -> None:
    recorder = Recorder(fails)
    with pytest.raises(Refusal):
        ask(recorder, _LOOKS_UP)
    assert recorder.calls == [*BEFORE, "list"]


_BY_DAY = "SELECT count(*) FROM people WHERE tz::date = '2026-03-01'"


_JOINED = "SELECT count(*), sum(i4) FROM people JOIN places ON t = code"


def test_a_join_with_a_public_table_is_analysed_before_the_charge() -> None:
    recorder = Recorder()
    ask(recorder, _JOINED)
    expected = [*BEFORE, "understand", "reserve", "run", "settle answered", "session ends"]
    assert recorder.calls == expected


@pytest.mark.parametrize("question", [_JOINED, _LOOKS_UP])
def test_what_nodes_cannot_run_costs_nothing(question: str) -> None:
    recorder = Recorder("nodes")
    with pytest.raises(Refusal, match="nodes"):
        ask(recorder, question)
    assert recorder.calls[-1] == "nodes" and "reserve" not in recorder.calls


def test_what_is_not_understood_costs_nothing() -> None:
    recorder = Recorder("understand")
    with pytest.raises(Refusal, match="another"):
        ask(recorder, _JOINED)
    assert recorder.calls == [*BEFORE, "understand"]


def test_the_rules_of_a_zone_are_compared_once_and_before_the_charge() -> None:
    recorder = Recorder(rows=(ExactRow((), 0, (41,)),))
    engine, question = asked(recorder, _BY_DAY)

    async def twice() -> None:
        for _ in range(2):
            await engine.run(question, (), {"TimeZone": "Europe/Berlin"}, run_of("alice"))

    asyncio.run(twice())
    assert recorder.calls[:4] == [*BEFORE, "zone", "reserve"]
    assert recorder.calls.count("zone") == 1


@pytest.mark.parametrize("fails", ["no zone", "other clocks"])
def test_a_server_with_other_clocks_is_asked_nothing(fails: str) -> None:
    recorder = Recorder(fails)
    with pytest.raises(Refusal) as refusal:
        ask(recorder, _BY_DAY, TimeZone="Europe/Berlin")
    assert "Europe/Berlin" in refusal.value.message
    assert recorder.calls == [*BEFORE, "zone"]


def test_a_zone_that_nobody_knows_is_refused_where_it_counts() -> None:
    recorder = Recorder(rows=(ExactRow((), 0, (41,)),))
    with pytest.raises(Refusal, match="IANA"):
        ask(recorder, _BY_DAY, TimeZone="FOO+3")
    assert recorder.calls == []
    assert ask(recorder, "SELECT count(*) FROM people", TimeZone="FOO+3").receipt is not None


@pytest.mark.parametrize("fails, error", [("run", Fault), ("cancel", asyncio.CancelledError)])
def test_a_failure_is_settled_as_such_and_not_given_back(
    fails: str, error: type[BaseException]
) -> None:
    recorder = Recorder(fails)
    with pytest.raises(error):
        ask(recorder, "SELECT count(*) FROM people")
    assert recorder.calls == [*BEFORE, "reserve", "run", "settle failed"]
    assert len(recorder.charged) == 1


@pytest.mark.every(2)
@pytest.mark.parametrize("timeout", ["2s", "1500ms", "2min", "0"])
def test_a_statement_timeout_ends_nothing_that_is_charged(timeout: str) -> None:
    """It is over while the protected server still reads, and where that matters the answer says so."""
    recorder = Recorder("slow run")
    answer = ask(recorder, "SELECT count(*) FROM people", statement_timeout=timeout)
    assert recorder.calls == [*BEFORE, "reserve", "run", "settle answered", "session ends"]
    assert answer.outlasts_timeout is (timeout in ("2s", "1500ms"))


@pytest.mark.parametrize("timeout", ["0", "1min", "25d"])
def test_a_statement_timeout_that_is_not_reached(timeout: str) -> None:
    assert ask(Recorder(), "SELECT count(*) FROM people", statement_timeout=timeout).receipt


@pytest.mark.parametrize("timeout", ["", "soon", "-1", "1 s", "1.5s"])
def test_a_statement_timeout_that_cannot_be_read(timeout: str) -> None:
    recorder = Recorder()
    with pytest.raises(Refusal) as refusal:
        ask(recorder, "SELECT count(*) FROM people", statement_timeout=timeout)
    assert refusal.value.code is Code.SETTING
    assert recorder.calls == []


@pytest.mark.parametrize("head", ["EXPLAIN", "EXPLAIN ANALYZE", "EXPLAIN (FORMAT JSON)"])
def test_explain_neither_reserves_nor_reads(head: str) -> None:
    recorder = Recorder()
    answer = ask(recorder, f"{head} SELECT count(*) FROM people")
    assert recorder.calls == ["remaining"]
    assert answer.receipt is None


class _Threads(SeededBits):
    """Bits that know in which threads they were drawn."""

    def __init__(self) -> None:
        super().__init__(1)
        self.seen: set[int] = set()

    def below(self, n: int) -> int:
        self.seen.add(threading.get_ident())
        return super().below(n)


@pytest.mark.every(2)
@pytest.mark.parametrize(("groups", "is_beside"), [(100, False), (30_000, True)])
def test_a_large_answer_is_drawn_beside_other_sessions(groups: int, is_beside: bool) -> None:
    rows = tuple(ExactRow((str(n),), 0, (10**6,), 10**6) for n in range(groups))
    recorder, bits = Recorder(rows=rows), _Threads()
    recorder.bits = bits
    answer = ask(recorder, "SELECT s, count(*) FROM people GROUP BY s")
    assert answer.relation.count('"k1"') == groups
    assert (bits.seen == {threading.get_ident()}) is not is_beside


def test_public_keys_alone_are_free_and_read_nothing() -> None:
    recorder = Recorder()
    answer = ask(recorder, "SELECT DISTINCT t FROM people")
    assert recorder.calls == []
    assert answer.relation == '{"b1":[{"k1":"x"},{"k1":"y"},{"k1":"z"},{"k1":null}]}'


def test_every_run_has_fresh_seeds() -> None:
    recorder = Recorder()
    ask(recorder, "SELECT avg(i4), (SELECT avg(n2) FROM people) FROM people")
    first, second = recorder.seeds
    assert first and first.keys() and set(first.values()).isdisjoint(second.values())


def test_each_answer_stands_where_its_subquery_stood() -> None:
    recorder = Recorder(rows=(ExactRow((), 0, (41,)),))
    answer = ask(
        recorder,
        "SELECT count(*) FROM people WHERE i4 > (SELECT count(*) FROM people) "
        "AND i4 < (SELECT count(*) FROM people WHERE i4 > 2)",
    )
    blocks = json.loads(answer.relation)
    first, second = (str(blocks[name][0]["a1"]) for name in ("b1", "b2"))
    assert recorder.seeds[2].items() >= {("s1", first), ("s2", second)}


def test_what_is_charged_is_what_the_releases_cost_together() -> None:
    recorder = Recorder()
    answer = ask(recorder, "SELECT count(*), sum(i4), avg(i4), min(i4) FROM orders GROUP BY t")
    epsilon = sum((entry.epsilon for entry in answer.accuracy), Fraction(0))
    delta = sum((entry.delta for entry in answer.accuracy), Fraction(0))
    assert recorder.charged == [Loss(epsilon, delta)]
    assert epsilon <= POLICIES["world"].privacy.epsilon and delta <= POLICIES["world"].privacy.delta
