"""The statements that charge, one or several at once: each is one transaction.

Source  ledger_schema/charges.sql
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.accounting.amounts import Amount, decimal
from proxy.base.errors import Fault

# person: the number of an analyst. A name that is given again has another one.
PERSON = "SELECT a.id AS person FROM ledger.analyst a WHERE a.name = %s AND a.removed_at IS NULL"
# Whoever was removed charges nothing, whatever a shadow still lets them do.
_RESERVE = """\
SELECT r.*, (SELECT a.id FROM ledger.analyst a WHERE a.name = %s AND a.removed_at IS NULL) AS person
FROM ledger.reserve_one(%s, %s, %s, %s, %s, %s::jsonb, %s, %s, %s::jsonb, %s) r WHERE r.may_ask"""
_RESERVE_EACH = """\
SELECT r.*, (SELECT a.id FROM ledger.analyst a WHERE a.name = r.who AND a.removed_at IS NULL) AS person
FROM ledger.reserve_each(%s, %s::jsonb, %s::bytea[]) r"""
# Of a claim that is not charged and draws nothing. By the statement's snapshot: what the claim itself notes is
# not among them.
_SHOWN_AT = """\
CASE WHEN r.receipt IS NULL AND NOT r.states && ARRAY['draw', 'apart'] THEN (
    SELECT min(s.at) FROM ledger.seen s
    WHERE s.cached = ANY (r.cached) AND s.viewer = ledger.viewer_of({name})) END"""
# The call takes the name from the row that says that they may, and is not made without it.
_CLAIM = f"""\
SELECT r.*, who.person, {_SHOWN_AT.format(name="who.name")} AS shown_at,
       ledger.spend_token(who.token, who.source, who.name, r.receipt, r.paid_epsilon) AS token_left
FROM (
    SELECT n.*, ledger.may_charge(n.source, n.name) AS may_ask,
           (SELECT a.id FROM ledger.analyst a WHERE a.name = n.name AND a.removed_at IS NULL) AS person
    FROM (SELECT %s::text AS name, %s::bigint AS source, %s::bigint AS token) n OFFSET 0) who
CROSS JOIN LATERAL ledger.claim(who.source, CASE WHEN who.may_ask THEN who.name END, %s::jsonb, %s::uuid, %s,
                                %s, %s, %s, %s, %s, %s, %s) r
WHERE who.may_ask"""  # noqa: S608
_CLAIM_EACH = f"""\
SELECT r.*, (SELECT a.id FROM ledger.analyst a WHERE a.name = r.who AND a.removed_at IS NULL) AS person,
       {_SHOWN_AT.format(name="r.who")} AS shown_at
FROM ledger.claim_each(%s, %s::jsonb, %s::bytea[], %s, %s, %s, %s) r"""  # noqa: S608

Row = dict[str, Any]
SqlCall = tuple[str, tuple[object, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRequest:
    """events, tables: as JSON can have them; statement: its text, encrypted"""

    analyst: str
    cost: Amount
    events: Sequence[Mapping[str, object]]
    tables: Mapping[str, Mapping[str, str]]
    fingerprint: str
    policy_digest: str
    statement: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    analyst: str
    parts: Sequence[Mapping[str, object]]
    holder: str
    may_draw: bool
    fingerprint: str
    policy_digest: str
    statement: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTerms:
    """What is the same for all claims."""

    lease_seconds: int
    slot_seconds: int
    slot_offset: int
    most_bytes: int

    @property
    def values(self) -> tuple[int, int, int, int]:
        return self.lease_seconds, self.slot_seconds, self.slot_offset, self.most_bytes


def reserving(source: int, one: ChargeRequest, token: int | None) -> SqlCall:
    return _RESERVE, (
        one.analyst,
        source,
        one.analyst,
        token,
        decimal(one.cost.epsilon),
        decimal(one.cost.delta),
        json.dumps(one.events),
        one.fingerprint,
        one.policy_digest,
        json.dumps(one.tables),
        one.statement,
    )


def reserving_each(source: int, these: Sequence[ChargeRequest]) -> SqlCall:
    charges = [
        {
            "who": one.analyst,
            "epsilon": str(decimal(one.cost.epsilon)),
            "delta": str(decimal(one.cost.delta)),
            "events": one.events,
            "tables": one.tables,
            "fingerprint": one.fingerprint,
            "policy": one.policy_digest,
        }
        for one in these
    ]
    return _RESERVE_EACH, (source, json.dumps(charges), [one.statement for one in these])


def claiming(source: int, one: ClaimRequest, terms: ClaimTerms, token: int | None) -> SqlCall:
    return _CLAIM, (
        one.analyst,
        source,
        token,
        json.dumps(one.parts),
        one.holder,
        one.may_draw,
        *terms.values,
        one.fingerprint,
        one.policy_digest,
        one.statement,
    )


def claiming_each(source: int, these: Sequence[ClaimRequest], terms: ClaimTerms) -> SqlCall:
    claims = [
        {
            "who": one.analyst,
            "parts": one.parts,
            "holder": one.holder,
            "may_draw": one.may_draw,
            "fingerprint": one.fingerprint,
            "policy": one.policy_digest,
        }
        for one in these
    ]
    statements = [one.statement for one in these]
    return _CLAIM_EACH, (source, json.dumps(claims), statements, *terms.values)


def in_their_order(rows: Sequence[Row], analysts: Sequence[str]) -> list[Row | None]:
    """
    Given    what reserve_each or claim_each gave; whose charges were sent
    Gives    what became of each; None of who may not ask
    Refuses  Fault: it is not sure whose is whose, so nothing is answered
    """
    found = {row["place"]: row for row in rows}
    if len(rows) != len(analysts) or any(
        place not in found or found[place]["who"] != analyst
        for place, analyst in enumerate(analysts, 1)
    ):
        raise Fault("the ledger does not say what became of each charge")
    return [
        found[place] if found[place]["may_ask"] else None for place in range(1, len(analysts) + 1)
    ]
