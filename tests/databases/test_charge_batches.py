"""Charges that are made in one transaction: each as it would be alone in their order."""

from __future__ import annotations

import json
import random  # noqa: TID251  the same charges for the same seed
from collections import Counter
from collections.abc import Sequence
from datetime import timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import psycopg
import pytest

from proxy.accounting.events import dlaplace
from proxy.ledger.ledger_reports import ledger_problems
from proxy.ledger.ledger_sources import Identity, adopt_new
from proxy.ledger.users import remove_analyst
from proxy.mechanisms.loss import Loss
from tests.chosen_slots import far_periods, slot_offset
from tests.databases.ledger_database import (
    ANALYSTS,
    INTO_ALLOWANCE,
    SOURCE,
    add_people,
    rows,
    set_limits,
)

_TABLES = ("s.t", "s.u", "s.w")


@pytest.fixture
def people(ledger_dsn: str) -> str:
    add_people(ledger_dsn)
    return ledger_dsn


def _periods(people: str) -> tuple[str, ...]:
    """Of windows that do not end meanwhile: both sources have the same then."""
    ((now,),) = rows(people, "SELECT now()")
    return far_periods(("day", "month", "none", "week"), now.astimezone(timezone.utc))


def _limits(dsn: str, source: int, chosen: random.Random, periods: Sequence[str]) -> None:
    """Some of which some charges do not fit; of one source, so that two can have the same."""
    lines = [
        ("total", "", chosen.randint(15, 40), "none"),
        ("default", "", chosen.randint(4, 12), chosen.choice(periods[:3])),
        ("analyst", "eve", chosen.randint(1, 5), "none"),
        ("group", "g", chosen.randint(6, 15), periods[3]),
        ("table", "s.t", chosen.randint(5, 15), "none"),
    ]
    rho = Decimal(chosen.randint(2, 30)) if chosen.random() < 0.5 else None
    with psycopg.connect(dsn) as connection:
        connection.execute("DELETE FROM ledger.allowance WHERE source = %s", (source,))
        connection.cursor().executemany(
            f"{INTO_ALLOWANCE[:-1]}, rho) VALUES (%s, %s, %s, %s, 0.5, %s, %s)",
            [(source, kind, name, epsilon, per, rho) for kind, name, epsilon, per in lines],
        )


def _charge(chosen: random.Random, number: int) -> dict[str, Any]:
    epsilon = Fraction(chosen.randint(1, 8), 4)
    whole = {"epsilon": str(Decimal(float(epsilon))), "delta": "0.0001"}
    events = [dlaplace(Loss(epsilon, Fraction(0)), 1, 1 / epsilon)]
    return {
        "who": chosen.choice(ANALYSTS),
        **whole,
        "events": events if chosen.random() < 0.7 else [],
        "tables": dict.fromkeys(chosen.sample(_TABLES, chosen.randint(0, 3)), whole),
        "fingerprint": str(number),
        "policy": "p",
    }


def _alone(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The clock goes on from one transaction to the next."""
    return [{key: of for key, of in line.items() if key != "renews_in"} for line in lines]


def _balances(dsn: str, source: int) -> list[tuple[Any, ...]]:
    return rows(
        dsn,
        "SELECT kind, analyst, period, window_start::text, epsilon, delta, rho, approx_delta, gaussian_delta"
        f" FROM ledger.balance WHERE source = {source} ORDER BY kind, analyst",
    )


def _receipts(dsn: str, source: int) -> list[tuple[Any, ...]]:
    return rows(
        dsn,
        "SELECT place, analyst, epsilon, delta, drawn_epsilon, drawn_delta, rho, approx_delta, shares, events,"
        f" fingerprint, statement FROM ledger.receipt WHERE source = {source} ORDER BY place",
    )


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(4))
def test_each_of_several_is_what_it_is_alone(people: str, seed: int) -> None:
    """Two sources with the same budgets: one after another, and in batches."""
    other = adopt_new(people, Identity("invented", "other"), "other").id
    periods = _periods(people)
    for source in (SOURCE, other):
        _limits(people, source, random.Random(seed), periods)
    remove_analyst(people, "dan")
    chosen = random.Random(1000 + seed)
    asked = [_charge(chosen, number) for number in range(80)]
    texts = [chosen.choice((None, b"text %d" % number)) for number in range(80)]
    found: list[Any] = []
    expected: list[Any] = []
    receipts = []
    with psycopg.connect(people, autocommit=True) as connection:
        connection.execute("SET timezone = 'UTC'")
        for one, text in zip(asked, texts, strict=True):
            if one["who"] == "dan":
                expected.append(None)
                continue
            row = connection.execute(
                "SELECT receipt, lines FROM"
                " ledger.reserve_at(%s, %s, %s, %s, %s::jsonb, %s, %s, now(), %s::jsonb, %s)",
                (
                    *(other, one["who"], one["epsilon"], one["delta"], json.dumps(one["events"])),
                    *(one["fingerprint"], one["policy"], json.dumps(one["tables"]), text),
                ),
            ).fetchone()
            assert row is not None
            expected.append((row[0] is not None, _alone(row[1])))
        begin = 0
        while begin < 80:
            size = chosen.randint(1, 20)
            for row in connection.execute(
                "SELECT place, who, may_ask, receipt, lines"
                " FROM ledger.reserve_each(%s, %s::jsonb, %s::bytea[]) ORDER BY place",
                (SOURCE, json.dumps(asked[begin : begin + size]), texts[begin : begin + size]),
            ):
                assert row[1] == asked[begin + row[0] - 1]["who"]
                found.append((row[3] is not None, _alone(row[4])) if row[2] else None)
                receipts.append(row[3])
            begin += size
    assert found == expected
    admitted = [one and one[0] for one in found]
    assert {True, False, None} <= set(admitted)
    kept = dict(rows(people, "SELECT id, fingerprint FROM ledger.receipt WHERE source = 1"))
    assert kept == {receipt: str(n) for n, receipt in enumerate(receipts) if receipt is not None}
    assert _balances(people, SOURCE) == _balances(people, other)
    assert _receipts(people, SOURCE) == _receipts(people, other)
    assert ledger_problems(people) == ()


def _part(epsilon: str, tables: Sequence[str], digest: str | None) -> dict[str, Any]:
    return {
        "digest": digest,
        "epsilon": epsilon,
        "delta": "0",
        "events": [],
        "tables": list(tables),
        "about": None,
        "made": None,
    }


def _claim(chosen: random.Random, number: int) -> dict[str, Any]:
    parts = []
    for _ in range(chosen.randint(1, 3)):
        question = chosen.randrange(16)
        digest = None if chosen.random() < 0.1 else f"{question:064x}"
        cost = str(Decimal(1 + question % 4) / 2)
        parts.append(_part(cost, _TABLES[question % 3 :], digest))
    return {
        "who": chosen.choice(ANALYSTS),
        "parts": parts,
        "holder": f"00000000-0000-0000-0000-{number:012}",
        "may_draw": chosen.random() < 0.8,
        "fingerprint": str(number),
        "policy": "p",
    }


_CLAIM_TERMS = (60, 86400, slot_offset(86400), 2**40)


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(4))
def test_each_of_several_claims_is_what_it_is_alone(people: str, seed: int) -> None:
    other = adopt_new(people, Identity("invented", "other"), "other").id
    periods = _periods(people)
    for source in (SOURCE, other):
        _limits(people, source, random.Random(seed), periods)
    remove_analyst(people, "dan")
    chosen = random.Random(2000 + seed)
    asked = [_claim(chosen, number) for number in range(60)]
    found: list[Any] = []
    expected: list[Any] = []

    def what(states: Any, cached: Any, relations: Any, lines: Any, *paid: Any) -> Any:
        kept = None if cached is None else [one is not None for one in cached]
        return (states, kept, relations, None if lines is None else _alone(lines), *paid)

    with psycopg.connect(people, autocommit=True) as connection:
        connection.execute("SET timezone = 'UTC'")
        begin = 0
        while begin < 60:
            end = begin + chosen.randint(1, 20)
            for one in asked[begin:end]:
                if one["who"] == "dan":
                    expected.append(None)
                    continue
                row = connection.execute(
                    "SELECT states, cached, relations, lines, receipt IS NOT NULL, paid_epsilon, paid_delta"
                    " FROM ledger.claim(%s, %s, %s::jsonb, %s::uuid, %s, %s, %s, %s, %s, %s, %s)",
                    (
                        *(other, one["who"], json.dumps(one["parts"]), one["holder"]),
                        *(one["may_draw"], *_CLAIM_TERMS, one["fingerprint"], one["policy"]),
                    ),
                ).fetchone()
                assert row is not None
                expected.append(what(*row))
            together = asked[begin:end]
            for row in connection.execute(
                "SELECT states, cached, relations, lines, receipt IS NOT NULL, paid_epsilon, paid_delta,"
                " may_ask, place, who FROM ledger.claim_each(%s, %s::jsonb, %s::bytea[], %s, %s, %s, %s)"
                " ORDER BY place",
                (SOURCE, json.dumps(together), [None] * len(together), *_CLAIM_TERMS),
            ):
                assert row[9] == together[row[8] - 1]["who"]
                found.append(what(*row[:7]) if row[7] else None)
            begin = end
            for cached, question in rows(
                people, "SELECT id, get_byte(digest, 31) FROM ledger.cached WHERE relation IS NULL"
            ):
                if question % 2:  # of both sources the same, and none in the midst
                    connection.execute("SELECT ledger.store(%s, 'drawn')", (cached,))
    assert found == expected
    states = Counter(state for one in found if one and one[0] for state in one[0])
    assert set(states) == {"draw", "wait", "ready", "apart"}
    assert [] in [one[0] for one in found if one], "over budget"
    assert _balances(people, SOURCE) == _balances(people, other)
    assert _receipts(people, SOURCE) == _receipts(people, other)
    assert ledger_problems(people) == ()


@pytest.mark.parametrize(("digests", "setting"), [("aba", "on"), ("ab", "on"), ("bb", "off")])
def test_a_batch_waits_for_the_disk_where_one_of_it_pays(
    people: str, digests: str, setting: str
) -> None:
    """b was paid before: a claim of it charges nothing, and asks for no flush when it is alone."""
    set_limits(people, own="9", total="9")

    def claims(which: str) -> str:
        parts = {one: [_part("1", (), f"{ord(one):064x}")] for one in which}
        common = {"who": "ann", "may_draw": True, "fingerprint": "f", "policy": "p"}
        holder = "00000000-0000-0000-0000-000000000000"
        return json.dumps([{**common, "parts": parts[one], "holder": holder} for one in which])

    with psycopg.connect(people) as connection:
        for which in ("b", digests):
            states = connection.execute(
                "SELECT states FROM ledger.claim_each(1, %s::jsonb, NULL, %s, %s, %s, %s)",
                (claims(which), *_CLAIM_TERMS),
            ).fetchall()
            assert len(states) == len(which)
            row = connection.execute("SHOW synchronous_commit").fetchone()
            assert row == ("on" if which == "b" else setting,)
            connection.commit()
