"""What stands in a ledger, read with one statement: what the model is compared with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

import psycopg

from tests.ledger_key import LEDGER_CIPHER
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
                         l.kind, l.name, s.epsilon_spent::text, s.delta_spent::text, s.rho_spent::text,
                         s.renews_at))
              FROM unnest(%s::text[], %s::text[]) l(kind, name)
              CROSS JOIN LATERAL ledger.line_at(1, l.kind, l.name, machine.transaction_timestamp()) s),
    'cached', (SELECT jsonb_agg(jsonb_build_array(
                          k.id, encode(k.digest, 'hex'), k.relation, k.holder, k.draws,
                          ARRAY(SELECT s.viewer FROM ledger.seen s WHERE s.cached = k.id)))
               FROM ledger.cached k),
    'settled', (SELECT jsonb_object_agg(s.receipt, s.outcome) FROM ledger.settlement s),
    'released', (SELECT jsonb_agg(jsonb_build_array(
                            p.id, p.name, p.version, p.due, p.lease_until, p.holder, p.draws, p.receipt,
                            p.released_at, p.shown, p.failure,
                            ARRAY(SELECT b.sealed FROM ledger.published_block b
                                  WHERE b.published = p.id ORDER BY b.number)))
                 FROM ledger.published p),
    'tokens', (SELECT jsonb_object_agg(t.id, t.spent::text) FROM ledger.token t))"""


# Of the digests that driven_ledger.py gives to questions.
_NAMES_OF = {LEDGER_CIPHER.keyed(bytes([name]) * 32).hex(): name for name in range(256)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    spent: Mapping[Line, tuple[Fraction, ...]]
    renews: Mapping[Line, datetime | None]
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
        spent={(kind, name): tuple(map(Fraction, of)) for kind, name, *of, _ in found["spent"]},
        renews={
            (kind, name): at and datetime.fromisoformat(at) for kind, name, *_, at in found["spent"]
        },
        standing={
            row: (
                _NAMES_OF[digest],
                opened(relation, "cached relation", row),
                *(holder, draws, set(viewers)),
            )
            for row, digest, relation, holder, draws, viewers in found["cached"] or ()
        },
        settled={int(receipt): outcome for receipt, outcome in (found["settled"] or {}).items()},
        released={one[0]: _release(*one) for one in found["released"] or ()},
        tokens={int(one): Fraction(spent) for one, spent in (found["tokens"] or {}).items()},
    )


def opened(sealed: str | None, what: str, *numbers: int) -> str | None:
    """What a sealed text of the ledger says; it must be readable."""
    if sealed is None:
        return None
    found = LEDGER_CIPHER.opened(sealed, (what, *map(str, numbers)))
    assert found is not None, what
    return found


def _release(
    row: int, name: str, version: str, due: str, until: str, *of: Any
) -> tuple[object, ...]:
    *held, released_at, table, why, sealed = of
    shown = opened(table, "published table", row)
    failure = opened(why, "published failure")
    blocks = [
        json.loads(opened(one, "published block", row, number) or "")[2]
        for number, one in enumerate(sealed or ())
    ]
    at = None if released_at is None else datetime.fromisoformat(released_at)
    times = datetime.fromisoformat(due), datetime.fromisoformat(until)
    return name, version, *times, *held, at, shown, failure, tuple(blocks or ())
