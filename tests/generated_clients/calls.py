"""One call of every operation of both listeners, in an order in which each succeeds.

An operation that is added to a listener is added here. `test_every_operation_has_a_call` fails until then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Document = Mapping[str, Any]
_QUERY = {
    "database": "shop",
    "sql": "SELECT state, count(*), $2::numeric AS n FROM shop.customers WHERE state <> $1 GROUP BY state",
    "params": ["NY", 20.5],
    "epsilon": 0.5,
    "fresh": True,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation as the OpenAPI document shows it."""

    name: str
    tag: str
    method: str
    path: str
    parameters: Mapping[str, str]  # "path" or "query" by name
    body_model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Arguments of one operation: its path and query parameters, and its body."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


def operations(document: Document) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            parameters = described.get("parameters", [])
            yield Operation(
                name=described["operationId"],
                tag=described["tags"][0],
                method=method,
                path=path,
                parameters={one["name"]: one["in"] for one in parameters},
                body_model=_body_model(described),
            )


def _body_model(described: Mapping[str, Any]) -> str | None:
    if "requestBody" not in described:
        return None
    schema = described["requestBody"]["content"]["application/json"]["schema"]
    return str(schema["$ref"]).rpartition("/")[2]


def analyst_calls() -> dict[str, Call]:
    of_shop = Call(parameters={"database": "shop"})
    return {
        "check_health": Call(),
        "check_readiness": Call(),
        "list_databases": Call(),
        "show_schema": of_shop,
        "explain_query": Call(body=_QUERY),
        "run_query": Call(body=_QUERY),
        "show_budget": of_shop,
        "create_own_token": Call(
            body={"database": "shop", "epsilon": 0.25, "hours": 1, "note": "ü"}
        ),
        "show_history": Call(parameters={"database": "shop", "before": 10**9, "limit": 100}),
    }


def admin_calls(user: str, *, token: int, session: int, request: int) -> dict[str, Call]:
    """
    Args:
        user: A name that nobody has.
        token: The number that the next token of the ledger gets.
        session: The number of an open session.
        request: The number of a request to give budget back.
    """
    group = {"group": f"group of {user}"}
    name, database = {"name": user}, {"database": "shop"}
    new_token = {
        "name": user,
        "days": 0.5,
        "database": "shop",
        "epsilon": 1.25,
        "per": "day",
        "note": "ü",
    }
    return {
        "check_health": Call(),
        "show_status": Call(),
        "list_sessions": Call(),
        "end_session": Call(parameters={"number": session}),
        "add_user": Call(body={"name": user, "password": "a long password"}),
        "set_password": Call(parameters=name, body={"password": "another password"}),
        "list_users": Call(),
        "add_to_group": Call(parameters={**group, **name}),
        "list_groups": Call(),
        "restrict_database": Call(parameters=database),
        "allow_user": Call(parameters={**database, **name}),
        "allow_group": Call(parameters={**database, **group}),
        "list_access": Call(),
        "withdraw_user": Call(parameters={**database, **name}),
        "withdraw_group": Call(parameters={**database, **group}),
        "open_database": Call(parameters=database),
        "remove_from_group": Call(parameters={**group, **name}),
        "create_token": Call(body=new_token),
        "list_tokens": Call(),
        "revoke_token": Call(parameters={"number": token}),
        "list_budgets": Call(),
        "list_adjustments": Call(),
        "confirm_adjustment": Call(parameters={"number": request}),
        "show_spending": Call(
            parameters={**database, "since": "2026-01-01", "until": "2026-12-31"}
        ),
        "list_receipts": Call(
            parameters={
                **database,
                "q": "1",
                "analyst": user,
                "outcome": "answered",
                "since": "2026-01-01",
                "until": "2026-12-31",
                "after": "2100-01-01T00:00:00+00:00/1",
            }
        ),
        "verify_chain": Call(),
        "show_policy": Call(parameters=database),
        "check_policy": Call(parameters=database, body={"text": "database: shop"}),
        "list_audits": Call(),
        "start_audit": Call(body={"database": "shop", "rows": 2, "distance": 1}),
        "remove_user": Call(parameters=name),
        "show_log": Call(),
        "reload_policies": Call(),
    }
