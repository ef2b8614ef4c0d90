"""What the ledger says of an analyst, beside the noisy relation: the rows of dp.budget and dp.history."""

from __future__ import annotations

from proxy.catalog.catalog_model import TableName
from proxy.engine.ports import Ledger
from proxy.query.rewrite.account_relations import BUDGET, HISTORY


async def with_accounts(
    relation: str, accounts: frozenset[TableName], ledger: Ledger, analyst: str
) -> str:
    """The relation, and beside it what the ledger says of the analyst by now."""
    documents = {}
    if BUDGET in accounts:
        documents[BUDGET.name] = await ledger.budget(analyst)
    if HISTORY in accounts:
        documents[HISTORY.name] = await ledger.history(analyst)
    if not documents:
        return relation
    parts = [f'"{name}":{document}' for name, document in documents.items()]
    rest = relation.removeprefix("{")
    return "{" + ",".join(parts) + ("" if rest == "}" else ",") + rest
