"""The hostile corpus through both listeners of two proxies, one on the data and one on the data without the
person
whom the statements are after: every verdict holds, and what is answered has the same shape on both sides."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from unittest import mock

import psycopg
import pytest

from proxy.audit.movement import Movement, allowed, movements
from proxy.base.errors import Refusal
from proxy.compiler.backend_query import BackendQuery
from proxy.engine.noisy_answers import UndeliveredAnswers
from proxy.exact.table import ExactTable
from proxy.kernel.plan import PrivatePlan
from proxy.pgwire import frames
from proxy.protected.protected_database import DatabaseSession, ProtectedDatabase
from proxy.query.syntax.statements import Statement
from tests.live import attacks
from tests.live.attacks import ANSWER, METADATA, REJECT, Attack
from tests.live.conversing import outcome
from tests.live.served_database import made_database, served_database
from tests.live_proxy import start_proxy
from tests.raw_client import RawClient
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import servers
from tests.uncharged_statements import read
from tests.unchecked_blocks import compile_block

pytestmark = pytest.mark.skipif(not attacks.PRESENT, reason=attacks.REASON)

# On the shadow. Only what sleeps is to meet it: on a slow machine a million rows take a second, too.
_SLEEPING_TIMEOUT, _TIMEOUT = "1s", "2min"
_CRASHES = ("58000", "XX000", "500", "503")
_PERSON = 4242
_WITHOUT = "".join(
    f"\nDELETE FROM {table} WHERE user_id = {_PERSON};" for table in ("adult", "visits", "salaries")
)
_TRIES = (
    100  # for what the noise decides; an outcome of either kind has a probability of 0.149 or more
)


class Listener(Enum):
    SIMPLE = "simple"
    EXTENDED = "extended"
    HTTP = "http"


class Verdict(Enum):
    """What became of a statement."""

    REFUSED = "refused, free of charge"
    RELAYED = "answered, free of charge"
    NOISY = "answered, charged"
    FAILED = "an error, charged"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a client can see of an answer without looking at its values."""

    verdict: Verdict
    columns: tuple[tuple[str, object], ...]
    rows: int
    sqlstate: str


@dataclass(slots=True)
class Side:
    """One of the two proxies. reads: statements that reached its protected database."""

    name: str
    listeners: BothListeners
    reads: list[str] = field(default_factory=list)

    def ask(self, attack: Attack, listener: Listener) -> Seen:
        """In a session of its own: an attack may have changed the role itself, which is undone."""
        proxy = self.listeners.proxy
        timeout = _SLEEPING_TIMEOUT if "sleep" in attack.sql else _TIMEOUT
        with psycopg.connect(proxy.servers.shadow_server.dsn(), autocommit=True) as superuser:
            superuser.execute(f"ALTER ROLE {proxy.analyst} RESET ALL".encode())
            superuser.execute(
                f"ALTER ROLE {proxy.analyst} SET statement_timeout = '{timeout}'".encode()
            )
        for database in proxy.assembly.databases.values():  # or what failed before is answered free
            database.engine._charged.undelivered = UndeliveredAnswers()
        before, reads = proxy.spent()[0], len(self.reads)
        seen = (
            self._over_http(attack)
            if listener is Listener.HTTP
            else self._over_wire(attack, listener)
        )
        assert seen[2] not in _CRASHES, (attack, seen)
        is_charged = proxy.spent()[0] > before
        assert is_charged == (len(self.reads) > reads), (attack, self.reads[reads:])
        verdict = {
            (False, False): Verdict.RELAYED,
            (False, True): Verdict.NOISY,
            (True, False): Verdict.REFUSED,
            (True, True): Verdict.FAILED,
        }[bool(seen[2]), is_charged]
        return Seen(verdict, *seen)

    def _over_wire(
        self, attack: Attack, listener: Listener
    ) -> tuple[tuple[tuple[str, object], ...], int, str]:
        values = attacks.PARAMETERS.get(attack.id, ())
        parameters = [value.encode() for value in values]
        with RawClient(self.listeners.proxy.dsn(self.name)) as client:
            if listener is Listener.SIMPLE:
                client.send(frames.query(attack.sql.encode()))
            else:
                client.send(
                    frames.parse(b"", attack.sql.encode()),
                    frames.bind(b"", b"", parameters),
                    frames.describe_portal(b""),
                    frames.execute(b""),
                    frames.SYNC,
                )
            got = outcome(client.until_ready())
            columns = tuple((name.decode(), (oid, mod)) for name, oid, mod in got.columns or ())
            state = "" if got.error is None else got.error[0].decode()
            after = attacks.AFTERWARDS.get(attack.id)
            if after is not None and not state:
                client.send(frames.query(after.encode()))
                assert outcome(client.until_ready()).error is not None, after
        return columns, len(got.rows), state

    def _over_http(self, attack: Attack) -> tuple[tuple[tuple[str, object], ...], int, str]:
        parameters = attacks.PARAMETERS.get(attack.id, ())
        body = self.listeners.query(attack.sql, *parameters, database=self.name).json()
        if "rows" not in body:
            return (), 0, str(body.get("sqlstate") or body["status"])
        columns = tuple((column["name"], column["type"]) for column in body["columns"])
        return columns, len(body["rows"]), ""


@dataclass(frozen=True, slots=True)
class Sides:
    with_person: Side
    without: Side

    @property
    def both(self) -> tuple[Side, Side]:
        return self.with_person, self.without


@pytest.fixture(scope="module")
def sides() -> Iterator[Sides]:
    pair = servers()
    made = []
    for name, script in (
        ("lab_with", attacks.script()),
        ("lab_without", attacks.script() + _WITHOUT),
    ):
        database = served_database(pair, name, script, attacks.TABLES)
        made.append(Side(name, open_http(start_proxy(pair, [database]))))
    real = DatabaseSession._parameters

    async def parameters(
        self: DatabaseSession, query: BackendQuery, values: Mapping[str, int | str | None]
    ) -> Mapping[str, object]:
        """What every statement takes, of one part or of two."""
        for side in made:
            if side.listeners.proxy.assembly.databases[side.name].protected is self.database:
                side.reads.append(query.sql)
        return await real(self, query, values)

    with mock.patch.object(DatabaseSession, "_parameters", parameters):
        yield Sides(*made)
    for side in made:
        side.listeners.close()
        side.listeners.proxy.stop()


def allowed_verdicts(attack: Attack) -> set[Verdict]:
    found: set[Verdict] = set()
    if REJECT in attack.verdicts:
        found.add(Verdict.REFUSED)
    if ANSWER in attack.verdicts or attack.id in attacks.NOISY:
        found.add(Verdict.NOISY)
    if METADATA in attack.verdicts or attack.id in {*attacks.RELAYED, *attacks.FREE}:
        found.add(Verdict.RELAYED)
    return found


def expected_at(attack: Attack, listener: Listener) -> set[Verdict]:
    """PAR-001 is two statements, which only the simple protocol takes: there one is answered, one refused."""
    if attack.id == "PAR-001":
        return {Verdict.FAILED} if listener is Listener.SIMPLE else {Verdict.REFUSED}
    return allowed_verdicts(attack)


def check(
    sides: Sides, corpus: Sequence[Attack], listeners: Sequence[Listener]
) -> dict[Verdict, set[str]]:
    """Each statement at each listener of both sides. Gives the statements by what became of them."""
    found: dict[Verdict, set[str]] = defaultdict(set)
    for attack in corpus:
        for listener in listeners:
            if listener is Listener.SIMPLE and attack.id in attacks.PARAMETERS:
                continue
            here, there = (side.ask(attack, listener) for side in sides.both)
            for seen in (here, there):
                assert seen.verdict in expected_at(attack, listener), (attack, listener, seen)
                found[seen.verdict].add(attack.id)
            assert here == there, (attack, listener, here, there)
    return found


def test_some(sides: Sides) -> None:
    """What only the guard refuses, every other of what is answered although the corpus rejects it, and one in
    twenty of the rest, by the simple protocol."""
    corpus = attacks.corpus()
    own = {*sorted(attacks.NOISY)[::2], *attacks.GUARDED}
    some = [a for n, a in enumerate(corpus) if a.id in own or n % 20 == 0]
    found = check(sides, [a for a in some if "sleep" not in a.sql], [Listener.SIMPLE])
    assert len(found[Verdict.REFUSED]) > 5 and len(found[Verdict.NOISY]) > 12


@pytest.mark.long
def test_every_verdict_holds(sides: Sides) -> None:
    corpus = attacks.corpus()
    found = check(sides, corpus, list(Listener))
    print({verdict.value: len(ids) for verdict, ids in found.items()})
    by_verdict: dict[str, set[str]] = defaultdict(set)
    for attack in corpus:
        for verdict in attack.verdicts:
            by_verdict[verdict].add(attack.id)
    # The lists of what differs are exact: no more than they say, no fewer.
    noisy = (found[Verdict.NOISY] | found[Verdict.FAILED]) - by_verdict[ANSWER]
    assert noisy == attacks.NOISY.keys()
    relayed = found[Verdict.RELAYED] - by_verdict[METADATA]
    assert relayed == attacks.RELAYED.keys() | attacks.FREE.keys()
    assert len(found[Verdict.REFUSED]) > 140


@pytest.mark.parametrize("name", sorted(attacks.MAY_BE_NULL))
def test_what_the_noise_decides_it_decides_on_both_sides(name: str, sides: Sides) -> None:
    """Division by a noisy 0 is NULL and no error, and only then; the NOTICE says it."""
    (attack,) = (attack for attack in attacks.corpus() if attack.id == name)
    said: list[str] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        said.append(notice.message_primary or "")

    for side in sides.both:
        seen = set()
        with side.listeners.proxy.connect(side.name) as connection:
            connection.add_notice_handler(hear)
            for _ in range(_TRIES):
                said.clear()
                ((value,),) = connection.execute(attack.sql.encode()).fetchall()
                assert ("divides by a noisy 0" in "\n".join(said)) == (value is None), said
                seen.add(value is None)
                if len(seen) == 2:
                    break
        assert seen == {True, False}, side.name


# --- sensitivity -----------------------------------------------------------------------------------


async def moved(dsns: tuple[str, str], plan: PrivatePlan) -> list[Movement]:
    """How far the exact results are apart, with the same seeds and the same answers of earlier blocks."""
    bases = [ProtectedDatabase(dsn) for dsn in dsns]
    found: list[Movement] = []
    for base in bases:
        await base.open()
    try:
        for block in plan.blocks:
            states: list[list[ExactTable]] = []
            for base in bases:
                states.append([])
                for query in compile_block(block):
                    values: dict[str, int | str | None] = dict.fromkeys(query.seeds, 42)
                    values |= dict.fromkeys((name for name, _ in query.scalars), "60")
                    states[-1].append(await read(base, query, values))
            found += movements(block, *states)
    finally:
        for base in bases:
            await base.close()
    return found


# The person many times over: then what is bounded is cut.
_CROWD = "".join(
    f"\nINSERT INTO {table} SELECT t.* FROM {table} t, generate_series(1, 20) WHERE user_id = {_PERSON};"
    for table in ("adult", "visits")
)


@pytest.mark.long
@pytest.mark.parametrize("crowd", ["", _CROWD], ids=["as it is", "crowded"])
def test_the_person_moves_exact_results_by_no_more_than_planned(crowd: str, sides: Sides) -> None:
    pair = sides.with_person.listeners.proxy.servers
    policies = [
        side.listeners.proxy.assembly.databases[side.name].policy.source for side in sides.both
    ]
    here, there = policies
    if crowd:
        here = made_database(pair.protected, "lab_crowded", attacks.script() + crowd)
    found: dict[str, list[Movement]] = {}
    for attack in attacks.corpus():
        if (ANSWER in attack.verdicts or attack.id in attacks.NOISY) and (
            attack.id not in attacks.PARAMETERS
        ):
            plan = planned(sides.with_person, attack)
            if plan is not None:
                found[attack.id] = asyncio.run(moved((here, there), plan))
    noisy = attacks.NOISY.keys() - attacks.OF_THE_SESSION
    assert found.keys() >= noisy
    for name, moves in found.items():
        for move in moves:
            assert move.observed <= allowed(move.measure, move.planned, 1), (name, move)
    print({name: [(str(m.planned), str(m.observed)) for m in found[name]] for name in noisy})
    # A join of a unit with itself, and a stack of it upon itself, move by just what is planned.
    for name, rows in (("SEN-004", 1), ("SEN-019", 2)):
        (move,) = found[name]
        assert move.planned == move.observed == rows, (name, move)


def planned(side: Side, attack: Attack) -> PrivatePlan | None:
    """Of the first statement. None: nothing protected is asked for, or it is refused."""
    engine = side.listeners.proxy.assembly.databases[side.name].engine
    statement = engine.statements.look(engine.statements.split(attack.sql)[0][1])
    if not isinstance(statement, Statement):
        return None
    with side.listeners.proxy.direct(side.name) as connection:
        found = [
            connection.execute("SELECT to_regclass(%s)::oid", (relation,)).fetchone()
            for relation in statement.relations
        ]
    try:
        question = engine.statements.read(statement, tuple(row[0] for row in found if row), ())
        return None if question is None else engine.planned(question, {})
    except Refusal:
        return None
