"""Charges that no ledger has made: for tests of what comes after the charge."""

from __future__ import annotations

from proxy.drawing.charges import Charge, Payable, charge_in_ledger
from proxy.drawing.kept_answers import AnswerOwner
from proxy.kernel.price import Price
from proxy.mechanisms.loss import Loss


def charged(
    plan: Payable,
    receipt: str | None = "1",
    remaining: Loss | None = None,
    person: int | None = None,
    price: Price | None = None,
    token: int | None = None,
) -> Charge:
    """price: if the ledger has another than that of the plan."""
    return charge_in_ledger(
        plan,
        plan.price if price is None else price,
        receipt=receipt,
        paid=plan.loss,
        remaining=remaining,
        owner=AnswerOwner(analyst="alice", person=person, token=token),
    )
