"""Ask a dpproxy over HTTP. Answers carry their errors, what they cost and where they come from."""

from dpproxy.answer import Answer, Charge, Column
from dpproxy.client import Client, connect
from dpproxy.errors import DpproxyError, NotAllowed, OverBudget, Refused, Unavailable
from dpproxy.plan import Aggregate, Plan

__all__ = [
    "Aggregate",
    "Answer",
    "Charge",
    "Client",
    "Column",
    "DpproxyError",
    "NotAllowed",
    "OverBudget",
    "Plan",
    "Refused",
    "Unavailable",
    "connect",
]
