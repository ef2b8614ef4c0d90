"""What the routes take, in OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_EXAMPLE = {
    "database": "shop",
    "sql": "SELECT status, count(*) FROM shop.orders WHERE total > $1 GROUP BY status",
    "params": [20],
    "epsilon": 0.5,
}
_QUERY_BODY: dict[str, Any] = {
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


_ERROR_SCHEMA: dict[str, Any] = {
    "type": ["object", "null"],
    "description": "half widths of 95 % intervals; null of a column without noise",
    "properties": {
        "least": {"type": ["number", "null"], "description": "the smallest of all groups"},
        "most": {"type": ["number", "null"], "description": "the largest of all groups"},
        "no_interval": {"type": ["string", "null"], "description": "why some group has none"},
        "note": {"type": "string"},
    },
}
_ANSWER: dict[str, Any] = {
    "description": "The answer; as CSV its rows alone",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {
                    "columns": {"type": "array", "items": {"type": "object"}},
                    "rows": {"type": "array", "items": {"type": "array"}},
                    "privacy": {"type": "object", "description": "what was charged and is left"},
                    "accuracy": {
                        "type": "array",
                        "items": {"type": "object"},
                        "description": "of each aggregate, as known in advance",
                    },
                    "errors": {
                        "type": ["object", "null"],
                        "description": "of this answer; null where nothing protected was queried",
                        "properties": {
                            "columns": {"type": "array", "items": _ERROR_SCHEMA},
                            "rows": {
                                "type": ["array", "null"],
                                "items": {"type": "array", "items": {"type": ["number", "null"]}},
                                "description": "of each value of rows, where it is known",
                            },
                        },
                    },
                },
            }
        }
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """has_query: its body is a query; is_answered: it returns rows; by_name: it needs the analyst's name and
    password."""

    method: str
    path: str
    summary: str
    has_query: bool = False
    is_answered: bool = False
    by_name: bool = True

    def described(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "summary": self.summary,
            "operationId": f"{self.method.lower()}{self.path.replace('/', '_')}",
            "responses": {"200": _ANSWER if self.is_answered else {"description": "The answer"}},
        }
        if self.has_query:
            found["requestBody"] = _QUERY_BODY
        if self.by_name:
            found["security"] = [{"postgres": []}, {"token": []}]
        return found


def openapi_document(operations: Sequence[Operation]) -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "dpproxy",
            "version": "1",
            "description": "Questions to protected PostgreSQL databases, answered with differential privacy.",
        },
        "paths": {one.path: {one.method.lower(): one.described()} for one in operations},
        "components": {
            "securitySchemes": {
                "postgres": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "name and password of your PostgreSQL role",
                },
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "a token of `dpproxy token create`, or of the OpenID Connect provider",
                },
            }
        },
    }
