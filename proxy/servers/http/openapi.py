"""What FastAPI cannot see in the routes, because they read their bodies themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

_EXAMPLE = {
    "database": "shop",
    "sql": "SELECT status, count(*) FROM shop.orders WHERE total > $1 GROUP BY status",
    "params": [20],
    "epsilon": 0.5,
}
ASKED: dict[str, Any] = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["database", "sql"],
                "additionalProperties": False,
                "properties": {
                    "database": {"type": "string"},
                    "sql": {"type": "string", "description": "one statement"},
                    "params": {
                        "type": "array",
                        "items": {"type": ["string", "number", "boolean", "null"]},
                        "description": "of $1, $2, ...; read as the type PostgreSQL gives them",
                    },
                    "epsilon": {
                        "type": "number",
                        "description": "at most the policy's max_epsilon",
                    },
                    "delta": {"type": "number", "description": "at most the policy's delta"},
                },
            },
            "example": _EXAMPLE,
        }
    },
}
SECURITY: dict[str, Any] = {"security": [{"postgres": []}]}


def openapi_document(routes: Sequence[BaseRoute]) -> dict[str, Any]:
    document = get_openapi(
        title="dpproxy",
        version="1",
        description="Questions to protected PostgreSQL databases, answered with differential privacy.",
        routes=routes,
    )
    document.setdefault("components", {})["securitySchemes"] = {
        "postgres": {
            "type": "http",
            "scheme": "basic",
            "description": "name and password of your PostgreSQL role",
        }
    }
    return document
