"""The text that is sent to the shadow in a question's place; its last parameter is the noisy relation."""

from __future__ import annotations

from proxy.engine.policy_statements import ProtectedQuery
from proxy.query.syntax.statements import StatementKind

_PLAN_TEXT = (
    "SELECT * FROM pg_catalog.jsonb_array_elements_text(${0}->'explain') AS plan(\"QUERY PLAN\")"
)
_PLAN_JSON = "SELECT (${0}->'explain')::pg_catalog.json AS \"QUERY PLAN\""


def rewritten_text(question: ProtectedQuery) -> str:
    """Of an EXPLAIN: rows of text as PostgreSQL's own, or one JSON value."""
    reading = question.reading
    if question.statement.kind is not StatementKind.EXPLAIN or question.reads_nothing:
        return reading.text
    shape = _PLAN_JSON if question.statement.explain_json else _PLAN_TEXT
    return shape.format(reading.relation_parameter)
