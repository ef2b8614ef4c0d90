"""What receipts add up to by privacy loss distributions, where `dpproxy[pld]` is installed: never admits.

PLDs are the tightest way to add up, of a schedule that was fixed before: an analyst who chooses each question
by the answers so far is not covered (Regehr et al. 2026), as by rho and epsilon. They are made of the law on
the integers, not of dp-accounting's Laplace event, which is the continuous one. Randomised response, the worst
of all pure mechanisms, is the law of one step.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from importlib import import_module
from typing import Any

import psycopg

from proxy.accounting.events import Event

# Steps of one release, beyond which a coarser grid with the same epsilon stands for it: it costs no less.
_STEPS = 100
_INTERVALS = 100_000  # of the losses of all together
_FINEST = 1e-5
_DIGITS = 3  # of epsilons, rounded up
_EVENTS = """\
SELECT s.name, CASE b.kind WHEN 'total' THEN '(everybody together)' ELSE b.analyst END,
       (a.delta)::text, coalesce(e, jsonb_build_object('kind', 'approx', 'epsilon', r.epsilon::text,
                                                       'delta', r.delta::text))::text, count(*)
FROM ledger.balance b
JOIN ledger.source s ON s.id = b.source
CROSS JOIN LATERAL ledger.allowance_of(b.source, b.kind, b.analyst) a
JOIN ledger.receipt r ON r.source = b.source AND (b.kind = 'total' OR r.analyst = b.analyst)
    AND r.at >= ledger.window_start(a.period, transaction_timestamp())
    AND (b.kind <> 'total' OR r.drawn_epsilon IS NULL OR r.drawn_epsilon > 0 OR r.drawn_delta > 0)
LEFT JOIN LATERAL jsonb_array_elements(r.events) e ON true
WHERE b.kind IN ('analyst', 'total')
GROUP BY 1, 2, 3, 4"""


class NoPld(RuntimeError):
    """dp-accounting is not installed."""


def pld_epsilons(ledger_dsn: str) -> Mapping[tuple[str, str], float | None]:
    """By source and analyst: the epsilon that the current window's receipts have at the budget's delta.

    Gives    None where that delta does not cover them, whatever the epsilon
    Refuses  NoPld
    """
    events: dict[tuple[str, str], list[tuple[Event, int]]] = {}
    deltas = {}
    with psycopg.connect(ledger_dsn) as connection:
        for source, analyst, delta, event, count in connection.execute(_EVENTS):
            events.setdefault((source, analyst), []).append((json.loads(event), count))
            deltas[source, analyst] = Fraction(delta)
    return {line: pld_epsilon(found, deltas[line]) for line, found in events.items()}


def pld_epsilon(events: Iterable[tuple[Event, int]], delta: Fraction) -> float | None:
    """
    Given    events, each with how often it was charged
    Refuses  NoPld
    """
    remaining = delta
    losses: Counter[tuple[str, int, Fraction]] = Counter()
    for event, count in events:
        kind, steps, size, failing = _as_priced(event)
        losses[kind, steps, size] += count
        remaining -= failing * count
    if not losses or all(size == 0 for _, _, size in losses):
        return 0.0 if remaining >= 0 else None
    if remaining < 0:
        return None
    most = float(
        sum(size * count for (kind, _, size), count in losses.items() if kind != "gaussian")
    )
    interval = max(_FINEST, most / _INTERVALS)
    composed = None
    for (kind, steps, size), count in losses.items():
        if size == 0:
            continue
        one = _distribution(kind, steps, size, interval)
        several = one.self_compose(count) if count > 1 else one
        composed = several if composed is None else composed.compose(several)
    assert composed is not None
    found = float(composed.get_epsilon_for_delta(float(remaining)))
    return found if math.isfinite(found) else None


def _as_priced(event: Event) -> tuple[str, int, Fraction, Fraction]:
    """Its kind, steps and size (of Gaussian noise twice rho), and what of delta is apart from that."""
    epsilon, delta = Fraction(str(event["epsilon"])), Fraction(str(event["delta"]))
    match event["kind"]:
        case "dlaplace":
            steps, scale = int(str(event["l1"])), Fraction(str(event["scale"]))
            return "dlaplace", min(steps, _STEPS), _short(steps / scale), Fraction(0)
        case "gaussian" if "l2squared" in event and Fraction(str(event["sigma2"])) >= 1:
            twice = Fraction(str(event["l2squared"])) / Fraction(str(event["sigma2"]))
            return "gaussian", 1, _short(twice), Fraction(0)
        case _:
            return "dlaplace", 1, _short(epsilon), delta


def _short(number: Fraction) -> Fraction:
    """Rounded up to a few digits, so that there are not too many distributions."""
    if number == 0:
        return number
    unit = Fraction(10) ** (math.floor(math.log10(number)) + 1 - _DIGITS)
    return math.ceil(number / unit) * unit


def _distribution(kind: str, steps: int, size: Fraction, interval: float) -> Any:
    try:
        pld = import_module("dp_accounting.pld.privacy_loss_distribution")
    except ImportError:
        raise NoPld("PLD reports need dp-accounting: pip install 'dpproxy[pld]'") from None
    if kind == "gaussian":
        return pld.from_gaussian_mechanism(
            1 / math.sqrt(size), value_discretization_interval=interval, use_connect_dots=True
        )
    return pld.from_discrete_laplace_mechanism(
        float(size / steps),
        sensitivity=steps,
        value_discretization_interval=interval,
        use_connect_dots=True,
    )
