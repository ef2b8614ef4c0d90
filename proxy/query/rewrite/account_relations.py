"""dp.budget, dp.history and dp.status. What an analyst has spent stands in the ledger, on a server that no
statement reaches, and how their sessions are is known to the proxy alone. It puts the rows into the statement
that names them, like a noisy relation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from proxy.base.result_columns import account_relation
from proxy.catalog.catalog_model import TableName
from proxy.query.ir.exposed import Exposed
from proxy.query.rewrite.edits import Edit, marker
from proxy.query.rewrite.empty_twins import in_place_of
from proxy.query.syntax.selects import Select
from proxy.query.syntax.tokens import Lexed

_SCHEMA = "dp"
BUDGET = TableName(_SCHEMA, "budget")
HISTORY = TableName(_SCHEMA, "history")
STATUS = TableName(_SCHEMA, "status")

# As the views of the shadow declare them (shadow.sql), which PostgreSQL analyses the statement with.
_COLUMNS: Mapping[TableName, str] = MappingProxyType(
    {
        BUDGET: "analyst pg_catalog.text,"
        " epsilon_limit numeric, epsilon_spent numeric, epsilon_remaining numeric,"
        " delta_limit numeric, delta_spent numeric, delta_remaining numeric,"
        " period pg_catalog.text, renews_at pg_catalog.timestamptz,"
        " rho_limit numeric, rho_spent numeric",
        HISTORY: "receipt bigint, at pg_catalog.timestamptz, epsilon numeric, delta numeric,"
        " outcome pg_catalog.text, statement pg_catalog.text, policy pg_catalog.text, text pg_catalog.text",
        STATUS: "database pg_catalog.text, version pg_catalog.text, policy pg_catalog.text,"
        " is_draining boolean, own_sessions integer, own_session_limit integer, statements_waiting integer",
    }
)
ACCOUNT_RELATIONS: Mapping[TableName, Exposed] = MappingProxyType(
    {name: Exposed(name, {}, protected=False) for name in _COLUMNS}
)


def account_edits(
    lexed: Lexed, found: tuple[Select, ...], named: Mapping[int, TableName], parameter: int
) -> tuple[Edit, ...]:
    """
    Given    named: first lexeme of what names such a relation -> which; the number of the jsonb parameter,
             which holds {"budget": [rows], "history": [rows], "status": [row]}
    Gives    the edits that put the rows into every FROM, under the names that the relations had
    """
    # Named like noisy relations: a plan that reads it needs an answer (pgwire/argument_exchanges.py).
    texts = {
        name: f"(SELECT * FROM pg_catalog.jsonb_to_recordset({marker(parameter)}->'{name.name}')"  # noqa: S608
        f" AS {account_relation(name.name)}({columns}))"
        for name, columns in _COLUMNS.items()
    }
    edits = in_place_of(lexed, found, {at: (name, texts[name]) for at, name in named.items()})
    return tuple(replace(edit, relation=marker(parameter)) for edit in edits)
