"""Timeouts of a session are off while a statement of it is charged, answered and run.

The shadow's session waits in its transaction for the answer, which may take as long as somebody's rows make
it. `transaction_timeout` would end the session meanwhile, and that tells of those rows without noise;
`statement_timeout` would let what was charged fail where it is run. So both are off from the last exchange
before the charge until the statement has run, and then what they were; a transaction's time begins anew with
that. All this is local to the transaction, so its end, and a rollback to a savepoint, bring them back as well.

The idle timeouts run after a Sync alone, which comes at the end; over HTTP each exchange ends with one.
"""

from __future__ import annotations

from proxy.base.limits import PROTECTED_SECONDS
from proxy.pgwire.calls import Refuse
from proxy.pgwire.expectations import ShadowReply
from proxy.pgwire.session import Session
from proxy.pgwire.shadow_exchanges import TEXT_OID, Row, rows_of, run

# The shadow's monitor ends sessions whose transaction is older than two hours, whatever they wait for.
OLDEST_TRANSACTION_SECONDS = 3600
TOO_OLD = Refuse(
    "25000",
    "questions on protected tables need a transaction that began within the last hour",
    "COMMIT or ROLLBACK, and ask again.",
    None,
)

# The columns after the first of `dp.hold_timeouts` (shadow.sql).
HELD = ("statement_timeout", "transaction_timeout")


def hold_sql(*, within_request: bool) -> str:
    """A row: whether the transaction is too old; then of each of HELD what it was, where that is off now.

    within_request: of HTTP, where the time between its exchanges is not the client's.
    """
    return (
        f"SELECT * FROM dp.hold_timeouts({OLDEST_TRANSACTION_SECONDS}, {PROTECTED_SECONDS},"  # noqa: S608
        f" {str(within_request).lower()})"
    )


_HOLD = run(hold_sql(within_request=False).encode(), goes_on=True)


def send_hold(session: Session) -> ShadowReply:
    """The last thing that the shadow does before a charge, behind others of the same round trip. Without a
    Flush."""
    return session.send_all(_HOLD)


def hold(session: Session, reply: ShadowReply) -> None:
    """reply: to send_hold, where it has succeeded. What was off already by an earlier one stays so."""
    (row,) = rows_of(reply)
    session.has_old_transaction = is_too_old(row)
    were = {name: was for name, was in zip(HELD, row[1:], strict=True) if was is not None}
    session.held.update(were)
    session.is_held_in_block = session.in_block()


def is_too_old(row: Row) -> bool:
    return row[0] == b"t"


def send_restored(session: Session) -> None:
    """Without a Flush, and waiting for nothing."""
    if session.held:
        calls = [
            f"pg_catalog.set_config('{name}', ${number}, true)"
            for number, name in enumerate(session.held, start=1)
        ]
        values = list(session.held.values())
        session.send_all(
            run(f"SELECT {', '.join(calls)}".encode(), [TEXT_OID] * len(values), values)
        )
        session.held.clear()
