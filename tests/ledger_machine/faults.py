"""Faults in what calls the ledger's SQL, which the machine must find; and how any fault is planted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from proxy.drawing import kept_answers
from proxy.drawing.kept_answers import ClaimedAnswers
from proxy.ledger import (
    cached_claims,
    charge_queue,
    charge_statements,
    ledger_backup,
    ledger_schema,
    ledger_tables,
)
from proxy.ledger.cached_claims import CachedClaims
from proxy.ledger.charge_queue import ChargeQueue
from proxy.ledger.ledger_mark import note_restored
from tests.ledger_machine import driven_ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlFault:
    """In all files of the schema that have the text."""

    text: str
    instead: str


OF_CHARGES: Mapping[str, SqlFault] = {
    "the shared budget has no limit": SqlFault(
        text="fits := fits AND (allowed.source IS NULL",
        instead="fits := fits AND (allowed.source IS NULL OR one.kind = 'total'",
    ),
    "groups have no limit": SqlFault(
        text="fits := fits AND (allowed.source IS NULL",
        instead="fits := fits AND (allowed.source IS NULL OR one.kind = 'group'",
    ),
    "analysts have no limit": SqlFault(
        text="fits := fits AND (allowed.source IS NULL",
        instead="fits := fits AND (allowed.source IS NULL OR one.kind = 'analyst'",
    ),
    "tables have no limit": SqlFault(
        text="fits := fits AND (allowed.source IS NULL",
        instead="fits := fits AND (allowed.source IS NULL OR one.kind = 'table'",
    ),
    "weeks begin on Sunday": SqlFault(
        text="ELSE date_trunc(period, at, 'UTC') END",
        instead="WHEN period = 'week' THEN date_trunc('week', at + interval '1 day', 'UTC') - interval '1 day'"
        " ELSE date_trunc(period, at, 'UTC') END",
    ),
    "windows are of the session's zone": SqlFault(
        text="ELSE date_trunc(period, at, 'UTC') END", instead="ELSE date_trunc(period, at) END"
    ),
    "a window that renews on another day is told": SqlFault(
        text="('1 ' || period)::interval", instead="('2 ' || period)::interval"
    ),
    "delta has no limit": SqlFault(
        text="spent.epsilon <= most.epsilon AND spent.delta <= most.delta",
        instead="spent.epsilon <= most.epsilon",
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
    "the last draw is shown": SqlFault(
        text="relation = coalesce(k.relation, drawn)", instead="relation = drawn"
    ),
    "whoever lets go ends another's lease": SqlFault(
        text="AND holder = of_holder AND relation IS NULL", instead="AND relation IS NULL"
    ),
    "what is served no more stays": SqlFault(
        text="k.slot < one.slot - interval '62 days'", instead="false"
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
        text="told_epsilon < epsilon OR", instead="told_epsilon < 0 OR"
    ),
    "deltas are not added up": SqlFault(
        text="known.delta := known.delta + after.delta", instead="known.delta := after.delta"
    ),
}
OF_BATCHES: Mapping[str, SqlFault] = {
    "those of a batch are admitted by what was spent before it": SqlFault(
        text="OR ledger.fits(after, allowed));",
        instead="""OR ledger.fits(ledger.after(ledger.in_window((SELECT b FROM ledger.balance b
            WHERE b.source = of_source AND b.kind = one.kind AND b.analyst = one.analyst), allowed.period, at),
            epsilon, delta, price), allowed));""",
    ),
    "a receipt keeps another's statement": SqlFault(
        text="statements[c.n])::ledger.charge", instead="statements[1])::ledger.charge"
    ),
    "a receipt of a claim keeps another's statement": SqlFault(
        text="            statements[n]) c;", instead="            statements[1]) c;"
    ),
    "receipts go to the wrong charge": SqlFault(
        text="            asked := charges[n];\n",
        instead="            asked := charges[cardinality(charges) + 1 - n];\n",
    ),
    "only the last of a batch is written": SqlFault(
        text="written := array_append(written, spent[n]);", instead="written := spent[n:n];"
    ),
    "a refused one stops those behind it": SqlFault(
        text="moment := at;\n        fits := true;",
        instead="moment := at;\n        fits := coalesce(fits, true);",
    ),
    "what is told is of after the batch": SqlFault(
        text="        lines := found_lines[n];\n", instead="        lines := found_lines[1];\n"
    ),
    "one that pays nothing lets others go before they are on disk": SqlFault(
        text="IF NOT is_charged THEN", instead="IF true THEN"
    ),
    "all of a batch are who asked first": SqlFault(
        text="SELECT places[e.place], made[e.place].who",
        instead="SELECT places[e.place], made[1].who",
    ),
}
OF_PEOPLE: Mapping[str, SqlFault] = {
    "who was removed asks": SqlFault(
        text="AND ledger.may_charge(of_source, who) IS NOT TRUE THEN\n        RETURN NULL",
        instead="AND false THEN\n        RETURN NULL",
    ),
    "who was removed asks in a batch": SqlFault(
        text="WHERE ledger.may_charge(of_source, a.who);\n    SELECT array_agg(c.n",
        instead="WHERE true;\n    SELECT array_agg(c.n",
    ),
    "who was removed asks for what is cached in a batch": SqlFault(
        text="WHERE ledger.may_charge(of_source, a.who);\n    IF askers",
        instead="WHERE true;\n    IF askers",
    ),
    "groups of a person that is alone pay nothing": SqlFault(
        text="ledger.shares_of_groups(groups, epsilon, delta), tables",
        instead="'{}', tables",
    ),
}
OF_TOKENS: Mapping[str, SqlFault] = {
    "a token's last charge may be any": SqlFault(
        text="IF remaining < 0 THEN", instead="IF remaining + cost < 0 THEN"
    ),
    "a token's window begins with each charge": SqlFault(
        text="IF ledger.window_start(one.period, at) > one.window_start", instead="IF true"
    ),
    "a token's window never ends": SqlFault(
        text="IF ledger.window_start(one.period, at) > one.window_start",
        instead="IF one.window_start < at - interval '300 days'",
    ),
    "tokens do not expire": SqlFault(text="OR one.expires_at <= clock_timestamp()", instead=""),
    "tokens are not revoked": SqlFault(text="OR one.revoked_at IS NOT NULL", instead=""),
    "whoever has the name has the token": SqlFault(
        text="WHERE a.id = one.analyst AND a.name = who AND a.removed_at IS NULL) THEN",
        instead="WHERE a.name = who AND a.removed_at IS NULL) THEN",
    ),
}
OF_RELEASES: Mapping[str, SqlFault] = {
    "a release that is taken over is charged again": SqlFault(
        text="        IF is_paid THEN", instead="        IF false THEN"
    ),
    "a release costs everybody nothing": SqlFault(
        text="cost_epsilon, cost_delta, cost_epsilon, cost_delta, publish_at.events",
        instead="cost_epsilon, cost_delta, 0, 0, publish_at.events",
    ),
    "what is finished is drawn again under its charge": SqlFault(
        text="IF one.id IS NOT NULL AND one.released_at IS NULL THEN\n        published",
        instead="IF one.id IS NOT NULL AND (is_now OR one.released_at IS NULL) THEN\n        published",
    ),
    "the last to store is shown": SqlFault(
        text="WHERE p.id = of_published AND p.released_at IS NULL RETURNING",
        instead="WHERE p.id = of_published RETURNING",
    ),
    "a release is taken over at once": SqlFault(
        text="IF one.lease_until > publish_at.at THEN", instead="IF false THEN"
    ),
    "a release is never taken over": SqlFault(
        text="IF one.lease_until > publish_at.at THEN", instead="IF true THEN"
    ),
    "whoever lost a release holds it": SqlFault(
        text="WHERE id = of_published AND holder = of_holder AND released_at IS NULL;\n    RETURN FOUND",
        instead="WHERE id = of_published AND released_at IS NULL;\n    RETURN FOUND",
    ),
    "whoever lost a release lets it go": SqlFault(
        text="WHERE id = of_published AND holder = of_holder AND released_at IS NULL\n$$",
        instead="WHERE id = of_published AND released_at IS NULL\n$$",
    ),
    "what costs more is drawn under the charge that there is": SqlFault(
        text="AND ledger.covers(coalesce(one.paid_by, one.receipt), cost_epsilon, cost_delta,"
        " publish_at.events)",
        instead="",
    ),
    "noise of more rho is drawn under the charge that there is": SqlFault(
        text="AND paid.rho >= wanted.rho", instead=""
    ),
    "a delta of another kind is drawn under the charge that there is": SqlFault(
        text="AND paid.gaussian_delta >= wanted.gaussian_delta", instead=""
    ),
    "a table that was not read then pays nothing": SqlFault(
        text="AND ledger.paid_of_tables(coalesce(one.paid_by, one.receipt), tables)", instead=""
    ),
    "tables pay nothing of a release": SqlFault(
        text="publish_at.at, of_tables => publish_at.tables)", instead="publish_at.at)"
    ),
    "a clock that goes back releases again": SqlFault(
        text="one.due >= due AND NOT is_now", instead="one.due = due AND NOT is_now"
    ),
    "the account is not held to the shared budget's window": SqlFault(
        text="a.delta, a.period, a.rho FROM ledger.allowance a\n    WHERE a.source = publish_at",
        instead="a.delta, 'day', a.rho FROM ledger.allowance a\n    WHERE a.source = publish_at",
    ),
}
# Few histories meet them: an example finds them.
OF_PRICES: Mapping[str, SqlFault] = {
    "a part of a Gaussian price is bounded as a pure one": SqlFault(
        text="IF whole.gaussian_delta = 0 OR drawn_delta = 0 THEN", instead="IF true THEN"
    ),
    "what was drawn fails as all of it": SqlFault(
        text="whole.approx_delta := least(whole.approx_delta, drawn_delta);", instead=""
    ),
    "failures are not added up": SqlFault(
        text="known.approx_delta + price.approx_delta", instead="price.approx_delta"
    ),
    "half of delta is not kept for rho": SqlFault(
        text="<= 2 * most.delta", instead="<= 4 * most.delta"
    ),
}
SQL: Mapping[str, SqlFault] = {
    **OF_PRICES,
    **OF_CHARGES,
    **OF_BATCHES,
    **OF_PEOPLE,
    **OF_TOKENS,
    **OF_RELEASES,
}


async def _shown_anyway(self: ClaimedAnswers, block: Any, drawn: Any, bits: Any) -> Any:
    del bits
    slot, text = self._slots[block], drawn.text
    cached: Any = slot.cached
    if len(text) > driven_ledger.TOO_LARGE:
        await self._ledger.forget(cached, self._holder)
        return drawn
    run = self._run
    stored = await self._ledger.store(run, cached, text)
    if stored is None or stored == text:
        return drawn
    return await kept_answers._read(slot, stored, run.turn)


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


def _in_any_order(rows: Sequence[Any], analysts: Sequence[str]) -> list[Any]:
    del analysts
    return [row if row["may_ask"] else None for row in rows]


def _whoever_waited(self: ChargeQueue[Any, Any]) -> list[Any]:
    found = list(self._waiting)
    self._waiting.clear()
    return found


_restored = note_restored


def _restored_but(table: str) -> Any:
    """Rows of it stay that are not finished."""
    kept = {
        "cached": "DELETE FROM ledger.cached WHERE relation IS NULL",
        "published": "DELETE FROM ledger.published WHERE released_at IS NULL",
        "token": "UPDATE ledger.token SET revoked_at = transaction_timestamp() WHERE revoked_at IS NULL",
    }[table]

    def note(connection: Any, as_of: str) -> None:
        def execute(statement: Any, *given: Any) -> None:
            if statement != kept:
                connection.execute(statement, *given)

        _restored(mock.Mock(execute=execute), as_of)

    return mock.patch.object(ledger_backup, "note_restored", note)


CALLS: Mapping[str, Any] = {
    "what is not there any more is shown": lambda: mock.patch.object(
        ClaimedAnswers, "stored", _shown_anyway
    ),
    "what is shown is not on disk": lambda: mock.patch.object(
        cached_claims, "_STORE", "SELECT ledger.store(%s, %s) AS relation"
    ),
    "whoever drew too much forgets another's draw": lambda: mock.patch.object(
        CachedClaims, "forget", _forgotten_by_any
    ),
    "open draws are restored": lambda: _restored_but("cached"),
    "releases that were being drawn are restored": lambda: _restored_but("published"),
    "tokens are restored": lambda: _restored_but("token"),
    "what became of a batch is told in any order": lambda: mock.patch.multiple(
        ledger_tables, in_their_order=_in_any_order
    ),
    "what became of claims is told in any order": lambda: mock.patch.multiple(
        cached_claims, in_their_order=lambda rows, _: _in_any_order(rows[::-1], ())
    ),
    "one that cannot be charged fails its neighbours": lambda: mock.patch.object(
        charge_queue, "_is_undone", lambda error: False
    ),
    "whoever was cancelled is charged": lambda: mock.patch.object(
        ChargeQueue, "_next", _whoever_waited
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
}
FAULTS = (*(name for name in SQL if name not in OF_PRICES), *CALLS)


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Before a ledger is made, and while it is used."""
    if name in CALLS:
        with CALLS[name]():
            yield
        return
    fault = SQL[name]
    real = ledger_schema.schema_text
    files = ("tables", *ledger_schema.FUNCTIONS)
    assert any(fault.text in real(file) for file in files), f"not planted: {name}"

    def faulty(file: str) -> str:
        return real(file).replace(fault.text, fault.instead)

    with mock.patch.object(ledger_schema, "schema_text", faulty):
        yield
