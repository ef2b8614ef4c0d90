"""Faults in the ledger's SQL and in what calls it, which the machine must find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from proxy.engine.cached_answers import ClaimedBlocks
from proxy.ledger import cached_claims, charge_statements, ledger_backup, ledger_migrations
from proxy.ledger.cached_claims import CachedClaims
from tests.ledger_machine import driven_ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlFault:
    """In all migrations that have the text, the last of which counts."""

    text: str
    instead: str


SQL: Mapping[str, SqlFault] = {
    "the shared budget has no limit": SqlFault(
        text="fits := fits AND (allowed.source IS NULL",
        instead="fits := fits AND (allowed.source IS NULL OR one.kind = 'total'",
    ),
    "groups have no limit": SqlFault(
        text="fits := fits AND (allowed.source IS NULL",
        instead="fits := fits AND (allowed.source IS NULL OR one.kind = 'group'",
    ),
    "a group pays what a member has seen": SqlFault(
        text="s.viewer = 'group ' || paying", instead="s.viewer = viewer"
    ),
    "only the first table pays": SqlFault(
        text="FOR paying IN SELECT jsonb_array_elements_text(part -> 'tables') LOOP",
        instead="FOR paying IN SELECT jsonb_array_elements_text(part -> 'tables') LIMIT 1 LOOP",
    ),
    "a draw that may be lost is drawn anew for nothing": SqlFault(
        text="IF state IN ('draw', 'again', 'apart') THEN\n            drawn",
        instead="IF state IN ('draw', 'apart') THEN\n            drawn",
    ),
    "a spent budget tells what others have asked": SqlFault(
        text="states := '{}';\n            RETURN;\n        END IF;\n    END IF;\n    IF paid",
        instead="NULL;\n        END IF;\n    END IF;\n    IF paid",
    ),
    "who drew pays for all": SqlFault(
        text="s.cached = one.id AND s.viewer = viewer", instead="s.cached = one.id"
    ),
    "who gets a name has seen what another saw": SqlFault(
        text="'number ' || a.id FROM ledger.analyst a WHERE a.name = who AND a.removed_at IS NULL",
        instead="'number ' || min(a.id) FROM ledger.analyst a WHERE a.name = who",
    ),
    "a clock that goes back opens a window": SqlFault(
        text="AND start <= known.window_start", instead="AND start = known.window_start"
    ),
    "another period keeps what was spent": SqlFault(
        text="IF known.period = new_period AND start",
        instead="IF known.period IS NOT NULL AND start",
    ),
    "a receipt is of before its window": SqlFault(
        text="moment := greatest(moment, after.window_start)",
        instead="moment := greatest(moment, at)",
    ),
    "a charge does not wait for the disk": SqlFault(
        text="    IF paid_epsilon > 0 OR paid_delta > 0 THEN\n        SELECT",
        instead="    IF paid_epsilon > 0 OR paid_delta > 0 THEN\n"
        "        PERFORM set_config('synchronous_commit', 'off', true);\n        SELECT",
    ),
    "what the server may have lost is drawn under its charge": SqlFault(
        text="ELSIF one.started <> started THEN", instead="ELSIF false THEN"
    ),
    "one draw more under a charge": SqlFault(text="one.draws < 3", instead="one.draws < 4"),
    "a draw is never taken over": SqlFault(text="one.lease_until > claim_at.at", instead="true"),
    "a draw is taken over at once": SqlFault(text="one.lease_until > claim_at.at", instead="false"),
    "questions are not compared": SqlFault(
        text="one.question <> part ->> 'question' OR", instead=""
    ),
    "the last draw is shown": SqlFault(
        text="relation = coalesce(k.relation, drawn)", instead="relation = drawn"
    ),
    "whoever lets go ends another's lease": SqlFault(
        text="AND holder = of_holder AND relation IS NULL", instead="AND relation IS NULL"
    ),
    "slots begin at midnight": SqlFault(
        text="make_interval(secs => offset_seconds)", instead="make_interval(secs => 0)"
    ),
    "more is taken back than was spent": SqlFault(
        text="more.epsilon >= 0 AND more.delta >= 0", instead="more.delta >= 0"
    ),
    "what was taken back is credit in a new window": SqlFault(
        text="IF EXISTS (SELECT FROM ledger.adjustment a\n",
        instead="IF false AND EXISTS (SELECT FROM ledger.adjustment a\n",
    ),
    "rho is not added up": SqlFault(
        text="known.rho := known.rho + price.rho", instead="known.rho := price.rho"
    ),
    "Gaussian noise beyond a quarter of delta": SqlFault(
        text="AND 4 * spent.gaussian_delta <= most.delta)", instead=")"
    ),
    "what events do not tell is not charged": SqlFault(
        text="OR told_epsilon < epsilon OR", instead="OR told_epsilon < 0 OR"
    ),
    "deltas are not added up": SqlFault(
        text="known.delta := known.delta + after.delta", instead="known.delta := after.delta"
    ),
}


async def _shown_anyway(self: ClaimedBlocks, number: int, block: Any, drawn: Any) -> Any:
    cached: Any = self._cached[number]
    text = drawn.text
    if len(text) > driven_ledger.TOO_LARGE:
        await self._ledger.forget(cached, self._holder)
        return drawn
    stored = await self._ledger.store(cached, text)
    return drawn if stored is None or stored == text else await self._read(number, block, stored)


async def _forgotten_by_any(self: CachedClaims, cached: int, holder: str) -> bool:
    await self._tables.first("SELECT ledger.forget(%s)", (cached,))
    return True


def _without(table: str) -> Any:
    tables = tuple(one for one in ledger_backup.TABLES if one[0] != table)
    return mock.patch.object(ledger_backup, "TABLES", tables)


def _for_all(module: Any, name: str) -> Any:
    text = getattr(module, name)
    known = "ledger.may_charge(n.source, n.name)"
    assert known in text
    return mock.patch.object(module, name, text.replace(known, "true"))


CALLS: Mapping[str, Any] = {
    "what is not there any more is shown": lambda: mock.patch.object(
        ClaimedBlocks, "stored", _shown_anyway
    ),
    "what is shown is not on disk": lambda: mock.patch.object(
        cached_claims, "_STORE", "SELECT ledger.store(%s, %s) AS relation"
    ),
    "whoever drew too much forgets another's draw": lambda: mock.patch.object(
        CachedClaims, "forget", _forgotten_by_any
    ),
    "open draws are restored": lambda: mock.patch.object(
        ledger_backup,
        "note_restored",
        lambda connection, at: connection.execute(
            "INSERT INTO ledger.operation (what, detail) VALUES ('restore', '{\"as_of\": \"x\"}')"
        ),
    ),
    "a restored ledger is served": lambda: mock.patch.object(
        ledger_backup,
        "note_restored",
        lambda connection, at: connection.execute(
            "DELETE FROM ledger.cached WHERE relation IS NULL"
        ),
    ),
    "a backup without who has seen what": lambda: _without("seen"),
    "a backup without adjustments": lambda: _without("adjustment"),
    "the mark is not looked at": lambda: mock.patch.object(
        driven_ledger, "check_mark", lambda *_: None
    ),
    "who was removed asks for what is cached": lambda: _for_all(charge_statements, "_CLAIM"),
    "who was removed asks": lambda: _for_all(charge_statements, "_RESERVE"),
}
# Not found in 150 to 200 histories, or not tried: how many it takes has not been measured.
RARE = (
    "the mark is not looked at",
    "who was removed asks for what is cached",
    "who was removed asks",
    "whoever lets go ends another's lease",
    "what was taken back is credit in a new window",
    "what events do not tell is not charged",
    "Gaussian noise beyond a quarter of delta",
)
FAULTS = tuple(name for name in (*SQL, *CALLS) if name not in RARE)


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Before a ledger is made, and while it is used."""
    if name in CALLS:
        with CALLS[name]():
            yield
        return
    fault = SQL[name]
    scripts = ledger_migrations._scripts()
    assert any(fault.text in script for script in scripts.values()), f"not planted: {name}"
    faulty = {n: script.replace(fault.text, fault.instead) for n, script in scripts.items()}
    with mock.patch.object(ledger_migrations, "_scripts", lambda: faulty):
        yield
