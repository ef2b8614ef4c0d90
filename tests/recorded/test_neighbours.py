"""Sessions of an analyst on the shop and on neighbours of it: all that differs outside of mechanisms is a leak,
and what differs within them has been charged."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any
from unittest.mock import patch

import psycopg
import pytest
from psycopg import sql
from typing_extensions import assert_never

from proxy.base.slots import Slots
from proxy.cli.assembly import assemble
from proxy.cli.sample_policies import sample_policy
from proxy.drawing import drawer
from proxy.exact.table import ExactRow
from proxy.kernel.plan import (
    ClippedMean,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    SmoothedMedian,
    UnitExtreme,
)
from proxy.mechanisms.zcdp import rho_of_loss
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release import adding_noise
from proxy.release.adding_noise import partition_outputs
from proxy.shadow.shadow_database import Shadow
from tests.fifty_queries.demo_tables import CATALOGS
from tests.fifty_queries.queries import cases, database_of, policy
from tests.ledger_key import LEDGER_CIPHER
from tests.live.served_database import made_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.recorded.recorder import Draw, Exact, Recorder, recording
from tests.servers_fixture import servers
from tests.unjudged_rows import unjudged

_Held = tuple[Slots, Sequence[ExactRow]]


@dataclass(slots=True)
class Observed:
    """Of one statement. epsilon: of all but Gaussian noise; rho: of Gaussian noise, by its release."""

    epsilon: Fraction = Fraction(0)
    rho: dict[NoisyStatistic | DistinctCount | KeptUnits, Fraction] = field(
        default_factory=lambda: defaultdict(Fraction)
    )

    def total(self) -> Fraction:
        """The epsilon, at the delta that each release with Gaussian noise says it spends."""
        found = self.epsilon
        for release, rho in self.rho.items():
            allowed = rho_of_loss(release.loss.epsilon, release.loss.delta)
            found += release.loss.epsilon * max(Fraction(1 if rho else 0), rho / allowed)
        return found


def observed(pairs: Iterable[tuple[Draw, Draw]]) -> dict[int, Observed]:
    """The loss of each statement that read something else."""
    found: dict[int, Observed] = defaultdict(Observed)
    for one, other in pairs:
        if one.exact != other.exact:
            name, law = one.mechanism
            _add(found[one.statement], name, law, one.exact, other.exact)
    return found


def _add(to: Observed, name: str, law: Any, one: Exact, other: Exact) -> None:
    match name:
        case "release":
            release, cells = law
            _add_release(to, release, cells, one, other)
        case "sum":
            release, noise = law
            match noise:
                case LaplaceNoise(scale=scale):
                    to.epsilon += abs(one - other) / scale
                case GaussianNoise(sigma2=sigma2):
                    to.rho[release] += Fraction((one - other) ** 2) / (2 * sigma2)
                case _:
                    raise AssertionError(f"{noise} is no noise")
        case "groups":
            moved = sum(abs(one.get(key, 0) - other.get(key, 0)) for key in {*one, *other})
            to.epsilon += moved * law.each.epsilon
        case "means":  # what centres have spent is a part of it
            to.epsilon += sum((release.loss.epsilon for _, release in law), Fraction(0))
        case "centres":
            return
        case "bounds":
            choices = dict(law)
            to.epsilon += sum(
                (choices[number].loss.epsilon for number in one if one[number] != other[number]),
                Fraction(0),
            )
        case _:
            raise AssertionError(f"{name} is given something of the data")


def _add_release(to: Observed, release: Release, cells: int, one: Exact, other: Exact) -> None:
    match release:
        case NoisyStatistic() | DistinctCount() | KeptUnits():
            raise AssertionError("a sum, of which the noise is known")
        case RecentredMean():
            rows = max(1, abs(_sum(one, "count") - _sum(other, "count")))
            to.epsilon += release.loss.epsilon * rows / release.measured.rows
        case OrderStatistic():
            size = "units" if release.weights is not None else "count"
            to.epsilon += abs(_sum(one, size) - _sum(other, size)) / release.size.noise.scale
            is_max = release.aggregate.kind is AggregateKind.MAX
            moved = _moved(one, other, from_above=is_max)
            to.epsilon += release.own_loss.epsilon * moved / release.moved
        case UnitExtreme():
            is_max = release.aggregate.kind is AggregateKind.MAX
            moved = _moved(one, other, from_above=is_max)
            to.epsilon += release.loss.epsilon * moved / release.measured.rows
        case SampleAggregate():
            _add_sampled(to, release, cells, one, other)
        case DeviationMean():
            raise AssertionError("drawn for all groups together")
        case _:
            assert_never(release)


def _add_sampled(
    to: Observed, release: SampleAggregate, cells: int, one: _Held, other: _Held
) -> None:
    to.epsilon += abs(_sum(one, "units") - _sum(other, "units")) / release.gate.noise.scale
    mine, theirs = (partition_outputs(release, slots, rows, cells) for slots, rows in (one, other))
    changed = sum(a != b for a, b in zip(mine, theirs, strict=True))
    match release.mechanism:
        case SmoothedMedian(each=each):
            assert changed <= 1, "a unit is in one partition"
            to.epsilon += each.epsilon * changed
        case ClippedMean(changed=most, loss=loss):
            to.epsilon += loss.epsilon * changed / most
        case _:
            assert_never(release.mechanism)


def _sum(held: _Held, slot: str) -> int:
    slots, rows = held
    place = getattr(slots, slot)
    return sum(row.values[place] or 0 for row in rows)


def _moved(one: _Held, other: _Held, *, from_above: bool) -> int:
    """By so many rows, or parts of them, the rank of a value differs at most.

    Values of one end alone may be there, and of a quantile those around it, the first with all rows before it.
    """
    sign = -1 if from_above else 1
    ranks = []
    for slots, rows in (one, other):
        assert slots.extreme is not None and slots.count is not None
        counted: Counter[int] = Counter()
        for row in rows:
            value, count = row.values[slots.extreme], row.values[slots.count]
            if value is not None and count:
                counted[sign * value] += count
        values = sorted(counted)
        ranks.append((values, list(accumulate(counted[value] for value in values))))
    (mine, _), (theirs, _) = ranks
    if not mine or not theirs:
        return max((rank[-1] for _, rank in ranks if rank), default=0)
    first, last = max(mine[0], theirs[0]), min(mine[-1], theirs[-1])
    seen = [value for value in {*mine, *theirs} if first <= value <= last]
    return max(
        (abs(_rank(*ranks[0], value) - _rank(*ranks[1], value)) for value in seen), default=0
    )


def _rank(values: Sequence[int], ranks: Sequence[int], value: int) -> int:
    place = bisect_right(values, value)
    return ranks[place - 1] if place else 0


pytestmark = pytest.mark.long

_NAME = "recorded"
_FIFTY = [
    case.statement
    for case in cases()
    if database_of(case) == "shop" and "parameters" not in case.headers
]
# What else a session is made of: refusals, prices, errors that rows could raise, answers made of others.
_SHORT = [
    "SELECT * FROM shop.orders",
    "EXPLAIN (VERBOSE) SELECT avg(total), max(total) FROM shop.orders",
    "SELECT count(*) FROM shop.orders WHERE 1 / quantity > 0",
    "SELECT count(*) FROM shop.orders WHERE customer_id = 17",
    "SELECT status, count(*), sum(total) FROM shop.orders GROUP BY ROLLUP (status)",
    "SELECT product_id, count(*) FROM shop.orders GROUP BY product_id ORDER BY 2 DESC LIMIT 3",
    "SELECT customer_id, count(*) FROM shop.orders GROUP BY customer_id",
    "SELECT id, max(total) FROM shop.orders GROUP BY id",
    "SELECT count(*) FROM shop.orders WHERE status = 'paid'",
    "SELECT count(*), sum(total), avg(total) FROM shop.orders WHERE status = 'paid'",
    "SELECT avg(total), dp.error(avg(total)), dp.low(sum(quantity)) FROM shop.orders",
    "SELECT stddev(total), percentile_disc(0.9) WITHIN GROUP (ORDER BY total) FROM shop.orders",
    "SELECT min(total), max(total) FROM shop.orders WHERE status = 'returned'",
    "SET dp.mechanism = smooth_median",
    "SELECT avg(total), min(total), max(total) FROM shop.orders",
    "SELECT state, avg(spent) FROM (SELECT c.id, c.state, sum(o.total) AS spent FROM shop.customers c"
    " JOIN shop.orders o ON o.customer_id = c.id GROUP BY c.id, c.state) t GROUP BY state",
    "SELECT count(*) FROM (SELECT customer_id FROM shop.orders GROUP BY 1 HAVING sum(total) > 500) t",
    "SELECT count(DISTINCT customer_id), count(DISTINCT product_id) FROM shop.orders",
    "SELECT sum(total) / count(*) FROM shop.orders HAVING count(*) > 100",
]


@dataclass(slots=True)
class Seen:
    """What the analyst is shown of each statement, without receipts, times and the name of the database."""

    texts: list[str] = field(default_factory=list)
    charged: list[float] = field(default_factory=list)


@contextmanager
def _served(name: str) -> Iterator[LiveProxy]:
    """The same rows in two databases under one policy, of which nothing has been answered."""
    pair, sample = servers(), sample_policy("shop")
    databases = []
    for database in (name, f"{name}_less"):
        source = made_database(pair.protected, database, sample.schema + sample.rows)
        here = replace(policy("shop"), database=database, source=source)
        shadow = Shadow(pair.shadow_server.dsn(), database, pair.shadow_server.address)
        shadow.build(here, CATALOGS["shop"], unjudged(here))
        databases.append(assemble(here, CATALOGS["shop"], shadow, pair.lease(here), LEDGER_CIPHER))
    proxy = start_proxy(pair, databases)
    try:
        yield proxy
    finally:
        proxy.stop()


@pytest.fixture(scope="module")
def both() -> Iterator[LiveProxy]:
    """No question may be asked by two tests: what was answered once would be shown again."""
    with _served(_NAME) as proxy:
        yield proxy


class _Without:
    """The second database without a customer, while it is entered."""

    def __init__(self, proxy: LiveProxy, name: str, customer: int) -> None:
        self._whole = proxy.servers.protected.dsn(name)
        self._less, self._customer = proxy.servers.protected.dsn(f"{name}_less"), customer

    def __enter__(self) -> None:
        self._run("DELETE FROM shop.orders WHERE customer_id = {}")
        self._run("DELETE FROM shop.customers WHERE id = {}")

    def __exit__(self, *_: object) -> None:
        with psycopg.connect(self._whole) as whole:
            for table, column in (("customers", "id"), ("orders", "customer_id")):
                name = sql.Identifier("shop", table)
                select = sql.SQL("COPY (SELECT * FROM {} WHERE {} = {}) TO STDOUT").format(
                    name, sql.Identifier(column), self._customer
                )
                with (
                    psycopg.connect(self._less) as less,
                    whole.cursor().copy(select) as read,
                    less.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(name)) as write,
                ):
                    for data in read:
                        write.write(data)

    def _run(self, text: str) -> None:
        with psycopg.connect(self._less, autocommit=True) as less:
            less.execute(sql.SQL(text).format(self._customer))


def _session(
    proxy: LiveProxy, database: str, statements: Sequence[str], recorder: Recorder
) -> Seen:
    seen, analyst = Seen(), proxy.servers.new_analyst()
    spent = 0.0
    with recording(recorder), proxy.connect(database, analyst=analyst) as connection:
        connection.add_notice_handler(lambda told: seen.texts.append(_told(told)))
        connection.execute("SET dp.epsilon = 1")
        for number, statement in enumerate(statements):
            recorder.statement = number
            seen.texts.append(f"-- {number}")
            try:
                result = connection.execute(statement.encode())
                columns = [] if result.description is None else [str(c) for c in result.description]
                rows = result.fetchall() if columns else []
                seen.texts.append(_without_names(f"{columns} {rows}"))
            except psycopg.Error as error:
                seen.texts.append(_told(error.diag))
            now = proxy.when_settled(analyst)[1]
            seen.charged.append(now - spent)
            spent = now
    return seen


def _told(told: Any) -> str:
    parts = (
        told.severity,
        told.sqlstate,
        told.message_primary,
        told.message_detail,
        told.message_hint,
    )
    return _without_names(" | ".join(str(part) for part in parts))


def _without_names(text: str) -> str:
    text = re.sub(r"receipt \d+", "receipt", re.sub(r"\b(recorded\w*)_less\b", r"\1", text))
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S*", "<time>", text)


def audited(
    proxy: LiveProxy, statements: Sequence[str], customer: int, name: str = _NAME
) -> list[str]:
    """All that is found of a session on the shop and on the shop without a customer."""
    first = Recorder()
    mine = _session(proxy, name, statements, first)
    with _Without(proxy, name, customer):
        second = Recorder(played=first)
        theirs = _session(proxy, f"{name}_less", statements, second)
    assert sum(map(bool, mine.charged)) >= len(statements) / 2, "hardly anything was drawn"
    found = second.found()
    for one, other in zip(mine.texts, theirs.texts, strict=False):
        if one != other:
            found.append(f"the analyst sees {one!r}, and {other!r} without the customer")
    if len(mine.texts) != len(theirs.texts):
        found.append("the analyst is told more, or less")
    if mine.charged != pytest.approx(theirs.charged):
        found.append("another price")
    for number, loss in observed(second.pairs()).items():
        if float(loss.total()) > mine.charged[number] * (1 + 1e-9):
            found.append(
                f"{statements[number]}: {float(loss.total()):.4g} is spent, {mine.charged[number]:.4g} charged"
            )
    return found


def _customers(proxy: LiveProxy, name: str = _NAME) -> list[int]:
    """Who has most orders, the dearest one, and one of those with few."""
    with psycopg.connect(proxy.servers.protected.dsn(name)) as whole:
        found = whole.execute(
            "(SELECT customer_id FROM shop.orders GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1)"
            " UNION ALL (SELECT customer_id FROM shop.orders ORDER BY total DESC, id LIMIT 1)"
            " UNION ALL (SELECT customer_id FROM shop.orders GROUP BY 1 ORDER BY count(*), 1 LIMIT 1)"
        ).fetchall()
    return [customer for (customer,) in found]


@pytest.mark.parametrize("number", range(3))
def test_the_fifty_tell_no_neighbour(number: int) -> None:
    name = f"{_NAME}_{number}"
    with _served(name) as proxy:
        found = audited(proxy, [*_SHORT, *_FIFTY], _customers(proxy, name)[number], name)
    assert found == []


def _statements(proxy: LiveProxy, *statements: str) -> list[str]:
    return audited(proxy, statements, _customers(proxy)[0])


def _says(found: Sequence[str], words: str) -> None:
    assert any(words in one for one in found), found


def test_too_little_noise_is_found(both: LiveProxy) -> None:
    """Noise that is a third too small spends half more than was charged."""
    draw = adding_noise._drawn

    def drawn(release: Any, *more: Any) -> Any:
        noise = getattr(release, "noise", None)
        if isinstance(noise, LaplaceNoise):
            release = replace(release, noise=LaplaceNoise(scale=noise.scale * 2 / 3))
        return draw(release, *more)

    with patch.object(adding_noise, "_drawn", drawn):
        _says(
            _statements(
                both, "SELECT count(*) FROM shop.customers WHERE birth_date < '2010-01-01'"
            ),
            "1.5 is spent, 1 charged",
        )


def test_a_decision_by_exact_rows_is_found(both: LiveProxy) -> None:
    """An answer that is left out where exact rows say so, which no noise hides."""
    block = adding_noise.drawn_block

    def drawn(checked: Any, tables: Any, bits: Any) -> Any:
        found = block(checked, tables, bits)
        exact = sum(value or 0 for row in tables[0].rows for value in row.values)
        return replace(found, groups=found.groups[exact % 2 :])

    with patch.object(drawer, "drawn_block", drawn):
        question = "SELECT state, count(*) FROM shop.customers GROUP BY state"
        _says(_statements(both, question), "the analyst sees")


def test_a_statement_made_of_exact_rows_is_found(both: LiveProxy) -> None:
    """What is sent to the database for a second time, by what was read at first."""
    run = drawer._Reads.at_once

    async def twice(self: Any, query: Any, *more: Any) -> Any:
        found = await run(self, query, *more)
        odd = sum(value or 0 for row in found.rows for value in row.values) % 2
        return await run(self, query, *more) if odd else found

    with patch.object(drawer._Reads, "at_once", twice):
        found = _statements(
            both, "SELECT count(*) FROM shop.customers WHERE birth_date < '2020-01-01'"
        )
        _says(found, "to the protected database")


def test_an_error_by_exact_rows_is_found(both: LiveProxy) -> None:
    """An error that exact rows raise after the charge is seen by the analyst."""
    block = adding_noise.drawn_block

    def drawn(checked: Any, tables: Any, bits: Any) -> Any:
        if sum(value or 0 for row in tables[0].rows for value in row.values) % 2:
            raise ArithmeticError
        return block(checked, tables, bits)

    with patch.object(drawer, "drawn_block", drawn):
        _says(
            _statements(
                both, "SELECT count(*) FROM shop.customers WHERE birth_date < '2030-01-01'"
            ),
            "the analyst sees",
        )
