"""What stands in a ledger, read with one statement: what the model is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

import psycopg

from tests.ledger_machine.asked import GROUPS, NAMES, PUBLISHED, TABLES, TOTAL, Line

LINES: tuple[Line, ...] = (
    *(("analyst", name) for name in (*NAMES, PUBLISHED)),
    *(("group", name) for name in GROUPS),
    *(("table", name) for name in TABLES),
    TOTAL,
)
# Numbers as texts: exactly.
_FOUND = """\
SELECT jsonb_build_object(
    'spent', (SELECT jsonb_agg(jsonb_build_array(
                         l.kind, l.name, s.epsilon_spent::text, s.delta_spent::text, s.rho_spent::text))
              FROM unnest(%s::text[], %s::text[]) l(kind, name)
              CROSS JOIN LATERAL ledger.line_at(1, l.kind, l.name, machine.transaction_timestamp()) s),
    'cached', (SELECT jsonb_agg(jsonb_build_array(
                          k.id, get_byte(k.digest, 0), k.question, k.relation, k.holder, k.draws,
                          ARRAY(SELECT s.viewer FROM ledger.seen s WHERE s.cached = k.id)))
               FROM ledger.cached k),
    'settled', (SELECT jsonb_object_agg(s.receipt, s.outcome) FROM ledger.settlement s),
    'released', (SELECT jsonb_agg(jsonb_build_array(
                            p.id, p.name, p.version, p.due, p.lease_until, p.holder, p.draws, p.receipt,
                            p.released_at, p.shown, p.failure,
                            (SELECT jsonb_agg(b.relation) FROM ledger.published_block b
                             WHERE b.published = p.id)))
                 FROM ledger.published p),
    'tokens', (SELECT jsonb_object_agg(t.id, t.spent::text) FROM ledger.token t))"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    spent: Mapping[Line, tuple[Fraction, ...]]
    standing: Mapping[int, tuple[object, ...]]
    settled: Mapping[int, str]
    released: Mapping[int, tuple[object, ...]]
    tokens: Mapping[int, Fraction]


def found_in(session: psycopg.Connection[Any]) -> Found:
    kinds, names = zip(*LINES, strict=True)
    row = session.execute(_FOUND, (list(kinds), list(names))).fetchone()
    assert row is not None
    found = row[0]
    return Found(
        spent={(kind, name): tuple(map(Fraction, of)) for kind, name, *of in found["spent"]},
        standing={one[0]: (*one[1:6], set(one[6])) for one in found["cached"] or ()},
        settled={int(receipt): outcome for receipt, outcome in (found["settled"] or {}).items()},
        released={one[0]: _release(*one[1:]) for one in found["released"] or ()},
        tokens={int(one): Fraction(spent) for one, spent in (found["tokens"] or {}).items()},
    )


def _release(name: str, version: str, due: str, until: str, *of: Any) -> tuple[object, ...]:
    *held, released_at, shown, failure, blocks = of
    at = None if released_at is None else datetime.fromisoformat(released_at)
    times = datetime.fromisoformat(due), datetime.fromisoformat(until)
    return name, version, *times, *held, at, shown, failure, tuple(blocks or ())
